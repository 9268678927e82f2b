//! The loop with a mock clock: what it does, in which order, and what it notes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::*;
use crate::clock::MockClock;
use crate::session::{Course, ErrorClass, Haste, RequestNotes};

const SERVICE_NS: u64 = 100;

fn failure(class: &str) -> Failure {
    Failure {
        class: ErrorClass(class.into()),
        message: class.into(),
    }
}

/// A session that answers as it is told, each time after the same service time.
struct Scripted {
    clock: MockClock,
    outcomes: VecDeque<Outcome>,
    refusals: u32,
    log: Vec<String>,
}

impl Session for Scripted {
    fn choose(&mut self) -> OperationId {
        self.log.push("choose".into());
        0
    }

    async fn execute(&mut self, _operation: OperationId) -> Outcome {
        self.log.push(format!("execute at {}", self.clock.now_ns()));
        self.clock.advance(SERVICE_NS);
        self.outcomes.pop_front().unwrap_or(Outcome::Done)
    }

    fn requests(&mut self) -> Vec<RequestEnd> {
        let done_ns = self.clock.now_ns();
        vec![RequestEnd {
            request: 0,
            begun_ns: done_ns - SERVICE_NS,
            done_ns,
            outcome: Ok(()),
            resent: None,
            course: Course::default(),
            notes: RequestNotes::default(),
        }]
    }

    fn workload_events(&mut self) -> Vec<WorkloadEvent> {
        let name = "executed";
        vec![WorkloadEvent {
            name,
            data: serde_json::Map::new(),
        }]
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        self.log.push("reconnect".into());
        if self.refusals == 0 {
            return Ok(());
        }
        self.refusals -= 1;
        Err(failure("connection"))
    }

    async fn close(&mut self) {}
}

/// Operations are due at given times.
struct Timetable(VecDeque<u64>, MockClock);

impl Schedule for Timetable {
    async fn due(&mut self, _operation: OperationId, _haste: Haste) -> Option<Due> {
        let at_ns = self.0.pop_front()?;
        self.1.sleep_until(at_ns).await;
        Some(Due {
            phase: 0,
            at_ns,
            readiness: Readiness::Free,
            closed: false,
        })
    }

    fn done(&mut self, _operation: OperationId, _at_ns: u64) {}

    fn exhausted(&mut self) {}
}

#[derive(Default)]
struct Notes {
    workload_events: RefCell<Vec<&'static str>>,
    ended: RefCell<Vec<(Times, Outcome)>>,
    /// When requests were done.
    requests_ns: RefCell<Vec<u64>>,
    /// When those of the last attempt of each operation were done.
    last_ns: RefCell<Vec<Vec<u64>>>,
    retries: Cell<u32>,
    lost: Cell<u32>,
    not_restored: Cell<u32>,
    restored: Cell<u32>,
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

impl Record for Notes {
    fn begun(&self, _due: &Due, _sent_ns: u64) {}
    fn request_ended(&self, _due: &Due, end: &RequestEnd) {
        self.requests_ns.borrow_mut().push(end.done_ns);
    }
    fn retried(&self, _due: &Due, _operation: OperationId, _failure: &Failure) {
        count(&self.retries);
    }
    fn ended(
        &self,
        _due: &Due,
        _operation: OperationId,
        times: Times,
        outcome: &Outcome,
        requests: Vec<RequestEnd>,
    ) {
        self.ended.borrow_mut().push((times, outcome.clone()));
        let done_ns = requests.iter().map(|end| end.done_ns);
        self.last_ns.borrow_mut().push(done_ns.collect());
    }
    fn workload_event(&self, workload_event: WorkloadEvent) {
        self.workload_events.borrow_mut().push(workload_event.name);
    }
    fn lost(&self, _user: u32, _failure: &Failure) {
        count(&self.lost);
    }
    fn not_restored(&self, _failure: &Failure) {
        count(&self.not_restored);
    }
    fn restored(&self, _user: u32) {
        count(&self.restored);
    }
}

/// Stops at a time of the mock clock.
struct At(u64, MockClock);

impl Stop for At {
    fn requested(&self) -> bool {
        self.1.now_ns() >= self.0
    }

    async fn wait(&self) {
        if !self.requested() {
            std::future::pending::<()>().await;
        }
    }

