//! What can go wrong between the driver and a server.

use super::Config;
use crate::session::{ErrorClass, Failure};

/// A failure of a connection or of a statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The server answered with an error; the connection is still in step.
    #[error("{message}")]
    Server {
        /// SQLSTATE.
        sqlstate: Box<str>,
        /// The server's words, with its detail and hint.
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

    /// SQLSTATE of an error of the server.
    pub fn sqlstate(&self) -> Option<&str> {
        match self {
            Self::Server { sqlstate, .. } => Some(sqlstate),
            _ => None,
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
        match error {
            Error::Server { sqlstate, message } => Self {
                class: ErrorClass(sqlstate),
                message,
            },
            Error::Connection(message) => Self {
                class: ErrorClass("connection".into()),
                message,
            },
            Error::Protocol(message) => Self {
                class: ErrorClass("protocol".into()),
                message,
            },
        }
    }
}

/// Reads the fields of an `ErrorResponse`.
pub(crate) fn from_response(body: &[u8]) -> Error {
    let (mut sqlstate, mut message) = (String::from("XX000"), String::new());
    for field in body.split(|byte| *byte == 0) {
        let Some((kind, text)) = field.split_first() else {
            break;
        };
        let text = String::from_utf8_lossy(text);
        match kind {
            b'C' => sqlstate = text.into_owned(),
            b'M' => message.insert_str(0, &text),
            b'D' => message.push_str(&format!("; {text}")),
            b'H' => message.push_str(&format!("; hint: {text}")),
            _ => {}
        }
    }
    Error::Server {
        sqlstate: sqlstate.into(),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_the_state_and_the_words() {
        let body = b"SERROR\0C40001\0Mcould not serialize\0Dreason\0Htry again\0\0";
        let error = from_response(body);
        assert_eq!(error.sqlstate(), Some("40001"));
        assert_eq!(
            error.to_string(),
            "could not serialize; reason; hint: try again"
        );
        assert!(Failure::from(error).class.is_retryable());
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_error_of_the_server(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(from_response(&body).sqlstate().is_some());
        }
    }
}
