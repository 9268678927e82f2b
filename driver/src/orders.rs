//! What worker threads are told.

use crate::phase_recorders::PhaseIndex;
use crate::recorder::Recorder;
use crate::schedule::{ArrivalPlan, UserRamp};

/// What a worker thread is told.
#[derive(Debug)]
pub enum Order {
    /// Open the sessions of this many users of all threads together, and say when it is done.
    Open(u32),
    /// Begin a phase.
    Begin(PhaseOrder),
    /// No more arrivals; say when the backlog is gone.
    EndArrivals,
    /// Throw the backlog away.
    Discard,
    /// Other arrivals from their begin on.
    Arrivals(ArrivalPlan),
    /// Another number of users of all threads together.
    Users(u32),
    /// Hand over what was noted, and go on with the empty recorder.
    Collect(Recorder),
    /// Let all users leave, and say when they are gone.
    Finish,
}

/// A phase, as a thread must know it. All numbers are those of all threads together.
#[derive(Debug, Clone, Copy)]
pub struct PhaseOrder {
    /// Its position in the plan.
    pub phase: PhaseIndex,
    /// Its begin, in nanoseconds since the driver's start.
    pub start_ns: u64,
    /// How operations arrive.
    pub work: Work,
}

/// How operations arrive in a phase.
#[derive(Debug, Clone, Copy)]
pub enum Work {
    /// Closed users.
    Closed {
        /// Their number.
        ramp: UserRamp,
        /// Operations that may begin.
        iterations: Option<u64>,
    },
    /// Arrivals by a clock.
    Open {
        /// When they come.
        arrivals: ArrivalPlan,
        /// Sessions that serve them.
        sessions: u32,
        /// How many may wait.
        queue: u32,
    },
}
