//! Worker threads: each has its own runtime, timer, sessions and recorders.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::Sender;
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::LocalSet;

use crate::clock::Epoch;
use crate::conductor::Conductor;
use crate::control::Message;
use crate::drive::Manner;
use crate::orders::Order;
use crate::pacing::Pace;
use crate::phase_recorders::Collected;
use crate::plan::PhaseKind;
use crate::session::Workload;
use crate::timer::Timer;

/// What a worker thread needs to begin.
#[derive(Debug)]
pub struct Equipment<W> {
    /// Its number in this process.
    pub thread: u32,
    /// Its number among the threads of all processes.
    pub index: u32,
    /// Threads of all processes.
    pub threads: u32,
    /// The workload.
    pub workload: Arc<W>,
    /// The plan's seed.
    pub seed: u64,
    /// What the phases are for, by [`PhaseIndex`](crate::phase_recorders::PhaseIndex).
    pub kinds: Arc<[PhaseKind]>,
    /// The waits of closed users.
    pub pace: Pace,
    /// How operations are made.
    pub manner: Manner,
    /// The origin of time.
    pub epoch: Epoch,
    /// Sessions that all threads have opened so far.
    pub opened: Arc<AtomicU32>,
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
        let name = format!("worker-{}", equipment.thread);
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
