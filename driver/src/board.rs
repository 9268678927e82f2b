//! The notice board of one thread: what its users are to do, and the arrivals they take.
//!
//! All that lies here belongs to one thread, so cells suffice and nothing is locked.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::Range;
use std::task::{Context, Poll, Waker};

use crate::drive::Stop;
use crate::phase_recorders::PhaseIndex;

/// What the users of a thread are to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duty {
    /// Wait for what comes.
    Idle,
    /// Work in a closed loop.
    Closed,
    /// Serve arrivals.
    Open,
    /// Say goodbye.
    Leave,
}

/// An operation that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When it was due.
    pub at_ns: u64,
    /// When the generator noticed it.
    pub noticed_ns: u64,
}

/// What the users of a thread are to do from now on.
#[derive(Debug, Clone, Copy)]
pub struct Assignment {
    /// The work.
    pub duty: Duty,
    /// The phase it is for.
    pub phase: PhaseIndex,
    /// Begin of the phase; nothing of it was due before.
    pub since_ns: u64,
    /// Users that take part: those of the slots below it.
    pub active: usize,
    /// Operations that may begin.
    pub allowance: u64,
    /// Arrivals that may wait for a free user.
    pub room: usize,
    /// Whether users of slots that no longer take part say farewell.
    pub drains: bool,
}

#[derive(Debug, Default)]
struct Slot {
    waker: Option<Waker>,
    handed: Option<Arrival>,
}

/// An assignment in which users who no longer take part say farewell. It is remembered when it is over:
/// some of them may still be at an operation, or not have looked yet.
#[derive(Debug, Clone, Copy)]
struct Drain {
    stage: u64,
    phase: PhaseIndex,
    /// Slots below it take part, or did when it was over.
    active: usize,
}

/// The notice board.
#[derive(Debug)]
pub struct Board {
    slots: RefCell<Vec<Slot>>,
    stage: Cell<u64>,
    duty: Cell<Duty>,
    phase: Cell<PhaseIndex>,
    since_ns: Cell<u64>,
    /// Begin of the first phase.
    origin_ns: Cell<Option<u64>>,
    /// Slots below it take part.
    active: Cell<usize>,
    /// The last assignment in which users say farewell.
    drain: Cell<Option<Drain>>,
    /// Operations that may still begin in this phase.
    allowance: Cell<u64>,
    /// Users who have no more work in this phase.
    finished: Cell<usize>,
    seats: Cell<usize>,
    idle: RefCell<VecDeque<usize>>,
    queue: RefCell<VecDeque<Arrival>>,
    room: Cell<usize>,
    draining: Cell<bool>,
    conductor: RefCell<Option<Waker>>,
}

impl Default for Board {
    fn default() -> Self {
        Self {
            slots: RefCell::default(),
            stage: Cell::new(0),
            duty: Cell::new(Duty::Idle),
            phase: Cell::new(0),
            since_ns: Cell::new(0),
            origin_ns: Cell::new(None),
            active: Cell::new(0),
            drain: Cell::new(None),
            allowance: Cell::new(u64::MAX),
            finished: Cell::new(0),
            seats: Cell::new(0),
            idle: RefCell::default(),
            queue: RefCell::default(),
            room: Cell::new(0),
            draining: Cell::new(false),
            conductor: RefCell::new(None),
        }
    }
}

/// The side of the thread's conductor.
impl Board {
    /// Posts a new duty. All users leave what they do and look.
    pub fn post(&self, assignment: Assignment) {
        self.stage.set(self.stage.get() + 1);
        self.duty.set(assignment.duty);
        self.phase.set(assignment.phase);
        self.since_ns.set(assignment.since_ns);
        self.origin_ns
            .set(self.origin_ns.get().or(Some(assignment.since_ns)));
        self.active.set(assignment.active);
        if assignment.drains {
            self.drain.set(Some(Drain {
                stage: self.stage.get(),
                phase: assignment.phase,
                active: assignment.active,
            }));
        }
        self.allowance.set(assignment.allowance);
        self.room.set(assignment.room);
        self.finished.set(0);
        self.draining.set(false);
        self.idle.borrow_mut().clear();
        self.wake(0..usize::MAX);
    }

    /// Changes the number of users that take part. Only those look who come or go.
    pub fn set_active(&self, active: usize) {
        let before = self.active.replace(active);
        if let Some(drain) = self.drain.get()
            && drain.stage == self.stage.get()
        {
            self.drain.set(Some(Drain { active, ..drain }));
        }
        self.wake(before.min(active)..before.max(active));
    }

    /// Hands `arrival` to a free user, or queues it; false when the queue is full.
    pub fn hand(&self, arrival: Arrival) -> bool {
        if let Some(slot) = self.idle.borrow_mut().pop_front() {
            let slot = &mut self.slots.borrow_mut()[slot];
            slot.handed = Some(arrival);
            if let Some(waker) = &slot.waker {
                waker.wake_by_ref();
            }
            return true;
        }
        let mut queue = self.queue.borrow_mut();
        let fits = queue.len() < self.room.get();
        if fits {
            queue.push_back(arrival);
        }
        fits
    }

    /// Arrivals that wait.
    pub fn queued(&self) -> usize {
        self.queue.borrow().len()
    }

    /// Throws away the arrivals that wait; returns how many there were.
    pub fn discard(&self) -> u64 {
        self.queue.borrow_mut().drain(..).len() as u64
    }

