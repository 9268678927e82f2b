//! The one loop: what a user does, whatever the schedule, the protocol and the workload.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use crate::clock::Clock;
use crate::phase_recorders::PhaseIndex;
use crate::race::unless;
use crate::random::Random;
use crate::recorder::Times;
use crate::retry::{BackOff, Retry};
use crate::session::{Failure, Haste, OperationId, Outcome, RequestEnd, Session, WorkloadEvent};

/// A user whose operations end without ever waiting gives way to others after this time.
const SLICE_NS: u64 = 50_000;
/// The waits before a lost connection is tried again, give or take a half.
const RECONNECT: BackOff = BackOff {
    base_ns: 50_000_000,
    cap_ns: 5_000_000_000,
};

/// An operation that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The phase in which it became due.
    pub phase: PhaseIndex,
    /// When it was due.
    pub at_ns: u64,
    /// Whether someone was free to begin it then.
    pub readiness: Readiness,
    /// Whether it is due because a closed user is ready for it, not because it arrived.
    pub closed: bool,
}

/// Whether a session or user was free when an operation became due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It is due because its user is free: there is no lateness to speak of.
    Unpaced,
    /// It was: all lateness is the generator's.
    Free,
    /// It was not: a late start.
    Busy {
        /// The part of the lateness that is the generator's own, where it is known.
        lag_ns: Option<u64>,
    },
}

/// When operations are due.
pub trait Schedule {
    /// Waits until `operation` is due; `None` when there is no more to do for this user. `haste` is of
    /// account where it is due because a closed user is ready for it.
    fn due(&mut self, operation: OperationId, haste: Haste) -> impl Future<Output = Option<Due>>;

    /// Takes note that `operation` ended at `at_ns`.
    fn done(&mut self, operation: OperationId, at_ns: u64);

    /// Takes note that the session has no more work.
    fn exhausted(&mut self);
}

/// Where the loop notes what happens.
pub trait Record {
    /// An operation was begun.
    fn begun(&self, due: &Due, sent_ns: u64);
    /// A request of an attempt ended.
    fn request_ended(&self, due: &Due, end: &RequestEnd);
    /// An attempt failed and the operation is tried again.
    fn retried(&self, due: &Due, operation: OperationId, failure: &Failure);
    /// An operation ended, after all its attempts; `requests` are those of the last one.
    fn ended(
        &self,
        due: &Due,
        operation: OperationId,
        times: Times,
        outcome: &Outcome,
        requests: Vec<RequestEnd>,
    );
    /// A session had an event of the workload's own.
    fn workload_event(&self, workload_event: WorkloadEvent);
    /// The connection of `user` is lost.
    fn lost(&self, user: u32, failure: &Failure);
    /// An attempt to replace a connection failed.
    fn not_restored(&self, failure: &Failure);
    /// The connection of `user` was replaced.
    fn restored(&self, user: u32);
}

/// Why a loop should end.
pub trait Stop {
    /// Whether it should.
    fn requested(&self) -> bool;
    /// Waits until it should.
    fn wait(&self) -> impl Future<Output = ()>;

    /// Waits until the whole run should end. An operation that was begun before the loop should end
    /// keeps its pauses between attempts until then.
    fn wait_for_last(&self) -> impl Future<Output = ()>;
}

/// How operations are made, whatever they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// How they are tried again.
    pub retry: Retry,
    /// By which each takes longer than it would: a planted slowdown.
    pub delay_ns: u64,
}

/// A session and what its user keeps from one phase to the next.
#[derive(Debug)]
pub struct User<S> {
    /// Its number in the run.
    pub number: u32,
    /// Its conversation.
    pub session: S,
    /// Its own random numbers, for the pauses between attempts.
    pub random: Random,
    /// The operation that was chosen and not begun.
    chosen: Option<OperationId>,
    /// Whether the connection is lost.
    lost: bool,
    /// Fatal failures since the last operation that ended well.
    failures: u32,
}

impl<S: Session> User<S> {
    /// User `number` with its open session.
    pub fn new(number: u32, session: S, random: Random) -> Self {
        Self {
            number,
            session,
            random,
            chosen: None,
            lost: false,
            failures: 0,
        }
    }

    fn choose(&mut self) -> OperationId {
        *self.chosen.get_or_insert_with(|| self.session.choose())
    }
}

/// Makes the operations of `user` as `schedule` says, until `stop` or the end of its work.
pub async fn drive<S: Session>(
    user: &mut User<S>,
    schedule: &mut impl Schedule,
    recorder: &impl Record,
    clock: &impl Clock,
    stop: &impl Stop,
    manner: &Manner,
) {
    let mut slice_ns = clock.now_ns();
    while !stop.requested() {
        if user.lost && !restore(user, recorder, clock, stop).await {
            return;
        }
        let operation = user.choose();
        let haste = user.session.haste();
        let Some(Some(due)) = unless(stop.wait(), schedule.due(operation, haste)).await else {
            return;
        };
        user.chosen = None;

        let made = make(user, operation, &due, recorder, clock, stop, manner).await;
        schedule.done(operation, made.done_ns);
        if made.exhausted {
            return schedule.exhausted();
        }

        if made.waited {
            slice_ns = made.done_ns;
        } else if made.done_ns.saturating_sub(slice_ns) >= SLICE_NS {
            tokio::task::yield_now().await;
            slice_ns = clock.now_ns();
        }
    }
}

