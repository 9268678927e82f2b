//! The story of one run, as the main thread conducts it.

mod messages;
mod waiting;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::clock::{Epoch, to_ns};
use crate::control::{Leftovers, Message, Standing};
use crate::drive::Manner;
use crate::names::Names;
use crate::orders::{Order, PhaseOrder, Work};
use crate::pacing::Pace;
use crate::phase_recorders::PhaseIndex;
use crate::plan::{self, Load, PhaseKind, Plan, Refusal};
use crate::process;
use crate::reporter::{Ending, Reporter};
use crate::schedule::{ArrivalPlan, UserRamp};
use crate::session::Workload;
use crate::worker::{Equipment, Worker};

/// Longest time that a backlog is worked off at the end of a phase; the rest is thrown away.
const DRAIN_NS: u64 = 30_000_000_000;

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
}
