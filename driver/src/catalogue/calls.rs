//! The calls of an operation, made on the thread of a session.

use super::Catalogue;
use super::account::{add, blocks_read};
use super::content::MOST_BYTES;
use super::errors::torn;
use super::home::FileId;
use super::parameters::Sync;
use super::session::operation_of;
use super::store::Store;
use crate::session::Failure;

/// What a session asks of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// The thread gets ready: over NFS it connects.
    Begin,
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
    store: Box<dyn Store + 'c>,
    buffer: Vec<u8>,
    blocks_read: i64,
}

impl<'c> FileCalls<'c> {
    /// For the calling thread.
    pub fn new(catalogue: &'c Catalogue) -> Self {
        Self {
            catalogue,
            store: catalogue.store(),
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
        let account = &self.catalogue.account;
        let before = std::mem::replace(&mut self.blocks_read, blocks_read());
        let missed = u64::from(self.blocks_read > before);
        match call {
            Call::Stat(_) => add(&account.stat_misses, missed),
            Call::Read(_) => add(&account.read_misses, missed),
            _ => {}
        }
        if let Some(calls) = &account.calls {
            calls.add(operation_of(call), self.store.take_calls());
        }
        answer
    }

    fn attempt(&mut self, call: Call) -> Answer {
        match call {
            Call::Begin => self.store.begin(),
            Call::MakeHome(home) => self.make_home(home),
            Call::Create(id) => self.create(id, self.catalogue.parameters.sync),
            Call::Stat(id) => self.store.stat(id.home, &id.name()),
            Call::Read(id) => self.read(id),
            Call::List(home) => self.list(home),
            Call::Replace(id, version) => self.replace(id, version),
            Call::Delete(id) => self.store.remove(id.home, &id.name()),
        }
    }

    fn make_home(&mut self, home: u32) -> Answer {
        let Catalogue {
            parameters,
            account,
            ..
        } = self.catalogue;
        self.store.make_home(home)?;
        add(&account.homes, 1);
        for file in 0..parameters.home_files {
            self.create(FileId { home, file }, Sync::None)?;
            add(&account.files, 1);
        }
        Ok(())
    }

    fn create(&mut self, id: FileId, sync: Sync) -> Answer {
        self.catalogue.contents.write(id, 0, &mut self.buffer);
        self.fill(id.home, &id.name(), sync)
    }

    /// Makes a file of the bytes in the buffer.
    fn fill(&mut self, home: u32, name: &str, sync: Sync) -> Answer {
        self.store.create(home, name, &self.buffer, sync)?;
        let written = &self.catalogue.account.written_bytes;
        add(written, self.buffer.len() as u64);
        Ok(())
    }

    fn read(&mut self, id: FileId) -> Answer {
        let Catalogue {
            folder,
            homes,
            contents,
            account,
            ..
        } = self.catalogue;
        self.buffer.clear();
        self.store.read(id.home, &id.name(), &mut self.buffer)?;
        add(&account.read_bytes, self.buffer.len() as u64);
        match contents.version(id, &self.buffer) {
            Some(_) => Ok(()),
            None => Err(torn(&homes.path(folder, id.home).join(id.name()))),
        }
    }

    fn list(&mut self, home: u32) -> Answer {
        add(&self.catalogue.account.listed, self.store.list(home)?);
        Ok(())
    }

    fn replace(&mut self, id: FileId, version: u32) -> Answer {
        self.catalogue.contents.write(id, version, &mut self.buffer);
        let (new, name) = (id.new_name(), id.name());
        match self.fill(id.home, &new, Sync::Fsync) {
            // One that lost its server on the way has left it; nobody else writes in this home.
            Err(failure) if &*failure.class.0 == "file_exists" => {
                self.store.remove(id.home, &new)?;
                self.fill(id.home, &new, Sync::Fsync)?;
            }
            made => made?,
        }
        let renamed = self.store.rename(id.home, &new, &name);
        if renamed.is_err() {
            // The failure of the renaming is told, whatever becomes of the rest.
            let _ = self.store.remove(id.home, &new);
        }
        renamed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::account::of;
    use crate::plan::Plan;
    use serde_json::json;
    use std::fs;
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
            let plan = json!({"version": crate::plan::PROTOCOL_VERSION, "workload": {"name": "storage", "parameters": parameters},
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
        fs::write(path.with_extension("new"), "left by one that failed").expect("a file");
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
