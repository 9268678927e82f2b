//! Values as texts.

use rusqlite::types::ValueRef;

/// A value as a text; bytes as hexadecimal digits.
pub fn text_of(value: ValueRef<'_>) -> Option<String> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
    })
}
