//! `new-order` (clause 2.4.2).

use rusqlite::{Connection, Row, Statement};

use super::statement::{one, the};
use crate::oltp::engine::{Ending, Key};
use crate::oltp::inputs::NewOrder;
use crate::oltp::lines::MAX_LINES;
use crate::sqlite::Error;

const NEXT_ORDER: &str = "UPDATE district SET d_next_o_id = d_next_o_id + 1
    WHERE d_w_id = ?1 AND d_id = ?2
    RETURNING d_next_o_id - 1, d_tax";

const CUSTOMER: &str = "SELECT w_tax, c_discount, c_last, c_credit FROM warehouse, customer
    WHERE w_id = ?1 AND c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3";

const ITEM: &str = "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?1";

const TAKE_STOCK: &str = "UPDATE stock
    SET s_quantity = s_quantity - ?4 + CASE WHEN s_quantity >= ?4 + 10 THEN 0 ELSE 91 END,
        s_ytd = s_ytd + ?4,
        s_order_cnt = s_order_cnt + 1,
        s_remote_cnt = s_remote_cnt + (s_w_id <> ?5)
    WHERE s_w_id = ?1 AND s_i_id = ?2
    RETURNING CASE ?3
            WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
            WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
            WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
            ELSE s_dist_10
        END,
        s_quantity, s_data";

const INSERT_ORDER: &str = "INSERT INTO orders
        (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (?1, ?2, ?3, ?4, datetime('now'), ?5, ?6)";

const INSERT_NEW_ORDER: &str =
    "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (?1, ?2, ?3)";

const INSERT_LINE: &str = "INSERT INTO order_line
        (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// What SQLite says about one line.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    amount_cents: i64,
    dist_info: [u8; 24],
}

/// The prepared statements.
pub struct NewOrderStatements<'c> {
    next_order: Statement<'c>,
    customer: Statement<'c>,
    item: Statement<'c>,
    take_stock: Statement<'c>,
    insert_order: Statement<'c>,
    insert_new_order: Statement<'c>,
    insert_line: Statement<'c>,
}

impl<'c> NewOrderStatements<'c> {
    pub fn prepare(connection: &'c Connection) -> Result<Self, Error> {
        Ok(Self {
            next_order: connection.prepare(NEXT_ORDER)?,
            customer: connection.prepare(CUSTOMER)?,
            item: connection.prepare(ITEM)?,
            take_stock: connection.prepare(TAKE_STOCK)?,
            insert_order: connection.prepare(INSERT_ORDER)?,
            insert_new_order: connection.prepare(INSERT_NEW_ORDER)?,
            insert_line: connection.prepare(INSERT_LINE)?,
        })
    }

    /// Makes one attempt. An item that does not exist rolls the order back.
    pub fn run(&mut self, order: &NewOrder) -> Result<Ending, Error> {
        let place = (order.warehouse, order.district);
        let customer = (order.warehouse, order.district, order.customer);
        the(&mut self.customer, customer, "customer", |row| {
            text(row, 2)?;
            row.get::<_, i64>(0)
        })?;
        let number = the(&mut self.next_order, place, "district", |row| row.get(0))?;
        let mut lines = [Line::default(); MAX_LINES];
        for (at, line) in lines[..order.lines.count()].iter_mut().enumerate() {
            match self.take(order, at)? {
                Some(taken) => *line = taken,
                None => return Ok(Ending::RolledBack),
            }
        }
        self.insert(order, number, &lines)?;
        Ok(Ending::Committed(Some(Key::Order(number))))
    }

    /// Takes the line at a position from the stock; nothing if there is no such item.
    fn take(&mut self, order: &NewOrder, at: usize) -> Result<Option<Line>, Error> {
        let lines = &order.lines;
        let (item, quantity) = (lines.items()[at], lines.quantities()[at]);
        let price = one(&mut self.item, (item,), |row| {
            text(row, 1)?;
            text(row, 2)?;
            row.get::<_, i64>(0)
        })?;
        let Some(price_cents) = price else {
            return Ok(None);
        };
        let key = (lines.suppliers()[at], item);
        let params = (key.0, key.1, order.district, quantity, order.warehouse);
        let dist_info = the(&mut self.take_stock, params, "stock", |row| {
            let mut dist_info = [b' '; 24];
            let found = text(row, 0)?;
            let length = found.len().min(dist_info.len());
            dist_info[..length].copy_from_slice(&found[..length]);
            row.get::<_, i64>(1)?;
            text(row, 2)?;
            Ok(dist_info)
        })?;
        Ok(Some(Line {
            amount_cents: price_cents * i64::from(quantity),
            dist_info,
        }))
    }

    fn insert(&mut self, order: &NewOrder, number: i32, taken: &[Line]) -> Result<(), Error> {
        let (warehouse, district, lines) = (order.warehouse, order.district, &order.lines);
        let count = lines.count() as i64;
        self.insert_order.execute((
            warehouse,
            district,
            number,
            order.customer,
            count,
            order.all_local(),
        ))?;
        self.insert_new_order
            .execute((warehouse, district, number))?;
        for (at, line) in taken[..lines.count()].iter().enumerate() {
            let dist_info = std::str::from_utf8(&line.dist_info)
                .map_err(|_| Error::NoData("s_dist is not text".into()))?;
            self.insert_line.execute((
                warehouse,
                district,
                number,
                at as i64 + 1,
                lines.items()[at],
                lines.suppliers()[at],
                lines.quantities()[at],
                line.amount_cents,
                dist_info,
            ))?;
        }
        Ok(())
    }
}

/// The bytes of a column of text.
fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r [u8]> {
    Ok(row.get_ref(column)?.as_bytes()?)
}
