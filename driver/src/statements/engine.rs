//! What a database is asked, whatever its protocol is.

use std::fmt::{Debug, Write as _};
use std::future::Future;

use serde_json::Value;

use crate::kept::MOST_BYTES;
use crate::session::Failure;
use crate::text_rows::TextRows;
use crate::web::quoting::Quoting;

/// A database.
pub trait Engine: Debug + Send + Sync + 'static {
    /// A connection to it.
    type Desk: Desk;

    /// How literals are written.
    const QUOTING: Quoting;

    /// Opens a connection.
    fn connect(&self) -> impl Future<Output = Result<Self::Desk, Failure>>;

    /// Name and version of an engine within this process.
    fn version(&self) -> Option<String> {
        None
    }

    /// Processor time, in seconds, that an engine within this process has used.
    fn cpu_s(&self) -> Option<f64> {
        None
    }
}

/// A connection.
pub trait Desk {
    /// Makes one statement and reads its rows to the end; `collects` if they are to be told. After a failure that
    /// is not fatal the next one can be made.
    fn ask(&mut self, sql: &str, collects: bool) -> impl Future<Output = Result<Answer, Failure>>;

    /// Says goodbye.
    fn close(&mut self) -> impl Future<Output = ()>;
}

/// What a statement gave.
#[derive(Debug, Default)]
pub struct Answer {
    /// Rows that came.
    pub rows: u64,
    /// What was in them, if that was asked for.
    pub table: Option<Table>,
}

impl Answer {
    /// Of no rows yet.
    pub fn new(collects: bool) -> Self {
        Self {
            rows: 0,
            table: collects.then(Table::default),
        }
    }
}

/// Rows as JSON: `{"columns": ["a", "b"], "rows": [["1", null]]}`. Values are texts, as the database writes them.
#[derive(Debug, Default)]
pub struct Table {
    columns: String,
    rows: String,
    /// Bytes of rows that are left out: it is too long to be kept.
    left_out: usize,
}

impl TextRows for Table {
    fn columns(&mut self, names: &[&str]) {
        self.columns = list(names.iter().copied().map(Some));
    }

    fn row(&mut self, values: &[Option<&str>]) {
        let row = list(values.iter().copied());
        if self.rows.len() + row.len() > MOST_BYTES {
            self.left_out += row.len();
            return;
        }
        if !self.rows.is_empty() {
            self.rows.push(',');
        }
        self.rows.push_str(&row);
    }
}

impl Table {
    /// As JSON, and how long all of it would be. It is whole only if both are as long.
    pub fn finish(self) -> (String, usize) {
        let columns = if self.columns.is_empty() {
            "[]"
        } else {
            &self.columns
        };
        let text = format!("{{\"columns\":{columns},\"rows\":[{}]}}", self.rows);
        let bytes = text.len() + self.left_out;
        (text, bytes)
    }
}

fn list<'c>(values: impl Iterator<Item = Option<&'c str>>) -> String {
    let mut text = "[".to_owned();
    for (index, value) in values.enumerate() {
        let value = value.map_or(Value::Null, Value::from);
        // A string takes all that is written.
        let _ = write!(text, "{}{value}", if index > 0 { "," } else { "" });
    }
    text.push(']');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_json() {
        let mut table = Table::default();
        table.columns(&["a", "b \"c\""]);
        table.row(&[Some("1"), None]);
        table.row(&[Some("x\ny"), Some("")]);
        let (text, bytes) = table.finish();
        assert_eq!(bytes, text.len());
        let read: Value = serde_json::from_str(&text).expect("JSON");
        let expected = json!({"columns": ["a", "b \"c\""], "rows": [["1", null], ["x\ny", ""]]});
        assert_eq!(read, expected);
        assert_eq!(Table::default().finish().0, "{\"columns\":[],\"rows\":[]}");
    }

    #[test]
    fn what_is_too_long_is_told_by_its_length() {
        let mut table = Table::default();
        let long = "x".repeat(40_000);
        for _ in 0..10 {
            table.row(&[Some(long.as_str())]);
        }
        let (text, bytes) = table.finish();
        assert!(text.len() < MOST_BYTES && bytes > 400_000);
    }
}
