//! Several processes of a driver make one load, and begin it together.

use crate::driver::{rate, users};
use crate::support::{Driver, of_kind, phase, plan, sum};
use serde_json::{Value, json};

/// The arrivals and the users of a plan that is split over processes of two threads.
fn split(of: u32) -> (u64, Vec<u64>) {
    let (mut arrivals, mut counts) = (0, Vec::new());
    for index in 0..of {
        let mut plan = plan(json!([
            phase("closed", "measure", json!(0.2), users(7)),
            phase("open", "measure", json!(0.3), rate(1000.0)),
        ]));
        plan["threads"] = json!(2);
        plan["tick_s"] = json!(0.05); // the first tells of users before one thread is in the next phase
        plan["process"] = json!({"index": index, "of": of});
        let run = Driver::start(&plan).finish();
        assert_eq!(run.code, Some(0), "{}", run.errors);
        arrivals += sum(&run.frames, "open", "due");
        let closed = of_kind(&run.frames, "tick").find(|tick| tick["phase"] == "closed");
        counts.push(closed.expect("a tick")["users"].as_u64().expect("users"));
    }
    (arrivals, counts)
}

#[test]
fn processes_share_users_and_arrivals_and_make_the_same_load_together() {
    assert_eq!(split(1), (300, vec![7]));
    assert_eq!(split(3), (300, vec![3, 2, 2]));
}

#[test]
fn a_process_without_users_ends_an_endless_phase_at_once() {
    let mut plan = plan(json!([phase("m", "prepare", Value::Null, users(1))]));
    plan["process"] = json!({"index": 1, "of": 2});
    plan["workload"]["parameters"] = json!({"work_items": 1});
    let run = Driver::start(&plan).finish();
    assert_eq!((run.code, sum(&run.frames, "m", "due")), (Some(0), 0));
}

#[test]
fn a_run_that_waits_to_be_told_begins_at_the_moment() {
    let mut plan = plan(json!([phase("m", "measure", json!(0.2), users(1))]));
    plan["start"] = json!("told");
    plan["workload"]["parameters"] = json!({"service_time_us": 1000});
    let mut driver = Driver::start(&plan);
    let mut origin_s = 0.0;
    driver.wait_until(|frame| {
        if let Some(monotonic_s) = frame["monotonic_s"].as_f64() {
            origin_s = monotonic_s;
        }
        frame["kind"] == "ready"
    });
    driver.control(&json!({"control": "begin", "monotonic_s": origin_s + 0.75}));
    driver.control(&json!({"control": "begin", "monotonic_s": origin_s + 0.1}));
    let run = driver.finish();
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let begin = of_kind(&run.frames, "event").find(|event| event["kind"] == "phase-begin");
    let begin_s = begin.expect("a begin")["t_s"].as_f64().expect("a time");
    assert!((begin_s - 0.75).abs() < 1e-6, "{begin_s}");
    let refused = of_kind(&run.frames, "event").filter(|event| event["kind"] == "refused");
    assert_eq!(refused.count(), 1, "the second time");
}

#[test]
fn a_run_that_waits_to_be_told_can_be_stopped() {
    let mut plan = plan(json!([phase("m", "measure", json!(60.0), users(1))]));
    plan["start"] = json!("told");
    let mut driver = Driver::start(&plan);
    driver.wait_for("ready");
    driver.control(&json!({"control": "stop"}));
    let run = driver.finish();
    assert_eq!(run.code, Some(0), "{}", run.errors);
    assert_eq!(run.frames.last().expect("an end")["reason"], "stopped");
}
