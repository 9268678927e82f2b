//! Gathers what the threads noted and writes it as frames.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::clock::{Epoch, resolution_ns, to_ns, to_s};
use crate::control::{DriverEvent, DriverEventKind, Leftovers};
use crate::frames::{
    Count, End, Event, Frame, FrameWriter, Hello, Operations, Tick, Total, Traces, by_name,
};
use crate::names::Names;
use crate::orders::Order;
use crate::phase_recorders::{Collected, PhaseIndex};
use crate::plan::{PROTOCOL_VERSION, Plan};
use crate::process::{self, Usage};
use crate::recorder::{Classes, Recorder, add};
use crate::session::{OperationId, Workload, WorkloadEvent};
use crate::traces::Kept;
use crate::worker::Worker;

/// Events of one kind that are reported between two ticks; the rest is counted.
const MOST_EVENTS: u64 = 100;
/// An empty tick shorter than this is left out.
const SHORTEST_NS: u64 = 1_000_000;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// All phases were run.
    Completed,
    /// It was stopped.
    Stopped,
    /// It could not go on.
    Failed(String),
}

/// What a workload says of itself while it runs; see [`Workload`].
#[allow(missing_docs)]
pub trait Meters {
    fn engine_cpu_s(&self) -> Option<f64>;
    fn counters(&self) -> Vec<(&'static str, u64)>;
    fn gauges(&self) -> Vec<(&'static str, f64)>;
}

impl<L: Workload> Meters for Arc<L> {
    fn engine_cpu_s(&self) -> Option<f64> {
        Workload::engine_cpu_s(&**self)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        Workload::counters(&**self)
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        Workload::gauges(&**self)
    }
}

/// What the threads say of this moment.
#[derive(Debug, Clone, Copy, Default)]
struct Gauges {
    users: u64,
    in_flight: u64,
    queued: u64,
}

/// What ended so far: how often well, and how often not, by class.
type Ended = (u64, Classes);

fn add_ended(total: &mut Ended, count: u64, errors: &Classes) {
    total.0 += count;
    add(&mut total.1, errors);
}

fn counted((count, errors): &Ended) -> Count<'_> {
    Count {
        count: *count,
        errors: by_name(errors),
    }
}

/// The requests below `operation` that ended; `None` if it has none at all.
fn requests_below<'t>(
    names: &Names,
    operation: OperationId,
    totals: &'t [Ended],
) -> Option<BTreeMap<&'t str, Count<'t>>> {
    names.has_requests(operation).then(|| {
        names
            .below(operation)
            .filter(|(id, _)| totals[*id] != Ended::default())
            .map(|(id, name)| (name, counted(&totals[id])))
            .collect()
    })
}

/// Reports frames.
pub struct Reporter<'a, W: Write> {
    plan: &'a Plan,
    names: Names,
    epoch: Epoch,
    collection: Receiver<Collected>,
    writer: FrameWriter<W>,
    broken: bool,
    phase: Option<PhaseIndex>,
    /// Whether the phase has ended and only its last operations are awaited.
    over: bool,
    arrivals_ended_ns: Option<u64>,
    seq: u64,
    from_ns: u64,
    next_tick_ns: u64,
    usage: Usage,
    meters: Box<dyn Meters>,
    engine_cpu_s: f64,
    /// The workload's own counts at the last tick.
    counted: Vec<(&'static str, u64)>,
    pending: BTreeMap<PhaseIndex, Recorder>,
    spares: Vec<Recorder>,
    totals: Vec<Ended>,
    request_totals: Vec<Ended>,
    /// Whole operations, by [`OperationId`].
    traces: Vec<Kept>,
    known: BTreeSet<DriverEventKind>,
    reported: BTreeMap<DriverEventKind, u64>,
}

