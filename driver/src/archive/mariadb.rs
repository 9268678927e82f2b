//! The archive on MariaDB: rows travel by LOAD DATA LOCAL.

use std::io::Write as _;

use super::engine::{Engine, Link, Table, mark, move_staged, table_sql};
use super::parameters::{Parameters, Path};
use super::segments::{Part, ROUTES, Routes};
use super::session::{Abilities, refuse_beyond};
use super::source::Event;
use super::station_buffer::{Batch, SharedBuffer};
use crate::mysql::{Config, Connection, Error, LoadData};
use crate::oltp::load::Timestamp;
use crate::plan::Refusal;
use crate::session::Failure;

const SECOND_US: i64 = 1_000_000;

/// A MariaDB server.
#[derive(Debug)]
pub struct MariaDb(Config);

impl MariaDb {
    /// The server of `config`.
    ///
    /// # Errors
    /// A [`Refusal`] if `parameters` ask for what it cannot do.
    pub fn new(config: Config, parameters: &Parameters) -> Result<Self, Refusal> {
        let abilities = Abilities {
            procedures: true,
            compression: true,
            // ALTER TABLE ignores DATA DIRECTORY.
            second_place: false,
        };
        refuse_beyond(parameters, "MariaDB", abilities)?;
        Ok(Self(config))
    }
}

impl Engine for MariaDb {
    type Link = MariaDbLink;
    const TYPES: [&'static str; 3] = ["datetime(6)", "double", "varchar(80)"];

    async fn connect(&self, stores: Option<Path>) -> Result<MariaDbLink, Failure> {
        let mut connection = Connection::connect(&self.0).await?;
        if stores == Some(Path::Staged) {
            let table = table_sql("archive_staging", "CREATE TEMPORARY TABLE", Self::TYPES);
            connection.run(&table).await?;
        }
        Ok(MariaDbLink {
            connection,
            path: stores.unwrap_or(Path::Direct),
        })
    }

    /// Does not conflict with plain readers, only with the share locks of `MariaDbLink::routes`.
    fn begin_switch(&self) -> Vec<String> {
        vec![
            "BEGIN".into(),
            "SELECT number FROM archive_segment FOR UPDATE".into(),
        ]
    }

    fn analyse(&self, name: &str) -> String {
        format!("ANALYZE TABLE {name}")
    }

    fn compress(&self, name: &str) -> Option<String> {
        Some(format!("ALTER TABLE {name} PAGE_COMPRESSED = 1, FORCE"))
    }

    fn instant(&self, unix_us: i64) -> String {
        format!("(TIMESTAMP '1970-01-01 00:00:00' + INTERVAL {unix_us} MICROSECOND)")
    }
}

/// A connection.
#[derive(Debug)]
pub struct MariaDbLink {
    connection: Connection,
    path: Path,
}

impl MariaDbLink {
    /// The routes, read after any switch that is under way; the locks are gone when the answer comes.
    async fn routes(&mut self) -> Result<Routes, Error> {
        let sql = format!("{ROUTES} LOCK IN SHARE MODE");
        let table = self.connection.ask(&sql).await?;
        Routes::of(&table).ok_or_else(|| Error::data("P0002", "no segment takes events"))
    }

    async fn send(&mut self, batch: &Batch, buffer: &SharedBuffer) -> Result<u64, Error> {
        let routes = self.routes().await?;
        let connection = &mut self.connection;
        connection.run("BEGIN").await?;
        let mut bytes = 0;
        let finish = match self.path {
            Path::Direct => {
                for part in routes.parts(batch) {
                    bytes += load(connection, part.segment, batch, Some(part)).await?;
                }
                mark(batch)
            }
            Path::Staged => {
                bytes += load(connection, "archive_staging", batch, None).await?;
                move_staged(batch)
            }
        };
        connection.run(&finish).await?;
        buffer.lock().doubt(batch.count());
        connection.run("COMMIT").await?;
        Ok(bytes)
    }
}

/// Loads the events of `batch` that `part` takes, or all.
async fn load(
    connection: &mut Connection,
    table: &str,
    batch: &Batch,
    part: Option<Part<'_>>,
) -> Result<u64, Error> {
    let mut rows = LoadData::begin(connection, table).await?;
    for event in batch.events() {
        if part.is_none_or(|part| part.takes(&event)) {
            write(&event, rows.line());
            rows.row_ended().await?;
        }
    }
    rows.finish().await
}

/// Writes a row as LOAD DATA reads it, without the end of its line.
fn write(event: &Event<'_>, line: &mut Vec<u8>) {
    let at = Timestamp::of_seconds(event.ts_us.div_euclid(SECOND_US));
    // Writing to memory does not fail.
    let _ = write!(line, "{}\t", event.element);
    line.extend_from_slice(&at.text());
    let _ = write!(line, ".{:06}\t", event.ts_us.rem_euclid(SECOND_US));
    match event.value {
        Some(value) => {
            let _ = write!(line, "{value}\t");
        }
        None => line.extend_from_slice(b"\\N\t"),
    }
    line.extend_from_slice(event.text.unwrap_or("\\N").as_bytes());
    let (status, station, seq) = (event.status, event.station, event.seq);
    let _ = write!(line, "\t{status}\t{station}\t{seq}");
}

impl Link for MariaDbLink {
    async fn run(&mut self, sql: &str) -> Result<(), Failure> {
        match self.connection.run(sql).await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.connection.fail(error).await),
        }
    }

    async fn ask(&mut self, sql: &str) -> Result<Table, Failure> {
        match self.connection.ask(sql).await {
            Ok(table) => Ok(table),
            Err(error) => Err(self.connection.fail(error).await),
        }
    }

    async fn store(&mut self, batch: &Batch, buffer: &SharedBuffer) -> Result<u64, Failure> {
        match self.send(batch, buffer).await {
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(self.connection.fail(error).await),
        }
    }

    async fn close(&mut self) {
        self.connection.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_line() {
        let mut event = Event {
            element: 7,
            ts_us: 1_735_689_600_000_250,
            value: Some(0.1),
            text: None,
            status: 192,
            station: 3,
            seq: 5,
        };
        let text = |event: &Event<'_>| {
            let mut line = Vec::new();
            write(event, &mut line);
            String::from_utf8(line).expect("text")
        };
        let expected = "7\t2025-01-01 00:00:00.000250\t0.1\t\\N\t192\t3\t5";
        assert_eq!(text(&event), expected);
        (event.value, event.text) = (None, Some("ON"));
        let expected = "7\t2025-01-01 00:00:00.000250\t\\N\tON\t192\t3\t5";
        assert_eq!(text(&event), expected);
    }
}
