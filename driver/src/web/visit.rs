//! How far a user is on its way: log-in, first visit, transactions, log-out; and what it does next.

use super::program::Program;
use crate::random::Random;
use crate::session::{Haste, OperationId};

/// The way of a user.
#[derive(Debug, Default)]
pub struct Visit {
    /// Transactions that were chosen in turn.
    turn: u32,
    logged_in: bool,
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
    pub fn next(&mut self, program: &Program, random: &mut Random) -> OperationId {
        match (program.log_in, program.first_visit) {
            (Some(log_in), _) if !self.logged_in => log_in,
            (_, Some(first_visit)) if !self.has_visited => first_visit,
            _ => program.agenda.next(&mut self.turn, random),
        }
    }

    /// Takes note of how a transaction ended.
    ///
    /// A user does not think after its log-in and its first visit. It holds off after a log-in that failed:
    /// an application that is down is not asked again at once, and not by all at the same time.
    pub fn ended(
        &mut self,
        program: &Program,
        operation: OperationId,
        well: bool,
        random: &mut Random,
    ) {
        let operation = Some(operation);
        if operation == program.log_in {
            self.logged_in = well;
            if well {
                self.failed_log_ins = 0;
                self.haste = Haste::AtOnce;
            } else {
                self.failed_log_ins = self.failed_log_ins.saturating_add(1);
                let usual_ns = program.back_off.limit_ns(self.failed_log_ins) as f64;
                let ns = (usual_ns * (0.5 + random.unit())) as u64;
                self.haste = Haste::HoldsOff { ns };
            }
        } else if operation == program.first_visit {
            // Also if it failed: a browser shows a page without some of its files, too.
            self.has_visited = true;
            self.haste = Haste::AtOnce;
        } else if operation == program.log_out {
            // Also if it failed: what the server still knows of the user is not sure.
            self.logged_in = false;
        }
    }

    /// Ends the way.
    pub fn close(&mut self) {
        self.logged_in = false;
        self.failed_log_ins = 0;
    }
}
