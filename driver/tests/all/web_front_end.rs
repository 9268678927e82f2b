//! What a front end does beside asking: it tries again, knows errors by what was answered, logs in again when its
//! session has died, and goes from page to page as people do.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::scratch::Folder;
use crate::support::{Driver, Finished, histogram, of_kind, phase};
use crate::web_plans::{sum_of, users, web_plan};
use crate::web_server::{Act, Asked, WebServer, answer, ok};

/// A variable that is set wherever a program runs; its value is a secret here.
const SECRET: &str = "PATH";

fn get(name: &str, url: &str, further: Value) -> Value {
    let mut request = json!({"name": name, "method": "GET", "url": url});
    let fields = further.as_object().expect("fields").clone();
    request.as_object_mut().expect("a request").extend(fields);
    json!({"request": request})
}

/// One user makes a number of operations.
fn run(server: &WebServer, scenario: Value, iterations: u64) -> Finished {
    run_plan(&plan(server, scenario, iterations))
}

fn plan(server: &WebServer, scenario: Value, iterations: u64) -> Value {
    let mut work = phase("work", "measure", Value::Null, users(1));
    work["iterations"] = json!(iterations);
    web_plan(&server.url(""), scenario, json!([work]))
}

fn run_plan(plan: &Value) -> Finished {
    let run = Driver::start(plan).finish();
    assert_eq!(run.code, Some(0), "{}", run.errors);
    run
}

fn operation<'r>(run: &'r Finished, name: &str) -> &'r Value {
    &run.frames.last().expect("an end")["operations"][name]
}

/// What ticks say of a request, added up.
fn told(run: &Finished, operation: &str, request: &str, field: &str) -> Value {
    let mut total = serde_json::Map::new();
    for tick in of_kind(&run.frames, "tick") {
        let told = &tick["operations"][operation]["requests"][request][field];
        for (name, count) in told.as_object().into_iter().flatten() {
            let sum = total.get(name).and_then(Value::as_u64).unwrap_or(0);
            total.insert(name.clone(), json!(sum + count.as_u64().expect("a count")));
        }
    }
    Value::Object(total)
}

/// A server that answers 503 to the first requests of every four, as many as `failures`.
fn flaky(failures: usize) -> WebServer {
    WebServer::start(move |asked: &Asked| match asked.number % 4 {
        turn if turn < failures => answer("503 Service Unavailable", &[], "away"),
        _ => ok("here"),
    })
}

fn retrying(retry: Value) -> Value {
    let further = json!({"retry": retry, "expect": {"text": ["here"]}});
    json!({"transactions": [{"name": "page", "steps": [get("page", "/", further)]}]})
}

fn quick() -> Value {
    json!({"status": [503], "times": 3, "wait_s": 0.05, "factor": 2.0, "longest_s": 0.1,
           "jitter": false})
}

#[test]
fn a_request_is_tried_again_and_lasts_as_long_as_the_user_waited() {
    let server = flaky(3);
    let run = run(&server, retrying(quick()), 2);
    let page = operation(&run, "page");
    assert_eq!((&page["count"], sum_of(&page["errors"])), (&json!(2), 0));
    assert_eq!(page["requests"]["page"]["count"], 2);
    assert_eq!(server.asked().len(), 8);
    assert_eq!(
        told(&run, "page", "page", "retried"),
        json!({"status_503": 6})
    );
    assert_eq!(told(&run, "page", "page", "resent"), json!({}));
    // 0.05 + 0.1 + 0.1 s of waits are part of both times.
    let tick = of_kind(&run.frames, "tick")
        .find(|tick| tick["operations"]["page"]["count"] != 0)
        .expect("a tick");
    let told = &tick["operations"]["page"];
    for text in [&told["response"], &told["requests"]["page"]["service"]] {
        assert!(histogram(text).min() >= 249_000_000, "{text}");
    }
}

