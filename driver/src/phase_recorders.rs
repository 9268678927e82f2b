//! The recorders of one thread: that of the phase that runs, and those of phases whose last
//! operations are still in flight.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::mpsc::Sender;

use crate::control::{DriverEvent, DriverEventKind, Message};
use crate::drive::{Due, Readiness, Record};
use crate::recorder::{Recorder, Times};
use crate::session::{ErrorClass, Failure, OperationId, Outcome, RequestEnd, WorkloadEvent};
use crate::traces::{Ended, Kept, Tracer};

/// Position of a phase in the plan.
pub type PhaseIndex = usize;

/// What a thread hands over when it is collected.
#[derive(Debug)]
pub struct Collected {
    /// What was noted since the last time, by phase.
    pub recorders: Vec<(PhaseIndex, Recorder)>,
    /// Users or sessions that take part.
    pub users: u64,
    /// Operations begun and not ended.
    pub in_flight: u64,
    /// Arrivals that wait for a session.
    pub queued: u64,
    /// Whole operations, by [`OperationId`]; none before the end of the run.
    pub traces: Vec<Kept>,
}

/// The recorders of one thread.
#[derive(Debug)]
pub struct PhaseRecorders {
    operations: usize,
    requests: usize,
    phase: Cell<PhaseIndex>,
    current: RefCell<Recorder>,
    late: RefCell<Vec<(PhaseIndex, Recorder)>>,
    in_flight: Cell<u64>,
    known: RefCell<BTreeSet<ErrorClass>>,
    /// The phase in which the operation was due that failed last.
    failed: Cell<Option<PhaseIndex>>,
    tracer: RefCell<Tracer>,
    outbox: Sender<Message>,
}

impl PhaseRecorders {
    /// Empty recorders for `operations` operations and `requests` requests below them; `tracer` keeps whole
    /// operations, and events go to `outbox`.
    pub fn new(
        operations: usize,
        requests: usize,
        tracer: Tracer,
        outbox: Sender<Message>,
    ) -> Self {
        Self {
            operations,
            requests,
            phase: Cell::new(0),
            current: RefCell::new(Recorder::new(operations, requests)),
            late: RefCell::default(),
            in_flight: Cell::new(0),
            known: RefCell::default(),
            failed: Cell::new(None),
            tracer: RefCell::new(tracer),
            outbox,
        }
    }

    fn fresh(&self) -> Recorder {
        Recorder::new(self.operations, self.requests)
    }

    /// Turns to the recorder of `phase`; that of the phase before waits to be taken.
    pub fn turn(&self, phase: PhaseIndex) {
        let before = self.phase.replace(phase);
        if before != phase {
            let full = self.current.replace(self.fresh());
            self.late.borrow_mut().push((before, full));
        }
    }

    /// Takes what was noted, and goes on with `spare`, which is empty.
    pub fn take(&self, spare: Recorder) -> Vec<(PhaseIndex, Recorder)> {
        let mut recorders = vec![(self.phase.get(), self.current.replace(spare))];
        recorders.append(&mut self.late.borrow_mut());
        recorders
    }

    /// Takes the whole operations that were kept, by [`OperationId`].
    pub fn take_traces(&self) -> Vec<Kept> {
        self.tracer.borrow_mut().take()
    }

    /// Operations begun and not ended.
    pub fn in_flight(&self) -> u64 {
        self.in_flight.get()
    }

    /// Notes that an arrival became due, and whether it was dropped.
    pub fn arrived(&self, dropped: bool) {
        let mut current = self.current.borrow_mut();
        current.due += 1;
        current.dropped += u64::from(dropped);
    }

    fn with(&self, phase: PhaseIndex, note: impl FnOnce(&mut Recorder)) {
        if phase == self.phase.get() {
            return note(&mut self.current.borrow_mut());
        }
        let mut late = self.late.borrow_mut();
        if let Some((_, recorder)) = late.iter_mut().find(|(of, _)| *of == phase) {
            return note(recorder);
        }
        let mut recorder = self.fresh();
        note(&mut recorder);
        late.push((phase, recorder));
    }

    fn send(&self, message: Message) {
        // The other side is gone only when the process ends.
        let _ = self.outbox.send(message);
    }

    fn report(&self, kind: DriverEventKind, detail: String) {
        self.send(Message::DriverEvent(DriverEvent { kind, detail }));
    }

    /// Tells the first failure of each class.
    fn tell_first(&self, failure: &Failure) {
        if self.known.borrow_mut().insert(failure.class.clone()) {
            let kind = DriverEventKind::Error(failure.class.clone());
            self.report(kind, failure.message.clone());
        }
    }
}

impl Record for PhaseRecorders {
    fn begun(&self, due: &Due, sent_ns: u64) {
        self.in_flight.set(self.in_flight.get() + 1);
        match due.readiness {
            Readiness::Unpaced => {}
            Readiness::Free => {
                let lag_ns = sent_ns.saturating_sub(due.at_ns);
                self.with(due.phase, |recorder| recorder.lagged(lag_ns));
            }
            Readiness::Busy { lag_ns } => self.with(due.phase, |recorder| {
                recorder.late_starts += 1;
                if let Some(lag_ns) = lag_ns {
                    recorder.lagged(lag_ns);
                }
            }),
        }
    }

    fn request_ended(&self, due: &Due, end: &RequestEnd) {
        self.with(due.phase, |recorder| recorder.request_ended(end));
    }

    fn retried(&self, due: &Due, operation: OperationId, failure: &Failure) {
        self.tell_first(failure);
        self.with(due.phase, |recorder| {
            recorder.retried(operation, &failure.class)
        });
    }

    fn ended(
        &self,
        due: &Due,
        operation: OperationId,
        times: Times,
        outcome: &Outcome,
        requests: Vec<RequestEnd>,
    ) {
        self.in_flight.set(self.in_flight.get() - 1);
        let was_work = !matches!(outcome, Outcome::Exhausted | Outcome::Idle);
        self.with(due.phase, |recorder| {
            recorder.due += u64::from(due.closed && was_work);
            recorder.ended(operation, times, outcome);
        });
        if was_work {
            let ended = Ended {
                phase: due.phase,
                times: times.as_counted(outcome),
                error: match outcome {
                    Outcome::Failed(failure) => Some(&failure.class),
                    _ => None,
                },
            };
            self.tracer.borrow_mut().ended(operation, &ended, requests);
        }
        if let Outcome::Failed(failure) = outcome {
            self.tell_first(failure);
            if self.failed.replace(Some(due.phase)) != Some(due.phase) {
                self.send(Message::Failed {
                    phase: due.phase,
                    operation,
                    failure: failure.clone(),
                });
            }
        }
    }

    fn workload_event(&self, workload_event: WorkloadEvent) {
        self.send(Message::WorkloadEvent(workload_event));
    }

    fn lost(&self, user: u32, failure: &Failure) {
        self.report(
            DriverEventKind::ConnectionLost,
            format!("user {user}: {}", failure.message),
        );
    }

    fn not_restored(&self, failure: &Failure) {
        self.tell_first(failure);
    }

    fn restored(&self, user: u32) {
        self.current.borrow_mut().reconnects += 1;
        self.report(DriverEventKind::Reconnected, format!("user {user}"));
    }
}
