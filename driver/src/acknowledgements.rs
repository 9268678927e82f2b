//! The list of commits that the engine acknowledged, against which a crash trial checks the data.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::sync::Arc;

use crate::clock::{Epoch, to_s};
use crate::plan::Refusal;
use crate::session::{ErrorClass, Failure};

/// The file that all users append to.
#[derive(Debug)]
pub struct Acknowledgements {
    file: File,
    epoch: Epoch,
}

impl Acknowledgements {
    /// Opens `path` for appending; times are counted from `epoch`.
    ///
    /// # Errors
    /// A [`Refusal`] when the file cannot be opened.
    pub fn open(path: &str, epoch: Epoch) -> Result<Arc<Self>, Refusal> {
        let file = OpenOptions::new().append(true).create(true).open(path);
        let file = file.map_err(|error| {
            Refusal::new("acknowledgements", format!("cannot open {path}: {error}"))
        })?;
        Ok(Arc::new(Self { file, epoch }))
    }

    /// One write, so that a line is there as a whole or not at all, whatever kills the driver next.
    fn append(&self, line: &[u8]) -> io::Result<()> {
        loop {
            match (&self.file).write(line) {
                Ok(written) if written == line.len() => return Ok(()),
                Ok(_) => return Err(ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// One user's hold on the list.
#[derive(Debug)]
pub struct Acknowledger {
    list: Arc<Acknowledgements>,
    user: u32,
    line: String,
}

impl Acknowledger {
    /// The hold of user number `user`.
    pub fn new(list: Arc<Acknowledgements>, user: u32) -> Self {
        Self {
            list,
            user,
            line: String::new(),
        }
    }

    /// Appends a commit before the user goes on; `describe` writes the operation and its keys.
    ///
    /// # Errors
    /// A failure of class `acknowledgements` when the line was not written as a whole.
    pub fn note(
        &mut self,
        describe: impl FnOnce(&mut String) -> std::fmt::Result,
    ) -> Result<(), Failure> {
        let at_s = to_s(self.list.epoch.now_ns());
        self.line.clear();
        // Writing to a String does not fail.
        let _ = write!(self.line, "[{at_s:.6},{},", self.user);
        let _ = describe(&mut self.line);
        self.line.push_str("]\n");
        self.list
            .append(self.line.as_bytes())
            .map_err(|error| Failure {
                class: ErrorClass("acknowledgements".into()),
                message: format!("a commit could not be noted: {error}"),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_opened_is_refused() {
        let refusal = Acknowledgements::open("/nowhere/at/all", Epoch::start()).unwrap_err();
        assert_eq!(refusal.field, "acknowledgements");
    }
}
