//! `numeric` values with a fixed number of decimals, as PostgreSQL sends them in binary.
//!
//! Format: count of digits, weight of the first, sign, display scale (four 16-bit integers), then
//! digits of base 10,000 (`numeric_send` in the server's `numeric.c`).

use bytes::{BufMut, BytesMut};

use super::Error;
use crate::decimal::Decimal;

const BASE: u64 = 10_000;
const NEGATIVE: u16 = 0x4000;
/// 2^64 has five digits of base 10,000; one more holds the decimals.
const MAX_DIGITS: usize = 6;

impl Decimal {
    /// Writes the value's binary form.
    pub fn encode(self, buf: &mut impl BufMut) {
        let scale = u32::from(self.scale.min(4));
        let unit = 10_u64.pow(scale);
        let magnitude = self.unscaled.unsigned_abs();
        let mut digits = [0_u16; MAX_DIGITS];
        digits[MAX_DIGITS - 1] = (magnitude % unit * 10_u64.pow(4 - scale)) as u16;
        let mut whole = magnitude / unit;
        for digit in digits[..MAX_DIGITS - 1].iter_mut().rev() {
            *digit = (whole % BASE) as u16;
            whole /= BASE;
        }
        let first = digits
            .iter()
            .position(|digit| *digit != 0)
            .unwrap_or(MAX_DIGITS);
        let last = digits
            .iter()
            .rposition(|digit| *digit != 0)
            .map_or(first, |at| at + 1);
        let weight = if first == MAX_DIGITS {
            0
        } else {
            MAX_DIGITS as i16 - 2 - first as i16
        };
        buf.put_u16((last - first) as u16);
        buf.put_i16(weight);
        buf.put_u16(if self.unscaled < 0 { NEGATIVE } else { 0 });
        buf.put_u16(scale as u16);
        for digit in &digits[first..last] {
            buf.put_u16(*digit);
        }
    }

    /// Reads a binary `numeric` as a number of 1/10^`scale`.
    ///
    /// # Errors
    /// A protocol error if the bytes are not a number, or one that does not fit.
    pub fn decode(bytes: &[u8], scale: u8) -> Result<i64, Error> {
        Self::parse(bytes, scale).ok_or_else(|| Error::protocol("a numeric value does not fit"))
    }

    fn parse(bytes: &[u8], scale: u8) -> Option<i64> {
        let head = bytes.get(..8)?;
        let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        let (count, sign) = (usize::from(word(0)), word(4));
        let weight = i32::from(word(2) as i16);
        let digits = bytes.get(8..8 + count * 2)?;
        let mut value: i128 = 0;
        for (at, pair) in digits.chunks_exact(2).enumerate() {
            let digit = i128::from(u16::from_be_bytes([pair[0], pair[1]]));
            let power = (weight - at as i32) * 4 + i32::from(scale);
            value += match power {
                0..=24 => digit * 10_i128.pow(power as u32),
                -3..=-1 => digit / 10_i128.pow(power.unsigned_abs()),
                ..=-4 => 0,
                _ if digit == 0 => 0,
                _ => return None,
            };
        }
        match sign {
            0 => i64::try_from(value).ok(),
            NEGATIVE => i64::try_from(-value).ok(),
            _ => None,
        }
    }
}

/// Writes the decimal as an element of an array.
pub(crate) fn decimal_to_sql(value: Decimal, buf: &mut BytesMut) {
    value.encode(buf);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(value: Decimal) -> Vec<u8> {
        let mut buf = Vec::new();
        value.encode(&mut buf);
        buf
    }

    #[test]
    fn known_forms() {
        assert_eq!(encoded(Decimal::cents(0)), [0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(
            encoded(Decimal::cents(1234)),
            [0, 2, 0, 0, 0, 0, 0, 2, 0, 12, 0x0d, 0x48]
        );
        assert_eq!(
            encoded(Decimal::cents(-50)),
            [0, 1, 0xff, 0xff, 0x40, 0, 0, 2, 0x13, 0x88]
        );
    }

    proptest! {
        #[test]
        fn comes_back_as_it_was(unscaled in any::<i64>(), scale in 0_u8..=4) {
            let bytes = encoded(Decimal { unscaled, scale });
            prop_assert_eq!(Decimal::decode(&bytes, scale), Ok(unscaled));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60), scale in 0_u8..=4) {
            let _ = Decimal::decode(&bytes, scale);
        }
    }
}
