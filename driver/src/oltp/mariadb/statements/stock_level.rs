//! `stock-level` (clause 2.8.2): one statement.

use super::COMMIT;
use crate::mysql::{Connection, Error, Param, Statement};
use crate::oltp::engine::Ending;
use crate::oltp::inputs::StockLevel;

/// The lines come first and each finds its stock by the key, whatever the statistics say.
pub const STOCK_LEVEL: Statement = Statement {
    slot: 14,
    name: "stock-level",
    sql: "SELECT STRAIGHT_JOIN count(DISTINCT s_i_id)
          FROM district
              JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id
                  AND ol_o_id < d_next_o_id AND ol_o_id >= d_next_o_id - 20
              JOIN stock ON s_w_id = d_w_id AND s_i_id = ol_i_id
          WHERE d_w_id = ? AND d_id = ? AND s_quantity < ?",
};

/// Makes one attempt. It only reads, so that COMMIT may follow whatever becomes of it.
pub async fn stock_level(connection: &mut Connection, level: &StockLevel) -> Result<Ending, Error> {
    let params = [
        Param::Int4(level.warehouse),
        Param::Int2(level.district),
        Param::Int2(level.threshold),
    ];
    connection.queue(&STOCK_LEVEL, &params)?;
    connection.queue(&COMMIT, &[])?;
    connection.send().await?;
    connection.one(|mut row| row.int().map(drop)).await?;
    connection.done().await?;
    Ok(Ending::Committed(None))
}
