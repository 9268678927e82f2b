//! Plans of web loads.

use serde_json::{Value, json};

use crate::support;

/// A plan of one thread that makes the requests of `scenario` at `url`.
pub fn web_plan(url: &str, scenario: Value, phases: Value) -> Value {
    let mut plan = support::plan(phases);
    plan["workload"] = json!({"name": "http", "role": "run", "parameters": {"scenario": scenario}});
    plan["connection"] = json!({"protocol": "http", "url": url});
    plan
}

/// A scenario with short limits of time: what hangs fails.
pub fn scenario(transactions: Vec<Value>) -> Value {
    json!({
        "people": null,
        "values": {},
        "secrets": {},
        "headers": {},
        "hosts": [],
        "order": "in-turn",
        "connections": 6,
        "redirects": 10,
        "timeouts_s": {"resolve": 5.0, "connect": 5.0, "tls": 5.0, "first_byte": 5.0, "whole": 10.0},
        "limits": {"header_bytes": 65536, "body_bytes": 67_108_864, "inflated_bytes": 67_108_864,
                   "interim": 100},
        "resolve_every_s": 60.0,
        "log_in": null,
        "log_out": null,
        "transactions": transactions,
    })
}

/// A transaction of one request with its own name.
pub fn transaction(name: &str, request: Value) -> Value {
    json!({"name": name, "weight": 1.0, "steps": [{"request": request}]})
}

/// The request `answer`, of which status and text are checked.
pub fn request(method: &str, url: &str, status: u16, text: &[&str]) -> Value {
    json!({
        "name": "answer",
        "method": method,
        "url": url,
        "headers": {},
        "query": [],
        "body": null,
        "expect": {"status": [status], "text": text, "no_text": [], "json": {}, "header": {}},
        "redirects": "follow",
        "extract": {},
    })
}

/// Closed users.
pub fn users(count: u32) -> Value {
    json!({"model": "closed", "users": {"from": count, "to": count}})
}

/// A constant think time after each operation.
pub fn constant_think(mean_s: f64) -> Value {
    json!({"default": {"keying_s": 0.0, "think": {"distribution": "constant", "mean_s": mean_s}}})
}

/// The counts of a mapping from classes, added up.
pub fn sum_of(classes: &Value) -> u64 {
    let counts = classes.as_object().into_iter().flatten();
    counts
        .map(|(_, count)| count.as_u64().expect("a count"))
        .sum()
}
