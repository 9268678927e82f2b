//! The file of lines that were not taken.

use std::fs::File;

use super::Error;

const HEADER: [&str; 3] = ["line", "field", "text"];

/// A CSV file: number of the line, name of the wrong column, what stands there.
#[derive(Debug)]
pub struct Rejects {
    path: String,
    file: csv::Writer<File>,
}

impl Rejects {
    /// Makes the file, with its header.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn create(path: &str) -> Result<Self, Error> {
        let file = File::create(path).map_err(|error| Error::file(path, error))?;
        let mut rejects = Self {
            path: path.into(),
            file: csv::Writer::from_writer(file),
        };
        rejects.write(HEADER.map(str::as_bytes))?;
        Ok(rejects)
    }

    /// Adds a line.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn add(&mut self, line: u64, field: &str, text: &[u8]) -> Result<(), Error> {
        self.write([line.to_string().as_bytes(), field.as_bytes(), text])
    }

    /// Writes what was gathered.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn finish(mut self) -> Result<(), Error> {
        let flushed = self.file.flush();
        flushed.map_err(|error| Error::file(&self.path, error))
    }

    fn write(&mut self, fields: [&[u8]; HEADER.len()]) -> Result<(), Error> {
        let written = self.file.write_record(fields);
        written.map_err(|error| Error::file(&self.path, error))
    }
}
