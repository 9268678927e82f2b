//! Files in an export, by NFSv3.
//!
//! A plain client: it keeps the handles of folders (or looks them up each time, if that is asked), and
//! nothing of files. Names and attributes of files are asked for in each operation.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use super::content::MOST_BYTES;
use super::errors::{Room, no_space, other, too_many_links};
use super::home::Homes;
use super::parameters::{Handles, Sync};
use super::store::Store;
use crate::nfs::{Calls, Connection, Error, Export, Handle, Stable, Status, errno_of};
use crate::session::{ErrorClass, Failure};

/// To read a file that is replaced meanwhile.
const MOST_ATTEMPTS: u32 = 10;

/// A mounted export, and what all threads remember of it.
#[derive(Debug)]
pub struct Mounted {
    export: Export,
    keeps: bool,
    /// Handles of folders, by their names joined.
    handles: RwLock<HashMap<String, Handle>>,
}

impl Mounted {
    /// Nothing of it is known yet.
    pub fn new(export: Export, handles: Handles) -> Self {
        Self {
            export,
            keeps: handles == Handles::Kept,
            handles: RwLock::default(),
        }
    }

    /// How messages name its folder.
    pub fn shown(&self) -> String {
        self.export.config.shown()
    }

    fn kept(&self, path: &str) -> Option<Handle> {
        let handles = self.handles.read().unwrap_or_else(PoisonError::into_inner);
        handles.get(path).cloned()
    }

    fn keep(&self, path: &str, handle: &Handle) {
        if self.keeps {
            let mut handles = self.handles.write().unwrap_or_else(PoisonError::into_inner);
            handles.insert(path.to_owned(), handle.clone());
        }
    }

    /// A handle was stale: others may be, too.
    fn forget(&self) {
        let mut handles = self.handles.write().unwrap_or_else(PoisonError::into_inner);
        handles.clear();
    }
}

/// The homes in an export, as one thread reaches them.
#[derive(Debug)]
pub struct ExportStore<'c> {
    mounted: &'c Mounted,
    homes: &'c Homes,
    connection: Option<Connection>,
}

/// What a call is about: the folder in which its file is, and the names of both for messages.
struct Place {
    folder: Handle,
    path: PathBuf,
}

impl<'c> ExportStore<'c> {
    /// Not connected yet.
    pub fn new(mounted: &'c Mounted, homes: &'c Homes) -> Self {
        Self {
            mounted,
            homes,
            connection: None,
        }
    }

    fn connection(&mut self) -> Result<&mut Connection, Failure> {
        self.connection.as_mut().ok_or_else(|| Failure {
            class: ErrorClass("connection".into()),
            message: format!("no connection to {}", self.mounted.shown()),
        })
    }

    /// The folder behind some names from the export's own; each that is not kept is looked up.
    fn folder(&mut self, steps: &[String], make: bool) -> Result<Handle, Failure> {
        let mut handle = self.mounted.export.root.clone();
        let mut path = String::new();
        for step in steps {
            path = format!("{path}/{step}");
            if let Some(kept) = self.mounted.kept(&path) {
                handle = kept;
                continue;
            }
            let mut found = self
                .connection()?
                .lookup(&handle, step)
                .map(|found| found.object);
            if make && matches!(found, Err(Error::Refused(Status::NFS3ERR_NOENT))) {
                found = self.make_folder(&handle, step);
            }
            let place = Place {
                folder: handle,
                path: self.shown(&path),
            };
            handle = found.map_err(|error| self.failure(error, &place))?;
            self.mounted.keep(&path, &handle);
        }
        Ok(handle)
    }

    /// Makes a folder that others may make at the same time.
    fn make_folder(&mut self, folder: &Handle, name: &str) -> Result<Handle, Error> {
        let connection = self.connection().map_err(Error::Lost)?;
        match connection.make_folder(folder, name) {
            Err(Error::Refused(Status::NFS3ERR_EXIST)) => {
                Ok(connection.lookup(folder, name)?.object)
            }
            made => made,
        }
    }

    /// Where a file of a home is.
    fn place(&mut self, home: u32, name: &str) -> Result<Place, Failure> {
        let steps = self.homes.steps(home);
        let folder = self.folder(&steps, false)?;
        let path = self.shown(&format!("/{}/{name}", steps.join("/")));
        Ok(Place { folder, path })
    }

