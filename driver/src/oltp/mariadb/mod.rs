//! Order entry on MariaDB: both styles, and the load by LOAD DATA.

mod procedures;
mod sink;
mod statements;

use super::engine::{Conversation, Ending, Engine};
use super::inputs::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use super::parameters::{RunParameters, Style};
use super::styles::both_styles;
use crate::mysql::{Config, Connection, Error, Statement};
use crate::session::Failure;

pub use sink::MariaDbSink;
use statements::Scratch;

/// A MariaDB server.
#[derive(Debug)]
pub struct MariaDb {
    /// For the load.
    loading: Config,
    /// For transactions, with their isolation level.
    isolated: Config,
    style: Style,
}

impl MariaDb {
    /// The server of `config`, used as `parameters` say.
    pub fn new(config: Config, parameters: &RunParameters) -> Self {
        let isolation = parameters.isolation.sql();
        let isolated = config
            .clone()
            .with_opening(format!(
                "SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"
            ))
            // The style `statements` sends no BEGIN; procedures begin and end their transactions.
            .with_opening(match parameters.style {
                Style::Statements => "SET autocommit = 0".into(),
                Style::Procedures => "SET autocommit = 1".into(),
            });
        Self {
            isolated,
            // The rows are right by construction, and foreign keys are made or checked after them.
            loading: config.with_opening("SET unique_checks = 0, foreign_key_checks = 0".into()),
            style: parameters.style,
        }
    }

    fn statements(&self) -> &'static [Statement] {
        match self.style {
            Style::Statements => &statements::STATEMENTS,
            Style::Procedures => &procedures::STATEMENTS,
        }
    }
}

impl Engine for MariaDb {
    type Conversation = MariaDbConversation;
    type Sink = MariaDbSink;

    async fn converse(&self) -> Result<MariaDbConversation, Failure> {
        let mut connection = Connection::connect(&self.isolated).await?;
        if self.style == Style::Statements && !connection.has_bulk() {
            let needed =
                "the style statements needs bulk execution, which MariaDB has and MySQL has not";
            return Err(Error::protocol(needed).into());
        }
        connection.prepare(self.statements()).await?;
        Ok(MariaDbConversation {
            connection,
            style: self.style,
            scratch: Scratch::default(),
        })
    }

    async fn sink(&self) -> Result<MariaDbSink, Failure> {
        Ok(MariaDbSink::new(Connection::connect(&self.loading).await?))
    }
}

/// One connection with its prepared statements.
#[derive(Debug)]
pub struct MariaDbConversation {
    connection: Connection,
    style: Style,
    scratch: Scratch,
}

both_styles!(MariaDbConversation);
