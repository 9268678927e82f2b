//! A server that does everything wrong, at random: the driver comes to its end, names each failure, and does
//! not grow.

use serde_json::{Value, json};

use crate::support::{Driver, Finished, of_kind, phase};
use crate::web_plans::{constant_think, request, scenario, sum_of, transaction, users, web_plan};
use crate::web_server::{Act, Asked, Authority, WebServer};

const USERS: u32 = 16;
/// What is resident at the end, beyond what was at the beginning.
const GROWTH_BYTES: u64 = 24 << 20;
/// Classes that a failure may have here; those of the generator's own are not among them.
const CLASSES: [&str; 21] = [
    "connect_refused",
    "first_byte_timeout",
    "timeout",
    "reset",
    "closed",
    "short_body",
    "bad_header",
    "bad_length",
    "bad_chunk",
    "bad_encoding",
    "header_too_large",
    "body_too_large",
    "inflated_too_large",
    "too_many_interim",
    "unexpected_upgrade",
    "too_many_redirects",
    "bad_redirect",
    "foreign_host",
    "status_204",
    "status_500",
    "check",
];

/// Numbers that look random: xorshift64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The low bits of neighbouring seeds are alike.
        (self.0 >> 32) % count
    }
}

/// Whole answers that are wrong in themselves.
const WRONG: [&[u8]; 12] = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnone\r\nhello\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: http://203.0.113.1/\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: http://[::1/\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
    b"\x00\x16\xff nothing that anybody would read\r\n\r\n",
];
const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const ROUND: &[u8] = b"HTTP/1.1 302 Found\r\nLocation: /round\r\nContent-Length: 0\r\n\r\n";

/// What becomes of a request: the same for the same place on the same connection.
fn misbehave(asked: &Asked) -> Vec<Act> {
    if asked.path() == "/round" {
        return vec![send(ROUND)];
    }
    let place = (asked.connection << 16) + asked.before;
    let mut dice = Dice((place as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let half = send(&GOOD[..GOOD.len() - 2]);
    match dice.below(24) {
        0 => vec![Act::Close],
        1 => vec![Act::Reset],
        2 => vec![send(&GOOD[..11]), Act::Close],
        3 => vec![half, Act::Close],
        4 => vec![half, Act::Reset],
        5 => flood(b"HTTP/1.1 200 OK\r\n", b"X-More: of the same\r\n"),
        6 => flood(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        7 => flood(
            b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n",
            &[b'x'; 1000],
        ),
        8 => flood(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"5\r\nhello\r\n",
        ),
        9 => vec![Act::Stall],
        10..16 => vec![send(WRONG[dice.below(WRONG.len() as u64) as usize])],
        _ => vec![send(GOOD)],
    }
}

fn send(bytes: &[u8]) -> Act {
    Act::Send(bytes.into())
}

/// An answer that never ends.
fn flood(head: &[u8], more: &[u8]) -> Vec<Act> {
    vec![send(head), Act::Flood(more.repeat(8))]
}

fn hostile_scenario(tls_port: u16) -> Value {
    let any = |method: &str| request(method, "/any", 200, &["hello"]);
    let named = |name: &str| {
        let mut request = any("GET");
        request["name"] = json!(name);
        request
    };
    let trusted = format!("https://localhost:{tls_port}");
    let mut scenario = scenario(vec![
        transaction("any", any("GET")),
        transaction("post", any("POST")),
        transaction("round", request("GET", "/round", 200, &[])),
        transaction("expired", request("GET", &format!("{trusted}/"), 200, &[])),
        json!({"name": "several", "weight": 1.0,
               "steps": [{"parallel": [named("one"), named("two"), named("three")]}]}),
    ]);
    scenario["hosts"] = json!([trusted]);
    scenario["timeouts_s"]["first_byte"] = json!(0.2);
    scenario["timeouts_s"]["whole"] = json!(1.0);
    scenario["limits"] = json!({"header_bytes": 16_384, "body_bytes": 200_000,
                                "inflated_bytes": 200_000, "interim": 100});
    scenario
}

fn play(duration_s: f64) -> Finished {
    let authority = Authority::new("hostile");
    let expired = authority.server("localhost", 2020);
    let trusted = WebServer::start_tls(expired, |_| vec![send(GOOD)]);
    let server = WebServer::start(misbehave);
    let load = phase("m", "measure", json!(duration_s), users(USERS));
    let scenario = hostile_scenario(trusted.address.port());
    let mut plan = web_plan(&server.url(""), scenario, json!([load]));
    plan["connection"]["ca"] = json!(authority.file());
    plan["pacing"] = constant_think(0.01);
    Driver::start(&plan).finish()
}

/// The most that was resident in a part of the ticks.
fn most_resident(ticks: &[&Value]) -> u64 {
    let resident = ticks.iter().map(|tick| tick["rss_bytes"].as_u64());
    resident.max().flatten().expect("a tick")
}

fn survive(duration_s: f64) {
    let run = play(duration_s);
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let end = run.frames.last().expect("an end");
    assert_eq!(end["reason"], "completed");
    let of = |name: &str| &end["operations"][name];
    assert!(of("any")["count"].as_u64() > Some(0), "{}", of("any"));
    assert!(sum_of(&of("any")["errors"]) > 0, "{}", of("any"));
    let (round, expired) = (&of("round")["errors"], &of("expired")["errors"]);
    assert!(round["too_many_redirects"].as_u64() > Some(0), "{round}");
    assert!(expired["tls_expired"].as_u64() > Some(0), "{expired}");
    assert_eq!(of("expired")["count"], 0);
    for name in ["any", "post", "round", "several"] {
        let errors = of(name)["errors"].as_object().expect("errors");
        for class in errors.keys() {
            assert!(CLASSES.contains(&class.as_str()), "{name}: {class}");
        }
    }
    let ticks: Vec<&Value> = of_kind(&run.frames, "tick").collect();
    let third = ticks.len() / 3;
    let (first, last) = (
        most_resident(&ticks[..third.max(1)]),
        most_resident(&ticks[ticks.len() - third.max(1)..]),
    );
    println!(
        "{first} bytes were resident at first, and {last} in the end: {}",
        end["operations"]
    );
    assert!(
        last < first + GROWTH_BYTES,
        "it grew from {first} to {last} bytes"
    );
}

#[test]
fn a_server_that_does_everything_wrong_is_survived() {
    survive(3.0);
}

#[test]
#[ignore = "long: LOADSTONE_TEST_HOSTILE_S seconds, a minute without it"]
fn a_server_that_does_everything_wrong_for_long_is_survived() {
    let given = std::env::var("LOADSTONE_TEST_HOSTILE_S").ok();
    survive(given.map_or(60.0, |text| text.parse().expect("seconds")));
}
