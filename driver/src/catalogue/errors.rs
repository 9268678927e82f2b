//! What a file call failed by, and the limit of the file system behind it, in plain words.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::session::{ErrorClass, Failure};

/// A file system's room, as `statvfs` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Room {
    inodes: u64,
    free_inodes: u64,
    free_bytes: u64,
}

/// The failure of a call about `path`.
pub fn failure(error: &io::Error, path: &Path) -> Failure {
    let (class, message) = match error.raw_os_error() {
        Some(libc::EMLINK) => ("too_many_links", too_many_links(path)),
        Some(libc::ENOSPC) => no_space(path),
        Some(libc::EDQUOT) => ("53100", format!("{}: the quota is used up", path.display())),
        code => (class(code), format!("{}: {error}", path.display())),
    };
    Failure {
        class: ErrorClass(class.into()),
        message,
    }
}

/// The failure of a file that holds something else than was written.
pub fn torn(path: &Path) -> Failure {
    Failure {
        class: ErrorClass("torn_file".into()),
        message: format!(
            "{} does not hold what its name and the seed say",
            path.display()
        ),
    }
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

fn too_many_links(path: &Path) -> String {
    let parent = path.parent().unwrap_or(path);
    // A folder has two links of its own, and one more for each folder in it.
    let folders = parent.metadata().map_or(0, |data| data.nlink()) as i64 - 2;
    format!(
        "{} has {folders} folders in it, and its file system takes no more: each is a link (ext4 without \
         dir_nlink ends at 64998); hash the homes into more folders",
        parent.display()
    )
}

fn no_space(path: &Path) -> (&'static str, String) {
    let parent = path.parent().unwrap_or(path);
    match room(parent) {
        Some(room) if room.inodes > 0 && room.free_inodes == 0 => (
            "no_inodes",
            format!(
                "the file system of {} has no inode left: all {} are files and folders, while {} bytes \
                 are free; make it with more of them (mkfs.ext4 -N)",
                parent.display(),
                room.inodes,
                room.free_bytes
            ),
        ),
        _ => ("53100", format!("{}: the disk is full", path.display())),
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
        let of = |code| failure(&io::Error::from_raw_os_error(code), Path::new("/tmp/x/f"));
        let links = of(libc::EMLINK);
        assert_eq!(&*links.class.0, "too_many_links");
        assert!(links.message.contains("dir_nlink"), "{}", links.message);
        assert_eq!(&*of(libc::EDQUOT).class.0, "53100");
        assert_eq!(&*of(libc::ENOENT).class.0, "no_file");
        let room = room(Path::new("/")).expect("a file system");
        assert!(room.free_inodes <= room.inodes);
    }
}
