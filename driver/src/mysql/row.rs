//! A row of an answer in binary, read column by column in place.

use super::Error;
use super::param::kind;
use super::wire::Fields;

/// Bits of the map of NULLs that come before that of the first column.
const NULL_OFFSET: usize = 2;

/// The columns of a row that were not read yet.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    kinds: &'a [u8],
    nulls: &'a [u8],
    values: Fields<'a>,
    column: usize,
}

impl<'a> Row<'a> {
    /// Takes the body of a row, whose columns are of the types `kinds`.
    ///
    /// # Errors
    /// A protocol error if the body is too short to be one.
    #[inline]
    pub(super) fn new(kinds: &'a [u8], body: &'a [u8]) -> Result<Self, Error> {
        let mut values = Fields::new(body);
        values.fixed::<1>()?;
        let nulls = values.take((kinds.len() + NULL_OFFSET).div_ceil(8))?;
        Ok(Self {
            kinds,
            nulls,
            values,
            column: 0,
        })
    }

    /// Type of the next column; `None` when its value is NULL.
    #[inline]
    fn next_kind(&mut self) -> Result<Option<u8>, Error> {
        let kind = *self
            .kinds
            .get(self.column)
            .ok_or_else(|| Error::protocol("a row has fewer columns than are read"))?;
        let bit = self.column + NULL_OFFSET;
        self.column += 1;
        let is_null = self.nulls[bit / 8] >> (bit % 8) & 1 == 1;
        Ok((!is_null).then_some(kind))
    }

    #[inline]
    fn present(&mut self) -> Result<u8, Error> {
        self.next_kind()?
            .ok_or_else(|| Error::protocol("a column is NULL where a value was expected"))
    }

    /// The next column as an integer of any width.
    ///
    /// # Errors
    /// A protocol error if it is NULL, missing or of another type; so with its siblings below.
    #[inline]
    pub fn int(&mut self) -> Result<i64, Error> {
        match self.present()? {
            kind::LONG | kind::INT24 => self.values.fixed().map(|b| i32::from_le_bytes(b).into()),
            kind::LONGLONG => self.values.fixed().map(i64::from_le_bytes),
            kind::SHORT | kind::YEAR => self.values.fixed().map(|b| i16::from_le_bytes(b).into()),
            kind::TINY => self.values.fixed().map(|b| i8::from_le_bytes(b).into()),
            other => Err(Error::protocol(format!(
                "a column of type {other} is no integer"
            ))),
        }
    }

    /// The next column as `integer`.
    ///
    /// # Errors
    /// See [`Row::int`]; also if it does not fit.
    #[inline]
    pub fn int4(&mut self) -> Result<i32, Error> {
        i32::try_from(self.int()?).map_err(|_| Error::protocol("an integer does not fit 32 bits"))
    }

    /// The next column's bytes: a text, or a decimal as text.
    ///
    /// # Errors
    /// See [`Row::int`].
    #[inline]
    pub fn bytes(&mut self) -> Result<&'a [u8], Error> {
        let kind = self.present()?;
        if width(kind).is_some() {
            return Err(Error::protocol(format!(
                "a column of type {kind} is no text"
            )));
        }
        self.values.bytes()
    }

    /// The next column as text.
    ///
    /// # Errors
    /// See [`Row::int`]; also if it is not UTF-8.
    pub fn text(&mut self) -> Result<&'a str, Error> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Error::protocol("a text is not UTF-8"))
    }

    /// The next column as `decimal`, in units of 1/10^`scale`; further digits are cut off.
    ///
    /// # Errors
    /// See [`Row::int`]; also if the value does not fit.
    pub fn decimal(&mut self, scale: u8) -> Result<i64, Error> {
        parse_decimal(self.bytes()?, scale)
    }

    /// Passes over the next column; false when it is NULL.
    ///
    /// # Errors
    /// See [`Row::int`].
    pub fn skip(&mut self) -> Result<bool, Error> {
        let Some(kind) = self.next_kind()? else {
            return Ok(false);
        };
        match width(kind) {
            Some(width) => self.values.take(width)?,
            None => self.values.bytes()?,
        };
        Ok(true)
    }
}

/// Bytes of a value of fixed width. All others have their length before them, dates too.
fn width(kind: u8) -> Option<usize> {
    match kind {
        kind::TINY => Some(1),
        kind::SHORT | kind::YEAR => Some(2),
        kind::LONG | kind::INT24 | kind::FLOAT => Some(4),
        kind::LONGLONG | kind::DOUBLE => Some(8),
        _ => None,
    }
}

/// Reads the text of a decimal in units of 1/10^`scale`; further digits are cut off.
///
/// # Errors
/// A protocol error if it is none, or does not fit.
pub(super) fn parse_decimal(text: &[u8], scale: u8) -> Result<i64, Error> {
    parse(text, scale).ok_or_else(|| {
        let text = String::from_utf8_lossy(text);
        Error::protocol(format!("{text:?} is no decimal that fits"))
    })
}

fn parse(text: &[u8], scale: u8) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let point = digits.iter().position(|byte| *byte == b'.');
    let (whole, decimals) = digits.split_at(point.unwrap_or(digits.len()));
    let decimals = decimals.get(1..).unwrap_or_default();
    let mut value: i128 = 0;
    let places = decimals.iter().chain(std::iter::repeat(&b'0'));
    for digit in whole.iter().chain(places.take(usize::from(scale))) {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    i64::try_from(if negative { -value } else { value }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_columns_in_order() {
        let kinds = [
            kind::SHORT,
            kind::VAR_STRING,
            kind::LONGLONG,
            kind::NEWDECIMAL,
            kind::DATETIME,
            kind::LONG,
            kind::TINY,
        ];
        let mut body = vec![0, 0b1000_0000, 0, 0xfb, 0xff, 2, b'h', b'i'];
        body.extend(9_i64.to_le_bytes());
        body.extend(b"\x05-1.25\x00\xff");
        let mut row = Row::new(&kinds, &body).unwrap();
        assert_eq!((row.int(), row.text()), (Ok(-5), Ok("hi")));
        assert_eq!((row.int4(), row.decimal(2)), (Ok(9), Ok(-125)));
        assert_eq!(row.skip(), Ok(true), "midnight of day 0");
        assert_eq!(row.skip(), Ok(false), "NULL");
        assert_eq!(row.int(), Ok(-1));
        assert!(row.skip().is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            kinds in proptest::collection::vec(any::<u8>(), 0..12),
            body in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            if let Ok(row) = Row::new(&kinds, &body) {
                let mut skipped = row.clone();
                while skipped.skip().is_ok() {}
                let mut row = row;
                let _ = (row.int(), row.text().is_ok(), row.decimal(2), row.int4());
            }
        }

        #[test]
        fn any_text_is_a_decimal_or_refused(text in proptest::collection::vec(any::<u8>(), 0..60), scale in 0_u8..=4) {
            let _ = parse_decimal(&text, scale);
        }
    }
}
