//! The real binary with `noop`: its frames, its ways to stop and what it refuses.

use std::io::Write;
use std::process::Stdio;

use crate::support::{Driver, command, histogram, lasted_s, of_kind, operations, phase, plan, sum};
use serde_json::{Value, json};

pub fn users(count: u32) -> Value {
    json!({"model": "closed", "users": {"from": count, "to": count}})
}

pub fn rate(rate_per_s: f64) -> Value {
    json!({"model": "open", "rate_per_s": {"from": rate_per_s, "to": rate_per_s}, "sessions": 8})
}

#[test]
fn a_run_tells_hello_phases_ticks_and_end_in_order() {
    let mut plan = plan(json!([
        phase("first", "warm-up", json!(0.3), users(2)),
        phase("second", "measure", json!(0.5), users(3)),
    ]));
    plan["workload"]["parameters"] = json!({"service_time_us": 500, "operations": [
        {"name": "read", "weight": 9}, {"name": "write", "weight": 1}]});
    let run = Driver::start(&plan).finish();
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let first = run.frames.first().expect("a frame");
    assert_eq!(
        (&first["frame"], &first["version"]),
        (&json!("hello"), &json!(4))
    );
    assert_eq!(first["operations"], json!(["read", "write"]));
    assert_eq!(first.get("requests"), None, "operations have none");
    let last = run.frames.last().expect("a frame");
    assert_eq!(
        (&last["frame"], &last["reason"]),
        (&json!("end"), &json!("completed"))
    );

    let events: Vec<String> = of_kind(&run.frames, "event")
        .map(|event| format!("{} {}", event["kind"], event["phase"]).replace('"', ""))
        .collect();
    let expected = [
        "phase-begin first",
        "phase-end first",
        "phase-begin second",
        "phase-end second",
    ];
    assert_eq!(events, expected);
    let times: Vec<f64> = run
        .frames
        .iter()
        .map(|frame| frame["t_s"].as_f64().unwrap())
        .collect();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "{times:?}");
}

#[test]
fn ticks_are_seamless_and_their_histograms_hold_every_operation() {
    let mut plan = plan(json!([phase("m", "measure", json!(0.5), users(4))]));
    plan["threads"] = json!(2);
    plan["workload"]["parameters"] = json!({"service_time_us": 1000});
    let run = Driver::start(&plan).finish();
    let ticks: Vec<&Value> = of_kind(&run.frames, "tick").collect();
    let on_time: Vec<&&Value> = ticks.iter().filter(|tick| tick["late"] == false).collect();
    assert!(
        on_time
            .windows(2)
            .all(|pair| pair[0]["to_s"] == pair[1]["from_s"])
    );
    assert!(on_time.iter().all(|tick| tick["users"] == 4));
    for (index, tick) in ticks.iter().enumerate() {
        assert_eq!(tick["seq"], json!(index));
        let operation = &tick["operations"]["noop"];
        for name in ["response", "service"] {
            let histogram = histogram(&operation[name]);
            assert_eq!(json!(histogram.len()), operation["count"]);
            assert!(
                histogram.is_empty() || histogram.min() >= 999_000,
                "{}",
                histogram.min()
            );
        }
    }
    let total = &run.frames.last().unwrap()["operations"]["noop"]["count"];
    assert_eq!(json!(operations(&run.frames, "m", "noop")), *total);
    assert!(operations(&run.frames, "m", "noop") > 0);
}

#[test]
fn an_open_phase_makes_exactly_its_arrivals_on_any_number_of_threads() {
    for threads in [1, 3] {
        let mut plan = plan(json!([
            phase(
                "up",
                "ramp",
                json!(0.4),
                json!({"model": "open", "sessions": 8,
                "rate_per_s": {"from": 0, "to": 2000}})
            ),
            phase("steady", "measure", json!(0.5), rate(2000.0)),
        ]));
        plan["threads"] = json!(threads);
        let run = Driver::start(&plan).finish();
        assert_eq!(sum(&run.frames, "up", "due"), 400);
        assert_eq!(operations(&run.frames, "up", "noop"), 400);
        assert_eq!(sum(&run.frames, "steady", "due"), 1000);
        assert_eq!(operations(&run.frames, "steady", "noop"), 1000);
        let lags: u64 = of_kind(&run.frames, "tick")
            .map(|tick| histogram(&tick["lag"]).len())
            .sum();
        assert_eq!(lags, 1400, "each arrival has its lag");
    }
}

