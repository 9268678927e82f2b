//! Order entry on PostgreSQL: both styles, and the load by COPY.

mod procedures;
mod sink;
mod statements;

use super::engine::{Conversation, Ending, Engine};
use super::inputs::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use super::parameters::{RunParameters, Style};
use super::styles::both_styles;
use crate::postgres::{Config, Connection, Error, Statement};
use crate::session::Failure;

pub use sink::PostgresSink;
use statements::Scratch;

/// Settings that every version has, under which no statement of the load is cut or refused.
const UNLIMITED: [(&str, &str); 6] = [
    ("statement_timeout", "0"),
    ("lock_timeout", "0"),
    ("idle_in_transaction_session_timeout", "0"),
    ("default_transaction_read_only", "off"),
    ("default_transaction_isolation", "read committed"),
    ("datestyle", "ISO, MDY"),
];

/// Time limits that later versions have; a session asks for those of its server.
const UNLIMITED_IF_KNOWN: &str = "SELECT set_config(name, '0', false) FROM pg_settings \
    WHERE name IN ('idle_session_timeout', 'transaction_timeout')";

/// A PostgreSQL server.
#[derive(Debug)]
pub struct Postgres {
    /// For the load.
    plain: Config,
    /// For transactions, with their isolation level.
    isolated: Config,
    style: Style,
}

impl Postgres {
    /// The server of `config`, used as `parameters` say.
    pub fn new(config: Config, parameters: &RunParameters) -> Self {
        Self {
            isolated: config.clone().with_opening((
                "default_transaction_isolation",
                parameters.isolation.sql().into(),
            )),
            // The load is not what is measured: it does not hang on the settings under test.
            plain: UNLIMITED.into_iter().fold(config, |config, (name, value)| {
                config.with_opening((name, value.into()))
            }),
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

impl Engine for Postgres {
    type Conversation = PostgresConversation;
    type Sink = PostgresSink;

    async fn converse(&self) -> Result<PostgresConversation, Failure> {
        let mut connection = Connection::connect(&self.isolated).await?;
        connection.prepare(self.statements()).await?;
        Ok(PostgresConversation {
            connection,
            style: self.style,
            scratch: Scratch::default(),
        })
    }

    async fn sink(&self) -> Result<PostgresSink, Failure> {
        let mut connection = Connection::connect(&self.plain).await?;
        connection.run(UNLIMITED_IF_KNOWN).await?;
        Ok(PostgresSink::new(connection))
    }
}

/// One connection with its prepared statements.
#[derive(Debug)]
pub struct PostgresConversation {
    connection: Connection,
    style: Style,
    scratch: Scratch,
}

both_styles!(PostgresConversation);
