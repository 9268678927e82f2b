//! `LOAD DATA LOCAL INFILE`, streamed: one row a line, columns between tabs, `\N` for NULL.

use super::connection::{Awaited, packet};
use super::param::{DECIMAL_BYTES, decimal_text};
use super::wire::{HEADER_BYTES, begin_packet, end_packet, next_length, next_packet};
use super::{Connection, Error};
use crate::decimal::Decimal;
use crate::oltp::load::{RowWriter, Timestamp};

/// Bytes gathered before they are sent as one packet.
const CHUNK_BYTES: usize = 64 * 1024;
const LOCAL_INFILE: u8 = 0xfb;
const ERROR: u8 = 0xff;

/// A table that is being filled. Without [`LoadData::finish`] the connection must be dropped.
#[derive(Debug)]
pub struct LoadData<'c> {
    connection: &'c mut Connection,
    table: &'c str,
    /// Sequence number of the packet that is gathered: it goes on from that of the server's request.
    sequence: u8,
    bytes: u64,
    rows: u64,
}

impl<'c> LoadData<'c> {
    /// Begins to fill `table`, all columns in their order.
    ///
    /// # Errors
    /// The server's error or a lost connection.
    pub async fn begin(connection: &'c mut Connection, table: &'c str) -> Result<Self, Error> {
        connection.queue_text(&format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET utf8mb4"
        ))?;
        connection.send().await?;
        let body = packet!(connection);
        match body.first() {
            Some(&LOCAL_INFILE) => {}
            Some(&ERROR) => {
                let error = Error::from_packet(body);
                connection.awaited.clear();
                return Err(error);
            }
            other => {
                return Err(Error::protocol(format!(
                    "{other:?} instead of the request for rows"
                )));
            }
        }
        begin_packet(&mut connection.write, 2);
        Ok(Self {
            connection,
            table,
            sequence: 2,
            bytes: 0,
            rows: 0,
        })
    }

    /// Where the next row is written to; end it with [`LoadData::row_ended`].
    #[inline]
    pub fn row(&mut self) -> LineWriter<'_> {
        LineWriter::new(&mut self.connection.write)
    }

    /// The same as bytes, for a row that is written as text.
    #[inline]
    pub fn line(&mut self) -> &mut Vec<u8> {
        &mut self.connection.write
    }

    /// Ends a row; sends what was gathered if it is enough for a packet.
    ///
    /// # Errors
    /// A lost connection.
    #[inline]
    pub async fn row_ended(&mut self) -> Result<(), Error> {
        self.connection.write.push(b'\n');
        self.rows += 1;
        if self.connection.write.len() < CHUNK_BYTES {
            return Ok(());
        }
        self.send_chunk().await
    }

    async fn send_chunk(&mut self) -> Result<(), Error> {
        self.bytes += (self.connection.write.len() - HEADER_BYTES) as u64;
        end_packet(&mut self.connection.write, 0)?;
        self.connection.send().await?;
        self.sequence = self.sequence.wrapping_add(1);
        begin_packet(&mut self.connection.write, self.sequence);
        Ok(())
    }

    /// Ends the table; returns the bytes that were written into it.
    ///
    /// LOCAL makes the server pass over rows that it cannot store and bend values that do not fit, with
    /// no more than a warning. Here either is an error, SQLSTATE 22000.
    ///
    /// # Errors
    /// The server's error, rows that are not there as they were sent, or a lost connection.
    pub async fn finish(mut self) -> Result<u64, Error> {
        if self.connection.write.len() > HEADER_BYTES {
            self.send_chunk().await?;
        }
        // An empty packet ends the rows.
        self.connection.send().await?;
        debug_assert_eq!(self.connection.awaited.front(), Some(&Awaited::Text));
        let answer = self.connection.done().await?;
        if answer.affected != self.rows || answer.warnings > 0 {
            return Err(Error::data(
                "22000",
                format!(
                    "{} of {} rows came into {}, with {} warnings (a duplicate key, or a value that does not fit)",
                    answer.affected, self.rows, self.table, answer.warnings
                ),
            ));
        }
        Ok(self.bytes)
    }
}

/// Writes the columns of one row, in order. Texts must hold no tab, line feed or backslash.
#[derive(Debug)]
pub struct LineWriter<'b> {
    buf: &'b mut Vec<u8>,
    is_first: bool,
}

impl<'b> LineWriter<'b> {
    /// Writes to the end of `buf`.
    #[inline]
    pub fn new(buf: &'b mut Vec<u8>) -> Self {
        Self {
            buf,
            is_first: true,
        }
    }

    #[inline]
    fn column(&mut self) -> &mut Vec<u8> {
        if !self.is_first {
            self.buf.push(b'\t');
        }
        self.is_first = false;
        self.buf
    }
}

impl RowWriter for LineWriter<'_> {
    #[inline]
    fn begin(&mut self, _columns: i16) -> &mut Self {
        self.is_first = true;
        self
    }

    #[inline]
    fn int2(&mut self, value: i16) -> &mut Self {
        self.int4(value.into())
    }

    #[inline]
    fn int4(&mut self, value: i32) -> &mut Self {
        self.numeric(Decimal {
            unscaled: value.into(),
            scale: 0,
        })
    }

    #[inline]
    fn timestamp(&mut self, at: Timestamp) -> &mut Self {
        self.column().extend_from_slice(&at.text());
        self
    }

    #[inline]
    fn text_with(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> &mut Self {
        let buf = self.column();
        let start = buf.len();
        buf.resize(start + length, 0);
        fill(&mut buf[start..]);
        self
    }

    #[inline]
    fn numeric(&mut self, value: Decimal) -> &mut Self {
        let mut room = [0; DECIMAL_BYTES];
        let text = decimal_text(value, &mut room);
        self.column().extend_from_slice(text);
        self
    }

    #[inline]
    fn null(&mut self) -> &mut Self {
        self.column().extend_from_slice(b"\\N");
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_line() {
        let mut buf = Vec::new();
        LineWriter::new(&mut buf)
            .begin(4)
            .int4(-3)
            .text(b"abc")
            .null()
            .numeric(Decimal::cents(5));
        assert_eq!(buf, b"-3\tabc\t\\N\t0.05");
    }
}
