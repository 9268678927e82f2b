//! Values of a user: texts, and JSON that keeps its type.

use std::borrow::Cow;

use serde_json::Value;

/// A value that a user keeps. A text takes no more room than it needs.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    Text(Box<str>),
    /// JSON that is no string.
    Json(Box<Value>),
}

impl Kept {
    /// As it is written into a request.
    pub fn shown(&self) -> Shown<'_> {
        match self {
            Self::Text(text) => Shown::Text(text),
            Self::Json(value) => Shown::Json(value),
        }
    }
}

impl From<String> for Kept {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<Value> for Kept {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => text.into(),
            value => Self::Json(Box::new(value)),
        }
    }
}

/// A value to be written into a request.
#[derive(Debug, Clone, Copy)]
pub enum Shown<'v> {
    Text(&'v str),
    /// JSON that is no string.
    Json(&'v Value),
}

impl<'v> Shown<'v> {
    /// Its text: JSON that is no string is written as JSON.
    pub fn text(self) -> Cow<'v, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Json(value) => Cow::Owned(value.to_string()),
        }
    }

    /// As JSON.
    pub fn json(self) -> String {
        match self {
            Self::Text(text) => Value::from(text).to_string(),
            Self::Json(value) => value.to_string(),
        }
    }
}

impl<'v> From<&'v Value> for Shown<'v> {
    fn from(value: &'v Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            value => Self::Json(value),
        }
    }
}
