//! `new-order` (clause 2.4.2).

use super::{ROLLBACK, STATEMENTS, commit, found};
use crate::decimal::Decimal;
use crate::mysql::{Connection, Error, Param, Row, Statement};
use crate::oltp::engine::{Ending, Key};
use crate::oltp::inputs::NewOrder;
use crate::oltp::lines::MAX_LINES;

/// Fewest lines of an order.
const MIN_LINES: usize = 5;

/// Stock is taken line by line, by warehouse and item for all orders: two orders that want the same rows
/// wait for each other and never deadlock. Assignments are made from left to right, so that the first
/// one to use `s_quantity` changes it.
pub const TAKE_STOCK: Statement = Statement {
    slot: 15,
    name: "new-order-take-stock",
    sql: "UPDATE stock
          SET s_quantity = s_quantity - ? + IF(s_quantity >= ? + 10, 0, 91),
              s_ytd = s_ytd + ?,
              s_order_cnt = s_order_cnt + 1,
              s_remote_cnt = s_remote_cnt + ?
          WHERE s_w_id = ? AND s_i_id = ?",
};

/// The lock is the one that the foreign key of `orders` takes later, after that of the district; a payment
/// takes the customer first.
pub const CUSTOMER: Statement = Statement {
    slot: 16,
    name: "new-order-customer",
    sql: "SELECT c_discount, c_last, c_credit FROM customer
          WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? LOCK IN SHARE MODE",
};

pub const NEXT_ORDER: Statement = Statement {
    slot: 17,
    name: "new-order-next-order",
    sql: "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?",
};

pub const HEAD: Statement = Statement {
    slot: 18,
    name: "new-order-head",
    sql: "SELECT d_next_o_id - 1, d_tax, w_tax FROM district JOIN warehouse ON w_id = d_w_id
          WHERE d_w_id = ? AND d_id = ?",
};

pub const INSERT_ORDER: Statement = Statement {
    slot: 19,
    name: "new-order-insert-order",
    sql: "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
          VALUES (?, ?, ?, ?, localtimestamp(6), ?, ?)",
};

pub const INSERT_NEW_ORDER: Statement = Statement {
    slot: 20,
    name: "new-order-insert-new-order",
    sql: "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (?, ?, ?)",
};

pub const INSERT_LINES: Statement = Statement {
    slot: 21,
    name: "new-order-insert-lines",
    sql: "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id,
                                  ol_quantity, ol_amount, ol_dist_info)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
};

/// Slot of the first of the statements that read the lines.
const FIRST_READ_SLOT: usize = 22;
/// Name of each, by its number of lines.
const READ_NAMES: [&str; MAX_LINES - MIN_LINES + 1] = [
    "new-order-read-5-lines",
    "new-order-read-6-lines",
    "new-order-read-7-lines",
    "new-order-read-8-lines",
    "new-order-read-9-lines",
    "new-order-read-10-lines",
    "new-order-read-11-lines",
    "new-order-read-12-lines",
    "new-order-read-13-lines",
    "new-order-read-14-lines",
    "new-order-read-15-lines",
];

/// What is read of the lines: one statement for each number of them, in which each is a key.
pub fn read_lines() -> Vec<Statement> {
    let statement = |(nth, name): (usize, &'static str)| {
        let keys = vec!["s_w_id = ? AND s_i_id = ?"; MIN_LINES + nth].join(" OR ");
        Statement {
            slot: FIRST_READ_SLOT + nth,
            name,
            // Once for the whole process.
            sql: String::leak(format!(
                "SELECT STRAIGHT_JOIN s_w_id, s_i_id, i_price,
                     ELT(?, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05,
                            s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10),
                     s_quantity, i_name, i_data, s_data
                 FROM stock JOIN item ON i_id = s_i_id WHERE {keys}"
            )),
        }
    };
    READ_NAMES.into_iter().enumerate().map(statement).collect()
}

/// What the server says about the lines of an order; kept by the session and used again.
#[derive(Debug, Clone, Copy)]
pub struct Scratch {
    amounts: [Decimal; MAX_LINES],
    dist_infos: [[u8; 24]; MAX_LINES],
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            amounts: [Decimal::cents(0); MAX_LINES],
            dist_infos: [[b' '; 24]; MAX_LINES],
        }
    }
}

