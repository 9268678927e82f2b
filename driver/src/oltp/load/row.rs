//! One row of the load, whatever form an engine wants it in.

use crate::decimal::Decimal;

/// Writes the columns of one row, in order.
pub trait RowWriter {
    /// Starts a row of `columns` columns.
    fn begin(&mut self, columns: i16) -> &mut Self;

    /// `smallint`
    fn int2(&mut self, value: i16) -> &mut Self;

    /// `integer`
    fn int4(&mut self, value: i32) -> &mut Self;

    /// `timestamp`
    fn timestamp(&mut self, at: Timestamp) -> &mut Self;

    /// Text of `length` ASCII letters and digits, written by `fill` into the zeros where it will lie.
    fn text_with(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> &mut Self;

    /// Text of ASCII letters and digits.
    fn text(&mut self, value: &[u8]) -> &mut Self {
        self.text_with(value.len(), |room| room.copy_from_slice(value))
    }

    /// `numeric`
    fn numeric(&mut self, value: Decimal) -> &mut Self;

    /// NULL
    fn null(&mut self) -> &mut Self;
}

const DAY_S: i64 = 86_400;
/// Days from 1970-01-01 to 2000-01-01.
const DAYS_TO_2000: i64 = 10_957;

/// A moment without a time zone, in whole seconds since 1970-01-01 00:00:00.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp {
    seconds: i64,
}

impl Timestamp {
    /// Midnight of the day that lies `days` after 1970-01-01.
    pub const fn of_day(days: i64) -> Self {
        Self {
            seconds: days * DAY_S,
        }
    }

    /// The moment `seconds` after 1970.
    pub const fn of_seconds(seconds: i64) -> Self {
        Self { seconds }
    }

    /// As PostgreSQL counts it.
    pub const fn microseconds_since_2000(self) -> i64 {
        (self.seconds - DAYS_TO_2000 * DAY_S) * 1_000_000
    }

    /// `2025-01-31 13:59:00`, for years of four digits.
    ///
    /// The date is computed as in H. Hinnant, "chrono-Compatible Low-Level Date Algorithms",
    /// `civil_from_days`.
    pub fn text(self) -> [u8; 19] {
        let (days, second) = (
            self.seconds.div_euclid(DAY_S),
            self.seconds.rem_euclid(DAY_S),
        );
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 {
            from_march + 3
        } else {
            from_march - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let mut text = *b"0000-00-00 00:00:00";
        digits(&mut text[0..4], year);
        digits(&mut text[5..7], month);
        digits(&mut text[8..10], day);
        digits(&mut text[11..13], second / 3600);
        digits(&mut text[14..16], second / 60 % 60);
        digits(&mut text[17..19], second % 60);
        text
    }
}

fn digits(room: &mut [u8], mut value: i64) {
    for digit in room.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_a_date_and_a_time() {
        let text = |seconds| String::from_utf8(Timestamp { seconds }.text().to_vec()).unwrap();
        assert_eq!(text(0), "1970-01-01 00:00:00");
        assert_eq!(text(951_782_399), "2000-02-28 23:59:59");
        assert_eq!(text(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(text(1_735_689_600), "2025-01-01 00:00:00");
        assert_eq!(text(4_107_542_399), "2100-02-28 23:59:59");
        assert_eq!(text(4_107_542_400), "2100-03-01 00:00:00");
    }

    #[test]
    fn postgresql_counts_from_2000() {
        assert_eq!(
            Timestamp::of_day(DAYS_TO_2000 + 1).microseconds_since_2000(),
            DAY_S * 1_000_000
        );
    }
}
