//! The story of one run, as the main thread conducts it.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::clock::{Epoch, to_ns};
use crate::control::{Control, Leftovers, Message, Standing};
use crate::drive::Manner;
use crate::names::Names;
use crate::orders::{Order, PhaseOrder, Work};
use crate::pacing::Pace;
use crate::phase_recorders::PhaseIndex;
use crate::plan::{self, Load, PhaseKind, Plan, Protocol, Range, Refusal, Start};
use crate::process;
use crate::reporter::{Ending, Reporter};
use crate::schedule::{ArrivalPlan, UserRamp};
use crate::session::{Failure, OperationId, Workload};
use crate::worker::{Equipment, Worker};

/// Longest time that a backlog is worked off at the end of a phase; the rest is thrown away.
const DRAIN_NS: u64 = 30_000_000_000;
/// How often it is told how many sessions are open, while they are opened.
const OPENING_NS: u64 = 5_000_000_000;
/// How often it is looked whether all users have gathered.
const GATHERING_NS: u64 = 20_000_000;
/// So often it may be told that no further session is open.
const OPENING_PATIENCE: u32 = 12;
/// How far ahead a new rate begins, so that all threads change over at the same moment.
const LEAD_NS: u64 = 5_000_000;

/// A phase that runs.
#[derive(Debug, Clone, Copy)]
struct Current {
    index: PhaseIndex,
    /// When it ends by its duration.
    end_ns: Option<u64>,
    /// The arrivals of an open phase, as they were planned last.
    arrivals: Option<ArrivalPlan>,
}

/// One run. Frames go to `W`.
pub struct Run<'a, L, W: Write> {
    plan: &'a Plan,
    workload: Arc<L>,
    /// Sessions that all threads have opened so far.
    opened: Arc<AtomicU32>,
    epoch: Epoch,
    inbox: Receiver<Message>,
    workers: Vec<Worker>,
    reporter: Reporter<'a, W>,
    nofile: u64,
    current: Option<Current>,
    standings: Vec<Standing>,
    /// Threads that have reported what is waited for.
    reports: usize,
    backlog: Leftovers,
    /// When the phase that is waited for is to begin.
    begin_ns: Option<u64>,
    /// Whether the begin of a phase is waited for.
    awaits_begin: bool,
    ending: Option<Ending>,
}

impl<'a, L: Workload, W: Write> Run<'a, L, W> {
    /// Starts the worker threads.
    ///
    /// # Errors
    /// A [`Refusal`] when the plan does not fit the workload.
    pub fn new(
        plan: &'a Plan,
        workload: L,
        epoch: Epoch,
        (outbox, inbox): (Sender<Message>, Receiver<Message>),
        output: W,
    ) -> Result<Self, Refusal> {
        let pace = Pace::new(&plan.pacing, workload.operations())?;
        let workload = Arc::new(workload);
        let (collected, collection) = channel();
        let opened = Arc::new(AtomicU32::new(0));
        let kinds: Arc<[PhaseKind]> = plan.phases.iter().map(|phase| phase.kind).collect();
        let start = |thread| {
            Worker::start(Equipment {
                thread,
                index: plan.thread_of_all(thread),
                threads: plan.threads_of_all(),
                workload: Arc::clone(&workload),
                seed: plan.seed,
                kinds: Arc::clone(&kinds),
                pace: pace.clone(),
                manner: Manner {
                    retry: plan.retry.into(),
                    delay_ns: to_ns(plan.delay_s),
                },
                epoch,
                opened: Arc::clone(&opened),
                outbox: outbox.clone(),
                collected: collected.clone(),
            })
        };
        let workers: Result<Vec<Worker>, _> = (0..plan.threads).map(start).collect();
        let workers =
            workers.map_err(|error| Refusal::new("threads", format!("cannot start: {error}")))?;
        let reporter = Reporter::new(
            plan,
            Names::of(&*workload),
            epoch,
            collection,
            Box::new(Arc::clone(&workload)),
            output,
        );
        Ok(Self {
            plan,
            workload,
            opened,
            epoch,
            inbox,
            standings: vec![Standing::Vacant; workers.len()],
            workers,
            reporter,
            nofile: process::raise_nofile(),
            current: None,
            reports: 0,
            backlog: Leftovers::default(),
            begin_ns: None,
            awaits_begin: false,
            ending: None,
        })
    }