    async fn wait_for_last(&self) {
        std::future::pending().await
    }
}

const NO_PAUSE: BackOff = BackOff {
    base_ns: 0,
    cap_ns: 0,
};

struct Played {
    user: User<Scripted>,
    notes: Notes,
    clock: MockClock,
}

fn play(due_ns: &[u64], outcomes: Vec<Outcome>, refusals: u32, stop_ns: u64) -> Played {
    play_delayed(due_ns, outcomes, refusals, stop_ns, 0)
}

fn play_delayed(
    due_ns: &[u64],
    outcomes: Vec<Outcome>,
    refusals: u32,
    stop_ns: u64,
    delay_ns: u64,
) -> Played {
    let clock = MockClock::default();
    let mut user = scripted(&clock, outcomes, refusals);
    let mut schedule = Timetable(due_ns.iter().copied().collect(), clock.clone());
    let notes = Notes::default();
    let stop = At(stop_ns, clock.clone());
    let manner = Manner {
        retry: Retry {
            max_attempts: 3,
            back_off: NO_PAUSE,
        },
        delay_ns,
    };
    block_on(drive(
        &mut user,
        &mut schedule,
        &notes,
        &clock,
        &stop,
        &manner,
    ));
    Played { user, notes, clock }
}

fn scripted(clock: &MockClock, outcomes: Vec<Outcome>, refusals: u32) -> User<Scripted> {
    let session = Scripted {
        clock: clock.clone(),
        outcomes: outcomes.into(),
        refusals,
        log: Vec::new(),
    };
    User::new(0, session, Random::new(1, 1))
}

fn block_on(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
        .block_on(future);
}

#[test]
fn an_operation_is_chosen_then_awaited_then_executed() {
    let played = play(&[1_000, 2_000], vec![], 0, u64::MAX);
    let log = [
        "choose",
        "execute at 1000",
        "choose",
        "execute at 2000",
        "choose",
    ];
    assert_eq!(played.user.session.log, log);
    let first = Times {
        intended_ns: 1_000,
        sent_ns: 1_000,
        done_ns: 1_100,
    };
    assert_eq!(played.notes.ended.borrow()[0], (first, Outcome::Done));
}

#[test]
fn a_planted_slowdown_is_part_of_the_service_time() {
    let played = play_delayed(
        &[0, 1_000],
        vec![Outcome::Done, Outcome::Idle],
        0,
        u64::MAX,
        50,
    );
    let ended = played.notes.ended.borrow();
    let service: Vec<u64> = ended
        .iter()
        .map(|(times, _)| times.done_ns - times.sent_ns)
        .collect();
    assert_eq!(service, [SERVICE_NS + 50, SERVICE_NS]);
}

#[test]
fn an_operation_that_is_due_while_another_runs_counts_from_when_it_was_due() {
    let played = play(&[0, 10, 20], vec![], 0, u64::MAX);
    let ended = played.notes.ended.borrow();
    let responses: Vec<u64> = ended
        .iter()
        .map(|(times, _)| times.done_ns - times.intended_ns)
        .collect();
    assert_eq!(responses, [100, 190, 280]);
    assert!(
        ended
            .iter()
            .all(|(times, _)| times.done_ns - times.sent_ns == SERVICE_NS)
    );
}

#[test]
fn what_may_succeed_is_tried_again_with_the_same_choice() {
    let outcomes = vec![
        Outcome::Failed(failure("40001")),
        Outcome::Failed(failure("40P01")),
    ];
    let played = play(&[0], outcomes, 0, u64::MAX);
    assert_eq!(played.notes.retries.get(), 2);
    let times = Times {
        intended_ns: 0,
        sent_ns: 0,
        done_ns: 3 * SERVICE_NS,
    };
    assert_eq!(*played.notes.ended.borrow(), [(times, Outcome::Done)]);
    let choices = played
        .user
        .session
        .log
        .iter()
        .filter(|line| *line == "choose")
        .count();
    assert_eq!(
        choices, 2,
        "one for the operation and one for that which never became due"
    );
}

#[test]
fn attempts_are_limited_and_the_last_failure_is_the_result() {
    let outcomes = vec![Outcome::Failed(failure("40001")); 5];
    let played = play(&[0], outcomes, 0, u64::MAX);
    assert_eq!(played.notes.retries.get(), 2);
    assert_eq!(
        played.notes.ended.borrow()[0].1,
        Outcome::Failed(failure("40001"))
    );
}

/// Five attempts, each 100 ns long, with pauses of at most 1, 2, 3 and 3 ms.
const PATIENT: Retry = Retry {
    max_attempts: 5,
    back_off: BackOff {
        base_ns: 1_000_000,
        cap_ns: 3_000_000,
    },
};

#[test]
fn pauses_between_attempts_come_from_the_seed_and_count_as_service_time() {
    let clock = MockClock::default();
    let mut user = scripted(&clock, vec![Outcome::Failed(failure("40001")); 4], 0);
    let mut random = user.random.clone();
    let (mut schedule, notes) = (Timetable([0].into(), clock.clone()), Notes::default());
    let stop = At(u64::MAX, clock.clone());
    block_on(drive(
        &mut user,
        &mut schedule,
        &notes,
        &clock,
        &stop,
        &Manner {
            retry: PATIENT,
            delay_ns: 0,
        },
    ));
    let pauses_ns: Vec<u64> = (1..=4)
        .map(|failures| PATIENT.pause_ns(failures, &mut random))
        .collect();
    let distinct: std::collections::BTreeSet<&u64> = pauses_ns.iter().collect();
    assert_eq!(distinct.len(), 4, "{pauses_ns:?}");
    let times = Times {
        intended_ns: 0,
        sent_ns: 0,
        done_ns: 5 * SERVICE_NS + pauses_ns.iter().sum::<u64>(),
    };
    assert_eq!(*notes.ended.borrow(), [(times, Outcome::Done)]);
}

/// A clock on which no wait ever ends.
struct Standstill;

impl Clock for Standstill {
    fn now_ns(&self) -> u64 {
        0
    }

