//! The load by `LOAD DATA LOCAL INFILE`.

use crate::mysql::{Connection, Error, LineWriter, LoadData};
use crate::oltp::load::{RowWriter, Sink, TableSink};
use crate::session::Failure;

/// A connection that loads.
#[derive(Debug)]
pub struct MariaDbSink {
    connection: Connection,
}

impl MariaDbSink {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection }
    }
}

impl Sink for MariaDbSink {
    type Error = Error;
    type Table<'s> = LoadData<'s>;

    async fn begin(&mut self) -> Result<(), Error> {
        self.connection.run("START TRANSACTION").await.map(drop)
    }

    async fn table(&mut self, name: &'static str, _columns: i16) -> Result<LoadData<'_>, Error> {
        LoadData::begin(&mut self.connection, name).await
    }

    async fn commit(&mut self) -> Result<(), Error> {
        self.connection.run("COMMIT").await.map(drop)
    }

    async fn fail(&mut self, error: Error) -> Failure {
        self.connection.fail(error).await
    }

    async fn close(&mut self) {
        self.connection.close().await;
    }
}

impl TableSink for LoadData<'_> {
    type Error = Error;

    fn row(&mut self) -> impl RowWriter {
        let row: LineWriter<'_> = LoadData::row(self);
        row
    }

    async fn row_ended(&mut self) -> Result<(), Error> {
        LoadData::row_ended(self).await
    }

    async fn finish(self) -> Result<u64, Error> {
        LoadData::finish(self).await
    }
}
