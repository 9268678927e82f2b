//! What reaches the main thread while it waits: messages of the threads, control lines, and the next tick.

use std::io::Write;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use super::Run;
use crate::clock::to_ns;
use crate::control::{Control, Message};
use crate::orders::Order;
use crate::phase_recorders::PhaseIndex;
use crate::plan::{PhaseKind, Range};
use crate::reporter::Ending;
use crate::schedule::ArrivalPlan;
use crate::session::{Failure, OperationId, Workload};

/// How far ahead a new rate begins, so that all threads change over at the same moment.
const LEAD_NS: u64 = 5_000_000;

impl<L: Workload, W: Write> Run<'_, L, W> {
    /// Waits for a message or the next tick and deals with it; false once `until_ns` is past.
    pub(super) fn attend(&mut self, until_ns: Option<u64>) -> bool {
        let now_ns = self.epoch.now_ns();
        let wake_ns = until_ns
            .unwrap_or(u64::MAX)
            .min(self.reporter.next_tick_ns());
        // Without a time to wake at, a message will come; an hour is as good as for ever.
        let wait = Duration::from_nanos(wake_ns.saturating_sub(now_ns).min(to_ns(3600.0)));
        match self.inbox.recv_timeout(wait) {
            Ok(message) => self.deal_with(message),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        let now_ns = self.epoch.now_ns();
        let in_time = until_ns.is_none_or(|until_ns| now_ns < until_ns);
        // A tick that falls on the end of the phase is left to the end of the phase.
        if in_time && now_ns >= self.reporter.next_tick_ns() {
            self.reporter.tick(&self.workers);
        }
        if self.reporter.is_broken() && self.ending.is_none() {
            self.ending = Some(Ending::Failed("standard output is closed".into()));
        }
        in_time
    }

    fn deal_with(&mut self, message: Message) {
        match message {
            Message::Control(control) => {
                if let Err(problem) = self.control(control) {
                    self.reporter.event("refused", &problem);
                }
            }
            Message::Stop(reason) => {
                if self.ending.is_none() {
                    self.reporter.event("stopping", &reason);
                    self.ending = Some(Ending::Stopped);
                }
            }
            Message::DriverEvent(driver_event) => self.reporter.driver_event(&driver_event),
            Message::WorkloadEvent(workload_event) => self.reporter.workload_event(&workload_event),
            Message::Opened(Ok(())) | Message::Left => self.reports += 1,
            Message::Opened(Err(problem)) => {
                self.ending.get_or_insert(Ending::Failed(problem));
            }
            Message::Standing {
                thread,
                phase,
                standing,
            } => {
                if self.current.is_some_and(|current| current.index == phase) {
                    self.standings[thread as usize] = standing;
                }
            }
            Message::Failed {
                phase,
                operation,
                failure,
            } => self.deal_with_failed(phase, operation, failure),
            Message::Drained(backlog) => {
                self.reports += 1;
                self.backlog.drained += backlog.drained;
                self.backlog.discarded += backlog.discarded;
            }
        }
    }

    /// Data that lacks a part is of no use: in a phase that prepares, every operation must end well.
    fn deal_with_failed(&mut self, phase: PhaseIndex, operation: OperationId, failure: Failure) {
        let phase = &self.plan.phases[phase];
        if phase.kind == PhaseKind::Prepare {
            let operation = self.workload.operations()[operation];
            let Failure { class, message } = failure;
            self.ending.get_or_insert(Ending::Failed(format!(
                "{operation} failed in phase {} ({}): {message}",
                phase.name, class.0
            )));
        }
    }

    fn control(&mut self, control: Control) -> Result<(), String> {
        if let Control::Begin { monotonic_s } = control {
            return self.tell_begin(monotonic_s);
        }
        let Some(current) = &mut self.current else {
            return Err("no phase runs".into());
        };
        match (control, current.arrivals) {
            (Control::Stop | Control::Begin { .. }, _) => Ok(()),
            (Control::Users { users }, None) => {
                self.check_files(users)?;
                self.order(|| Order::Users(users));
                self.reporter.event("users", &users.to_string());
                Ok(())
            }
            (Control::Users { .. }, Some(_)) => Err("users: this phase is open".into()),
            (Control::Rate { .. }, None) => Err("rate: this phase is closed".into()),
            (Control::Rate { .. }, Some(ArrivalPlan { most: Some(_), .. })) => {
                Err("rate: this phase has a fixed number of iterations".into())
            }
            (Control::Rate { rate_per_s }, Some(before)) => {
                let start_ns = self.epoch.now_ns() + LEAD_NS;
                let rest_ns = current.end_ns.map(|end_ns| end_ns.saturating_sub(start_ns));
                let arrivals = ArrivalPlan {
                    start_ns,
                    duration_ns: rest_ns,
                    rate_per_s: Range {
                        from: rate_per_s,
                        to: rate_per_s,
                    },
                    seed: before.seed.wrapping_add(1),
                    ..before
                };
                current.arrivals = Some(arrivals);
                self.order(|| Order::Arrivals(arrivals));
                Ok(())
            }
        }
    }
}
