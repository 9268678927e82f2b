//! Why a request failed.

use crate::http::Fault;
use crate::session::{ErrorClass, Failure};

/// A failure of a request: its class, and what happened in words. They hold no body, no address and no
/// value of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// That of [`Fault`], `status_NNN`, `check` or `no_value`.
    pub class: String,
    message: String,
}

impl Trouble {
    /// A failure of a class.
    pub fn new(class: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            class: class.into(),
            message: message.into(),
        }
    }

    /// The class, as it is counted.
    pub fn class(&self) -> ErrorClass {
        ErrorClass(self.class.as_str().into())
    }

    /// The failure of the transaction whose request `request` it is.
    pub fn of(self, request: &str) -> Failure {
        Failure {
            class: ErrorClass(self.class.into()),
            message: format!("{request}: {}", self.message),
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::new(failure.class.0, failure.message)
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::new(fault.class.name(), fault.message)
    }
}

/// An answer is not as it is expected.
pub fn check(message: impl Into<String>) -> Trouble {
    Trouble::new("check", message)
}

/// A value is missing, in an answer or for a request.
pub fn no_value(message: impl Into<String>) -> Trouble {
    Trouble::new("no_value", message)
}
