//! What the loop needs of a protocol and of a workload: nothing more than this.

use std::future::Future;

use serde_json::{Map, Value};

use crate::leg::Leg;

/// Position of an operation in [`Workload::operations`].
pub type OperationId = usize;

/// How one attempt of an operation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It ended well.
    Done,
    /// It ended well; it counts as due and begun at `from_ns`, nanoseconds since the driver's start.
    DoneSince {
        /// From when its times are counted.
        from_ns: u64,
    },
    /// It ended well after an operation before it had failed to: it counts as due and begun at
    /// `from_ns`, nanoseconds since the driver's start, or when it was if that is earlier.
    DoneLate {
        /// When it was first begun.
        from_ns: u64,
    },
    /// It ended well, by a rollback that the workload asks for.
    RolledBack,
    /// There was nothing to do now: nothing is recorded.
    Idle,
    /// There is no more work for this session (loading); nothing was done.
    Exhausted,
    /// It failed.
    Failed(Failure),
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// SQLSTATE, or `connection`, or `protocol`, or SQLite's name of the error.
    pub class: ErrorClass,
    /// The server's words, for the first of each class that is reported.
    pub message: String,
}

/// Class of an error: five characters of an SQLSTATE or a short word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorClass(pub Box<str>);

impl ErrorClass {
    /// Serialization failures, deadlocks and locks that others keep: the same operation may succeed
    /// when tried again.
    pub fn is_retryable(&self) -> bool {
        matches!(
            &*self.0,
            "40001" | "40P01" | "sqlite_busy" | "sqlite_locked"
        )
    }

    /// The connection cannot be used any more.
    pub fn is_fatal(&self) -> bool {
        matches!(
            &*self.0,
            "connection"
                | "protocol"
                | "57P01"
                | "57P02"
                | "57P03"
                | "sqlite_ioerr"
                | "sqlite_corrupt"
        )
    }
}

/// Position of a request in [`Workload::requests`].
pub type RequestId = usize;

/// A request below an operation: a step of it that is counted and timed for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestName {
    /// The operation that makes it.
    pub operation: OperationId,
    /// Its name in figures; no other request of the operation has it.
    pub name: &'static str,
}

/// How a request ended. Times are nanoseconds since the driver's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestEnd {
    /// Which it was.
    pub request: RequestId,
    /// When it was begun.
    pub begun_ns: u64,
    /// When its last byte was read, or it failed.
    pub done_ns: u64,
    /// Whether it ended well; otherwise the class of its failure.
    pub outcome: Result<(), ErrorClass>,
    /// Why it was sent a second time, if it was.
    pub resent: Option<ErrorClass>,
    /// What else is counted of it.
    pub notes: RequestNotes,
    /// How it went by.
    pub course: Course,
}

/// What is counted of a request besides how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestNotes {
    /// Why it was tried again, once for each further try.
    pub retried: Vec<ErrorClass>,
    /// Marks that its answers may have, and whether this one has them; none where it failed.
    pub marks: Vec<(&'static str, bool)>,
}

/// How a request below an operation went by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Course {
    /// The step of the operation that it belongs to, from 1.
    pub step: u32,
    /// Its number among the requests that the step makes at the same time, from 1; `None` if it is alone.
    pub lane: Option<u32>,
    /// What was sent, in order, of all tries; none if it failed before.
    pub legs: Vec<Leg>,
}

/// An event of the workload's own.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadEvent {
    /// What happened, as `segment-switch`.
    pub name: &'static str,
    /// Numbers and texts, by name.
    pub data: Map<String, Value>,
}

/// When a closed user does what it has chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Haste {
    /// When its waits are over.
    #[default]
    Usual,
    /// As soon as the last operation has ended, whatever its waits are.
    AtOnce,
    /// When its waits are over, and not before this time has passed since the last operation ended.
    HoldsOff {
        /// Nanoseconds.
        ns: u64,
    },
}

/// One user's conversation with the target. Futures are not `Send`: a session stays on its thread.
pub trait Session {
    /// Draws what this user does next, with its inputs, which are kept for [`Session::execute`]
    /// and stay the same when it is tried again. Does no I/O.
    fn choose(&mut self) -> OperationId;

    /// Makes one attempt of the chosen operation.
    fn execute(&mut self, operation: OperationId) -> impl Future<Output = Outcome>;

    /// When a closed user does what was chosen.
    fn haste(&self) -> Haste {
        Haste::Usual
    }

    /// The requests of the last attempt, in any order; asked after each attempt, also a failed one.
    fn requests(&mut self) -> Vec<RequestEnd> {
        Vec::new()
    }

    /// What the user still does as it leaves in a phase of kind `drain`, if anything. Asked once, as
    /// it leaves; then executed like any operation.
    fn farewell(&mut self) -> Option<OperationId> {
        None
    }

    /// Its events since the last operation; asked after each.
    fn workload_events(&mut self) -> Vec<WorkloadEvent> {
        Vec::new()
    }

    /// Replaces a lost connection.
    fn reconnect(&mut self) -> impl Future<Output = Result<(), Failure>>;

    /// Says goodbye to the server.
    fn close(&mut self) -> impl Future<Output = ()>;
}

/// A workload's operations and how a session of it is opened.
/// One value serves all threads; what sessions share lies in it.
pub trait Workload: Send + Sync + 'static {
    /// The session it opens.
    type Session: Session;

    /// Names of the operations, by [`OperationId`].
    fn operations(&self) -> &[&'static str];

    /// The requests below the operations, by [`RequestId`]; none when operations are not told apart
    /// any further.
    fn requests(&self) -> &[RequestName] {
        &[]
    }

    /// Opens the session of user `user`; all it draws comes from `seed` and `user`.
    fn open(&self, user: u32, seed: u64) -> impl Future<Output = Result<Self::Session, Failure>>;

    /// Name and version of an engine within this process; `None` when it is a process of its own.
    fn engine(&self) -> Option<String> {
        None
    }

    /// Processor time, in seconds, that an engine within this process has used so far; `None` when the
    /// engine is a process of its own.
    fn engine_cpu_s(&self) -> Option<f64> {
        None
    }

    /// Counts of the workload's own since the driver's start, of all threads; ticks tell their growth.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Figures of the workload's own as they are now, for ticks.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Users who are logged in and have made a transaction since; `None` where users do not log in.
    fn gathered(&self) -> Option<u64> {
        None
    }

    /// Figures of the workload's own for the `end` frame (rows and bytes loaded).
    fn facts(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
