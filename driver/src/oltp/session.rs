//! The role `run`: a user who makes the five transactions.

use std::sync::Arc;

use rand::RngExt;
use rand::seq::SliceRandom;

use super::acknowledgements::describe;
use super::engine::{Conversation, Ending, Engine, Key};
use super::inputs::{
    Delivery, NewOrder, OrderStatus, Payment, Place, Scale, StockLevel, any_district,
};
use super::parameters::{DISTRICTS, Home, Kind, OPERATIONS, RunParameters};
use super::random::{Constants, Purpose, Stream, stream};
use crate::acknowledgements::{Acknowledgements, Acknowledger};
use crate::plan::Refusal;
use crate::session::{Failure, OperationId, Outcome, Session, Workload};

/// Order entry against a database that is loaded.
#[derive(Debug)]
pub struct OltpRun<E> {
    engine: Arc<E>,
    home: Home,
    deck: Vec<Kind>,
    scale: Scale,
    acknowledgements: Option<Arc<Acknowledgements>>,
}

impl<E: Engine> OltpRun<E> {
    /// Order entry on `engine`; `seed` gives the run's constants of NURand.
    ///
    /// # Errors
    /// A [`Refusal`] that names what is wrong with the mix.
    pub fn new(engine: E, parameters: &RunParameters, seed: u64) -> Result<Self, Refusal> {
        Ok(Self {
            engine: Arc::new(engine),
            home: parameters.home,
            deck: parameters.deck()?,
            scale: Scale {
                warehouses: parameters.warehouses,
                constants: Constants::draw(seed),
            },
            acknowledgements: None,
        })
    }

    /// The same with a list of what was committed.
    #[must_use]
    pub fn acknowledging(mut self, list: Option<Arc<Acknowledgements>>) -> Self {
        self.acknowledgements = list;
        self
    }
}

impl<E: Engine> Workload for OltpRun<E> {
    type Session = RunSession<E>;

    fn operations(&self) -> &[&'static str] {
        &OPERATIONS
    }

    async fn open(&self, user: u32, seed: u64) -> Result<RunSession<E>, Failure> {
        let conversation = self.engine.converse().await?;
        let mut rng = stream(seed, Purpose::User, u64::from(user));
        let home = (self.home == Home::PerUser).then(|| terminal(user, self.scale.warehouses));
        let mut deck = self.deck.clone();
        deck.shuffle(&mut rng);
        let acknowledger = self
            .acknowledgements
            .clone()
            .map(|list| Acknowledger::new(list, user));
        Ok(RunSession {
            engine: Arc::clone(&self.engine),
            conversation,
            rng,
            scale: self.scale,
            home,
            deck,
            dealt: 0,
            chosen: None,
            acknowledger,
        })
    }

    fn engine(&self) -> Option<String> {
        self.engine.version()
    }

    fn engine_cpu_s(&self) -> Option<f64> {
        self.engine.cpu_s()
    }
}

/// Where user `user` sits: users fill the warehouses one after the other, then their districts.
fn terminal(user: u32, warehouses: u32) -> Place {
    Place {
        warehouse: (user % warehouses + 1) as i32,
        district: (user / warehouses % DISTRICTS + 1) as i16,
    }
}

/// A transaction with its inputs.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub enum Chosen {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

/// One user with a connection.
#[derive(Debug)]
pub struct RunSession<E: Engine> {
    engine: Arc<E>,
    conversation: E::Conversation,
    rng: Stream,
    scale: Scale,
    home: Option<Place>,
    deck: Vec<Kind>,
    dealt: usize,
    chosen: Option<Chosen>,
    acknowledger: Option<Acknowledger>,
}

impl<E: Engine> RunSession<E> {
    /// The next card; the deck is shuffled when it is used up (clause 5.2.4.2).
    fn deal(&mut self) -> Kind {
        if self.dealt == self.deck.len() {
            self.deck.shuffle(&mut self.rng);
            self.dealt = 0;
        }
        self.dealt += 1;
        self.deck[self.dealt - 1]
    }

    fn place(&mut self) -> Place {
        self.home.unwrap_or_else(|| Place {
            warehouse: self.rng.random_range(1..=self.scale.warehouses as i32),
            district: any_district(&mut self.rng),
        })
    }

    async fn attempt(&mut self, chosen: &Chosen) -> Result<Ending, Failure> {
        let conversation = &mut self.conversation;
        match chosen {
            Chosen::NewOrder(order) => conversation.new_order(order).await,
            Chosen::Payment(payment) => conversation.payment(payment).await,
            Chosen::OrderStatus(status) => conversation.order_status(status).await,
            Chosen::Delivery(delivery) => conversation.delivery(delivery).await,
            Chosen::StockLevel(level) => conversation.stock_level(level).await,
        }
    }

    fn acknowledge(&mut self, chosen: &Chosen, key: Option<Key>) -> Outcome {
        let (Some(acknowledger), Some(key)) = (&mut self.acknowledger, key) else {
            return Outcome::Done;
        };
        match acknowledger.note(|line| describe(line, chosen, &key)) {
            Ok(()) => Outcome::Done,
            Err(failure) => Outcome::Failed(failure),
        }
    }
}

impl<E: Engine> Session for RunSession<E> {
    fn choose(&mut self) -> OperationId {
        let (kind, place) = (self.deal(), self.place());
        let (rng, scale) = (&mut self.rng, &self.scale);
        self.chosen = Some(match kind {
            Kind::NewOrder => Chosen::NewOrder(NewOrder::draw(rng, place, scale)),
            Kind::Payment => Chosen::Payment(Payment::draw(rng, place, scale)),
            Kind::OrderStatus => Chosen::OrderStatus(OrderStatus::draw(rng, place, scale)),
            Kind::Delivery => Chosen::Delivery(Delivery::draw(rng, place)),
            Kind::StockLevel => Chosen::StockLevel(StockLevel::draw(rng, place)),
        });
        kind as OperationId
    }

    async fn execute(&mut self, _operation: OperationId) -> Outcome {
        let Some(chosen) = self.chosen else {
            return Outcome::Exhausted;
        };
        match self.attempt(&chosen).await {
            Ok(Ending::Committed(key)) => self.acknowledge(&chosen, key),
            Ok(Ending::RolledBack) => Outcome::RolledBack,
            Err(failure) => Outcome::Failed(failure),
        }
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        self.conversation = self.engine.converse().await?;
        Ok(())
    }

    async fn close(&mut self) {
        self.conversation.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_fill_warehouses_then_districts() {
        let place = |user| {
            let place = terminal(user, 3);
            (place.warehouse, place.district)
        };
        assert_eq!(
            [place(0), place(2), place(3), place(29), place(30)],
            [(1, 1), (3, 1), (1, 2), (3, 10), (1, 1)]
        );
    }
}
