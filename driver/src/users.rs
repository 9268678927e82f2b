//! The two schedules of a user, and its way through the phases.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use crate::board::{Board, Duty, StageOver};
use crate::clock::Clock;
use crate::drive::{Due, Manner, Readiness, Schedule, Stop, User, drive, say_farewell};
use crate::pacing::{Grid, Pace};
use crate::phase_recorders::{PhaseIndex, PhaseRecorders};
use crate::random::Random;
use crate::session::{Haste, OperationId, Session};

/// What the users of a thread share.
#[derive(Debug)]
pub struct Shared<C> {
    /// The notice board.
    pub board: Board,
    /// The recorders.
    pub recorders: PhaseRecorders,
    /// The clock.
    pub clock: C,
    /// The waits.
    pub pace: Pace,
    /// How operations are made.
    pub manner: Manner,
}

/// Leads the user of `slot` through the phases until it may leave.
pub async fn live<S: Session, C: Clock>(mut user: User<S>, slot: usize, shared: Rc<Shared<C>>) {
    let Shared {
        board,
        recorders,
        clock,
        pace,
        manner,
    } = &*shared;
    let mut waits = Waits::new(user.number, user.random.split());
    loop {
        let stop = StageOver::new(board, slot);
        if let Some(phase) = waits.dismissed(board, slot) {
            waits.part();
            say_farewell(&mut user, phase, recorders, clock, &stop, manner).await;
            continue;
        }
        match board.duty() {
            Duty::Leave => break,
            Duty::Idle => {}
            Duty::Closed => {
                let mut schedule = Closed {
                    slot,
                    board,
                    clock,
                    pace,
                    waits: &mut waits,
                };
                drive(&mut user, &mut schedule, recorders, clock, &stop, manner).await;
            }
            Duty::Open => {
                waits.clear();
                let mut schedule = Open {
                    slot,
                    board,
                    offered: false,
                };
                drive(&mut user, &mut schedule, recorders, clock, &stop, manner).await;
            }
        }
        let goes_on = || stop.requested() || waits.dismissed(board, slot).is_some();
        if !goes_on() {
            // It has no more work: what it does next does not follow on what it did.
            board.until(slot, goes_on).await;
            waits.clear();
        }
    }
    user.session.close().await;
    board.leave();
}

/// What a closed user keeps between operations, also from one closed phase to the next.
#[derive(Debug)]
struct Waits {
    /// Number of the user.
    user: u32,
    random: Random,
    /// When the last operation was begun.
    begun_ns: Option<u64>,
    /// The operation that ended last, and when.
    free: Option<(OperationId, u64)>,
    /// When the next operation is due, and whether that is after a wait.
    due: Option<(u64, bool)>,
    /// The stage in which the user last took part, if it has not parted since.
    joined: Option<u64>,
}

impl Waits {
    fn new(user: u32, random: Random) -> Self {
        Self {
            user,
            random,
            begun_ns: None,
            free: None,
            due: None,
            joined: None,
        }
    }

    fn clear(&mut self) {
        self.begun_ns = None;
        self.free = None;
        self.due = None;
    }

    /// The phase in which the user of `slot` was dismissed and is to say farewell.
    fn dismissed(&self, board: &Board, slot: usize) -> Option<PhaseIndex> {
        board.dismissed(slot, self.joined?)
    }

    /// Takes note that the user leaves; if it comes again, it begins afresh.
    fn part(&mut self) {
        self.joined = None;
        self.clear();
    }
}

/// A closed user: an operation is due when the last is done and the waits are over.
struct Closed<'a, C> {
    slot: usize,
    board: &'a Board,
    clock: &'a C,
    pace: &'a Pace,
    waits: &'a mut Waits,
}

