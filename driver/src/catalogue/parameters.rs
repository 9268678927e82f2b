//! The parameters of a catalogue in a plan.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::parameters::{read, refuse};
use crate::plan::Refusal;
use crate::plan::limits::{MOST_CARDS, MOST_HOME_FILES, MOST_HOMES};

/// Of a name: a part of a path has 255 bytes, and a number may follow.
const LONGEST_NAME: usize = 64;

/// Names of the operations, in order.
pub const OPERATIONS: [&str; 6] = [
    "create",
    "stat",
    "open-read",
    "list",
    "write-fsync-rename",
    "delete",
];

/// How home folders are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// `users/st/steve`.
    Hashed,
    /// `users/steve`.
    Flat,
}

/// What follows when a file was created and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sync {
    /// Nothing.
    None,
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
    /// It was opened with `O_DSYNC`.
    Dsync,
}

/// What is remembered of the folders of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Handles {
    /// Their handles, from when they were first looked up.
    #[default]
    Kept,
    /// Nothing: each operation looks up every folder on its way.
    LookedUp,
}

/// How many homes and files there are, how they are named, and what is done with them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Of the bytes in the files.
    pub data_seed: u64,
    /// Users with a home folder.
    pub homes: u32,
    /// Files that each of them begins with.
    pub home_files: u32,
    /// How homes are arranged.
    pub layout: Layout,
    /// Of the name, which give a hashed folder its name.
    pub hash_characters: usize,
    /// Names of users; the next round of the list has `2` behind each, and so on. Empty: they are numbered.
    pub names: Vec<String>,
    /// Weight of each operation; one that is not named is not made.
    #[serde(default)]
    pub mix: BTreeMap<String, u32>,
    /// After the creation of a file.
    pub sync: Sync,
    /// Of folders over NFS.
    #[serde(default)]
    pub handles: Handles,
}

impl Parameters {
    /// Reads them.
    ///
    /// # Errors
    /// A [`Refusal`] that names the wrong one.
    pub fn parse(parameters: &Map<String, Value>) -> Result<Self, Refusal> {
        let found: Self = read(parameters)?;
        within("homes", found.homes, MOST_HOMES)?;
        within("home_files", found.home_files, MOST_HOME_FILES)?;
        if !(1..=LONGEST_NAME).contains(&found.hash_characters) {
            let problem = format!(
                "{} is not between 1 and {LONGEST_NAME}",
                found.hash_characters
            );
            return Err(refuse("hash_characters", problem));
        }
        names(&found.names)?;
        for (name, weight) in &found.mix {
            if !OPERATIONS.contains(&name.as_str()) {
                let problem = format!("there is only {}", OPERATIONS.join(", "));
                return Err(refuse(&format!("mix.{name}"), problem));
            }
            if *weight > MOST_CARDS {
                let problem = format!("{weight} is more than {MOST_CARDS}");
                return Err(refuse(&format!("mix.{name}"), problem));
            }
        }
        Ok(found)
    }

    /// Weights of [`OPERATIONS`].
    ///
    /// # Errors
    /// A [`Refusal`] if nothing would be done, or more would be deleted than there is.
    pub fn weights(&self) -> Result<[u32; 6], Refusal> {
        let weights = OPERATIONS.map(|name| self.mix.get(name).copied().unwrap_or(0));
        if weights.iter().all(|weight| *weight == 0) {
            return Err(refuse("mix", "no operation has a weight above 0"));
        }
        let [create, .., delete] = weights;
        if delete > 0 && create == 0 {
            let problem = "only created files are deleted; give create a weight too";
            return Err(refuse("mix.delete", problem));
        }
        Ok(weights)
    }
}

fn within(field: &str, value: u32, most: u32) -> Result<(), Refusal> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(refuse(
        field,
        format!("{value} is not between 1 and {most}"),
    ))
}

/// A name is letters, dots and dashes, so that a number behind it makes no other name of the list.
fn names(names: &[String]) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for (index, name) in names.iter().enumerate() {
        let fits = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.len() <= LONGEST_NAME
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || b".-_".contains(&byte));
        if !fits || !seen.insert(name) {
            let problem =
                format!("{name:?} is not a name of small letters, dots and dashes that comes once");
            return Err(refuse(&format!("names[{index}]"), problem));
        }
    }
    Ok(())
}
