//! Answers that are kept, so that what was in them can be looked at after the run.
//!
//! Each request keeps a sample of its answers. An answer draws a number from the generator of its user; those with the
//! lowest numbers are the sample (bottom-k sampling: E. Cohen and H. Kaplan, "Summarizing data using bottom-k sketches",
//! PODC 2007). So it does not matter how many answers there will be, and samples of several processes make one of all.
//! An answer is written as soon as it is among the lowest so far: what a later one has displaced is still in the file, and
//! its reader leaves it out.

use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::de::IgnoredAny;

use crate::clock::to_s;
use crate::parameters::refuse;
use crate::plan::Refusal;
use crate::session::{ErrorClass, Failure};

/// An answer that is longer is told by its length alone.
pub const MOST_BYTES: usize = 65_536;
/// Most answers of one request.
pub const MOST_ANSWERS: u32 = 100_000;
const FIELD: &str = "answers";

/// The samples of all requests, and the file that they are in.
#[derive(Debug, Default)]
pub struct KeptAnswers {
    samples: Vec<Sample>,
    file: OnceLock<File>,
}

/// The sample of one request.
#[derive(Debug)]
struct Sample {
    most: usize,
    /// The lowest numbers that were drawn so far.
    lowest: Mutex<BinaryHeap<u64>>,
    /// A number must be below it to be among them.
    below: AtomicU64,
}

/// What is told of an answer. Parts that are JSON are written as they are.
#[derive(Debug)]
pub struct Line<'a> {
    /// The number that it drew.
    pub draw: Draw,
    /// When it was there, in nanoseconds since the driver's start.
    pub done_ns: u64,
    /// Number of the user.
    pub user: u32,
    /// The user's name, where people have a column of that name.
    pub username: Option<&'a str>,
    /// The operation.
    pub operation: &'a str,
    /// The request.
    pub request: &'a str,
    /// JSON: the values that it was made with.
    pub values: &'a str,
    /// JSON: what was handed over with it.
    pub body: Option<&'a str>,
    /// JSON: what was answered, if that is JSON and no longer than [`MOST_BYTES`].
    pub answer: Option<&'a str>,
    /// Length of the answer.
    pub bytes: usize,
}

/// A number that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Draw(u64);

impl Draw {
    /// One of [0, 1), as it was drawn. It keeps its order as bits.
    pub fn new(unit: f64) -> Self {
        Self(unit.to_bits())
    }
}

impl KeptAnswers {
    /// Adds the sample of a request; gives its number.
    ///
    /// # Errors
    /// That so many are not kept, in words.
    pub fn add_sample(&mut self, most: u32) -> Result<usize, String> {
        if !(1..=MOST_ANSWERS).contains(&most) {
            return Err(format!("{most} is not between 1 and {MOST_ANSWERS}"));
        }
        self.samples.push(Sample {
            most: most as usize,
            lowest: Mutex::default(),
            below: AtomicU64::new(u64::MAX),
        });
        Ok(self.samples.len() - 1)
    }

    /// Opens the file, if any answers are to be kept. What is in it stays.
    ///
    /// # Errors
    /// A [`Refusal`] if none is given or it cannot be opened.
    pub fn open(&self, path: Option<&str>) -> Result<(), Refusal> {
        if self.samples.is_empty() {
            return Ok(());
        }
        let path = path.ok_or_else(|| {
            let problem = "missing; give the file for the answers that the scenario keeps";
            refuse(FIELD, problem)
        })?;
        let file = OpenOptions::new().append(true).create(true).open(path);
        let file = file.map_err(|error| refuse(FIELD, format!("cannot open {path}: {error}")))?;
        // Opened once, before a session is.
        let _ = self.file.set(file);
        Ok(())
    }

    /// Whether an answer that drew this number is among the lowest so far.
    pub fn wants(&self, sample: usize, draw: Draw) -> bool {
        draw.0 < self.samples[sample].below.load(Ordering::Relaxed)
    }

    /// Keeps an answer, if it is still among the lowest.
    ///
    /// # Errors
    /// A failure of class `answers` if it cannot be written.
    pub fn keep(&self, sample: usize, line: &Line<'_>) -> Result<(), Failure> {
        let sample = &self.samples[sample];
        if !sample.admit(line.draw) {
            return Ok(());
        }
        self.append(&line.text(sample.most))
            .map_err(|error| Failure {
                class: ErrorClass(FIELD.into()),
                message: format!("an answer could not be kept: {error}"),
            })
    }

    /// One write, so that lines of several threads do not mix.
    fn append(&self, line: &str) -> io::Result<()> {
        let Some(mut file) = self.file.get() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        file.write_all(line.as_bytes())
    }
}

impl Sample {
    fn admit(&self, draw: Draw) -> bool {
        let mut lowest = self.lowest.lock().unwrap_or_else(PoisonError::into_inner);
        if lowest.len() < self.most {
            lowest.push(draw.0);
        } else if lowest.peek().is_some_and(|highest| draw.0 < *highest) {
            lowest.pop();
            lowest.push(draw.0);
        } else {
            return false;
        }
        if lowest.len() == self.most
            && let Some(highest) = lowest.peek()
        {
            self.below.store(*highest, Ordering::Relaxed);
        }
        true
    }
}

