use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::*;
use crate::plan::PROTOCOL_VERSION;

mod choices;

/// A plan of one scenario.
pub fn plan(scenario: Value) -> Value {
    json!({
        "version": PROTOCOL_VERSION,
        "workload": {"name": "http", "parameters": {"scenario": scenario}},
        "connection": {"protocol": "http", "url": "http://app:8080"},
        "phases": [{"name": "m", "kind": "measure", "duration_s": 1.0,
                    "load": {"model": "closed", "users": {"from": 1, "to": 1}}}],
    })
}

/// The workload of a plan.
pub fn web(plan: &Value) -> Result<Web, Refusal> {
    Web::from_plan(&Plan::parse(&plan.to_string())?)
}

/// A request of a name and an address.
pub fn get(name: &str, url: &str) -> Value {
    json!({"request": {"name": name, "method": "GET", "url": url}})
}

/// A scenario with a log-in that extracts `token`, two transactions and a log-out.
pub fn shop() -> Value {
    let mut form = get("form", "/login");
    form["request"]["extract"] = json!({"token": {"from": "form", "what": "csrf"}});
    let mut list = get("list page", "/items?page=${page}");
    list["request"]["extract"] =
        json!({"id": {"from": "json", "what": "$.items[*].id", "pick": "random"}});
    json!({
        "values": {"page": 1},
        "log_in": {"steps": [form, get("form sent", "/login?token=${token}")]},
        "log_out": {"steps": [get("log out", "/logout?token=${token}")]},
        "transactions": [
            {"name": "list", "weight": 3, "steps": [list, {"pause_s": 0.5}]},
            {"name": "item", "steps": [
                {"parallel": [get("item", "/items/${id}")["request"],
                              get("picture", "/pictures/${id}")["request"]]}]},
        ],
    })
}

/// A file that is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(text: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("loadstone-people-{}-{number}.csv", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("a file");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn operations_and_requests_have_the_order_of_the_scenario() {
    let web = web(&plan(shop())).expect("read");
    assert_eq!(web.operations(), ["log-in", "list", "item", "log-out"]);
    let requests: Vec<_> = web
        .requests()
        .iter()
        .map(|request| (request.operation, request.name))
        .collect();
    assert_eq!(
        requests,
        [
            (0, "form"),
            (0, "form sent"),
            (1, "list page"),
            (2, "item"),
            (2, "picture"),
            (3, "log out"),
        ]
    );
    let names: Vec<_> = web.gauges().into_iter().map(|(name, _)| name).collect();
    let expected = [
        "connections_open",
        "users_logged_in",
        "users_working",
        "users_shut_out",
    ];
    assert_eq!(names, expected);
    assert!(web.counters().iter().all(|(_, count)| *count == 0));
}

#[test]
fn a_scenario_with_every_default_filled_in_is_read() {
    let request = json!({
        "name": "r", "method": "GET", "url": "/", "headers": {}, "query": [], "body": null,
        "expect": {"status": [], "text": [], "no_text": [], "json": {}, "header": {}},
        "redirects": "follow", "cache": false,
        "extract": {"x": {"from": "cookie", "what": "s", "pick": "first", "default": null,
                          "has_default": false}},
    });
    let think = json!({"distribution": "negative-exponential", "mean_s": 10.0, "cap": 10.0});
    let scenario = json!({
        "people": null, "values": {}, "secrets": {}, "headers": {}, "hosts": [], "order": "drawn",
        "connections": 6, "redirects": 10, "think_time": think,
        "timeouts_s": {"resolve": 5.0, "connect": 10.0, "tls": 10.0, "first_byte": 60.0,
                       "whole": 120.0},
        "limits": {"header_bytes": 65536, "body_bytes": 67_108_864, "inflated_bytes": 67_108_864,
                   "interim": 100},
        "resolve_every_s": 60.0, "log_in": {"steps": [{"request": request}],
        "back_off_s": {"first": 1.0, "longest": 30.0}}, "first_visit": null, "log_out": null,
        "transactions": [{"name": "t", "weight": 1.0, "think_time": null,
                          "steps": [{"request": request}]}],
    });
    assert!(web(&plan(scenario)).is_ok());
}