/// One session of 20 ms cannot serve 1000 a second: all of it must show somewhere.
fn overloaded(backlog: &str, queue: u32) -> (crate::support::Finished, u64, u64) {
    let load = json!({"model": "open", "rate_per_s": {"from": 1000, "to": 1000}, "sessions": 1,
                      "queue": queue});
    let mut first = phase("over", "warm-up", json!(0.2), load);
    first["backlog"] = json!(backlog);
    let mut plan = plan(json!([
        first,
        phase("after", "measure", json!(0.1), users(1))
    ]));
    plan["workload"]["parameters"] = json!({"service_time_us": 20_000});
    let run = Driver::start(&plan).finish();
    let end = of_kind(&run.frames, "event")
        .find(|event| event["kind"] == "phase-end")
        .unwrap();
    let (drained, discarded) = (end["drained"].as_u64(), end["discarded"].as_u64());
    (run, drained.unwrap(), discarded.unwrap())
}

#[test]
fn a_backlog_is_drained_before_the_next_phase() {
    let (run, drained, discarded) = overloaded("drain", 20);
    let (done, dropped) = (
        operations(&run.frames, "over", "noop"),
        sum(&run.frames, "over", "dropped"),
    );
    assert_eq!(done + dropped, 200);
    assert!(
        dropped > 0 && drained > 0 && discarded == 0,
        "{dropped} {drained} {discarded}"
    );
    let longest = of_kind(&run.frames, "tick")
        .filter(|tick| tick["phase"] == "over")
        .map(|tick| histogram(&tick["operations"]["noop"]["response"]).max())
        .max();
    assert!(longest > Some(200_000_000), "waiting counts: {longest:?}");
}

#[test]
fn a_backlog_is_discarded_and_counted() {
    let (run, drained, discarded) = overloaded("discard", 500);
    // One may begin between the end of the arrivals and the order to discard.
    assert!(discarded > drained, "{drained} {discarded}");
    assert_eq!(operations(&run.frames, "over", "noop") + discarded, 200);
}

#[test]
fn retries_and_errors_are_counted_by_class() {
    let mut plan = plan(json!([phase("m", "measure", json!(null), users(2))]));
    plan["phases"][0]["iterations"] = json!(1000);
    plan["retry"] = json!({"max_attempts": 2});
    plan["workload"]["parameters"] = json!({"error_rate": 0.5, "error_class": "40001"});
    let run = Driver::start(&plan).finish();
    let mut counts = [0; 3];
    for tick in of_kind(&run.frames, "tick") {
        let operation = &tick["operations"]["noop"];
        counts[0] += operation["count"].as_u64().unwrap();
        counts[1] += operation["errors"]["40001"].as_u64().unwrap_or(0);
        counts[2] += operation["retries"]["40001"].as_u64().unwrap_or(0);
    }
    let [done, errors, retries] = counts;
    assert_eq!(done + errors, 1000);
    // Half are tried again and a quarter fails; six standard deviations.
    assert!((405..=595).contains(&retries), "{retries}");
    assert!((168..=332).contains(&errors), "{errors}");
    let told: Vec<&Value> = of_kind(&run.frames, "event")
        .filter(|event| event["kind"] == "error")
        .collect();
    assert_eq!(told.len(), 1, "the first of a class is told");
    assert_eq!(told[0]["class"], "40001");
}