/// Each try is a row of its own, with what it failed by; steps are those of the way that is taken, and a request
/// that goes with others has its lane.
#[test]
fn a_waterfall_has_every_try() {
    let server = WebServer::start(|asked: &Asked| match (asked.path(), asked.number) {
        ("/page", 0 | 1) => answer("503 Service Unavailable", &[], "away"),
        _ => ok("here"),
    });
    let page = get("page", "/page", json!({"retry": quick()}));
    let both = ["/left", "/right"].map(|url| get(url, url, json!({}))["request"].clone());
    let scenario = json!({"transactions": [{"name": "page", "steps": [
        page,
        {"one_of": {"name": "way", "draw": true, "of": [
            {"steps": [{"pause_s": 0.001}, {"parallel": both}]}]}},
        get("last", "/last", json!({}))]}]});
    let run = run(&server, scenario, 1);
    let end = run.frames.last().expect("an end");
    let trace = &end["traces"]["page"]["slowest"];
    let rows = trace["rows"].as_array().expect("rows");
    let told: Vec<_> = rows
        .iter()
        .map(|row| json!([row["step"], row["lane"], row["cause"], row["error"]]))
        .collect();
    let tried = |cause: &str| json!([1, null, cause, "status_503"]);
    let expected = [
        tried("asked"),
        tried("again"),
        json!([1, null, "again", null]),
        json!([3, 1, "asked", null]),
        json!([3, 2, "asked", null]),
        json!([4, null, "asked", null]),
    ];
    assert_eq!(told, expected, "{trace}");
    // It lasts from the first try: the waits of 0.05 and 0.1 s lie between them.
    let at_s = |row: usize| rows[row]["at_s"].as_f64().expect("seconds");
    assert!(
        at_s(1) - at_s(0) >= 0.05 && at_s(2) - at_s(1) >= 0.1,
        "{trace}"
    );
}

/// What is still the same is good, and is tried no second time, whatever is expected and tried again.
#[test]
fn what_a_browser_has_kept_is_tried_again_too() {
    let server = WebServer::start(|asked: &Asked| {
        let knows = asked.header("if-none-match") == Some("\"v1\"");
        let lines = ["Cache-Control: no-cache", "ETag: \"v1\""];
        match asked.number {
            0 => answer("503 Service Unavailable", &[], ""),
            _ if knows => vec![Act::Send(
                "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n".into(),
            )],
            _ => answer("200 OK", &lines, "style"),
        }
    });
    let mut retry = quick();
    retry["classes"] = json!(["status_304"]);
    let further = json!({"retry": retry, "cache": true, "expect": {"status": [200]}});
    let scenario = json!({"transactions": [
        {"name": "page", "steps": [get("style", "/style.css", further)]}]});
    let run = run(&server, scenario, 3);
    let page = operation(&run, "page");
    assert_eq!((&page["count"], sum_of(&page["errors"])), (&json!(3), 0));
    assert_eq!(server.asked().len(), 4);
    let retried = told(&run, "page", "style", "retried");
    assert_eq!(retried, json!({"status_503": 1}));
    let end = run.frames.last().expect("an end");
    assert_eq!(end["facts"]["not_modified"], 2.0);
}

