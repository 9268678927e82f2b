//! The role `run`: a user who makes the five transactions.

use std::sync::Arc;

use rand::RngExt;
use rand::seq::SliceRandom;
use serde_json::{Map, Value};

use super::inputs::{
    Delivery, NewOrder, OrderStatus, Payment, Place, Scale, StockLevel, any_district,
};
use super::parameters::{DISTRICTS, Home, Kind, OPERATIONS, RunParameters, Style};
use super::random::{Constants, Purpose, Stream, stream};
use super::statements::{Ending, Scratch};
use super::{procedures, statements};
use crate::plan::Refusal;
use crate::postgres::{Config, Connection, Error, Statement};
use crate::session::{Failure, OperationId, Outcome, Session, Workload};

/// Order entry against a database that is loaded.
#[derive(Debug)]
pub struct OltpRun {
    config: Arc<Config>,
    parameters: RunParameters,
    deck: Vec<Kind>,
    scale: Scale,
}

impl OltpRun {
    /// Checks the parameters of a plan; `seed` gives the run's constants of NURand.
    ///
    /// # Errors
    /// A [`Refusal`] that names the wrong field.
    pub fn new(
        config: Config,
        parameters: &Map<String, Value>,
        seed: u64,
    ) -> Result<Self, Refusal> {
        let parameters = RunParameters::parse(parameters)?;
        let deck = parameters.deck()?;
        let scale = Scale {
            warehouses: parameters.warehouses,
            constants: Constants::draw(seed),
        };
        let config =
            config.with_setting("default_transaction_isolation", parameters.isolation.sql());
        Ok(Self {
            config: Arc::new(config),
            parameters,
            deck,
            scale,
        })
    }

    fn statements(&self) -> &'static [Statement] {
        match self.parameters.style {
            Style::Statements => &statements::STATEMENTS,
            Style::Procedures => &procedures::STATEMENTS,
        }
    }
}

impl Workload for OltpRun {
    type Session = RunSession;

    fn operations(&self) -> &[&'static str] {
        &OPERATIONS
    }

    async fn open(&self, user: u32, seed: u64) -> Result<RunSession, Failure> {
        let connection = connect(&self.config, self.statements()).await?;
        let mut rng = stream(seed, Purpose::User, u64::from(user));
        let home =
            (self.parameters.home == Home::PerUser).then(|| terminal(user, self.scale.warehouses));
        let mut deck = self.deck.clone();
        deck.shuffle(&mut rng);
        Ok(RunSession {
            config: Arc::clone(&self.config),
            prepared: self.statements(),
            connection,
            rng,
            style: self.parameters.style,
            scale: self.scale,
            home,
            deck,
            dealt: 0,
            chosen: None,
            scratch: Scratch::default(),
        })
    }
}

async fn connect(config: &Config, statements: &[Statement]) -> Result<Connection, Error> {
    let mut connection = Connection::connect(config).await?;
    connection.prepare(statements).await?;
    Ok(connection)
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
enum Chosen {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

/// One user with a connection.
#[derive(Debug)]
pub struct RunSession {
    config: Arc<Config>,
    prepared: &'static [Statement],
    connection: Connection,
    rng: Stream,
    style: Style,
    scale: Scale,
    home: Option<Place>,
    deck: Vec<Kind>,
    dealt: usize,
    chosen: Option<Chosen>,
    scratch: Scratch,
}

impl RunSession {
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

    async fn attempt(&mut self, chosen: &Chosen) -> Result<Ending, Error> {
        let connection = &mut self.connection;
        match self.style {
            Style::Statements => match chosen {
                Chosen::NewOrder(order) => {
                    statements::new_order(connection, &mut self.scratch, order).await
                }
                Chosen::Payment(payment) => statements::payment(connection, payment).await,
                Chosen::OrderStatus(status) => statements::order_status(connection, status).await,
                Chosen::Delivery(delivery) => statements::delivery(connection, delivery).await,
                Chosen::StockLevel(level) => statements::stock_level(connection, level).await,
            },
            Style::Procedures => match chosen {
                Chosen::NewOrder(order) => procedures::new_order(connection, order).await,
                Chosen::Payment(payment) => procedures::payment(connection, payment).await,
                Chosen::OrderStatus(status) => procedures::order_status(connection, status).await,
                Chosen::Delivery(delivery) => procedures::delivery(connection, delivery).await,
                Chosen::StockLevel(level) => procedures::stock_level(connection, level).await,
            },
        }
    }
}

impl Session for RunSession {
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
            Ok(Ending::Committed) => Outcome::Done,
            Ok(Ending::RolledBack) => Outcome::RolledBack,
            Err(error) => Outcome::Failed(self.connection.fail(error).await),
        }
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        self.connection = connect(&self.config, self.prepared).await?;
        Ok(())
    }

    async fn close(&mut self) {
        self.connection.close().await;
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
