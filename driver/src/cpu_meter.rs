//! The processor time of an engine's threads in this process, which is not the load generator's own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::to_s;

/// Adds up the processor time of the threads that entered it.
#[derive(Debug, Default)]
pub struct CpuMeter {
    threads: Mutex<Threads>,
}

#[derive(Debug, Default)]
struct Threads {
    /// Of threads that have left.
    past_ns: u64,
    /// The clocks of those that have not.
    present: Vec<libc::clockid_t>,
}

/// A thread's time in the meter; it must be dropped on that thread.
#[derive(Debug)]
pub struct Presence {
    meter: Arc<CpuMeter>,
    clock: libc::clockid_t,
}

impl CpuMeter {
    /// Lets the thread that calls it be counted.
    pub fn enter(self: &Arc<Self>) -> Presence {
        let mut clock: libc::clockid_t = 0;
        // SAFETY: `clock` is valid for writes, and the calling thread exists.
        let result = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
        assert_eq!(result, 0, "a thread has a clock");
        self.lock().present.push(clock);
        let meter = Arc::clone(self);
        Presence { meter, clock }
    }

    /// Processor time of all threads so far, in seconds.
    pub fn total_s(&self) -> f64 {
        let threads = self.lock();
        let present_ns: u64 = threads.present.iter().map(|clock| read_ns(*clock)).sum();
        to_s(threads.past_ns + present_ns)
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Presence {
    /// A thread leaves before it ends: while it is in the list, its clock can be read.
    fn drop(&mut self) {
        let mut threads = self.meter.lock();
        threads.past_ns += read_ns(self.clock);
        threads.present.retain(|clock| *clock != self.clock);
    }
}

fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for writes; the clock's thread lives, so the call cannot fail.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * crate::clock::SECOND_NS + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_used_stays_counted_when_it_is_gone() {
        let meter = Arc::new(CpuMeter::default());
        let inner = Arc::clone(&meter);
        let worker = std::thread::spawn(move || {
            let _presence = inner.enter();
            let from_s = inner.total_s();
            let mut sum = 0_u64;
            while inner.total_s() < from_s + 0.005 {
                sum = std::hint::black_box(sum + 1);
            }
            inner.total_s()
        });
        let used_s = worker.join().expect("a thread");
        assert!(used_s >= 0.005 && meter.total_s() >= used_s);
        assert!(meter.lock().present.is_empty());
    }
}
