//! The one query of sysbench's `oltp_point_select`.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Table;
use crate::mysql::{Config, Connection, Error, Param, Statement};
use crate::oltp::parameters::{read, refuse};
use crate::plan::Refusal;
use crate::session::Failure;

const SELECT: Statement = Statement {
    slot: 0,
    name: "point-select",
    sql: "SELECT c FROM sbtest1 WHERE id = ?",
};

/// `table_size`, as given to `sysbench --table-size`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    table_size: i32,
}

/// `sbtest1` on MariaDB.
#[derive(Debug)]
pub struct Rows {
    connection: Connection,
}

impl Rows {
    async fn attempt(&mut self, key: i32) -> Result<(), Error> {
        self.connection.queue(&SELECT, &[Param::Int4(key)])?;
        self.connection.send().await?;
        self.connection.one(|mut row| row.bytes().map(drop)).await
    }
}

impl Table for Rows {
    type Config = Config;

    fn rows(parameters: &Map<String, Value>) -> Result<i32, Refusal> {
        let Parameters { table_size } = read(parameters)?;
        if table_size < 1 {
            return Err(refuse("table_size", format!("{table_size} is less than 1")));
        }
        Ok(table_size)
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
