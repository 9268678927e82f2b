//! How a transaction went by: what each of its requests was doing at each moment. Pauses are planted: a part in
//! which the server waits is at least as long, however busy the machine is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use loadstone_driver::clock::{SECOND_NS, to_ns};
use loadstone_driver::http::Browser;
use loadstone_driver::leg::{Cause, Connection, Leg, Part};
use serde_json::{Value, json};

use crate::host::block_on;
use crate::support::{Driver, Finished, phase};
use crate::web_browser::{Outcome, get, plan, site};
use crate::web_plans::{scenario, users, web_plan};
use crate::web_server::{Act, Asked, Authority, WebServer, answer, ok};

const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_NS: u64 = SECOND_NS / 10;

/// What was sent for a request that was answered.
#[track_caller]
fn legs((fetched, notes): Outcome) -> Vec<Leg> {
    fetched.expect("an answer");
    notes.legs
}

fn slow_then_done(asked: &Asked) -> Vec<Act> {
    match asked.path() {
        "/slow" => [vec![Act::Pause(PAUSE)], ok("slow")].concat(),
        "/slow-body" => {
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsl".to_vec();
            vec![Act::Send(head), Act::Pause(PAUSE), Act::Send(b"ow".into())]
        }
        "/away" => answer("302 Found", &["Location: /slow"], ""),
        _ => ok("done"),
    }
}

/// What a pause before the head is part of: the server may have begun it before the driver has noted that it sent
/// all.
fn paused_ns(leg: &Leg) -> u64 {
    leg.part_ns(Part::Send) + leg.part_ns(Part::Wait)
}

#[test]
fn a_pause_of_the_server_is_in_the_part_in_which_it_was() {
    let server = WebServer::start(slow_then_done);
    let browser = Browser::new(0);
    let site = site(plan(), &[&server.url("/")]);
    block_on(async {
        let first = legs(get(&browser, &site, &server.url("/slow")).await).remove(0);
        assert_eq!(first.connection, Some(Connection::New));
        assert!(paused_ns(&first) >= PAUSE_NS, "{first:?}");
        assert!(first.part_ns(Part::Connect) > 0, "{first:?}");
        assert_eq!(first.part_ns(Part::Tls), 0);
        let second = legs(get(&browser, &site, &server.url("/slow-body")).await).remove(0);
        assert_eq!(second.connection, Some(Connection::Reused));
        assert_eq!((second.status, second.cause), (Some(200), Cause::Asked));
        let received_ns = second.part_ns(Part::Receive);
        assert!(received_ns > 0, "{second:?}");
        // A busy machine may read the head late.
        assert!(paused_ns(&second) + received_ns >= PAUSE_NS, "{second:?}");
        let opening = [Part::Blocked, Part::Resolve, Part::Connect, Part::Tls];
        assert_eq!(opening.map(|part| second.part_ns(part)), [0; 4]);
        assert!(second.begun_ns >= first.done_ns());
        let asked = &server.asked()[1];
        assert_eq!(second.sent_bytes, asked.head.len() as u64);
    });
}

#[test]
fn a_redirect_and_where_it_led_follow_each_other() {
    let server = WebServer::start(slow_then_done);
    let browser = Browser::new(0);
    let site = site(plan(), &[&server.url("/")]);
    block_on(async {
        let legs = legs(get(&browser, &site, &server.url("/away")).await);
        let told: Vec<_> = legs.iter().map(|leg| (leg.cause, leg.status)).collect();
        let expected = [(Cause::Asked, Some(302)), (Cause::Redirect, Some(200))];
        assert_eq!(told, expected);
        assert!(legs[1].begun_ns >= legs[0].done_ns());
        assert!(paused_ns(&legs[1]) >= PAUSE_NS);
    });
}

#[test]
fn a_request_lasts_from_its_first_sending_to_the_end_of_its_last() {
    let server = WebServer::start(slow_then_done);
    let browser = Browser::new(0);
    let site = site(plan(), &[&server.url("/")]);
    block_on(async {
        let (_, notes) = get(&browser, &site, &server.url("/away")).await;
        let ends = (notes.legs[0].begun_ns, notes.legs[1].done_ns());
        assert_eq!(notes.span(), Some(ends));
        let (fetched, notes) = get(&browser, &site, "http://elsewhere/").await;
        assert!(fetched.is_err(), "it is no host of the site");
        assert_eq!(notes.span(), None);
    });
}

