//! The conductor of one worker thread: it obeys orders, hands out arrivals and changes users.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::board::{Arrival, Assignment, Board, Duty};
use crate::clock::{Clock, ThreadClock};
use crate::control::{Leftovers, Message, Standing};
use crate::opening::Opening;
use crate::orders::{Order, PhaseOrder, Work};
use crate::phase_recorders::{Collected, PhaseRecorders};
use crate::plan::PhaseKind;
use crate::recorder::Recorder;
use crate::schedule::{Arrivals, UserRamp, share};
use crate::session::Workload;
use crate::timer::Timer;
use crate::traces::Tracer;
use crate::users::Shared;
use crate::worker::Equipment;

/// Arrivals handed out before the users are given a turn.
const BATCH: usize = 256;

/// The task of a worker thread that obeys the main thread.
pub struct Conductor<W> {
    equipment: Rc<Equipment<W>>,
    shared: Rc<Shared<ThreadClock>>,
    opening: Rc<Opening>,
    arrivals: Option<Arrivals>,
    parts: u64,
    /// Arrivals that take over at a given time.
    successor: Option<(u64, Arrivals)>,
    ramp: Option<UserRamp>,
    /// How many waited when arrivals were ended.
    draining: Option<Leftovers>,
    standing: Standing,
    leaving: bool,
}

impl<W: Workload> Conductor<W> {
    /// A conductor whose thread waits on `timer`.
    pub fn new(equipment: Equipment<W>, timer: Rc<Timer>) -> Self {
        let operations = equipment.workload.operations().len();
        let requests = equipment.workload.requests().len();
        let shared = Shared {
            board: Board::default(),
            recorders: PhaseRecorders::new(
                operations,
                requests,
                Tracer::new(
                    operations,
                    Arc::clone(&equipment.kinds),
                    equipment.seed,
                    equipment.index,
                ),
                equipment.outbox.clone(),
            ),
            clock: ThreadClock::new(equipment.epoch, timer),
            pace: equipment.pace.clone(),
            manner: equipment.manner,
        };
        Self {
            equipment: Rc::new(equipment),
            shared: Rc::new(shared),
            opening: Rc::default(),
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
    pub async fn conduct(mut self, mut inbox: UnboundedReceiver<Order>) {
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
            self.shared.recorders.arrived(!fits);
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

    /// Lets users come or go as the ramp has it at `now_ns`; says when that changes next.
    fn change_users(&self, now_ns: u64) -> Option<u64> {
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
            let (thread, phase) = (self.equipment.thread, self.shared.board.phase());
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
            Order::Open(users) => {
                let until = self.own(users.into());
                self.opening.first(until, &self.equipment, &self.shared);
            }
            Order::Begin(order) => self.begin(order),
            Order::EndArrivals => {
                self.end_arrivals();
                let drained = self.shared.board.queued() as u64;
                self.draining = Some(Leftovers {
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
                let until = self.own(users.into());
                self.opening.more(until, &self.equipment, &self.shared);
                self.ramp = Some(UserRamp::constant(users));
            }
            Order::Collect(spare) => self.collect(spare),
            Order::Finish => self.finish(),
        }
    }

    /// Ends the arrivals. Those that are due and were not noticed yet still count.
    fn end_arrivals(&mut self) {
        let now_ns = self.shared.clock.now_ns();
        while self
            .hand_out(now_ns)
            .is_some_and(|next_ns| next_ns <= now_ns)
        {}
        self.arrivals = None;
        self.successor = None;
    }

    fn finish(&mut self) {
        // Who was to go by now and was not told yet is dismissed first.
        self.change_users(self.shared.clock.now_ns());
        self.arrivals = None;
        self.successor = None;
        self.ramp = None;
        self.opening.cancel();
        self.leaving = true;
        self.shared.board.post(Assignment {
            duty: Duty::Leave,
            phase: self.shared.board.phase(),
            since_ns: 0,
            active: self.shared.board.active(),
            allowance: u64::MAX,
            room: 0,
            drains: false,
        });
    }

    fn begin(&mut self, order: PhaseOrder) {
        let PhaseOrder {
            phase,
            start_ns,
            work,
        } = order;
        // Who was to go by the end of the phase before and was not told yet is dismissed first.
        self.change_users(self.shared.clock.now_ns());
        self.shared.recorders.turn(phase);
        self.arrivals = None;
        self.successor = None;
        self.ramp = None;
        // The main thread takes this for granted until it hears otherwise.
        self.standing = Standing::Working;
        let mut assignment = Assignment {
            duty: Duty::Closed,
            phase,
            since_ns: start_ns,
            active: 0,
            allowance: u64::MAX,
            room: 0,
            drains: false,
        };
        match work {
            Work::Closed { ramp, iterations } => {
                assignment.drains = self.equipment.kinds[phase] == PhaseKind::Drain;
                assignment.active = self.own(ramp.at(self.shared.clock.now_ns()).into());
                if let Some(total) = iterations {
                    assignment.allowance = self.own_iterations(total, ramp);
                }
                self.ramp = Some(ramp);
            }
            Work::Open {
                arrivals,
                sessions,
                queue,
            } => {
                assignment.duty = Duty::Open;
                // A thread without a session takes no arrivals.
                self.parts = u64::from(self.equipment.threads.min(sessions));
                let index = u64::from(self.equipment.index);
                if index < self.parts {
                    assignment.active = self.own(sessions.into());
                    assignment.room = share(queue.into(), self.parts, index) as usize;
                    self.arrivals = Some(Arrivals::new(arrivals, self.parts, index));
                }
            }
        }
        self.shared.board.post(assignment);
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
        // At the end of the run only: until then each must beat those that are kept.
        let traces = match self.shared.board.duty() {
            Duty::Leave => self.shared.recorders.take_traces(),
            _ => Vec::new(),
        };
        let collected = Collected {
            recorders: self.shared.recorders.take(spare),
            users: self.shared.board.users() as u64,
            in_flight: self.shared.recorders.in_flight(),
            queued: self.shared.board.queued() as u64,
            traces,
        };
        let _ = self.equipment.collected.send(collected);
    }
}
