//! What is counted besides the operations.

use std::sync::atomic::{AtomicU64, Ordering};

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
        vec![
            ("bytes", of(&self.read_bytes) + of(&self.written_bytes)),
            ("read_bytes", of(&self.read_bytes)),
            ("written_bytes", of(&self.written_bytes)),
            ("listed", of(&self.listed)),
            ("stat_misses", of(&self.stat_misses)),
            ("read_misses", of(&self.read_misses)),
        ]
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