impl<'a, W: Write> Reporter<'a, W> {
    /// Reports what `names` names, collecting from `collection`, to `output`.
    pub fn new(
        plan: &'a Plan,
        names: Names,
        epoch: Epoch,
        collection: Receiver<Collected>,
        meters: Box<dyn Meters>,
        output: W,
    ) -> Self {
        Self {
            plan,
            totals: vec![Ended::default(); names.operations.len()],
            request_totals: vec![Ended::default(); names.requests.len()],
            traces: vec![Kept::default(); names.operations.len()],
            names,
            epoch,
            collection,
            writer: FrameWriter::new(output),
            broken: false,
            phase: None,
            over: false,
            arrivals_ended_ns: None,
            seq: 0,
            from_ns: 0,
            next_tick_ns: u64::MAX,
            usage: process::usage(),
            counted: meters.counters(),
            meters,
            engine_cpu_s: 0.0,
            pending: BTreeMap::new(),
            spares: Vec::new(),
            known: BTreeSet::new(),
            reported: BTreeMap::new(),
        }
    }

    /// Whether nobody reads the frames any more.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// When the next tick is to be reported.
    pub fn next_tick_ns(&self) -> u64 {
        self.next_tick_ns
    }

    fn now_s(&self) -> f64 {
        to_s(self.epoch.now_ns())
    }

    /// Reports who speaks.
    pub fn hello(&mut self, nofile: u64, engine: Option<String>) {
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let frame = Frame::Hello(Hello {
            t_s: self.now_s(),
            version: PROTOCOL_VERSION,
            driver: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
            threads: self.plan.threads,
            workload: &self.plan.workload.name,
            operations: &self.names.operations,
            requests: self.names.requests_by_operation(),
            engine,
            monotonic_s: to_s(self.epoch.absolute_ns(0)),
            unix_time_s: since_1970.as_secs_f64(),
            nofile,
            clock_resolution_ns: resolution_ns(),
        });
        self.broken |= self.writer.write(&frame).is_err();
    }

    /// Reports an event.
    pub fn event(&mut self, kind: &str, detail: &str) {
        self.report(Event {
            kind,
            detail,
            ..Event::default()
        });
    }

    fn report(&mut self, event: Event<'_>) {
        let t_s = if event.t_s > 0.0 {
            event.t_s
        } else {
            self.now_s()
        };
        let frame = Frame::Event(Event { t_s, ..event });
        self.broken |= self.writer.write(&frame).is_err();
    }

    /// Reports what happened, unless there is too much of it.
    pub fn driver_event(&mut self, driver_event: &DriverEvent) {
        if let DriverEventKind::Error(class) = &driver_event.kind {
            // Each thread tells its first of a class; one is enough.
            if self.known.insert(driver_event.kind.clone()) {
                let class = Some(&*class.0);
                self.report(Event {
                    kind: "error",
                    class,
                    detail: &driver_event.detail,
                    ..Event::default()
                });
            }
            return;
        }
        let reported = self.reported.entry(driver_event.kind.clone()).or_default();
        *reported += 1;
        if *reported <= MOST_EVENTS {
            self.event(name(&driver_event.kind), &driver_event.detail);
        }
    }

    /// Reports an event of the workload.
    pub fn workload_event(&mut self, workload_event: &WorkloadEvent) {
        self.report(Event {
            kind: "workload",
            name: Some(workload_event.name),
            data: Some(&workload_event.data),
            detail: workload_event.name,
            ..Event::default()
        });
    }

    fn report_rest(&mut self) {
        for (kind, reported) in std::mem::take(&mut self.reported) {
            if reported > MOST_EVENTS {
                let detail = format!("{} more since the last tick", reported - MOST_EVENTS);
                self.event(name(&kind), &detail);
            }
        }
    }

    /// Reports the begin of a phase, and begins to report ticks.
    pub fn phase_begins(&mut self, phase: PhaseIndex, start_ns: u64) {
        self.phase = Some(phase);
        self.arrivals_ended_ns = None;
        self.from_ns = start_ns;
        self.next_tick_ns = start_ns + to_ns(self.plan.tick_s);
        self.report_phase("phase-begin", phase, start_ns, None);
    }

    /// Reports the tick that ends with the arrivals of a phase.
    pub fn arrivals_end(&mut self, workers: &[Worker]) {
        self.tick(workers);
        self.arrivals_ended_ns = Some(self.from_ns);
    }

