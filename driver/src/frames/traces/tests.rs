use serde_json::{Value, json};

use super::*;
use crate::leg::Stopwatch;
use crate::recorder::Times;
use crate::session::{Course, ErrorClass, RequestName, RequestNotes};

const DUE_NS: u64 = 5_000_000_000;
const MS: u64 = 1_000_000;

fn names() -> Names {
    let request = |name| RequestName { operation: 0, name };
    Names {
        operations: vec!["list"],
        requests: vec![request("list page"), request("image")],
    }
}

fn phases() -> Vec<Phase> {
    let phase = |name, kind| {
        json!({"name": name, "kind": kind, "duration_s": 1.0,
               "load": {"model": "closed", "users": {"from": 1, "to": 1}}})
    };
    let given = json!([phase("warm-up", "warm-up"), phase("evening", "measure")]);
    serde_json::from_value(given).expect("phases")
}

/// A request that was asked for `at_ms` after the operation was due, with parts in milliseconds.
fn leg(cause: Cause, at_ms: u64, parts: &[(Part, u64)]) -> Leg {
    let mut now_ns = DUE_NS + at_ms * MS;
    let mut watch = Stopwatch::start(cause, now_ns);
    for (part, took_ms) in parts {
        watch.turn(*part, now_ns);
        now_ns += took_ms * MS;
    }
    watch.stop(now_ns)
}

fn end(request: usize, lane: Option<u32>, error: Option<&str>, legs: Vec<Leg>) -> RequestEnd {
    RequestEnd {
        request,
        begun_ns: DUE_NS + 7 * MS,
        done_ns: DUE_NS + 9 * MS,
        outcome: error.map_or(Ok(()), |class| Err(ErrorClass(class.into()))),
        resent: None,
        notes: RequestNotes::default(),
        course: Course {
            step: 2,
            lane,
            legs,
        },
    }
}

fn told(requests: Vec<RequestEnd>, error: Option<&str>) -> Value {
    let trace = Trace {
        phase: 1,
        times: Times {
            intended_ns: DUE_NS,
            sent_ns: DUE_NS + 2 * MS,
            done_ns: DUE_NS + 40 * MS,
        },
        error: error.map(|class| ErrorClass(class.into())),
        key: 0.25,
        requests,
        left_out: 0,
    };
    let kept = Kept {
        slowest: Some(trace),
        ..Kept::default()
    };
    serde_json::to_value(Traces::new(&kept, &names(), &phases())).expect("JSON")
}

#[test]
fn an_operation_is_told_from_when_it_was_due() {
    let told = told(Vec::new(), Some("check"));
    let expected = json!({"slowest": {
        "phase": "evening", "due_s": 5.0, "begun_s": 0.002, "took_s": 0.04, "error": "check",
        "key": 0.25, "rows": []}});
    assert_eq!(told, expected);
}

#[test]
fn every_sending_is_a_row_of_its_own() {
    let mut broken = leg(Cause::Asked, 2, &[(Part::Send, 1)]);
    broken.broken = Some("closed".into());
    broken.connection = Some(Connection::Reused);
    let opening = [(Part::Connect, 3), (Part::Wait, 4), (Part::Receive, 0)];
    let mut again = leg(Cause::Again, 3, &opening);
    again.connection = Some(Connection::New);
    again.status = Some(302);
    let mut redirect = leg(Cause::Redirect, 10, &[(Part::Wait, 20)]);
    redirect.status = Some(404);
    redirect.received_bytes = 99;
    let requests = vec![end(
        0,
        Some(3),
        Some("status_404"),
        vec![broken, again, redirect],
    )];
    let row = |fields: Value| {
        let mut row = json!({"request": "list page", "step": 2, "lane": 3, "sent_bytes": 0,
                             "received_bytes": 0});
        let given = fields.as_object().expect("fields").clone();
        row.as_object_mut().expect("a row").extend(given);
        row
    };
    let expected = json!([
        row(
            json!({"cause": "asked", "at_s": 0.002, "send_s": 0.001, "connection": "reused",
                    "error": "closed"})
        ),
        row(
            json!({"cause": "again", "at_s": 0.003, "connect_s": 0.003, "wait_s": 0.004,
                    "connection": "new", "status": 302})
        ),
        row(
            json!({"cause": "redirect", "at_s": 0.01, "wait_s": 0.02, "status": 404,
                    "error": "status_404", "received_bytes": 99})
        ),
    ]);
    assert_eq!(
        told(requests, Some("status_404"))["slowest"]["rows"],
        expected
    );
}

#[test]
fn a_request_that_was_never_sent_has_a_row_without_times() {
    let told = told(vec![end(1, None, Some("no_value"), Vec::new())], None);
    let expected = json!([{"request": "image", "step": 2, "cause": "asked", "at_s": 0.007,
                           "error": "no_value", "sent_bytes": 0, "received_bytes": 0}]);
    assert_eq!(told["slowest"]["rows"], expected);
}
