//! Limits of time that are nearly never reached.
//!
//! Each request has several, and a [`Timer`] keeps each wait until its moment, also that of a request which
//! ended long ago. A deadline here is forgotten as soon as what it limits is over, and all of a thread share
//! the few waits that the earliest of them needs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::timer::Timer;

const NEVER_NS: u64 = u64::MAX;

thread_local! {
    static WATCH: RefCell<Watch> = const { RefCell::new(Watch::new()) };
}

/// What `future` gives, or `None` when `at_ns` comes first; nanoseconds since the driver's start. The thread
/// must have a [`Timer`].
pub async fn within<T>(at_ns: u64, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut deadline = Deadline::default();
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => deadline.poll(at_ns, context).map(|()| None),
    })
    .await
}

/// The limit of something that is under way. Dropped, it is forgotten.
#[derive(Debug, Default)]
pub struct Deadline(Option<Key>);

impl Deadline {
    /// Ready when `at_ns` is past. Else the task is woken by then at the latest; the moment may be another
    /// one at the next call.
    pub fn poll(&mut self, at_ns: u64, context: &mut Context<'_>) -> Poll<()> {
        let timer = Timer::current();
        if timer.now_ns() >= at_ns {
            return Poll::Ready(());
        }
        let key = WATCH.with_borrow_mut(|watch| {
            watch.of(&timer);
            watch.wait(self.0, at_ns, context.waker())
        });
        self.0 = Some(key);
        Poll::Pending
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        if let Some(key) = self.0 {
            // A thread that ends may have lost its watch already.
            let _ = WATCH.try_with(|watch| watch.borrow_mut().waiting.remove(&key));
        }
    }
}

/// A moment and a number, as several may have the same moment.
type Key = (u64, u64);

/// The deadlines of a thread.
#[derive(Debug)]
struct Watch {
    timer: Option<Rc<Timer>>,
    waiting: BTreeMap<Key, Waker>,
    next: u64,
    /// When the earliest wait that was begun ends.
    armed_ns: u64,
}

impl Watch {
    const fn new() -> Self {
        Self {
            timer: None,
            waiting: BTreeMap::new(),
            next: 0,
            armed_ns: NEVER_NS,
        }
    }

    /// Begins afresh when the thread has another timer than before.
    fn of(&mut self, timer: &Rc<Timer>) {
        let is_same = self
            .timer
            .as_ref()
            .is_some_and(|own| Rc::ptr_eq(own, timer));
        if !is_same {
            self.timer = Some(Rc::clone(timer));
            self.waiting.clear();
            self.armed_ns = NEVER_NS;
        }
    }

    fn wait(&mut self, known: Option<Key>, at_ns: u64, waker: &Waker) -> Key {
        if let Some(key) = known {
            // One that is woken early asks again.
            if key.0 <= at_ns
                && let Some(kept) = self.waiting.get_mut(&key)
            {
                kept.clone_from(waker);
                return key;
            }
            self.waiting.remove(&key);
        }
        let key = (at_ns, self.next);
        self.next += 1;
        self.waiting.insert(key, waker.clone());
        self.arm();
        key
    }

    /// Sees to it that somebody looks when the earliest deadline is reached.
    fn arm(&mut self) {
        let (Some(timer), Some((first, _))) = (&self.timer, self.waiting.first_key_value()) else {
            return;
        };
        if first.0 < self.armed_ns {
            self.armed_ns = first.0;
            tokio::task::spawn_local(wake_at(Rc::clone(timer), first.0));
        }
    }

    /// Takes those whose moment is past.
    fn due(&mut self, now_ns: u64) -> Vec<Waker> {
        let mut due = Vec::new();
        while let Some(first) = self.waiting.first_entry() {
            if first.key().0 > now_ns {
                break;
            }
            due.push(first.remove());
        }
        if self.armed_ns <= now_ns {
            self.armed_ns = NEVER_NS;
            self.arm();
        }
        due
    }
}

async fn wake_at(timer: Rc<Timer>, at_ns: u64) {
    timer.sleep_until(at_ns).await;
    let due = WATCH.with_borrow_mut(|watch| watch.due(timer.now_ns()));
    for waker in due {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::task::{LocalSet, spawn_local};

    use super::*;
    use crate::clock::Epoch;

    const SOON_NS: u64 = 2_000_000;
    const LATE_NS: u64 = 3_600_000_000_000;

    fn on_a_thread<T>(work: impl AsyncFnOnce(Rc<Timer>) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            work(Timer::start(Epoch::start()).expect("a timer")).await
        })
    }

    fn waiting() -> usize {
        WATCH.with_borrow(|watch| watch.waiting.len())
    }

    #[test]
    fn what_is_not_over_in_time_is_given_up() {
        on_a_thread(async |timer: Rc<Timer>| {
            let at_ns = timer.now_ns() + SOON_NS;
            assert_eq!(within(at_ns, pending::<()>()).await, None);
            assert!(timer.now_ns() >= at_ns);
            assert_eq!(waiting(), 0);
        });
    }

    #[test]
    fn what_is_over_leaves_nothing_behind() {
        on_a_thread(async |timer: Rc<Timer>| {
            assert_eq!(within(0, ready(1)).await, Some(1), "what is ready counts");
            let nap = timer.sleep_until(timer.now_ns() + SOON_NS);
            assert_eq!(within(LATE_NS, nap).await, Some(()));
            assert_eq!(waiting(), 0);
        });
    }

    #[test]
    fn each_is_woken_at_its_own_moment_in_whatever_order_they_began() {
        on_a_thread(async |timer: Rc<Timer>| {
            let start_ns = timer.now_ns();
            let tasks = [3, 1, 4, 2].map(|turn| {
                let at_ns = start_ns + turn * SOON_NS;
                spawn_local(async move {
                    assert_eq!(within(at_ns, pending::<()>()).await, None);
                    Timer::current().now_ns() >= at_ns
                })
            });
            for task in tasks {
                assert!(task.await.expect("no panic"));
            }
            assert_eq!(waiting(), 0);
        });
    }

    #[test]
    fn a_moment_may_move_while_it_is_waited_for() {
        on_a_thread(async |timer: Rc<Timer>| {
            let (mut deadline, soon_ns) = (Deadline::default(), timer.now_ns() + SOON_NS);
            let mut asked = 0;
            let moving = poll_fn(|context| {
                asked += 1;
                let at_ns = if asked == 1 { LATE_NS } else { soon_ns };
                if asked == 1 {
                    context.waker().wake_by_ref();
                }
                deadline.poll(at_ns, context)
            });
            moving.await;
            assert!(timer.now_ns() >= soon_ns);
            drop(deadline);
            assert_eq!(waiting(), 0);
        });
    }

    /// A thread that runs one thing after the other, each with a timer of its own.
    #[test]
    fn another_timer_begins_afresh() {
        on_a_thread(async |timer: Rc<Timer>| {
            spawn_local(within(timer.now_ns() + SOON_NS, pending::<()>()));
            tokio::task::yield_now().await;
            assert_eq!(waiting(), 1, "its moment does not come any more");
        });
        on_a_thread(async |timer: Rc<Timer>| {
            let at_ns = timer.now_ns() + 4 * SOON_NS;
            assert_eq!(within(at_ns, pending::<()>()).await, None);
        });
    }
}
