//! How far a user is on its way: log-in, first visit, transactions, log-out; and what it does next.

use super::agenda::Agenda;
use crate::random::Random;
use crate::retry::BackOff;
use crate::session::{Haste, OperationId};

/// The way that all users go.
#[derive(Debug)]
pub struct Itinerary {
    /// What a user does first, if anything.
    pub log_in: Option<OperationId>,
    /// For how long it holds off after a log-in that failed.
    pub back_off: BackOff,
    /// What it does once, after its first log-in, if anything.
    pub first_visit: Option<OperationId>,
    /// What it does in between.
    pub agenda: Agenda,
    /// What it does as it leaves, if anything.
    pub log_out: Option<OperationId>,
}

/// How far one user is.
#[derive(Debug, Default)]
pub struct Visit {
    /// Where it is among the transactions of the mix.
    place: u32,
    logged_in: bool,
    /// Whether it has made a transaction of the mix since it is logged in.
    works: bool,
    /// Log-ins that failed since the last that did not.
    failed_log_ins: u32,
    has_visited: bool,
    haste: Haste,
}

impl Visit {
    /// Whether the user is logged in.
    pub fn is_logged_in(&self) -> bool {
        self.logged_in
    }

    /// Whether the user is logged in and has made a transaction since.
    pub fn is_working(&self) -> bool {
        self.works
    }

    /// Whether the last log-in of the user has failed.
    pub fn is_shut_out(&self) -> bool {
        self.failed_log_ins > 0
    }

    /// When the user does what is next.
    pub fn haste(&self) -> Haste {
        self.haste
    }

    /// Takes note that what is next was begun.
    pub fn begin(&mut self) {
        self.haste = Haste::Usual;
    }

    /// Chooses what is next.
    pub fn next(&mut self, way: &Itinerary, random: &mut Random) -> OperationId {
        match (way.log_in, way.first_visit) {
            (Some(log_in), _) if !self.logged_in => log_in,
            (_, Some(first_visit)) if !self.has_visited => first_visit,
            _ => way.agenda.next(&mut self.place, random),
        }
    }

    /// Takes note of how a transaction ended.
    ///
    /// A user does not think after its log-in and its first visit. It holds off after a log-in that failed:
    /// an application that is down is not asked again at once, and not by all at the same time.
    pub fn ended(
        &mut self,
        way: &Itinerary,
        operation: OperationId,
        well: bool,
        random: &mut Random,
    ) {
        let operation = Some(operation);
        if operation == way.log_in {
            self.leave();
            self.logged_in = well;
            way.agenda.begin(&mut self.place);
            if well {
                self.failed_log_ins = 0;
                self.haste = Haste::AtOnce;
            } else {
                self.failed_log_ins = self.failed_log_ins.saturating_add(1);
                let usual_ns = way.back_off.limit_ns(self.failed_log_ins) as f64;
                let ns = (usual_ns * (0.5 + random.unit())) as u64;
                self.haste = Haste::HoldsOff { ns };
            }
        } else if operation == way.first_visit {
            // Also if it failed: a browser shows a page without some of its files, too.
            self.has_visited = true;
            self.haste = Haste::AtOnce;
        } else if operation == way.log_out {
            // Also if it failed: what the server still knows of the user is not sure.
            self.leave();
        } else {
            self.works = self.logged_in;
        }
    }

    /// Takes note that the application does not know the user any more: it logs in again, when it would have
    /// gone on.
    pub fn lose_session(&mut self) {
        self.leave();
    }

    /// What the user does as it leaves: the log-out, if it is logged in. Where there is no log-in, each user is.
    pub fn farewell(&self, way: &Itinerary) -> Option<OperationId> {
        let logged_in = self.logged_in || way.log_in.is_none();
        way.log_out.filter(|_| logged_in)
    }

    /// Ends the way.
    pub fn close(&mut self) {
        self.leave();
        self.failed_log_ins = 0;
    }

    fn leave(&mut self) {
        self.logged_in = false;
        self.works = false;
    }
}
