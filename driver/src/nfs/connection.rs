//! The procedures of NFSv3, one call and its reply at a time, and counted.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use nfs3_client::nfs3_types::nfs3::{
    COMMIT3args, CREATE3args, FSSTAT3args, FSSTAT3resok, GETATTR3args, LOOKUP3args, LOOKUP3resok,
    MKDIR3args, Nfs3Option, Nfs3Result, READ3args, READ3resok, READDIR3args, REMOVE3args,
    RENAME3args, WRITE3args, cookieverf3, createhow3, diropargs3, fattr3, filename3, sattr3,
    stable_how, writeverf3,
};
use nfs3_client::nfs3_types::rpc::opaque_auth;
use nfs3_client::nfs3_types::xdr_codec::Opaque;
use nfs3_client::{Nfs3Client, RpcError};

use super::error::Error;
use super::mount::credential;
use super::socket::{Socket, wait};
use super::{Calls, Export, Handle};
use crate::session::{ErrorClass, Failure};

/// What is asked of a write.
pub use nfs3_client::nfs3_types::nfs3::stable_how as Stable;

/// Names of the procedures that are used.
pub const PROCEDURES: [&str; 11] = [
    "getattr", "lookup", "read", "write", "create", "mkdir", "remove", "rename", "readdir",
    "fsstat", "commit",
];
/// Positions in [`PROCEDURES`].
const GETATTR: usize = 0;
const LOOKUP: usize = 1;
const READ: usize = 2;
const WRITE: usize = 3;
const CREATE: usize = 4;
const MKDIR: usize = 5;
const REMOVE: usize = 6;
const RENAME: usize = 7;
const READDIR: usize = 8;
const FSSTAT: usize = 9;
const COMMIT: usize = 10;

/// That a call may last: a server that is silent for longer is lost.
const ANSWER: Duration = Duration::from_secs(30);
/// Bytes that a reply of READDIR may have.
const LIST_BYTES: u32 = 32 << 10;
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

/// A connection to the server of an export.
pub struct Connection {
    client: Nfs3Client<Socket>,
    server: String,
    calls: Calls,
}

impl Debug for Connection {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Connection")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// How durable written bytes are, and of which start of the server.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    /// As the server says.
    pub committed: Stable,
    verifier: writeverf3,
}

impl Connection {
    /// Connects to the server of `export`.
    ///
    /// # Errors
    /// A failure of the class `connection`.
    pub fn open(export: &Export) -> Result<Self, Failure> {
        let opened = Socket::connect(export.address, export.config.connect_timeout)
            .and_then(|socket| socket.answer_within(ANSWER).map(|()| socket));
        let socket = opened.map_err(|error| Failure {
            class: ErrorClass("connection".into()),
            message: format!(
                "no connection to the NFS server {}: {error}",
                export.address
            ),
        })?;
        let credential = credential(&export.config);
        Ok(Self {
            client: Nfs3Client::new_with_auth(socket, credential, opaque_auth::default()),
            server: export.address.to_string(),
            calls: Calls::default(),
        })
    }

    /// What was called since this was asked last.
    pub fn take_calls(&mut self) -> Calls {
        std::mem::take(&mut self.calls)
    }

    /// Looks a name up in a folder: its handle, and its attributes where the server tells them.
    pub fn lookup(&mut self, folder: &Handle, name: &str) -> Result<LOOKUP3resok, Error> {
        self.calls[LOOKUP] += 1;
        let what = what(folder, name);
        let reply = wait(self.client.lookup(&LOOKUP3args { what }));
        self.done(reply)
    }

    /// The attributes of a file or a folder.
    pub fn attributes(&mut self, handle: &Handle) -> Result<fattr3, Error> {
        self.calls[GETATTR] += 1;
        let object = handle.clone();
        let reply = wait(self.client.getattr(&GETATTR3args { object }));
        Ok(self.done(reply)?.obj_attributes)
    }

    /// Makes a file that must not be there yet.
    pub fn create(&mut self, folder: &Handle, name: &str) -> Result<Handle, Error> {
        self.calls[CREATE] += 1;
        let how = createhow3::GUARDED(mode(FILE_MODE));
        let arguments = CREATE3args {
            where_: what(folder, name),
            how,
        };
        let reply = wait(self.client.create(&arguments));
        match self.done(reply)?.obj {
            Nfs3Option::Some(handle) => Ok(handle),
            Nfs3Option::None => Ok(self.lookup(folder, name)?.object),
        }
    }

    /// Makes a folder that must not be there yet.
    pub fn make_folder(&mut self, folder: &Handle, name: &str) -> Result<Handle, Error> {
        self.calls[MKDIR] += 1;
        let arguments = MKDIR3args {
            where_: what(folder, name),
            attributes: mode(FOLDER_MODE),
        };
        let reply = wait(self.client.mkdir(&arguments));
        match self.done(reply)?.obj {
            Nfs3Option::Some(handle) => Ok(handle),
            Nfs3Option::None => Ok(self.lookup(folder, name)?.object),
        }
    }

