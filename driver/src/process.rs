//! What the driver knows of its own process.

use std::fs;

/// Processor time used since the process began, in seconds, all threads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usage {
    /// In user code.
    pub cpu_user_s: f64,
    /// In the kernel.
    pub cpu_system_s: f64,
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// What `getrusage` says now.
pub fn usage() -> Usage {
    // SAFETY: an all-zero `rusage` is valid, and it is valid for writes.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    Usage {
        cpu_user_s: seconds(usage.ru_utime),
        cpu_system_s: seconds(usage.ru_stime),
    }
}

/// Resident memory now, in bytes; 0 where `/proc` is not to be read.
pub fn rss_bytes() -> u64 {
    // SAFETY: a plain library call.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let pages = fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * page_bytes
}

/// The most memory that was resident at once, in bytes; 0 where `/proc` is not to be read.
/// (The peak of `getrusage` outlives `exec`: it would be the parent's.)
pub fn max_rss_bytes() -> u64 {
    let kibibytes = fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        });
    kibibytes.unwrap_or(0) * 1024
}

/// Raises the soft limit of open files to the hard one, and returns it.
pub fn raise_nofile() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for reads and writes.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        let raised = libc::rlimit {
            rlim_cur: limit.rlim_max,
            rlim_max: limit.rlim_max,
        };
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) == 0 {
            limit = raised;
        }
    }
    limit.rlim_cur
}
