//! The load by prepared inserts.
//!
//! Rows are drawn on the worker and inserted on the session's thread, a batch at a time, so that both
//! go on at once.

use rusqlite::{Connection, Statement};

use crate::decimal::Decimal;
use crate::oltp::load::{RowWriter, Sink, TableSink, Timestamp};
use crate::session::Failure;
use crate::sqlite::{Clerk, EngineThread, Error};

/// Bytes gathered before they are sent to the thread.
const BATCH_BYTES: usize = 64 * 1024;
/// Batches that the thread may have before it.
const MOST_BATCHES: usize = 2;

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const TEXT: u8 = 2;

/// What the thread is asked.
#[derive(Debug)]
pub enum LoadJob {
    Begin,
    /// Rows come for this table, which has so many columns.
    Table(&'static str, i16),
    /// Whole rows, as [`BatchWriter`] writes them.
    Rows(Vec<u8>),
    Commit,
    Rollback,
}

/// Inserts what it is sent.
#[derive(Debug)]
pub struct Loader;

/// A connection and the insert of the table that is being filled.
pub struct Desk<'c> {
    connection: &'c Connection,
    insert: Option<(Statement<'c>, usize)>,
}

impl Clerk for Loader {
    type Desk<'c> = Desk<'c>;
    type Job = LoadJob;
    /// The buffer of a batch, to be filled again; an empty one for other jobs.
    type Reply = Vec<u8>;

    fn settle(connection: &Connection) -> Result<Desk<'_>, Error> {
        let insert = None;
        Ok(Desk { connection, insert })
    }

    fn serve(desk: &mut Desk<'_>, job: LoadJob) -> Result<Vec<u8>, Error> {
        let result = desk.serve(job);
        if result.is_err() {
            // Batches that were sent after the one that failed find no table to go to.
            desk.insert = None;
            desk.roll_back()?;
        }
        result
    }
}

impl Desk<'_> {
    fn serve(&mut self, job: LoadJob) -> Result<Vec<u8>, Error> {
        match job {
            LoadJob::Begin => self.connection.execute_batch("BEGIN IMMEDIATE")?,
            LoadJob::Table(name, columns) => {
                let marks = vec!["?"; columns as usize].join(", ");
                let sql = format!("INSERT INTO {name} VALUES ({marks})");
                self.insert = Some((self.connection.prepare(&sql)?, columns as usize));
            }
            LoadJob::Rows(batch) => {
                let Some((insert, columns)) = &mut self.insert else {
                    return Err(Error::Thread("rows without a table".into()));
                };
                insert_rows(insert, *columns, &batch)?;
                return Ok(batch);
            }
            LoadJob::Commit => {
                self.insert = None;
                self.connection.execute_batch("COMMIT")?;
            }
            LoadJob::Rollback => {
                self.insert = None;
                self.roll_back()?;
            }
        }
        Ok(Vec::new())
    }

    fn roll_back(&self) -> Result<(), Error> {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }
}

fn insert_rows(insert: &mut Statement<'_>, columns: usize, batch: &[u8]) -> Result<(), Error> {
    let mut rest = batch;
    while !rest.is_empty() {
        for column in 1..=columns {
            rest = bind(insert, column, rest).ok_or_else(torn)??;
        }
        insert.raw_execute()?;
    }
    Ok(())
}

/// Binds the next value of a batch; gives what comes after it.
fn bind<'b>(
    insert: &mut Statement<'_>,
    column: usize,
    batch: &'b [u8],
) -> Option<Result<&'b [u8], Error>> {
    let (tag, rest) = batch.split_first()?;
    let (bound, rest) = match *tag {
        NULL => (
            insert.raw_bind_parameter(column, rusqlite::types::Null),
            rest,
        ),
        INTEGER => {
            let (value, rest) = rest.split_first_chunk::<8>()?;
            let value = i64::from_le_bytes(*value);
            (insert.raw_bind_parameter(column, value), rest)
        }
        TEXT => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            let (text, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
            let text = std::str::from_utf8(text).ok()?;
            (insert.raw_bind_parameter(column, text), rest)
        }
        _ => return None,
    };
    Some(bound.map(|()| rest).map_err(Error::from))
}

fn torn() -> Error {
    Error::Thread("a batch of rows is not whole".into())
}

/// A connection that loads.
#[derive(Debug)]
pub struct SqliteSink {
    thread: EngineThread<Loader>,
    batch: Vec<u8>,
    spares: Vec<Vec<u8>>,
    /// Batches that were sent and not answered.
    sent: usize,
}

impl SqliteSink {
    pub(super) fn new(thread: EngineThread<Loader>) -> Self {
        Self {
            thread,
            batch: Vec::new(),
            spares: Vec::new(),
            sent: 0,
        }
    }

