//! The five transactions as prepared statements of the client.
//!
//! Sessions have `autocommit = 0`, so that the first statement begins the transaction. Statements that do
//! not need the answer of the one before travel in one pipeline. The server goes on after a statement that
//! failed, so COMMIT of what was written goes out alone, after all answers were read and were good. Lines
//! of an order are one bulk execution and not one statement each.
//!
//! Rows are locked in the same order by all: stock by key, customer, district, warehouse. A foreign key
//! makes an insert lock the row that it refers to, so that a new order takes its customer before its district.
//!
//! | transaction | round trips |
//! |---|---|
//! | new-order | 3: take stock, read, district; insert; COMMIT |
//! | payment | 2 by number, 3 by last name |
//! | order-status | 1 by number, 2 by last name, COMMIT within |
//! | delivery | 3: take the oldest orders; orders, lines and customers; COMMIT |
//! | stock-level | 1, COMMIT within |

mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

use std::sync::LazyLock;

use crate::mysql::{Answer, Connection, Error, Param, Statement};
use crate::oltp::engine::Namesakes;
use crate::oltp::inputs::Who;

pub use delivery::delivery;
pub use new_order::{Scratch, new_order};
pub use order_status::order_status;
pub use payment::payment;
pub use stock_level::stock_level;

const COMMIT: Statement = Statement {
    slot: 0,
    name: "commit",
    sql: "COMMIT",
};
const ROLLBACK: Statement = Statement {
    slot: 1,
    name: "rollback",
    sql: "ROLLBACK",
};

/// Customers of a last name, by first name (clause 2.5.2.2).
const BY_NAME: Statement = Statement {
    slot: 2,
    name: "customers-by-name",
    sql: "SELECT c_id FROM customer
          WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first",
};

/// All statements, to be prepared when a session is opened.
pub static STATEMENTS: LazyLock<Vec<Statement>> = LazyLock::new(|| {
    let mut statements = vec![
        COMMIT,
        ROLLBACK,
        BY_NAME,
        payment::PAY,
        payment::UPDATE_DISTRICT,
        payment::UPDATE_WAREHOUSE,
        payment::INSERT_HISTORY,
        payment::READ,
        order_status::CUSTOMER,
        order_status::LAST_ORDER,
        delivery::TAKE_OLDEST,
        delivery::UPDATE_ORDERS,
        delivery::UPDATE_LINES,
        delivery::UPDATE_CUSTOMERS,
        stock_level::STOCK_LEVEL,
        new_order::TAKE_STOCK,
        new_order::CUSTOMER,
        new_order::NEXT_ORDER,
        new_order::HEAD,
        new_order::INSERT_ORDER,
        new_order::INSERT_NEW_ORDER,
        new_order::INSERT_LINES,
    ];
    statements.extend(new_order::read_lines());
    statements
});

/// Which customer is meant. A last name costs a round trip.
async fn find(
    connection: &mut Connection,
    warehouse: i32,
    district: i16,
    who: &Who,
) -> Result<i32, Error> {
    let name = match who {
        Who::Number(number) => return Ok(*number),
        Who::Name(name) => name,
    };
    let params = [
        Param::Int4(warehouse),
        Param::Int2(district),
        Param::Text(name.as_str()),
    ];
    connection.queue(&BY_NAME, &params)?;
    connection.send().await?;
    let mut namesakes = Namesakes::default();
    connection
        .rows(|mut row| row.int4().map(|number| namesakes.add(number)))
        .await?;
    match namesakes.middle() {
        Some(number) => Ok(number),
        None => {
            let name = name.as_str();
            let place = format!("district {district} of warehouse {warehouse}");
            Err(connection
                .missing(format!("no customer {name} in {place}"))
                .await)
        }
    }
}

/// Reads the answer of an update that must find exactly `count` rows.
async fn found(connection: &mut Connection, count: u64, what: &str) -> Result<Answer, Error> {
    let answer = connection.done().await?;
    if answer.affected == count {
        return Ok(answer);
    }
    let problem = format!("{} of {count} rows of {what} are there", answer.affected);
    Err(connection.missing(problem).await)
}

/// Ends the transaction.
async fn commit(connection: &mut Connection) -> Result<(), Error> {
    connection.queue(&COMMIT, &[])?;
    connection.send().await?;
    connection.done().await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::STATEMENTS;

    #[test]
    fn every_statement_is_at_its_slot_and_has_a_name_of_its_own() {
        for (place, statement) in STATEMENTS.iter().enumerate() {
            assert_eq!(statement.slot, place, "{}", statement.name);
            let same = STATEMENTS.iter().filter(|other| other.sql == statement.sql);
            assert_eq!(same.count(), 1, "{}", statement.name);
        }
    }
}
