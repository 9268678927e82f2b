//! `stock-level` (clause 2.8.2): one statement, which is its own transaction.

use rusqlite::{Connection, Statement};

use super::statement::the;
use crate::oltp::engine::Ending;
use crate::oltp::inputs::StockLevel;
use crate::sqlite::Error;

const STOCK_LEVEL: &str = "SELECT count(DISTINCT s_i_id)
    FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND s_quantity < ?3
        AND ol_o_id >= (SELECT d_next_o_id - 20 FROM district WHERE d_w_id = ?1 AND d_id = ?2)
        AND ol_o_id < (SELECT d_next_o_id FROM district WHERE d_w_id = ?1 AND d_id = ?2)";

/// The prepared statement.
pub struct StockLevelStatement<'c> {
    count: Statement<'c>,
}

impl<'c> StockLevelStatement<'c> {
    pub fn prepare(connection: &'c Connection) -> Result<Self, Error> {
        let count = connection.prepare(STOCK_LEVEL)?;
        Ok(Self { count })
    }

    /// Makes one attempt.
    pub fn run(&mut self, level: &StockLevel) -> Result<Ending, Error> {
        let params = (level.warehouse, level.district, level.threshold);
        the(&mut self.count, params, "count", |row| row.get::<_, i64>(0))?;
        Ok(Ending::Committed(None))
    }
}
