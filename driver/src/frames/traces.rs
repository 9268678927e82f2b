//! Whole operations, as the last frame tells them.

use serde::Serialize;

use crate::clock::to_s;
use crate::leg::{Cause, Connection, Leg, Part};
use crate::names::Names;
use crate::plan::Phase;
use crate::session::RequestEnd;
use crate::traces::{Kept, Trace};

/// The operations of one name that were kept.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Traces<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowest: Option<Traced<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<Traced<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sample: Vec<Traced<'a>>,
}

impl<'a> Traces<'a> {
    /// What was kept, in words: `phases` are those of the plan.
    pub fn new(kept: &'a Kept, names: &Names, phases: &'a [Phase]) -> Self {
        let told = |trace: &'a Trace| Traced::new(trace, names, phases);
        Self {
            slowest: kept.slowest.as_ref().map(told),
            failed: kept.failed.as_ref().map(told),
            sample: kept.sample.iter().map(told).collect(),
        }
    }
}

/// One operation.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Traced<'a> {
    pub phase: &'a str,
    pub due_s: f64,
    pub begun_s: f64,
    pub took_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a str>,
    pub key: f64,
    pub rows: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

impl<'a> Traced<'a> {
    fn new(trace: &'a Trace, names: &Names, phases: &'a [Phase]) -> Self {
        let due_ns = trace.times.intended_ns;
        let rows = trace.requests.iter();
        let rows = rows.flat_map(|end| rows_of(end, names.requests[end.request].name, due_ns));
        Self {
            phase: &phases[trace.phase].name,
            due_s: to_s(due_ns),
            begun_s: to_s(trace.times.sent_ns.saturating_sub(due_ns)),
            took_s: to_s(trace.times.response_ns()),
            error: trace.error.as_ref().map(|class| &*class.0),
            key: trace.key,
            rows: rows.collect(),
            left_out: trace.left_out,
        }
    }
}

/// A request that was sent, or one that failed before. Parts that took no time are left out.
#[derive(Debug, Serialize)]
#[allow(missing_docs)]
pub struct Row<'a> {
    pub request: &'a str,
    pub step: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<u32>,
    pub cause: &'static str,
    pub at_s: f64,
    #[serde(skip_serializing_if = "is_no_time")]
    pub blocked_s: f64,
    #[serde(skip_serializing_if = "is_no_time")]
    pub resolve_s: f64,
    #[serde(skip_serializing_if = "is_no_time")]
    pub connect_s: f64,
    #[serde(skip_serializing_if = "is_no_time")]
    pub tls_s: f64,
    #[serde(skip_serializing_if = "is_no_time")]
    pub send_s: f64,
    #[serde(skip_serializing_if = "is_no_time")]
    pub wait_s: f64,
    #[serde(skip_serializing_if = "is_no_time")]
    pub receive_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a str>,
    pub sent_bytes: u64,
    pub received_bytes: u64,
}

/// A row for each time that a request was sent; one without times if it failed before.
fn rows_of<'a>(end: &'a RequestEnd, name: &'a str, due_ns: u64) -> Vec<Row<'a>> {
    let error = end.outcome.as_ref().err().map(|class| &*class.0);
    let legs = &end.course.legs;
    if legs.is_empty() {
        let leg = crate::leg::Stopwatch::start(Cause::Asked, end.begun_ns).stop(end.begun_ns);
        return vec![row(end, name, &leg, error, due_ns)];
    }
    let last = legs.len() - 1;
    let with_error = |(at, leg): (usize, &'a Leg)| {
        let own = leg.broken.as_deref();
        row(end, name, leg, own.or(error.filter(|_| at == last)), due_ns)
    };
    legs.iter().enumerate().map(with_error).collect()
}

fn row<'a>(
    end: &RequestEnd,
    request: &'a str,
    leg: &Leg,
    error: Option<&'a str>,
    due_ns: u64,
) -> Row<'a> {
    let part_s = |part| to_s(leg.part_ns(part));
    Row {
        request,
        step: end.course.step,
        lane: end.course.lane,
        cause: cause(leg.cause),
        at_s: to_s(leg.begun_ns.saturating_sub(due_ns)),
        blocked_s: part_s(Part::Blocked),
        resolve_s: part_s(Part::Resolve),
        connect_s: part_s(Part::Connect),
        tls_s: part_s(Part::Tls),
        send_s: part_s(Part::Send),
        wait_s: part_s(Part::Wait),
        receive_s: part_s(Part::Receive),
        connection: leg.connection.map(connection),
        status: leg.status,
        error,
        sent_bytes: leg.sent_bytes,
        received_bytes: leg.received_bytes,
    }
}

fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Asked => "asked",
        Cause::Redirect => "redirect",
        Cause::Again => "again",
    }
}

fn connection(connection: Connection) -> &'static str {
    match connection {
        Connection::New => "new",
        Connection::Reused => "reused",
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn is_no_time(seconds: &f64) -> bool {
    *seconds == 0.0
}

#[cfg(test)]
mod tests;
