//! The one query of sysbench's `oltp_point_select` on the table that its `prepare` made.

use std::sync::Arc;

use rand::RngExt;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::mysql::{Config, Connection, Error, Param, Statement};
use crate::oltp::parameters::{read, refuse};
use crate::oltp::random::{Purpose, Stream, stream};
use crate::plan::Refusal;
use crate::session::{Failure, OperationId, Outcome, Session, Workload};

const SELECT: Statement = Statement {
    slot: 0,
    name: "point-select",
    sql: "SELECT c FROM sbtest1 WHERE id = ?",
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    table_size: i32,
}

/// Reads of single rows.
#[derive(Debug)]
pub struct SysbenchSelect {
    config: Arc<Config>,
    rows: i32,
}

impl SysbenchSelect {
    /// Checks the parameters of a plan: `table_size`, as given to `sysbench --table-size`.
    ///
    /// # Errors
    /// A [`Refusal`] that names the wrong field.
    pub fn new(config: Config, parameters: &Map<String, Value>) -> Result<Self, Refusal> {
        let Parameters { table_size } = read(parameters)?;
        if table_size < 1 {
            return Err(refuse("table_size", format!("{table_size} is less than 1")));
        }
        Ok(Self {
            config: Arc::new(config),
            rows: table_size,
        })
    }
}

impl Workload for SysbenchSelect {
    type Session = SysbenchSession;

    fn operations(&self) -> &[&'static str] {
        &["point-select"]
    }

    async fn open(&self, user: u32, seed: u64) -> Result<SysbenchSession, Failure> {
        Ok(SysbenchSession {
            connection: connect(&self.config).await?,
            config: Arc::clone(&self.config),
            rng: stream(seed, Purpose::User, u64::from(user)),
            rows: self.rows,
            id: 0,
        })
    }
}

async fn connect(config: &Config) -> Result<Connection, Error> {
    let mut connection = Connection::connect(config).await?;
    connection.prepare(&[SELECT]).await?;
    Ok(connection)
}

/// One user with a connection.
#[derive(Debug)]
pub struct SysbenchSession {
    config: Arc<Config>,
    connection: Connection,
    rng: Stream,
    rows: i32,
    id: i32,
}

impl SysbenchSession {
    async fn attempt(&mut self) -> Result<(), Error> {
        self.connection.queue(&SELECT, &[Param::Int4(self.id)])?;
        self.connection.send().await?;
        self.connection.one(|mut row| row.bytes().map(drop)).await
    }
}

impl Session for SysbenchSession {
    fn choose(&mut self) -> OperationId {
        self.id = self.rng.random_range(1..=self.rows);
        0
    }

    async fn execute(&mut self, _operation: OperationId) -> Outcome {
        match self.attempt().await {
            Ok(()) => Outcome::Done,
            Err(error) => Outcome::Failed(self.connection.fail(error).await),
        }
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        self.connection = connect(&self.config).await?;
        Ok(())
    }

    async fn close(&mut self) {
        self.connection.close().await;
    }
}
