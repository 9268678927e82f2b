//! How a worker thread opens the sessions of its users, several at a time.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use tokio::task::spawn_local;

use crate::clock::ThreadClock;
use crate::control::{DriverEvent, DriverEventKind, Message};
use crate::drive::User;
use crate::random::Random;
use crate::session::Workload;
use crate::users::{Shared, live};
use crate::worker::Equipment;

/// Sessions that a thread opens at the same time.
const OPENERS: usize = 16;

/// The sessions of a thread that are still to be opened.
#[derive(Debug, Default)]
pub struct Opening {
    next: Cell<usize>,
    until: Cell<usize>,
    running: Cell<usize>,
    /// Whether the main thread waits to hear that all are open.
    awaited: Cell<bool>,
}

impl Opening {
    /// Opens the sessions of the first `until` slots; the main thread waits for it.
    pub fn first<W: Workload>(
        self: &Rc<Self>,
        until: usize,
        equipment: &Rc<Equipment<W>>,
        shared: &Rc<Shared<ThreadClock>>,
    ) {
        self.awaited.set(true);
        self.more(until, equipment, shared);
        if self.running.get() == 0 {
            self.report(equipment, Ok(()));
        }
    }

    /// Opens what is missing of the first `until` slots.
    pub fn more<W: Workload>(
        self: &Rc<Self>,
        until: usize,
        equipment: &Rc<Equipment<W>>,
        shared: &Rc<Shared<ThreadClock>>,
    ) {
        self.until.set(until.max(self.until.get()));
        let missing = self.until.get().saturating_sub(self.next.get());
        for _ in self.running.get()..missing.min(OPENERS) {
            self.running.set(self.running.get() + 1);
            let (equipment, shared) = (Rc::clone(equipment), Rc::clone(shared));
            spawn_local(Rc::clone(self).open(equipment, shared));
        }
    }

    /// Opens no more.
    pub fn cancel(&self) {
        self.until.set(0);
    }

    /// Opens sessions until none is missing; the last opener says so.
    async fn open<W: Workload>(
        self: Rc<Self>,
        equipment: Rc<Equipment<W>>,
        shared: Rc<Shared<ThreadClock>>,
    ) {
        let mut result = Ok(());
        while self.next.get() < self.until.get() && result.is_ok() {
            let slot = self.next.replace(self.next.get() + 1);
            let number = slot as u32 * equipment.threads + equipment.index;
            match equipment.workload.open(number, equipment.seed).await {
                Ok(session) => {
                    equipment.opened.fetch_add(1, Ordering::Relaxed);
                    shared.board.enter(slot);
                    let random = Random::new(!equipment.seed, number.into());
                    let user = User::new(number, session, random);
                    spawn_local(live(user, slot, Rc::clone(&shared)));
                }
                Err(error) => {
                    result = Err(format!("cannot open session {number}: {}", error.message));
                }
            }
        }
        self.running.set(self.running.get() - 1);
        if result.is_err() || self.running.get() == 0 {
            self.report(&equipment, result);
        }
    }

    fn report<W>(&self, equipment: &Equipment<W>, result: Result<(), String>) {
        let message = match result {
            result if self.awaited.replace(false) => Message::Opened(result),
            Err(detail) => Message::DriverEvent(DriverEvent {
                kind: DriverEventKind::Refused,
                detail,
            }),
            Ok(()) => return,
        };
        // The other side is gone only when the process ends.
        let _ = equipment.outbox.send(message);
    }
}
