//! The load by `COPY ... FROM STDIN (FORMAT binary)`.

use crate::decimal::Decimal;
use crate::oltp::load::{RowWriter, Sink, TableSink, Timestamp};
use crate::postgres::{Connection, CopyIn, Error, TupleWriter};
use crate::session::Failure;

/// A connection that loads.
#[derive(Debug)]
pub struct PostgresSink {
    connection: Connection,
}

impl PostgresSink {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection }
    }
}

impl Sink for PostgresSink {
    type Error = Error;
    type Table<'s> = CopyIn<'s>;

    async fn begin(&mut self) -> Result<(), Error> {
        self.connection.run("BEGIN").await
    }

    async fn table(&mut self, name: &'static str, _columns: i16) -> Result<CopyIn<'_>, Error> {
        CopyIn::begin(&mut self.connection, name).await
    }

    async fn commit(&mut self) -> Result<(), Error> {
        self.connection.run("COMMIT").await
    }

    async fn fail(&mut self, error: Error) -> Failure {
        self.connection.fail(error).await
    }

    async fn close(&mut self) {
        self.connection.close().await;
    }
}

impl TableSink for CopyIn<'_> {
    type Error = Error;

    #[inline]
    fn row(&mut self) -> impl RowWriter {
        TupleWriter::new(self.buffer())
    }

    #[inline]
    async fn row_ended(&mut self) -> Result<(), Error> {
        self.send_if_full().await
    }

    async fn finish(self) -> Result<u64, Error> {
        CopyIn::finish(self).await
    }
}

impl RowWriter for TupleWriter<'_> {
    #[inline]
    fn begin(&mut self, columns: i16) -> &mut Self {
        self.columns(columns)
    }

    #[inline]
    fn int2(&mut self, value: i16) -> &mut Self {
        TupleWriter::int2(self, value)
    }

    #[inline]
    fn int4(&mut self, value: i32) -> &mut Self {
        TupleWriter::int4(self, value)
    }

    #[inline]
    fn timestamp(&mut self, at: Timestamp) -> &mut Self {
        TupleWriter::timestamp(self, at.microseconds_since_2000())
    }

    #[inline]
    fn text_with(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> &mut Self {
        TupleWriter::text_with(self, length, fill)
    }

    #[inline]
    fn numeric(&mut self, value: Decimal) -> &mut Self {
        TupleWriter::numeric(self, value)
    }

    #[inline]
    fn null(&mut self) -> &mut Self {
        TupleWriter::null(self)
    }
}
