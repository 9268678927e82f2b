//! What the archive needs of an engine.

use std::fmt::Debug;
use std::future::Future;

use super::parameters::Path;
use super::segments::index_name;
use super::station_buffer::{Batch, SharedBuffer};
use crate::session::{ErrorClass, Failure};

/// Rows of an answer, as text.
pub type Table = Vec<Vec<Option<String>>>;

/// An engine at an address. One value serves all sessions.
pub trait Engine: Debug + Send + Sync + 'static {
    /// A connection.
    type Link: Link;

    /// What the engine calls the types of a moment, a floating point number and a text.
    const TYPES: [&'static str; 3];

    /// Opens a connection; one that `stores` gets what the path of its events needs.
    fn connect(&self, stores: Option<Path>) -> impl Future<Output = Result<Self::Link, Failure>>;

    /// Statements that make the table of a segment, with its index if it is to have it at once.
    fn create_segment(&self, name: &str, indexed: bool) -> Vec<String> {
        let table = table_sql(name, "CREATE TABLE IF NOT EXISTS", Self::TYPES);
        let index = indexed.then(|| self.create_index(name));
        [table].into_iter().chain(index).collect()
    }

    /// The statement that makes the index of a segment that has none.
    fn create_index(&self, name: &str) -> String {
        let index = index_name(name);
        format!("CREATE INDEX IF NOT EXISTS {index} ON {name} (element_id, ts)")
    }

    /// Statements that let the view `event_history` be `select`.
    fn replace_view(&self, select: &str) -> Vec<String> {
        vec![format!("CREATE OR REPLACE VIEW event_history AS {select}")]
    }

    /// Statements that begin a transaction for which whoever reads the routes of events must wait: a station
    /// reads them before the keeper has this right, or after the keeper's commit.
    fn begin_switch(&self) -> Vec<String>;

    /// The statement that renews the statistics of a segment.
    fn analyse(&self, name: &str) -> String {
        format!("ANALYZE {name}")
    }

    /// The statement that compresses a segment; none when the engine cannot.
    fn compress(&self, _name: &str) -> Option<String> {
        None
    }

    /// Statements that move a segment with its index to the second place; none when the engine cannot.
    fn move_away(&self, _name: &str) -> Vec<String> {
        Vec::new()
    }

    /// A moment as a literal of SQL, from microseconds since 1970.
    fn instant(&self, unix_us: i64) -> String;

    /// Name and version of an engine within this process.
    fn version(&self) -> Option<String> {
        None
    }

    /// Processor time, in seconds, that the engine has used within this process so far.
    fn cpu_s(&self) -> Option<f64> {
        None
    }
}

/// A connection. After a failure that is not fatal nothing is left open.
pub trait Link {
    /// Runs one statement; its rows do not matter.
    fn run(&mut self, sql: &str) -> impl Future<Output = Result<(), Failure>>;

    /// Runs one query.
    fn ask(&mut self, sql: &str) -> impl Future<Output = Result<Table, Failure>>;

    /// Stores a batch and the station's new mark in one transaction, each event in the segment of its time;
    /// notes in `buffer` when the commit is sent. Returns the bytes of the rows as they were sent.
    fn store(
        &mut self,
        batch: &Batch,
        buffer: &SharedBuffer,
    ) -> impl Future<Output = Result<u64, Failure>>;

    /// Says goodbye to the engine.
    fn close(&mut self) -> impl Future<Output = ()>;
}

/// Sets the mark of a station.
pub(super) fn mark(batch: &Batch) -> String {
    format!(
        "UPDATE archive_station SET stored = {} WHERE station = {}",
        batch.last_seq(),
        batch.station()
    )
}

/// Calls the procedure that moves staged events into the segments and sets the mark of the station.
pub(super) fn move_staged(batch: &Batch) -> String {
    format!(
        "CALL archive_store({}, {})",
        batch.station(),
        batch.last_seq()
    )
}

/// The table of a segment, with the engine's words for its types.
pub(super) fn table_sql(name: &str, create: &str, types: [&str; 3]) -> String {
    let [instant, double, text] = types;
    format!(
        "{create} {name} (element_id integer NOT NULL, ts {instant} NOT NULL, value {double}, \
         text {text}, status integer NOT NULL, station integer NOT NULL, seq bigint NOT NULL)"
    )
}

/// The first column of the first row as a number; 0 where it is NULL.
pub(super) fn number(table: &Table) -> Option<i64> {
    match table.first()?.first()? {
        Some(text) => text.parse().ok(),
        None => Some(0),
    }
}

/// The catalogue says what it must not say.
pub(super) fn damaged(problem: &str) -> Failure {
    Failure {
        class: ErrorClass("catalogue".into()),
        message: problem.to_owned(),
    }
}
