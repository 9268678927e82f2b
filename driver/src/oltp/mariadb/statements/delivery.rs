//! `delivery` (clause 2.7.4): the oldest order of each district, all in one transaction.

use super::{commit, found};
use crate::mysql::{Connection, Error, Param, Statement};
use crate::oltp::engine::{Delivered, Ending, Key};
use crate::oltp::inputs::Delivery;
use crate::oltp::parameters::DISTRICTS;

/// A second delivery waits here for the lock of the first, finds that the order is gone, and goes on to
/// the next one in the order of the key.
pub const TAKE_OLDEST: Statement = Statement {
    slot: 10,
    name: "delivery-take-oldest",
    sql: "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ?
          ORDER BY no_o_id LIMIT 1 RETURNING no_o_id",
};

pub const UPDATE_ORDERS: Statement = Statement {
    slot: 11,
    name: "delivery-orders",
    sql: "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
};

pub const UPDATE_LINES: Statement = Statement {
    slot: 12,
    name: "delivery-lines",
    sql: "UPDATE order_line SET ol_delivery_d = localtimestamp(6)
          WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
};

pub const UPDATE_CUSTOMERS: Statement = Statement {
    slot: 13,
    name: "delivery-customers",
    sql: "UPDATE customer
          SET c_balance = c_balance + (SELECT sum(ol_amount) FROM order_line
                                       WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?),
              c_delivery_cnt = c_delivery_cnt + 1
          WHERE c_w_id = ? AND c_d_id = ?
              AND c_id = (SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?)",
};

/// Makes one attempt. A district without a new order is passed over (clause 2.7.4.2).
pub async fn delivery(connection: &mut Connection, delivery: &Delivery) -> Result<Ending, Error> {
    let delivered = take_oldest(connection, delivery.warehouse).await?;
    let count = delivered.orders().len() as u64;
    if count > 0 {
        queue_updates(connection, delivery, &delivered)?;
        connection.send().await?;
        found(connection, count, "orders").await?;
        if connection.done().await?.affected < count {
            return Err(connection.missing("an order has no lines").await);
        }
        found(connection, count, "customers of orders").await?;
    }
    commit(connection).await?;
    Ok(Ending::Committed(Some(Key::Delivered(delivered))))
}

async fn take_oldest(connection: &mut Connection, warehouse: i32) -> Result<Delivered, Error> {
    let mut delivered = Delivered::default();
    let districts = 1..=DISTRICTS as i16;
    for district in districts.clone() {
        let params = [Param::Int4(warehouse), Param::Int2(district)];
        connection.queue(&TAKE_OLDEST, &params)?;
    }
    connection.send().await?;
    for district in districts {
        connection
            .rows(|mut row| match delivered.add(district, row.int4()?) {
                true => Ok(()),
                false => Err(Error::protocol("more orders than districts")),
            })
            .await?;
    }
    Ok(delivered)
}

fn queue_updates(
    connection: &mut Connection,
    delivery: &Delivery,
    delivered: &Delivered,
) -> Result<(), Error> {
    let carrier = Param::Int2(delivery.carrier);
    let keys = || {
        let places = delivered.districts().iter().zip(delivered.orders());
        places.map(|(district, order)| {
            [
                Param::Int4(delivery.warehouse),
                Param::Int2(*district),
                Param::Int4(*order),
            ]
        })
    };
    connection.queue_bulk(&UPDATE_ORDERS, keys().map(|[w, d, o]| [carrier, w, d, o]))?;
    connection.queue_bulk(&UPDATE_LINES, keys())?;
    let customers = keys().map(|[w, d, o]| [w, d, o, w, d, w, d, o]);
    connection.queue_bulk(&UPDATE_CUSTOMERS, customers)
}
