//! What a file call failed by, and the limit of the file system behind it, in plain words.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::session::{ErrorClass, Failure};

/// A file system's room, as `statvfs` and FSSTAT have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// In all; 0 where there is no such number.
    pub inodes: u64,
    /// That we may use.
    pub free_inodes: u64,
    /// That we may use.
    pub free_bytes: u64,
}

/// The failure of a call about `path`.
pub fn failure(error: &io::Error, path: &Path) -> Failure {
    let parent = path.parent().unwrap_or(path);
    match error.raw_os_error() {
        Some(libc::EMLINK) => {
            too_many_links(parent, parent.metadata().map_or(0, |data| data.nlink()))
        }
        Some(libc::ENOSPC) => no_space(path, room(parent)),
        _ => other(error, path),
    }
}

/// The failure of a call about `path` that met no limit of the file system.
pub fn other(error: &io::Error, path: &Path) -> Failure {
    let (class, message) = match error.raw_os_error() {
        Some(libc::EDQUOT) => ("53100", format!("{}: the quota is used up", path.display())),
        code => (class(code), format!("{}: {error}", path.display())),
    };
    of(class, message)
}

fn of(class: &str, message: String) -> Failure {
    Failure {
        class: ErrorClass(class.into()),
        message,
    }
}

/// The failure of a file that holds something else than was written.
pub fn torn(path: &Path) -> Failure {
    let path = path.display();
    of(
        "torn_file",
        format!("{path} does not hold what its name and the seed say"),
    )
}

fn class(code: Option<i32>) -> &'static str {
    match code {
        Some(libc::ENOENT) => "no_file",
        Some(libc::EEXIST) => "file_exists",
        Some(libc::EACCES | libc::EPERM) => "no_permission",
        Some(libc::EROFS) => "read_only",
        Some(libc::EIO) => "file_io",
        Some(libc::ESTALE) => "stale_file",
        Some(libc::EMFILE | libc::ENFILE) => "too_many_files",
        _ => "file_error",
    }
}

/// The failure of a folder that has as many links as its file system lets it have.
pub fn too_many_links(folder: &Path, links: u64) -> Failure {
    // A folder has two links of its own, and one more for each folder in it.
    let folders = links as i64 - 2;
    let message = format!(
        "{} has {folders} folders in it, and its file system takes no more: each is a link (ext4 without \
         dir_nlink ends at 64998); hash the homes into more folders",
        folder.display()
    );
    of("too_many_links", message)
}

/// The failure of a file system that has no room for `path`: no inode, or no bytes.
pub fn no_space(path: &Path, room: Option<Room>) -> Failure {
    let folder = path.parent().unwrap_or(path);
    match room {
        Some(room) if room.inodes > 0 && room.free_inodes == 0 => {
            let message = format!(
                "the file system of {} has no inode left: all {} are files and folders, while {} bytes \
                 are free; make it with more of them (mkfs.ext4 -N)",
                folder.display(),
                room.inodes,
                room.free_bytes
            );
            of("no_inodes", message)
        }
        _ => of("53100", format!("{}: the disk is full", path.display())),
    }
}

fn room(folder: &Path) -> Option<Room> {
    let name = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: all zeros are a valid value.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: `name` ends with a zero, and `found` is valid for writes.
    let result = unsafe { libc::statvfs(name.as_ptr(), &raw mut found) };
    (result == 0).then(|| Room {
        inodes: found.f_files,
        free_inodes: found.f_favail,
        free_bytes: found.f_bavail * found.f_frsize,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_classes_of_their_own() {
        let found = |code| failure(&io::Error::from_raw_os_error(code), Path::new("/tmp/x/f"));
        let links = found(libc::EMLINK);
        assert_eq!(&*links.class.0, "too_many_links");
        assert!(links.message.contains("dir_nlink"), "{}", links.message);
        assert_eq!(&*found(libc::EDQUOT).class.0, "53100");
        assert_eq!(&*found(libc::ENOENT).class.0, "no_file");
        let room = room(Path::new("/")).expect("a file system");
        assert!(room.free_inodes <= room.inodes);
    }
}
