//! pgbench's select-only transaction on a database that pgbench initialised: one row by its key.
//! It exists to compare the driver's own cost with that of pgbench; [`SysbenchSelect`] does the same with
//! sysbench on MariaDB.

mod sysbench;

use std::sync::Arc;

use rand::RngExt;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::oltp::parameters::{read, refuse};
use crate::oltp::random::{Purpose, Stream, stream};
use crate::plan::Refusal;
use crate::postgres::{Config, Connection, Error, Param, Statement};
use crate::session::{Failure, OperationId, Outcome, Session, Workload};

pub use sysbench::{SysbenchSelect, SysbenchSession};

const ACCOUNTS_PER_SCALE: i32 = 100_000;
const MAX_SCALE: i32 = i32::MAX / ACCOUNTS_PER_SCALE;

const SELECT: Statement = Statement {
    name: "point-select",
    sql: "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    scale: i32,
}

/// Reads of single rows.
#[derive(Debug)]
pub struct PointSelect {
    config: Arc<Config>,
    accounts: i32,
}

impl PointSelect {
    /// Checks the parameters of a plan: `scale`, as given to `pgbench -i -s`.
    ///
    /// # Errors
    /// A [`Refusal`] that names the wrong field.
    pub fn new(config: Config, parameters: &Map<String, Value>) -> Result<Self, Refusal> {
        let Parameters { scale } = read(parameters)?;
        if !(1..=MAX_SCALE).contains(&scale) {
            return Err(refuse(
                "scale",
                format!("{scale} is not between 1 and {MAX_SCALE}"),
            ));
        }
        Ok(Self {
            config: Arc::new(config),
            accounts: scale * ACCOUNTS_PER_SCALE,
        })
    }
}

impl Workload for PointSelect {
    type Session = PointSelectSession;

    fn operations(&self) -> &[&'static str] {
        &["point-select"]
    }

    async fn open(&self, user: u32, seed: u64) -> Result<PointSelectSession, Failure> {
        Ok(PointSelectSession {
            connection: connect(&self.config).await?,
            config: Arc::clone(&self.config),
            rng: stream(seed, Purpose::User, u64::from(user)),
            accounts: self.accounts,
            account: 0,
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
pub struct PointSelectSession {
    config: Arc<Config>,
    connection: Connection,
    rng: Stream,
    accounts: i32,
    account: i32,
}

impl PointSelectSession {
    async fn attempt(&mut self) -> Result<(), Error> {
        self.connection
            .queue(&SELECT, &[Param::Int4(self.account)])?;
        self.connection.sync().await?;
        self.connection.one(|mut row| row.int4().map(drop)).await?;
        self.connection.ready().await
    }
}

impl Session for PointSelectSession {
    fn choose(&mut self) -> OperationId {
        self.account = self.rng.random_range(1..=self.accounts);
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
