//! The role `load`: the initial data of clause 4.3.3, written in bulk into empty tables.
//!
//! The data is cut into work items: the items, and for each warehouse its orders, its stock, its
//! customers, and the warehouse itself. Sessions take the next item from a shared counter, biggest
//! first, and write it in one transaction, so that an attempt that fails leaves nothing behind.
//! Each table of each warehouse has its own stream of draws: who writes it does not matter.

mod fields;
mod orders;
mod row;
mod sink;
mod tables;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::engine::Engine;
use crate::session::{Failure, OperationId, Outcome, Session, Workload};

pub use row::{RowWriter, Timestamp};
pub use sink::{Sink, TableSink};

/// Names of the operations: one for each kind of work item.
const OPERATIONS: [&str; 5] = [
    "load-order",
    "load-stock",
    "load-customer",
    "load-item",
    "load-warehouse",
];

/// A source of rows of one table.
trait Rows {
    /// The table.
    const TABLE: &'static str;
    /// Its columns.
    const COLUMNS: i16;

    /// Writes the next row; false, and nothing is written, when there is none.
    fn write_next(&mut self, row: &mut impl RowWriter) -> bool;
}

/// What is written in one transaction; the number is that of the warehouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WorkItem {
    Orders(u32),
    Stock(u32),
    Customers(u32),
    Items,
    Warehouse(u32),
}

impl WorkItem {
    /// The item at a position of the list, biggest first.
    fn at(position: u64, warehouses: u32) -> Option<Self> {
        let per_kind = u64::from(warehouses);
        let warehouse = |first: u64| (position - first + 1) as u32;
        match position {
            p if p < per_kind => Some(Self::Orders(warehouse(0))),
            p if p < 2 * per_kind => Some(Self::Stock(warehouse(per_kind))),
            p if p < 3 * per_kind => Some(Self::Customers(warehouse(2 * per_kind))),
            p if p == 3 * per_kind => Some(Self::Items),
            p if p <= 4 * per_kind => Some(Self::Warehouse(warehouse(3 * per_kind + 1))),
            _ => None,
        }
    }

    fn operation(self) -> OperationId {
        match self {
            Self::Orders(_) => 0,
            Self::Stock(_) => 1,
            Self::Customers(_) => 2,
            Self::Items => 3,
            Self::Warehouse(_) => 4,
        }
    }
}

/// Rows, and bytes of them as they are sent.
#[derive(Debug, Clone, Copy, Default)]
struct Written {
    rows: u64,
    bytes: u64,
}

impl std::ops::AddAssign for Written {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.bytes += other.bytes;
    }
}

/// What the sessions share.
#[derive(Debug, Default)]
struct Progress {
    next: AtomicU64,
    rows: AtomicU64,
    bytes: AtomicU64,
}

/// Writes the data of order entry.
#[derive(Debug)]
pub struct OltpLoad<E> {
    engine: Arc<E>,
    warehouses: u32,
    progress: Arc<Progress>,
}

impl<E: Engine> OltpLoad<E> {
    /// The data of `warehouses` warehouses for `engine`.
    pub fn new(engine: E, warehouses: u32) -> Self {
        Self {
            engine: Arc::new(engine),
            warehouses,
            progress: Arc::default(),
        }
    }
}

impl<E: Engine> Workload for OltpLoad<E> {
    type Session = LoadSession<E>;

    fn operations(&self) -> &[&'static str] {
        &OPERATIONS
    }

    async fn open(&self, _user: u32, seed: u64) -> Result<LoadSession<E>, Failure> {
        Ok(LoadSession {
            sink: self.engine.sink().await?,
            engine: Arc::clone(&self.engine),
            progress: Arc::clone(&self.progress),
            warehouses: self.warehouses,
            seed,
            item: None,
        })
    }

    fn engine(&self) -> Option<String> {
        self.engine.version()
    }

    fn engine_cpu_s(&self) -> Option<f64> {
        self.engine.cpu_s()
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("rows", self.progress.rows.load(Ordering::Relaxed) as f64),
            ("bytes", self.progress.bytes.load(Ordering::Relaxed) as f64),
        ]
    }
}

/// One connection that writes work items.
#[derive(Debug)]
pub struct LoadSession<E: Engine> {
    engine: Arc<E>,
    sink: E::Sink,
    progress: Arc<Progress>,
    warehouses: u32,
    seed: u64,
    item: Option<WorkItem>,
}

