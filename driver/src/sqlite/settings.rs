//! Pragmas: set, and read back, because SQLite says nothing when it leaves one as it was.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::Error;

/// The words of pragmas that are read back as numbers. Those of all pragmas come first.
const WORDS: [(&str, &str, &str); 16] = [
    ("", "on", "1"),
    ("", "yes", "1"),
    ("", "true", "1"),
    ("", "off", "0"),
    ("", "no", "0"),
    ("", "false", "0"),
    ("synchronous", "normal", "1"),
    ("synchronous", "full", "2"),
    ("synchronous", "extra", "3"),
    ("temp_store", "default", "0"),
    ("temp_store", "file", "1"),
    ("temp_store", "memory", "2"),
    ("auto_vacuum", "none", "0"),
    ("auto_vacuum", "full", "1"),
    ("auto_vacuum", "incremental", "2"),
    ("secure_delete", "fast", "2"),
];

/// Sets a pragma and reads it back.
pub(super) fn set(connection: &Connection, name: &str, value: &str) -> Result<(), Error> {
    let refuse = |problem: String| Error::Setting {
        name: name.to_owned(),
        problem,
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+.".contains(&byte);
    if name.is_empty()
        || !name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    {
        return Err(refuse("is not the name of a pragma".into()));
    }
    if value.is_empty() || !value.bytes().all(plain) {
        return Err(refuse(format!("`{value}` is not the value of a pragma")));
    }
    pragma(connection, &format!("PRAGMA {name} = '{value}'"))?;
    match pragma(connection, &format!("PRAGMA {name}"))? {
        Some(found) if same(name, value, &found) => Ok(()),
        Some(found) => Err(refuse(format!(
            "{value} was asked for, but SQLite has {found}; give a value that this file and this \
             version take"
        ))),
        None => Err(refuse(
            "SQLite has no pragma of this name to read back".into(),
        )),
    }
}

/// The first column of what a pragma answers.
fn pragma(connection: &Connection, sql: &str) -> Result<Option<String>, Error> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(())?;
    let mut found = None;
    while let Some(row) = rows.next()? {
        found = found.or(match row.get_ref(0)? {
            ValueRef::Integer(number) => Some(number.to_string()),
            ValueRef::Real(number) => Some(number.to_string()),
            ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Null | ValueRef::Blob(_) => None,
        });
    }
    Ok(found)
}

fn same(name: &str, asked: &str, found: &str) -> bool {
    if asked.eq_ignore_ascii_case(found) {
        return true;
    }
    if let (Ok(asked), Ok(found)) = (asked.parse::<i64>(), found.parse::<i64>()) {
        return asked == found;
    }
    WORDS.iter().any(|(of, word, number)| {
        (of.is_empty() || *of == name) && word.eq_ignore_ascii_case(asked) && *number == found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str, value: &str) -> Result<(), Error> {
        set(&Connection::open_in_memory().expect("memory"), name, value)
    }

    #[test]
    fn words_and_numbers_are_read_back() {
        for (name, value) in [
            ("synchronous", "FULL"),
            ("synchronous", "off"),
            ("synchronous", "3"),
            ("temp_store", "memory"),
            ("foreign_keys", "ON"),
            ("foreign_keys", "no"),
            ("cache_size", "-64000"),
            ("busy_timeout", "5000"),
            ("journal_mode", "memory"),
            ("page_size", "8192"),
            ("wal_autocheckpoint", "0"),
            ("secure_delete", "fast"),
            ("locking_mode", "exclusive"),
        ] {
            assert!(given(name, value).is_ok(), "{:?}", given(name, value));
        }
    }

    #[test]
    fn a_value_that_is_not_taken_is_an_error_with_both_values() {
        for (name, value, words) in [
            (
                "journal_mode",
                "wal",
                "wal was asked for, but SQLite has memory",
            ),
            ("page_size", "1000", "1000 was asked for"),
            ("synchronous", "ful", "ful was asked for"),
            ("sinchronous", "full", "no pragma"),
            ("x = 1; --", "1", "not the name"),
            ("cache_size", "1'; DROP TABLE x", "not the value"),
            ("cache_size", "", "not the value"),
        ] {
            let error = given(name, value).expect_err(name).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