impl Scratch {
    /// Notes one row of [`read_lines`].
    fn note(&mut self, order: &NewOrder, mut row: Row<'_>) -> Result<(), Error> {
        let lines = &order.lines;
        let key = (row.int4()?, row.int4()?);
        let keys = lines.suppliers().iter().zip(lines.items());
        let line = keys
            .map(|(supplier, item)| (*supplier, *item))
            .position(|known| known == key)
            .ok_or_else(|| Error::protocol(format!("stock {key:?} was not asked for")))?;
        let quantity = i64::from(lines.quantities()[line]);
        self.amounts[line] = Decimal::cents(row.decimal(2)? * quantity);
        self.dist_infos[line] = row
            .bytes()?
            .try_into()
            .map_err(|_| Error::protocol("s_dist is not 24 bytes long"))?;
        Ok(())
    }

    fn dist_info(&self, line: usize) -> &str {
        std::str::from_utf8(&self.dist_infos[line]).unwrap_or_default()
    }
}

/// Makes one attempt. An item that does not exist gives no row, and the order is rolled back.
pub async fn new_order(
    connection: &mut Connection,
    scratch: &mut Scratch,
    order: &NewOrder,
) -> Result<Ending, Error> {
    let count = order.lines.count() as u64;
    queue_first(connection, order)?;
    connection.send().await?;
    connection.done().await?;
    let lines = connection.rows(|row| scratch.note(order, row)).await?.rows;
    connection.one(|mut row| row.decimal(4).map(drop)).await?;
    found(connection, 1, "district").await?;
    let number = connection.one(|mut row| row.int4()).await?;
    if lines < count {
        connection.queue(&ROLLBACK, &[])?;
        connection.send().await?;
        connection.done().await?;
        return Ok(Ending::RolledBack);
    }
    queue_inserts(connection, scratch, order, number)?;
    connection.send().await?;
    found(connection, 1, "orders").await?;
    found(connection, 1, "new_order").await?;
    found(connection, count, "order_line").await?;
    commit(connection).await?;
    Ok(Ending::Committed(Some(Key::Order(number))))
}

fn queue_first(connection: &mut Connection, order: &NewOrder) -> Result<(), Error> {
    let (warehouse, district) = (Param::Int4(order.warehouse), Param::Int2(order.district));
    let lines = &order.lines;
    let stock = (0..lines.count()).map(|line| {
        let supplier = lines.suppliers()[line];
        let quantity = Param::Int2(lines.quantities()[line]);
        let remote = Param::Int2(i16::from(supplier != order.warehouse));
        let (supplier, item) = (Param::Int4(supplier), Param::Int4(lines.items()[line]));
        [quantity, quantity, quantity, remote, supplier, item]
    });
    connection.queue_bulk(&TAKE_STOCK, stock)?;
    let mut keys = [district; 1 + 2 * MAX_LINES];
    for line in 0..lines.count() {
        keys[1 + 2 * line] = Param::Int4(lines.suppliers()[line]);
        keys[2 + 2 * line] = Param::Int4(lines.items()[line]);
    }
    let read = STATEMENTS
        .get(FIRST_READ_SLOT + lines.count() - MIN_LINES)
        .ok_or_else(|| Error::protocol(format!("an order of {} lines", lines.count())))?;
    connection.queue(read, &keys[..1 + 2 * lines.count()])?;
    let customer = [warehouse, district, Param::Int4(order.customer)];
    connection.queue(&CUSTOMER, &customer)?;
    connection.queue(&NEXT_ORDER, &[warehouse, district])?;
    connection.queue(&HEAD, &[warehouse, district])
}

fn queue_inserts(
    connection: &mut Connection,
    scratch: &Scratch,
    order: &NewOrder,
    number: i32,
) -> Result<(), Error> {
    let (lines, count) = (&order.lines, order.lines.count());
    let key = [
        Param::Int4(order.warehouse),
        Param::Int2(order.district),
        Param::Int4(number),
    ];
    let [warehouse, district, number] = key;
    let head = [
        warehouse,
        district,
        number,
        Param::Int4(order.customer),
        Param::Int2(count as i16),
        Param::Int2(order.all_local()),
    ];
    let rows = (0..count).map(|line| {
        [
            warehouse,
            district,
            number,
            Param::Int2(line as i16 + 1),
            Param::Int4(lines.items()[line]),
            Param::Int4(lines.suppliers()[line]),
            Param::Int2(lines.quantities()[line]),
            Param::Decimal(scratch.amounts[line]),
            Param::Text(scratch.dist_info(line)),
        ]
    });
    connection.queue(&INSERT_ORDER, &head)?;
    connection.queue(&INSERT_NEW_ORDER, &key)?;
    connection.queue_bulk(&INSERT_LINES, rows)
}
