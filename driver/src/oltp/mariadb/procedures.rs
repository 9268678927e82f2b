//! The five transactions as one call each of the procedures in `procedures.mariadb.sql`.
//!
//! A procedure begins and ends its transaction itself, so a call is one round trip.

use std::fmt::Write;

use crate::decimal::Decimal;
use crate::mysql::{Connection, Error, Param, Row, Statement};
use crate::oltp::engine::{Delivered, Ending, Key};
use crate::oltp::inputs::{Delivery, NewOrder, OrderStatus, Payment, StockLevel, Who};
use crate::oltp::lines::Lines;

/// SQLSTATE by which `oltp_new_order` rolls back an order with an item that does not exist.
const UNUSED_ITEM: &str = "LS001";

const NEW_ORDER: Statement = Statement {
    slot: 0,
    name: "new-order",
    sql: "CALL oltp_new_order(?, ?, ?, ?, ?)",
};
const PAYMENT: Statement = Statement {
    slot: 1,
    name: "payment",
    sql: "CALL oltp_payment(?, ?, ?, ?, ?, ?, ?)",
};
const ORDER_STATUS: Statement = Statement {
    slot: 2,
    name: "order-status",
    sql: "CALL oltp_order_status(?, ?, ?, ?)",
};
const DELIVERY: Statement = Statement {
    slot: 3,
    name: "delivery",
    sql: "CALL oltp_delivery(?, ?)",
};
const STOCK_LEVEL: Statement = Statement {
    slot: 4,
    name: "stock-level",
    sql: "CALL oltp_stock_level(?, ?, ?)",
};

/// All calls, to be prepared when a session is opened.
pub static STATEMENTS: [Statement; 5] = [NEW_ORDER, PAYMENT, ORDER_STATUS, DELIVERY, STOCK_LEVEL];

/// Sends one call and reads what it returns, at least one row; gives what was read of the first.
async fn call<T>(
    connection: &mut Connection,
    statement: &Statement,
    params: &[Param<'_>],
    mut read: impl FnMut(Row<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    connection.queue(statement, params)?;
    connection.send().await?;
    let mut first = None;
    connection
        .rows(|row| {
            let value = read(row)?;
            first.get_or_insert(value);
            Ok(())
        })
        .await?;
    first.ok_or_else(|| Error::protocol(format!("{} returned no row", statement.name)))
}

/// The lines as one text, because a procedure takes no arrays: `item,supplier,quantity;` of each.
fn text_of(lines: &Lines) -> Result<String, Error> {
    let mut text = String::with_capacity(256);
    for line in 0..lines.count() {
        let (item, supplier) = (lines.items()[line], lines.suppliers()[line]);
        write!(text, "{item},{supplier},{};", lines.quantities()[line])
            .map_err(|_| Error::protocol("the lines cannot be written"))?;
    }
    Ok(text)
}

pub async fn new_order(connection: &mut Connection, order: &NewOrder) -> Result<Ending, Error> {
    let lines = text_of(&order.lines)?;
    let params = [
        Param::Int4(order.warehouse),
        Param::Int2(order.district),
        Param::Int4(order.customer),
        Param::Int2(order.all_local()),
        Param::Text(&lines),
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
        Param::Decimal(Decimal::cents(payment.amount_cents)),
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
    call(connection, &ORDER_STATUS, &params, |mut row| row.decimal(2)).await?;
    Ok(Ending::Committed(None))
}

/// The numbers of the orders with a comma after each, by district; nothing before that of one without.
pub async fn delivery(connection: &mut Connection, delivery: &Delivery) -> Result<Ending, Error> {
    let params = [
        Param::Int4(delivery.warehouse),
        Param::Int2(delivery.carrier),
    ];
    let delivered = call(connection, &DELIVERY, &params, |mut row| {
        delivered_of(row.text()?)
    })
    .await?;
    Ok(Ending::Committed(Some(Key::Delivered(delivered))))
}

fn delivered_of(orders: &str) -> Result<Delivered, Error> {
    let wrong = || Error::protocol(format!("{orders:?} are no orders of ten districts"));
    let mut delivered = Delivered::default();
    for (district, order) in (1..).zip(orders.split_terminator(',')) {
        if order.is_empty() {
            continue;
        }
        let order = order.parse().map_err(|_| wrong())?;
        if !delivered.add(district, order) {
            return Err(wrong());
        }
    }
    Ok(delivered)
}

pub async fn stock_level(connection: &mut Connection, level: &StockLevel) -> Result<Ending, Error> {
    let params = [
        Param::Int4(level.warehouse),
        Param::Int2(level.district),
        Param::Int2(level.threshold),
    ];
    call(connection, &STOCK_LEVEL, &params, |mut row| row.int()).await?;
    Ok(Ending::Committed(None))
}

/// Number and last name, one of them NULL.
fn customer(who: &Who) -> [Param<'_>; 2] {
    match who {
        Who::Number(number) => [Param::Int4(*number), Param::Null],
        Who::Name(name) => [Param::Null, Param::Text(name.as_str())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_those_of_their_districts() {
        let delivered = delivered_of("2101,,2103,,,,,,,7,").unwrap();
        assert_eq!(delivered.districts(), [1, 3, 10]);
        assert_eq!(delivered.orders(), [2101, 2103, 7]);
        assert_eq!(delivered_of(",,,,,,,,,,").unwrap(), Delivered::default());
        assert!(delivered_of("x,").is_err());
    }
}
