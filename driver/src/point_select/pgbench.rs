//! The one query of pgbench's select-only script.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Table;
use crate::oltp::parameters::{read, refuse};
use crate::plan::Refusal;
use crate::postgres::{Config, Connection, Error, Param, Statement};
use crate::session::Failure;

const ACCOUNTS_PER_SCALE: i32 = 100_000;
const MAX_SCALE: i32 = i32::MAX / ACCOUNTS_PER_SCALE;

const SELECT: Statement = Statement {
    name: "point-select",
    sql: "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
};

/// `scale`, as given to `pgbench -i -s`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    scale: i32,
}

/// `pgbench_accounts` on PostgreSQL.
#[derive(Debug)]
pub struct Accounts {
    connection: Connection,
}

impl Accounts {
    async fn attempt(&mut self, key: i32) -> Result<(), Error> {
        self.connection.queue(&SELECT, &[Param::Int4(key)])?;
        self.connection.sync().await?;
        self.connection.one(|mut row| row.int4().map(drop)).await?;
        self.connection.ready().await
    }
}

impl Table for Accounts {
    type Config = Config;

    fn rows(parameters: &Map<String, Value>) -> Result<i32, Refusal> {
        let Parameters { scale } = read(parameters)?;
        if !(1..=MAX_SCALE).contains(&scale) {
            return Err(refuse(
                "scale",
                format!("{scale} is not between 1 and {MAX_SCALE}"),
            ));
        }
        Ok(scale * ACCOUNTS_PER_SCALE)
    }

    async fn connect(config: &Config) -> Result<Self, Failure> {
        let mut connection = Connection::connect(config).await?;
        connection.prepare(&[SELECT]).await?;
        Ok(Self { connection })
    }

    async fn read(&mut self, key: i32) -> Result<(), Failure> {
        match self.attempt(key).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.connection.fail(error).await),
        }
    }

    async fn close(&mut self) {
        self.connection.close().await;
    }
}
