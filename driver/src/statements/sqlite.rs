//! On SQLite: each user has a connection in a thread of its own.

use std::sync::Arc;

use rusqlite::Connection;

use super::engine::{Answer, Desk, Engine};
use crate::cpu_meter::CpuMeter;
use crate::plan::Refusal;
use crate::session::Failure;
use crate::sqlite::{Clerk, Config, EngineThread, Error, text_of};
use crate::text_rows::TextRows;
use crate::web::quoting::Quoting;

/// How long a connection waits for another that writes, in milliseconds, unless the plan says it.
const BUSY_TIMEOUT_MS: &str = "5000";

/// A file of SQLite.
#[derive(Debug)]
pub struct Sqlite {
    config: Arc<Config>,
    meter: Arc<CpuMeter>,
}

impl Sqlite {
    /// The file of `config`, which is opened once to see that it takes its pragmas.
    ///
    /// # Errors
    /// A [`Refusal`] if it does not.
    pub fn new(config: Config) -> Result<Self, Refusal> {
        let config = config.with_default("busy_timeout", BUSY_TIMEOUT_MS);
        config.check()?;
        Ok(Self {
            config: Arc::new(config),
            meter: Arc::default(),
        })
    }
}

impl Engine for Sqlite {
    type Desk = EngineThread<Reader>;

    const QUOTING: Quoting = Quoting::Sqlite;

    async fn connect(&self) -> Result<EngineThread<Reader>, Failure> {
        EngineThread::start(Arc::clone(&self.config), Arc::clone(&self.meter)).await
    }

    fn version(&self) -> Option<String> {
        Some(format!("SQLite {}", rusqlite::version()))
    }

    fn cpu_s(&self) -> Option<f64> {
        Some(self.meter.total_s())
    }
}

impl Desk for EngineThread<Reader> {
    async fn ask(&mut self, sql: &str, collects: bool) -> Result<Answer, Failure> {
        Ok(self.call((sql.into(), collects)).await?)
    }

    async fn close(&mut self) {
        Self::close(self).await;
    }
}

/// Makes statements. Each is a transaction of its own.
#[derive(Debug)]
pub struct Reader;

impl Clerk for Reader {
    type Desk<'c> = &'c Connection;
    type Job = (Box<str>, bool);
    type Reply = Answer;

    fn settle(connection: &Connection) -> Result<&Connection, Error> {
        Ok(connection)
    }

    fn serve(desk: &mut &Connection, (sql, collects): Self::Job) -> Result<Answer, Error> {
        let mut statement = desk.prepare(&sql)?;
        let mut answer = Answer::new(collects);
        if let Some(table) = &mut answer.table {
            table.columns(&statement.column_names());
        }
        let columns = statement.column_count();
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            answer.rows += 1;
            if let Some(table) = &mut answer.table {
                let values: Result<Vec<_>, _> = (0..columns)
                    .map(|at| row.get_ref(at).map(text_of))
                    .collect();
                let values = values?;
                table.row(&values.iter().map(Option::as_deref).collect::<Vec<_>>());
            }
        }
        Ok(answer)
    }
}
