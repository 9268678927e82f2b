//! A user on its way through the phases, by a clock that is set by hand: when it says farewell.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::channel;

use super::*;
use crate::recorder::Recorder;
use crate::retry::{BackOff, Retry};
use crate::session::{Failure, Outcome};
use crate::traces::Tracer;

const OPERATIONS: [&str; 2] = ["work", "log-out"];
const WORK: OperationId = 0;
const LOG_OUT: OperationId = 1;

/// Stands still until it is set.
#[derive(Default)]
struct HandClock(Cell<u64>);

impl Clock for HandClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    async fn sleep_until(&self, at_ns: u64) {
        poll_fn(|_| match self.now_ns() >= at_ns {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }
}

/// What a visitor did, and whether what it does takes for ever.
#[derive(Default)]
struct Account {
    did: RefCell<Vec<&'static str>>,
    is_held_up: Cell<bool>,
}

impl Account {
    fn note(&self, what: &'static str) {
        self.did.borrow_mut().push(what);
    }
}

/// A session that is logged in once it has worked.
struct Visitor {
    account: Rc<Account>,
    is_logged_in: bool,
}

impl Session for Visitor {
    fn choose(&mut self) -> OperationId {
        WORK
    }

    async fn execute(&mut self, operation: OperationId) -> Outcome {
        poll_fn(|_| match self.account.is_held_up.get() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        })
        .await;
        self.is_logged_in = operation == WORK;
        self.account.note(OPERATIONS[operation]);
        Outcome::Done
    }

    fn farewell(&mut self) -> Option<OperationId> {
        self.account.note("asked");
        self.is_logged_in.then_some(LOG_OUT)
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    async fn close(&mut self) {
        self.account.note("closed");
    }
}

/// One user, whose think time is 10 s.
struct Visit {
    shared: Rc<Shared<HandClock>>,
    account: Rc<Account>,
    life: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

impl Visit {
    /// In phase 1, of which the user is one of `active`.
    fn new(active: usize) -> Self {
        let waits = plan::Waits {
            think: Think::Constant { mean_s: 10.0 },
            ..plan::Waits::default()
        };
        let pacing = Pacing {
            operations: [("work".to_owned(), waits)].into(),
            ..Pacing::default()
        };
        let (base_ns, cap_ns) = (0, 0);
        let tracer = Tracer::new(OPERATIONS.len(), Arc::new([]), 1, 0);
        let shared = Rc::new(Shared {
            board: Board::default(),
            recorders: PhaseRecorders::new(OPERATIONS.len(), 0, tracer, channel().0),
            clock: HandClock::default(),
            pace: Pace::new(&pacing, &OPERATIONS).expect("a pace"),
            manner: Manner {
                retry: Retry {
                    max_attempts: 1,
                    back_off: BackOff { base_ns, cap_ns },
                },
                delay_ns: 0,
            },
        });
        let account = Rc::<Account>::default();
        let session = Visitor {
            account: Rc::clone(&account),
            is_logged_in: false,
        };
        let user = User::new(0, session, Random::new(1, 1));
        shared.board.enter(0);
        let life = live(user, 0, Rc::clone(&shared));
        let mut visit = Self {
            shared,
            account,
            life: Some(Box::pin(life)),
        };
        visit.post(1, active, false);
        assert_eq!(visit.look(), "");
        visit
    }

    /// A user who has worked once, at 10 s, and thinks until 20 s.
    fn begun() -> Self {
        let mut visit = Self::new(1);
        visit.at_s(10);
        assert_eq!(visit.look(), "work");
        assert_eq!(visit.ended(), [(1, 1, 0)]);
        visit
    }

    fn at_s(&self, seconds: u64) {
        self.shared.clock.0.set(seconds * SECOND_NS);
    }

    fn post(&self, phase: usize, active: usize, drains: bool) {
        self.shared.board.post(Assignment {
            phase,
            drains,
            ..assignment(Duty::Closed, active)
        });
    }

    fn finish(&self) {
        let (phase, active) = (self.shared.board.phase(), self.shared.board.active());
        self.shared.board.post(Assignment {
            phase,
            ..assignment(Duty::Leave, active)
        });
    }

    /// Lets the user do what it does now; says what that was.
    fn look(&mut self) -> String {
        // It gives way to others now and then.
        for _ in 0..8 {
            let mut context = Context::from_waker(Waker::noop());
            let life = self.life.as_mut();
            if life.is_some_and(|life| life.as_mut().poll(&mut context).is_ready()) {
                self.life = None;
            }
        }
        self.account.did.take().join(", ")
    }

