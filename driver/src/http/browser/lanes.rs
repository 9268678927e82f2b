//! The connections of one user: those that are idle, how many there are, and who waits for one.

use std::cell::RefCell;
use std::future::poll_fn;
use std::mem::take;
use std::task::{Context, Poll, Waker};

use crate::http::site::{Counters, Open};
use crate::http::wire::Wire;

/// A connection that is open.
#[derive(Debug)]
struct Connection {
    wire: Wire,
    _open: Open,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    since_ns: u64,
}

/// The connections to one origin.
#[derive(Debug)]
struct Lane {
    /// Its position among the origins of the site.
    origin: usize,
    /// Idle ones, those in use, and those that are being opened.
    count: usize,
    /// The longest idle one is first.
    idle: Vec<Idle>,
    waiting: Vec<Waker>,
}

/// The connections to all origins. An origin that has none takes no memory.
#[derive(Debug, Default)]
pub struct Lanes(RefCell<Vec<Lane>>);

impl Lanes {
    /// The right to one connection to `origin`, of which there are at most `most`: with the one that was used
    /// last and is still quiet, if there is one. Waits while all are in use.
    pub async fn lease(&self, origin: usize, most: usize) -> Lease<'_> {
        let mut waited = false;
        let connection = poll_fn(|context| {
            let poll = self.poll_lease(origin, most, context);
            waited |= poll.is_pending();
            poll
        })
        .await;
        Lease {
            lanes: self,
            origin,
            waited,
            has_served: connection.is_some(),
            connection,
            is_returned: false,
        }
    }

    fn poll_lease(
        &self,
        origin: usize,
        most: usize,
        context: &mut Context<'_>,
    ) -> Poll<Option<Connection>> {
        self.with(origin, |lane| {
            while let Some(mut idle) = lane.idle.pop() {
                if idle.connection.wire.is_quiet() {
                    return Poll::Ready(Some(idle.connection));
                }
                lane.count -= 1;
            }
            if lane.count < most {
                lane.count += 1;
                return Poll::Ready(None);
            }
            let mut waiting = lane.waiting.iter();
            if !waiting.any(|waker| waker.will_wake(context.waker())) {
                lane.waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
    }

    /// Closes connections that were idle for `most_ns`. One to each origin stays.
    pub fn close_extras(&self, now_ns: u64, most_ns: u64) {
        for lane in &mut *self.0.borrow_mut() {
            let idle = &mut lane.idle;
            while idle.len() > 1 && now_ns.saturating_sub(idle[0].since_ns) >= most_ns {
                idle.remove(0).connection.wire.close();
                lane.count -= 1;
            }
        }
    }

    /// Closes all idle connections.
    pub fn close(&self) {
        self.0.borrow_mut().retain_mut(|lane| {
            lane.count -= lane.idle.len();
            for idle in take(&mut lane.idle) {
                idle.connection.wire.close();
            }
            lane.count > 0
        });
    }

    /// Takes a connection back, or the right to it. All who wait look again; they are few.
    fn release(&self, origin: usize, idle: Option<Idle>) {
        let waiting = self.with(origin, |lane| {
            match idle {
                Some(idle) => {
                    lane.idle.reserve_exact(1);
                    lane.idle.push(idle);
                }
                None => lane.count -= 1,
            }
            take(&mut lane.waiting)
        });
        for waker in waiting {
            waker.wake();
        }
    }

    fn with<T>(&self, origin: usize, act: impl FnOnce(&mut Lane) -> T) -> T {
        let mut lanes = self.0.borrow_mut();
        let known = lanes.iter().position(|lane| lane.origin == origin);
        let at = known.unwrap_or_else(|| {
            lanes.reserve_exact(1);
            lanes.push(Lane {
                origin,
                count: 0,
                idle: Vec::new(),
                waiting: Vec::new(),
            });
            lanes.len() - 1
        });
        act(&mut lanes[at])
    }
}

/// The right to one connection, until it is returned or dropped.
#[derive(Debug)]
pub struct Lease<'l> {
    lanes: &'l Lanes,
    origin: usize,
    waited: bool,
    connection: Option<Connection>,
    has_served: bool,
    is_returned: bool,
}

impl Lease<'_> {
    /// Whether all connections were in use at first.
    pub fn waited(&self) -> bool {
        self.waited
    }

    /// Whether it is for a connection that has served before.
    pub fn has_served(&self) -> bool {
        self.has_served
    }

    /// Closes the connection that it had, if it had one, for a fresh one that is to be opened.
    pub fn begin_afresh(&mut self) {
        self.has_served = false;
        self.connection = None;
    }

    /// Uses a connection that was just opened.
    pub fn use_fresh(&mut self, wire: Wire, counters: &Counters) -> &mut Wire {
        let connection = Connection {
            wire,
            _open: Open::count(counters),
        };
        &mut self.connection.insert(connection).wire
    }

    /// Its connection, once there is one.
    pub fn wire(&mut self) -> Option<&mut Wire> {
        self.connection
            .as_mut()
            .map(|connection| &mut connection.wire)
    }

    /// Returns the connection, for the next request.
    pub fn give_back(mut self, now_ns: u64) {
        if let Some(connection) = self.connection.take() {
            self.is_returned = true;
            let idle = Idle {
                connection,
                since_ns: now_ns,
            };
            self.lanes.release(self.origin, Some(idle));
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if !self.is_returned {
            self.connection = None;
            self.lanes.release(self.origin, None);
        }
    }
}
