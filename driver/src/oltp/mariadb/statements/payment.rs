//! `payment` (clause 2.5.2).

use super::{commit, find, found};
use crate::decimal::Decimal;
use crate::mysql::{Connection, Error, Param, Statement};
use crate::oltp::engine::{Ending, Key};
use crate::oltp::inputs::Payment;

/// Assignments are made from left to right, so that `c_data` comes first: it does not see them.
pub const PAY: Statement = Statement {
    slot: 3,
    name: "payment-customer",
    sql: "UPDATE customer
          SET c_data = IF(c_credit = 'BC',
                  left(concat(concat_ws(' ', c_id, c_d_id, c_w_id, ?, ?, ?), ' | ', c_data), 500), c_data),
              c_balance = c_balance - ?,
              c_ytd_payment = c_ytd_payment + ?,
              c_payment_cnt = c_payment_cnt + 1
          WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
};

pub const UPDATE_DISTRICT: Statement = Statement {
    slot: 4,
    name: "payment-district",
    sql: "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?",
};

pub const UPDATE_WAREHOUSE: Statement = Statement {
    slot: 5,
    name: "payment-warehouse",
    sql: "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?",
};

/// Its rows are locked by then, so that the locks of INSERT ... SELECT add none.
pub const INSERT_HISTORY: Statement = Statement {
    slot: 6,
    name: "payment-history",
    sql:
        "INSERT INTO history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_date, h_amount, h_data)
          SELECT ?, ?, ?, d_w_id, d_id, localtimestamp(6), ?, concat(w_name, '    ', d_name)
          FROM district JOIN warehouse ON w_id = d_w_id WHERE d_w_id = ? AND d_id = ?",
};

/// What the terminal shows.
pub const READ: Statement = Statement {
    slot: 7,
    name: "payment-read",
    sql: "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip,
              c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance,
              IF(c_credit = 'BC', left(c_data, 200), NULL),
              d_name, d_street_1, d_street_2, d_city, d_state, d_zip,
              w_name, w_street_1, w_street_2, w_city, w_state, w_zip
          FROM customer JOIN district JOIN warehouse
          WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? AND d_w_id = ? AND d_id = ? AND w_id = ?",
};

/// Makes one attempt.
pub async fn payment(connection: &mut Connection, payment: &Payment) -> Result<Ending, Error> {
    let customer = find(
        connection,
        payment.customer_warehouse,
        payment.customer_district,
        &payment.who,
    )
    .await?;
    queue(connection, payment, customer)?;
    connection.send().await?;
    found(connection, 1, "customer").await?;
    found(connection, 1, "district").await?;
    found(connection, 1, "warehouse").await?;
    found(connection, 1, "warehouse and district").await?;
    connection.one(|mut row| row.bytes().map(drop)).await?;
    commit(connection).await?;
    Ok(Ending::Committed(Some(Key::Customer(customer))))
}

fn queue(connection: &mut Connection, payment: &Payment, customer: i32) -> Result<(), Error> {
    let amount = Param::Decimal(Decimal::cents(payment.amount_cents));
    let (warehouse, district) = (
        Param::Int4(payment.warehouse),
        Param::Int2(payment.district),
    );
    let (payer_w, payer_d, payer_c) = (
        Param::Int4(payment.customer_warehouse),
        Param::Int2(payment.customer_district),
        Param::Int4(customer),
    );
    let pay = [
        district, warehouse, amount, amount, amount, payer_w, payer_d, payer_c,
    ];
    connection.queue(&PAY, &pay)?;
    connection.queue(&UPDATE_DISTRICT, &[amount, warehouse, district])?;
    connection.queue(&UPDATE_WAREHOUSE, &[amount, warehouse])?;
    let history = [payer_w, payer_d, payer_c, amount, warehouse, district];
    connection.queue(&INSERT_HISTORY, &history)?;
    let keys = [payer_w, payer_d, payer_c, warehouse, district, warehouse];
    connection.queue(&READ, &keys)
}