impl Line<'_> {
    /// As it is written; `most` answers of its request are a sample.
    fn text(&self, most: usize) -> String {
        let draw = f64::from_bits(self.draw.0);
        let mut line = format!("{{\"draw\":{draw},\"t_s\":{:.6}", to_s(self.done_ns));
        // A string takes all that is written.
        let _ = write!(line, ",\"user\":{}", self.user);
        for (name, text) in [
            ("username", self.username),
            ("operation", Some(self.operation)),
            ("request", Some(self.request)),
        ] {
            let quoted = text.map_or_else(null, |text| serde_json::Value::from(text).to_string());
            let _ = write!(line, ",\"{name}\":{quoted}");
        }
        for (name, json) in [
            ("values", Some(self.values)),
            ("body", self.body),
            ("answer", self.answer),
        ] {
            let _ = write!(line, ",\"{name}\":");
            // A line break within JSON stands between its parts.
            line.extend(json.unwrap_or("null").chars().map(|sign| match sign {
                '\n' | '\r' => ' ',
                other => other,
            }));
        }
        let _ = writeln!(line, ",\"answer_bytes\":{},\"most\":{most}}}", self.bytes);
        line
    }
}

fn null() -> String {
    "null".into()
}

/// A text that is JSON, and not too long to be kept.
pub fn as_json(text: &[u8]) -> Option<&str> {
    if text.len() > MOST_BYTES || serde_json::from_slice::<IgnoredAny>(text).is_err() {
        return None;
    }
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::{Value, json};

    use super::*;
    use crate::random::Random;

    /// A file that is removed when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let name = format!("loadstone-kept-{}-{name}.jsonl", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = std::fs::remove_file(&path);
            Self(path)
        }

        fn lines(&self) -> Vec<Value> {
            let text = std::fs::read_to_string(&self.0).expect("a file");
            let lines = text.lines();
            lines
                .map(|line| serde_json::from_str(line).expect("JSON"))
                .collect()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn line(draw: f64, answer: Option<&str>) -> Line<'_> {
        Line {
            draw: Draw::new(draw),
            done_ns: 1_500_000_000,
            user: 7,
            username: Some("a \"b\""),
            operation: "open",
            request: "chart",
            values: "{\"year\":1995}",
            body: None,
            answer,
            bytes: answer.map_or(99, str::len),
        }
    }

    #[test]
    fn a_line_is_json_whatever_the_answer_looks_like() {
        let file = Scratch::new("line");
        let mut kept = KeptAnswers::default();
        let sample = kept.add_sample(3).expect("a sample");
        kept.open(file.0.to_str()).expect("opened");
        for answer in [Some("{\r\n \"a\": [1.10, \"x\"]\n}"), None] {
            kept.keep(sample, &line(0.25, answer)).expect("written");
        }
        let common = json!({"draw": 0.25, "t_s": 1.5, "user": 7, "username": "a \"b\"",
            "operation": "open", "request": "chart", "values": {"year": 1995}, "body": null, "most": 3});
        let mut first = common.clone();
        first["answer"] = json!({"a": [1.1, "x"]});
        first["answer_bytes"] = json!(22);
        let mut second = common;
        second["answer"] = Value::Null;
        second["answer_bytes"] = json!(99);
        assert_eq!(file.lines(), [first, second]);
    }

    #[test]
    fn the_lowest_numbers_of_all_are_in_the_file() {
        let file = Scratch::new("lowest");
        let mut kept = KeptAnswers::default();
        let sample = kept.add_sample(20).expect("a sample");
        kept.open(file.0.to_str()).expect("opened");
        let mut random = Random::new(3, 0);
        let mut drawn: Vec<f64> = (0..5000).map(|_| random.unit()).collect();
        for draw in &drawn {
            if kept.wants(sample, Draw::new(*draw)) {
                kept.keep(sample, &line(*draw, None)).expect("written");
            }
        }
        drawn.sort_by(f64::total_cmp);
        let mut found: Vec<f64> = file
            .lines()
            .iter()
            .map(|line| line["draw"].as_f64().expect("a number"))
            .collect();
        // 20 (1 + ln(5000 / 20)) are expected.
        assert!((60..250).contains(&found.len()), "{}", found.len());
        found.sort_by(f64::total_cmp);
        // The reader of JSON may be off by the last bit.
        let same = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-15;
        assert!(found[..20].iter().zip(&drawn).all(same), "{found:?}");
    }

    #[test]
    fn without_a_sample_no_file_is_made_and_with_one_it_must_be_there() {
        let mut kept = KeptAnswers::default();
        assert!(kept.open(None).is_ok());
        assert!(kept.add_sample(0).is_err() && kept.add_sample(100_001).is_err());
        kept.add_sample(1).expect("a sample");
        for path in [None, Some("/nowhere/at/all")] {
            let refusal = kept.open(path).expect_err("refused");
            assert_eq!(refusal.field, "workload.parameters.answers");
        }
    }

    #[test]
    fn only_json_that_is_short_is_kept() {
        assert_eq!(as_json(b"[1]"), Some("[1]"));
        assert_eq!(as_json(b"<html>"), None);
        assert_eq!(as_json(b"[1] x"), None);
        let long = format!("\"{}\"", "x".repeat(MOST_BYTES));
        assert_eq!(as_json(long.as_bytes()), None);
    }
}
