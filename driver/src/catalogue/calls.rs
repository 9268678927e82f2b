//! The file calls of an operation, made on the thread of a session.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::Catalogue;
use super::account::{add, blocks_read};
use super::content::MOST_BYTES;
use super::errors::{failure, torn};
use super::home::FileId;
use super::parameters::Sync;
use crate::session::Failure;

/// What a session asks of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// The home of a user, with its first files.
    MakeHome(u32),
    /// A new file is made and written.
    Create(FileId),
    /// The size and times of a file are asked for.
    Stat(FileId),
    /// A file is opened, read and compared.
    Read(FileId),
    /// All names of a home are read.
    List(u32),
    /// A version of a file is written beside it, brought to the disk, and takes its name.
    Replace(FileId, u32),
    /// A file is removed.
    Delete(FileId),
}

/// How a call ended.
pub type Answer = Result<(), Failure>;

/// What a thread keeps between calls.
#[derive(Debug)]
pub struct FileCalls<'c> {
    catalogue: &'c Catalogue,
    buffer: Vec<u8>,
    blocks_read: i64,
}

impl<'c> FileCalls<'c> {
    /// For the calling thread.
    pub fn new(catalogue: &'c Catalogue) -> Self {
        Self {
            catalogue,
            buffer: Vec::with_capacity(MOST_BYTES as usize + 1),
            blocks_read: blocks_read(),
        }
    }

    /// Makes a call.
    ///
    /// # Errors
    /// The failure with its class.
    pub fn make(&mut self, call: Call) -> Answer {
        let answer = self.attempt(call);
        let before = std::mem::replace(&mut self.blocks_read, blocks_read());
        let missed = u64::from(self.blocks_read > before);
        match call {
            Call::Stat(_) => add(&self.catalogue.account.stat_misses, missed),
            Call::Read(_) => add(&self.catalogue.account.read_misses, missed),
            _ => {}
        }
        answer
    }

    fn attempt(&mut self, call: Call) -> Answer {
        match call {
            Call::MakeHome(home) => self.make_home(home),
            Call::Create(id) => self.create(id, self.catalogue.parameters.sync),
            Call::Stat(id) => self.stat(id),
            Call::Read(id) => self.read(id),
            Call::List(home) => self.list(home),
            Call::Replace(id, version) => self.replace(id, version),
            Call::Delete(id) => {
                let path = self.catalogue.homes.file(&self.catalogue.folder, id);
                fs::remove_file(&path).map_err(|error| failure(&error, &path))
            }
        }
    }

    fn make_home(&mut self, home: u32) -> Answer {
        let Catalogue {
            folder,
            parameters,
            homes,
            account,
            ..
        } = self.catalogue;
        let path = homes.path(folder, home);
        if let Err(error) = fs::create_dir(&path) {
            // The first home of a hashed folder makes that too.
            let missing = error.kind() == ErrorKind::NotFound;
            let made = if missing {
                fs::create_dir_all(&path)
            } else {
                Err(error)
            };
            made.map_err(|error| failure(&error, &path))?;
        }
        add(&account.homes, 1);
        for file in 0..parameters.home_files {
            self.create(FileId { home, file }, Sync::None)?;
            add(&account.files, 1);
        }
        Ok(())
    }

    fn create(&mut self, id: FileId, sync: Sync) -> Answer {
        let path = self.catalogue.homes.file(&self.catalogue.folder, id);
        self.catalogue.contents.write(id, 0, &mut self.buffer);
        self.fill(&path, sync)
    }

    /// Makes a file of the bytes in the buffer; what could not be written in full is removed.
    fn fill(&self, path: &Path, sync: Sync) -> Answer {
        let flags = if sync == Sync::Dsync {
            libc::O_DSYNC
        } else {
            0
        };
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            .custom_flags(flags)
            .open(path);
        let mut file = opened.map_err(|error| failure(&error, path))?;
        if let Err(error) = write(&mut file, &self.buffer, sync) {
            let failed = failure(&error, path);
            // The failure of the writing is told, whatever becomes of the rest.
            let _ = fs::remove_file(path);
            return Err(failed);
        }
        add(
            &self.catalogue.account.written_bytes,
            self.buffer.len() as u64,
        );
        Ok(())
    }

