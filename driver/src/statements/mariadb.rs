//! On MySQL and MariaDB.

use super::engine::{Answer, Desk, Engine};
use crate::mysql::{Config, Connection};
use crate::session::Failure;
use crate::web::quoting::Quoting;

/// A database of MariaDB.
#[derive(Debug)]
pub struct MariaDb(pub Config);

impl Engine for MariaDb {
    type Desk = Connection;

    const QUOTING: Quoting = Quoting::Mysql;

    async fn connect(&self) -> Result<Connection, Failure> {
        Ok(Self::Desk::connect(&self.0).await?)
    }
}

impl Desk for Connection {
    async fn ask(&mut self, sql: &str, collects: bool) -> Result<Answer, Failure> {
        let mut answer = Answer::new(collects);
        match self.read_text(sql, answer.table.as_mut()).await {
            Ok(rows) => Ok(Answer { rows, ..answer }),
            Err(error) => Err(self.fail(error).await),
        }
    }

    async fn close(&mut self) {
        Self::close(self).await;
    }
}
