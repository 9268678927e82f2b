//! What is counted and timed in an interval of a run. A recorder belongs to one thread at a time.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::session::{ErrorClass, OperationId, Outcome, RequestEnd};

/// Significant decimal digits of every histogram.
pub const DIGITS: u8 = 3;

/// A histogram of nanoseconds.
pub fn histogram() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("3 digits are between 0 and 5")
}

/// Counts by class of error.
pub type Classes = BTreeMap<ErrorClass, u64>;
/// Counts by name of a mark; one that no answer had is 0.
pub type Marks = BTreeMap<&'static str, u64>;

fn count(classes: &mut Classes, class: &ErrorClass) {
    match classes.get_mut(class) {
        Some(count) => *count += 1,
        None => {
            classes.insert(class.clone(), 1);
        }
    }
}

/// Adds the counts of `other`.
pub fn add(classes: &mut Classes, other: &Classes) {
    for (class, count) in other {
        *classes.entry(class.clone()).or_default() += count;
    }
}

/// The three times of an operation, in nanoseconds since the driver's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// When it was due.
    pub intended_ns: u64,
    /// When it was begun.
    pub sent_ns: u64,
    /// When its last byte was read.
    pub done_ns: u64,
}

impl Times {
    /// From when it was due to when it was done.
    pub fn response_ns(&self) -> u64 {
        self.done_ns.saturating_sub(self.intended_ns)
    }

    /// As they count: an operation may say that it was due and begun at another moment.
    #[must_use]
    pub fn as_counted(self, outcome: &Outcome) -> Self {
        match *outcome {
            Outcome::DoneSince { from_ns } => Self {
                intended_ns: from_ns,
                sent_ns: from_ns,
                ..self
            },
            Outcome::DoneLate { from_ns } => Self {
                intended_ns: from_ns.min(self.intended_ns),
                sent_ns: from_ns.min(self.sent_ns),
                ..self
            },
            _ => self,
        }
    }
}

/// What is known of one operation.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Operations that ended well, rollbacks that the workload asks for included.
    pub count: u64,
    /// Of these, the rollbacks.
    pub rolled_back: u64,
    /// Operations that did not end well after all attempts, by class.
    pub errors: Classes,
    /// Attempts beyond the first, by the class that caused them.
    pub retries: Classes,
    /// Done minus intended of those that ended well, in nanoseconds.
    pub response: Histogram<u64>,
    /// Done minus sent of those that ended well, in nanoseconds.
    pub service: Histogram<u64>,
}

impl Tally {
    fn new() -> Self {
        Self {
            count: 0,
            rolled_back: 0,
            errors: Classes::new(),
            retries: Classes::new(),
            response: histogram(),
            service: histogram(),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.rolled_back += other.rolled_back;
        add(&mut self.errors, &other.errors);
        add(&mut self.retries, &other.retries);
        merge(&mut self.response, &other.response);
        merge(&mut self.service, &other.service);
    }

    fn reset(&mut self) {
        self.count = 0;
        self.rolled_back = 0;
        self.errors.clear();
        self.retries.clear();
        self.response.reset();
        self.service.reset();
    }

    fn is_empty(&self) -> bool {
        self.count == 0 && self.errors.is_empty() && self.retries.is_empty()
    }
}

/// What is known of one request below an operation.
#[derive(Debug, Clone)]
pub struct RequestTally {
    /// Requests that ended well.
    pub count: u64,
    /// Requests that did not, by class.
    pub errors: Classes,
    /// Requests that were sent a second time, by the class that caused it, however they ended.
    pub resent: Classes,
    /// Further tries, by the class that caused each, however the request ended.
    pub retried: Classes,
    /// How many of those that ended well had each mark.
    pub marks: Marks,
    /// Done minus begun of those that ended well, in nanoseconds.
    pub service: Histogram<u64>,
}

impl RequestTally {
    fn new() -> Self {
        Self {
            count: 0,
            errors: Classes::new(),
            resent: Classes::new(),
            retried: Classes::new(),
            marks: Marks::new(),
            service: histogram(),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        add(&mut self.errors, &other.errors);
        add(&mut self.resent, &other.resent);
        add(&mut self.retried, &other.retried);
        for (mark, count) in &other.marks {
            *self.marks.entry(mark).or_default() += count;
        }
        merge(&mut self.service, &other.service);
    }

    fn reset(&mut self) {
        self.count = 0;
        self.errors.clear();
        self.resent.clear();
        self.retried.clear();
        self.marks.clear();
        self.service.reset();
    }

    /// Whether no request ended.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.errors.is_empty()
    }
}

fn merge(into: &mut Histogram<u64>, other: &Histogram<u64>) {
    if !other.is_empty() {
        into.add(other)
            .expect("a histogram that resizes itself takes every value");
    }
}

fn record(histogram: &mut Histogram<u64>, value_ns: u64) {
    histogram
        .record(value_ns)
        .expect("a histogram that resizes itself takes every value");
}

/// Everything that is counted and timed.
#[derive(Debug, Clone)]
pub struct Recorder {
    /// By [`OperationId`].
    pub operations: Vec<Tally>,
    /// By [`RequestId`](crate::session::RequestId).
    pub requests: Vec<RequestTally>,
    /// The generator's own lateness, in nanoseconds.
    pub lag: Histogram<u64>,
    /// Operations that had to wait for a session or a user.
    pub late_starts: u64,
    /// Arrivals that found the queue full.
    pub dropped: u64,
    /// Operations that became due.
    pub due: u64,
    /// Connections that were replaced.
    pub reconnects: u64,
}

impl Recorder {
    /// An empty one for `operations` operations and `requests` requests below them.
    pub fn new(operations: usize, requests: usize) -> Self {
        Self {
            operations: (0..operations).map(|_| Tally::new()).collect(),
            requests: (0..requests).map(|_| RequestTally::new()).collect(),
            lag: histogram(),
            late_starts: 0,
            dropped: 0,
            due: 0,
            reconnects: 0,
        }
    }

