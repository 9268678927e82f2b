//! What is waited for: sessions before the first phase, the moment to begin, and users who gather.

use std::io::Write;
use std::sync::atomic::Ordering;

use super::Run;
use crate::clock::to_ns;
use crate::orders::Order;
use crate::phase_recorders::PhaseIndex;
use crate::plan::{Load, Protocol, Start};
use crate::reporter::Ending;
use crate::session::Workload;

/// How often it is told how many sessions are open, while they are opened.
const OPENING_NS: u64 = 5_000_000_000;
/// How often it is looked whether all users have gathered.
const GATHERING_NS: u64 = 20_000_000;
/// So often it may be told that no further session is open.
const OPENING_PATIENCE: u32 = 12;

impl<L: Workload, W: Write> Run<'_, L, W> {
    /// Opens the sessions of all phases, before the first begins.
    pub(super) fn open_sessions(&mut self) {
        let sessions = self.plan.sessions();
        if let Err(problem) = self.check_files(sessions) {
            self.ending = Some(Ending::Failed(problem));
            return;
        }
        self.reports = 0;
        self.order(|| Order::Open(sessions));
        let (mut last, mut idle) = (0, 0);
        while self.await_more() {
            let opened = self.opened.load(Ordering::Relaxed);
            idle = if opened > last { 0 } else { idle + 1 };
            last = opened;
            self.reporter.event("opening", &self.opened_so_far());
            if idle >= OPENING_PATIENCE {
                let problem = "the server lets no more sessions in, and does not say why";
                self.ending = Some(Ending::Failed(problem.into()));
            }
        }
        if let Some(Ending::Failed(problem)) = &self.ending {
            let told = format!("{problem} ({})", self.opened_so_far());
            self.ending = Some(Ending::Failed(told));
        }
    }

    fn opened_so_far(&self) -> String {
        let sessions = self.plan.own(self.plan.sessions());
        let opened = self.opened.load(Ordering::Relaxed);
        format!("{opened} of {sessions} sessions are open")
    }

    /// Whether this process may open a connection for each of `sessions`.
    pub(super) fn check_files(&self, sessions: u32) -> Result<(), String> {
        let sessions = self.plan.own(sessions);
        // A few are its own, and each thread has some for its timer and its reactor.
        let own = 16 + 4 * u64::from(self.plan.threads);
        let each = match self.plan.connection.protocol {
            Protocol::None => return Ok(()),
            // A user of HTTP may open more when it needs them: their number is not known here.
            Protocol::Http => 1,
            Protocol::Postgresql | Protocol::Mysql | Protocol::Files | Protocol::Nfs => 1,
            // The file, its log, and the journal or a temporary file.
            Protocol::Sqlite => 3,
        };
        let needed = u64::from(sessions) * each + own;
        if needed <= self.nofile {
            return Ok(());
        }
        Err(format!(
            "{sessions} sessions need {needed} open files, but the limit of this process is {}; \
             raise the hard limit (ulimit -Hn) or ask for fewer",
            self.nofile
        ))
    }

    /// Waits for the moment at which the next phase begins, if that is told: the first, and one that follows
    /// on a phase in which users gather. One that lies before it could begin is put off until then.
    pub(super) fn await_begin(&mut self) {
        if self.plan.start == Start::Now || self.ending.is_some() {
            return;
        }
        let ready_ns = self.epoch.now_ns();
        let detail = match self.current {
            None => "the sessions are open",
            Some(_) => "the users have gathered",
        };
        self.awaits_begin = true;
        self.reporter.event("ready", detail);
        while self.ending.is_none() && self.begin_ns.is_none() {
            self.attend(None);
        }
        self.awaits_begin = false;
        self.begin_ns = self.begin_ns.map(|begin_ns| begin_ns.max(ready_ns));
        while self.ending.is_none() && self.attend(self.begin_ns) {}
    }

    pub(super) fn tell_begin(&mut self, monotonic_s: f64) -> Result<(), String> {
        if self.plan.start == Start::Now {
            return Err("begin: the plan's start is \"now\"".into());
        }
        let too_late = self.current.is_some() && !self.awaits_begin;
        if too_late || self.begin_ns.is_some() {
            return Err("begin: it was told before".into());
        }
        self.begin_ns = Some(self.epoch.of_monotonic_s(monotonic_s));
        Ok(())
    }

    /// Lets the phase last until each user has logged in and made a transaction, but no longer than the
    /// plan says. Where several processes make the load, all wait for the last.
    pub(super) fn gather(&mut self, index: PhaseIndex) {
        let phase = &self.plan.phases[index];
        let Load::Closed { users } = phase.load else {
            return;
        };
        if phase.gather_s <= 0.0 || self.workload.gathered().is_none() {
            return;
        }
        let expected = u64::from(self.plan.own(users.to));
        let until_ns = self.epoch.now_ns() + to_ns(phase.gather_s);
        while self.ending.is_none()
            && self.workload.gathered() < Some(expected)
            && self.epoch.now_ns() < until_ns
        {
            self.attend(Some(until_ns.min(self.epoch.now_ns() + GATHERING_NS)));
        }
        self.await_begin();
    }

    /// Waits a while for reports; whether some are still missing.
    fn await_more(&mut self) -> bool {
        let until_ns = self.epoch.now_ns() + OPENING_NS;
        while self.is_awaited() && self.attend(Some(until_ns)) {}
        self.is_awaited()
    }

    fn is_awaited(&self) -> bool {
        self.ending.is_none() && self.reports < self.workers.len()
    }
}
