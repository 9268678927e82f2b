//! `delivery` (clause 2.7.4): the oldest order of each district, all in one transaction.

use super::{BEGIN, COMMIT};
use crate::decimal::Decimal;
use crate::oltp::engine::{Delivered, Ending, Key};
use crate::oltp::inputs::Delivery;
use crate::oltp::parameters::DISTRICTS;
use crate::postgres::{Connection, Error, Param, Statement};

/// `FOR UPDATE` under the `LIMIT` makes a second delivery, which waited for this one, go on to the order
/// that is the oldest then, instead of finding nothing.
pub const TAKE_OLDEST: Statement = Statement {
    name: "delivery-take-oldest",
    sql: "DELETE FROM new_order
          USING generate_series(1, 10) AS number
              CROSS JOIN LATERAL (
                  SELECT no_d_id, no_o_id FROM new_order
                  WHERE no_w_id = $1 AND no_d_id = number::smallint
                  ORDER BY no_o_id LIMIT 1 FOR UPDATE) AS oldest
          WHERE new_order.no_w_id = $1
              AND new_order.no_d_id = oldest.no_d_id AND new_order.no_o_id = oldest.no_o_id
          RETURNING new_order.no_d_id, new_order.no_o_id",
};

pub const UPDATE_ORDERS: Statement = Statement {
    name: "delivery-orders",
    sql: "UPDATE orders SET o_carrier_id = $2
          FROM unnest($3::smallint[], $4::integer[]) AS taken (district, number)
          WHERE o_w_id = $1 AND o_d_id = taken.district AND o_id = taken.number
          RETURNING o_d_id, o_c_id",
};

pub const UPDATE_LINES: Statement = Statement {
    name: "delivery-lines",
    sql: "UPDATE order_line SET ol_delivery_d = localtimestamp
          FROM unnest($2::smallint[], $3::integer[]) AS taken (district, number)
          WHERE ol_w_id = $1 AND ol_d_id = taken.district AND ol_o_id = taken.number
          RETURNING ol_d_id, ol_amount",
};

pub const UPDATE_CUSTOMERS: Statement = Statement {
    name: "delivery-customers",
    sql: "UPDATE customer SET c_balance = c_balance + paid.amount, c_delivery_cnt = c_delivery_cnt + 1
          FROM unnest($2::smallint[], $3::integer[], $4::numeric[]) AS paid (district, customer, amount)
          WHERE c_w_id = $1 AND c_d_id = paid.district AND c_id = paid.customer",
};

const SLOTS: usize = DISTRICTS as usize;

/// What was taken, and what the customers owe for it.
#[derive(Debug, Default)]
struct Taken {
    delivered: Delivered,
    customers: [i32; SLOTS],
    cents: [i64; SLOTS],
}

impl Taken {
    fn add(&mut self, district: i16, order: i32) -> Result<(), Error> {
        match self.delivered.add(district, order) {
            true => Ok(()),
            false => Err(Error::protocol("more orders than districts")),
        }
    }

    fn slot(&self, district: i16) -> Result<usize, Error> {
        let taken = self.delivered.districts();
        taken
            .iter()
            .position(|known| *known == district)
            .ok_or_else(|| Error::protocol(format!("district {district} was not asked for")))
    }
}

/// Makes one attempt. A district without a new order is passed over (clause 2.7.4.2).
pub async fn delivery(connection: &mut Connection, delivery: &Delivery) -> Result<Ending, Error> {
    let warehouse = Param::Int4(delivery.warehouse);
    let mut taken = Taken::default();
    connection.queue(&BEGIN, &[])?;
    connection.queue(&TAKE_OLDEST, &[warehouse])?;
    connection.sync().await?;
    connection.done().await?;
    connection
        .rows(|mut row| taken.add(row.int2()?, row.int4()?))
        .await?;
    connection.ready().await?;

    let districts = Param::Int2Array(taken.delivered.districts());
    let orders = Param::Int4Array(taken.delivered.orders());
    connection.queue(
        &UPDATE_ORDERS,
        &[warehouse, Param::Int2(delivery.carrier), districts, orders],
    )?;
    connection.queue(&UPDATE_LINES, &[warehouse, districts, orders])?;
    connection.sync().await?;
    read_orders_and_lines(connection, &mut taken).await?;

    credit_customers(connection, warehouse, &taken).await?;
    Ok(Ending::Committed(Some(Key::Delivered(taken.delivered))))
}

async fn read_orders_and_lines(
    connection: &mut Connection,
    taken: &mut Taken,
) -> Result<(), Error> {
    connection
        .rows(|mut row| {
            let slot = taken.slot(row.int2()?)?;
            taken.customers[slot] = row.int4()?;
            Ok(())
        })
        .await?;
    connection
        .rows(|mut row| {
            let slot = taken.slot(row.int2()?)?;
            taken.cents[slot] += row.numeric(2)?;
            Ok(())
        })
        .await?;
    connection.ready().await
}

async fn credit_customers(
    connection: &mut Connection,
    warehouse: Param<'_>,
    taken: &Taken,
) -> Result<(), Error> {
    let amounts = taken.cents.map(Decimal::cents);
    let districts = taken.delivered.districts();
    let params = [
        warehouse,
        Param::Int2Array(districts),
        Param::Int4Array(&taken.customers[..districts.len()]),
        Param::NumericArray(&amounts[..districts.len()]),
    ];
    connection.queue(&UPDATE_CUSTOMERS, &params)?;
    connection.queue(&COMMIT, &[])?;
    connection.sync().await?;
    connection.done().await?;
    connection.done().await?;
    connection.ready().await
}
