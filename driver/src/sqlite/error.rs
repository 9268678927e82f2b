//! What can go wrong with SQLite, and the class that a failure is counted in.

use rusqlite::ErrorCode;

use crate::session::{ErrorClass, Failure};

/// A failure of SQLite, or of what was expected of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What SQLite says.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A pragma that cannot have its value.
    #[error("pragma {name}: {problem}")]
    Setting {
        /// The pragma.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A row that should be there is not.
    #[error("{0}")]
    NoData(String),
    /// The thread of the session is gone, or was asked for what cannot be.
    #[error("{0}")]
    Thread(String),
}

impl Error {
    /// The class of a failure: SQLite's own names of its results, in lower case.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Sqlite(error) => class(error.sqlite_error_code()),
            Self::Setting { .. } => "sqlite_setting",
            Self::NoData(_) => "no_data",
            Self::Thread(_) => "connection",
        }
    }
}

fn class(code: Option<ErrorCode>) -> &'static str {
    match code {
        Some(ErrorCode::DatabaseBusy) => "sqlite_busy",
        Some(ErrorCode::DatabaseLocked) => "sqlite_locked",
        Some(ErrorCode::DiskFull) => "sqlite_full",
        Some(ErrorCode::SystemIoFailure) => "sqlite_ioerr",
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => "sqlite_corrupt",
        Some(ErrorCode::ConstraintViolation) => "sqlite_constraint",
        Some(ErrorCode::CannotOpen) => "sqlite_cantopen",
        Some(ErrorCode::ReadOnly) => "sqlite_readonly",
        Some(ErrorCode::OutOfMemory) => "sqlite_nomem",
        Some(ErrorCode::FileLockingProtocolFailed) => "sqlite_protocol",
        _ => "sqlite_error",
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            class: ErrorClass(error.class().into()),
            message: error.to_string(),
        }
    }
}
