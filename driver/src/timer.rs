//! A precise timer for one thread.
//!
//! tokio's own timer has a granularity of one millisecond, which would be most of the schedule lag
//! that the driver wants to prove small. This one is a heap of deadlines on one `timerfd`.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::future::Future;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::clock::{Epoch, SECOND_NS};

const NEVER_NS: u64 = u64::MAX;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Timer>>> = const { RefCell::new(None) };
}

/// The deadlines of one thread.
#[derive(Debug)]
pub struct Timer {
    descriptor: AsyncFd<OwnedFd>,
    epoch: Epoch,
    armed_ns: Cell<u64>,
    deadlines: RefCell<BinaryHeap<Deadline>>,
}

impl Timer {
    /// Makes the timer of this thread and starts its task; must run inside a `LocalSet`.
    ///
    /// # Errors
    /// When the kernel gives no more descriptors.
    pub fn start(epoch: Epoch) -> io::Result<Rc<Self>> {
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: a plain system call; the result is checked before it is owned.
        let raw = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `raw` is a fresh descriptor that nothing else owns.
        let owned = unsafe { OwnedFd::from_raw_fd(raw) };
        // SAFETY: the descriptor stays the same and open as long as it is registered.
        let descriptor = unsafe { AsyncFd::register_with_interest(owned, Interest::READABLE) }?;
        let timer = Rc::new(Self {
            descriptor,
            epoch,
            armed_ns: Cell::new(NEVER_NS),
            deadlines: RefCell::default(),
        });
        tokio::task::spawn_local(Rc::clone(&timer).serve());
        CURRENT.set(Some(Rc::clone(&timer)));
        Ok(timer)
    }

    /// The timer of this thread, for sessions that simulate a service time.
    ///
    /// # Panics
    /// When no timer was started on this thread.
    pub fn current() -> Rc<Self> {
        CURRENT.with_borrow(|timer| Rc::clone(timer.as_ref().expect("a timer on this thread")))
    }

    /// Now, in nanoseconds since the driver's start.
    pub fn now_ns(&self) -> u64 {
        self.epoch.now_ns()
    }

    /// Waits until `at_ns`.
    pub fn sleep_until(&self, at_ns: u64) -> Sleep<'_> {
        Sleep {
            timer: self,
            at_ns,
            registered: None,
        }
    }

    async fn serve(self: Rc<Self>) {
        loop {
            // The descriptor is never read: arming it again resets it, and epoll reports each
            // expiry once because tokio asks for edges.
            match self.descriptor.readable().await {
                Ok(mut guard) => guard.clear_ready(),
                Err(_) => return,
            }
            self.armed_ns.set(NEVER_NS);
            self.fire();
        }
    }

    /// Wakes all whose time has come and arms for the next.
    fn fire(&self) {
        let now_ns = self.now_ns();
        let mut deadlines = self.deadlines.borrow_mut();
        while let Some(next) = deadlines.peek() {
            if next.at_ns > now_ns {
                let at_ns = next.at_ns;
                drop(deadlines);
                self.arm(at_ns);
                return;
            }
            if let Some(due) = deadlines.pop() {
                due.waker.wake();
            }
        }
    }

    fn register(&self, at_ns: u64, waker: Waker) {
        self.deadlines.borrow_mut().push(Deadline { at_ns, waker });
        self.arm(at_ns);
    }

    fn arm(&self, at_ns: u64) {
        if at_ns >= self.armed_ns.get() {
            return;
        }
        self.armed_ns.set(at_ns);
        let absolute_ns = self.epoch.absolute_ns(at_ns);
        let setting = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: libc::timespec {
                tv_sec: (absolute_ns / SECOND_NS) as libc::time_t,
                tv_nsec: (absolute_ns % SECOND_NS) as libc::c_long,
            },
        };
        let raw = self.descriptor.as_raw_fd();
        // SAFETY: the descriptor is open, `setting` is valid and the old setting is not asked for.
        let result = unsafe {
            libc::timerfd_settime(
                raw,
                libc::TFD_TIMER_ABSTIME,
                &raw const setting,
                std::ptr::null_mut(),
            )
        };
        assert_eq!(result, 0, "timerfd_settime: {}", io::Error::last_os_error());
    }
}

#[derive(Debug)]
struct Deadline {
    at_ns: u64,
    waker: Waker,
}

impl PartialEq for Deadline {
    fn eq(&self, other: &Self) -> bool {
        self.at_ns == other.at_ns
    }
}

impl Eq for Deadline {}

impl PartialOrd for Deadline {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Deadline {
    /// The earliest is the greatest, as `BinaryHeap` pops the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at_ns.cmp(&self.at_ns)
    }
}

/// A wait. It may be dropped at any time; its deadline then passes without effect.
#[derive(Debug)]
pub struct Sleep<'a> {
    timer: &'a Timer,
    at_ns: u64,
    registered: Option<Waker>,
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.timer.now_ns() >= self.at_ns {
            return Poll::Ready(());
        }
        let known = self
            .registered
            .as_ref()
            .is_some_and(|waker| waker.will_wake(context.waker()));
        if !known {
            self.timer.register(self.at_ns, context.waker().clone());
            self.registered = Some(context.waker().clone());
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
