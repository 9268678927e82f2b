//! `stock-level` (clause 2.8.2): one statement, which is its own transaction.

use super::Ending;
use crate::oltp::inputs::StockLevel;
use crate::postgres::{Connection, Error, Param, Statement};

pub const STOCK_LEVEL: Statement = Statement {
    name: "stock-level",
    sql: "SELECT count(DISTINCT s_i_id)
          FROM district
              JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id
                  AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id
              JOIN stock ON s_w_id = d_w_id AND s_i_id = ol_i_id
          WHERE d_w_id = $1 AND d_id = $2 AND s_quantity < $3",
};

/// Makes one attempt.
pub async fn stock_level(connection: &mut Connection, level: &StockLevel) -> Result<Ending, Error> {
    let params =
        [Param::Int4(level.warehouse), Param::Int2(level.district), Param::Int2(level.threshold)];
    connection.queue(&STOCK_LEVEL, &params)?;
    connection.sync().await?;
    connection.one(|mut row| row.int8().map(drop)).await?;
    connection.ready().await?;
    Ok(Ending::Committed)
}