/// Writes one work item in a transaction of its own.
async fn write<S: Sink>(sink: &mut S, seed: u64, item: WorkItem) -> Result<Written, S::Error> {
    sink.begin().await?;
    let mut written = Written::default();
    match item {
        WorkItem::Orders(warehouse) => {
            written += fill(sink, orders::Orders::new(seed, warehouse)).await?;
            written += fill(sink, orders::NewOrders::new(warehouse)).await?;
            written += fill(sink, orders::OrderLines::new(seed, warehouse)).await?;
        }
        WorkItem::Stock(warehouse) => {
            written += fill(sink, tables::Stock::new(seed, warehouse)).await?;
        }
        WorkItem::Customers(warehouse) => {
            written += fill(sink, tables::Customers::new(seed, warehouse)).await?;
            written += fill(sink, tables::History::new(seed, warehouse)).await?;
        }
        WorkItem::Items => written += fill(sink, tables::Items::new(seed)).await?,
        WorkItem::Warehouse(warehouse) => {
            written += fill(sink, tables::Warehouse::new(seed, warehouse)).await?;
            written += fill(sink, tables::Districts::new(seed, warehouse)).await?;
        }
    }
    sink.commit().await?;
    Ok(written)
}

/// Writes all rows of a source into its table.
async fn fill<S: Sink, R: Rows>(sink: &mut S, mut source: R) -> Result<Written, S::Error> {
    let mut table = sink.table(R::TABLE, R::COLUMNS).await?;
    let mut rows = 0;
    while source.write_next(&mut table.row()) {
        rows += 1;
        table.row_ended().await?;
    }
    let bytes = table.finish().await?;
    Ok(Written { rows, bytes })
}

impl<E: Engine> Session for LoadSession<E> {
    fn choose(&mut self) -> OperationId {
        let position = self.progress.next.fetch_add(1, Ordering::Relaxed);
        self.item = WorkItem::at(position, self.warehouses);
        self.item.map_or(0, WorkItem::operation)
    }

    async fn execute(&mut self, _operation: OperationId) -> Outcome {
        let Some(item) = self.item else {
            return Outcome::Exhausted;
        };
        match write(&mut self.sink, self.seed, item).await {
            Ok(written) => {
                self.progress
                    .rows
                    .fetch_add(written.rows, Ordering::Relaxed);
                self.progress
                    .bytes
                    .fetch_add(written.bytes, Ordering::Relaxed);
                Outcome::Done
            }
            Err(error) => Outcome::Failed(self.sink.fail(error).await),
        }
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        self.sink = self.engine.sink().await?;
        Ok(())
    }

    async fn close(&mut self) {
        self.sink.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::TupleWriter;
    use bytes::BytesMut;
    use proptest::prelude::*;

    /// All bytes of a source and the number of its rows.
    fn all<R: Rows>(mut source: R) -> (usize, BytesMut) {
        let (mut buf, mut rows) = (BytesMut::new(), 0);
        while source.write_next(&mut TupleWriter::new(&mut buf)) {
            rows += 1;
        }
        (rows, buf)
    }

    #[test]
    fn the_list_names_everything_once() {
        let list: Vec<_> = (0..14)
            .map_while(|position| WorkItem::at(position, 3))
            .collect();
        assert_eq!(list.len(), 3 * 4 + 1);
        assert_eq!(list[0], WorkItem::Orders(1));
        assert_eq!(list[8], WorkItem::Customers(3));
        assert_eq!(list[9], WorkItem::Items);
        assert_eq!(list[12], WorkItem::Warehouse(3));
    }

    #[test]
    fn tables_have_the_rows_of_the_specification() {
        assert_eq!(all(tables::Items::new(1)).0, 100_000);
        assert_eq!(all(tables::Warehouse::new(1, 1)).0, 1);
        assert_eq!(all(tables::Districts::new(1, 1)).0, 10);
        assert_eq!(all(tables::Customers::new(1, 1)).0, 30_000);
        assert_eq!(all(tables::History::new(1, 1)).0, 30_000);
        assert_eq!(all(tables::Stock::new(1, 1)).0, 100_000);
        assert_eq!(all(orders::Orders::new(1, 1)).0, 30_000);
        assert_eq!(all(orders::NewOrders::new(1)).0, 9_000);
        let lines = all(orders::OrderLines::new(1, 1)).0;
        assert!((297_000..303_000).contains(&lines), "{lines} lines");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]
        #[test]
        fn the_same_seed_gives_the_same_bytes(seed in any::<u64>(), warehouse in 1_u32..1000) {
            prop_assert_eq!(all(tables::Customers::new(seed, warehouse)), all(tables::Customers::new(seed, warehouse)));
            let lines = all(orders::OrderLines::new(seed, warehouse));
            prop_assert_eq!(&lines, &all(orders::OrderLines::new(seed, warehouse)));
            prop_assert_ne!(&lines.1, &all(orders::OrderLines::new(seed ^ 1, warehouse)).1);
            prop_assert_ne!(&lines.1, &all(orders::OrderLines::new(seed, warehouse + 1)).1);
        }
    }
}
