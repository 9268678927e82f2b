//! The workload, and the user of each role.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use super::closer::Closer;
use super::engine::{Engine, Link};
use super::keeper::Keeper;
use super::operator::Operator;
use super::parameters::{Kind, OPERATIONS, Parameters, Path, Role};
use super::replay::Replay;
use super::station::Station;
use super::station_buffer::{SharedBuffer, Totals};
use crate::acknowledgements::{Acknowledgements, Acknowledger};
use crate::clock::Epoch;
use crate::parameters::refuse;
use crate::plan::Refusal;
use crate::session::{Failure, Haste, OperationId, Outcome, Session, Workload, WorkloadEvent};
use crate::timer::Timer;

/// An event that was just acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// The data point.
    pub element: i32,
    /// EventSource time, in microseconds since 1970.
    pub ts_us: i64,
    /// Number at its station.
    pub seq: i64,
    /// When the answer to the commit came, in nanoseconds since the driver's start.
    pub at_ns: u64,
}

/// What all sessions of this process share.
#[derive(Debug)]
pub struct Common<E> {
    /// The engine.
    pub engine: E,
    /// The plan's parameters.
    pub parameters: Parameters,
    /// The last event that a station stored.
    pub last: watch::Sender<Acknowledged>,
    replay: Option<Arc<Replay>>,
    buffers: Mutex<Vec<SharedBuffer>>,
    bytes: AtomicU64,
    epoch: Epoch,
    /// Microseconds from 1970 to the driver's start.
    origin_us: i64,
}

impl<E> Common<E> {
    /// `at_ns` of the driver in microseconds since 1970.
    pub fn unix_us(&self, at_ns: u64) -> i64 {
        self.origin_us + (at_ns / 1000) as i64
    }

    /// Counts the bytes of rows that were sent.
    pub fn sent(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Lets the figures of a station be told.
    pub fn add(&self, buffer: SharedBuffer) {
        self.all_buffers().push(buffer);
    }

    fn all_buffers(&self) -> std::sync::MutexGuard<'_, Vec<SharedBuffer>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sums over the stations up to now, and the deepest buffer since it was last asked.
    fn totals(&self, deepest: Option<&mut u64>) -> Totals {
        let mut sum = Totals::default();
        let mut most = 0;
        for buffer in self.all_buffers().iter() {
            let mut buffer = buffer.lock();
            if buffer.has_begun() {
                buffer.advance(self.epoch.now_ns());
            }
            let totals = buffer.totals();
            sum.offered += totals.offered;
            sum.accepted += totals.accepted;
            sum.stored += totals.stored;
            sum.lost += totals.lost;
            sum.buffered += totals.buffered;
            sum.in_doubt += totals.in_doubt;
            sum.over_threshold += totals.over_threshold;
            if deepest.is_some() {
                most = most.max(buffer.deepest());
            }
        }
        if let Some(deepest) = deepest {
            *deepest = most;
        }
        sum
    }
}

/// The archive on an engine.
#[derive(Debug)]
pub struct Archive<E> {
    common: Arc<Common<E>>,
    acknowledgements: Option<Arc<Acknowledgements>>,
}

impl<E: Engine> Archive<E> {
    /// The archive on `engine`; times are counted from `epoch`, commits noted in `list`.
    ///
    /// # Errors
    /// A [`Refusal`] that names the file to replay, or what the engine cannot do.
    pub fn new(
        engine: E,
        parameters: Parameters,
        epoch: Epoch,
        list: Option<Arc<Acknowledgements>>,
    ) -> Result<Self, Refusal> {
        let read = |path: &String| Replay::read(path, parameters.elements).map(Arc::new);
        let replay = parameters.events.as_ref().map(read).transpose()?;
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let common = Common {
            engine,
            parameters,
            last: watch::Sender::default(),
            replay,
            buffers: Mutex::default(),
            bytes: AtomicU64::new(0),
            epoch,
            origin_us: since_1970.as_micros() as i64 - (epoch.now_ns() / 1000) as i64,
        };
        Ok(Self {
            common: Arc::new(common),
            acknowledgements: list,
        })
    }

    /// Opens the connection of a role.
    async fn link(common: &Common<E>, role: Role) -> Result<E::Link, Failure> {
        let stores = matches!(role, Role::Station(_)).then_some(common.parameters.path);
        common.engine.connect(stores).await
    }
}

impl<E: Engine> Workload for Archive<E> {
    type Session = ArchiveSession<E>;

    fn operations(&self) -> &[&'static str] {
        &OPERATIONS
    }

    async fn open(&self, user: u32, seed: u64) -> Result<ArchiveSession<E>, Failure> {
        let common = Arc::clone(&self.common);
        let role = common.parameters.role(user);
        let mut link = Self::link(&common, role).await?;
        let part = match role {
            Role::Keeper => Part::Keeper(Keeper::default()),
            Role::Closer => Part::Closer(Closer::new(common.last.subscribe())),
            Role::Operator => Part::Operator(Operator::new(user, seed)),
            Role::Station(number) => {
                let list = self.acknowledgements.clone();
                let acknowledger = list.map(|list| Acknowledger::new(list, user));
                let replay = common.replay.clone();
                let opened = Station::open(&common, &mut link, number, seed, replay, acknowledger);
                Part::Station(Box::new(opened.await?))
            }
        };
        Ok(ArchiveSession {
            common,
            link,
            role,
            part,
            workload_events: Vec::new(),
            timer: Timer::current(),
        })
    }

