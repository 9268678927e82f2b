//! People: a CSV file whose rows are the users' own values, as names and passwords.

use std::fmt::{Debug, Formatter};

use csv::{ErrorKind, ReaderBuilder, Trim};

use super::options::PeopleFile;
use crate::parameters::refuse;
use crate::plan::Refusal;

/// The rows of the file, read once for all users.
pub struct People {
    columns: Vec<String>,
    /// All cells, row by row.
    text: String,
    /// Where each cell ends in `text`.
    ends: Vec<usize>,
}

impl People {
    /// Those of a scenario, if it has any.
    ///
    /// # Errors
    /// A [`Refusal`] of a file that cannot be read. It quotes no cell.
    pub fn of(file: Option<&PeopleFile>) -> Result<Option<Self>, Refusal> {
        let people = file.map(|file| Self::read(&file.path)).transpose();
        people.map_err(|problem| refuse("scenario.people", problem))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with it, in one line that quotes no cell.
    fn read(path: &str) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        let text =
            String::from_utf8(bytes).map_err(|_| format!("{path} is not UTF-8; save it so"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Self::parse(text).map_err(|problem| format!("{path}: {problem}"))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut reader = ReaderBuilder::new()
            .trim(Trim::Headers)
            .from_reader(text.as_bytes());
        let columns: Vec<String> = reader
            .headers()
            .map_err(|error| wrong(&error))?
            .iter()
            .map(str::to_owned)
            .collect();
        check(&columns)?;
        let (mut text, mut ends) = (String::new(), Vec::new());
        for record in reader.records() {
            for cell in &record.map_err(|error| wrong(&error))? {
                text.push_str(cell);
                ends.push(text.len());
            }
        }
        if ends.is_empty() {
            return Err("has a header and no rows; give at least one".into());
        }
        text.shrink_to_fit();
        ends.shrink_to_fit();
        Ok(Self {
            columns,
            text,
            ends,
        })
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// A cell of the row of user `user`: that of number `user` modulo the rows.
    pub fn cell(&self, user: u32, column: usize) -> &str {
        let rows = self.ends.len() / self.columns.len();
        let cell = (user as usize % rows) * self.columns.len() + column;
        let begin = cell.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..self.ends[cell]]
    }
}

impl Debug for People {
    /// Cells may be passwords.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("People")
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

fn check(columns: &[String]) -> Result<(), String> {
    if columns.is_empty() {
        return Err("is empty; its first line names the columns".into());
    }
    for (index, column) in columns.iter().enumerate() {
        if column.is_empty() {
            return Err(format!("column {} has no name; give it one", index + 1));
        }
        if columns[..index].contains(column) {
            return Err(format!(
                "has two columns `{column}`; give each a name of its own"
            ));
        }
    }
    Ok(())
}

/// An error of the reader, without the text of a row.
fn wrong(error: &csv::Error) -> String {
    match error.kind() {
        ErrorKind::UnequalLengths {
            pos,
            expected_len,
            len,
        } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("line {line} has {len} fields, and the header has {expected_len}")
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        People::parse(text).expect_err("refused")
    }

    #[test]
    fn each_user_has_a_row_and_rows_come_again() {
        let people = People::parse("username, password\nann,a\n\"bo\"\"b, b\",\nzoë,zz\n");
        let people = people.expect("read");
        assert_eq!(people.columns(), ["username", "password"]);
        assert_eq!((people.cell(0, 0), people.cell(0, 1)), ("ann", "a"));
        assert_eq!((people.cell(1, 0), people.cell(1, 1)), ("bo\"b, b", ""));
        assert_eq!((people.cell(2, 0), people.cell(2, 1)), ("zoë", "zz"));
        assert_eq!(people.cell(3, 0), "ann");
        assert_eq!(people.cell(3_000_000_001, 0), "bo\"b, b");
    }

    #[test]
    fn what_is_wrong_is_one_line_without_a_cell() {
        assert_eq!(problem(""), "is empty; its first line names the columns");
        assert_eq!(
            problem("name\n"),
            "has a header and no rows; give at least one"
        );
        assert_eq!(
            problem("a,,c\n1,2,3\n"),
            "column 2 has no name; give it one"
        );
        assert_eq!(
            problem("a,b,a\n1,2,3\n"),
            "has two columns `a`; give each a name of its own"
        );
        assert_eq!(
            problem("a,b\n1,2\nsecret\n"),
            "line 3 has 1 fields, and the header has 2"
        );
    }

    #[test]
    fn a_file_that_is_missing_is_named() {
        let problem = People::read("/nowhere/people.csv").expect_err("refused");
        assert!(problem.starts_with("/nowhere/people.csv: "), "{problem}");
    }

    #[test]
    fn passwords_are_not_shown() {
        let people = People::parse("password\nhidden\n").expect("read");
        assert!(!format!("{people:?}").contains("hidden"));
    }
}
