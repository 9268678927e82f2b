//! What is counted besides the operations.

use std::sync::atomic::{AtomicU64, Ordering};

use super::parameters::OPERATIONS;
use crate::nfs::{self, PROCEDURES};

/// Counters of the calls of NFS that each of [`OPERATIONS`] made.
const CALLS: [&str; OPERATIONS.len()] = [
    "calls_create",
    "calls_stat",
    "calls_open-read",
    "calls_list",
    "calls_write-fsync-rename",
    "calls_delete",
];
/// Counters of [`PROCEDURES`].
const NFS: [&str; PROCEDURES.len()] = [
    "nfs_getattr",
    "nfs_lookup",
    "nfs_read",
    "nfs_write",
    "nfs_create",
    "nfs_mkdir",
    "nfs_remove",
    "nfs_rename",
    "nfs_readdir",
    "nfs_fsstat",
    "nfs_commit",
];

/// Calls of NFS of all sessions.
#[derive(Debug, Default)]
pub struct Calls {
    operations: [AtomicU64; OPERATIONS.len()],
    procedures: [AtomicU64; PROCEDURES.len()],
}

impl Calls {
    /// Adds what an operation has made; that of a home is none of [`OPERATIONS`].
    pub fn add(&self, operation: Option<usize>, made: nfs::Calls) {
        if let Some(operation) = operation {
            add(&self.operations[operation], made.iter().sum());
        }
        for (count, amount) in self.procedures.iter().zip(made) {
            if amount > 0 {
                add(count, amount);
            }
        }
    }

    fn counters(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let operations = CALLS.into_iter().zip(self.operations.iter().map(of));
        operations.chain(NFS.into_iter().zip(self.procedures.iter().map(of)))
    }
}

/// Counts of all sessions.
#[derive(Debug, Default)]
pub struct Account {
    /// Read from files.
    pub read_bytes: AtomicU64,
    /// Written to files.
    pub written_bytes: AtomicU64,
    /// Names that lists had.
    pub listed: AtomicU64,
    /// Calls of `stat` that had to read from the disk: the kernel's caches had not the name.
    pub stat_misses: AtomicU64,
    /// Files whose opening or reading had to read from the disk.
    pub read_misses: AtomicU64,
    /// Homes that were made.
    pub homes: AtomicU64,
    /// Files that were made with them.
    pub files: AtomicU64,
    /// Of NFS; none where files are on this machine.
    pub calls: Option<Calls>,
}

/// Adds to a count.
pub fn add(count: &AtomicU64, amount: u64) {
    count.fetch_add(amount, Ordering::Relaxed);
}

/// Reads a count.
pub fn of(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

impl Account {
    /// For ticks.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = vec![
            ("bytes", of(&self.read_bytes) + of(&self.written_bytes)),
            ("read_bytes", of(&self.read_bytes)),
            ("written_bytes", of(&self.written_bytes)),
            ("listed", of(&self.listed)),
            ("stat_misses", of(&self.stat_misses)),
            ("read_misses", of(&self.read_misses)),
        ];
        counters.extend(self.calls.iter().flat_map(Calls::counters));
        counters
    }
}

/// Blocks of 512 bytes that the calling thread has had read from disks so far.
pub fn blocks_read() -> i64 {
    // SAFETY: all zeros are a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid for writes.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    usage.ru_inblock
}