#[test]
fn a_request_that_is_sent_again_has_both_sendings() {
    let server = WebServer::start(|asked| match asked.number {
        1 => vec![Act::Close],
        number => ok(&number.to_string()),
    });
    let (url, browser) = (server.url("/"), Browser::new(0));
    let site = site(plan(), &[&url]);
    block_on(async {
        legs(get(&browser, &site, &url).await);
        let legs = legs(get(&browser, &site, &url).await);
        let told: Vec<_> = legs
            .iter()
            .map(|leg| (leg.cause, leg.connection, leg.status, leg.broken.as_deref()))
            .collect();
        let expected = [
            (Cause::Asked, Some(Connection::Reused), None, Some("closed")),
            (Cause::Again, Some(Connection::New), Some(200), None),
        ];
        assert_eq!(told, expected);
        assert_eq!(legs[1].begun_ns, legs[0].done_ns());
    });
}

#[test]
fn one_that_waits_for_a_connection_is_blocked() {
    let server = WebServer::start(slow_then_done);
    let browser = Browser::new(0);
    let mut site = site(plan(), &[&server.url("/")]);
    site.connections = 1;
    block_on(async {
        let urls = [server.url("/slow"), server.url("/")];
        let made = join_all(urls.iter().map(|url| get(&browser, &site, url))).await;
        let made: Vec<Leg> = made.into_iter().flat_map(legs).collect();
        assert_eq!(made[0].part_ns(Part::Blocked), 0);
        assert!(made[1].part_ns(Part::Blocked) >= PAUSE_NS, "{:?}", made[1]);
        assert_eq!(made[1].connection, Some(Connection::Reused));
    });
}

#[test]
fn a_handshake_has_a_part_of_its_own() {
    let authority = Authority::new("known");
    let config = authority.server("app.test", 2999);
    let server = WebServer::start_tls(config, |_| ok("done"));
    let url = format!("https://app.test:{}/", server.address.port());
    let mut plan = plan();
    plan.ca = Some(authority.file());
    let site = site(plan, &[&url]);
    site.network.learn("app.test", vec![server.address.ip()]);
    let browser = Browser::new(0);
    block_on(async {
        let leg = legs(get(&browser, &site, &url).await).remove(0);
        assert!(leg.part_ns(Part::Tls) > 0, "{leg:?}");
    });
}

#[test]
fn a_request_that_fails_ends_in_the_part_that_ran() {
    let server = WebServer::start(|_| vec![Act::Stall]);
    let (url, browser) = (server.url("/"), Browser::new(0));
    let mut plan = plan();
    plan.timeouts.first_byte_ns = PAUSE_NS;
    let site = site(plan, &[&url]);
    block_on(async {
        let (fetched, notes) = get(&browser, &site, &url).await;
        assert!(fetched.is_err());
        let [leg] = &notes.legs[..] else {
            panic!("it was sent once: {:?}", notes.legs);
        };
        assert!(paused_ns(leg) >= PAUSE_NS, "{leg:?}");
        assert_eq!((leg.status, &leg.broken), (None, &None));
    });
}

fn get_plan(name: &str, url: &str) -> Value {
    json!({"name": name, "method": "GET", "url": url})
}

/// A page, a pause, and then three parts at the same time, one of which is slow.
fn page(name: &str, slow: &str) -> Value {
    json!({"name": name, "weight": 1.0, "steps": [
        {"request": get_plan("page", "/page")},
        {"pause_s": 0.05},
        {"parallel": [get_plan("style", "/style"), get_plan("script", slow),
                      get_plan("image", "/image")]}]})
}

/// A run that makes so many operations after a short warm-up; the fifth request of `/sometimes` is slow.
fn traced(transactions: Vec<Value>, warm_up: bool, operations: u64) -> Finished {
    let sometimes = AtomicU64::new(0);
    let server = WebServer::start(move |asked| match asked.path() {
        "/sometimes" if sometimes.fetch_add(1, Ordering::Relaxed) == 4 => {
            [vec![Act::Pause(3 * PAUSE)], ok("late")].concat()
        }
        "/missing" => answer("404 Not Found", &[], "nothing"),
        _ => slow_then_done(asked),
    });
    let mut work = phase("work", "measure", Value::Null, users(1));
    work["iterations"] = json!(operations);
    let before = phase("before", "warm-up", json!(0.05), users(1));
    let phases = match warm_up {
        true => json!([before, work]),
        false => json!([work]),
    };
    let plan = web_plan(&server.url(""), scenario(transactions), phases);
    let run = Driver::start(&plan).finish();
    assert_eq!(run.code, Some(0), "{}", run.errors);
    run
}

