//! The archive on PostgreSQL: a batch is one pipeline, with its rows as COPY in binary.

use super::engine::{Engine, Link, Table, damaged, mark, move_staged, table_sql};
use super::parameters::{Parameters, Path};
use super::segments::{Part, ROUTES, Routes, index_name};
use super::session::{Abilities, refuse_beyond};
use super::source::Event;
use super::station_buffer::{Batch, SharedBuffer};
use crate::plan::Refusal;
use crate::postgres::{Config, Connection, Error};
use crate::session::Failure;

/// The tablespace to which closed segments are moved.
const SECOND_PLACE: &str = "loadstone_archive";
/// Microseconds from 1970 to 2000, from where PostgreSQL counts.
const TO_2000_US: i64 = 946_684_800_000_000;
/// Widest text of an event, in bytes: 80 characters of four.
const TEXT_BYTES: usize = 320;

/// A PostgreSQL server.
#[derive(Debug)]
pub struct Postgres(Config);

impl Postgres {
    /// The server of `config`.
    ///
    /// # Errors
    /// A [`Refusal`] if `parameters` ask for what it cannot do.
    pub fn new(config: Config, parameters: &Parameters) -> Result<Self, Refusal> {
        let abilities = Abilities {
            procedures: true,
            compression: false,
            second_place: true,
        };
        refuse_beyond(parameters, "PostgreSQL", abilities)?;
        Ok(Self(config))
    }
}

impl Engine for Postgres {
    type Link = PostgresLink;
    const TYPES: [&'static str; 3] = ["timestamp(6)", "double precision", "varchar(80)"];

    async fn connect(&self, stores: Option<Path>) -> Result<PostgresLink, Failure> {
        let mut connection = Connection::connect(&self.0).await?;
        if stores == Some(Path::Staged) {
            let table = table_sql("archive_staging", "CREATE TEMPORARY TABLE", Self::TYPES);
            connection
                .run(&format!("{table} ON COMMIT DELETE ROWS"))
                .await?;
        }
        Ok(PostgresLink {
            connection,
            path: stores.unwrap_or(Path::Direct),
        })
    }

    /// Does not conflict with plain readers, only with `FENCE`.
    fn begin_switch(&self) -> Vec<String> {
        vec![
            "BEGIN".into(),
            "LOCK TABLE archive_segment IN EXCLUSIVE MODE".into(),
        ]
    }

    fn move_away(&self, name: &str) -> Vec<String> {
        let index = index_name(name);
        vec![
            format!("ALTER TABLE {name} SET TABLESPACE {SECOND_PLACE}"),
            format!("ALTER INDEX {index} SET TABLESPACE {SECOND_PLACE}"),
        ]
    }

    fn instant(&self, unix_us: i64) -> String {
        format!("('epoch'::timestamp + {unix_us} * interval '1 microsecond')")
    }
}

/// Waits for a switch that is under way; the lock is gone again when the answer comes.
const FENCE: &str = "LOCK TABLE archive_segment IN ROW SHARE MODE";

/// A connection.
#[derive(Debug)]
pub struct PostgresLink {
    connection: Connection,
    path: Path,
}

impl PostgresLink {
    /// The routes, read after any switch that is under way.
    async fn routes(&mut self) -> Result<Routes, Failure> {
        let sql = format!("{FENCE}; {ROUTES}");
        let table = self.ask(&sql).await?;
        Routes::of(&table).ok_or_else(|| damaged("no segment takes events"))
    }

