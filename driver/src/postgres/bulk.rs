//! Statements as text in a pipeline, and `COPY ... FROM STDIN (FORMAT binary)` within one.
//!
//! The server passes over the rows of a COPY that it refused, and over what follows in the query in
//! which an error came. So a transaction can be sent without waiting for any of its answers:
//!
//! ```ignore
//! connection.queue_text("BEGIN; COPY t FROM STDIN (FORMAT binary)")?;
//! let mut rows = connection.rows_in();
//! rows.add(&row).await?;
//! rows.end();
//! connection.queue_text("UPDATE m SET n = 1; COMMIT")?;
//! connection.settle().await?;                     // not committed unless all went well
//! ```

use bytes::BufMut;
use postgres_protocol::message::frontend;

use super::{Connection, Error, Row};

/// Bytes gathered before they are sent.
const CHUNK_BYTES: usize = 256 * 1024;
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// `CopyData` whose length is not known yet.
const CHUNK: [u8; 5] = [b'd', 0, 0, 0, 0];
/// No row is wider than this: then a chunk is sent before it outgrows its room.
const WIDEST_BYTES: usize = 1024;

impl Connection {
    /// Adds statements without parameters, between semicolons, to the pipeline; nothing is sent yet.
    ///
    /// # Errors
    /// A protocol error if they hold a zero byte.
    pub fn queue_text(&mut self, sql: &str) -> Result<(), Error> {
        frontend::query(sql, &mut self.write)?;
        self.unready += 1;
        Ok(())
    }

    /// The rows of the COPY that was queued last.
    pub fn rows_in(&mut self) -> Rows<'_> {
        self.write.reserve(CHUNK_BYTES + WIDEST_BYTES);
        let mut rows = Rows {
            start: 0,
            connection: self,
            bytes: 0,
        };
        rows.open_chunk();
        rows.connection.write.put_slice(SIGNATURE);
        rows
    }

    /// Sends what was queued and reads all answers; rows do not matter.
    ///
    /// # Errors
    /// The first error of the server, or a lost connection.
    pub async fn settle(&mut self) -> Result<(), Error> {
        self.send().await?;
        while self.unready > 0 {
            self.reply().await?;
        }
        Ok(())
    }

    /// Runs statements without parameters, between semicolons; gives all rows as text.
    ///
    /// # Errors
    /// The server's error, a value that is not UTF-8, or a lost connection.
    pub async fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
        self.queue_text(sql)?;
        self.send().await?;
        let mut rows = Vec::new();
        while self.unready > 0 {
            let message = self.reply().await?;
            if message.tag == b'D' {
                rows.push(texts(message.body)?);
            }
        }
        Ok(rows)
    }
}

fn texts(body: &[u8]) -> Result<Vec<Option<String>>, Error> {
    let mut row = Row::new(body)?;
    let mut texts = Vec::new();
    while row.is_left() {
        let text = row.bytes()?.map(std::str::from_utf8).transpose();
        let text = text.map_err(|_| Error::protocol("a text is not UTF-8"))?;
        texts.push(text.map(str::to_owned));
    }
    Ok(texts)
}

/// Rows of a COPY within a pipeline. Without [`Rows::end`] the connection must be dropped.
#[derive(Debug)]
pub struct Rows<'c> {
    connection: &'c mut Connection,
    /// Where the chunk begins that is being written.
    start: usize,
    bytes: u64,
}

impl Rows<'_> {
    /// Adds a row in the form of [`super::TupleWriter`]; sends what was gathered if it is enough.
    ///
    /// # Errors
    /// A lost connection.
    #[inline]
    pub async fn add(&mut self, row: &[u8]) -> Result<(), Error> {
        self.connection.write.put_slice(row);
        if self.connection.write.len() >= CHUNK_BYTES {
            self.close_chunk();
            self.connection.send().await?;
            self.open_chunk();
        }
        Ok(())
    }

    /// Ends the table; returns the bytes that were written into it.
    pub fn end(mut self) -> u64 {
        self.connection.write.put_i16(-1);
        self.close_chunk();
        frontend::copy_done(&mut self.connection.write);
        self.bytes
    }

    fn open_chunk(&mut self) {
        self.start = self.connection.write.len();
        self.connection.write.put_slice(&CHUNK);
    }

    fn close_chunk(&mut self) {
        let write = &mut self.connection.write;
        let length = (write.len() - self.start - 1) as u32;
        write[self.start + 1..self.start + CHUNK.len()].copy_from_slice(&length.to_be_bytes());
        self.bytes += u64::from(length) - 4;
    }
}
