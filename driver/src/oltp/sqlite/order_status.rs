//! `order-status` (clause 2.6.2).

use rusqlite::{Connection, Statement};

use super::statement::{BY_NAME, customer, each, the};
use crate::oltp::engine::Ending;
use crate::oltp::inputs::OrderStatus;
use crate::sqlite::Error;

const CUSTOMER: &str = "SELECT c_balance, c_first, c_middle, c_last FROM customer
    WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3";

/// The last order of the customer with its lines.
const LAST_ORDER: &str = "SELECT o_id, o_entry_d, o_carrier_id,
        ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
    FROM (SELECT o_w_id, o_d_id, o_id, o_entry_d, o_carrier_id FROM orders
          WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_c_id = ?3
          ORDER BY o_id DESC LIMIT 1) AS latest
        JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id";

/// The prepared statements.
pub struct OrderStatusStatements<'c> {
    by_name: Statement<'c>,
    customer: Statement<'c>,
    last_order: Statement<'c>,
}

impl<'c> OrderStatusStatements<'c> {
    pub fn prepare(connection: &'c Connection) -> Result<Self, Error> {
        Ok(Self {
            by_name: connection.prepare(BY_NAME)?,
            customer: connection.prepare(CUSTOMER)?,
            last_order: connection.prepare(LAST_ORDER)?,
        })
    }

    /// Makes one attempt.
    pub fn run(&mut self, status: &OrderStatus) -> Result<Ending, Error> {
        let (warehouse, district) = (status.warehouse, status.district);
        let number = customer(&mut self.by_name, warehouse, district, &status.who)?;
        let key = (warehouse, district, number);
        the(&mut self.customer, key, "customer", |row| {
            row.get::<_, i64>(0)
        })?;
        let lines = each(&mut self.last_order, key, |row| {
            row.get::<_, i64>(6).map(drop)
        })?;
        if lines == 0 {
            let problem = format!("customer {number} has no order with lines");
            return Err(Error::NoData(problem));
        }
        Ok(Ending::Committed(None))
    }
}