    fn engine(&self) -> Option<String> {
        self.common.engine.version()
    }

    fn engine_cpu_s(&self) -> Option<f64> {
        self.common.engine.cpu_s()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let totals = self.common.totals(None);
        vec![
            ("events_offered", totals.offered),
            ("events_accepted", totals.accepted),
            ("events_stored", totals.stored),
            ("events_lost", totals.lost),
            ("inserts_over_threshold", totals.over_threshold),
            ("bytes_sent", self.common.bytes.load(Ordering::Relaxed)),
        ]
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let mut deepest = 0;
        let totals = self.common.totals(Some(&mut deepest));
        let waiting = totals.buffered + totals.in_doubt;
        vec![
            ("events_buffered", waiting as f64),
            ("deepest_buffer", deepest as f64),
        ]
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        let totals = self.common.totals(None);
        vec![
            ("events_offered", totals.offered as f64),
            ("events_accepted", totals.accepted as f64),
            ("events_stored", totals.stored as f64),
            ("events_lost", totals.lost as f64),
            ("events_buffered", totals.buffered as f64),
            ("events_in_doubt", totals.in_doubt as f64),
            ("inserts_over_threshold", totals.over_threshold as f64),
        ]
    }
}

/// What a user of a role keeps.
#[derive(Debug)]
enum Part {
    Keeper(Keeper),
    Closer(Closer),
    Operator(Operator),
    Station(Box<Station>),
}

/// One user with a connection.
#[derive(Debug)]
pub struct ArchiveSession<E: Engine> {
    common: Arc<Common<E>>,
    link: E::Link,
    role: Role,
    part: Part,
    workload_events: Vec<WorkloadEvent>,
    timer: Rc<Timer>,
}

impl<E: Engine> Session for ArchiveSession<E> {
    fn choose(&mut self) -> OperationId {
        let kind = match &mut self.part {
            Part::Keeper(keeper) => keeper.choose(),
            Part::Closer(closer) => closer.choose(),
            Part::Operator(operator) => operator.choose(&self.common.parameters),
            Part::Station(_) => Kind::Insert,
        };
        kind as OperationId
    }

    fn haste(&self) -> Haste {
        match &self.part {
            Part::Station(station) if station.hurries() => Haste::AtOnce,
            _ => Haste::Usual,
        }
    }

    async fn execute(&mut self, operation: OperationId) -> Outcome {
        let (common, link, timer) = (&*self.common, &mut self.link, &*self.timer);
        let workload_events = &mut self.workload_events;
        let result = match &mut self.part {
            Part::Keeper(keeper) if operation == Kind::Preallocate as OperationId => {
                keeper
                    .preallocate(common, link, timer, workload_events)
                    .await
            }
            Part::Keeper(keeper) => keeper.switch(common, link, timer, workload_events).await,
            Part::Closer(closer) if operation == Kind::Visible as OperationId => {
                closer.look(common, link, timer).await
            }
            Part::Closer(closer) => closer.close(common, link, timer, workload_events).await,
            Part::Operator(operator) => operator.ask(common, link, timer).await,
            Part::Station(station) => station.insert(common, link, timer).await,
        };
        result.unwrap_or_else(Outcome::Failed)
    }

    fn workload_events(&mut self) -> Vec<WorkloadEvent> {
        std::mem::take(&mut self.workload_events)
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        self.link = Archive::link(&self.common, self.role).await?;
        Ok(())
    }

    async fn close(&mut self) {
        if let Part::Station(station) = &mut self.part {
            station.stop(self.timer.now_ns());
        }
        self.link.close().await;
    }
}

/// Statements in their order.
pub(super) async fn run_all<L: Link>(link: &mut L, statements: &[String]) -> Result<(), Failure> {
    for statement in statements {
        link.run(statement).await?;
    }
    Ok(())
}

/// What not every engine can do.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Abilities {
    /// Stored procedures, for the staged path.
    pub procedures: bool,
    /// Tables can be compressed.
    pub compression: bool,
    /// Tables can be moved to another place.
    pub second_place: bool,
}

/// Whether an engine is asked for something that it cannot do.
///
/// # Errors
/// A [`Refusal`] that names the parameter.
pub(super) fn refuse_beyond(
    asked: &Parameters,
    engine: &str,
    able: Abilities,
) -> Result<(), Refusal> {
    let path = asked.path == Path::Staged && !able.procedures;
    let compress = asked.compress && !able.compression;
    let moves = asked.moves && !able.second_place;
    for (beyond, field, problem) in [
        (path, "path", "has no stored procedures; write \"direct\""),
        (compress, "compress", "compresses no tables; write false"),
        (moves, "move", "moves no tables; write false"),
    ] {
        if beyond {
            return Err(refuse(field, format!("{engine} {problem}")));
        }
    }
    Ok(())
}