impl<C: Clock> Closed<'_, C> {
    fn admit(&self, at_ns: u64, readiness: Readiness) -> Option<Due> {
        if !self.board.admit() {
            self.board.finish();
            return None;
        }
        let at_ns = at_ns.max(self.board.since_ns());
        Some(Due {
            phase: self.board.phase(),
            at_ns,
            readiness,
            closed: true,
        })
    }

    fn is_dismissed(&self) -> bool {
        self.waits.dismissed(self.board, self.slot).is_some()
    }

    /// Waits until the user takes part; it then begins afresh. False if it is to say farewell first.
    async fn join(&mut self) -> bool {
        if !self.board.is_active(self.slot) {
            if self.is_dismissed() {
                return false;
            }
            self.waits.clear();
            let active = || self.board.is_active(self.slot);
            self.board.until(self.slot, active).await;
        }
        self.waits.joined = Some(self.board.stage());
        true
    }

    /// When `operation` is due, and whether that is after a wait.
    fn plan(&mut self, operation: OperationId, haste: Haste) -> (u64, bool) {
        if let Some(planned) = self.waits.due {
            return planned;
        }
        let usual = self.usual(operation);
        let planned = match (haste, self.waits.free) {
            (Haste::HoldsOff { ns }, Some((_, free_ns))) if free_ns + ns > usual.0 => {
                (free_ns + ns, true)
            }
            _ => usual,
        };
        self.waits.due = Some(planned);
        planned
    }

    /// When `operation` is due by its waits, and whether there are any.
    fn usual(&mut self, operation: OperationId) -> (u64, bool) {
        if let Some(period_ns) = self.pace.period_ns(operation) {
            let grid = Grid::new(period_ns, self.board.origin_ns(), self.waits.user);
            // What was missed while the last operation ran is made up for once.
            let last_ns = self.waits.begun_ns.unwrap_or_else(|| self.clock.now_ns());
            return (grid.after_ns(last_ns), true);
        }
        let random = &mut self.waits.random;
        let (from_ns, gap_ns) = match self.waits.free {
            Some((previous, at_ns)) => (at_ns, self.pace.gap_ns(previous, operation, random)),
            None => (
                self.clock.now_ns(),
                self.pace.residual_ns(operation, random),
            ),
        };
        (from_ns + gap_ns, gap_ns > 0)
    }

    /// Waits until `at_ns`, or until the user is dismissed.
    async fn rest(&self, at_ns: u64) {
        let mut over = pin!(self.clock.sleep_until(at_ns));
        poll_fn(|context| {
            if over.as_mut().poll(context).is_ready() || self.is_dismissed() {
                return Poll::Ready(());
            }
            self.board.listen(self.slot, context);
            Poll::Pending
        })
        .await;
    }
}

impl<C: Clock> Schedule for Closed<'_, C> {
    async fn due(&mut self, operation: OperationId, haste: Haste) -> Option<Due> {
        let is_paced = self.pace.is_paced() || haste != Haste::Usual;
        loop {
            if !self.join().await || self.board.duty() != Duty::Closed {
                return None;
            }
            if haste == Haste::AtOnce || !is_paced {
                let free = self.waits.free.map(|(_, ns)| ns);
                let now_ns = self.clock.now_ns();
                self.waits.begun_ns = Some(now_ns);
                let at_ns = free.unwrap_or(now_ns);
                return self.admit(at_ns, Readiness::Unpaced);
            }
            let (at_ns, waits) = self.plan(operation, haste);
            let readiness = if !waits {
                Readiness::Unpaced
            } else if self.clock.now_ns() <= at_ns {
                self.rest(at_ns).await;
                Readiness::Free
            } else {
                Readiness::Busy { lag_ns: None }
            };
            // Users may have become fewer while this one waited.
            if self.board.is_active(self.slot) {
                self.waits.due = None;
                self.waits.begun_ns = Some(self.clock.now_ns());
                return self.admit(at_ns, readiness);
            }
        }
    }

    fn done(&mut self, operation: OperationId, at_ns: u64) {
        self.waits.free = Some((operation, at_ns));
    }

    fn exhausted(&mut self) {
        self.board.finish();
    }
}

/// A user of an open phase: it serves arrivals.
struct Open<'a> {
    slot: usize,
    board: &'a Board,
    offered: bool,
}

impl Schedule for Open<'_> {
    async fn due(&mut self, _operation: OperationId, _haste: Haste) -> Option<Due> {
        let phase = self.board.phase();
        poll_fn(|context| {
            if let Some(arrival) = self.board.handed(self.slot) {
                self.offered = false;
                let readiness = Readiness::Free;
                return Poll::Ready(Some(Due {
                    phase,
                    at_ns: arrival.at_ns,
                    readiness,
                    closed: false,
                }));
            }
            if self.offered || !self.board.is_active(self.slot) {
                self.board.listen(self.slot, context);
                return Poll::Pending;
            }
            if let Some(arrival) = self.board.next() {
                let lag_ns = Some(arrival.noticed_ns.saturating_sub(arrival.at_ns));
                let readiness = Readiness::Busy { lag_ns };
                return Poll::Ready(Some(Due {
                    phase,
                    at_ns: arrival.at_ns,
                    readiness,
                    closed: false,
                }));
            }
            self.offered = true;
            self.board.offer(self.slot);
            self.board.listen(self.slot, context);
            Poll::Pending
        })
        .await
    }

    fn done(&mut self, _operation: OperationId, _at_ns: u64) {}

    fn exhausted(&mut self) {
        self.board.finish();
    }
}

#[cfg(test)]
mod tests;
