//! Which file, and with which pragmas.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::Error;
use super::settings::set;
use crate::plan::{self, Protocol, Refusal};

/// All that is needed to open a connection.
#[derive(Debug, Clone)]
pub struct Config {
    path: PathBuf,
    settings: BTreeMap<String, String>,
}

impl Config {
    /// The file at `path` with the pragmas `settings`.
    pub fn new(path: &Path, settings: BTreeMap<String, String>) -> Self {
        let path = path.to_path_buf();
        Self { path, settings }
    }

    /// The file that a plan names, with its pragmas.
    ///
    /// # Errors
    /// A [`Refusal`] if the plan names no file of SQLite.
    pub fn from_plan(connection: &plan::Connection) -> Result<Self, Refusal> {
        if connection.protocol != Protocol::Sqlite {
            return Err(Refusal::new("connection.protocol", "is not \"sqlite\""));
        }
        let path = Path::new(&connection.database);
        Ok(Self::new(path, connection.settings.clone()))
    }

    /// The same with a pragma that holds unless the plan gives it.
    #[must_use]
    pub fn with_default(mut self, name: &str, value: &str) -> Self {
        let entry = self.settings.entry(name.to_owned());
        entry.or_insert_with(|| value.to_owned());
        self
    }

    /// The same with a pragma that holds whatever the plan gives.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Opens the file, sets the pragmas and reads them back.
    ///
    /// # Errors
    /// SQLite's error, or the pragma that did not take its value.
    pub fn open(&self) -> Result<Connection, Error> {
        // Each connection belongs to one thread: it needs no lock of its own.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        for (name, value) in &self.settings {
            set(&connection, name, value)?;
        }
        // An empty or foreign file is found by the first look into it, not by the opening.
        connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
        Ok(connection)
    }

    /// Opens the file once, before a run begins.
    ///
    /// # Errors
    /// A [`Refusal`] that names the pragma or the file.
    pub fn check(&self) -> Result<(), Refusal> {
        match self.open() {
            Ok(_) => Ok(()),
            Err(Error::Setting { name, problem }) => {
                Err(Refusal::new(format!("connection.settings.{name}"), problem))
            }
            Err(error) => {
                let problem = format!("cannot open {}: {error}", self.path.display());
                Err(Refusal::new("connection.database", problem))
            }
        }
    }
}
