//! Rows as bytes.

use std::io::Write;

use super::names::{DIMENSIONS, PERIODS};
use super::{CHUNK_BYTES, Error};

/// Numbers of members, in the order of [`DIMENSIONS`].
pub type Key = [i16; DIMENSIONS.len()];

/// Cells that differ in their period only; one that is missing is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Where they belong.
    pub key: Key,
    /// In the order of the periods.
    pub amounts: [Option<f64>; PERIODS],
}

impl Row {
    /// A row in which all is missing.
    pub fn empty(key: Key) -> Self {
        Self {
            key,
            amounts: [None; PERIODS],
        }
    }
}

/// How rows are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `COPY ... FROM STDIN (FORMAT binary)` of PostgreSQL (*Documentation*, "COPY", "Binary
    /// Format"): smallint and double precision, a missing amount is NULL.
    Copy,
    /// Little-endian i16 and f64 without anything between them, a missing amount is NaN.
    Fixed,
}

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const TRAILER: i16 = -1;
const NULL: i32 = -1;
const COLUMNS: i16 = (DIMENSIONS.len() + PERIODS) as i16;
/// Of the longest form: number of columns, then each with its length.
const ROW_BYTES: usize = 2 + DIMENSIONS.len() * (4 + 2) + PERIODS * (4 + 8);

/// Encodes rows and writes them in large pieces.
#[derive(Debug)]
pub struct Encoder<W> {
    output: W,
    form: Form,
    gathered: Vec<u8>,
    rows: u64,
}

impl<W: Write> Encoder<W> {
    /// An output without rows.
    pub fn new(output: W, form: Form) -> Self {
        let mut gathered = Vec::with_capacity(CHUNK_BYTES + ROW_BYTES);
        if form == Form::Copy {
            gathered.extend_from_slice(SIGNATURE);
        }
        Self {
            output,
            form,
            gathered,
            rows: 0,
        }
    }

    /// Adds a row; writes what was gathered if it is enough.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn add(&mut self, row: &Row) -> Result<(), Error> {
        match self.form {
            Form::Copy => copy(row, &mut self.gathered),
            Form::Fixed => fixed(row, &mut self.gathered),
        }
        self.rows += 1;
        if self.gathered.len() >= CHUNK_BYTES {
            self.write()?;
        }
        Ok(())
    }

    /// Writes the rest; returns the number of rows.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn finish(mut self) -> Result<u64, Error> {
        if self.form == Form::Copy {
            self.gathered.extend_from_slice(&TRAILER.to_be_bytes());
        }
        self.write()?;
        self.output.flush().map_err(Error::Output)?;
        Ok(self.rows)
    }

    fn write(&mut self) -> Result<(), Error> {
        let written = self.output.write_all(&self.gathered);
        self.gathered.clear();
        written.map_err(Error::Output)
    }
}

fn copy(row: &Row, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&COLUMNS.to_be_bytes());
    for member in row.key {
        bytes.extend_from_slice(&2_i32.to_be_bytes());
        bytes.extend_from_slice(&member.to_be_bytes());
    }
    for amount in row.amounts {
        match amount {
            Some(amount) => {
                bytes.extend_from_slice(&8_i32.to_be_bytes());
                bytes.extend_from_slice(&amount.to_be_bytes());
            }
            None => bytes.extend_from_slice(&NULL.to_be_bytes()),
        }
    }
}

fn fixed(row: &Row, bytes: &mut Vec<u8>) {
    for member in row.key {
        bytes.extend_from_slice(&member.to_le_bytes());
    }
    for amount in row.amounts {
        bytes.extend_from_slice(&amount.unwrap_or(f64::NAN).to_le_bytes());
    }
}
