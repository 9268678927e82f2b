//! One worker thread: it opens its users' sessions, hands out arrivals and obeys orders.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::task::Poll;
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};

use crate::board::{Arrival, Board, Duty, Notice};
use crate::clock::{Clock, Epoch, ThreadClock};
use crate::control::{Backlog, Message, News, NewsKind, Standing};
use crate::drive::User;
use crate::ledger::{Collected, Ledger, PhaseIndex};
use crate::pacing::Pace;
use crate::random::Random;
use crate::recorder::Recorder;
use crate::schedule::{ArrivalPlan, Arrivals, UserRamp, share};
use crate::session::Workload;
use crate::timer::Timer;
use crate::users::{Shared, live};

/// Sessions that a thread opens at the same time.
const OPENERS: usize = 16;
/// Arrivals handed out before the users are given a turn.
const BATCH: usize = 256;

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

/// What a worker thread needs to begin.
#[derive(Debug)]
pub struct Equipment<W> {
    /// Its number.
    pub index: u32,
    /// How many there are.
    pub threads: u32,
    /// The workload.
    pub workload: Arc<W>,
    /// The plan's seed.
    pub seed: u64,
    /// The waits of closed users.
    pub pace: Pace,
    /// Attempts of one operation in all.
    pub max_attempts: u32,
    /// The origin of time.
    pub epoch: Epoch,
    /// Where reports go.
    pub outbox: Sender<Message>,
    /// Where recorders go.
    pub collected: Sender<Collected>,
}

/// The main thread's hold on a worker.
#[derive(Debug)]
pub struct Worker {
    orders: UnboundedSender<Order>,
}

impl Worker {
    /// Starts a thread.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start<W: Workload>(equipment: Equipment<W>) -> io::Result<Self> {
        let (orders, inbox) = unbounded_channel();
        let name = format!("worker-{}", equipment.index);
        thread::Builder::new()
            .name(name)
            .spawn(move || work(equipment, inbox))?;
        Ok(Self { orders })
    }

    /// Gives an order.
    pub fn order(&self, order: Order) {
        // A worker leaves only after its orders end, or with the whole process.
        let _ = self.orders.send(order);
    }
}

fn work<W: Workload>(equipment: Equipment<W>, inbox: UnboundedReceiver<Order>) {
    let outbox = equipment.outbox.clone();
    let begun = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .and_then(|runtime| {
            let local = LocalSet::new();
            local
                .block_on(&runtime, async {
                    Timer::start(equipment.epoch).map(|timer| Conductor::new(equipment, timer))
                })
                .map(|conductor| (runtime, local, conductor))
        });
    match begun {
        Ok((runtime, local, conductor)) => local.block_on(&runtime, conductor.conduct(inbox)),
        Err(error) => {
            let _ = outbox.send(Message::Opened(Err(format!(
                "cannot start a worker: {error}"
            ))));
            let _ = outbox.send(Message::Left);
        }
    }
}

/// The sessions that are still to be opened.
#[derive(Debug)]
struct Opening {
    next: Cell<usize>,
    until: Cell<usize>,
    running: Cell<usize>,
    announced: Cell<bool>,
}

struct Conductor<W> {
    equipment: Rc<Equipment<W>>,
    shared: Rc<Shared<ThreadClock>>,
    opening: Rc<Opening>,
    arrivals: Option<Arrivals>,
    parts: u64,
    /// Arrivals that take over at a given time.
    successor: Option<(u64, Arrivals)>,
    ramp: Option<UserRamp>,
    /// How many waited when arrivals were ended.
    draining: Option<Backlog>,
    standing: Standing,
    leaving: bool,
}

impl<W: Workload> Conductor<W> {
    fn new(equipment: Equipment<W>, timer: Rc<Timer>) -> Self {
        let operations = equipment.workload.operations().len();
        let shared = Shared {
            board: Board::default(),
            ledger: Ledger::new(operations, equipment.outbox.clone()),
            clock: ThreadClock::new(equipment.epoch, timer),
            pace: equipment.pace.clone(),
            max_attempts: equipment.max_attempts,
        };
        let opening = Opening {
            next: Cell::new(0),
            until: Cell::new(0),
            running: Cell::new(0),
            announced: Cell::new(true),
        };
        Self {
            equipment: Rc::new(equipment),
            shared: Rc::new(shared),
            opening: Rc::new(opening),
            arrivals: None,
            parts: 1,
            successor: None,
            ramp: None,
            draining: None,
            standing: Standing::Vacant,
            leaving: false,
        }
    }