#[test]
fn a_request_fails_only_when_the_last_try_fails() {
    let server = flaky(4);
    let run = run(&server, retrying(quick()), 1);
    let page = operation(&run, "page");
    assert_eq!(page["errors"], json!({"status_503": 1}));
    assert_eq!(page["requests"]["page"]["errors"], json!({"status_503": 1}));
    assert_eq!(
        told(&run, "page", "page", "retried"),
        json!({"status_503": 3})
    );
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn without_retries_each_answer_counts() {
    let server = flaky(3);
    let run = run(&server, retrying(Value::Null), 4);
    let page = operation(&run, "page");
    assert_eq!(
        (&page["count"], &page["errors"]),
        (&json!(1), &json!({"status_503": 3}))
    );
    assert_eq!(told(&run, "page", "page", "retried"), json!({}));
}

#[test]
fn what_is_good_is_not_tried_again_whatever_its_status() {
    let server = WebServer::start(|_| answer("503 Service Unavailable", &[], "as it should be"));
    let further = json!({"retry": quick(), "expect": {"status": [503]}});
    let page = json!({"name": "page", "steps": [get("page", "/", further)]});
    let run = run(&server, json!({"transactions": [page]}), 3);
    assert_eq!(operation(&run, "page")["count"], 3);
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn a_class_may_be_tried_again_too() {
    let server = WebServer::start(|asked: &Asked| match asked.number {
        0 => vec![Act::Close],
        1 => answer("202 Accepted", &[], "wait"),
        _ => ok("done"),
    });
    let mut retry = quick();
    retry["classes"] = json!(["closed", "accepted"]);
    let page = json!({"name": "page", "steps": [get("page", "/", json!({"retry": retry}))]});
    let classes = json!([{"name": "accepted", "answer": {"status": [202]}}]);
    let run = run(
        &server,
        json!({"classes": classes, "transactions": [page]}),
        1,
    );
    assert_eq!(operation(&run, "page")["count"], 1);
    let retried = told(&run, "page", "page", "retried");
    assert_eq!(retried, json!({"accepted": 1, "closed": 1}));
}

/// An application whose sessions die after three requests.
fn forgetful() -> WebServer {
    let asked_in_session = AtomicUsize::new(3);
    WebServer::start(move |asked: &Asked| match asked.line() {
        "POST /login" => {
            asked_in_session.store(0, Ordering::SeqCst);
            answer("302 Found", &["Location: /home"], "")
        }
        "GET /home" => ok("welcome"),
        line if line.starts_with("GET /login") => ok("a form"),
        _ if asked_in_session.fetch_add(1, Ordering::SeqCst) < 3 => ok("a list"),
        _ => answer("302 Found", &["Location: /login?next=list"], ""),
    })
}

#[test]
fn a_user_whose_session_has_died_logs_in_again() {
    let server = forgetful();
    let post = json!({"request": {"name": "sent", "method": "POST", "url": "/login",
                                  "body": {"form": []}}});
    let scenario = json!({
        "classes": [{"name": "session_expired", "location": "/login"}],
        "log_in_again": {"classes": ["session_expired"]},
        "log_in": {"steps": [get("form", "/login", json!({})), post]},
        "transactions": [{"name": "list", "steps": [get("list", "/list", json!({}))]}],
    });
    let run = run(&server, scenario, 15);
    // A log-in, three lists, and one that says that the session is gone: three times.
    assert_eq!(operation(&run, "log-in")["count"], 3);
    let list = operation(&run, "list");
    assert_eq!(
        (&list["count"], &list["errors"]),
        (&json!(9), &json!({"session_expired": 3}))
    );
    assert_eq!(
        run.frames.last().expect("an end")["facts"]["sessions_lost"],
        3.0
    );
}

#[test]
fn a_class_says_what_an_error_is() {
    let server = WebServer::start(|asked: &Asked| match asked.path() {
        "/token" => answer("400 Bad Request", &[], "The CSRF token is missing"),
        "/rate" => answer("429 Too Many Requests", &[], ""),
        _ => ok("{\"error\": \"no such column\"}"),
    });
    let page =
        |name: &str| json!({"name": name, "steps": [get(name, &format!("/{name}"), json!({}))]});
    let scenario = json!({
        "order": "in-turn",
        "classes": [
            {"name": "csrf_expired", "answer": {"status": [400], "text": ["CSRF"]}},
            {"name": "rate_limited", "answer": {"status": [429]}},
            {"name": "failed_query", "answer": {"json": {"$.error": "no such column"}}},
        ],
        "transactions": [page("token"), page("rate"), page("query")],
    });
    let run = run(&server, scenario, 3);
    for (name, class) in [
        ("token", "csrf_expired"),
        ("rate", "rate_limited"),
        ("query", "failed_query"),
    ] {
        assert_eq!(operation(&run, name)["errors"], json!({class: 1}));
    }
    let told = of_kind(&run.frames, "event").find(|event| event["class"] == "rate_limited");
    let told = told.expect("an event");
    assert_eq!(
        told["detail"],
        "rate: an answer of the status 429 is of this class"
    );
}

#[test]
fn marks_are_counted_beside_the_requests() {
    let server = WebServer::start(|asked: &Asked| {
        ok(&format!(
            "{{\"result\": [{{\"is_cached\": {}}}]}}",
            !asked.number.is_multiple_of(3)
        ))
    });
    let cached = json!({"json": {"$.result[0].is_cached": true}});
    let stale = json!({"header": {"X-Stale": ""}});
    let further = json!({"marks": {"cached": cached, "stale": stale}});
    let page = json!({"name": "page", "steps": [get("chart", "/", further)]});
    let run = run(&server, json!({"transactions": [page]}), 9);
    let marks = told(&run, "page", "chart", "marks");
    assert_eq!(marks, json!({"cached": 6, "stale": 0}));
}

#[test]
fn users_go_on_as_the_weights_of_what_they_did_say() {
    let server = WebServer::start(|_| ok("done"));
    let page = |name: &str, next: Value| json!({"name": name, "next": next, "steps": [get(name, &format!("/{name}"), json!({}))]});
    let scenario = json!({
        "first": {"list": 1.0},
        "log_in": {"steps": [get("in", "/in", json!({}))]},
        "log_out": {"steps": [get("out", "/out", json!({}))]},
        "transactions": [
            page("list", json!({"open": 1.0})),
            page("open", json!({"filter": 2.0, "list": 1.0})),
            page("filter", json!({"log-out": 1.0, "open": 1.0})),
        ],
    });
    run(&server, scenario, 400);
    let asked = server.asked();
    let paths: Vec<&str> = asked.iter().map(Asked::path).collect();
    for pair in paths.windows(2) {
        let may = match pair[0] {
            "/in" => &["/list"][..],
            "/list" => &["/open"],
            "/open" => &["/filter", "/list"],
            "/filter" => &["/out", "/open"],
            _ => &["/in"],
        };
        assert!(may.contains(&pair[1]), "{pair:?}");
    }
    assert!(paths.iter().filter(|path| **path == "/out").count() > 10);
}

/// A file of people with a column that is called as passwords are.
fn people(folder: &Folder) -> Value {
    let path = folder.join("people.csv");
    std::fs::write(&path, "username,region,password\nann,ASIA,hidden\n").expect("a file");
    json!({"path": path})
}

#[test]
fn a_sample_of_the_answers_is_kept_without_secrets() {
    let server = WebServer::start(|asked: &Asked| match asked.path() {
        "/token" => ok("{\"token\": \"t0k3n\"}"),
        _ => ok(&format!("{{\"rows\":\n [[{}]]}}", asked.number)),
    });
    let folder = Folder::new("web-kept");
    let chart = json!({"request": {
        "name": "chart", "method": "POST", "url": "/chart?${region}", "keep": {"answers": 5},
        "headers": {"X-Token": "${token}"},
        "body": {"json": {"year": "${year}", "token": "${token}", "key": "${key}",
                          "login": "${password}", "once": "${unique}"}},
    }});
    let token = json!({"token": {"from": "json", "what": "$.token"}});
    let scenario = json!({
        "people": people(&folder),
        "secrets": {"key": SECRET},
        "transactions": [{"name": "open", "pick": {"year": {"of": [1995]}}, "steps": [
            get("token", "/token", json!({"extract": token})), chart]}],
    });
    let mut plan = plan(&server, scenario, 40);
    let path = folder.join("answers.jsonl");
    plan["workload"]["parameters"]["answers"] = json!(path);
    let run = run_plan(&plan);
    assert_eq!(operation(&run, "open")["count"], 40);
    let text = std::fs::read_to_string(&path).expect("a file");
    let secret = std::env::var(SECRET).expect("a path");
    for hidden in ["hidden", "t0k3n", secret.as_str()] {
        assert!(!text.contains(hidden), "{text}");
    }
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert!((5..40).contains(&lines.len()), "{}", lines.len());
    let line = &lines[0];
    assert_eq!(line["values"], json!({"year": 1995, "region": "ASIA"}));
    let shown = json!({"year": 1995, "token": "***", "key": "***", "login": "***", "once": "***"});
    assert_eq!(line["body"], shown);
    assert_eq!(
        (
            &line["user"],
            &line["username"],
            &line["operation"],
            &line["request"]
        ),
        (&json!(0), &json!("ann"), &json!("open"), &json!("chart"))
    );
    assert!(line["answer"]["rows"][0][0].as_u64().is_some(), "{line}");
}

#[test]
fn answers_are_not_kept_without_a_file_for_them() {
    let server = WebServer::start(|_| ok("done"));
    let keep = get("page", "/", json!({"keep": {"answers": 5}}));
    let scenario = json!({"transactions": [{"name": "page", "steps": [keep]}]});
    let run = Driver::start(&plan(&server, scenario, 1)).finish();
    assert_eq!(run.code, Some(2));
    assert!(
        run.errors.contains("workload.parameters.answers: missing"),
        "{}",
        run.errors
    );
}
