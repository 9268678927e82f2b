//! Running prepared statements.

use rusqlite::{Params, Row, Statement};

use crate::oltp::engine::Namesakes;
use crate::oltp::inputs::Who;
use crate::sqlite::Error;

/// Customers of a last name, by first name (clause 2.5.2.2).
pub const BY_NAME: &str = "SELECT c_id FROM customer
    WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_last = ?3 ORDER BY c_first";

/// Runs `statement` to its end, as one that changes rows and returns them must be; gives what `read`
/// makes of each row to `note`, and says how many there were.
pub fn each<P: Params>(
    statement: &mut Statement<'_>,
    params: P,
    mut note: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> Result<u64, Error> {
    let mut rows = statement.query(params)?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        note(row)?;
        count += 1;
    }
    Ok(count)
}

/// The row of `statement`, if there is one.
pub fn one<T, P: Params>(
    statement: &mut Statement<'_>,
    params: P,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, Error> {
    let mut found = None;
    each(statement, params, |row| {
        found = Some(read(row)?);
        Ok(())
    })?;
    Ok(found)
}

/// The row of `statement`, which must be there; `what` names it if it is not.
pub fn the<T, P: Params>(
    statement: &mut Statement<'_>,
    params: P,
    what: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<T, Error> {
    one(statement, params, read)?.ok_or_else(|| Error::NoData(format!("no {what} with this key")))
}

/// The number of the customer who is meant.
pub fn customer(
    by_name: &mut Statement<'_>,
    warehouse: i32,
    district: i16,
    who: &Who,
) -> Result<i32, Error> {
    let name = match who {
        Who::Number(number) => return Ok(*number),
        Who::Name(name) => name.as_str(),
    };
    let mut namesakes = Namesakes::default();
    each(by_name, (warehouse, district, name), |row| {
        namesakes.add(row.get(0)?);
        Ok(())
    })?;
    namesakes.middle().ok_or_else(|| {
        Error::NoData(format!(
            "no customer {name} in district {district} of warehouse {warehouse}"
        ))
    })
}
