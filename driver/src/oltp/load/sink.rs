//! Where the rows of the load go: a transaction, in it tables, in them rows.

use std::future::Future;

use super::row::RowWriter;
use crate::session::Failure;

/// A connection that writes rows in bulk.
pub trait Sink {
    /// What can go wrong, before it is told as a [`Failure`].
    type Error;
    /// A table that is being filled.
    type Table<'s>: TableSink<Error = Self::Error>
    where
        Self: 's;

    /// Begins the transaction of one work item.
    fn begin(&mut self) -> impl Future<Output = Result<(), Self::Error>>;

    /// Begins to fill `name`, all of its `columns` in their order.
    fn table(
        &mut self,
        name: &'static str,
        columns: i16,
    ) -> impl Future<Output = Result<Self::Table<'_>, Self::Error>>;

    /// Ends the transaction.
    fn commit(&mut self) -> impl Future<Output = Result<(), Self::Error>>;

    /// Takes back what a transaction that failed has left, and tells why it failed.
    fn fail(&mut self, error: Self::Error) -> impl Future<Output = Failure>;

    /// Says goodbye to the engine.
    fn close(&mut self) -> impl Future<Output = ()>;
}

/// A table that is being filled.
pub trait TableSink {
    /// What can go wrong.
    type Error;

    /// Where the next row is written to.
    fn row(&mut self) -> impl RowWriter;

    /// Takes note that a row is complete; sends what was gathered when that is enough.
    fn row_ended(&mut self) -> impl Future<Output = Result<(), Self::Error>>;

    /// Sends the rest and waits until the engine has taken it; returns the bytes that were sent.
    fn finish(self) -> impl Future<Output = Result<u64, Self::Error>>;
}
