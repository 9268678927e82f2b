//! `payment` (clause 2.5.2).

use rusqlite::{Connection, Statement};

use super::statement::{BY_NAME, customer, the};
use crate::oltp::engine::{Ending, Key};
use crate::oltp::inputs::Payment;
use crate::sqlite::Error;

/// `c_data` keeps the amount as money is written, as the other engines do.
const PAY: &str = "UPDATE customer
    SET c_balance = c_balance - ?4,
        c_ytd_payment = c_ytd_payment + ?4,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE c_credit WHEN 'BC'
            THEN substr(format('%d %d %d %d %d %d.%02d | %s',
                               c_id, c_d_id, c_w_id, ?6, ?5, ?4 / 100, ?4 % 100, c_data), 1, 500)
            ELSE c_data END
    WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3
    RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip,
        c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance,
        CASE c_credit WHEN 'BC' THEN substr(c_data, 1, 200) END";

const UPDATE_DISTRICT: &str =
    "UPDATE district SET d_ytd = d_ytd + ?3 WHERE d_w_id = ?1 AND d_id = ?2
    RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip";

const UPDATE_WAREHOUSE: &str = "UPDATE warehouse SET w_ytd = w_ytd + ?2 WHERE w_id = ?1
    RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip";

const INSERT_HISTORY: &str = "INSERT INTO history
        (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_date, h_amount, h_data)
    VALUES (?1, ?2, ?3, ?4, ?5, datetime('now'), ?6, ?7)";

/// The prepared statements.
pub struct PaymentStatements<'c> {
    by_name: Statement<'c>,
    pay: Statement<'c>,
    update_district: Statement<'c>,
    update_warehouse: Statement<'c>,
    insert_history: Statement<'c>,
}

impl<'c> PaymentStatements<'c> {
    pub fn prepare(connection: &'c Connection) -> Result<Self, Error> {
        Ok(Self {
            by_name: connection.prepare(BY_NAME)?,
            pay: connection.prepare(PAY)?,
            update_district: connection.prepare(UPDATE_DISTRICT)?,
            update_warehouse: connection.prepare(UPDATE_WAREHOUSE)?,
            insert_history: connection.prepare(INSERT_HISTORY)?,
        })
    }

    /// Makes one attempt.
    pub fn run(&mut self, payment: &Payment) -> Result<Ending, Error> {
        let (payer_w, payer_d) = (payment.customer_warehouse, payment.customer_district);
        let payer_c = customer(&mut self.by_name, payer_w, payer_d, &payment.who)?;
        let (warehouse, district) = (payment.warehouse, payment.district);
        let cents = payment.amount_cents;
        let params = (payer_w, payer_d, payer_c, cents, warehouse, district);
        the(&mut self.pay, params, "customer", |row| {
            row.get::<_, i64>(13)
        })?;
        let params = (warehouse, district, cents);
        let mut h_data = the(
            &mut self.update_warehouse,
            (warehouse, cents),
            "warehouse",
            name,
        )?;
        h_data.push_str("    ");
        h_data += &the(&mut self.update_district, params, "district", name)?;
        self.insert_history.execute((
            payer_w, payer_d, payer_c, warehouse, district, cents, &h_data,
        ))?;
        Ok(Ending::Committed(Some(Key::Customer(payer_c))))
    }
}

fn name(row: &rusqlite::Row<'_>) -> rusqlite::Result<String> {
    row.get(0)
}
