//! What users do before their transactions: log-ins that fail, and a first visit whose files a browser keeps.

use serde_json::{Value, json};

use crate::support::{Driver, Finished, phase};
use crate::web_plans::{request, scenario, transaction, users, web_plan};
use crate::web_server::{Act, Asked, WebServer, answer, ok};

const USERS: u32 = 20;

fn end(run: &Finished) -> &Value {
    assert_eq!(run.code, Some(0), "{}", run.errors);
    run.frames.last().expect("an end")
}

/// Users without a think time whom nobody lets in. Without a back-off each would ask thousands of times.
#[test]
fn users_whose_log_in_fails_do_not_run_against_the_server() {
    let server = WebServer::start(|_| answer("403 Forbidden", &[], ""));
    let page = transaction("page", request("GET", "/page", 200, &[]));
    let mut scenario = scenario(vec![page]);
    scenario["log_in"] = json!({
        "steps": [{"request": request("POST", "/log-in", 200, &[])}],
        "back_off_s": {"first": 0.2, "longest": 0.4},
    });
    let load = phase("m", "measure", json!(1.0), users(USERS));
    let run = Driver::start(&web_plan(&server.url(""), scenario, json!([load]))).finish();
    let operations = &end(&run)["operations"];
    let tries = operations["log-in"]["errors"]["status_403"].as_u64();
    // The first wait is 0.1 s at least, and the later ones 0.2 s: at 0, 0.1, 0.3, 0.5, 0.7 and 0.9 s.
    let users = u64::from(USERS);
    let tries = tries.expect("tries");
    assert!((users..=6 * users).contains(&tries), "{operations}");
    assert_eq!(operations["page"]["count"], 0);
    assert_eq!(server.asked().len() as u64, tries);
}

/// An application whose page has three files: one for long, one to ask about each time, one not to keep.
fn application(asked: &Asked) -> Vec<Act> {
    match asked.path() {
        "/log-in" => ok("welcome"),
        "/for-long.js" => answer("200 OK", &["Cache-Control: max-age=86400"], "code"),
        "/asked.css" if asked.header("if-none-match") == Some("\"v1\"") => {
            vec![Act::Send(
                "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n".into(),
            )]
        }
        "/asked.css" => {
            let lines = ["Cache-Control: no-cache", "ETag: \"v1\""];
            answer("200 OK", &lines, "style")
        }
        "/never.png" => answer("200 OK", &["Cache-Control: no-store"], "picture"),
        "/page" => ok("a page"),
        _ => answer("404 Not Found", &[], ""),
    }
}

fn kept(name: &str) -> Value {
    json!({"name": name, "method": "GET", "url": format!("/{name}"), "cache": true})
}

#[test]
fn a_browser_asks_for_what_it_has_kept_only_when_it_must() {
    const OPERATIONS: u64 = 400;
    let server = WebServer::start(application);
    let files = ["for-long.js", "asked.css", "never.png"].map(kept);
    let page = json!({"name": "page", "steps": [
        {"request": request("GET", "/page", 200, &["a page"])}, {"parallel": files}]});
    let mut scenario = scenario(vec![page]);
    scenario["log_in"] = json!({"steps": [{"request": request("GET", "/log-in", 200, &[])}]});
    scenario["first_visit"] = json!({"steps": [{"parallel": files}]});
    let mut load = phase("m", "measure", Value::Null, users(USERS));
    load["iterations"] = json!(OPERATIONS);
    let run = Driver::start(&web_plan(&server.url(""), scenario, json!([load]))).finish();

    let (end, users) = (end(&run), u64::from(USERS));
    let of = |name: &str| &end["operations"][name];
    let pages = OPERATIONS - 2 * users;
    for (name, count) in [("log-in", users), ("first-visit", users), ("page", pages)] {
        assert_eq!(
            (&of(name)["count"], &of(name)["errors"]),
            (&json!(count), &json!({}))
        );
    }
    let asked = server.asked();
    let times = |path: &str, conditional: bool| {
        let same = asked.iter().filter(|asked| asked.path() == path);
        let way = same.filter(|asked| asked.header("if-none-match").is_some() == conditional);
        way.count() as u64
    };
    assert_eq!(
        (times("/for-long.js", false), times("/for-long.js", true)),
        (users, 0)
    );
    assert_eq!(
        (times("/asked.css", false), times("/asked.css", true)),
        (users, pages)
    );
    assert_eq!(
        (times("/never.png", false), times("/never.png", true)),
        (users + pages, 0)
    );

    let facts = &end["facts"];
    assert_eq!(facts["from_cache"], pages as f64, "{facts}");
    assert_eq!(facts["not_modified"], pages as f64, "{facts}");
    let requests = &of("page")["requests"];
    assert_eq!(
        requests["for-long.js"],
        Value::Null,
        "what is not asked is no request"
    );
    assert_eq!(requests["asked.css"]["count"], pages);
}

/// Where all of a transaction comes from the cache, the application was not measured.
#[test]
fn a_transaction_that_asks_nothing_is_not_counted() {
    let server = WebServer::start(application);
    let steps = json!([{"request": kept("for-long.js")}]);
    let scenario = scenario(vec![json!({"name": "file", "steps": steps})]);
    let load = phase("m", "measure", json!(0.3), users(1));
    let mut plan = web_plan(&server.url(""), scenario, json!([load]));
    let think = json!({"distribution": "constant", "mean_s": 0.02});
    plan["pacing"] = json!({"default": {"keying_s": 0.0, "think": think}});
    let run = Driver::start(&plan).finish();
    let file = &end(&run)["operations"]["file"];
    assert_eq!((&file["count"], &file["errors"]), (&json!(1), &json!({})));
    assert_eq!(server.asked().len(), 1);
}