    /// Reports the last tick of a phase and its end. What ends later is in late ticks.
    pub fn phase_ends(&mut self, workers: &[Worker], at_ns: u64, backlog: Leftovers) {
        self.report_tick(workers, at_ns);
        if let Some(phase) = self.phase {
            self.report_phase("phase-end", phase, at_ns, Some(backlog));
        }
    }

    fn report_phase(
        &mut self,
        kind: &str,
        phase: PhaseIndex,
        at_ns: u64,
        backlog: Option<Leftovers>,
    ) {
        let plan = &self.plan.phases[phase];
        let drain_ns = self
            .arrivals_ended_ns
            .map_or(0, |ended_ns| at_ns.saturating_sub(ended_ns));
        self.over = backlog.is_some();
        self.report(Event {
            t_s: to_s(at_ns),
            kind,
            phase: Some(&plan.name),
            phase_kind: Some(plan.kind),
            detail: &plan.name,
            drained: backlog.map(|backlog| backlog.drained),
            discarded: backlog.map(|backlog| backlog.discarded),
            drain_s: backlog.map(|_| to_s(drain_ns)),
            ..Event::default()
        });
    }

    /// Reports what was noted since the last tick.
    pub fn tick(&mut self, workers: &[Worker]) {
        self.report_tick(workers, self.epoch.now_ns());
    }

    /// Reports what was noted since the last tick; returns how many operations are in flight.
    pub fn last_tick(&mut self, workers: &[Worker]) -> u64 {
        self.report_tick(workers, self.epoch.now_ns()).in_flight
    }

    fn report_tick(&mut self, workers: &[Worker], to_ns: u64) -> Gauges {
        let gauges = self.collect(workers);
        let Some(current) = self.phase else {
            return gauges;
        };
        let pending = std::mem::take(&mut self.pending);
        // The phase that runs comes first, as it is the one that pays for the processor time.
        for (phase, mut recorder) in pending.into_iter().rev() {
            let late = self.over || phase != current;
            let nothing = recorder.is_empty() && !(self.over && self.has_counted());
            let spare = nothing && (late || to_ns < self.from_ns + SHORTEST_NS);
            if phase > current {
                // The phase that begins next; it is reported with its own ticks.
                self.pending.insert(phase, recorder);
                continue;
            }
            if !spare {
                self.report_recorder(phase, &recorder, late, to_ns, gauges);
            }
            recorder.reset();
            self.spares.push(recorder);
        }
        self.from_ns = to_ns;
        self.plan_next_tick(to_ns);
        self.report_rest();
        gauges
    }

    fn plan_next_tick(&mut self, now_ns: u64) {
        let tick_ns = to_ns(self.plan.tick_s);
        while self.next_tick_ns <= now_ns {
            self.next_tick_ns += tick_ns;
        }
    }

    /// Takes the recorders of all threads.
    fn collect(&mut self, workers: &[Worker]) -> Gauges {
        for worker in workers {
            let spare = self.spares.pop().unwrap_or_else(|| {
                Recorder::new(self.names.operations.len(), self.names.requests.len())
            });
            worker.order(Order::Collect(spare));
        }
        let mut gauges = Gauges::default();
        for _ in workers {
            let Ok(collected) = self.collection.recv() else {
                break;
            };
            gauges.users += collected.users;
            gauges.in_flight += collected.in_flight;
            gauges.queued += collected.queued;
            for (kept, part) in self.traces.iter_mut().zip(collected.traces) {
                kept.merge(part);
            }
            for (phase, mut recorder) in collected.recorders {
                if let Some(earlier) = self.pending.get_mut(&phase) {
                    earlier.merge(&recorder);
                    recorder.reset();
                    self.spares.push(recorder);
                } else {
                    self.pending.insert(phase, recorder);
                }
            }
        }
        gauges
    }

    /// Whether the workload has counted since the last tick.
    fn has_counted(&self) -> bool {
        self.meters.counters() != self.counted
    }