#[test]
fn lost_connections_are_replaced_without_a_hot_loop() {
    let mut plan = plan(json!([phase("m", "measure", json!(0.3), users(1))]));
    plan["workload"]["parameters"] = json!({"error_rate": 1.0, "error_class": "connection"});
    let run = Driver::start(&plan).finish();
    let lost = of_kind(&run.frames, "event").filter(|event| event["kind"] == "connection-lost");
    let lost = lost.count();
    assert!((2..10).contains(&lost), "{lost}");
    assert_eq!(
        run.frames.last().unwrap()["operations"]["noop"]["errors"]["connection"],
        lost
    );
    assert!(sum(&run.frames, "m", "reconnects") > 0);
}

#[test]
fn a_prepare_phase_ends_when_all_work_is_done() {
    for threads in [1, 3] {
        let mut plan = plan(json!([
            phase("load", "prepare", json!(null), users(5)),
            phase("m", "measure", json!(0.05), users(1)),
        ]));
        plan["threads"] = json!(threads);
        plan["workload"]["role"] = json!("load");
        plan["workload"]["parameters"] = json!({"work_items": 20, "service_time_us": 100});
        let run = Driver::start(&plan).finish();
        assert_eq!(run.code, Some(0));
        assert_eq!(operations(&run.frames, "load", "noop"), 100);
        assert_eq!(sum(&run.frames, "load", "due"), 100);
    }
}

#[test]
fn control_changes_rate_and_users_and_refuses_the_rest() {
    let plan = plan(json!([
        phase("open", "measure", json!(0.6), rate(100.0)),
        phase("closed", "measure", json!(null), users(1)),
    ]));
    let mut driver = Driver::start(&plan);
    driver.wait_for("phase-begin");
    driver.control(&json!({"control": "rate", "rate_per_s": 5000}));
    driver.control(&json!({"control": "users", "users": 3}));
    driver.control(&json!({"control": "dance"}));
    driver.wait_for("phase-end");
    driver.wait_for("phase-begin");
    driver.control(&json!({"control": "users", "users": 3}));
    driver.control(&json!({"control": "rate", "rate_per_s": 1}));
    driver.wait_for("users");
    driver.wait_for("refused");
    driver.wait_until(|frame| frame["frame"] == "tick" && frame["users"] == 3);
    driver.control(&json!({"control": "stop"}));
    let run = driver.finish();
    assert_eq!(run.code, Some(0));
    assert!(
        sum(&run.frames, "open", "due") > 500,
        "{}",
        sum(&run.frames, "open", "due")
    );
    let refused = of_kind(&run.frames, "event").filter(|event| event["kind"] == "refused");
    assert_eq!(refused.count(), 3);
    assert_eq!(run.frames.last().unwrap()["reason"], "stopped");
}

fn endless() -> Driver {
    let mut driver = Driver::start(&plan(json!([phase("m", "measure", json!(null), users(2))])));
    driver.wait_for("phase-begin");
    driver
}

#[track_caller]
fn assert_stopped(driver: Driver) {
    let run = driver.finish();
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let last = run.frames.last().expect("a frame");
    assert_eq!(
        (&last["frame"], &last["reason"]),
        (&json!("end"), &json!("stopped"))
    );
    let ended = of_kind(&run.frames, "event").filter(|event| event["kind"] == "phase-end");
    assert_eq!(ended.count(), 1);
}

#[test]
fn sigterm_and_sigint_stop_it() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let driver = endless();
        driver.signal(signal);
        assert_stopped(driver);
    }
}

#[test]
fn the_end_of_standard_input_stops_it() {
    let mut driver = endless();
    driver.close_input();
    assert_stopped(driver);
}

#[test]
fn operations_in_flight_are_finished_and_counted() {
    let mut plan = plan(json!([phase("m", "measure", json!(null), users(3))]));
    // Not all of the same length, so that they do not end at the same moment.
    plan["workload"]["parameters"] = json!({"service_time_us":
        {"distribution": "lognormal", "mean_us": 500_000, "sigma": 0.3}});
    let mut driver = Driver::start(&plan);
    driver.wait_until(|frame| frame["in_flight"] == 3);
    driver.control(&json!({"control": "stop"}));
    let run = driver.finish();
    let ticks: Vec<&Value> = of_kind(&run.frames, "tick").collect();
    let (late, on_time): (Vec<&Value>, Vec<&Value>) =
        ticks.iter().partition(|tick| tick["late"] == true);
    let in_flight = on_time.last().expect("the tick that ends the phase")["in_flight"].as_u64();
    let finished: u64 = late
        .iter()
        .filter_map(|tick| tick["operations"]["noop"]["count"].as_u64())
        .sum();
    assert!(finished > 0, "what ended after the phase is in late ticks");
    assert_eq!(Some(finished), in_flight);
    assert_eq!(late.last().expect("a late tick")["in_flight"], 0);
}

