//! Events of a file, replayed from now on, again and again.
//!
//! The file has one form, which Loadstone makes of the files that people give (`events_csv.py` and
//! `replay_file.py` of its workload `archive`); no such file is read here.

use std::fs::File;
use std::io::{self, BufReader, Read};

use super::source::Said;
use crate::parameters::refuse;
use crate::plan::Refusal;

const MAGIC: [u8; 8] = *b"LSEVENT1";
/// Of a row: due, time, value, end of its text, element, status.
const ROW_BYTES: usize = 40;
const SECOND_US: i64 = 1_000_000;

/// The rows of a file; times are microseconds after the first row's.
#[derive(Debug)]
pub struct Replay {
    /// As in the file.
    rows: Vec<[u8; ROW_BYTES]>,
    /// Of all rows, one after the other.
    texts: String,
    /// From one round to the next.
    round_us: i64,
}

impl Replay {
    /// Reads a file of events for stations of `elements` elements.
    ///
    /// # Errors
    /// A [`Refusal`] if it is none, or has more elements.
    pub fn read(path: &str, elements: u32) -> Result<Self, Refusal> {
        let wrong = |problem: String| refuse("events", format!("cannot replay {path}: {problem}"));
        let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
        let (replay, found) =
            Self::parse(BufReader::new(file)).map_err(|error| wrong(error.to_string()))?;
        if found > u64::from(elements) {
            let more = format!("it has {found} elements; give elements: {found} or more");
            return Err(wrong(more));
        }
        Ok(replay)
    }

    /// The events, and how many elements they have.
    fn parse(mut data: impl Read) -> io::Result<(Self, u64)> {
        let count = match word(&mut data)? {
            MAGIC => u64::from_le_bytes(word(&mut data)?),
            _ => return Err(io::Error::other("it is no file of events")),
        };
        let found = u64::from_le_bytes(word(&mut data)?);
        let mut rows = vec![[0; ROW_BYTES]; count as usize];
        data.read_exact(rows.as_flattened_mut())?;
        let mut texts = String::new();
        data.read_to_string(&mut texts)?;
        let last_us = rows.last().map(due_us);
        let last_us = last_us.ok_or_else(|| io::Error::other("it has no rows"))?;
        // A round is followed by the next after the mean gap of its rows.
        let gap_us = match rows.len() as i64 - 1 {
            0 => SECOND_US,
            gaps => (last_us / gaps).max(1),
        };
        let round_us = last_us + gap_us;
        let replay = Self {
            rows,
            texts,
            round_us,
        };
        Ok((replay, found))
    }

    /// Events that are due so long after the begin.
    pub(super) fn due_by(&self, elapsed_us: u64) -> u64 {
        let round_us = self.round_us as u64;
        let (rounds, rest_us) = (elapsed_us / round_us, elapsed_us % round_us);
        let part = self
            .rows
            .partition_point(|row| due_us(row) as u64 <= rest_us);
        rounds * self.rows.len() as u64 + part as u64
    }

    pub(super) fn per_s(&self) -> f64 {
        self.rows.len() as f64 / self.round_us as f64 * SECOND_US as f64
    }

    pub(super) fn event(&self, number: u64) -> Said<'_> {
        let count = self.rows.len() as u64;
        let at = (number % count) as usize;
        let row = &self.rows[at];
        let after_us = (number / count) as i64 * self.round_us + i64::from_le_bytes(part(row, 8));
        let value = f64::from_le_bytes(part(row, 16));
        (
            u32::from_le_bytes(part(row, 32)),
            after_us,
            (!value.is_nan()).then_some(value),
            self.text(at),
            i32::from_le_bytes(part(row, 36)),
        )
    }

    fn text(&self, at: usize) -> Option<&str> {
        let end = |row| u64::from_le_bytes(part(row, 24)) as usize;
        let begin = at
            .checked_sub(1)
            .map_or(0, |before| end(&self.rows[before]));
        let text = self.texts.get(begin..end(&self.rows[at]));
        text.filter(|text| !text.is_empty())
    }
}

fn word(data: &mut impl Read) -> io::Result<[u8; 8]> {
    let mut word = [0; 8];
    data.read_exact(&mut word)?;
    Ok(word)
}

fn due_us(row: &[u8; ROW_BYTES]) -> i64 {
    i64::from_le_bytes(part(row, 0))
}

fn part<const N: usize>(row: &[u8; ROW_BYTES], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&row[at..at + N]);
    part
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, Engine};
    use serde_json::Value;

    use super::*;

    /// The cases that Loadstone's own reader of people's files is tested with too.
    fn cases() -> Vec<Value> {
        let text = include_str!("../../../tests/event_files.json");
        let cases: Value = serde_json::from_str(text).expect("cases");
        cases["taken"].as_array().expect("a list").clone()
    }

    fn replay(case: &Value) -> (Replay, u64) {
        let data = BASE64_STANDARD.decode(case["replayed"].as_str().expect("a text"));
        Replay::parse(data.expect("base64").as_slice()).expect("a file of events")
    }

    #[test]
    fn events_are_those_of_the_cases() {
        for case in cases() {
            let (replay, elements) = replay(&case);
            assert_eq!(case["elements"], elements, "{case}");
            let rows = case["events"].as_array().expect("a list");
            assert_eq!(replay.rows.len(), rows.len(), "{case}");
            for (number, row) in rows.iter().enumerate() {
                let (element, after_us, value, text, status) = replay.event(number as u64);
                let said = serde_json::json!([after_us, element, value, status, text]);
                assert_eq!(*row, said, "{case}");
            }
        }
    }

    #[test]
    fn a_file_is_replayed_round_after_round() {
        let cases = cases();
        let out_of_order = cases.iter().find(|case| case["name"] == "out of order");
        let (replay, _) = replay(out_of_order.expect("a case"));
        // Three rows in 2.5 s: the next round begins 1.25 s later.
        assert_eq!(replay.event(3).1, 3_750_000);
        let due = [0, 2_499_999, 2_500_000, 3_749_999, 3_750_000].map(|us| replay.due_by(us));
        assert_eq!(due, [1, 1, 3, 3, 4]);
    }

    #[test]
    fn what_is_no_file_of_events_is_refused() {
        let whole: Vec<u8> = [&MAGIC[..], &1_u64.to_le_bytes(), &1_u64.to_le_bytes()].concat();
        let none: Vec<u8> = [&MAGIC[..], &[0; 16]].concat();
        for data in [&b"ts,element,value,status,text\n"[..], &[], &whole, &none] {
            assert!(Replay::parse(data).is_err());
        }
    }
}