    /// Runs the plan to its end.
    pub fn conduct(mut self) -> Ending {
        self.reporter.hello(self.nofile, self.workload.engine());
        self.open_sessions();
        self.await_begin();
        for index in 0..self.plan.phases.len() {
            if self.ending.is_some() {
                break;
            }
            // A phase that nobody was told of begins where the one before ends.
            let start_ns = self.begin_ns.take();
            self.begin(index, start_ns.unwrap_or_else(|| self.epoch.now_ns()));
            self.hold();
            self.gather(index);
            self.drain();
        }
        self.finish();
        let ending = self.ending.unwrap_or(Ending::Completed);
        self.reporter.end(&ending, self.workload.facts());
        ending
    }

    /// Opens the sessions of all phases, before the first begins.
    fn open_sessions(&mut self) {
        let sessions = self.plan.sessions();
        if let Err(problem) = self.check_files(sessions) {
            self.ending = Some(Ending::Failed(problem));
            return;
        }
        self.reports = 0;
        self.order(|| Order::Open(sessions));
        let (mut last, mut idle) = (0, 0);
        while self.await_more() {
            let opened = self.opened.load(Ordering::Relaxed);
            idle = if opened > last { 0 } else { idle + 1 };
            last = opened;
            self.reporter.event("opening", &self.opened_so_far());
            if idle >= OPENING_PATIENCE {
                let problem = "the server lets no more sessions in, and does not say why";
                self.ending = Some(Ending::Failed(problem.into()));
            }
        }
        if let Some(Ending::Failed(problem)) = &self.ending {
            let told = format!("{problem} ({})", self.opened_so_far());
            self.ending = Some(Ending::Failed(told));
        }
    }

    fn opened_so_far(&self) -> String {
        let sessions = self.plan.own(self.plan.sessions());
        let opened = self.opened.load(Ordering::Relaxed);
        format!("{opened} of {sessions} sessions are open")
    }

    /// Waits for the moment at which the next phase begins, if that is told: the first, and one that follows
    /// on a phase in which users gather. One that lies before it could begin is put off until then.
    fn await_begin(&mut self) {
        if self.plan.start == Start::Now || self.ending.is_some() {
            return;
        }
        let ready_ns = self.epoch.now_ns();
        let detail = match self.current {
            None => "the sessions are open",
            Some(_) => "the users have gathered",
        };
        self.awaits_begin = true;
        self.reporter.event("ready", detail);
        while self.ending.is_none() && self.begin_ns.is_none() {
            self.attend(None);
        }
        self.awaits_begin = false;
        self.begin_ns = self.begin_ns.map(|begin_ns| begin_ns.max(ready_ns));
        while self.ending.is_none() && self.attend(self.begin_ns) {}
    }

    /// Whether this process may open a connection for each of `sessions`.
    fn check_files(&self, sessions: u32) -> Result<(), String> {
        let sessions = self.plan.own(sessions);
        // A few are its own, and each thread has some for its timer and its reactor.
        let own = 16 + 4 * u64::from(self.plan.threads);
        let each = match self.plan.connection.protocol {
            Protocol::None => return Ok(()),
            // A user of HTTP may open more when it needs them: their number is not known here.
            Protocol::Http => 1,
            Protocol::Postgresql | Protocol::Mysql | Protocol::Files | Protocol::Nfs => 1,
            // The file, its log, and the journal or a temporary file.
            Protocol::Sqlite => 3,
        };
        let needed = u64::from(sessions) * each + own;
        if needed <= self.nofile {
            return Ok(());
        }
        Err(format!(
            "{sessions} sessions need {needed} open files, but the limit of this process is {}; \
             raise the hard limit (ulimit -Hn) or ask for fewer",
            self.nofile
        ))
    }

    /// Begins a phase; the one before ends at the same moment.
    fn begin(&mut self, index: PhaseIndex, start_ns: u64) {
        let phase = &self.plan.phases[index];
        let duration_ns = phase.duration_s.map(to_ns);
        let work = match phase.load {
            Load::Closed { users } => Work::Closed {
                ramp: UserRamp {
                    users,
                    start_ns,
                    duration_ns: duration_ns.unwrap_or(0),
                },
                iterations: phase.iterations,
            },
            Load::Open {
                rate_per_s,
                arrival,
                sessions,
                queue,
            } => Work::Open {
                arrivals: ArrivalPlan {
                    start_ns,
                    duration_ns,
                    rate_per_s,
                    arrival,
                    most: phase.iterations,
                    seed: self.plan.seed.wrapping_add((index as u64) << 32),
                },
                sessions,
                queue,
            },
        };
        self.order(|| {
            Order::Begin(PhaseOrder {
                phase: index,
                start_ns,
                work,
            })
        });
        self.close_phase(start_ns);
        let arrivals = match work {
            Work::Closed { .. } => None,
            Work::Open { arrivals, .. } => Some(arrivals),
        };
        let end_ns = duration_ns.map(|duration_ns| start_ns + duration_ns);
        self.current = Some(Current {
            index,
            end_ns,
            arrivals,
        });
        self.standings.fill(Standing::Working);
        self.reporter.phase_begins(index, start_ns);
    }