/// The field of the refusal of a scenario that was changed at `pointer`, and the whole of it.
fn refused(pointer: &str, value: Value) -> (String, String) {
    let mut changed = plan(shop());
    let place = changed.pointer_mut(&format!("/workload/parameters/scenario{pointer}"));
    *place.expect("a place") = value;
    let refusal = web(&changed).expect_err(pointer);
    let field = refusal.field.strip_prefix("workload.parameters.scenario");
    let field = field.expect("a field of the scenario").to_owned();
    (field, refusal.to_string())
}

#[test]
fn what_makes_no_sense_is_refused_by_its_field() {
    let steps = "/transactions/0/steps";
    for (pointer, value, field) in [
        ("/transactions", json!([]), ".transactions"),
        (
            "/transactions/0/name",
            json!("log-in"),
            ".transactions[0].name",
        ),
        (
            "/transactions/1/name",
            json!("list"),
            ".transactions[1].name",
        ),
        ("/transactions/0/name", json!(""), ".transactions[0].name"),
        (
            "/transactions/0/weight",
            json!(-1),
            ".transactions[0].weight",
        ),
        (steps, json!([]), ".transactions[0].steps"),
        (steps, json!([{"pause_s": 1}]), ".transactions[0].steps"),
        (
            steps,
            json!([{"parallel": []}]),
            ".transactions[0].steps[0].parallel",
        ),
        (
            "/transactions/0/steps/1/pause_s",
            json!(-1),
            ".transactions[0].steps[1].pause_s",
        ),
        (
            "/transactions/0/steps/0/request/url",
            json!("/${missing}"),
            ".transactions[0].steps[0].get",
        ),
        (
            "/transactions/1/steps/0/parallel/1/url",
            json!("https://evil/"),
            ".transactions[1].steps[0].parallel[1].get",
        ),
        (
            "/transactions/1/steps/0/parallel/1/name",
            json!("item"),
            ".transactions[1].steps[0].parallel[1].request",
        ),
        (
            "/log_in/steps/0/request/extract/token/what",
            json!(""),
            ".log_in.steps[0].extract.token",
        ),
        ("/values", json!({"user": "x"}), ".values.user"),
        (
            "/values",
            json!({"id": 1}),
            ".transactions[0].steps[0].extract.id",
        ),
        (
            "/log_out/steps/0/request/method",
            json!("TRACE"),
            ".log_out.steps[0].request.method",
        ),
    ] {
        let (found, refusal) = refused(pointer, value);
        assert_eq!(found, field, "{refusal}");
        assert_eq!(refusal.lines().count(), 1, "{refusal}");
    }
}

#[test]
fn a_back_off_that_makes_no_sense_is_refused_by_its_field() {
    for (back_off, field) in [
        (json!({"first": -1.0}), ".first"),
        (json!({"longest": 1e9}), ".longest"),
        (json!({"first": 31.0}), ".first"),
        (json!({"dance": 1.0}), ".dance"),
    ] {
        let mut scenario = shop();
        scenario["log_in"]["back_off_s"] = back_off;
        let refusal = web(&plan(scenario)).expect_err(field);
        let path = "workload.parameters.scenario.log_in.back_off_s";
        assert_eq!(refusal.field, format!("{path}{field}"));
    }
}

#[test]
fn what_a_browser_cannot_keep_is_refused() {
    let steps = "/transactions/1/steps/0/parallel/1";
    let style = json!({"name": "style", "method": "GET", "url": "/style.css?v=1", "cache": true});
    let mut scenario = shop();
    *scenario.pointer_mut(steps).expect("a request") = style.clone();
    scenario["first_visit"] = json!({"steps": [{"request": style}]});
    let whole = web(&plan(scenario.clone())).expect("read");
    assert_eq!(
        whole.shared.application.cached.len(),
        1,
        "an address has one place"
    );
    for (name, value) in [
        ("method", json!("POST")),
        ("url", json!("/${unique}.css")),
        ("query", json!([["v", "${user}"]])),
        ("body", json!({"raw": "x"})),
        ("expect", json!({"text": ["body"]})),
        ("expect", json!({"header": {"ETag": "a"}})),
        ("extract", json!({"x": {"from": "header", "what": "ETag"}})),
        ("marks", json!({"hit": {"header": {"Age": "1"}}})),
        ("keep", json!({"answers": 5})),
    ] {
        let mut wrong = scenario.clone();
        wrong.pointer_mut(steps).expect("a request")[name] = value;
        let refusal = web(&plan(wrong)).expect_err(name);
        let field = "workload.parameters.scenario.transactions[1].steps[0].parallel[1].cache";
        assert_eq!(refusal.field, field, "{refusal}");
    }
    let mut good = scenario;
    good.pointer_mut(steps).expect("a request")["expect"] = json!({"status": [200]});
    assert!(web(&plan(good)).is_ok());
}

