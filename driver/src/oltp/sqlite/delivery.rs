//! `delivery` (clause 2.7.4): the oldest order of each district, all in one transaction.

use rusqlite::{Connection, Statement};

use super::statement::{each, one, the};
use crate::oltp::engine::{Delivered, Ending, Key};
use crate::oltp::inputs::Delivery;
use crate::oltp::parameters::DISTRICTS;
use crate::sqlite::Error;

const TAKE_OLDEST: &str = "DELETE FROM new_order
    WHERE no_w_id = ?1 AND no_d_id = ?2
        AND no_o_id = (SELECT min(no_o_id) FROM new_order WHERE no_w_id = ?1 AND no_d_id = ?2)
    RETURNING no_o_id";

const UPDATE_ORDER: &str = "UPDATE orders SET o_carrier_id = ?4
    WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_id = ?3
    RETURNING o_c_id";

const UPDATE_LINES: &str = "UPDATE order_line SET ol_delivery_d = datetime('now')
    WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id = ?3
    RETURNING ol_amount";

const UPDATE_CUSTOMER: &str = "UPDATE customer
    SET c_balance = c_balance + ?4, c_delivery_cnt = c_delivery_cnt + 1
    WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3";

/// The prepared statements.
pub struct DeliveryStatements<'c> {
    take_oldest: Statement<'c>,
    update_order: Statement<'c>,
    update_lines: Statement<'c>,
    update_customer: Statement<'c>,
}

impl<'c> DeliveryStatements<'c> {
    pub fn prepare(connection: &'c Connection) -> Result<Self, Error> {
        Ok(Self {
            take_oldest: connection.prepare(TAKE_OLDEST)?,
            update_order: connection.prepare(UPDATE_ORDER)?,
            update_lines: connection.prepare(UPDATE_LINES)?,
            update_customer: connection.prepare(UPDATE_CUSTOMER)?,
        })
    }

    /// Makes one attempt. A district without a new order is passed over (clause 2.7.4.2).
    pub fn run(&mut self, delivery: &Delivery) -> Result<Ending, Error> {
        let mut delivered = Delivered::default();
        for district in 1..=DISTRICTS as i16 {
            let place = (delivery.warehouse, district);
            if let Some(order) = one(&mut self.take_oldest, place, |row| row.get(0))? {
                self.deliver(delivery, district, order)?;
                if !delivered.add(district, order) {
                    return Err(Error::NoData("more orders than districts".into()));
                }
            }
        }
        Ok(Ending::Committed(Some(Key::Delivered(delivered))))
    }

    fn deliver(&mut self, delivery: &Delivery, district: i16, order: i32) -> Result<(), Error> {
        let warehouse = delivery.warehouse;
        let params = (warehouse, district, order, delivery.carrier);
        let customer: i32 = the(&mut self.update_order, params, "order", |row| row.get(0))?;
        let mut cents = 0;
        each(
            &mut self.update_lines,
            (warehouse, district, order),
            |row| {
                cents += row.get::<_, i64>(0)?;
                Ok(())
            },
        )?;
        self.update_customer
            .execute((warehouse, district, customer, cents))?;
        Ok(())
    }
}
