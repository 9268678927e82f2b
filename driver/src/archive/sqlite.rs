//! The archive on SQLite, in this process: prepared inserts in one transaction.
//!
//! A transaction that writes has that right alone, so the routes are read within it.

use std::sync::Arc;

use rusqlite::{Connection, params};

use super::engine::{Engine, Link, Table, mark};
use super::parameters::{Parameters, Path};
use super::segments::{Part, ROUTES, Routes};
use super::session::{Abilities, refuse_beyond};
use super::station_buffer::{Batch, SharedBuffer};
use crate::cpu_meter::CpuMeter;
use crate::plan::Refusal;
use crate::session::Failure;
use crate::sqlite::{Clerk, Config, EngineThread, Error, text_of};

/// How long a connection waits for another that writes, in milliseconds, unless the plan says it.
const BUSY_TIMEOUT_MS: &str = "5000";
/// Bytes of the columns of a row but its text.
const ROW_BYTES: u64 = 44;

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
    /// A [`Refusal`] if it does not, or if `parameters` ask for what SQLite cannot do.
    pub fn new(config: Config, parameters: &Parameters) -> Result<Self, Refusal> {
        refuse_beyond(parameters, "SQLite", Abilities::default())?;
        let config = config.with_default("busy_timeout", BUSY_TIMEOUT_MS);
        config.check()?;
        Ok(Self {
            config: Arc::new(config),
            meter: Arc::default(),
        })
    }
}

impl Engine for Sqlite {
    type Link = SqliteLink;
    const TYPES: [&'static str; 3] = ["integer", "real", "varchar(80)"];

    async fn connect(&self, _stores: Option<Path>) -> Result<SqliteLink, Failure> {
        let thread = EngineThread::start(Arc::clone(&self.config), Arc::clone(&self.meter));
        Ok(SqliteLink(thread.await?))
    }

    fn replace_view(&self, select: &str) -> Vec<String> {
        vec![
            "DROP VIEW IF EXISTS event_history".into(),
            format!("CREATE VIEW event_history AS {select}"),
        ]
    }

    fn begin_switch(&self) -> Vec<String> {
        vec!["BEGIN IMMEDIATE".into()]
    }

    fn instant(&self, unix_us: i64) -> String {
        unix_us.to_string()
    }

    fn version(&self) -> Option<String> {
        Some(format!("SQLite {}", rusqlite::version()))
    }

    fn cpu_s(&self) -> Option<f64> {
        Some(self.meter.total_s())
    }
}

/// A connection with its thread.
#[derive(Debug)]
pub struct SqliteLink(EngineThread<Archivist>);

impl Link for SqliteLink {
    async fn run(&mut self, sql: &str) -> Result<(), Failure> {
        self.0.call(Job::Run(sql.to_owned())).await?;
        Ok(())
    }

    async fn ask(&mut self, sql: &str) -> Result<Table, Failure> {
        let reply = self.0.call(Job::Ask(sql.to_owned())).await?;
        Ok(reply.table)
    }

    async fn store(&mut self, batch: &Batch, buffer: &SharedBuffer) -> Result<u64, Failure> {
        buffer.lock().doubt(batch.count());
        let reply = self.0.call(Job::Store(batch.clone())).await?;
        Ok(reply.bytes)
    }

    async fn close(&mut self) {
        self.0.close().await;
    }
}

/// Serves sessions of the archive.
#[derive(Debug)]
pub struct Archivist;

/// What the thread is asked.
#[derive(Debug)]
pub enum Job {
    /// Run statements.
    Run(String),
    /// Run a query.
    Ask(String),
    /// Store a batch.
    Store(Batch),
}

/// What it answers.
#[derive(Debug, Default)]
pub struct Reply {
    table: Table,
    /// Of the rows that were stored.
    bytes: u64,
}

impl Clerk for Archivist {
    type Desk<'c> = &'c Connection;
    type Job = Job;
    type Reply = Reply;

    fn settle(connection: &Connection) -> Result<&Connection, Error> {
        Ok(connection)
    }

    fn serve(desk: &mut &Connection, job: Job) -> Result<Reply, Error> {
        let result = serve(desk, &job);
        if result.is_err() && !desk.is_autocommit() {
            desk.execute_batch("ROLLBACK")?;
        }
        result
    }
}

fn serve(connection: &Connection, job: &Job) -> Result<Reply, Error> {
    let mut reply = Reply::default();
    match job {
        Job::Run(sql) => drop(ask(connection, sql)?),
        Job::Ask(sql) => reply.table = ask(connection, sql)?,
        Job::Store(batch) => reply.bytes = store(connection, batch)?,
    }
    Ok(reply)
}

fn ask(connection: &Connection, sql: &str) -> Result<Table, Error> {
    let mut statement = connection.prepare(sql)?;
    let count = statement.column_count();
    let mut rows = statement.query(())?;
    let mut table = Vec::new();
    while let Some(row) = rows.next()? {
        let column = |at| row.get_ref(at).map(text_of);
        table.push((0..count).map(column).collect::<Result<_, _>>()?);
    }
    Ok(table)
}

fn store(connection: &Connection, batch: &Batch) -> Result<u64, Error> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let routes = Routes::of(&ask(connection, ROUTES)?);
    let routes = routes.ok_or_else(|| Error::NoData("no segment takes events".into()))?;
    let mut bytes = 0;
    for part in routes.parts(batch) {
        bytes += insert(connection, batch, part)?;
    }
    connection.execute_batch(&mark(batch))?;
    connection.execute_batch("COMMIT")?;
    Ok(bytes)
}

fn insert(connection: &Connection, batch: &Batch, part: Part<'_>) -> Result<u64, Error> {
    let sql = format!("INSERT INTO {} VALUES (?, ?, ?, ?, ?, ?, ?)", part.segment);
    let mut insert = connection.prepare(&sql)?;
    let mut bytes = 0;
    for event in batch.events().filter(|event| part.takes(event)) {
        insert.execute(params![
            event.element,
            event.ts_us,
            event.value,
            event.text,
            event.status,
            event.station,
            event.seq
        ])?;
        bytes += ROW_BYTES + event.text.map_or(0, |text| text.len() as u64);
    }
    Ok(bytes)
}
