//! Connections that the server closes just as they are used again: what is sent once more, what is not, and
//! that both are counted (hyper#3553, haproxy#1423, gunicorn#2288, conbench#1156).

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Driver, Finished, of_kind, phase};
use crate::web_plans::{constant_think, request, scenario, sum_of, transaction, users, web_plan};
use crate::web_server::{Act, WebServer, ok};

const USERS: u32 = 4;
const OPERATIONS: u64 = 200;
const BODY: &str = "a=1&b=two";
const NAMES: [&str; 2] = ["read", "write"];

/// GET and POST in turn.
fn mixed() -> Value {
    let mut write = request("POST", "/write", 200, &["done"]);
    write["body"] = json!({"form": [["a", "1"], ["b", "two"]]});
    scenario(vec![
        transaction("read", request("GET", "/read", 200, &["done"])),
        transaction("write", write),
    ])
}

/// All users together make `OPERATIONS`.
fn play(server: &WebServer) -> Finished {
    let mut phase = phase("m", "measure", Value::Null, users(USERS));
    phase["iterations"] = json!(OPERATIONS);
    let run = Driver::start(&web_plan(&server.url(""), mixed(), json!([phase]))).finish();
    assert_eq!(run.code, Some(0), "{}", run.errors);
    run
}

/// A count of both operations together, at the end.
fn total(run: &Finished, of: impl Fn(&Value) -> u64) -> u64 {
    let end = run.frames.last().expect("an end");
    NAMES.iter().map(|name| of(&end["operations"][*name])).sum()
}

fn done(run: &Finished) -> u64 {
    total(run, |each| each["count"].as_u64().expect("a count"))
}

fn failed(run: &Finished) -> u64 {
    total(run, |each| sum_of(&each["errors"]))
}

/// Requests that were sent a second time, as the ticks tell.
fn resent(run: &Finished) -> u64 {
    let of_tick = |tick: &Value| -> u64 {
        let resent =
            |name: &&str| sum_of(&tick["operations"][*name]["requests"]["answer"]["resent"]);
        NAMES.iter().map(resent).sum()
    };
    of_kind(&run.frames, "tick").map(of_tick).sum()
}

/// The classes of all errors.
fn classes(run: &Finished) -> Vec<String> {
    let end = run.frames.last().expect("an end");
    NAMES
        .iter()
        .filter_map(|name| end["operations"][*name]["errors"].as_object())
        .flat_map(|errors| errors.keys().cloned())
        .collect()
}

#[test]
fn a_connection_that_closes_as_it_is_used_again_costs_no_request() {
    let server = WebServer::start(|asked| match asked.before {
        0 => ok("done"),
        _ => vec![Act::Close],
    });
    let run = play(&server);
    assert_eq!((done(&run), failed(&run)), (OPERATIONS, 0));
    let asked = server.asked();
    let in_vain = asked.iter().filter(|asked| asked.before > 0).count() as u64;
    assert!(in_vain > 0, "no connection was used again");
    assert_eq!(resent(&run), in_vain, "each is sent once more, and counted");
    assert_eq!(asked.len() as u64, OPERATIONS + in_vain);
    let posts = asked.iter().filter(|asked| asked.line() == "POST /write");
    for post in posts {
        assert_eq!(
            String::from_utf8_lossy(&post.body),
            BODY,
            "also the second time"
        );
    }
}

#[test]
fn a_request_that_fails_on_a_fresh_connection_is_not_sent_again() {
    let server = WebServer::start(|_| vec![Act::Close]);
    let run = play(&server);
    assert_eq!((done(&run), failed(&run)), (0, OPERATIONS));
    assert_eq!(resent(&run), 0);
    assert_eq!(server.asked().len() as u64, OPERATIONS);
    for class in classes(&run) {
        assert!(["closed", "reset"].contains(&class.as_str()), "{class}");
    }
}

#[test]
fn a_request_whose_answer_has_begun_is_not_sent_again() {
    let server = WebServer::start(|asked| match asked.before {
        0 => ok("done"),
        _ => vec![Act::Send("HTTP/1.1 20".into()), Act::Close],
    });
    let run = play(&server);
    let half = server
        .asked()
        .iter()
        .filter(|asked| asked.before > 0)
        .count() as u64;
    assert!(half > 0, "no connection was used again");
    assert_eq!((done(&run), failed(&run)), (OPERATIONS - half, half));
    assert_eq!(resent(&run), 0);
    assert_eq!(server.asked().len() as u64, OPERATIONS);
}

/// Users think for as long as the server keeps an idle connection: both happen, in any order.
#[test]
fn a_server_that_closes_idle_connections_causes_no_error() {
    // So long, a busy machine does not keep a new connection waiting for its first request.
    let idle = Duration::from_millis(200);
    let server = WebServer::start_impatient(idle, |_| ok("done"));
    let load = phase("m", "measure", json!(2.0), users(20));
    let mut plan = web_plan(&server.url(""), mixed(), json!([load]));
    plan["pacing"] = constant_think(idle.as_secs_f64());
    let run = Driver::start(&plan).finish();
    assert_eq!(run.code, Some(0), "{}", run.errors);
    assert_eq!(failed(&run), 0, "{:?}", classes(&run));
    let opened = server.opened();
    assert!(
        opened > 20,
        "no connection was closed: {opened} were opened"
    );
    assert_eq!(
        done(&run),
        server.asked().len() as u64,
        "each answer is counted once"
    );
}
