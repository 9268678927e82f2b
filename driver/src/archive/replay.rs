//! Events of a file, replayed from now on, again and again.

use std::collections::HashMap;
use std::fs;

use super::source::Said;
use crate::parameters::refuse;
use crate::plan::Refusal;

const HEADER: [&str; 5] = ["ts", "element", "value", "status", "text"];
/// Width of the column `text`.
const MOST_CHARACTERS: usize = 80;
const SECOND_US: i64 = 1_000_000;

/// The rows of a file.
#[derive(Debug)]
pub struct Replay {
    rows: Vec<Row>,
    /// From one round to the next.
    round_us: i64,
}

/// A row; times are microseconds after the first row's.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    /// When it is due: no earlier than the rows before it.
    due_us: i64,
    ts_us: i64,
    element: u32,
    value: Option<f64>,
    status: i32,
    text: Option<Box<str>>,
}

impl Replay {
    /// Reads a file with the columns ts (ISO 8601, or seconds since 1970), element, value, status and text
    /// for stations of `elements` elements.
    ///
    /// # Errors
    /// A [`Refusal`] with the number of the line that is wrong.
    pub fn read(path: &str, elements: u32) -> Result<Self, Refusal> {
        let text = fs::read_to_string(path)
            .map_err(|error| refuse("csv", format!("cannot read {path}: {error}")))?;
        Self::parse(&text, elements).map_err(|problem| refuse("csv", format!("{path}: {problem}")))
    }

    fn parse(text: &str, elements: u32) -> Result<Self, String> {
        let mut lines = (1..).zip(text.lines());
        let header = lines.next().map(|(_, line)| fields(line));
        if header.is_none_or(|header| header != Ok(HEADER.map(String::from).to_vec())) {
            return Err(format!("line 1 is not the header {}", HEADER.join(",")));
        }
        let (mut rows, mut numbers) = (Vec::<Row>::new(), HashMap::new());
        let mut first_us = None;
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |problem: String| format!("line {number}: {problem}");
            let (at_us, name, mut row) = row(line).map_err(wrong)?;
            let next = numbers.len() as u32;
            row.element = *numbers.entry(name).or_insert(next);
            row.ts_us = at_us - *first_us.get_or_insert(at_us);
            row.due_us = row.ts_us.max(rows.last().map_or(0, |last| last.due_us));
            rows.push(row);
        }
        if numbers.len() > elements as usize {
            let found = numbers.len();
            return Err(format!(
                "it has {found} elements; give elements: {found} or more"
            ));
        }
        let last_us = rows.last().ok_or("it has no rows")?.due_us;
        // A round is followed by the next after the mean gap of its rows.
        let gap_us = match rows.len() as i64 - 1 {
            0 => SECOND_US,
            gaps => (last_us / gaps).max(1),
        };
        let round_us = last_us + gap_us;
        Ok(Self { rows, round_us })
    }

    /// Events that are due so long after the begin.
    pub(super) fn due_by(&self, elapsed_us: u64) -> u64 {
        let round_us = self.round_us as u64;
        let (rounds, rest_us) = (elapsed_us / round_us, elapsed_us % round_us);
        let part = self
            .rows
            .partition_point(|row| row.due_us as u64 <= rest_us);
        rounds * self.rows.len() as u64 + part as u64
    }

    pub(super) fn per_s(&self) -> f64 {
        self.rows.len() as f64 / self.round_us as f64 * SECOND_US as f64
    }

    pub(super) fn event(&self, number: u64) -> Said<'_> {
        let count = self.rows.len() as u64;
        let row = &self.rows[(number % count) as usize];
        let after_us = (number / count) as i64 * self.round_us + row.ts_us;
        (
            row.element,
            after_us,
            row.value,
            row.text.as_deref(),
            row.status,
        )
    }
}

/// Time in microseconds since 1970, name of the element, and the row without either.
fn row(line: &str) -> Result<(i64, String, Row), String> {
    let fields = fields(line)?;
    let [ts, element, value, status, text] = fields.as_slice() else {
        return Err(format!(
            "{} columns instead of {}",
            fields.len(),
            HEADER.len()
        ));
    };
    let at_us = moment_us(ts).ok_or_else(|| {
        format!("ts {ts:?} is neither ISO 8601 (2025-01-31T13:59:00.5Z) nor seconds since 1970")
    })?;
    if element.is_empty() {
        return Err("element is empty".into());
    }
    let number = value.parse::<f64>().ok().filter(|value| value.is_finite());
    if number.is_none() && !value.is_empty() {
        return Err(format!("value {value:?} is not a number"));
    }
    let status = status
        .parse()
        .map_err(|_| format!("status {status:?} is not an integer"))?;
    let odd = |letter: char| letter.is_control() || letter == '\\';
    if text.chars().count() > MOST_CHARACTERS || text.contains(odd) {
        return Err(format!(
            "text is longer than {MOST_CHARACTERS} characters, or holds a control character or a backslash"
        ));
    }
    let row = Row {
        due_us: 0,
        ts_us: 0,
        element: 0,
        value: number,
        status,
        text: (!text.is_empty()).then(|| text.as_str().into()),
    };
    Ok((at_us, element.clone(), row))
}