    /// Notes how an operation ended.
    pub fn ended(&mut self, operation: OperationId, times: Times, outcome: &Outcome) {
        let tally = &mut self.operations[operation];
        match outcome {
            Outcome::Exhausted | Outcome::Idle => return,
            Outcome::Failed(failure) => return count(&mut tally.errors, &failure.class),
            Outcome::RolledBack => tally.rolled_back += 1,
            Outcome::Done | Outcome::DoneSince { .. } | Outcome::DoneLate { .. } => {}
        }
        let times = times.as_counted(outcome);
        tally.count += 1;
        record(&mut tally.response, times.response_ns());
        record(
            &mut tally.service,
            times.done_ns.saturating_sub(times.sent_ns),
        );
    }

    /// Notes how a request below an operation ended.
    pub fn request_ended(&mut self, end: &RequestEnd) {
        let tally = &mut self.requests[end.request];
        if let Some(class) = &end.resent {
            count(&mut tally.resent, class);
        }
        for class in &end.notes.retried {
            count(&mut tally.retried, class);
        }
        for (mark, has_it) in &end.notes.marks {
            *tally.marks.entry(mark).or_default() += u64::from(*has_it);
        }
        match &end.outcome {
            Err(class) => count(&mut tally.errors, class),
            Ok(()) => {
                tally.count += 1;
                let service_ns = end.done_ns.saturating_sub(end.begun_ns);
                record(&mut tally.service, service_ns);
            }
        }
    }

    /// Notes that an attempt failed with `class` and the operation is tried again.
    pub fn retried(&mut self, operation: OperationId, class: &ErrorClass) {
        count(&mut self.operations[operation].retries, class);
    }

    /// Notes how late the generator was.
    pub fn lagged(&mut self, lag_ns: u64) {
        record(&mut self.lag, lag_ns);
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        for (tally, part) in self.operations.iter_mut().zip(&other.operations) {
            tally.merge(part);
        }
        for (tally, part) in self.requests.iter_mut().zip(&other.requests) {
            tally.merge(part);
        }
        merge(&mut self.lag, &other.lag);
        self.late_starts += other.late_starts;
        self.dropped += other.dropped;
        self.due += other.due;
        self.reconnects += other.reconnects;
    }

    /// Empties it and keeps its memory.
    pub fn reset(&mut self) {
        self.operations.iter_mut().for_each(Tally::reset);
        self.requests.iter_mut().for_each(RequestTally::reset);
        self.lag.reset();
        self.late_starts = 0;
        self.dropped = 0;
        self.due = 0;
        self.reconnects = 0;
    }

    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.operations.iter().all(Tally::is_empty)
            && self.requests.iter().all(RequestTally::is_empty)
            && self.lag.is_empty()
            && self.late_starts + self.dropped + self.due + self.reconnects == 0
    }
}

#[cfg(test)]
mod tests;