fn traces(run: &Finished) -> &Value {
    &run.frames.last().expect("an end")["traces"]
}

fn rows(trace: &Value) -> &Vec<Value> {
    trace["rows"].as_array().expect("rows")
}

/// When a row ended, after the operation was due.
fn end_ns(row: &Value) -> u64 {
    let parts = [
        "at", "blocked", "resolve", "connect", "tls", "send", "wait", "receive",
    ];
    let seconds = parts.map(|part| row[format!("{part}_s")].as_f64().unwrap_or(0.0));
    to_ns(seconds.into_iter().sum())
}

#[test]
fn the_driver_tells_whole_transactions_at_its_end() {
    let run = traced(vec![page("home", "/slow")], true, 6);
    let home = &traces(&run)["home"];
    assert_eq!(home.get("failed"), None);
    let sample = home["sample"].as_array().expect("a sample");
    assert_eq!(sample.len(), 3);
    for trace in sample.iter().chain([&home["slowest"]]) {
        assert_eq!(trace["phase"], "work", "only what is measured");
        let names: Vec<_> = rows(trace)
            .iter()
            .map(|row| {
                (
                    row["request"].as_str(),
                    row["step"].as_u64(),
                    row["lane"].as_u64(),
                )
            })
            .collect();
        let expected = [
            (Some("page"), Some(1), None),
            (Some("style"), Some(3), Some(1)),
            (Some("script"), Some(3), Some(2)),
            (Some("image"), Some(3), Some(3)),
        ];
        assert_eq!(names, expected);
        let ends: Vec<u64> = rows(trace).iter().map(end_ns).collect();
        let took_ns = to_ns(trace["took_s"].as_f64().expect("a time"));
        assert!(ends.iter().all(|end| *end <= took_ns + 1), "{trace}");
        let begins = |row: &Value| to_ns(row["at_s"].as_f64().expect("a time"));
        let pause_ns = SECOND_NS / 20;
        assert!(begins(&rows(trace)[1]) + 1 >= ends[0] + pause_ns, "{trace}");
        assert!(paused_s(&rows(trace)[2]) >= 0.1, "{trace}");
        assert!(trace["took_s"].as_f64() <= home["slowest"]["took_s"].as_f64());
    }
}

/// As `paused_ns`, of a row.
fn paused_s(row: &Value) -> f64 {
    let part = |name: &str| row[name].as_f64().unwrap_or(0.0);
    part("send_s") + part("wait_s")
}

#[test]
fn the_slowest_is_the_one_that_was_slow() {
    let run = traced(vec![page("home", "/sometimes")], false, 12);
    let slowest = &traces(&run)["home"]["slowest"];
    assert!(paused_s(&rows(slowest)[2]) >= 0.3, "{slowest}");
}

#[test]
fn a_transaction_that_failed_is_kept_apart() {
    let transactions = vec![page("home", "/missing"), page("other", "/other")];
    let run = traced(transactions, false, 8);
    let home = &traces(&run)["home"];
    assert_eq!((home.get("slowest"), home.get("sample")), (None, None));
    let failed = &home["failed"];
    assert_eq!(failed["error"], "status_404");
    let errors: Vec<_> = rows(failed).iter().map(|row| row.get("error")).collect();
    assert_eq!(errors, [None, None, Some(&json!("status_404")), None]);
    let other = &traces(&run)["other"];
    assert_eq!(other.get("failed"), None);
    assert!(other["slowest"].is_object());
}

#[test]
fn a_workload_without_requests_tells_none() {
    let mut work = phase("work", "measure", Value::Null, users(1));
    work["iterations"] = json!(5);
    let run = Driver::start(&crate::support::plan(json!([work]))).finish();
    let end = run.frames.last().expect("an end");
    assert_eq!((&end["frame"], end.get("traces")), (&json!("end"), None));
}
