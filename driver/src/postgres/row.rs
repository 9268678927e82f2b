//! A row of an answer, read column by column in place.

use super::Error;
use crate::decimal::Decimal;

/// The columns of a `DataRow` that were not read yet.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    rest: &'a [u8],
    left: u16,
}

impl<'a> Row<'a> {
    /// Takes the body of a `DataRow` message.
    ///
    /// # Errors
    /// A protocol error if the body is too short to be one.
    pub fn new(body: &'a [u8]) -> Result<Self, Error> {
        let (count, rest) = body.split_first_chunk::<2>().ok_or_else(truncated)?;
        Ok(Self {
            rest,
            left: u16::from_be_bytes(*count),
        })
    }

    /// Whether there is a further column.
    pub fn is_left(&self) -> bool {
        self.left > 0
    }

    /// The next column's bytes, `None` for NULL.
    ///
    /// # Errors
    /// A protocol error if there is no further column.
    #[inline]
    pub fn bytes(&mut self) -> Result<Option<&'a [u8]>, Error> {
        self.left = self.left.checked_sub(1).ok_or_else(truncated)?;
        let (length, rest) = self.rest.split_first_chunk::<4>().ok_or_else(truncated)?;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            self.rest = rest;
            return Ok(None);
        };
        let (value, rest) = rest.split_at_checked(length).ok_or_else(truncated)?;
        self.rest = rest;
        Ok(Some(value))
    }

    fn present(&mut self) -> Result<&'a [u8], Error> {
        self.bytes()?
            .ok_or_else(|| Error::protocol("a column is NULL where a value was expected"))
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let value = self.present()?;
        value.try_into().map_err(|_| {
            Error::protocol(format!("a column has {} bytes instead of {N}", value.len()))
        })
    }

    /// The next column as `smallint`.
    ///
    /// # Errors
    /// A protocol error if it is NULL, missing or of another width; so with its siblings below.
    pub fn int2(&mut self) -> Result<i16, Error> {
        self.fixed().map(i16::from_be_bytes)
    }

    /// The next column as `integer`.
    ///
    /// # Errors
    /// See [`Row::int2`].
    pub fn int4(&mut self) -> Result<i32, Error> {
        self.fixed().map(i32::from_be_bytes)
    }

    /// The next column as `bigint`.
    ///
    /// # Errors
    /// See [`Row::int2`].
    pub fn int8(&mut self) -> Result<i64, Error> {
        self.fixed().map(i64::from_be_bytes)
    }

    /// The next column as text.
    ///
    /// # Errors
    /// See [`Row::int2`]; also if it is not UTF-8.
    pub fn text(&mut self) -> Result<&'a str, Error> {
        std::str::from_utf8(self.present()?).map_err(|_| Error::protocol("a text is not UTF-8"))
    }

    /// The next column as `numeric`, in units of 1/10^`scale`.
    ///
    /// # Errors
    /// See [`Row::int2`]; also if the value does not fit.
    pub fn numeric(&mut self, scale: u8) -> Result<i64, Error> {
        Decimal::decode(self.present()?, scale)
    }
}

fn truncated() -> Error {
    Error::protocol("a row ends before its columns do")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_columns_in_order() {
        let body = [
            0, 3, 0, 0, 0, 4, 0, 0, 0, 9, 255, 255, 255, 255, 0, 0, 0, 2, b'h', b'i',
        ];
        let mut row = Row::new(&body).unwrap();
        assert_eq!(row.int4(), Ok(9));
        assert_eq!(row.bytes(), Ok(None));
        assert_eq!(row.text(), Ok("hi"));
        assert!(row.bytes().is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(body in proptest::collection::vec(any::<u8>(), 0..100)) {
            if let Ok(mut row) = Row::new(&body) {
                while row.bytes().is_ok() {}
                let _ = (row.int2(), row.int4(), row.int8(), row.text().is_ok(), row.numeric(2));
            }
        }
    }
}