    /// Sends the batch; waits until at most `most` are not answered.
    async fn send_batch(&mut self, most: usize) -> Result<(), Error> {
        if !self.batch.is_empty() {
            let next = self.spares.pop().unwrap_or_default();
            let full = std::mem::replace(&mut self.batch, next);
            self.thread.send(LoadJob::Rows(full))?;
            self.sent += 1;
        }
        while self.sent > most {
            self.sent -= 1;
            let mut spare = self.thread.reply().await?;
            spare.clear();
            self.spares.push(spare);
        }
        Ok(())
    }
}

impl Sink for SqliteSink {
    type Error = Error;
    type Table<'s> = SqliteTable<'s>;

    async fn begin(&mut self) -> Result<(), Error> {
        self.thread.call(LoadJob::Begin).await.map(drop)
    }

    async fn table(&mut self, name: &'static str, columns: i16) -> Result<SqliteTable<'_>, Error> {
        self.thread.call(LoadJob::Table(name, columns)).await?;
        Ok(SqliteTable {
            sink: self,
            bytes: 0,
        })
    }

    async fn commit(&mut self) -> Result<(), Error> {
        self.thread.call(LoadJob::Commit).await.map(drop)
    }

    async fn fail(&mut self, error: Error) -> Failure {
        self.batch.clear();
        while self.sent > 0 {
            self.sent -= 1;
            // They failed because of the first one, which is the one to tell.
            let _ = self.thread.reply().await;
        }
        match self.thread.call(LoadJob::Rollback).await {
            Ok(_) => error.into(),
            Err(worse) => worse.into(),
        }
    }

    async fn close(&mut self) {
        self.thread.close().await;
    }
}

/// A table that is being filled.
#[derive(Debug)]
pub struct SqliteTable<'s> {
    sink: &'s mut SqliteSink,
    bytes: u64,
}

impl TableSink for SqliteTable<'_> {
    type Error = Error;

    #[inline]
    fn row(&mut self) -> impl RowWriter {
        BatchWriter {
            batch: &mut self.sink.batch,
        }
    }

    #[inline]
    async fn row_ended(&mut self) -> Result<(), Error> {
        if self.sink.batch.len() < BATCH_BYTES {
            return Ok(());
        }
        self.bytes += self.sink.batch.len() as u64;
        self.sink.send_batch(MOST_BATCHES).await
    }

    async fn finish(mut self) -> Result<u64, Error> {
        self.bytes += self.sink.batch.len() as u64;
        self.sink.send_batch(0).await?;
        Ok(self.bytes)
    }
}

/// Writes rows as values behind each other: a tag, then an integer, or a length and a text.
struct BatchWriter<'b> {
    batch: &'b mut Vec<u8>,
}

impl BatchWriter<'_> {
    #[inline]
    fn integer(&mut self, value: i64) -> &mut Self {
        self.batch.push(INTEGER);
        self.batch.extend_from_slice(&value.to_le_bytes());
        self
    }
}

impl RowWriter for BatchWriter<'_> {
    #[inline]
    fn begin(&mut self, _columns: i16) -> &mut Self {
        self
    }

    #[inline]
    fn int2(&mut self, value: i16) -> &mut Self {
        self.integer(value.into())
    }

    #[inline]
    fn int4(&mut self, value: i32) -> &mut Self {
        self.integer(value.into())
    }

    #[inline]
    fn timestamp(&mut self, at: Timestamp) -> &mut Self {
        self.text(&at.text())
    }

    #[inline]
    fn text_with(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> &mut Self {
        debug_assert!(length <= usize::from(u16::MAX));
        self.batch.push(TEXT);
        self.batch.extend_from_slice(&(length as u16).to_le_bytes());
        let start = self.batch.len();
        self.batch.resize(start + length, 0);
        fill(&mut self.batch[start..]);
        self
    }

    #[inline]
    fn numeric(&mut self, value: Decimal) -> &mut Self {
        self.integer(value.unscaled)
    }

    #[inline]
    fn null(&mut self) -> &mut Self {
        self.batch.push(NULL);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn inserted(batch: &[u8]) -> Result<Vec<(Option<i64>, String)>, Error> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch("CREATE TABLE t (a integer, b text NOT NULL)")?;
        insert_rows(
            &mut connection.prepare("INSERT INTO t VALUES (?, ?)")?,
            2,
            batch,
        )?;
        let mut rows = connection.prepare("SELECT a, b FROM t")?;
        let rows = rows.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    #[test]
    fn what_is_written_is_inserted() {
        let mut batch = Vec::new();
        let mut row = BatchWriter { batch: &mut batch };
        row.begin(2).int4(-7).text(b"seven");
        row.begin(2).null().timestamp(Timestamp::of_day(20_089));
        row.begin(2).numeric(Decimal::cents(250)).text(b"");
        let rows = inserted(&batch).expect("rows");
        assert_eq!(
            rows,
            [
                (Some(-7), "seven".into()),
                (None, "2025-01-01 00:00:00".into()),
                (Some(250), String::new()),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_inserted_or_refused(batch in proptest::collection::vec(0_u8..4, 0..60)) {
            let _ = inserted(&batch);
        }
    }
}
