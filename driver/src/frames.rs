//! What the driver tells: one JSON object a line on standard output.

mod traces;

use std::collections::BTreeMap;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer as SerdeSerializer};
use serde_json::{Map, Value};

use crate::names::Names;
use crate::plan::PhaseKind;
use crate::recorder::{Classes, Marks, Recorder, RequestTally, Tally};
use crate::session::OperationId;

pub use self::traces::{Row, Traced, Traces};

/// A frame.
#[derive(Debug, Serialize)]
#[serde(tag = "frame", rename_all = "kebab-case")]
pub enum Frame<'a> {
    /// Once, first.
    Hello(Hello<'a>),
    /// Something happened.
    Event(Event<'a>),
    /// What was counted and timed in an interval.
    Tick(Box<Tick<'a>>),
    /// Once, last.
    End(End<'a>),
}

/// Who speaks.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Hello<'a> {
    pub t_s: f64,
    pub version: u32,
    pub driver: &'a str,
    pub pid: u32,
    pub threads: u32,
    pub workload: &'a str,
    pub operations: &'a [&'static str],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<&'static str, Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    pub unix_time_s: f64,
    pub monotonic_s: f64,
    pub nofile: u64,
    pub clock_resolution_ns: u64,
}

/// Something that happened.
#[derive(Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Event<'a> {
    pub t_s: f64,
    pub kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_kind: Option<PhaseKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<&'a Map<String, Value>>,
    pub detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drained: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discarded: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_s: Option<f64>,
}

/// What was counted and timed from `from_s` to `to_s`.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Tick<'a> {
    pub t_s: f64,
    pub seq: u64,
    pub phase: &'a str,
    pub phase_kind: PhaseKind,
    pub late: bool,
    pub from_s: f64,
    pub to_s: f64,
    pub operations: Operations<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag: Option<String>,
    pub late_starts: u64,
    pub dropped: u64,
    pub due: u64,
    pub users: u64,
    pub in_flight: u64,
    pub queued: u64,
    pub reconnects: u64,
    pub cpu_user_s: f64,
    pub cpu_system_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine_cpu_s: Option<f64>,
    pub rss_bytes: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gauges: BTreeMap<&'static str, f64>,
}

/// The operations of a tick, by name, and the requests below them.
#[derive(Debug)]
pub struct Operations<'a> {
    /// Names, by position.
    pub names: &'a Names,
    /// What is told of them.
    pub recorder: &'a Recorder,
}

impl<'a> Operations<'a> {
    /// The requests below `operation` that ended; `None` if it has none at all.
    fn requests_of(&self, operation: OperationId) -> Option<BTreeMap<&'a str, RequestTick<'a>>> {
        let (names, recorder) = (self.names, self.recorder);
        names.has_requests(operation).then(|| {
            let tallies = names
                .below(operation)
                .map(|(id, name)| (name, &recorder.requests[id]));
            tallies
                .filter(|(_, tally)| !tally.is_empty())
                .map(|(name, tally)| (name, RequestTick::new(tally)))
                .collect()
        })
    }
}

impl Serialize for Operations<'_> {
    fn serialize<S: SerdeSerializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = &self.names.operations;
        let mut map = serializer.serialize_map(Some(names.len()))?;
        for (operation, name) in names.iter().enumerate() {
            let tally = &self.recorder.operations[operation];
            let tick = OperationTick::new(tally, self.requests_of(operation));
            map.serialize_entry(name, &tick)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct OperationTick<'a> {
    count: u64,
    rolled_back: u64,
    errors: BTreeMap<&'a str, u64>,
    retries: BTreeMap<&'a str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<BTreeMap<&'a str, RequestTick<'a>>>,
}

impl<'a> OperationTick<'a> {
    fn new(tally: &'a Tally, requests: Option<BTreeMap<&'a str, RequestTick<'a>>>) -> Self {
        Self {
            count: tally.count,
            rolled_back: tally.rolled_back,
            errors: by_name(&tally.errors),
            retries: by_name(&tally.retries),
            response: encode(&tally.response),
            service: encode(&tally.service),
            requests,
        }
    }
}

#[derive(Serialize)]
struct RequestTick<'a> {
    count: u64,
    errors: BTreeMap<&'a str, u64>,
    resent: BTreeMap<&'a str, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    retried: BTreeMap<&'a str, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    marks: &'a Marks,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
}

impl<'a> RequestTick<'a> {
    fn new(tally: &'a RequestTally) -> Self {
        Self {
            count: tally.count,
            errors: by_name(&tally.errors),
            resent: by_name(&tally.resent),
            retried: by_name(&tally.retried),
            marks: &tally.marks,
            service: encode(&tally.service),
        }
    }
}

/// Counts by the name of their class.
pub fn by_name(classes: &Classes) -> BTreeMap<&str, u64> {
    classes
        .iter()
        .map(|(class, count)| (&*class.0, *count))
        .collect()
}

/// A histogram in HdrHistogram's V2 format, deflated, as base64; `None` for an empty one.
pub fn encode(histogram: &Histogram<u64>) -> Option<String> {
    if histogram.is_empty() {
        return None;
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("writing to memory does not fail");
    Some(STANDARD.encode(bytes))
}

/// How it ended.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct End<'a> {
    pub t_s: f64,
    pub reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a str>,
    pub operations: BTreeMap<&'a str, Total<'a>>,
    pub cpu_user_s: f64,
    pub cpu_system_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine_cpu_s: Option<f64>,
    pub max_rss_bytes: u64,
    pub facts: BTreeMap<&'static str, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub traces: BTreeMap<&'a str, Traces<'a>>,
}

/// An operation over the whole run.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Total<'a> {
    #[serde(flatten)]
    pub all: Count<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<BTreeMap<&'a str, Count<'a>>>,
}

/// How often something ended well, and how often it did not.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Count<'a> {
    pub count: u64,
    pub errors: BTreeMap<&'a str, u64>,
}

/// Writes frames, each at once.
#[derive(Debug)]
pub struct FrameWriter<W: Write>(W);

impl<W: Write> FrameWriter<W> {
    /// Writes to `output`.
    pub fn new(output: W) -> Self {
        Self(output)
    }

    /// Writes one frame and flushes it.
    ///
    /// # Errors
    /// When the other side is gone.
    pub fn write(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let mut line = serde_json::to_vec(frame)?;
        line.push(b'\n');
        self.0.write_all(&line)?;
        self.0.flush()
    }
}

#[cfg(test)]
mod tests;