#[test]
fn an_operation_that_fails_fails_a_run_that_prepares() {
    let mut plan = plan(json!([
        phase("p", "prepare", json!(null), users(2)),
        phase("m", "measure", json!(10.0), users(1)),
    ]));
    plan["phases"][0]["iterations"] = json!(1000);
    plan["workload"]["parameters"] = json!({"error_rate": 0.01, "error_class": "23505"});
    let run = Driver::start(&plan).finish();
    let last = run.frames.last().expect("a frame");
    assert_eq!((&last["reason"], run.code), (&json!("failed"), Some(1)));
    assert_eq!(
        last["error"],
        "noop failed in phase p (23505): an error that the plan asked for"
    );
    assert_eq!(sum(&run.frames, "m", "due"), 0);
}

#[test]
fn a_closed_standard_output_ends_it() {
    let mut driver = endless();
    driver.close_output();
    assert_eq!(driver.wait_exit(), Some(1));
}

#[test]
fn wrong_plans_are_refused_with_one_line_and_nothing_else() {
    let mut good = plan(json!([phase("m", "measure", json!(1.0), users(1))]));
    good["workload"]["parameters"] = json!({});
    let changed = |pointer: &str, value: Value| {
        let mut plan = good.clone();
        *plan.pointer_mut(pointer).expect("a place") = value;
        plan.to_string()
    };
    let mut foreign = good.clone();
    foreign["pacing"] = json!({"operations": {"dance": {}}});
    let mut noted = good.clone();
    noted["acknowledgements"] = json!("list");
    let cases = [
        (changed("/version", json!(99)), "version"),
        (noted.to_string(), "acknowledgements"),
        (changed("/workload/name", json!("dance")), "workload.name"),
        (
            changed("/workload/parameters", json!({"error_rate": 2})),
            "error_rate",
        ),
        (
            changed("/workload/parameters", json!({"dance": 2})),
            "dance",
        ),
        (
            changed("/phases/0/load/users/to", json!("many")),
            "phases[0].load",
        ),
        (foreign.to_string(), "pacing.operations.dance"),
        (String::new(), "no plan"),
        ("{".into(), "JSON"),
    ];
    for (text, named) in cases {
        let mut child = command().spawn().expect("the driver");
        writeln!(child.stdin.take().expect("a pipe"), "{text}").expect("written");
        let output = child.wait_with_output().expect("an end");
        let errors = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(output.stdout.is_empty());
        assert!(
            errors.contains(named) && errors.lines().count() == 1,
            "{errors}"
        );
    }
}

