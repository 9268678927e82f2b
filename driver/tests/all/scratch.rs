//! Folders of this test process. They go when they are dropped; what is left goes when the process exits, or
//! when the next one begins.

use std::fs::{DirBuilder, Permissions, create_dir, read_dir, remove_dir_all, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Not below a temporary folder of one user: servers run as other ones.
const PARENT: &str = "/var/tmp";
const PREFIX: &str = "loadstone-driver-tests-";

static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    remove_of_the_dead();
    let root = Path::new(PARENT).join(format!("{PREFIX}{}", std::process::id()));
    create_dir(&root).expect("a folder for all tests");
    set_permissions(&root, Permissions::from_mode(0o755)).expect("open to servers");
    at_exit(remove_root);
    root
});

extern "C" fn remove_root() {
    let _ = remove_dir_all(&*ROOT);
}

/// Calls `function` when the process exits, in the reverse order of these calls. Statics are not dropped.
pub fn at_exit(function: extern "C" fn()) {
    // SAFETY: the function is there as long as the process.
    assert_eq!(unsafe { libc::atexit(function) }, 0);
}

/// Removes what processes left that were killed.
fn remove_of_the_dead() {
    for entry in read_dir(PARENT).expect(PARENT).flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if process.is_some_and(|number| !Path::new("/proc").join(number).exists()) {
            let _ = remove_dir_all(entry.path());
        }
    }
}

/// A folder that is removed when dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = ROOT.join(format!("{name}-{number}"));
        DirBuilder::new().create(&folder).expect("a folder");
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = remove_dir_all(&self.0);
    }
}
