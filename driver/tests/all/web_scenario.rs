//! A scenario by the driver as it is used: users log in with a token of a form, take values from answers, ask
//! for two things at a time, and log out as they leave.

mod application;
mod gathering;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Output;

use serde_json::{Value, json};

use crate::scratch::Folder;
use crate::support::{Driver, Finished, command, of_kind, phase};
use crate::web_plans::{sum_of, users, web_plan};
use application::Application;

const USERS: usize = 20;
const OPERATIONS: u64 = 200;
/// A variable that is set wherever a program runs; its value is the password.
const SECRET: &str = "PATH";

fn password() -> String {
    std::env::var(SECRET).expect("a path")
}

/// A file with the names of all users.
fn people(folder: &Folder) -> Value {
    let mut text = "username\n".to_owned();
    for number in 0..USERS {
        writeln!(text, "user {number}").expect("text");
    }
    let path = folder.join("people.csv");
    std::fs::write(&path, text).expect("a file");
    json!({"path": path})
}

fn log_in() -> Value {
    json!({"steps": [
        {"request": {"name": "form", "method": "GET", "url": "/login",
                     "extract": {"token": {"from": "form", "what": "csrf"}}}},
        {"request": {
            "name": "form sent", "method": "POST", "url": "/login",
            "body": {"form": [["csrf", "${token}"], ["username", "${username}"],
                              ["password", "${password}"]]},
            "expect": {"status": [200], "text": ["Welcome user"]},
            "extract": {"session": {"from": "cookie", "what": "session"}}}},
    ]})
}

fn scenario(folder: &Folder) -> Value {
    let two = |name: &str, url: &str| json!({"name": name, "method": "GET", "url": url, "expect": {"text": ["one of two"]}});
    json!({
        "people": people(folder),
        "values": {"term": "a b"},
        "secrets": {"password": SECRET},
        "order": "in-turn",
        "log_in": log_in(),
        "log_out": {"steps": [{"request": {
            "name": "out", "method": "POST", "url": "/logout",
            "headers": {"X-Session": "${session}"}, "expect": {"status": [204]}}}]},
        "transactions": [
            {"name": "list", "steps": [{"request": {
                "name": "items", "method": "GET", "url": "/items?page=1",
                "query": [["q", "${term}"]], "expect": {"json": {"$.ok": true}},
                "extract": {"id": {"from": "json", "what": "$.items[*].id", "pick": "random"}}}}]},
            {"name": "item", "steps": [
                {"parallel": [two("item", "/items/${id}"), two("picture", "/pictures/${id}")]}]},
            {"name": "open", "steps": [{"request": {
                "name": "page", "method": "GET", "url": "/open",
                "expect": {"no_text": ["error"]}}}]},
        ],
    })
}

/// All users make a number of operations together, and then leave.
fn shop_plan(application: &Application, folder: &Folder) -> Value {
    let mut work = phase("work", "measure", Value::Null, users(USERS as u32));
    work["iterations"] = json!(OPERATIONS);
    let leave = json!({"model": "closed", "users": {"from": USERS, "to": 0}});
    let leave = phase("leave", "drain", json!(0.5), leave);
    web_plan(&application.url(), scenario(folder), json!([work, leave]))
}

fn end(run: &Finished) -> &Value {
    assert_eq!(run.code, Some(0), "{}", run.errors);
    run.frames.last().expect("an end")
}

#[test]
fn users_log_in_act_and_log_out_as_they_leave() {
    let folder = Folder::new("web-scenario");
    let application = Application::start(&password());
    let run = Driver::start(&shop_plan(&application, &folder)).finish();
    let end = end(&run);
    let of = |name: &str| &end["operations"][name];
    for name in ["log-in", "log-out"] {
        assert_eq!(of(name)["count"], USERS, "{name}: {}", of(name));
    }
    for name in ["log-in", "list", "item", "log-out"] {
        assert_eq!(sum_of(&of(name)["errors"]), 0, "{name}: {}", of(name));
        assert!(of(name)["count"].as_u64() > Some(0), "{name}: {}", of(name));
    }
    let open = of("open");
    assert_eq!(open["count"], 0);
    assert!(open["errors"]["check"].as_u64() > Some(0), "{open}");
    assert_eq!(open["requests"]["page"]["errors"], open["errors"]);

    let state = application.state();
    assert_eq!((state.log_ins, state.log_outs), (USERS, USERS));
    assert_eq!(state.names.len(), USERS, "each has a row of its own");
    assert!(state.sessions.is_empty(), "all have left");
}