    async fn send(
        &mut self,
        batch: &Batch,
        routes: &Routes,
        buffer: &SharedBuffer,
    ) -> Result<u64, Error> {
        let connection = &mut self.connection;
        let mut bytes = 0;
        let finish = match self.path {
            Path::Direct => {
                let mut opening = "BEGIN; ";
                for part in routes.parts(batch) {
                    let sql = copy(opening, part.segment);
                    bytes += copy_events(connection, &sql, batch, Some(part)).await?;
                    opening = "";
                }
                mark(batch)
            }
            Path::Staged => {
                let sql = copy("BEGIN; ", "archive_staging");
                bytes += copy_events(connection, &sql, batch, None).await?;
                move_staged(batch)
            }
        };
        connection.queue_text(&format!("{finish}; COMMIT"))?;
        buffer.lock().doubt(batch.count());
        connection.settle().await?;
        Ok(bytes)
    }
}

fn copy(opening: &str, table: &str) -> String {
    format!("{opening}COPY {table} FROM STDIN (FORMAT binary)")
}

/// Adds the events of `batch` that `part` takes to the pipeline, or all.
async fn copy_events(
    connection: &mut Connection,
    sql: &str,
    batch: &Batch,
    part: Option<Part<'_>>,
) -> Result<u64, Error> {
    connection.queue_text(sql)?;
    let mut rows = connection.rows_in();
    let mut room = [0; ROW_BYTES + TEXT_BYTES];
    for event in batch.events() {
        if part.is_none_or(|part| part.takes(&event)) {
            let length = encode(&event, &mut room);
            rows.add(&room[..length]).await?;
        }
    }
    Ok(rows.end())
}

impl Link for PostgresLink {
    async fn run(&mut self, sql: &str) -> Result<(), Failure> {
        match self.connection.run(sql).await {
            Ok(()) => Ok(()),
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
        let routes = self.routes().await?;
        match self.send(batch, &routes, buffer).await {
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(self.connection.fail(error).await),
        }
    }

    async fn close(&mut self) {
        self.connection.close().await;
    }
}

/// A row without its text: the number of columns, then the length and the bytes of each.
const ROW_BYTES: usize = 2 + (4 + 4) + (4 + 8) + (4 + 8) + 4 + (4 + 4) + (4 + 4) + (4 + 8);

/// Writes a row as COPY has it in binary; returns its length.
#[inline]
fn encode(event: &Event<'_>, room: &mut [u8; ROW_BYTES + TEXT_BYTES]) -> usize {
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        room[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    put(&7_i16.to_be_bytes());
    put(&4_i32.to_be_bytes());
    put(&event.element.to_be_bytes());
    put(&8_i32.to_be_bytes());
    put(&(event.ts_us - TO_2000_US).to_be_bytes());
    match event.value {
        Some(value) => {
            put(&8_i32.to_be_bytes());
            put(&value.to_be_bytes());
        }
        None => put(&(-1_i32).to_be_bytes()),
    }
    match event.text {
        Some(text) => {
            put(&(text.len() as i32).to_be_bytes());
            put(text.as_bytes());
        }
        None => put(&(-1_i32).to_be_bytes()),
    }
    put(&4_i32.to_be_bytes());
    put(&event.status.to_be_bytes());
    put(&4_i32.to_be_bytes());
    put(&event.station.to_be_bytes());
    put(&8_i32.to_be_bytes());
    put(&event.seq.to_be_bytes());
    at
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;
    use crate::postgres::TupleWriter;

    #[test]
    fn a_row_is_as_the_general_writer_has_it() {
        let mut event = Event {
            element: 7,
            ts_us: TO_2000_US + 5,
            value: Some(1.5),
            text: None,
            status: 192,
            station: 3,
            seq: 1 << 40,
        };
        for text in [None, Some("RAMPING")] {
            event.text = text;
            let mut room = [0; ROW_BYTES + TEXT_BYTES];
            let length = encode(&event, &mut room);
            let mut expected = BytesMut::new();
            let mut writer = TupleWriter::new(&mut expected);
            writer.columns(7).int4(7).timestamp(5);
            // The general writer has no doubles; a timestamp has the same width.
            writer.timestamp(1.5_f64.to_bits().cast_signed());
            match text {
                Some(text) => writer.text_with(text.len(), |room| {
                    room.copy_from_slice(text.as_bytes());
                }),
                None => writer.null(),
            };
            writer.int4(192).int4(3).timestamp(1 << 40);
            assert_eq!(room[..length], expected[..]);
        }
    }
}
