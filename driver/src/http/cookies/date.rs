//! Dates in header fields, read as those of cookies are, as RFC 6265 (section 5.1.1) says: leniently, in any order of their parts.

const MONTHS: [&[u8; 3]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];
const DAY_S: i64 = 86_400;

/// The parts of a date that were found so far.
#[derive(Default)]
struct Found {
    time_s: Option<i64>,
    day: Option<i64>,
    month: Option<i64>,
    year: Option<i64>,
}

/// Unix time of a date, in seconds; `None` for what is not one.
pub fn parse(text: &str) -> Option<i64> {
    let mut found = Found::default();
    for token in text.as_bytes().split(|byte| is_delimiter(*byte)) {
        found.take(token)?;
    }
    let (year, month, day) = (found.year?, found.month?, found.day?);
    let begin = days_to(year, month);
    let days_of_month = match month {
        12 => days_to(year + 1, 1),
        _ => days_to(year, month + 1),
    } - begin;
    let is_sound = year >= 1601 && (1..=days_of_month).contains(&day);
    is_sound.then_some((begin + day - 1) * DAY_S + found.time_s?)
}

impl Found {
    /// Takes a token as the first part that it can be and that is still missing; `None` for a time of day
    /// that there is not.
    fn take(&mut self, token: &[u8]) -> Option<()> {
        if self.time_s.is_none()
            && let Some(parts) = time(token)
        {
            self.time_s = Some(seconds(parts)?);
        } else if self.day.is_none()
            && let Some((day, _)) = number(token, 1, 2)
        {
            self.day = Some(day);
        } else if self.month.is_none()
            && let Some(month) = month(token)
        {
            self.month = Some(month);
        } else if self.year.is_none()
            && let Some((year, _)) = number(token, 2, 4)
        {
            self.year = Some(match year {
                70..=99 => year + 1900,
                0..=69 => year + 2000,
                _ => year,
            });
        }
        Some(())
    }
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

/// Hours, minutes and seconds.
fn time(token: &[u8]) -> Option<[i64; 3]> {
    let (hours, rest) = number(token, 1, 2)?;
    let (minutes, rest) = number(rest.strip_prefix(b":")?, 1, 2)?;
    let (seconds, _) = number(rest.strip_prefix(b":")?, 1, 2)?;
    Some([hours, minutes, seconds])
}

fn seconds([hours, minutes, seconds]: [i64; 3]) -> Option<i64> {
    let is_sound = hours < 24 && minutes < 60 && seconds < 60;
    is_sound.then_some(hours * 3600 + minutes * 60 + seconds)
}

/// The number of `least` to `most` digits that a text begins with, and what follows it.
fn number(text: &[u8], least: usize, most: usize) -> Option<(i64, &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(count);
    let value = digits
        .iter()
        .take(most)
        .fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    (least..=most).contains(&count).then_some((value, rest))
}

fn month(token: &[u8]) -> Option<i64> {
    let name = token.get(..3)?;
    let position = MONTHS
        .iter()
        .position(|month| name.eq_ignore_ascii_case(&month[..]))?;
    Some(position as i64 + 1)
}

/// Days from 1970-01-01 to the first of a month, in the Gregorian calendar; the year is 0 or later. March
/// begins the year here, so that the day of a leap year is its last (Howard Hinnant, `days_from_civil`).
fn days_to(year: i64, month: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let months_since_march = (month + 9) % 12;
    let days_since_march = (153 * months_since_march + 2) / 5;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + days_since_march - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_read_in_all_forms() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "6 november 1994 8:49:37",
            "1994 Nov 6 08:49:37",
            "08:49:37 06-NOV-94",
            "Sun, 06 Nov 1994 08:49:37.000 +0000",
        ] {
            assert_eq!(parse(text), Some(784_111_777), "{text}");
        }
        for (text, expected) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 01-Jan-70 00:00:01 GMT", 1),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Tue, 19 Jan 2038 03:14:08 GMT", 1 << 31),
            ("Fri, 01 Jan 69 00:00:00 GMT", 3_124_224_000),
            ("Mon, 01 Jan 1601 00:00:00 GMT", -11_644_473_600),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "0",
            "Session",
            "06 Nov 1994",
            "08:49:37 Nov 1994",
            "06 08:49:37 1994",
            "06 Nov 08:49:37",
            "06 Nov 1994 24:00:00",
            "06 Nov 1994 08:60:00",
            "06 Nov 1994 08:00:60",
            "00 Nov 1994 08:49:37",
            "31 Nov 1994 08:49:37",
            "29 Feb 1900 08:49:37",
            "06 Nov 1600 08:49:37",
            "06 Nov 19941 08:49:37",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn each_day_follows_the_day_before(days in -150_000_i64..1_000_000) {
            // A walk through the months that begin after the day finds it again.
            let (mut year, mut month) = (1970 + days / 366 - 2, 1);
            while days_to(year + i64::from(month == 12), month % 12 + 1) <= days {
                (year, month) = (year + i64::from(month == 12), month % 12 + 1);
            }
            let day = days - days_to(year, month) + 1;
            prop_assert!((1..=31).contains(&day), "{}-{}-{}", year, month, day);
            let name = str::from_utf8(MONTHS[month as usize - 1]).expect("letters");
            let text = format!("{day} {name} {year} 00:00:07");
            let expected = (year >= 1601).then_some(days * DAY_S + 7);
            prop_assert_eq!(parse(&text), expected, "{}", text);
        }

        #[test]
        fn any_text_is_read_or_none(text in "[ -~\u{e9}]{0,40}") {
            parse(&text);
        }
    }
}
