//! `COPY ... FROM STDIN (FORMAT binary)`, streamed.

use bytes::{BufMut, BytesMut};
use postgres_protocol::message::frontend;

use super::{Connection, Error};
use crate::decimal::Decimal;

/// Bytes gathered before they are sent.
const CHUNK_BYTES: usize = 64 * 1024;
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const MESSAGE_HEADER_BYTES: usize = 5;

/// A table that is being filled. Without [`CopyIn::finish`] the connection must be dropped.
#[derive(Debug)]
pub struct CopyIn<'c> {
    connection: &'c mut Connection,
    bytes: u64,
}

impl<'c> CopyIn<'c> {
    /// Begins to fill `table`, all columns in their order.
    ///
    /// # Errors
    /// The server's error or a lost connection.
    pub async fn begin(connection: &'c mut Connection, table: &str) -> Result<Self, Error> {
        let sql = format!("COPY {table} FROM STDIN (FORMAT binary)");
        frontend::query(&sql, &mut connection.write)?;
        connection.unready += 1;
        connection.send().await?;
        let tag = connection.reply().await?.tag;
        if tag != b'G' {
            return Err(Error::protocol(format!(
                "{:?} instead of the start of COPY",
                char::from(tag)
            )));
        }
        let mut copy = Self {
            connection,
            bytes: 0,
        };
        copy.open_chunk();
        copy.connection.write.put_slice(SIGNATURE);
        Ok(copy)
    }

    /// Where rows are written to, each begun by [`TupleWriter::columns`].
    #[inline]
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.connection.write
    }

    /// Sends what was gathered if it is enough for a chunk. Call it after each row.
    ///
    /// # Errors
    /// A lost connection.
    #[inline]
    pub async fn send_if_full(&mut self) -> Result<(), Error> {
        if self.connection.write.len() < CHUNK_BYTES {
            return Ok(());
        }
        self.close_chunk();
        self.connection.send().await?;
        self.open_chunk();
        Ok(())
    }

    /// Ends the table; returns the bytes that were written into it.
    ///
    /// # Errors
    /// The server's error, or a lost connection.
    pub async fn finish(mut self) -> Result<u64, Error> {
        self.connection.write.put_i16(-1);
        self.close_chunk();
        frontend::copy_done(&mut self.connection.write);
        self.connection.send().await?;
        self.connection.done().await?;
        self.connection.ready().await?;
        Ok(self.bytes)
    }

    fn open_chunk(&mut self) {
        self.connection.write.put_slice(&[b'd', 0, 0, 0, 0]);
    }

    fn close_chunk(&mut self) {
        let write = &mut self.connection.write;
        let length = (write.len() - 1) as u32;
        write[1..MESSAGE_HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
        self.bytes += u64::from(length) - 4;
    }
}

/// Writes the columns of one row, in order.
#[derive(Debug)]
pub struct TupleWriter<'b> {
    buf: &'b mut BytesMut,
}

impl<'b> TupleWriter<'b> {
    /// Writes behind what is in `buf`.
    pub fn new(buf: &'b mut BytesMut) -> Self {
        Self { buf }
    }

    /// Starts a row of `columns` columns.
    #[inline]
    pub fn columns(&mut self, columns: i16) -> &mut Self {
        self.buf.put_i16(columns);
        self
    }

    /// `smallint`
    #[inline]
    pub fn int2(&mut self, value: i16) -> &mut Self {
        self.buf.put_i32(2);
        self.buf.put_i16(value);
        self
    }

    /// `integer`
    #[inline]
    pub fn int4(&mut self, value: i32) -> &mut Self {
        self.buf.put_i32(4);
        self.buf.put_i32(value);
        self
    }

    /// `timestamp`, in microseconds since the start of the year 2000.
    #[inline]
    pub fn timestamp(&mut self, microseconds: i64) -> &mut Self {
        self.buf.put_i32(8);
        self.buf.put_i64(microseconds);
        self
    }

    /// Text of `length` bytes, written by `fill` where it will lie.
    #[inline]
    pub fn text_with(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> &mut Self {
        self.buf.put_i32(length as i32);
        let start = self.buf.len();
        self.buf.put_bytes(0, length);
        fill(&mut self.buf[start..]);
        self
    }

    /// `numeric`
    #[inline]
    pub fn numeric(&mut self, value: Decimal) -> &mut Self {
        let start = self.buf.len();
        self.buf.put_i32(0);
        value.encode(self.buf);
        let length = (self.buf.len() - start - 4) as u32;
        self.buf[start..start + 4].copy_from_slice(&length.to_be_bytes());
        self
    }

    /// NULL
    #[inline]
    pub fn null(&mut self) -> &mut Self {
        self.buf.put_i32(-1);
        self
    }
}
