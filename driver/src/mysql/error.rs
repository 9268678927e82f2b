//! What can go wrong between the driver and a server.

use super::Config;
use crate::session::{ErrorClass, Failure};

/// Numbers of errors that end a connection, whatever their SQLSTATE: the server goes down, the
/// connection was killed, it was idle for too long (MySQL).
const FATAL: [u16; 3] = [1053, 1927, 4031];
/// A lock was waited for too long; the record has changed since it was read (a snapshot conflict).
/// Both have the SQLSTATE HY000 and may succeed when the transaction is tried again, as a deadlock
/// (1213), which has 40001 itself.
const RETRYABLE: [u16; 2] = [1205, 1020];
/// A disk, or what may be used of it, is full (`ER_DISK_FULL`, `ER_RECORD_FILE_FULL`).
const FULL: [u16; 2] = [1021, 1114];
/// SQLSTATE of PostgreSQL for a full disk, under which they are counted: their own is HY000.
const DISK_FULL: &str = "53100";
/// `ER_UNKNOWN_ERROR`, of an error that cannot be read.
const UNKNOWN: u16 = 1105;

/// A failure of a connection or of a statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The server answered with an error; the connection is still in step.
    #[error("{message} (error {number}, SQLSTATE {sqlstate})")]
    Server {
        /// Number of the error, from the server's `errmsg-utf8.txt`.
        number: u16,
        /// SQLSTATE as the server gave it.
        sqlstate: Box<str>,
        /// The server's words.
        message: String,
    },
    /// There is no connection, or it was lost.
    #[error("{0}")]
    Connection(String),
    /// The other side does not speak as expected; the connection is of no more use.
    #[error("{0}")]
    Protocol(String),
}

impl Error {
    /// A protocol error with these words.
    pub(crate) fn protocol(message: impl Into<String>) -> Self {
        Self::Protocol(message.into())
    }

    /// There is no connection to the server of `config` because of `reason`.
    pub(crate) fn cannot_connect(config: &Config, reason: &str) -> Self {
        Self::Connection(format!("cannot connect to {}: {reason}", config.address()))
    }

    /// An error in the data, found by the driver: SQLSTATE P0002 for no row, P0003 for too many, as
    /// PL/pgSQL has it.
    pub(crate) fn data(sqlstate: &str, message: impl Into<String>) -> Self {
        Self::Server {
            number: UNKNOWN,
            sqlstate: sqlstate.into(),
            message: message.into(),
        }
    }

    /// Number of an error of the server.
    pub fn number(&self) -> Option<u16> {
        match self {
            Self::Server { number, .. } => Some(*number),
            _ => None,
        }
    }

    /// SQLSTATE of an error of the server.
    pub fn sqlstate(&self) -> Option<&str> {
        match self {
            Self::Server { sqlstate, .. } => Some(sqlstate),
            _ => None,
        }
    }

    /// The class under which the error is counted, which says what may be done about it.
    fn class(&self) -> &str {
        match self {
            Self::Connection(_) => "connection",
            Self::Protocol(_) => "protocol",
            Self::Server { number, .. } if FATAL.contains(number) => "connection",
            Self::Server { number, .. } if RETRYABLE.contains(number) => "40001",
            Self::Server { number, .. } if FULL.contains(number) => DISK_FULL,
            Self::Server { sqlstate, .. } if sqlstate.starts_with("08") => "connection",
            Self::Server { sqlstate, .. } => sqlstate,
        }
    }

    /// Reads an ERR packet: 0xff, number, `#` and SQLSTATE (not in one that refuses a connection), text.
    pub(crate) fn from_packet(body: &[u8]) -> Self {
        let Some((head, rest)) = body.split_first_chunk::<3>() else {
            return Self::protocol("an error packet is too short");
        };
        let number = u16::from_le_bytes([head[1], head[2]]);
        let (sqlstate, message) = match rest.split_first_chunk::<6>() {
            Some((marked, message)) if marked[0] == b'#' => (&marked[1..], message),
            _ => (&b"HY000"[..], rest),
        };
        Self::Server {
            number,
            sqlstate: String::from_utf8_lossy(sqlstate).into(),
            message: String::from_utf8_lossy(message).into_owned(),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Connection(format!("the connection was lost: {error}"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(number: u16, rest: &[u8]) -> Error {
        let [low, high] = number.to_le_bytes();
        Error::from_packet(&[&[0xff, low, high], rest].concat())
    }

    #[test]
    fn classes_say_what_may_be_done() {
        let class = |number, rest: &[u8]| Failure::from(packet(number, rest)).class;
        for (number, text) in [
            (1213, &b"#40001Deadlock"[..]),
            (1205, b"#HY000Lock wait timeout"),
            (1020, b"#HY000Record has changed"),
        ] {
            assert!(class(number, text).is_retryable());
        }
        for (number, text) in [
            (1053, &b"#08S01Server shutdown"[..]),
            (1927, b"#70100Connection was killed"),
            (1040, b"#08004Too many connections"),
        ] {
            assert_eq!(&*class(number, text).0, "connection");
        }
        assert_eq!(&*class(1114, b"#HY000The table 'x' is full").0, "53100");
        assert_eq!(&*class(1062, b"#23000Duplicate entry").0, "23000");
        assert_eq!(&*class(1129, b"Host is blocked").0, "HY000");
    }

    #[test]
    fn the_number_is_told() {
        let error = packet(1062, b"#23000Duplicate entry");
        assert_eq!(
            (error.number(), error.sqlstate()),
            (Some(1062), Some("23000"))
        );
        assert_eq!(
            error.to_string(),
            "Duplicate entry (error 1062, SQLSTATE 23000)"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_error(body in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Failure::from(Error::from_packet(&body));
        }
    }
}
