//! `stock-level` (clause 2.8.2): one statement, which is its own transaction.

use crate::oltp::engine::Ending;
use crate::oltp::inputs::StockLevel;
use crate::postgres::{Connection, Error, Param, Statement};

/// The bounds are scalar subqueries and not a join with `district`: so the planner knows them for the two
/// ends of one narrow range and reads the 200 lines by the key, whatever the statistics say.
pub const STOCK_LEVEL: Statement = Statement {
    name: "stock-level",
    sql: "SELECT count(DISTINCT s_i_id)
          FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
          WHERE ol_w_id = $1 AND ol_d_id = $2 AND s_quantity < $3
              AND ol_o_id >= (SELECT d_next_o_id - 20 FROM district WHERE d_w_id = $1 AND d_id = $2)
              AND ol_o_id < (SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2)",
};

/// Makes one attempt.
pub async fn stock_level(connection: &mut Connection, level: &StockLevel) -> Result<Ending, Error> {
    let params = [
        Param::Int4(level.warehouse),
        Param::Int2(level.district),
        Param::Int2(level.threshold),
    ];
    connection.queue(&STOCK_LEVEL, &params)?;
    connection.sync().await?;
    connection.one(|mut row| row.int8().map(drop)).await?;
    connection.ready().await?;
    Ok(Ending::Committed(None))
}
