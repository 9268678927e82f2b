//! `payment` (clause 2.5.2).

use super::{COMMIT, begin_and_find};
use crate::decimal::Decimal;
use crate::oltp::engine::{Ending, Key};
use crate::oltp::inputs::Payment;
use crate::postgres::{Connection, Error, Param, Statement};

pub const PAY: Statement = Statement {
    name: "payment-customer",
    sql: "UPDATE customer
          SET c_balance = c_balance - $4,
              c_ytd_payment = c_ytd_payment + $4,
              c_payment_cnt = c_payment_cnt + 1,
              c_data = CASE c_credit WHEN 'BC'
                  THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, $6::smallint, $5::integer, $4)
                            || ' | ' || c_data, 500)
                  ELSE c_data END
          WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3
          RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip,
              c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance,
              CASE c_credit WHEN 'BC' THEN left(c_data, 200) END",
};

pub const UPDATE_DISTRICT: Statement = Statement {
    name: "payment-district",
    sql: "UPDATE district SET d_ytd = d_ytd + $3 WHERE d_w_id = $1 AND d_id = $2
          RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip",
};

pub const UPDATE_WAREHOUSE: Statement = Statement {
    name: "payment-warehouse",
    sql: "UPDATE warehouse SET w_ytd = w_ytd + $2 WHERE w_id = $1
          RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip",
};

/// Reads the two names again instead of waiting for the answers that carry them. COMMIT is already on its
/// way when those are checked: a district that does not exist must therefore fail here, by the NULL.
pub const INSERT_HISTORY: Statement = Statement {
    name: "payment-history",
    sql:
        "INSERT INTO history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_date, h_amount, h_data)
          VALUES ($1, $2, $3, $4, $5, localtimestamp, $6,
                  (SELECT w_name || '    ' || d_name FROM district JOIN warehouse ON w_id = d_w_id
                   WHERE d_w_id = $4 AND d_id = $5))",
};

/// Makes one attempt.
pub async fn payment(connection: &mut Connection, payment: &Payment) -> Result<Ending, Error> {
    let (customer, begin_is_due) = begin_and_find(
        connection,
        payment.customer_warehouse,
        payment.customer_district,
        &payment.who,
    )
    .await?;
    queue_updates(connection, payment, customer)?;
    connection.queue(&COMMIT, &[])?;
    connection.sync().await?;
    if begin_is_due {
        connection.done().await?;
    }
    connection.one(|mut row| row.text().map(drop)).await?;
    connection.one(|mut row| row.text().map(drop)).await?;
    connection.one(|mut row| row.text().map(drop)).await?;
    connection.done().await?;
    connection.done().await?;
    connection.ready().await?;
    Ok(Ending::Committed(Some(Key::Customer(customer))))
}

fn queue_updates(
    connection: &mut Connection,
    payment: &Payment,
    customer: i32,
) -> Result<(), Error> {
    let amount = Param::Numeric(Decimal::cents(payment.amount_cents));
    let (warehouse, district) = (
        Param::Int4(payment.warehouse),
        Param::Int2(payment.district),
    );
    let payer = [
        Param::Int4(payment.customer_warehouse),
        Param::Int2(payment.customer_district),
        Param::Int4(customer),
    ];
    let [payer_w, payer_d, payer_c] = payer;
    connection.queue(
        &PAY,
        &[payer_w, payer_d, payer_c, amount, warehouse, district],
    )?;
    connection.queue(&UPDATE_DISTRICT, &[warehouse, district, amount])?;
    connection.queue(&UPDATE_WAREHOUSE, &[warehouse, amount])?;
    connection.queue(
        &INSERT_HISTORY,
        &[payer_w, payer_d, payer_c, warehouse, district, amount],
    )
}
