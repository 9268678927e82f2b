//! On PostgreSQL: statements go by the simple protocol.

use super::engine::{Answer, Desk, Engine};
use crate::postgres::{Config, Connection};
use crate::session::Failure;
use crate::web::quoting::Quoting;

/// A database of PostgreSQL.
#[derive(Debug)]
pub struct Postgres(pub Config);

impl Engine for Postgres {
    type Desk = Connection;

    const QUOTING: Quoting = Quoting::Postgresql;

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
