//! `order-status` (clause 2.6.2).

use super::{COMMIT, find};
use crate::mysql::{Connection, Error, Param, Statement};
use crate::oltp::engine::Ending;
use crate::oltp::inputs::OrderStatus;

pub const CUSTOMER: Statement = Statement {
    slot: 8,
    name: "order-status-customer",
    sql: "SELECT c_balance, c_first, c_middle, c_last FROM customer
          WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
};

/// The last order of the customer with its lines.
pub const LAST_ORDER: Statement = Statement {
    slot: 9,
    name: "order-status-last-order",
    sql: "SELECT o_id, o_entry_d, o_carrier_id,
                 ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
          FROM (SELECT o_w_id, o_d_id, o_id, o_entry_d, o_carrier_id FROM orders
                WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ?
                ORDER BY o_id DESC LIMIT 1) AS latest
              JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id",
};

/// Makes one attempt. It only reads, so that COMMIT may follow whatever becomes of it.
pub async fn order_status(
    connection: &mut Connection,
    status: &OrderStatus,
) -> Result<Ending, Error> {
    let customer = find(connection, status.warehouse, status.district, &status.who).await?;
    let params = [
        Param::Int4(status.warehouse),
        Param::Int2(status.district),
        Param::Int4(customer),
    ];
    connection.queue(&CUSTOMER, &params)?;
    connection.queue(&LAST_ORDER, &params)?;
    connection.queue(&COMMIT, &[])?;
    connection.send().await?;
    connection.one(|mut row| row.decimal(2).map(drop)).await?;
    let lines = connection.rows(|mut row| row.int().map(drop)).await?.rows;
    if lines == 0 {
        let problem = format!("customer {customer} has no order with lines");
        return Err(connection.missing(problem).await);
    }
    connection.done().await?;
    Ok(Ending::Committed(None))
}
