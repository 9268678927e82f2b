//! Time: nanoseconds since the driver's start, on the monotonic clock.

use std::future::Future;
use std::rc::Rc;

use crate::timer::Timer;

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Seconds as nanoseconds, rounded; 0 for what is negative or no number.
pub fn to_ns(seconds: f64) -> u64 {
    (seconds * SECOND_NS as f64).round() as u64
}

/// Nanoseconds as seconds.
pub fn to_s(ns: u64) -> f64 {
    ns as f64 / SECOND_NS as f64
}

/// A clock to read and to wait on.
pub trait Clock {
    /// Now.
    fn now_ns(&self) -> u64;

    /// Waits until `at_ns`, not at all when that is past.
    fn sleep_until(&self, at_ns: u64) -> impl Future<Output = ()>;
}

/// The origin of the driver's time.
#[derive(Debug, Clone, Copy)]
pub struct Epoch {
    /// `CLOCK_MONOTONIC` at the start.
    origin_ns: u64,
}

impl Epoch {
    /// An origin that lies now.
    pub fn start() -> Self {
        Self {
            origin_ns: monotonic_ns(libc::CLOCK_MONOTONIC),
        }
    }

    /// Nanoseconds since the origin.
    pub fn now_ns(&self) -> u64 {
        monotonic_ns(libc::CLOCK_MONOTONIC).saturating_sub(self.origin_ns)
    }

    /// A moment of `CLOCK_MONOTONIC`, in seconds, in nanoseconds of this epoch; 0 when it lies before.
    pub fn of_monotonic_s(&self, monotonic_s: f64) -> u64 {
        to_ns(monotonic_s).saturating_sub(self.origin_ns)
    }

    /// `at_ns` of this epoch on `CLOCK_MONOTONIC`.
    pub fn absolute_ns(&self, at_ns: u64) -> u64 {
        self.origin_ns.saturating_add(at_ns)
    }
}

fn monotonic_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for writes; the clock exists on every Linux, so it cannot fail.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * SECOND_NS + time.tv_nsec as u64
}

/// The resolution of `CLOCK_MONOTONIC` in nanoseconds, as the kernel states it.
pub fn resolution_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for writes.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * SECOND_NS + time.tv_nsec as u64
}

/// The real clock of one worker thread.
#[derive(Debug, Clone)]
pub struct ThreadClock {
    epoch: Epoch,
    timer: Rc<Timer>,
}

impl ThreadClock {
    /// A clock that waits on `timer`.
    pub fn new(epoch: Epoch, timer: Rc<Timer>) -> Self {
        Self { epoch, timer }
    }
}

impl Clock for ThreadClock {
    fn now_ns(&self) -> u64 {
        self.epoch.now_ns()
    }

    fn sleep_until(&self, at_ns: u64) -> impl Future<Output = ()> {
        self.timer.sleep_until(at_ns)
    }
}

/// A clock for tests: it stands still, and waiting moves it.
#[derive(Debug, Clone, Default)]
pub struct MockClock(Rc<std::cell::Cell<u64>>);

impl MockClock {
    /// Moves on by `ns`.
    pub fn advance(&self, ns: u64) {
        self.0.set(self.0.get() + ns);
    }
}

impl Clock for MockClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    async fn sleep_until(&self, at_ns: u64) {
        self.0.set(self.0.get().max(at_ns));
    }
}
