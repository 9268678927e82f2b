//! The subcommand `cells`: a file of cells of a planning cube in, encoded rows out.
//!
//! Read in this order: [`arguments`] (what is asked), [`names`] (members and their numbers),
//! [`lines`] and [`native`] (the two kinds of files), [`encode`] (what becomes of a row).

pub mod amount;
pub mod arguments;
pub mod encode;
pub mod lines;
pub mod names;
pub mod native;
pub mod rejects;
#[cfg(test)]
mod tests;

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::{self, Write};

use serde::Serialize;
use thiserror::Error as ThisError;

use crate::process::usage;
use arguments::{Source, Task, USAGE};
use encode::Encoder;
use names::Names;
use rejects::Rejects;

/// Bytes that are read at once, and gathered before they are written.
const CHUNK_BYTES: usize = 256 * 1024;

/// Why a file is not encoded.
#[derive(Debug, ThisError)]
pub enum Error {
    /// The arguments make no sense.
    #[error("cells: {0}; usage: {usage}", usage = USAGE)]
    Arguments(String),
    /// A file cannot be read or written, or is not what it should be.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A line is wrong, in a file that takes no rejects or in a way that ends the reading.
    #[error("{path}, line {line}: {reason}")]
    Line {
        /// The file.
        path: String,
        /// From 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The rows cannot be handed on.
    #[error("standard output cannot be written: {0}")]
    Output(#[source] io::Error),
}

impl Error {
    fn file(path: &str, reason: impl Display) -> Self {
        Self::File {
            path: path.into(),
            reason: reason.to_string(),
        }
    }

    fn line(path: &str, line: u64, reason: impl Display) -> Self {
        Self::Line {
            path: path.into(),
            line,
            reason: reason.to_string(),
        }
    }

    /// What the process ends with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Arguments(_) => 2,
            _ => 1,
        }
    }
}

/// What was in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// Lines without the header; of a native file those with amounts.
    pub lines: u64,
    /// Amounts that were taken; what is missing is none.
    pub cells: u64,
    /// Lines that were not taken.
    pub rejected: u64,
    /// Of the amounts that were taken.
    pub sum: f64,
}

/// What is told at the end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Lines without the header; of a native file those with amounts.
    pub lines: u64,
    /// Amounts that were taken; what is missing is none.
    pub cells: u64,
    /// Rows that were written.
    pub rows: u64,
    /// Lines that were not taken.
    pub rejected: u64,
    /// Of the amounts that were taken.
    pub sum: f64,
    /// Processor time of the process so far.
    pub cpu_s: f64,
}

/// As a line of JSON.
impl Display for Summary {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let line = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        to.write_str(&line)
    }
}

/// Encodes the file that `arguments` name.
///
/// # Errors
/// [`Error`]; some of the rows may have been written then.
pub fn run(arguments: &[&str], output: impl Write) -> Result<Summary, Error> {
    let task = Task::parse(arguments)?;
    let names = Names::read(task.names)?;
    let data = File::open(task.input).map_err(|error| Error::file(task.input, error))?;
    let mut encoder = Encoder::new(output, task.form);
    let counts = match task.source {
        Source::Native => native::read(task.input, data, &names, &mut encoder)?,
        Source::Lines => {
            let mut rejects = task.rejects.map(Rejects::create).transpose()?;
            let counts = lines::read(task.input, data, &names, rejects.as_mut(), &mut encoder)?;
            rejects.map_or(Ok(()), Rejects::finish)?;
            counts
        }
    };
    let rows = encoder.finish()?;
    let used = usage();
    Ok(Summary {
        lines: counts.lines,
        cells: counts.cells,
        rows,
        rejected: counts.rejected,
        sum: counts.sum,
        cpu_s: used.cpu_user_s + used.cpu_system_s,
    })
}

/// A text of a file, as a message shows it.
fn shown(text: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(text))
}