#[test]
fn version_help_and_wrong_options() {
    let run = |option: &str| {
        command()
            .arg(option)
            .stdin(Stdio::null())
            .output()
            .expect("output")
    };
    let version = run("--version");
    let expected = format!(
        "loadstone-driver {} (protocol 4)\n",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(String::from_utf8_lossy(&version.stdout), expected);
    assert!(String::from_utf8_lossy(&run("--help").stdout).contains("Exit code"));
    assert_eq!(run("--dance").status.code(), Some(2));
}

#[test]
fn users_on_a_grid_act_once_a_period() {
    let mut plan = plan(json!([phase("m", "measure", json!(1.05), users(8))]));
    plan["pacing"] = json!({"default": {"every_s": 0.1}});
    let run = Driver::start(&plan).finish();
    let count = operations(&run.frames, "m", "noop");
    let lasted_s = lasted_s(&run.frames);
    let most = 8.0 * ((lasted_s / 0.1).floor() + 1.0);
    assert!(
        count >= 80 && count as f64 <= most,
        "{count} in {lasted_s} s"
    );
}

#[test]
fn users_who_begin_together_have_part_of_a_wait_before_their_first_operation() {
    let mut plan = plan(json!([phase("m", "measure", json!(0.5), users(200))]));
    plan["threads"] = json!(2);
    plan["pacing"] = json!({"default": {
        "think": {"distribution": "constant", "mean_s": 1000.0}}});
    let run = Driver::start(&plan).finish();
    // Each is due in the half second with a probability of one in 2,000; they do not begin with one at once.
    let count = operations(&run.frames, "m", "noop");
    assert!(count <= 5, "{count}");
}

#[test]
fn a_drain_ends_with_nobody() {
    let mut drain = phase("out", "drain", json!(0.4), users(0));
    drain["load"]["users"] = json!({"from": 6, "to": 0});
    let mut plan = plan(json!([phase("m", "measure", json!(0.2), users(6)), drain]));
    plan["threads"] = json!(2);
    plan["workload"]["parameters"] = json!({"service_time_us": 1000});
    let run = Driver::start(&plan).finish();
    assert_eq!(run.code, Some(0), "{}", run.errors);
    assert!(operations(&run.frames, "out", "noop") > 0);
    let last = of_kind(&run.frames, "tick").last().expect("a tick");
    assert_eq!((&last["users"], &last["in_flight"]), (&json!(0), &json!(0)));
}

#[test]
fn what_http_cannot_be_asked_for_is_refused() {
    let mut plan = plan(json!([phase("m", "measure", json!(1.0), users(1))]));
    plan["workload"] = json!({"name": "http", "role": "load"});
    plan["connection"] = json!({"protocol": "http", "url": "http://127.0.0.1:1"});
    let refused = |plan: &Value, named: &str| {
        let run = Driver::start(plan).finish();
        assert_eq!(run.code, Some(2), "{}", run.errors);
        assert!(run.errors.contains(named), "{}", run.errors);
        assert_eq!(run.errors.lines().count(), 1, "{}", run.errors);
    };
    refused(&plan, "there is nothing to load");
    plan["workload"]["role"] = json!("log-in");
    refused(&plan, "where the scenario logs in");
    for (name, parameters) in [
        ("oltp", json!({"warehouses": 1})),
        ("point-select", json!({"scale": 1})),
    ] {
        plan["workload"] = json!({"name": name, "parameters": parameters});
        refused(&plan, "connection.protocol");
    }
}

#[test]
fn few_servers_are_a_capacity_whatever_the_number_of_sessions() {
    let mut plan = plan(json!([phase("m", "measure", json!(1.0), users(16))]));
    plan["threads"] = json!(2);
    plan["workload"]["parameters"] = json!({"service_time_us": 10_000, "servers": 2});
    let run = Driver::start(&plan).finish();
    let count = operations(&run.frames, "m", "noop");
    let lasted_s = lasted_s(&run.frames);
    // One alone would serve 100. A busy machine may let the phase last longer.
    assert!(
        count >= 120 && count as f64 <= 200.0 * lasted_s,
        "two of 100 a second: {count}, {lasted_s} s"
    );
}

#[test]
fn a_planted_degradation_grows_from_its_beginning() {
    let mut plan = plan(json!([phase("m", "measure", json!(1.0), users(1))]));
    plan["workload"]["parameters"] = json!({
        "service_time_us": 1000, "slower_after_s": 0.5, "slower_per_min": 100.0});
    let run = Driver::start(&plan).finish();
    let longest = |from_s: f64, to_s: f64| {
        of_kind(&run.frames, "tick")
            .filter(|tick| {
                tick["from_s"].as_f64() >= Some(from_s) && tick["to_s"].as_f64() < Some(to_s)
            })
            .map(|tick| histogram(&tick["operations"]["noop"]["response"]).min())
            .max()
    };
    // 100 a minute is 1.04 after half a second.
    assert!(
        longest(0.0, 0.5) < longest(0.8, 2.0),
        "{:?}",
        longest(0.8, 2.0)
    );
}
