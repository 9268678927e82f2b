//! What keeps the files: a folder of this machine, or an export of NFS.

use std::fmt::Debug;

use super::parameters::Sync;
use crate::nfs;
use crate::session::Failure;

/// Files in homes, as one thread reaches them. Each failure has its class, and names what it is about.
pub trait Store: Debug {
    /// Gets ready.
    fn begin(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Makes the home folder of a user, which must not be there, and the folders above it that are missing.
    fn make_home(&mut self, home: u32) -> Result<(), Failure>;

    /// Makes a file of `bytes`, which must not be there; one that cannot be written in full is removed.
    fn create(&mut self, home: u32, name: &str, bytes: &[u8], sync: Sync) -> Result<(), Failure>;

    /// Asks for the size and times of a file.
    fn stat(&mut self, home: u32, name: &str) -> Result<(), Failure>;

    /// Reads a file into `buffer`, which is empty; one that is longer than any may be a little beyond that.
    fn read(&mut self, home: u32, name: &str, buffer: &mut Vec<u8>) -> Result<(), Failure>;

    /// Reads all names of a home.
    ///
    /// # Returns
    /// How many there are.
    fn list(&mut self, home: u32) -> Result<u64, Failure>;

    /// Gives a file another name, in the place of a file of that name.
    fn rename(&mut self, home: u32, from: &str, to: &str) -> Result<(), Failure>;

    /// Removes a file.
    fn remove(&mut self, home: u32, name: &str) -> Result<(), Failure>;

    /// Calls of NFS since this was asked last.
    fn take_calls(&mut self) -> nfs::Calls {
        nfs::Calls::default()
    }
}
