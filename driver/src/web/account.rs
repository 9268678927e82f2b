//! What is told of a run besides operations and requests.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Shared;
use super::visit::{Itinerary, Visit};
use crate::http::Site;
use crate::random::Random;
use crate::session::OperationId;

/// Counts of all users.
#[derive(Debug, Default)]
pub struct Account {
    logged_in: AtomicU64,
    shut_out: AtomicU64,
    /// Requests that were not made, because the browser had a fresh answer.
    pub from_cache: AtomicU64,
    /// Requests whose answer was that what the browser has is still the same.
    pub not_modified: AtomicU64,
    working: AtomicU64,
    sessions_lost: AtomicU64,
}

impl Account {
    /// Takes note of what `change` makes of a user's way.
    pub fn observe(&self, visit: &mut Visit, change: impl FnOnce(&mut Visit)) {
        let states = |visit: &Visit| {
            [
                (&self.logged_in, visit.is_logged_in()),
                (&self.working, visit.is_working()),
                (&self.shut_out, visit.is_shut_out()),
            ]
        };
        let before = states(visit);
        change(visit);
        for ((count, before), (_, after)) in before.into_iter().zip(states(visit)) {
            moved(count, before, after);
        }
    }

    /// Takes note that a user has to log in again.
    pub fn session_lost(&self, visit: &mut Visit) {
        add_one(&self.sessions_lost);
        self.observe(visit, Visit::lose_session);
    }

    /// Takes note of how a transaction of a user ended.
    pub fn ended(
        &self,
        visit: &mut Visit,
        way: &Itinerary,
        (operation, well): (OperationId, bool),
        random: &mut Random,
    ) {
        self.observe(visit, |visit| visit.ended(way, operation, well, random));
    }

    /// Users that are logged in and have made a transaction since; `None` where nobody logs in.
    pub fn gathered(&self, way: &Itinerary) -> Option<u64> {
        way.log_in.map(|_| of(&self.working))
    }

    /// How many users are logged in, how many have made a transaction since, and how many could not log in the
    /// last time that they tried. Nothing where nobody logs in.
    pub fn gauges(&self, way: &Itinerary) -> Vec<(&'static str, f64)> {
        if way.log_in.is_none() {
            return Vec::new();
        }
        let counts = [
            ("users_logged_in", &self.logged_in),
            ("users_working", &self.working),
            ("users_shut_out", &self.shut_out),
        ];
        counts.map(|(name, count)| (name, of(count) as f64)).into()
    }
}

/// What browsers did since the start.
pub(super) fn counters(shared: &Shared) -> Vec<(&'static str, u64)> {
    let (counters, account) = (&shared.site.counters, &shared.account);
    let again = !shared.application.log_in_again.is_empty();
    let lost = again.then_some(("sessions_lost", &account.sessions_lost));
    [
        ("connections_opened", &counters.connections_opened),
        ("connections_reused", &counters.connections_reused),
        ("resent", &counters.resent),
        ("redirects_followed", &counters.redirects_followed),
        ("from_cache", &account.from_cache),
        ("not_modified", &account.not_modified),
        ("bytes_sent", &counters.bytes_sent),
        ("bytes_received", &counters.bytes_received),
    ]
    .into_iter()
    .chain(lost)
    .map(|(name, count)| (name, of(count)))
    .collect()
}

/// Connections that are open now.
pub fn connections_open(site: &Site) -> u64 {
    of(&site.counters.connections_open)
}

/// The counters, and connections by address as `share app.example:443 10.0.0.1`.
pub(super) fn facts(shared: &Shared) -> Vec<(&'static str, f64)> {
    let counters = counters(shared).into_iter();
    let counters = counters.map(|(name, count)| (name, count as f64));
    // They are told once, at the end.
    let shares = shared.site.network.shares().into_iter();
    let shares = shares.map(|(address, connections)| {
        let name: &'static str = format!("share {address}").leak();
        (name, connections as f64)
    });
    counters.chain(shares).collect()
}

/// Counts a user who was among others `before`, or is `after`.
fn moved(count: &AtomicU64, before: bool, after: bool) {
    match (before, after) {
        (false, true) => add_one(count),
        (true, false) => {
            count.fetch_sub(1, Ordering::Relaxed);
        }
        _ => {}
    }
}

/// Counts one more.
pub fn add_one(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

fn of(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}