    async fn sleep_until(&self, _at_ns: u64) {
        std::future::pending().await
    }
}

/// The whole run is ending, but this loop is still at an operation that it began before.
struct Ending;

impl Stop for Ending {
    fn requested(&self) -> bool {
        false
    }

    async fn wait(&self) {
        std::future::pending().await
    }

    async fn wait_for_last(&self) {}
}

#[test]
fn the_end_of_the_run_ends_the_pauses_and_the_operation_is_finished() {
    let clock = MockClock::default();
    let mut user = scripted(&clock, vec![Outcome::Failed(failure("40001")); 4], 0);
    let (mut schedule, notes) = (Timetable([0].into(), clock.clone()), Notes::default());
    block_on(drive(
        &mut user,
        &mut schedule,
        &notes,
        &Standstill,
        &Ending,
        &Manner {
            retry: PATIENT,
            delay_ns: 0,
        },
    ));
    assert_eq!(notes.retries.get(), 4);
    assert_eq!(notes.ended.borrow()[0].1, Outcome::Done);
}

#[test]
fn other_failures_are_not_tried_again() {
    let played = play(&[0], vec![Outcome::Failed(failure("23505"))], 0, u64::MAX);
    assert_eq!(
        (played.notes.retries.get(), played.notes.lost.get()),
        (0, 0)
    );
    assert_eq!(
        played.notes.ended.borrow()[0].1,
        Outcome::Failed(failure("23505"))
    );
}

#[test]
fn a_lost_connection_is_replaced_ever_more_slowly() {
    let outcomes = vec![Outcome::Failed(failure("connection"))];
    let played = play(&[0, 0], outcomes, 3, u64::MAX);
    assert_eq!(played.notes.lost.get(), 1);
    assert_eq!(
        (played.notes.not_restored.get(), played.notes.restored.get()),
        (3, 1)
    );
    // At once, then after about 50, 100 and 200 ms; each by half too short or too long.
    let waited_ns = played.clock.now_ns() - 2 * SERVICE_NS;
    assert!(
        (175_000_000..525_000_000).contains(&waited_ns),
        "{waited_ns}"
    );
    let (times, outcome) = played.notes.ended.borrow()[1].clone();
    assert_eq!(outcome, Outcome::Done);
    assert_eq!(times.intended_ns, 0, "the outage is in the response time");
    assert!(times.sent_ns >= waited_ns);
}

#[test]
fn connections_that_break_at_once_again_do_not_make_a_hot_loop() {
    let outcomes = vec![Outcome::Failed(failure("57P01")); 8];
    let played = play(&[0; 8], outcomes, 0, u64::MAX);
    assert_eq!(played.notes.lost.get(), 8);
    let least_ns: u64 = (0..6).map(|attempt| 25_000_000 << attempt).sum();
    assert!(played.clock.now_ns() >= least_ns);
}

#[test]
fn a_stop_ends_the_back_off_and_the_user_stays_lost() {
    let outcomes = vec![Outcome::Failed(failure("connection"))];
    let played = play(&[0, 0], outcomes, u32::MAX, 1_000_000_000);
    assert!(played.user.lost);
    assert_eq!(played.notes.ended.borrow().len(), 1);
    assert!(played.clock.now_ns() < 10_000_000_000);
}

#[test]
fn no_operation_begins_after_the_stop() {
    let played = play(&[0, 0, 0, 0], vec![], 0, 150);
    assert_eq!(played.notes.ended.borrow().len(), 2);
}

#[test]
fn a_session_without_work_ends_the_loop() {
    let played = play(
        &[0, 0, 0],
        vec![Outcome::Done, Outcome::Exhausted],
        0,
        u64::MAX,
    );
    assert_eq!(played.notes.ended.borrow().len(), 2);
    assert_eq!(played.clock.now_ns(), 2 * SERVICE_NS);
}

#[test]
fn the_requests_of_each_attempt_are_recorded_and_those_of_the_last_kept_together() {
    let outcomes = vec![
        Outcome::Failed(failure("40001")),
        Outcome::Done,
        Outcome::Failed(failure("check")),
    ];
    let played = play(&[0, 1_000], outcomes, 0, u64::MAX);
    let requests_ns = played.notes.requests_ns.borrow();
    assert_eq!(*requests_ns, [100, 200, 1_100]);
    let last_ns = played.notes.last_ns.borrow();
    assert_eq!(
        *last_ns,
        [[200], [1_100]],
        "of each operation those of its last attempt"
    );
}

#[test]
fn the_events_of_a_session_are_recorded_after_each_operation() {
    let played = play(&[10, 200], vec![Outcome::Done, Outcome::Idle], 0, u64::MAX);
    assert_eq!(
        *played.notes.workload_events.borrow(),
        ["executed", "executed"]
    );
}