    /// Writes `bytes` to the begin of a file, as durable as `stable` asks.
    pub fn write(&mut self, file: &Handle, bytes: &[u8], stable: Stable) -> Result<Written, Error> {
        let mut least: Option<Written> = None;
        let mut begin = 0;
        while begin < bytes.len() {
            self.calls[WRITE] += 1;
            let left = &bytes[begin..];
            let arguments = WRITE3args {
                file: file.clone(),
                offset: begin as u64,
                count: left.len() as u32,
                stable,
                data: Opaque::borrowed(left),
            };
            let reply = wait(self.client.write(&arguments));
            let done = self.done(reply)?;
            if done.count == 0 || done.count as usize > left.len() {
                return Err(self.wrong("wrote none of the bytes, or more than it was sent"));
            }
            if (done.committed as u32) < stable as u32 {
                return Err(self.wrong("wrote bytes less durably than it was asked to"));
            }
            begin += done.count as usize;
            let weaker = |last: Written| (done.committed as u32) < last.committed as u32;
            if least.is_none_or(weaker) {
                least = Some(Written {
                    committed: done.committed,
                    verifier: done.verf,
                });
            }
        }
        Ok(least.unwrap_or(Written {
            committed: stable_how::FILE_SYNC,
            verifier: writeverf3::default(),
        }))
    }

    /// Has written bytes brought to the disk.
    ///
    /// # Returns
    /// False if the server was started anew in between: it may have lost them.
    pub fn commit(&mut self, file: &Handle, written: Written) -> Result<bool, Error> {
        self.calls[COMMIT] += 1;
        let arguments = COMMIT3args {
            file: file.clone(),
            offset: 0,
            count: 0,
        };
        let reply = wait(self.client.commit(&arguments));
        Ok(self.done(reply)?.verf == written.verifier)
    }

    /// Reads a file to its end, but hardly more than `most` bytes, behind what is in `buffer`.
    pub fn read(&mut self, file: &Handle, most: usize, buffer: &mut Vec<u8>) -> Result<(), Error> {
        let mut offset = 0;
        while offset <= most as u64 {
            self.calls[READ] += 1;
            let arguments = READ3args {
                file: file.clone(),
                offset,
                count: 2 * most as u32,
            };
            let reply = wait(self.client.read(&arguments));
            let READ3resok { data, eof, .. } = self.done(reply)?;
            buffer.extend_from_slice(data.as_ref());
            offset += data.len() as u64;
            if eof {
                break;
            }
            if data.is_empty() {
                return Err(self.wrong("sent no bytes of a file whose end was not reached"));
            }
        }
        Ok(())
    }

    /// How many names a folder has, without itself and the one above it.
    pub fn count_names(&mut self, folder: &Handle) -> Result<u64, Error> {
        let (mut cookie, mut cookieverf, mut count) = (0, cookieverf3::default(), 0);
        loop {
            self.calls[READDIR] += 1;
            let arguments = READDIR3args {
                dir: folder.clone(),
                cookie,
                cookieverf,
                count: LIST_BYTES,
            };
            let reply = wait(self.client.readdir(&arguments));
            let found = self.done(reply)?;
            let entries = &found.reply.entries.0;
            let others = entries
                .iter()
                .filter(|entry| !is_link_of_folder(&entry.name));
            count += others.count() as u64;
            match entries.last() {
                _ if found.reply.eof => return Ok(count),
                Some(last) => (cookie, cookieverf) = (last.cookie, found.cookieverf),
                None => {
                    return Err(self.wrong("sent no names of a folder whose end was not reached"));
                }
            }
        }
    }

    /// Gives a file another name in its folder, in the place of a file of that name.
    pub fn rename(&mut self, folder: &Handle, from: &str, to: &str) -> Result<(), Error> {
        self.calls[RENAME] += 1;
        let arguments = RENAME3args {
            from: what(folder, from),
            to: what(folder, to),
        };
        let reply = wait(self.client.rename(&arguments));
        self.done(reply).map(|_| ())
    }

    /// Removes a file.
    pub fn remove(&mut self, folder: &Handle, name: &str) -> Result<(), Error> {
        self.calls[REMOVE] += 1;
        let object = what(folder, name);
        let reply = wait(self.client.remove(&REMOVE3args { object }));
        self.done(reply).map(|_| ())
    }

    /// The room of the file system of a folder.
    pub fn room(&mut self, folder: &Handle) -> Result<FSSTAT3resok, Error> {
        self.calls[FSSTAT] += 1;
        let fsroot = folder.clone();
        let reply = wait(self.client.fsstat(&FSSTAT3args { fsroot }));
        self.done(reply)
    }

    fn done<T, E>(&self, reply: Result<Nfs3Result<T, E>, RpcError>) -> Result<T, Error> {
        match reply {
            Ok(Nfs3Result::Ok(found)) => Ok(found),
            Ok(Nfs3Result::Err((status, _))) => Err(Error::Refused(status)),
            Err(error) => Err(Error::of_rpc(&error, &self.server, ANSWER)),
        }
    }

    fn wrong(&self, problem: &str) -> Error {
        Error::protocol(&self.server, problem)
    }
}

fn what<'n>(folder: &Handle, name: &'n str) -> diropargs3<'n> {
    diropargs3 {
        dir: folder.clone(),
        name: filename3::from(name.as_bytes()),
    }
}

fn mode(mode: u32) -> sattr3 {
    sattr3 {
        mode: Nfs3Option::Some(mode),
        ..sattr3::default()
    }
}

fn is_link_of_folder(name: &filename3<'_>) -> bool {
    matches!(name.as_ref(), b"." | b"..")
}
