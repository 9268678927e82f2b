//! What is told of a run besides operations and requests.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::http::Site;

/// Counts of all users.
#[derive(Debug, Default)]
pub struct Account {
    logged_in: AtomicU64,
}

impl Account {
    /// Takes note that a user is logged in now, or is no more.
    pub fn user_changed(&self, logged_in: bool) {
        if logged_in {
            self.logged_in.fetch_add(1, Ordering::Relaxed);
        } else {
            self.logged_in.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Users that are logged in.
    pub fn logged_in(&self) -> u64 {
        of(&self.logged_in)
    }
}

/// What browsers did since the start.
pub fn counters(site: &Site) -> Vec<(&'static str, u64)> {
    let counters = &site.counters;
    [
        ("connections_opened", &counters.connections_opened),
        ("connections_reused", &counters.connections_reused),
        ("resent", &counters.resent),
        ("redirects_followed", &counters.redirects_followed),
        ("bytes_sent", &counters.bytes_sent),
        ("bytes_received", &counters.bytes_received),
    ]
    .map(|(name, count)| (name, of(count)))
    .into()
}

/// Connections that are open now.
pub fn connections_open(site: &Site) -> u64 {
    of(&site.counters.connections_open)
}

/// The counters, and connections by address as `share app.example:443 10.0.0.1`.
pub fn facts(site: &Site) -> Vec<(&'static str, f64)> {
    let counters = counters(site).into_iter();
    let counters = counters.map(|(name, count)| (name, count as f64));
    // They are told once, at the end.
    let shares = site.network.shares().into_iter();
    let shares = shares.map(|(address, connections)| {
        let name: &'static str = format!("share {address}").leak();
        (name, connections as f64)
    });
    counters.chain(shares).collect()
}

fn of(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}