    fn stat(&self, id: FileId) -> Answer {
        let path = self.catalogue.homes.file(&self.catalogue.folder, id);
        fs::symlink_metadata(&path).map_err(|error| failure(&error, &path))?;
        Ok(())
    }

    fn read(&mut self, id: FileId) -> Answer {
        let path = self.catalogue.homes.file(&self.catalogue.folder, id);
        self.buffer.clear();
        // A file that is longer than any may be is read a little beyond its end.
        File::open(&path)
            .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut self.buffer))
            .map_err(|error| failure(&error, &path))?;
        let Catalogue {
            contents, account, ..
        } = self.catalogue;
        add(&account.read_bytes, self.buffer.len() as u64);
        match contents.version(id, &self.buffer) {
            Some(_) => Ok(()),
            None => Err(torn(&path)),
        }
    }

    fn list(&self, home: u32) -> Answer {
        let path = self.catalogue.homes.path(&self.catalogue.folder, home);
        let count = fs::read_dir(&path)
            .and_then(|mut entries| entries.try_fold(0, |count, entry| entry.map(|_| count + 1)))
            .map_err(|error| failure(&error, &path))?;
        add(&self.catalogue.account.listed, count);
        Ok(())
    }

    fn replace(&mut self, id: FileId, version: u32) -> Answer {
        let Catalogue {
            folder,
            homes,
            contents,
            ..
        } = self.catalogue;
        contents.write(id, version, &mut self.buffer);
        let (new, path) = (homes.new_file(folder, id), homes.file(folder, id));
        self.fill(&new, Sync::Fsync)?;
        fs::rename(&new, &path).map_err(|error| {
            let failed = failure(&error, &path);
            let _ = fs::remove_file(&new);
            failed
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::account::of;
    use crate::plan::Plan;
    use serde_json::json;
    use std::path::PathBuf;

    /// A folder that goes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            fs::create_dir(&folder).expect("a folder");
            Self(folder)
        }

        fn catalogue(&self) -> Catalogue {
            let parameters = json!({"data_seed": 7, "homes": 2, "home_files": 2, "layout": "hashed",
                "hash_characters": 2, "names": ["steve"], "sync": "fdatasync"});
            let phase = json!({"name": "p", "kind": "measure", "duration_s": 1.0,
                "load": {"model": "closed", "users": {"from": 1, "to": 1}}});
            let plan = json!({"version": 3, "workload": {"name": "storage", "parameters": parameters},
                "connection": {"protocol": "files", "folder": self.0}, "phases": [phase]});
            let plan = Plan::parse(&plan.to_string()).expect("a plan");
            Catalogue::from_plan(&plan).expect("a catalogue")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn class(answer: Answer) -> String {
        answer.expect_err("a failure").class.0.into()
    }

    #[test]
    fn files_are_made_replaced_and_deleted_and_a_torn_one_is_seen() {
        let folder = Folder::new("loadstone-calls");
        let catalogue = folder.catalogue();
        let mut calls = FileCalls::new(&catalogue);
        for home in 0..2 {
            calls.make(Call::MakeHome(home)).expect("a home");
        }
        let first = FileId { home: 0, file: 1 };
        let path = folder.0.join("users/st/steve/f00001");
        calls.make(Call::Replace(first, 3)).expect("replaced");
        let content = fs::read(&path).expect("a file");
        assert_eq!(catalogue.contents.version(first, &content), Some(3));
        calls.make(Call::Read(first)).expect("whole");
        calls.make(Call::Stat(first)).expect("there");

        let further = FileId { home: 1, file: 2 };
        calls.make(Call::Create(further)).expect("created");
        assert!(folder.0.join("users/st/steve2/f00002").exists());
        assert_eq!(class(calls.make(Call::Create(further))), "file_exists");
        calls.make(Call::List(1)).expect("a list");
        assert_eq!(of(&catalogue.account.listed), 3);
        calls.make(Call::Delete(further)).expect("deleted");
        assert_eq!(class(calls.make(Call::Delete(further))), "no_file");

        fs::write(&path, &content[..content.len() - 1]).expect("torn");
        assert_eq!(class(calls.make(Call::Read(first))), "torn_file");
        let names = fs::read_dir(folder.0.join("users/st/steve")).expect("a home");
        assert_eq!(names.count(), 2);
    }
}
