//! The five transactions as prepared statements of the client.
//!
//! Each is written as a careful application programmer would: statements that do not need the answer of
//! the one before travel in one pipeline, BEGIN with the first and COMMIT with the last. Lines of an order
//! are one statement over arrays (`unnest`) and not one statement each. Rows that everybody wants
//! (warehouse, district) are locked last, in the pipeline that ends with COMMIT where that can be, so
//! that no lock on them is held while the client thinks.
//!
//! | transaction | round trips |
//! |---|---|
//! | new-order | 2: read and update stock, district; insert and COMMIT |
//! | payment, order-status | 1 by number, 2 by last name |
//! | delivery | 3: take the oldest orders; orders and lines; customers and COMMIT |
//! | stock-level | 1, a single statement |

mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

use crate::oltp::engine::Namesakes;
use crate::oltp::inputs::Who;
use crate::postgres::{Connection, Error, Param, Statement};

pub use delivery::delivery;
pub use new_order::{Scratch, new_order};
pub use order_status::order_status;
pub use payment::payment;
pub use stock_level::stock_level;

const BEGIN: Statement = Statement {
    name: "begin",
    sql: "BEGIN",
};
const COMMIT: Statement = Statement {
    name: "commit",
    sql: "COMMIT",
};
const ROLLBACK: Statement = Statement {
    name: "rollback",
    sql: "ROLLBACK",
};

/// Customers of a last name, by first name (clause 2.5.2.2).
const BY_NAME: Statement = Statement {
    name: "customers-by-name",
    sql: "SELECT c_id FROM customer
          WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first",
};

/// All statements, to be prepared when a session is opened.
pub const STATEMENTS: [Statement; 20] = [
    BEGIN,
    COMMIT,
    ROLLBACK,
    BY_NAME,
    new_order::TAKE_STOCK,
    new_order::NEXT_ORDER,
    new_order::INSERT_ORDER,
    new_order::INSERT_NEW_ORDER,
    new_order::INSERT_LINES,
    payment::PAY,
    payment::UPDATE_DISTRICT,
    payment::UPDATE_WAREHOUSE,
    payment::INSERT_HISTORY,
    order_status::CUSTOMER,
    order_status::LAST_ORDER,
    delivery::TAKE_OLDEST,
    delivery::UPDATE_ORDERS,
    delivery::UPDATE_LINES,
    delivery::UPDATE_CUSTOMERS,
    stock_level::STOCK_LEVEL,
];

/// Queues the start of a transaction and, for a last name, asks which customer it is.
/// The answer of BEGIN is read here when the name made a round trip necessary; `true` says that it is
/// still to be read.
async fn begin_and_find(
    connection: &mut Connection,
    warehouse: i32,
    district: i16,
    who: &Who,
) -> Result<(i32, bool), Error> {
    connection.queue(&BEGIN, &[])?;
    let name = match who {
        Who::Number(number) => return Ok((*number, true)),
        Who::Name(name) => name,
    };
    let params = [
        Param::Int4(warehouse),
        Param::Int2(district),
        Param::Text(name.as_str()),
    ];
    connection.queue(&BY_NAME, &params)?;
    connection.sync().await?;
    connection.done().await?;
    let mut namesakes = Namesakes::default();
    connection
        .rows(|mut row| row.int4().map(|number| namesakes.add(number)))
        .await?;
    connection.ready().await?;
    namesakes
        .middle()
        .map(|number| (number, false))
        .ok_or_else(|| Error::Server {
            sqlstate: "P0002".into(),
            message: format!(
                "no customer {} in district {district} of warehouse {warehouse}",
                name.as_str()
            ),
        })
}
