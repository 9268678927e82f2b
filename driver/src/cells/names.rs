//! The members that may hold data, and their numbers in the outline.

use std::collections::{HashMap, HashSet};
use std::fs;

use serde::Deserialize;

use super::Error;

/// The dimensions of a key, in its order; all but the last are sparse.
pub const DIMENSIONS: [&str; 7] = [
    "Entity", "Product", "Years", "Scenario", "Version", "Currency", "Account",
];
/// Place of the accounts in a key, and so the number of sparse dimensions before it.
pub const ACCOUNT: usize = 6;
/// Amounts of a row.
pub const PERIODS: usize = 13;

/// Members of a dimension, each with its number.
pub type Members = HashMap<Box<[u8]>, i16>;

/// The members of all dimensions.
#[derive(Debug, Clone)]
pub struct Names {
    /// In the order of [`DIMENSIONS`].
    pub members: [Members; DIMENSIONS.len()],
    /// In the order of the amounts of a row.
    pub periods: [Box<[u8]>; PERIODS],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    dimensions: Dimensions,
    periods: [String; PERIODS],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Dimensions {
    entity: HashMap<String, i16>,
    product: HashMap<String, i16>,
    years: HashMap<String, i16>,
    scenario: HashMap<String, i16>,
    version: HashMap<String, i16>,
    currency: HashMap<String, i16>,
    account: HashMap<String, i16>,
}

impl Names {
    /// Reads a file of names.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read, or is none.
    pub fn read(path: &str) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
        Self::parse(&text).map_err(|reason| Error::file(path, reason))
    }

    /// Reads names from JSON.
    ///
    /// # Errors
    /// What is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let json = &mut serde_json::Deserializer::from_str(text);
        let document: Document =
            serde_path_to_error::deserialize(json).map_err(|error| error.to_string())?;
        let mut known = HashSet::new();
        if let Some(period) = document.periods.iter().find(|name| !known.insert(*name)) {
            return Err(format!("periods: {period:?} is there twice"));
        }
        let Dimensions {
            entity,
            product,
            years,
            scenario,
            version,
            currency,
            account,
        } = document.dimensions;
        let members = [entity, product, years, scenario, version, currency, account];
        Ok(Self {
            members: members.map(|members| {
                let bytes = |(name, number): (String, _)| (name.into_bytes().into(), number);
                members.into_iter().map(bytes).collect()
            }),
            periods: document.periods.map(|name| name.into_bytes().into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::names_json;
    use super::*;

    fn refused(change: impl FnOnce(&mut Value)) -> String {
        let mut value = names_json();
        change(&mut value);
        Names::parse(&value.to_string()).expect_err("a refusal")
    }

    #[test]
    fn members_are_numbered() {
        let names = Names::parse(&names_json().to_string()).expect("names");
        assert_eq!(names.members[0].get(&b"Dept_0002"[..]), Some(&6));
        assert_eq!(names.members[ACCOUNT].get(&b"Units"[..]), Some(&8));
        assert_eq!(*names.periods[12], *b"Dec");
    }

    #[test]
    fn a_wrong_file_says_where() {
        for (told, named) in [
            (
                refused(|names| names["dimensions"]["Entity"]["Dept_0001"] = json!(32768)),
                "dimensions.Entity.Dept_0001",
            ),
            (
                refused(|names| names["dimensions"]["Period"] = json!({})),
                "Period",
            ),
            (
                refused(|names| {
                    let dimensions = names["dimensions"].as_object_mut();
                    dimensions.expect("an object").remove("Years");
                }),
                "Years",
            ),
            (
                refused(|names| names["periods"] = json!(["Jan"])),
                "periods",
            ),
            (
                refused(|names| names["periods"][2] = json!("Jan")),
                "periods: \"Jan\" is there twice",
            ),
        ] {
            assert!(told.contains(named), "{told}");
        }
        assert!(Names::parse("{").is_err());
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Names::read("/nowhere/names.json").expect_err("no file");
        assert!(error.to_string().starts_with("/nowhere/names.json: "));
        assert_eq!(error.exit_code(), 1);
    }
}