    /// Users that take part and are there; when all are to leave, those that did.
    pub fn users(&self) -> usize {
        match self.duty.get() {
            Duty::Leave => self.active.get(),
            _ => self.active.get().min(self.seats.get()),
        }
    }

    /// Users that are there.
    pub fn seats(&self) -> usize {
        self.seats.get()
    }

    /// Slots that take part, whether or not their users are there.
    pub fn active(&self) -> usize {
        self.active.get()
    }

    /// Whether all users that take part have no more work.
    pub fn is_finished(&self) -> bool {
        self.finished.get() >= self.active.get()
    }

    /// Asks that the conductor be woken when the queue is empty.
    pub fn tell_when_empty(&self) {
        self.draining.set(true);
    }

    /// Asks that `waker` be woken when something changes that the conductor looks at.
    pub fn watch(&self, waker: &Waker) {
        self.conductor
            .borrow_mut()
            .get_or_insert_with(|| waker.clone())
            .clone_from(waker);
    }

    /// Wakes the users of those of `slots` that are there.
    fn wake(&self, slots: Range<usize>) {
        let all = self.slots.borrow();
        let there = slots.start.min(all.len())..slots.end.min(all.len());
        for slot in &all[there] {
            if let Some(waker) = &slot.waker {
                waker.wake_by_ref();
            }
        }
    }

    fn tell_conductor(&self) {
        if let Some(waker) = self.conductor.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }
}

/// The side of the users.
impl Board {
    /// Takes a seat.
    pub fn enter(&self, slot: usize) {
        let mut slots = self.slots.borrow_mut();
        if slots.len() <= slot {
            slots.resize_with(slot + 1, Slot::default);
        }
        self.seats.set(self.seats.get() + 1);
    }

    /// Gives the seat back.
    pub fn leave(&self) {
        self.seats.set(self.seats.get() - 1);
        self.tell_conductor();
    }

    /// The number of the assignment; it grows with each [`Board::post`].
    pub fn stage(&self) -> u64 {
        self.stage.get()
    }

    /// What is to be done.
    pub fn duty(&self) -> Duty {
        self.duty.get()
    }

    /// The phase that runs.
    pub fn phase(&self) -> PhaseIndex {
        self.phase.get()
    }

    /// When the phase began.
    pub fn since_ns(&self) -> u64 {
        self.since_ns.get()
    }

    /// When the first phase began.
    pub fn origin_ns(&self) -> u64 {
        self.origin_ns.get().unwrap_or(0)
    }

    /// Whether the user of `slot` takes part.
    pub fn is_active(&self, slot: usize) -> bool {
        slot < self.active.get()
    }

    /// The phase in which the user of `slot` was dismissed and is to say farewell, if it last took part
    /// in the stage `joined`.
    pub fn dismissed(&self, slot: usize, joined: u64) -> Option<PhaseIndex> {
        let drain = self.drain.get()?;
        (joined <= drain.stage && slot >= drain.active).then_some(drain.phase)
    }

    /// Asks for the permission to begin an operation of this phase.
    pub fn admit(&self) -> bool {
        match self.allowance.get() {
            u64::MAX => true,
            0 => false,
            left => {
                self.allowance.set(left - 1);
                true
            }
        }
    }

    /// Says that a user has no more work in this phase.
    pub fn finish(&self) {
        self.finished.set(self.finished.get() + 1);
        self.tell_conductor();
    }

    /// Asks to be woken when the assignment changes, the user of `slot` comes or goes, or an arrival is
    /// handed.
    pub fn listen(&self, slot: usize, context: &Context<'_>) {
        let waker = &mut self.slots.borrow_mut()[slot].waker;
        if !waker
            .as_ref()
            .is_some_and(|known| known.will_wake(context.waker()))
        {
            *waker = Some(context.waker().clone());
        }
    }

    /// Waits until `condition`, which depends on the assignment or on whether the user of `slot` takes
    /// part, is met.
    pub async fn until(&self, slot: usize, condition: impl Fn() -> bool) {
        poll_fn(|context| {
            if condition() {
                return Poll::Ready(());
            }
            self.listen(slot, context);
            Poll::Pending
        })
        .await;
    }

    /// Says that the user of `slot` is free.
    pub fn offer(&self, slot: usize) {
        self.idle.borrow_mut().push_back(slot);
    }

    /// The arrival that was handed to the user of `slot` while it was free.
    pub fn handed(&self, slot: usize) -> Option<Arrival> {
        self.slots.borrow_mut()[slot].handed.take()
    }

    /// The arrival that waits longest.
    pub fn next(&self) -> Option<Arrival> {
        let mut queue = self.queue.borrow_mut();
        let next = queue.pop_front();
        if self.draining.get() && queue.is_empty() {
            self.tell_conductor();
        }
        next
    }
}

/// Stops a loop when another assignment is posted.
#[derive(Debug)]
pub struct StageOver<'a> {
    board: &'a Board,
    slot: usize,
    stage: u64,
}

impl<'a> StageOver<'a> {
    /// For the user of `slot`, from the assignment that is posted now.
    pub fn new(board: &'a Board, slot: usize) -> Self {
        Self {
            board,
            slot,
            stage: board.stage(),
        }
    }
}

impl Stop for StageOver<'_> {
    fn requested(&self) -> bool {
        self.board.stage() != self.stage
    }

    async fn wait(&self) {
        self.board.until(self.slot, || self.requested()).await;
    }

    async fn wait_for_last(&self) {
        let leaving = || self.board.duty() == Duty::Leave;
        self.board.until(self.slot, leaving).await;
    }
}

#[cfg(test)]
mod tests;