    /// Obeys orders and hands out what is due, until the main thread is gone.
    async fn conduct(mut self, mut inbox: UnboundedReceiver<Order>) {
        loop {
            let wake_ns = self.act();
            let shared = Rc::clone(&self.shared);
            let mut sleep = pin!(shared.clock.sleep_until(wake_ns.unwrap_or(u64::MAX)));
            let mut looked = false;
            let order = poll_fn(|context| {
                if let Poll::Ready(order) = inbox.poll_recv(context) {
                    return Poll::Ready(Some(order));
                }
                shared.board.watch(context.waker());
                if wake_ns.is_some() && sleep.as_mut().poll(context).is_ready() {
                    return Poll::Ready(None);
                }
                // Anything else that wakes it is a change on the board.
                if std::mem::replace(&mut looked, true) {
                    Poll::Ready(None)
                } else {
                    Poll::Pending
                }
            })
            .await;
            if !looked && order.is_none() {
                // It did not wait at all: give the users a turn.
                tokio::task::yield_now().await;
            }
            match order {
                Some(Some(order)) => self.obey(order),
                Some(None) => return,
                None => {}
            }
        }
    }

    /// Does what is due; says when to come back.
    fn act(&mut self) -> Option<u64> {
        let now_ns = self.shared.clock.now_ns();
        let next_arrival_ns = self.hand_out(now_ns);
        let next_change_ns = self.change_users(now_ns);
        self.report();
        [next_arrival_ns, next_change_ns]
            .into_iter()
            .flatten()
            .min()
    }

    fn hand_out(&mut self, now_ns: u64) -> Option<u64> {
        for _ in 0..BATCH {
            self.succeed();
            let at_ns = self.arrivals.as_ref()?.peek()?;
            if at_ns > now_ns {
                return Some(at_ns);
            }
            self.arrivals.as_mut()?.next();
            let fits = self.shared.board.hand(Arrival {
                at_ns,
                noticed_ns: now_ns,
            });
            self.shared.ledger.arrived(!fits);
        }
        Some(now_ns)
    }

    /// Lets the successor take over once the next arrival would lie after its begin.
    fn succeed(&mut self) {
        let Some((at_ns, _)) = &self.successor else {
            return;
        };
        let next_ns = self.arrivals.as_ref().and_then(Arrivals::peek);
        if next_ns.is_none_or(|next_ns| next_ns >= *at_ns) {
            self.arrivals = self.successor.take().map(|(_, arrivals)| arrivals);
        }
    }

    fn change_users(&mut self, now_ns: u64) -> Option<u64> {
        let ramp = self.ramp?;
        let active = self.own(ramp.at(now_ns).into());
        self.shared.board.set_active(active);
        ramp.next_change_ns(now_ns)
    }

    fn own(&self, total: u64) -> usize {
        share(
            total,
            self.equipment.threads.into(),
            self.equipment.index.into(),
        ) as usize
    }

    /// Tells the main thread what it waits for.
    fn report(&mut self) {
        let standing = self.standing();
        if standing != self.standing {
            self.standing = standing;
            let (thread, phase) = (self.equipment.index, self.shared.board.phase());
            self.send(Message::Standing {
                thread,
                phase,
                standing,
            });
        }
        let board = &self.shared.board;
        if let Some(backlog) = self.draining
            && board.queued() == 0
        {
            self.draining = None;
            self.send(Message::Drained(backlog));
        }
        if self.leaving && board.seats() == 0 {
            self.leaving = false;
            self.send(Message::Left);
        }
    }

    fn standing(&self) -> Standing {
        let board = &self.shared.board;
        let all_arrived = self.arrivals.as_ref().is_some_and(Arrivals::all_came);
        match board.duty() {
            Duty::Idle | Duty::Leave => Standing::Vacant,
            Duty::Closed | Duty::Open if board.active() == 0 => Standing::Vacant,
            Duty::Closed | Duty::Open if all_arrived || board.is_finished() => Standing::Done,
            Duty::Closed | Duty::Open => Standing::Working,
        }
    }

