//! The five transactions as one call each of the functions in `procedures.postgresql.sql`.
//!
//! A call is one statement outside of a transaction block, so it is a transaction of its own and one
//! round trip.

use crate::decimal::Decimal;
use crate::oltp::engine::{Ending, Key};
use crate::oltp::inputs::{Delivery, NewOrder, OrderStatus, Payment, StockLevel, Who};
use crate::postgres::{Connection, Error, Param, Row, Statement};

/// SQLSTATE by which `oltp_new_order` rolls back an order with an item that does not exist.
const UNUSED_ITEM: &str = "LS001";

const NEW_ORDER: Statement = Statement {
    name: "new-order",
    sql: "SELECT * FROM oltp_new_order($1, $2, $3, $4, $5, $6, $7)",
};
const PAYMENT: Statement = Statement {
    name: "payment",
    sql: "SELECT * FROM oltp_payment($1, $2, $3, $4, $5, $6, $7)",
};
const ORDER_STATUS: Statement = Statement {
    name: "order-status",
    sql: "SELECT * FROM oltp_order_status($1, $2, $3, $4)",
};
const DELIVERY: Statement = Statement {
    name: "delivery",
    sql: "SELECT oltp_delivery($1, $2)",
};
const STOCK_LEVEL: Statement = Statement {
    name: "stock-level",
    sql: "SELECT oltp_stock_level($1, $2, $3)",
};

/// All calls, to be prepared when a session is opened.
pub const STATEMENTS: [Statement; 5] = [NEW_ORDER, PAYMENT, ORDER_STATUS, DELIVERY, STOCK_LEVEL];

/// Sends one call and reads what it returns, at least one row.
async fn call<T>(
    connection: &mut Connection,
    statement: &Statement,
    params: &[Param<'_>],
    read: impl Fn(Row<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    connection.queue(statement, params)?;
    connection.sync().await?;
    let mut last = None;
    connection
        .rows(|row| {
            last = Some(read(row)?);
            Ok(())
        })
        .await?;
    connection.ready().await?;
    last.ok_or_else(|| Error::protocol(format!("{} returned no row", statement.name)))
}

pub async fn new_order(connection: &mut Connection, order: &NewOrder) -> Result<Ending, Error> {
    let params = [
        Param::Int4(order.warehouse),
        Param::Int2(order.district),
        Param::Int4(order.customer),
        Param::Int2(order.all_local()),
        Param::Int4Array(order.lines.items()),
        Param::Int4Array(order.lines.suppliers()),
        Param::Int2Array(order.lines.quantities()),
    ];
    match call(connection, &NEW_ORDER, &params, |mut row| row.int4()).await {
        Ok(number) => Ok(Ending::Committed(Some(Key::Order(number)))),
        Err(error) if error.sqlstate() == Some(UNUSED_ITEM) => Ok(Ending::RolledBack),
        Err(error) => Err(error),
    }
}

pub async fn payment(connection: &mut Connection, payment: &Payment) -> Result<Ending, Error> {
    let [number, name] = customer(&payment.who);
    let params = [
        Param::Int4(payment.warehouse),
        Param::Int2(payment.district),
        Param::Int4(payment.customer_warehouse),
        Param::Int2(payment.customer_district),
        number,
        name,
        Param::Numeric(Decimal::cents(payment.amount_cents)),
    ];
    let customer = call(connection, &PAYMENT, &params, |mut row| row.int4()).await?;
    Ok(Ending::Committed(Some(Key::Customer(customer))))
}

pub async fn order_status(
    connection: &mut Connection,
    status: &OrderStatus,
) -> Result<Ending, Error> {
    let [number, name] = customer(&status.who);
    let params = [
        Param::Int4(status.warehouse),
        Param::Int2(status.district),
        number,
        name,
    ];
    call(connection, &ORDER_STATUS, &params, |mut row| row.numeric(2)).await?;
    Ok(Ending::Committed(None))
}

/// The function says how many orders it delivered, and not which: there is no key to tell.
pub async fn delivery(connection: &mut Connection, delivery: &Delivery) -> Result<Ending, Error> {
    let params = [
        Param::Int4(delivery.warehouse),
        Param::Int2(delivery.carrier),
    ];
    call(connection, &DELIVERY, &params, |mut row| row.int8()).await?;
    Ok(Ending::Committed(None))
}

pub async fn stock_level(connection: &mut Connection, level: &StockLevel) -> Result<Ending, Error> {
    let params = [
        Param::Int4(level.warehouse),
        Param::Int2(level.district),
        Param::Int2(level.threshold),
    ];
    call(connection, &STOCK_LEVEL, &params, |mut row| row.int8()).await?;
    Ok(Ending::Committed(None))
}

/// Number and last name, one of them NULL.
fn customer(who: &Who) -> [Param<'_>; 2] {
    match who {
        Who::Number(number) => [Param::Int4(*number), Param::Null],
        Who::Name(name) => [Param::Null, Param::Text(name.as_str())],
    }
}
