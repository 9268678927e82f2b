//! Files in a folder of this machine, by the calls of the system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::content::MOST_BYTES;
use super::errors::failure;
use super::home::Homes;
use super::parameters::Sync;
use super::store::Store;
use crate::session::Failure;

/// A folder with homes.
#[derive(Debug)]
pub struct Folder<'c> {
    /// Above the homes.
    pub path: &'c Path,
    /// Where they are.
    pub homes: &'c Homes,
}

impl Folder<'_> {
    fn home(&self, home: u32) -> PathBuf {
        self.homes.path(self.path, home)
    }
}

impl Store for Folder<'_> {
    fn make_home(&mut self, home: u32) -> Result<(), Failure> {
        let path = self.home(home);
        let made = match fs::create_dir(&path) {
            // The first home of a hashed folder makes that too.
            Err(error) if error.kind() == ErrorKind::NotFound => fs::create_dir_all(&path),
            made => made,
        };
        made.map_err(|error| failure(&error, &path))
    }

    fn create(&mut self, home: u32, name: &str, bytes: &[u8], sync: Sync) -> Result<(), Failure> {
        let path = self.home(home).join(name);
        let flags = if sync == Sync::Dsync {
            libc::O_DSYNC
        } else {
            0
        };
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            .custom_flags(flags)
            .open(&path);
        let mut file = opened.map_err(|error| failure(&error, &path))?;
        write(&mut file, bytes, sync).map_err(|error| {
            let failed = failure(&error, &path);
            // The failure of the writing is told, whatever becomes of the rest.
            let _ = fs::remove_file(&path);
            failed
        })
    }

    fn stat(&mut self, home: u32, name: &str) -> Result<(), Failure> {
        let path = self.home(home).join(name);
        let found = fs::symlink_metadata(&path).map(|_| ());
        found.map_err(|error| failure(&error, &path))
    }

    fn read(&mut self, home: u32, name: &str, buffer: &mut Vec<u8>) -> Result<(), Failure> {
        let path = self.home(home).join(name);
        File::open(&path)
            .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(buffer))
            .map(|_| ())
            .map_err(|error| failure(&error, &path))
    }

    fn list(&mut self, home: u32) -> Result<u64, Failure> {
        let path = self.home(home);
        fs::read_dir(&path)
            .and_then(|mut entries| entries.try_fold(0, |count, entry| entry.map(|_| count + 1)))
            .map_err(|error| failure(&error, &path))
    }

    fn rename(&mut self, home: u32, from: &str, to: &str) -> Result<(), Failure> {
        let folder = self.home(home);
        let path = folder.join(to);
        fs::rename(folder.join(from), &path).map_err(|error| failure(&error, &path))
    }

    fn remove(&mut self, home: u32, name: &str) -> Result<(), Failure> {
        let path = self.home(home).join(name);
        fs::remove_file(&path).map_err(|error| failure(&error, &path))
    }
}

fn write(file: &mut File, bytes: &[u8], sync: Sync) -> io::Result<()> {
    file.write_all(bytes)?;
    match sync {
        Sync::None | Sync::Dsync => Ok(()),
        Sync::Fsync => file.sync_all(),
        Sync::Fdatasync => file.sync_data(),
    }
}