    /// Operations that ended since the last time: their phase, and how many worked and logged out.
    fn ended(&self) -> Vec<(usize, u64, u64)> {
        let recorders = self.shared.recorders.take(Recorder::new(2, 0));
        let counts = recorders.into_iter().map(|(phase, recorder)| {
            let [work, log_out] = [WORK, LOG_OUT].map(|id| recorder.operations[id].count);
            (phase, work, log_out)
        });
        counts.filter(|(_, work, out)| work + out > 0).collect()
    }
}

#[test]
fn a_user_who_is_dismissed_while_it_thinks_says_farewell_at_once_and_once() {
    let mut visit = Visit::begun();
    visit.post(2, 1, true);
    visit.at_s(12);
    assert_eq!(visit.look(), "", "it still takes part");
    visit.shared.board.set_active(0);
    assert_eq!(visit.look(), "asked, log-out");
    assert_eq!(visit.ended(), [(2, 0, 1)]);
    visit.at_s(100);
    assert_eq!(visit.look(), "");
    visit.finish();
    assert_eq!(visit.look(), "closed");
}

#[test]
fn an_operation_in_flight_ends_before_the_farewell() {
    let mut visit = Visit::begun();
    visit.post(2, 1, true);
    visit.at_s(20);
    visit.account.is_held_up.set(true);
    assert_eq!(visit.look(), "");
    visit.shared.board.set_active(0);
    assert_eq!(visit.look(), "");
    visit.account.is_held_up.set(false);
    assert_eq!(visit.look(), "work, asked, log-out");
    assert_eq!(visit.ended(), [(2, 1, 1)]);
}

#[test]
fn a_farewell_is_due_when_the_user_is_dismissed() {
    let mut visit = Visit::begun();
    visit.post(2, 1, true);
    visit.at_s(12);
    visit.shared.board.set_active(0);
    visit.account.is_held_up.set(true);
    assert_eq!(visit.look(), "asked");
    assert_eq!(visit.shared.recorders.in_flight(), 1);
    visit.at_s(15);
    visit.account.is_held_up.set(false);
    assert_eq!(visit.look(), "log-out");
    let recorders = visit.shared.recorders.take(Recorder::new(2, 0));
    let (_, recorder) = recorders.iter().find(|(phase, _)| *phase == 2).expect("2");
    let tally = &recorder.operations[LOG_OUT];
    let about_3_s = (2_990_000_000..3_010_000_000).contains(&tally.response.max());
    assert!(about_3_s, "{}", tally.response.max());
    assert!(recorder.lag.is_empty());
}

#[test]
fn a_user_who_comes_again_begins_as_any_other_and_says_farewell_again() {
    let mut visit = Visit::begun();
    visit.post(2, 0, true);
    assert_eq!(visit.look(), "asked, log-out");
    visit.shared.board.set_active(1);
    assert_eq!(visit.look(), "", "what is left of a wait");
    visit.at_s(20);
    assert_eq!(visit.look(), "work");
    visit.shared.board.set_active(0);
    assert_eq!(visit.look(), "asked, log-out");
}

#[test]
fn who_is_dismissed_as_the_run_ends_still_says_farewell() {
    let mut visit = Visit::begun();
    visit.post(2, 1, true);
    visit.shared.board.set_active(0);
    visit.finish();
    assert_eq!(visit.look(), "asked, log-out, closed");
    assert_eq!(visit.ended(), [(2, 0, 1)]);
}

#[test]
fn who_left_before_the_drain_says_farewell_when_it_begins() {
    let mut visit = Visit::begun();
    visit.post(2, 0, false);
    assert_eq!(visit.look(), "", "no drain");
    visit.post(3, 0, true);
    assert_eq!(visit.look(), "asked, log-out");
    assert_eq!(visit.ended(), [(3, 0, 1)]);
}

#[test]
fn who_has_no_more_work_says_farewell_when_it_is_dismissed() {
    let mut visit = Visit::begun();
    visit.shared.board.post(Assignment {
        phase: 2,
        allowance: 0,
        drains: true,
        ..assignment(Duty::Closed, 1)
    });
    visit.at_s(20);
    assert_eq!(visit.look(), "");
    visit.shared.board.set_active(0);
    assert_eq!(visit.look(), "asked, log-out");
}

#[test]
fn without_a_drain_to_fewer_users_nobody_says_farewell() {
    for drains in [false, true] {
        let mut visit = Visit::begun();
        visit.post(2, 1, drains);
        visit.at_s(20);
        assert_eq!(visit.look(), "work");
        visit.finish();
        assert_eq!(visit.look(), "closed");
    }
    let mut visit = Visit::begun();
    visit.shared.board.set_active(0);
    visit.at_s(20);
    assert_eq!(visit.look(), "");
    visit.finish();
    assert_eq!(visit.look(), "closed");
}

#[test]
fn who_never_took_part_is_not_asked() {
    let mut visit = Visit::new(0);
    visit.post(2, 0, true);
    assert_eq!(visit.look(), "");
    visit.finish();
    assert_eq!(visit.look(), "closed");
}