    /// Lets the phase run until its time is over, its work is done or the run is stopped.
    fn hold(&mut self) {
        let end_ns = self.current.and_then(|current| current.end_ns);
        while self.ending.is_none() && !self.is_done() && self.attend(end_ns) {}
    }

    /// Lets the phase last until each user has logged in and made a transaction, but no longer than the
    /// plan says. Where several processes make the load, all wait for the last.
    fn gather(&mut self, index: PhaseIndex) {
        let phase = &self.plan.phases[index];
        let Load::Closed { users } = phase.load else {
            return;
        };
        if phase.gather_s <= 0.0 || self.workload.gathered().is_none() {
            return;
        }
        let expected = u64::from(self.plan.own(users.to));
        let until_ns = self.epoch.now_ns() + to_ns(phase.gather_s);
        while self.ending.is_none()
            && self.workload.gathered() < Some(expected)
            && self.epoch.now_ns() < until_ns
        {
            self.attend(Some(until_ns.min(self.epoch.now_ns() + GATHERING_NS)));
        }
        self.await_begin();
    }

    fn is_done(&self) -> bool {
        let endless = self.current.is_some_and(|current| current.end_ns.is_none());
        // Without users here all the work of an endless phase is that of other processes.
        let elsewhere = endless && self.plan.process.of > 1;
        !self.standings.contains(&Standing::Working)
            && (elsewhere || self.standings.contains(&Standing::Done))
    }

    /// Works off or throws away what is due and not begun.
    fn drain(&mut self) {
        let Some(Current {
            index,
            arrivals: Some(_),
            ..
        }) = self.current
        else {
            return;
        };
        self.reporter.arrivals_end(&self.workers);
        let discard = self.plan.phases[index].backlog == plan::Backlog::Discard;
        let until_ns = self.epoch.now_ns() + DRAIN_NS;
        self.reports = 0;
        self.order(|| Order::EndArrivals);
        if !discard {
            while self.ending.is_none()
                && self.reports < self.workers.len()
                && self.attend(Some(until_ns))
            {}
        }
        if self.reports < self.workers.len() {
            self.order(|| Order::Discard);
        }
        while self.reports < self.workers.len() {
            self.attend(None);
        }
    }

    /// Tells the end of the phase that runs.
    fn close_phase(&mut self, at_ns: u64) {
        if self.current.is_some() {
            self.reporter
                .phase_ends(&self.workers, at_ns, std::mem::take(&mut self.backlog));
        }
    }

    /// Lets operations in flight finish and users leave.
    fn finish(&mut self) {
        let now_ns = self.epoch.now_ns();
        let until_ns = now_ns + to_ns(self.plan.finish_s);
        self.order(|| Order::Finish);
        self.close_phase(now_ns);
        self.current = None;
        self.reports = 0;
        while self.reports < self.workers.len() && self.attend(Some(until_ns)) {}
        let in_flight = self.reporter.last_tick(&self.workers);
        if in_flight > 0 {
            let detail = format!(
                "{in_flight} operations did not end within {} s and are not counted",
                self.plan.finish_s
            );
            self.reporter.event("stalled", &detail);
        }
    }

    fn order(&self, order: impl Fn() -> Order) {
        for worker in &self.workers {
            worker.order(order());
        }
    }

    /// Waits a while for reports; whether some are still missing.
    fn await_more(&mut self) -> bool {
        let until_ns = self.epoch.now_ns() + OPENING_NS;
        while self.is_awaited() && self.attend(Some(until_ns)) {}
        self.is_awaited()
    }

    fn is_awaited(&self) -> bool {
        self.ending.is_none() && self.reports < self.workers.len()
    }

    /// Waits for a message or the next tick and deals with it; false once `until_ns` is past.
    fn attend(&mut self, until_ns: Option<u64>) -> bool {
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

    fn tell_begin(&mut self, monotonic_s: f64) -> Result<(), String> {
        if self.plan.start == Start::Now {
            return Err("begin: the plan's start is \"now\"".into());
        }
        let too_late = self.current.is_some() && !self.awaits_begin;
        if too_late || self.begin_ns.is_some() {
            return Err("begin: it was told before".into());
        }
        self.begin_ns = Some(self.epoch.of_monotonic_s(monotonic_s));
        Ok(())
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