#[test]
fn requests_connections_and_users_are_told() {
    let folder = Folder::new("web-scenario");
    let application = Application::start(&password());
    let run = Driver::start(&shop_plan(&application, &folder)).finish();
    let end = end(&run);
    let hello = run.frames.first().expect("a hello");
    assert_eq!(
        hello["operations"],
        json!(["log-in", "list", "item", "open", "log-out"])
    );
    assert_eq!(
        hello["requests"],
        json!({"log-in": ["form", "form sent"], "list": ["items"], "item": ["item", "picture"],
               "open": ["page"], "log-out": ["out"]})
    );
    let item = &end["operations"]["item"];
    for name in ["item", "picture"] {
        assert_eq!(item["requests"][name]["count"], item["count"], "{item}");
    }
    let facts = &end["facts"];
    let share = format!("share 127.0.0.1:{} 127.0.0.1", application.port());
    assert_eq!(facts[&share], facts["connections_opened"], "{facts}");
    assert_eq!(facts["redirects_followed"], USERS as f64, "{facts}");
    // Two at a time need two connections of a user.
    assert!(
        facts["connections_opened"].as_f64() > Some(USERS as f64),
        "{facts}"
    );
    let logged_in = of_kind(&run.frames, "tick").map(|tick| &tick["gauges"]["users_logged_in"]);
    let most = logged_in.filter_map(Value::as_f64).fold(0.0, f64::max);
    assert_eq!(most, USERS as f64);
}

#[test]
fn the_secret_is_in_no_frame() {
    let folder = Folder::new("web-scenario");
    let application = Application::start(&password());
    let run = Driver::start(&shop_plan(&application, &folder)).finish();
    end(&run);
    let frames: String = run.frames.iter().map(Value::to_string).collect();
    assert!(!frames.contains(&password()) && !run.errors.contains(&password()));
}

#[test]
fn a_log_in_that_is_refused_is_tried_again_and_nothing_else_is_done() {
    let folder = Folder::new("web-scenario");
    let application = Application::start("another password");
    let mut work = phase("work", "measure", Value::Null, users(1));
    work["iterations"] = json!(5);
    let mut scenario = scenario(&folder);
    scenario["log_in"]["back_off_s"] = json!({"first": 0.01, "longest": 0.01});
    let plan = web_plan(&application.url(), scenario, json!([work]));
    let run = Driver::start(&plan).finish();
    let end = end(&run);
    let log_in = &end["operations"]["log-in"];
    assert_eq!(log_in["count"], 0);
    assert_eq!(log_in["errors"], json!({"status_403": 5}));
    assert_eq!(log_in["requests"]["form"]["count"], 5);
    assert_eq!(end["operations"]["list"]["count"], 0);
    let told: Vec<&Value> = of_kind(&run.frames, "event")
        .filter(|event| event["kind"] == "error")
        .collect();
    assert_eq!(told.len(), 1);
    assert_eq!(
        told[0]["detail"],
        "form sent: an answer of this status is not expected"
    );
    assert_eq!(application.state().names.len(), 0);
}

/// The wait of the plan after a log-in is for those that fail; a back-off comes on top where it is longer.
#[test]
fn a_log_in_that_failed_is_tried_again_after_its_think_time() {
    let folder = Folder::new("web-scenario");
    let work = phase("work", "measure", json!(1.0), users(1));
    // Nobody listens there.
    let mut scenario = scenario(&folder);
    scenario["log_in"]["back_off_s"] = json!({"first": 0.0, "longest": 0.0});
    let mut plan = web_plan("http://127.0.0.1:1", scenario, json!([work]));
    let think = json!({"distribution": "constant", "mean_s": 0.3});
    plan["pacing"] = json!({"operations": {"log-in": {"think": think}}});
    let run = Driver::start(&plan).finish();
    let errors = &end(&run)["operations"]["log-in"]["errors"];
    let tried = errors["connect_refused"].as_u64();
    assert!((Some(1)..=Some(5)).contains(&tried), "{errors}");
}

fn check(plan: &Value) -> Output {
    let mut child = command().arg("check").spawn().expect("the driver");
    let mut input = child.stdin.take().expect("a pipe");
    writeln!(input, "{plan}").expect("written");
    drop(input);
    child.wait_with_output().expect("an end")
}

#[test]
fn a_plan_is_checked_without_a_request() {
    let folder = Folder::new("web-scenario");
    let application = Application::start(&password());
    let good = shop_plan(&application, &folder);
    let output = check(&good);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(output.stdout.is_empty() && errors.is_empty(), "{errors}");

    for (pointer, value, field) in [
        (
            "/workload/parameters/scenario/transactions/0/steps/0/request/url",
            json!("/${dance}"),
            "workload.parameters.scenario.transactions[0].steps[0].get: `${dance}` is not known",
        ),
        (
            "/workload/parameters/scenario/secrets/password",
            json!("LOADSTONE_TEST_NOT_SET"),
            "workload.parameters.scenario.secrets.password",
        ),
        ("/phases/0/kind", json!("dance"), "phases[0].kind"),
    ] {
        let mut wrong = good.clone();
        *wrong.pointer_mut(pointer).expect("a place") = value;
        let output = check(&wrong);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(output.stdout.is_empty());
        assert!(
            errors.contains(field) && errors.lines().count() == 1,
            "{errors}"
        );
    }
    let mut foreign = good;
    foreign["pacing"] = json!({"operations": {"dance": {}}});
    assert_eq!(check(&foreign).status.code(), Some(2));
    assert_eq!(application.state().asked, 0);
}