/// Fields between commas; one in double quotes may hold commas, and quotes when they are doubled (RFC 4180).
fn fields(line: &str) -> Result<Vec<String>, String> {
    let mut found = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let field = found.last_mut().expect("there is one field at least");
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => found.push(String::new()),
            letter => field.push(letter),
        }
    }
    if quoted {
        return Err("a quote is not closed".into());
    }
    Ok(found)
}

/// A moment in microseconds since 1970.
fn moment_us(text: &str) -> Option<i64> {
    if let Ok(seconds) = text.parse::<f64>() {
        let us = seconds * SECOND_US as f64;
        return (us.is_finite() && us.abs() < 1e17).then_some(us.round() as i64);
    }
    let (date, rest) = text.split_at_checked(10)?;
    let (clock, zone_s) = zone(rest.strip_prefix(['T', ' '])?)?;
    let [year, month, day] = numbers::<3>(date, '-')?;
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hour, minute, second] = numbers::<3>(whole, ':')?;
    let valid = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    let digits = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !valid || !digits {
        return None;
    }
    let fraction_us = (format!("0.{fraction}").parse::<f64>().ok()? * 1e6).round() as i64;
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - zone_s;
    Some(seconds * SECOND_US + fraction_us)
}

/// What stands before the zone, and the zone in seconds east of UTC; without one it is UTC.
fn zone(clock: &str) -> Option<(&str, i64)> {
    if let Some(utc) = clock.strip_suffix(['Z', 'z']) {
        return Some((utc, 0));
    }
    let Some(at) = clock.find(['+', '-']) else {
        return Some((clock, 0));
    };
    let [hours, minutes] = numbers::<2>(&clock[at + 1..], ':')?;
    let seconds = hours * 3600 + minutes * 60;
    let sign = if clock.as_bytes()[at] == b'-' { -1 } else { 1 };
    Some((&clock[..at], sign * seconds))
}

fn numbers<const N: usize>(text: &str, between: char) -> Option<[i64; N]> {
    let mut parts = text.split(between);
    let mut found = [0; N];
    for number in &mut found {
        let part = parts.next()?;
        let plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = plain.then(|| part.parse().ok()).flatten()?;
    }
    parts.next().is_none().then_some(found)
}

/// Days from 1970-01-01 (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "ts,element,value,status,text\n\
        2025-01-31T12:00:00Z,pump,1.5,192,\n\
        2025-01-31T12:00:02.5Z,valve,,64,\"open, \"\"full\"\"\"\n\
        2025-01-31T13:00:01+01:00,pump,-2e3,192,\n";

    #[test]
    fn a_file_is_replayed_round_after_round() {
        let replay = Replay::parse(FILE, 2).expect("a file");
        assert_eq!(replay.event(0), (0, 0, Some(1.5), None, 192));
        let late = Some("open, \"full\"");
        assert_eq!(replay.event(1), (1, 2_500_000, None, late, 64));
        assert_eq!(replay.event(2), (0, 1_000_000, Some(-2000.0), None, 192));
        // Three rows in 2.5 s: the next round begins 1.25 s later.
        assert_eq!(replay.event(3).1, 3_750_000);
        let due = [0, 2_499_999, 2_500_000, 3_749_999, 3_750_000].map(|us| replay.due_by(us));
        assert_eq!(due, [1, 1, 3, 3, 4]);
    }

    #[test]
    fn moments_are_read_in_both_forms() {
        let moments = [
            ("0", Some(0)),
            ("1738324800.25", Some(1_738_324_800_250_000)),
            ("2025-01-31 12:00:00", Some(1_738_324_800_000_000)),
            ("2025-01-31T12:00:00.000001Z", Some(1_738_324_800_000_001)),
            ("2024-02-29T00:00:00-05:30", Some(1_709_184_600_000_000)),
            ("2025-13-01T00:00:00Z", None),
            ("2025-01-31", None),
            ("yesterday", None),
        ];
        for (text, expected) in moments {
            assert_eq!(moment_us(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let with = |line: &str| format!("ts,element,value,status,text\n0,a,1,192,\n{line}\n");
        for (text, words) in [
            ("element,ts\n".to_owned(), "line 1 is not the header"),
            ("ts,element,value,status,text\n".to_owned(), "no rows"),
            (with("later,a,1,192,"), "line 3: ts \"later\""),
            (with("1,a,one,192,"), "line 3: value"),
            (with("1,a,1,good,"), "line 3: status"),
            (with("1,,1,192,"), "line 3: element"),
            (with("1,a,1,192"), "line 3: 4 columns"),
            (with("1,a,1,192,\"x"), "line 3: a quote"),
            (with("1,a,1,192,a\\b"), "line 3: text"),
            (with("1,b,1,192,"), "2 elements"),
        ] {
            let problem = Replay::parse(&text, 1).expect_err(words);
            assert!(problem.contains(words), "{problem}");
        }
    }
}
