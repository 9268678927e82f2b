//! `order-status` (clause 2.6.2).

use super::{COMMIT, begin_and_find};
use crate::oltp::engine::Ending;
use crate::oltp::inputs::OrderStatus;
use crate::postgres::{Connection, Error, Param, Statement};

pub const CUSTOMER: Statement = Statement {
    name: "order-status-customer",
    sql: "SELECT c_balance, c_first, c_middle, c_last FROM customer
          WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
};

/// The last order of the customer with its lines.
pub const LAST_ORDER: Statement = Statement {
    name: "order-status-last-order",
    sql: "SELECT o_id, o_entry_d, o_carrier_id,
                 ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
          FROM (SELECT o_w_id, o_d_id, o_id, o_entry_d, o_carrier_id FROM orders
                WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3
                ORDER BY o_id DESC LIMIT 1) AS latest
              JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id",
};

/// Makes one attempt.
pub async fn order_status(
    connection: &mut Connection,
    status: &OrderStatus,
) -> Result<Ending, Error> {
    let (customer, begin_is_due) =
        begin_and_find(connection, status.warehouse, status.district, &status.who).await?;
    let params = [
        Param::Int4(status.warehouse),
        Param::Int2(status.district),
        Param::Int4(customer),
    ];
    connection.queue(&CUSTOMER, &params)?;
    connection.queue(&LAST_ORDER, &params)?;
    connection.queue(&COMMIT, &[])?;
    connection.sync().await?;
    if begin_is_due {
        connection.done().await?;
    }
    connection.one(|mut row| row.numeric(2).map(drop)).await?;
    let lines = connection.rows(|mut row| row.int4().map(drop)).await?;
    connection.done().await?;
    connection.ready().await?;
    if lines == 0 {
        return Err(Error::Server {
            sqlstate: "P0002".into(),
            message: format!("customer {customer} has no order with lines"),
        });
    }
    Ok(Ending::Committed(None))
}
