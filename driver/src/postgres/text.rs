//! Statements as text, by the simple protocol.

use postgres_protocol::message::frontend;

use super::{Connection, Error, Row};
use crate::text_rows::TextRows;

/// What follows the name of a column: table, number, type, length, modifier, format.
const AFTER_NAME: usize = 18;

impl Connection {
    /// Makes a statement without parameters and reads its rows to the end; `told` is told them. Gives their number.
    ///
    /// # Errors
    /// The server's error, a value that is not UTF-8, or a lost connection.
    pub async fn read_text(
        &mut self,
        sql: &str,
        mut told: Option<&mut impl TextRows>,
    ) -> Result<u64, Error> {
        frontend::query(sql, &mut self.write)?;
        self.unready += 1;
        self.send().await?;
        let mut count = 0;
        while self.unready > 0 {
            let message = self.reply().await?;
            match message.tag {
                b'T' => {
                    if let Some(told) = &mut told {
                        told.columns(&names(message.body)?);
                    }
                }
                b'D' => {
                    count += 1;
                    if let Some(told) = &mut told {
                        told.row(&values(message.body)?);
                    }
                }
                b'G' => return Err(Error::protocol("the server waits for rows (COPY)")),
                _ => {}
            }
        }
        Ok(count)
    }
}

fn names(body: &[u8]) -> Result<Vec<&str>, Error> {
    let short = || Error::protocol("a description of columns is too short");
    let (count, mut rest) = body.split_first_chunk::<2>().ok_or_else(short)?;
    let mut names = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let end = rest.iter().position(|byte| *byte == 0).ok_or_else(short)?;
        names.push(text(&rest[..end])?);
        rest = rest.get(end + 1 + AFTER_NAME..).ok_or_else(short)?;
    }
    Ok(names)
}

fn values(body: &[u8]) -> Result<Vec<Option<&str>>, Error> {
    let mut row = Row::new(body)?;
    let mut values = Vec::new();
    while row.is_left() {
        values.push(row.bytes()?.map(text).transpose()?);
    }
    Ok(values)
}

fn text(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|_| Error::protocol("a text is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_and_values_are_read() {
        let mut body = vec![0, 2];
        for name in ["a", "b c"] {
            body.extend(name.bytes());
            body.extend([0; 19]);
        }
        assert_eq!(names(&body).unwrap(), ["a", "b c"]);
        let row = [0, 2, 255, 255, 255, 255, 0, 0, 0, 2, b'h', b'i'];
        assert_eq!(values(&row).unwrap(), [None, Some("hi")]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (names(&body).is_ok(), values(&body).is_ok());
        }
    }
}
