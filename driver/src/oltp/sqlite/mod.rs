//! Order entry on SQLite, in this process.
//!
//! SQLite has no decimals: money is whole cents and rates are whole ten-thousandths. It has no type
//! for moments either: they are text as `2025-01-01 00:00:00`. Its transactions are serializable,
//! whatever isolation is asked for. One connection writes at a time: a transaction that writes takes
//! that right when it begins (`BEGIN IMMEDIATE`), so that it never fails half way because another did.

mod delivery;
mod new_order;
mod order_status;
mod payment;
mod sink;
mod statement;
mod stock_level;
mod transactions;

use std::sync::Arc;

use super::engine::{Conversation, Ending, Engine};
use super::inputs::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use super::parameters::{RunParameters, Style, refuse};
use super::session::Chosen;
use crate::cpu_meter::CpuMeter;
use crate::plan::Refusal;
use crate::session::Failure;
use crate::sqlite::{Config, EngineThread};

pub use sink::SqliteSink;
use transactions::Transactor;

/// How long a connection waits for another that writes, in milliseconds, unless the plan says it.
const BUSY_TIMEOUT_MS: &str = "5000";
/// The same for the load, whose transactions are long.
const LOAD_BUSY_TIMEOUT_MS: &str = "600000";

/// A file of SQLite.
#[derive(Debug)]
pub struct Sqlite {
    running: Arc<Config>,
    loading: Arc<Config>,
    meter: Arc<CpuMeter>,
}

impl Sqlite {
    /// The file of `config`, which is opened once to see that it takes its pragmas.
    ///
    /// # Errors
    /// A [`Refusal`] if it does not, or if `parameters` ask for what SQLite has not.
    pub fn new(config: &Config, parameters: &RunParameters) -> Result<Self, Refusal> {
        if parameters.style == Style::Procedures {
            let problem = "SQLite has no stored procedures; write \"statements\"";
            return Err(refuse("style", problem));
        }
        let running = config
            .clone()
            .with_default("busy_timeout", BUSY_TIMEOUT_MS)
            .with_default("foreign_keys", "on");
        // Rows come before those that they refer to.
        let loading = config
            .clone()
            .with_default("busy_timeout", LOAD_BUSY_TIMEOUT_MS)
            .with("foreign_keys", "off");
        running.check()?;
        Ok(Self {
            running: Arc::new(running),
            loading: Arc::new(loading),
            meter: Arc::default(),
        })
    }
}

impl Engine for Sqlite {
    type Conversation = SqliteConversation;
    type Sink = SqliteSink;

    async fn converse(&self) -> Result<SqliteConversation, Failure> {
        let thread = EngineThread::start(Arc::clone(&self.running), Arc::clone(&self.meter));
        Ok(SqliteConversation {
            thread: thread.await?,
        })
    }

    async fn sink(&self) -> Result<SqliteSink, Failure> {
        let thread = EngineThread::start(Arc::clone(&self.loading), Arc::clone(&self.meter));
        Ok(SqliteSink::new(thread.await?))
    }

    fn version(&self) -> Option<String> {
        Some(format!("SQLite {}", rusqlite::version()))
    }

    fn cpu_s(&self) -> Option<f64> {
        Some(self.meter.total_s())
    }
}

/// One connection with its thread and its prepared statements.
#[derive(Debug)]
pub struct SqliteConversation {
    thread: EngineThread<Transactor>,
}

impl SqliteConversation {
    async fn transact(&mut self, chosen: Chosen) -> Result<Ending, Failure> {
        Ok(self.thread.call(chosen).await?)
    }
}

impl Conversation for SqliteConversation {
    async fn new_order(&mut self, order: &NewOrder) -> Result<Ending, Failure> {
        self.transact(Chosen::NewOrder(*order)).await
    }

    async fn payment(&mut self, payment: &Payment) -> Result<Ending, Failure> {
        self.transact(Chosen::Payment(*payment)).await
    }

    async fn order_status(&mut self, status: &OrderStatus) -> Result<Ending, Failure> {
        self.transact(Chosen::OrderStatus(*status)).await
    }

    async fn delivery(&mut self, delivery: &Delivery) -> Result<Ending, Failure> {
        self.transact(Chosen::Delivery(*delivery)).await
    }

    async fn stock_level(&mut self, level: &StockLevel) -> Result<Ending, Failure> {
        self.transact(Chosen::StockLevel(*level)).await
    }

    async fn close(&mut self) {
        self.thread.close().await;
    }
}
