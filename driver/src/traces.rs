//! Whole operations: how one of them went by, from the moment when it was due.
//!
//! Of each operation with requests below it a few are kept, of the measured phases: the slowest that ended well,
//! the slowest that failed, and a random sample of those that ended well. The sample is a bottom-k sketch
//! (Cohen and Kaplan, "Summarizing data using bottom-k sketches", PODC 2007): each operation draws a key, and
//! those of the least keys are kept. So samples of several threads, and of several processes, are merged by
//! their keys alone, and every operation has had the same chance.

use std::sync::Arc;

use crate::phase_recorders::PhaseIndex;
use crate::plan::PhaseKind;
use crate::random::{Random, mix};
use crate::recorder::Times;
use crate::session::{ErrorClass, OperationId, RequestEnd};

/// Operations in a sample.
pub const SAMPLE: usize = 3;
/// Rows of a trace: what was sent, and requests for which nothing was. The rest is counted.
pub const MOST_ROWS: usize = 200;

/// One operation as it went by.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The phase in which it was due.
    pub phase: PhaseIndex,
    /// When it was due, begun and done.
    pub times: Times,
    /// The class of its failure, if it failed.
    pub error: Option<ErrorClass>,
    /// Drawn uniformly from [0, 1), for the sample.
    pub key: f64,
    /// The requests of its last attempt, in their order.
    pub requests: Vec<RequestEnd>,
    /// Requests that were too many to be kept.
    pub left_out: usize,
}

impl Trace {
    fn response_ns(&self) -> u64 {
        self.times.response_ns()
    }

    /// Leaves requests out whose rows would be too many.
    fn cut(&mut self) {
        let mut rows = 0;
        let fits = |end: &RequestEnd| {
            rows += end.course.legs.len().max(1);
            rows <= MOST_ROWS
        };
        let kept = self.requests.iter().map(fits).take_while(|fits| *fits);
        let kept = kept.count();
        self.left_out += self.requests.len() - kept;
        self.requests.truncate(kept);
    }
}

/// What is kept of one operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    /// The slowest of those that ended well.
    pub slowest: Option<Trace>,
    /// The slowest of those that failed.
    pub failed: Option<Trace>,
    /// Those of the least keys, of those that ended well; in the order of their keys.
    pub sample: Vec<Trace>,
}

impl Kept {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.slowest.is_none() && self.failed.is_none() && self.sample.is_empty()
    }

    /// Adds what was kept elsewhere.
    pub fn merge(&mut self, other: Self) {
        if let Some(trace) = other.slowest {
            keep_slower(&mut self.slowest, trace);
        }
        if let Some(trace) = other.failed {
            keep_slower(&mut self.failed, trace);
        }
        for trace in other.sample {
            self.draw(trace);
        }
    }

    fn is_drawn(&self, key: f64) -> bool {
        self.sample.len() < SAMPLE || self.sample.last().is_some_and(|last| key < last.key)
    }

    fn draw(&mut self, trace: Trace) {
        let at = self.sample.partition_point(|other| other.key < trace.key);
        self.sample.insert(at, trace);
        self.sample.truncate(SAMPLE);
    }
}

/// Whether one that took `response_ns` is slower than what is kept.
fn is_slower(kept: Option<&Trace>, response_ns: u64) -> bool {
    kept.is_none_or(|kept| response_ns > kept.response_ns())
}

fn keep_slower(kept: &mut Option<Trace>, trace: Trace) {
    if is_slower(kept.as_ref(), trace.response_ns()) {
        *kept = Some(trace);
    }
}

/// An operation that ended.
#[derive(Debug)]
pub struct Ended<'a> {
    /// The phase in which it was due.
    pub phase: PhaseIndex,
    /// When it was due, begun and done.
    pub times: Times,
    /// The class of its failure, if it failed.
    pub error: Option<&'a ErrorClass>,
}

/// Keeps the traces of one thread.
#[derive(Debug)]
pub struct Tracer {
    kinds: Arc<[PhaseKind]>,
    kept: Vec<Kept>,
    random: Random,
}

impl Tracer {
    /// Keeps nothing yet of `operations` operations, in phases of `kinds`. Thread `thread` of all processes draws
    /// its keys from `seed`.
    pub fn new(operations: usize, kinds: Arc<[PhaseKind]>, seed: u64, thread: u32) -> Self {
        Self {
            kinds,
            kept: vec![Kept::default(); operations],
            // Users draw from streams of the seed itself.
            random: Random::new(mix(seed), thread.into()),
        }
    }

    /// Takes note of an operation that ended after `requests`.
    pub fn ended(&mut self, operation: OperationId, ended: &Ended<'_>, requests: Vec<RequestEnd>) {
        if requests.is_empty() || self.kinds.get(ended.phase) != Some(&PhaseKind::Measure) {
            return;
        }
        let kept = &mut self.kept[operation];
        let response_ns = ended.times.response_ns();
        if ended.error.is_some() {
            if is_slower(kept.failed.as_ref(), response_ns) {
                kept.failed = Some(trace(ended, 0.0, requests));
            }
            return;
        }
        let key = self.random.unit();
        let is_slowest = is_slower(kept.slowest.as_ref(), response_ns);
        if kept.is_drawn(key) {
            let trace = trace(ended, key, requests);
            if is_slowest {
                kept.slowest = Some(trace.clone());
            }
            kept.draw(trace);
        } else if is_slowest {
            kept.slowest = Some(trace(ended, key, requests));
        }
    }

    /// Takes what was kept so far, by operation.
    pub fn take(&mut self) -> Vec<Kept> {
        self.kept.iter_mut().map(std::mem::take).collect()
    }
}

fn trace(ended: &Ended<'_>, key: f64, requests: Vec<RequestEnd>) -> Trace {
    let mut trace = Trace {
        phase: ended.phase,
        times: ended.times,
        error: ended.error.cloned(),
        key,
        requests,
        left_out: 0,
    };
    trace.cut();
    trace
}

#[cfg(test)]
mod tests;
