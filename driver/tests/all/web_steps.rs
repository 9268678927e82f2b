//! Users with a constant think time do not act in step, as they would if all of them began at once
//! (pinecone-io/VSB#307, fortio#338, locust#1281, fleetdm/fleet#42808).
//!
//! What is drawn is tested without a clock elsewhere. Here the arrivals at a server are counted, with bounds
//! that also hold where other programs keep the driver from its processor for a while.

use std::time::Duration;

use serde_json::json;

use crate::support::{Driver, Finished, phase};
use crate::web_plans::{constant_think, request, scenario, transaction, users, web_plan};
use crate::web_server::{Asked, WebServer, ok};

const USERS: u32 = 400;
const THINK_S: f64 = 2.0;
/// Two think times.
const DURATION_S: f64 = 4.0;
const SLOT: Duration = Duration::from_millis(100);

fn start(server: &WebServer, first: u32) -> Driver {
    let page = transaction("page", request("GET", "/", 200, &["done"]));
    let load = phase("m", "measure", json!(DURATION_S), users(first));
    let mut plan = web_plan(&server.url(""), scenario(vec![page]), json!([load]));
    plan["pacing"] = constant_think(THINK_S);
    Driver::start(&plan)
}

/// Arrivals in the fullest slot.
fn fullest(seen: &[Asked]) -> usize {
    let mut slots = vec![0; 1 + (4.0 * DURATION_S / SLOT.as_secs_f64()) as usize];
    let Some(first) = seen.first() else {
        return 0;
    };
    for request in seen {
        let slot = request.at.duration_since(first.at).as_millis() / SLOT.as_millis();
        let last = slots.len() - 1;
        slots[last.min(slot as usize)] += 1;
    }
    slots.into_iter().max().unwrap_or(0)
}

#[track_caller]
fn assert_spread(run: &Finished, seen: &[Asked]) {
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let all = USERS as usize;
    assert!(seen.len() > all / 2, "{} arrivals", seen.len());
    let most = fullest(seen);
    assert!(most < all / 2, "{most} of {all} users act at once");
}

#[test]
fn users_who_begin_together_do_not_act_together() {
    let server = WebServer::start(|_| ok("done"));
    let run = start(&server, USERS).finish();
    let seen = server.asked();
    assert_spread(&run, &seen);
    let most = f64::from(USERS) * (DURATION_S / THINK_S + 1.0);
    assert!((seen.len() as f64) <= most, "{} arrivals", seen.len());
}

#[test]
fn users_who_join_by_a_control_line_do_not_act_together() {
    let server = WebServer::start(|_| ok("done"));
    let mut driver = start(&server, USERS / 20);
    driver.wait_for("phase-begin");
    driver.control(&json!({"control": "users", "users": USERS}));
    let run = driver.finish();
    assert_spread(&run, &server.asked());
}
