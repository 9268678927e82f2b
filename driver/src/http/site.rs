//! What all browsers of a run share: the network, limits, the origins they may ask, and what they did.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use url::Url;

use super::answer::Limits;
use super::fault::{Class, Fault};
use super::network::Network;
use super::origin::Origin;

/// An application as its users know it.
#[derive(Debug)]
pub struct Site {
    /// How connections are opened, and how long each step may take.
    pub network: Network,
    /// The most that an answer may be.
    pub limits: Limits,
    /// Most redirects that one request follows.
    pub redirects: u32,
    /// Most connections of a user to one origin.
    pub connections: usize,
    /// The origins that may be asked.
    pub allowed: Vec<Origin>,
    /// How long a connection beyond a user's first one to an origin may be idle, in nanoseconds.
    pub idle_close_ns: u64,
    /// What was done so far.
    pub counters: Counters,
}

impl Site {
    /// A site of which nothing was asked yet.
    pub fn new(
        network: Network,
        limits: Limits,
        redirects: u32,
        connections: usize,
        allowed: Vec<Origin>,
        idle_close_ns: u64,
    ) -> Self {
        Self {
            network,
            limits,
            redirects,
            connections,
            allowed,
            idle_close_ns,
            counters: Counters::default(),
        }
    }

    /// The position of the origin of `url` in [`Site::allowed`].
    ///
    /// # Errors
    /// [`Class::BadUrl`] for an address that cannot be asked, [`Class::ForeignHost`] for another origin.
    pub(super) fn position(&self, url: &Url) -> Result<usize, Fault> {
        let origin = Origin::of(url)?;
        let known = self.allowed.iter().position(|allowed| *allowed == origin);
        known.ok_or_else(|| {
            let words = format!("{origin} is not among the hosts that may be asked");
            Fault::new(Class::ForeignHost, words)
        })
    }
}

/// What was done since the start, by all users.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections that were opened.
    pub connections_opened: AtomicU64,
    /// Requests on a connection that had served before.
    pub connections_reused: AtomicU64,
    /// Connections that are open now.
    pub connections_open: Arc<AtomicU64>,
    /// Requests that were sent a second time.
    pub resent: AtomicU64,
    /// Redirects that were followed.
    pub redirects_followed: AtomicU64,
    /// Bytes of requests, before TLS.
    pub bytes_sent: AtomicU64,
    /// Bytes of answers, after TLS.
    pub bytes_received: AtomicU64,
}

/// Adds to a count.
pub(super) fn add(count: &AtomicU64, amount: u64) {
    count.fetch_add(amount, Ordering::Relaxed);
}

/// A connection among those that are open, until it is dropped.
#[derive(Debug)]
pub(super) struct Open(Arc<AtomicU64>);

impl Open {
    /// Counts one more.
    pub fn count(counters: &Counters) -> Self {
        add(&counters.connections_opened, 1);
        add(&counters.connections_open, 1);
        Self(Arc::clone(&counters.connections_open))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_connections_are_those_that_were_not_closed() {
        let counters = Counters::default();
        let first = Open::count(&counters);
        let second = Open::count(&counters);
        drop(first);
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        assert_eq!(count(&counters.connections_opened), 2);
        assert_eq!(count(&counters.connections_open), 1);
        drop(second);
        assert_eq!(count(&counters.connections_open), 0);
    }
}
