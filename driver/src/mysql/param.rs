//! Parameters of prepared statements, in binary.

use super::wire::put_bytes;
use crate::decimal::Decimal;

/// Types of values (`enum_field_types` in the server's `mysql_com.h`).
pub mod kind {
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const YEAR: u8 = 13;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const DATETIME: u8 = 12;
    pub const NEWDECIMAL: u8 = 246;
    pub const VAR_STRING: u8 = 253;
}

/// A point in time without a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateTime {
    /// Year.
    pub year: u16,
    /// Month, from 1.
    pub month: u8,
    /// Day of the month, from 1.
    pub day: u8,
    /// Hour, minute, second.
    pub time: [u8; 3],
    /// Microsecond.
    pub microsecond: u32,
}

/// A value for `?`.
#[derive(Debug, Clone, Copy)]
pub enum Param<'a> {
    /// `smallint`
    Int2(i16),
    /// `integer`
    Int4(i32),
    /// `bigint`
    Int8(i64),
    /// Text or bytes
    Text(&'a str),
    /// `decimal`
    Decimal(Decimal),
    /// `datetime`
    DateTime(DateTime),
    /// NULL of any type
    Null,
}

impl Param<'_> {
    /// The type that is announced; none for NULL, which is of any.
    #[inline]
    pub(super) fn kind(&self) -> Option<u8> {
        match self {
            Self::Int2(_) => Some(kind::SHORT),
            Self::Int4(_) => Some(kind::LONG),
            Self::Int8(_) => Some(kind::LONGLONG),
            Self::Text(_) => Some(kind::VAR_STRING),
            Self::Decimal(_) => Some(kind::NEWDECIMAL),
            Self::DateTime(_) => Some(kind::DATETIME),
            Self::Null => None,
        }
    }

    /// Writes the value; NULL writes nothing.
    #[inline]
    pub(super) fn encode(&self, buf: &mut Vec<u8>) {
        match *self {
            Self::Int2(value) => buf.extend_from_slice(&value.to_le_bytes()),
            Self::Int4(value) => buf.extend_from_slice(&value.to_le_bytes()),
            Self::Int8(value) => buf.extend_from_slice(&value.to_le_bytes()),
            Self::Text(value) => put_bytes(buf, value.as_bytes()),
            Self::Decimal(value) => {
                let mut room = [0; DECIMAL_BYTES];
                put_bytes(buf, decimal_text(value, &mut room));
            }
            Self::DateTime(value) => {
                let [low, high] = value.year.to_le_bytes();
                let [hour, minute, second] = value.time;
                let head = [11, low, high, value.month, value.day, hour, minute, second];
                buf.extend_from_slice(&head);
                buf.extend_from_slice(&value.microsecond.to_le_bytes());
            }
            Self::Null => {}
        }
    }
}

/// Sign, 19 digits of an `i64`, a point and a zero before it, and up to four more zeros.
pub(super) const DECIMAL_BYTES: usize = 28;

/// The decimal as text, written from the end of `room`.
pub(super) fn decimal_text(value: Decimal, room: &mut [u8; DECIMAL_BYTES]) -> &[u8] {
    let mut at = DECIMAL_BYTES;
    let mut left = value.unscaled.unsigned_abs();
    let mut written = 0;
    while left > 0 || written <= value.scale {
        if written == value.scale && written > 0 {
            at -= 1;
            room[at] = b'.';
        }
        at -= 1;
        room[at] = b'0' + (left % 10) as u8;
        left /= 10;
        written += 1;
    }
    if value.unscaled < 0 {
        at -= 1;
        room[at] = b'-';
    }
    &room[at..]
}

#[cfg(test)]
mod tests {
    use super::super::row::parse_decimal;
    use super::*;
    use proptest::prelude::*;

    fn text(value: Decimal) -> String {
        let mut room = [0; DECIMAL_BYTES];
        String::from_utf8(decimal_text(value, &mut room).to_vec()).unwrap()
    }

    #[test]
    fn known_forms() {
        let cases = [
            (Decimal::cents(0), "0.00"),
            (Decimal::cents(-5), "-0.05"),
            (Decimal::cents(123_456), "1234.56"),
            (Decimal::ten_thousandths(1), "0.0001"),
            (
                Decimal {
                    unscaled: -7,
                    scale: 0,
                },
                "-7",
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(text(value), expected);
        }
    }

    proptest! {
        #[test]
        fn a_decimal_comes_back(unscaled: i64, scale in 0_u8..=4) {
            let text = text(Decimal { unscaled, scale });
            prop_assert_eq!(parse_decimal(text.as_bytes(), scale), Ok(unscaled));
        }
    }
}