/// Makes what `user` still does as it leaves in `phase`, if there is anything: an operation that is
/// due now.
pub async fn say_farewell<S: Session>(
    user: &mut User<S>,
    phase: PhaseIndex,
    recorder: &impl Record,
    clock: &impl Clock,
    stop: &impl Stop,
    manner: &Manner,
) {
    let Some(operation) = user.session.farewell() else {
        return;
    };
    // What it would have done next was chosen by a user who stays.
    user.chosen = None;
    let due = Due {
        phase,
        at_ns: clock.now_ns(),
        readiness: Readiness::Unpaced,
        closed: true,
    };
    make(user, operation, &due, recorder, clock, stop, manner).await;
}

/// How an operation was made.
struct Made {
    done_ns: u64,
    /// Whether it ever had to wait.
    waited: bool,
    /// Whether the session has no more work.
    exhausted: bool,
}

/// Makes an operation that is due, and notes how it went.
async fn make<S: Session>(
    user: &mut User<S>,
    operation: OperationId,
    due: &Due,
    recorder: &impl Record,
    clock: &impl Clock,
    stop: &impl Stop,
    manner: &Manner,
) -> Made {
    let sent_ns = clock.now_ns();
    recorder.begun(due, sent_ns);
    let ((outcome, requests), mut waited) = {
        let retry = &manner.retry;
        let persistence = pin!(persist(user, operation, due, recorder, clock, stop, retry));
        let noting = NotingWaits {
            future: persistence,
            waited: false,
        };
        noting.await
    };
    if manner.delay_ns > 0 && ended_well(&outcome) {
        let over = clock.sleep_until(clock.now_ns() + manner.delay_ns);
        unless(stop.wait_for_last(), over).await;
        waited = true;
    }
    let done_ns = clock.now_ns();
    let times = Times {
        intended_ns: due.at_ns,
        sent_ns,
        done_ns,
    };
    recorder.ended(due, operation, times, &outcome, requests);
    for workload_event in user.session.workload_events() {
        recorder.workload_event(workload_event);
    }
    settle(user, recorder, &outcome);
    Made {
        done_ns,
        waited,
        exhausted: outcome == Outcome::Exhausted,
    }
}

/// Attempts `operation` until it ends well, fails for good or was tried often enough. Gives the outcome and the
/// requests of the last attempt.
async fn persist<S: Session>(
    user: &mut User<S>,
    operation: OperationId,
    due: &Due,
    recorder: &impl Record,
    clock: &impl Clock,
    stop: &impl Stop,
    retry: &Retry,
) -> (Outcome, Vec<RequestEnd>) {
    let mut failures = 0;
    loop {
        let outcome = user.session.execute(operation).await;
        let requests = user.session.requests();
        for end in &requests {
            recorder.request_ended(due, end);
        }
        match outcome {
            Outcome::Failed(failure)
                if failure.class.is_retryable() && failures + 1 < retry.max_attempts =>
            {
                failures += 1;
                drop(requests);
                recorder.retried(due, operation, &failure);
                let pause_ns = retry.pause_ns(failures, &mut user.random);
                if pause_ns > 0 {
                    let over = clock.sleep_until(clock.now_ns() + pause_ns);
                    unless(stop.wait_for_last(), over).await;
                }
            }
            outcome => return (outcome, requests),
        }
    }
}

fn ended_well(outcome: &Outcome) -> bool {
    !matches!(
        outcome,
        Outcome::Idle | Outcome::Exhausted | Outcome::Failed(_)
    )
}

/// What a future gives, and whether it ever had to wait. It is pinned by the caller: a future that is
/// handed over by value has room kept for it twice, and every user keeps it for good.
struct NotingWaits<'a, F> {
    future: Pin<&'a mut F>,
    waited: bool,
}

impl<F: Future> Future for NotingWaits<'_, F> {
    type Output = (F::Output, bool);

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let poll = self.future.as_mut().poll(context);
        self.waited |= poll.is_pending();
        let waited = self.waited;
        poll.map(|value| (value, waited))
    }
}

fn settle<S>(user: &mut User<S>, recorder: &impl Record, outcome: &Outcome) {
    match outcome {
        Outcome::Done
        | Outcome::DoneSince { .. }
        | Outcome::DoneLate { .. }
        | Outcome::RolledBack
        | Outcome::Idle => {
            user.failures = 0;
        }
        Outcome::Failed(failure) if failure.class.is_fatal() => {
            recorder.lost(user.number, failure);
            user.lost = true;
        }
        Outcome::Failed(_) | Outcome::Exhausted => {}
    }
}

/// Replaces a lost connection, ever more slowly; false when it was stopped before it succeeded.
async fn restore<S: Session>(
    user: &mut User<S>,
    recorder: &impl Record,
    clock: &impl Clock,
    stop: &impl Stop,
) -> bool {
    while !stop.requested() {
        if user.failures > 0 {
            let wait_ns = RECONNECT.limit_ns(user.failures) as f64;
            // Users that were lost together must not come back together.
            let at_ns = clock.now_ns() + (wait_ns * (0.5 + user.random.unit())) as u64;
            if unless(stop.wait(), clock.sleep_until(at_ns))
                .await
                .is_none()
            {
                return false;
            }
        }
        user.failures += 1;
        match unless(stop.wait(), user.session.reconnect()).await {
            None => return false,
            Some(Err(failure)) => recorder.not_restored(&failure),
            Some(Ok(())) => {
                user.lost = false;
                recorder.restored(user.number);
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests;
