//! Reads of one row by its key, to compare the driver's own cost with that of its peers: pgbench's
//! select-only on a database that pgbench initialised, or sysbench's `oltp_point_select` on a table that
//! sysbench prepared.

mod pgbench;
mod sysbench;

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use rand::RngExt;
use serde_json::{Map, Value};

use crate::oltp::random::{Purpose, Stream, stream};
use crate::plan::Refusal;
use crate::session::{Failure, OperationId, Outcome, Session, Workload};

pub use pgbench::Accounts;
pub use sysbench::Rows;

/// A connection to a table whose keys are 1 and up without gaps.
pub trait Table: Sized {
    /// Where the table is.
    type Config: Debug + Send + Sync + 'static;

    /// Number of its rows, from the parameters of a plan.
    ///
    /// # Errors
    /// A [`Refusal`] that names the wrong field.
    fn rows(parameters: &Map<String, Value>) -> Result<i32, Refusal>;

    /// Opens a connection with the prepared statement.
    fn connect(config: &Self::Config) -> impl Future<Output = Result<Self, Failure>>;

    /// Reads the row of `key`; after a failure that is not fatal the next one can be read.
    fn read(&mut self, key: i32) -> impl Future<Output = Result<(), Failure>>;

    /// Says goodbye to the server.
    fn close(&mut self) -> impl Future<Output = ()>;
}

/// Reads of single rows.
#[derive(Debug)]
pub struct PointSelect<T: Table> {
    config: Arc<T::Config>,
    rows: i32,
}

impl<T: Table> PointSelect<T> {
    /// Checks the parameters of a plan.
    ///
    /// # Errors
    /// A [`Refusal`] that names the wrong field.
    pub fn new(config: T::Config, parameters: &Map<String, Value>) -> Result<Self, Refusal> {
        Ok(Self {
            config: Arc::new(config),
            rows: T::rows(parameters)?,
        })
    }
}

impl<T: Table + 'static> Workload for PointSelect<T> {
    type Session = PointSelectSession<T>;

    fn operations(&self) -> &[&'static str] {
        &["point-select"]
    }

    async fn open(&self, user: u32, seed: u64) -> Result<PointSelectSession<T>, Failure> {
        Ok(PointSelectSession {
            table: T::connect(&self.config).await?,
            config: Arc::clone(&self.config),
            rng: stream(seed, Purpose::User, u64::from(user)),
            rows: self.rows,
            key: 0,
        })
    }
}

/// One user with a connection.
#[derive(Debug)]
pub struct PointSelectSession<T: Table> {
    config: Arc<T::Config>,
    table: T,
    rng: Stream,
    rows: i32,
    key: i32,
}

impl<T: Table> Session for PointSelectSession<T> {
    fn choose(&mut self) -> OperationId {
        self.key = self.rng.random_range(1..=self.rows);
        0
    }

    async fn execute(&mut self, _operation: OperationId) -> Outcome {
        match self.table.read(self.key).await {
            Ok(()) => Outcome::Done,
            Err(failure) => Outcome::Failed(failure),
        }
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        self.table = T::connect(&self.config).await?;
        Ok(())
    }

    async fn close(&mut self) {
        self.table.close().await;
    }
}