    fn send(&self, message: Message) {
        let _ = self.equipment.outbox.send(message);
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Open(users) => self.open(users, false),
            Order::Begin(order) => self.begin(order),
            Order::EndArrivals => {
                self.arrivals = None;
                self.successor = None;
                let drained = self.shared.board.queued() as u64;
                self.draining = Some(Backlog {
                    drained,
                    discarded: 0,
                });
                self.shared.board.tell_when_empty();
            }
            Order::Discard => {
                let discarded = self.shared.board.discard();
                if let Some(backlog) = &mut self.draining {
                    backlog.drained -= discarded;
                    backlog.discarded += discarded;
                }
            }
            Order::Arrivals(plan) => {
                if u64::from(self.equipment.index) < self.parts {
                    let arrivals = Arrivals::new(plan, self.parts, self.equipment.index.into());
                    self.successor = Some((plan.start_ns, arrivals));
                }
            }
            Order::Users(users) => {
                self.open(users, true);
                self.ramp = Some(UserRamp::constant(users));
            }
            Order::Collect(spare) => self.collect(spare),
            Order::Finish => {
                self.arrivals = None;
                self.successor = None;
                self.ramp = None;
                self.opening.until.set(0);
                self.leaving = true;
                let (phase, active) = (self.shared.board.phase(), self.shared.board.active());
                self.post(Duty::Leave, phase, 0, active, u64::MAX, 0);
            }
        }
    }

    fn post(
        &self,
        duty: Duty,
        phase: PhaseIndex,
        since_ns: u64,
        active: usize,
        allowance: u64,
        room: usize,
    ) {
        let notice = Notice {
            duty,
            phase,
            since_ns,
            active,
            allowance,
            room,
        };
        self.shared.board.post(notice);
    }

    fn begin(&mut self, order: PhaseOrder) {
        let PhaseOrder {
            phase,
            start_ns,
            work,
        } = order;
        self.shared.ledger.turn(phase);
        self.arrivals = None;
        self.successor = None;
        self.ramp = None;
        // The main thread takes this for granted until it hears otherwise.
        self.standing = Standing::Working;
        match work {
            Work::Closed { ramp, iterations } => {
                let active = self.own(ramp.at(self.shared.clock.now_ns()).into());
                let allowance =
                    iterations.map_or(u64::MAX, |total| self.own_iterations(total, ramp));
                self.ramp = Some(ramp);
                self.post(Duty::Closed, phase, start_ns, active, allowance, 0);
            }
            Work::Open {
                arrivals,
                sessions,
                queue,
            } => {
                let index = u64::from(self.equipment.index);
                // A thread without a session takes no arrivals.
                self.parts = u64::from(self.equipment.threads.min(sessions));
                let (mut active, mut room) = (0, 0);
                if index < self.parts {
                    active = self.own(sessions.into());
                    room = share(queue.into(), self.parts, index) as usize;
                    self.arrivals = Some(Arrivals::new(arrivals, self.parts, index));
                }
                self.post(Duty::Open, phase, start_ns, active, u64::MAX, room);
            }
        }
    }

    /// Iterations are divided among the threads that have users.
    fn own_iterations(&self, total: u64, ramp: UserRamp) -> u64 {
        let most = ramp.users.from.max(ramp.users.to);
        let parts = u64::from(self.equipment.threads.min(most)).max(1);
        let index = u64::from(self.equipment.index);
        if index < parts {
            share(total, parts, index)
        } else {
            0
        }
    }

    fn collect(&mut self, spare: Recorder) {
        let collected = Collected {
            recorders: self.shared.ledger.take(spare),
            users: self.shared.board.users() as u64,
            in_flight: self.shared.ledger.in_flight(),
            queued: self.shared.board.queued() as u64,
        };
        let _ = self.equipment.collected.send(collected);
    }

    /// Opens the sessions that are missing, several at a time.
    fn open(&mut self, users: u32, later: bool) {
        let until = self.own(users.into());
        let opening = &self.opening;
        opening.until.set(until.max(opening.until.get()));
        opening.announced.set(later);
        let missing = opening.until.get() - opening.next.get();
        for _ in opening.running.get()..missing.min(OPENERS) {
            opening.running.set(opening.running.get() + 1);
            let (equipment, shared) = (Rc::clone(&self.equipment), Rc::clone(&self.shared));
            spawn_local(open_sessions(equipment, shared, Rc::clone(opening)));
        }
        if missing == 0 && !opening.announced.replace(true) {
            self.send(Message::Opened(Ok(())));
        }
    }
}

/// Opens sessions until none is missing; the last opener says so.
async fn open_sessions<W: Workload>(
    equipment: Rc<Equipment<W>>,
    shared: Rc<Shared<ThreadClock>>,
    opening: Rc<Opening>,
) {
    let mut failure = None;
    while opening.next.get() < opening.until.get() && failure.is_none() {
        let slot = opening.next.replace(opening.next.get() + 1);
        let number = slot as u32 * equipment.threads + equipment.index;
        match equipment.workload.open(number, equipment.seed).await {
            Ok(session) => {
                shared.board.enter(slot);
                let random = Random::new(!equipment.seed, number.into());
                let user = User::new(number, session, random);
                spawn_local(live(user, slot, Rc::clone(&shared)));
            }
            Err(error) => {
                failure = Some(format!("cannot open session {number}: {}", error.message));
            }
        }
    }
    opening.running.set(opening.running.get() - 1);
    let announced = opening.announced.get();
    let message = match failure {
        Some(detail) if announced => Message::News(News {
            kind: NewsKind::Refused,
            detail,
        }),
        Some(detail) => {
            opening.announced.set(true);
            Message::Opened(Err(detail))
        }
        None if opening.running.get() == 0 && !announced => {
            opening.announced.set(true);
            Message::Opened(Ok(()))
        }
        None => return,
    };
    let _ = equipment.outbox.send(message);
}
