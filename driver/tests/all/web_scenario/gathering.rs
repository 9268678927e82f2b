//! A phase that lasts until the last user has logged in and made a transaction.

use serde_json::{Value, json};

use super::application::Application;
use super::{USERS, end, password, scenario};
use crate::scratch::Folder;
use crate::support::{Driver, of_kind, phase};
use crate::web_plans::{sum_of, users, web_plan};

/// A first phase that is over long before anybody has done anything, and a measured one.
fn gathering(application: &Application, folder: &Folder, gather_s: f64) -> Value {
    let mut scenario = scenario(folder);
    for transaction in scenario["transactions"].as_array_mut().expect("a list") {
        let steps = transaction["steps"].as_array_mut().expect("a list");
        steps.insert(0, json!({"pause_s": 0.3}));
    }
    let mut warm_up = phase("warm-up", "warm-up", json!(0.001), users(USERS as u32));
    warm_up["gather_s"] = json!(gather_s);
    let measure = phase("measure", "measure", json!(0.1), users(USERS as u32));
    web_plan(&application.url(), scenario, json!([warm_up, measure]))
}

fn begins(frames: &[Value]) -> Vec<&Value> {
    of_kind(frames, "event")
        .filter(|event| event["kind"] == "phase-begin")
        .collect()
}

/// Users who have made a transaction, as the last tick of the first phase has it.
fn working(frames: &[Value]) -> f64 {
    let ticks =
        of_kind(frames, "tick").filter(|tick| tick["phase"] == "warm-up" && tick["late"] == false);
    let last = ticks.last().expect("a tick");
    last["gauges"]["users_working"].as_f64().expect("a figure")
}

#[test]
fn the_next_phase_begins_when_the_last_user_has_made_a_transaction() {
    let folder = Folder::new("web-gathering");
    let application = Application::start(&password());
    let run = Driver::start(&gathering(&application, &folder, 60.0)).finish();
    end(&run);
    assert_eq!(working(&run.frames), USERS as f64);
    assert_eq!(begins(&run.frames).len(), 2);
}

#[test]
fn users_who_are_not_let_in_are_waited_for_no_longer_than_the_plan_says() {
    let folder = Folder::new("web-gathering");
    let application = Application::start("another password");
    let run = Driver::start(&gathering(&application, &folder, 0.2)).finish();
    let end = end(&run);
    assert_eq!(end["operations"]["log-in"]["count"], 0);
    assert!(sum_of(&end["operations"]["log-in"]["errors"]) > 0);
    assert_eq!(working(&run.frames), 0.0);
    assert_eq!(begins(&run.frames).len(), 2);
}

#[test]
fn one_process_of_several_says_so_and_waits_for_the_others() {
    let folder = Folder::new("web-gathering");
    let application = Application::start(&password());
    let mut plan = gathering(&application, &folder, 60.0);
    plan["start"] = json!("told");
    let mut driver = Driver::start(&plan);
    let mut origin_s = 0.0;
    let mut last_s = 0.0;
    driver.wait_until(|frame| {
        origin_s = frame["monotonic_s"].as_f64().unwrap_or(origin_s);
        frame["kind"] == "ready"
    });
    driver.control(&json!({"control": "begin", "monotonic_s": origin_s}));
    driver.wait_until(|frame| {
        last_s = frame["t_s"].as_f64().unwrap_or(last_s);
        frame["kind"] == "ready"
    });
    let begin_s = last_s + 0.25;
    driver.control(&json!({"control": "begin", "monotonic_s": origin_s + begin_s}));
    let run = driver.finish();
    end(&run);
    let begins = begins(&run.frames);
    let told_s = begins[1]["t_s"].as_f64().expect("a time");
    assert!((told_s - begin_s).abs() < 1e-6, "{told_s} {begin_s}");
}

#[test]
fn a_scenario_without_a_log_in_has_nobody_to_wait_for() {
    let folder = Folder::new("web-gathering");
    let application = Application::start(&password());
    let mut plan = gathering(&application, &folder, 60.0);
    let scenario = &mut plan["workload"]["parameters"]["scenario"];
    scenario["log_in"] = Value::Null;
    scenario["log_out"] = Value::Null;
    let look = json!({"request": {"name": "look", "method": "GET", "url": "/items?page=1"}});
    scenario["transactions"] = json!([{"name": "look", "steps": [look]}]);
    let run = Driver::start(&plan).finish();
    end(&run);
    assert_eq!(begins(&run.frames).len(), 2);
}