#[test]
fn a_value_is_no_template() {
    let mut scenario = shop();
    scenario["values"]["page"] = json!("${");
    assert!(web(&plan(scenario)).is_ok());
}

#[test]
fn limits_and_unknown_fields_are_refused() {
    for (name, value, field) in [
        ("connections", json!(0), ".connections"),
        ("redirects", json!(9999), ".redirects"),
        ("timeouts_s", json!({"tls": 0}), ".timeouts_s.tls"),
        ("limits", json!({"header_bytes": 0}), ".limits.header_bytes"),
        ("resolve_every_s", json!(-1), ".resolve_every_s"),
        ("hosts", json!(["a/b"]), ".hosts[0]"),
        ("people", json!({"path": "/nowhere/people.csv"}), ".people"),
        (
            "secrets",
            json!({"password": "LOADSTONE_TEST_NOT_SET"}),
            ".secrets.password",
        ),
        ("dance", json!(1), ".dance"),
    ] {
        let mut scenario = shop();
        scenario[name] = value;
        let refusal = web(&plan(scenario)).expect_err(name);
        assert_eq!(
            refusal.field,
            format!("workload.parameters.scenario{field}")
        );
    }
}

#[test]
fn a_value_that_nothing_can_have_extracted_before_is_refused() {
    let token = "`${token}` is extracted by no request that can come before";
    let (field, refusal) = refused("/log_in/steps/0/request/url", json!("/login?${token}"));
    assert!(
        field == ".log_in.steps[0]" && refusal.contains(token),
        "{refusal}"
    );
    // No other transaction has the value, and this one only after its use.
    let (field, _) = refused("/transactions/0/steps/0/request/url", json!("/items/${id}"));
    assert_eq!(field, ".transactions[0].steps[0]");
    // Another transaction may have been made before.
    let mut turned = shop();
    turned["transactions"]
        .as_array_mut()
        .expect("a list")
        .reverse();
    assert!(web(&plan(turned)).is_ok());
}

#[test]
fn weights_count_only_where_transactions_are_drawn() {
    let mut scenario = shop();
    for index in 0..2 {
        scenario["transactions"][index]["weight"] = json!(0);
    }
    let refusal = web(&plan(scenario.clone())).expect_err("refused");
    assert_eq!(refusal.field, "workload.parameters.scenario.transactions");
    scenario["order"] = json!("in-turn");
    assert!(web(&plan(scenario)).is_ok());
}

#[test]
fn the_address_and_the_protocol_of_the_plan_are_looked_at() {
    for (name, value, field) in [
        ("url", json!("https://app/?q"), "connection.url"),
        ("ca", json!("/nowhere/ca.pem"), "connection.ca"),
    ] {
        let mut plan = plan(shop());
        plan["connection"][name] = value;
        assert_eq!(web(&plan).expect_err(name).field, field);
    }
    let mut plan = plan(shop());
    plan["connection"] = json!({"protocol": "none"});
    assert_eq!(
        web(&plan).expect_err("refused").field,
        "connection.protocol"
    );
}

#[test]
fn columns_of_people_are_names() {
    let people = Scratch::new("username,city\nann,Bern\nbo,Oslo\n");
    let mut scenario = shop();
    scenario["people"] = json!({"path": people.0});
    scenario["headers"] = json!({"X-City": "${city}"});
    assert!(web(&plan(scenario.clone())).is_ok());
    scenario["values"]["city"] = json!("Rome");
    let refusal = web(&plan(scenario)).expect_err("refused");
    assert_eq!(refusal.field, "workload.parameters.scenario.values.city");
    assert!(refusal.problem.contains("a column of people"));
}