    /// What the workload has counted since the last tick.
    fn growth(&mut self) -> BTreeMap<&'static str, u64> {
        let now = self.meters.counters();
        let before = std::mem::replace(&mut self.counted, now);
        let pairs = self.counted.iter().zip(before);
        pairs
            .map(|((name, now), (_, before))| (*name, now - before))
            .collect()
    }

    fn report_recorder(
        &mut self,
        phase: PhaseIndex,
        recorder: &Recorder,
        late: bool,
        to_ns: u64,
        gauges: Gauges,
    ) {
        for (total, tally) in self.totals.iter_mut().zip(&recorder.operations) {
            add_ended(total, tally.count, &tally.errors);
        }
        for (total, tally) in self.request_totals.iter_mut().zip(&recorder.requests) {
            add_ended(total, tally.count, &tally.errors);
        }
        let before = std::mem::replace(&mut self.usage, process::usage());
        let engine_cpu_s = self.meters.engine_cpu_s();
        let engine_before_s =
            std::mem::replace(&mut self.engine_cpu_s, engine_cpu_s.unwrap_or(0.0));
        let counters = self.growth();
        let plan = &self.plan.phases[phase];
        let frame = Frame::Tick(Box::new(Tick {
            t_s: to_s(to_ns),
            seq: self.seq,
            phase: &plan.name,
            phase_kind: plan.kind,
            late,
            from_s: to_s(self.from_ns),
            to_s: to_s(to_ns),
            operations: Operations {
                names: &self.names,
                recorder,
            },
            lag: crate::frames::encode(&recorder.lag),
            late_starts: recorder.late_starts,
            dropped: recorder.dropped,
            due: recorder.due,
            users: gauges.users,
            in_flight: gauges.in_flight,
            queued: gauges.queued,
            reconnects: recorder.reconnects,
            cpu_user_s: self.usage.cpu_user_s - before.cpu_user_s,
            cpu_system_s: self.usage.cpu_system_s - before.cpu_system_s,
            engine_cpu_s: engine_cpu_s.map(|now_s| now_s - engine_before_s),
            rss_bytes: process::rss_bytes(),
            counters,
            gauges: self.meters.gauges().into_iter().collect(),
        }));
        self.broken |= self.writer.write(&frame).is_err();
        self.seq += 1;
    }

    /// Reports how it ended.
    pub fn end(&mut self, ending: &Ending, facts: Vec<(&'static str, f64)>) {
        let usage = process::usage();
        let (reason, error) = match ending {
            Ending::Completed => ("completed", None),
            Ending::Stopped => ("stopped", None),
            Ending::Failed(error) => ("failed", Some(error.as_str())),
        };
        let (names, request_totals) = (&self.names, &self.request_totals);
        let totals = self.totals.iter().enumerate().map(|(operation, total)| {
            let all = counted(total);
            let requests = requests_below(names, operation, request_totals);
            (names.operations[operation], Total { all, requests })
        });
        let kept = self.traces.iter().enumerate();
        let traces = kept.filter(|(_, kept)| !kept.is_empty());
        let traces = traces.map(|(operation, kept)| {
            let told = Traces::new(kept, names, &self.plan.phases);
            (names.operations[operation], told)
        });
        let frame = Frame::End(End {
            traces: traces.collect(),
            t_s: self.now_s(),
            reason,
            error,
            operations: totals.collect(),
            cpu_user_s: usage.cpu_user_s,
            cpu_system_s: usage.cpu_system_s,
            engine_cpu_s: self.meters.engine_cpu_s(),
            max_rss_bytes: process::max_rss_bytes(),
            facts: facts.into_iter().collect(),
        });
        self.broken |= self.writer.write(&frame).is_err();
    }
}

fn name(kind: &DriverEventKind) -> &'static str {
    match kind {
        DriverEventKind::ConnectionLost => "connection-lost",
        DriverEventKind::Reconnected => "reconnected",
        DriverEventKind::Error(_) => "error",
        DriverEventKind::Refused => "refused",
    }
}
