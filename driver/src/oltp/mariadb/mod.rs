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

/// What the sessions of the load set, which do not hang on the settings under test.
const UNLIMITED: &str = "SET SESSION max_statement_time = 0, wait_timeout = 31536000, \
    idle_transaction_timeout = 0, idle_write_transaction_timeout = 0, lock_wait_timeout = 86400, \
    innodb_lock_wait_timeout = 3600, net_read_timeout = 3600, net_write_timeout = 3600, \
    autocommit = 1, completion_type = 'NO_CHAIN', \
    sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'";

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
            loading: config
                .with_opening(UNLIMITED.into())
                .with_opening(
                    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE".into(),
                )
                .with_opening("SET unique_checks = 0, foreign_key_checks = 0".into()),
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
