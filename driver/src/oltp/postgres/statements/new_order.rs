//! `new-order` (clause 2.4.2).

use super::{BEGIN, COMMIT, ROLLBACK};
use crate::decimal::Decimal;
use crate::oltp::engine::{Ending, Key};
use crate::oltp::inputs::NewOrder;
use crate::oltp::lines::MAX_LINES;
use crate::postgres::{Connection, Error, Param, Row, Statement};

/// Stock is taken in the order of the arrays, which is by warehouse and item for all orders: two
/// orders that want the same rows wait for each other and never deadlock.
pub const TAKE_STOCK: Statement = Statement {
    name: "new-order-take-stock",
    sql: "UPDATE stock
          SET s_quantity = s_quantity - line.quantity
                  + CASE WHEN s_quantity >= line.quantity + 10 THEN 0 ELSE 91 END,
              s_ytd = s_ytd + line.quantity,
              s_order_cnt = s_order_cnt + 1,
              s_remote_cnt = s_remote_cnt + CASE WHEN s_w_id = $1 THEN 0 ELSE 1 END
          FROM unnest($3::integer[], $4::integer[], $5::smallint[])
                  WITH ORDINALITY AS line (item, supplier, quantity, number)
              JOIN item ON i_id = line.item
          WHERE s_w_id = line.supplier AND s_i_id = line.item
          RETURNING line.number, i_price,
              CASE $2::smallint
                  WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                  WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                  WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                  ELSE s_dist_10
              END,
              s_quantity, i_name, i_data, s_data",
};

pub const NEXT_ORDER: Statement = Statement {
    name: "new-order-next-order",
    sql: "UPDATE district SET d_next_o_id = d_next_o_id + 1
          FROM warehouse, customer
          WHERE d_w_id = $1 AND d_id = $2 AND w_id = $1
              AND c_w_id = $1 AND c_d_id = $2 AND c_id = $3
          RETURNING d_next_o_id - 1, d_tax, w_tax, c_discount, c_last, c_credit",
};

pub const INSERT_ORDER: Statement = Statement {
    name: "new-order-insert-order",
    sql: "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
          VALUES ($1, $2, $3, $4, localtimestamp, $5, $6)",
};

pub const INSERT_NEW_ORDER: Statement = Statement {
    name: "new-order-insert-new-order",
    sql: "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES ($1, $2, $3)",
};

pub const INSERT_LINES: Statement = Statement {
    name: "new-order-insert-lines",
    sql: "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id,
                                  ol_quantity, ol_amount, ol_dist_info)
          SELECT $1, $2, $3, line.number, line.item, line.supplier,
                 line.quantity, line.amount, line.dist_info
          FROM unnest($4::integer[], $5::integer[], $6::smallint[], $7::numeric[], $8::bpchar[])
                  WITH ORDINALITY AS line (item, supplier, quantity, amount, dist_info, number)",
};

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
    /// Notes one row of [`TAKE_STOCK`].
    fn note(&mut self, order: &NewOrder, mut row: Row<'_>) -> Result<(), Error> {
        let line = usize::try_from(row.int8()? - 1).unwrap_or(usize::MAX);
        let quantity = order.lines.quantities().get(line).ok_or_else(|| {
            Error::protocol(format!(
                "line {line} of an order that has {}",
                order.lines.count()
            ))
        })?;
        self.amounts[line] = Decimal::cents(row.numeric(2)? * i64::from(*quantity));
        let dist_info = row.text()?.as_bytes();
        self.dist_infos[line] = dist_info
            .try_into()
            .map_err(|_| Error::protocol("s_dist is not 24 bytes long"))?;
        Ok(())
    }
}

/// Makes one attempt. An item that does not exist gives no row, and the order is rolled back.
pub async fn new_order(
    connection: &mut Connection,
    scratch: &mut Scratch,
    order: &NewOrder,
) -> Result<Ending, Error> {
    connection.queue(&BEGIN, &[])?;
    queue_stock(connection, order)?;
    let place = [
        Param::Int4(order.warehouse),
        Param::Int2(order.district),
        Param::Int4(order.customer),
    ];
    connection.queue(&NEXT_ORDER, &place)?;
    connection.sync().await?;
    connection.done().await?;
    let found = connection.rows(|row| scratch.note(order, row)).await?;
    let number = connection.one(|mut row| row.int4()).await?;
    connection.ready().await?;

    let complete = found == order.lines.count() as u64;
    if complete {
        queue_inserts(connection, scratch, order, number)?;
        connection.queue(&COMMIT, &[])?;
        connection.sync().await?;
        for _ in 0..4 {
            connection.done().await?;
        }
    } else {
        connection.queue(&ROLLBACK, &[])?;
        connection.sync().await?;
        connection.done().await?;
    }
    connection.ready().await?;
    Ok(if complete {
        Ending::Committed(Some(Key::Order(number)))
    } else {
        Ending::RolledBack
    })
}

fn queue_stock(connection: &mut Connection, order: &NewOrder) -> Result<(), Error> {
    let lines = &order.lines;
    let params = [
        Param::Int4(order.warehouse),
        Param::Int2(order.district),
        Param::Int4Array(lines.items()),
        Param::Int4Array(lines.suppliers()),
        Param::Int2Array(lines.quantities()),
    ];
    connection.queue(&TAKE_STOCK, &params)
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
    let columns = [
        warehouse,
        district,
        number,
        Param::Int4Array(lines.items()),
        Param::Int4Array(lines.suppliers()),
        Param::Int2Array(lines.quantities()),
        Param::NumericArray(&scratch.amounts[..count]),
        Param::CharArray(&scratch.dist_infos[..count]),
    ];
    connection.queue(&INSERT_ORDER, &head)?;
    connection.queue(&INSERT_NEW_ORDER, &key)?;
    connection.queue(&INSERT_LINES, &columns)
}
