//! Statements as text, whose rows are read as texts.

use super::connection::{END, ERROR, LOCAL_INFILE, OK, columns, packet, text_row};
use super::wire::{Fields, next_length, next_packet};
use super::{Answer, Connection, Error};
use crate::text_rows::TextRows;

/// The name of a column comes after catalogue, schema, table and the table's own name.
const BEFORE_NAME: usize = 4;

impl Connection {
    /// Makes a statement without parameters and reads its rows to the end; `told` is told them. Gives their number.
    ///
    /// # Errors
    /// The server's error, a value that is not UTF-8, or a lost connection.
    pub async fn read_text(
        &mut self,
        sql: &str,
        told: Option<&mut impl TextRows>,
    ) -> Result<u64, Error> {
        self.queue_text(sql)?;
        self.send().await?;
        self.awaited.pop_front();
        match self.text_answer(told).await {
            Err(error @ Error::Server { .. }) => Err(self.after(error).await),
            other => other,
        }
    }

    async fn text_answer(&mut self, mut told: Option<&mut impl TextRows>) -> Result<u64, Error> {
        let mut answer = Answer::default();
        loop {
            let body = packet!(self);
            let more = match body.first() {
                Some(&OK) => answer.add(body)?,
                Some(&ERROR) => return Err(Error::from_packet(body)),
                Some(&LOCAL_INFILE) | None => {
                    return Err(Error::protocol("the server asks for a file"));
                }
                Some(_) => {
                    let (count, described) = columns(self.capabilities, body)?;
                    let mut names = Vec::new();
                    for _ in 0..if described { count } else { 0 } {
                        names.push(name_of(packet!(self))?);
                    }
                    if let Some(told) = &mut told {
                        told.columns(&names.iter().map(String::as_str).collect::<Vec<_>>());
                    }
                    self.tell_rows(count, &mut answer, &mut told).await?
                }
            };
            if !more {
                return Ok(answer.rows);
            }
        }
    }

    async fn tell_rows(
        &mut self,
        count: usize,
        answer: &mut Answer,
        told: &mut Option<&mut impl TextRows>,
    ) -> Result<bool, Error> {
        loop {
            let body = packet!(self);
            match body.first() {
                Some(&END) => return answer.add(body),
                Some(&ERROR) => return Err(Error::from_packet(body)),
                _ => {
                    answer.rows += 1;
                    if let Some(told) = told {
                        let row = text_row(body, count)?;
                        told.row(&row.iter().map(Option::as_deref).collect::<Vec<_>>());
                    }
                }
            }
        }
    }
}

/// The name in the description of a column.
fn name_of(body: &[u8]) -> Result<String, Error> {
    let mut fields = Fields::new(body);
    for _ in 0..BEFORE_NAME {
        fields.bytes()?;
    }
    let name = std::str::from_utf8(fields.bytes()?);
    let name = name.map_err(|_| Error::protocol("the name of a column is not UTF-8"))?;
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_column_is_the_fifth_text() {
        let body = b"\x03def\x01s\x01t\x01o\x04name\x01x\x0c";
        assert_eq!(name_of(body).unwrap(), "name");
        assert!(name_of(b"\x03def\x01s").is_err());
    }
}