    fn shown(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("{}{path}", self.mounted.shown()))
    }

    /// Does something about a file of a home.
    fn at<T>(
        &mut self,
        home: u32,
        name: &str,
        work: impl FnOnce(&mut Connection, &Handle) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let place = self.place(home, name)?;
        let done = work(self.connection()?, &place.folder);
        done.map_err(|error| self.failure(error, &place))
    }

    /// In the classes and words of files; the limit that was met is asked for.
    fn failure(&mut self, error: Error, place: &Place) -> Failure {
        let status = match error {
            Error::Lost(failure) => {
                // What comes next must not read the answer to this call.
                self.connection = None;
                return failure;
            }
            Error::Refused(status) => status,
        };
        let Place { folder, path } = place;
        match (status, errno_of(status)) {
            (Status::NFS3ERR_MLINK, _) => {
                let asked = self.connection().ok().map(|to| to.attributes(folder));
                let links = asked.and_then(Result::ok).map_or(0, |found| found.nlink);
                too_many_links(path.parent().unwrap_or(path), links.into())
            }
            (Status::NFS3ERR_NOSPC, _) => no_space(path, self.room(folder)),
            (Status::NFS3ERR_JUKEBOX, _) => Failure {
                class: ErrorClass("server_busy".into()),
                message: format!("{}: the server asks to come again later", path.display()),
            },
            (_, Some(code)) => {
                if code == libc::ESTALE {
                    self.mounted.forget();
                }
                other(&io::Error::from_raw_os_error(code), path)
            }
            _ => other(&io::Error::other(status.to_string()), path),
        }
    }

    fn room(&mut self, folder: &Handle) -> Option<Room> {
        let found = self.connection().ok()?.room(folder).ok()?;
        Some(Room {
            inodes: found.tfiles,
            free_inodes: found.afiles,
            free_bytes: found.abytes,
        })
    }
}

impl Store for ExportStore<'_> {
    fn begin(&mut self) -> Result<(), Failure> {
        self.connection = Some(Connection::open(&self.mounted.export)?);
        Ok(())
    }

    fn make_home(&mut self, home: u32) -> Result<(), Failure> {
        let steps = self.homes.steps(home);
        let (name, above) = steps.split_last().expect("a home has a name");
        let folder = self.folder(above, true)?;
        let made = self.connection()?.make_folder(&folder, name);
        let path = format!("/{}", steps.join("/"));
        let place = Place {
            folder,
            path: self.shown(&path),
        };
        let handle = made.map_err(|error| self.failure(error, &place))?;
        self.mounted.keep(&path, &handle);
        Ok(())
    }

    fn create(&mut self, home: u32, name: &str, bytes: &[u8], sync: Sync) -> Result<(), Failure> {
        self.at(home, name, |connection, folder| {
            let file = connection.create(folder, name)?;
            let written = write(connection, &file, bytes, sync);
            if matches!(written, Err(Error::Refused(_))) {
                // The failure of the writing is told, whatever becomes of the rest.
                let _ = connection.remove(folder, name);
            }
            written
        })
    }

    fn stat(&mut self, home: u32, name: &str) -> Result<(), Failure> {
        self.at(home, name, |connection, folder| {
            let found = connection.lookup(folder, name)?;
            if found.obj_attributes.is_none() {
                connection.attributes(&found.object)?;
            }
            Ok(())
        })
    }

    fn read(&mut self, home: u32, name: &str, buffer: &mut Vec<u8>) -> Result<(), Failure> {
        self.at(home, name, |connection, folder| {
            let mut attempts = 0;
            loop {
                attempts += 1;
                let file = connection.lookup(folder, name)?.object;
                match connection.read(&file, MOST_BYTES as usize, buffer) {
                    // Another file took its name after it was looked up, as no open file keeps it alive.
                    Err(Error::Refused(Status::NFS3ERR_STALE)) if attempts < MOST_ATTEMPTS => {
                        buffer.clear();
                    }
                    read => return read,
                }
            }
        })
    }

    fn list(&mut self, home: u32) -> Result<u64, Failure> {
        self.at(home, "", Connection::count_names)
    }

    fn rename(&mut self, home: u32, from: &str, to: &str) -> Result<(), Failure> {
        self.at(home, to, |connection, folder| {
            connection.rename(folder, from, to)
        })
    }

    fn remove(&mut self, home: u32, name: &str) -> Result<(), Failure> {
        self.at(home, name, |connection, folder| {
            connection.remove(folder, name)
        })
    }

    fn take_calls(&mut self) -> Calls {
        let connection = self.connection.as_mut();
        connection.map_or_else(Calls::default, Connection::take_calls)
    }
}

/// Writes a new file, as durable as it is to be.
fn write(
    connection: &mut Connection,
    file: &Handle,
    bytes: &[u8],
    sync: Sync,
) -> Result<(), Error> {
    let (asked, needed) = match sync {
        Sync::None => (Stable::UNSTABLE, Stable::UNSTABLE),
        Sync::Fdatasync => (Stable::UNSTABLE, Stable::DATA_SYNC),
        Sync::Fsync => (Stable::UNSTABLE, Stable::FILE_SYNC),
        Sync::Dsync => (Stable::FILE_SYNC, Stable::FILE_SYNC),
    };
    let written = connection.write(file, bytes, asked)?;
    // A server that makes every write durable says so, and needs no COMMIT.
    if written.committed as u32 >= needed as u32 || connection.commit(file, written)? {
        return Ok(());
    }
    // The server was started anew between the two, and has perhaps lost what was written.
    connection.write(file, bytes, Stable::FILE_SYNC).map(|_| ())
}
