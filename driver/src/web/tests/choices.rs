//! What a user draws, and what of it makes no sense.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{get, plan, web};
use crate::plan::Refusal;
use crate::session::Session;
use crate::web::{Web, WebSession};

/// A scenario in which users open one of two dashboards, and filter the one that they opened.
fn dashboards() -> Value {
    let chart = |name: &str, url: &str| get(name, url);
    json!({
        "first": {"open": 1.0},
        "transactions": [
            {"name": "open", "next": {"filter": 1.0}, "steps": [
                {"one_of": {"name": "dashboard", "draw": true, "of": [
                    {"steps": [chart("sales", "/sales")]},
                    {"steps": [chart("parts", "/parts"), {"pause_s": 0.1}]}]}}]},
            {"name": "filter", "next": {"open": 1.0},
             "pick": {"year": {"of": [1992, 1993, 1994], "hold": true}},
             "steps": [
                {"one_of": {"name": "dashboard", "of": [
                    {"steps": [chart("sales in", "/sales?${year}")]},
                    {"pick": {"colour": {"of": ["red", "blue"]}},
                     "steps": [chart("parts in", "/parts?${year}&${colour}")]}]}}]},
        ],
    })
}

fn session(web: &Web, user: u32) -> WebSession {
    WebSession::new(Arc::clone(&web.shared), user, 1)
}

/// The requests of the transaction that a user makes next, and the addresses that it asks.
fn next(web: &Web, session: &mut WebSession) -> Vec<(&'static str, String)> {
    let operation = session.choose();
    let target = &web.shared.application.target;
    let mut made = Vec::new();
    for part in &web.shared.program.transaction(operation).parts {
        for step in part.steps(&session.person).iter() {
            for request in step.requests() {
                let prepared = request.prepare(target, &mut session.person, None);
                let url = prepared.expect("prepared").request().url.to_string();
                made.push((request.name, url.replace("http://app:8080", "")));
            }
        }
    }
    made
}

#[test]
fn a_choice_stays_until_it_is_drawn_again_and_so_does_a_value_that_is_held() {
    let web = web(&plan(dashboards())).expect("read");
    let mut seen = BTreeSet::new();
    for user in 0..50 {
        let mut session = session(&web, user);
        for _ in 0..4 {
            let (opened, filtered) = (next(&web, &mut session), next(&web, &mut session));
            let (opened, filtered) = (&opened[0], &filtered[0]);
            assert_eq!(format!("{} in", opened.0), filtered.0);
            assert!(filtered.1.starts_with(&format!("{}?199", opened.1)));
            seen.insert(filtered.1.clone());
        }
    }
    // Three years, of the parts in two colours each.
    assert_eq!(seen.len(), 9, "{seen:?}");
}

#[test]
fn what_is_drawn_follows_from_the_seed_and_the_user() {
    let web = web(&plan(dashboards())).expect("read");
    let walk = |user| -> Vec<_> {
        let mut session = session(&web, user);
        (0..10).flat_map(|_| next(&web, &mut session)).collect()
    };
    assert_eq!(walk(3), walk(3));
    assert_ne!(walk(3), walk(4));
}

fn refused(change: impl FnOnce(&mut Value)) -> Refusal {
    let mut scenario = dashboards();
    change(&mut scenario);
    web(&plan(scenario)).expect_err("refused")
}

fn set(pointer: &'static str, value: Value) -> impl FnOnce(&mut Value) {
    move |scenario| *scenario.pointer_mut(pointer).expect("a place") = value
}

#[test]
fn what_makes_no_sense_is_refused_by_its_field() {
    let one_of = "/transactions/0/steps/0/one_of";
    let cases: [(&'static str, Value, &str); 9] = [
        ("/first/open", json!(-1), ".first.open"),
        (
            "/transactions/0/next",
            json!({"dance": 1}),
            ".transactions[0].next.dance",
        ),
        (
            "/transactions/0/steps/0/one_of/of",
            json!([{"steps": [get("sales", "/sales")]}]),
            // The second of the two is named.
            ".transactions[1].steps[0].of",
        ),
        (
            "/transactions/0/steps/0/one_of/of",
            json!([]),
            ".transactions[0].steps[0].of",
        ),
        (
            "/transactions/0/steps/0/one_of/name",
            json!(""),
            ".transactions[0].steps[0].one_of",
        ),
        (
            "/transactions/0/steps/0/one_of/of/0/steps/0",
            json!({"one_of": {"name": "x", "of": [{"steps": []}]}}),
            ".transactions[0].steps[0].of[0].steps[0].one_of",
        ),
        (
            "/transactions/0/steps/0/one_of/of/1/steps/0/request/name",
            json!("sales"),
            ".transactions[0].steps[0].of[1].steps[0].request",
        ),
        (
            "/transactions/1/pick/year/of",
            json!([]),
            ".transactions[1].pick.year",
        ),
        (
            "/transactions/1/steps/0/one_of/of/0/steps/0/request/url",
            // It is picked for the other way only.
            json!("/sales?${colour}"),
            ".transactions[1].steps[0].of[0].steps[0]",
        ),
    ];
    assert!(dashboards().pointer(one_of).is_some());
    for (pointer, value, field) in cases {
        let refusal = refused(set(pointer, value));
        let expected = format!("workload.parameters.scenario{field}");
        assert_eq!(refusal.field, expected, "{refusal}");
    }
}

#[test]
fn a_value_is_picked_or_has_another_meaning_but_not_both() {
    let refusal = refused(|scenario| scenario["values"] = json!({"year": 1}));
    assert!(refusal.problem.contains("a value"), "{refusal}");
    let refusal = refused(|scenario| {
        scenario["transactions"][0]["pick"] = json!({"year": {"of": [1]}});
    });
    assert!(
        refusal.problem.contains("is held in one place"),
        "{refusal}"
    );
    // One that is not held is there for its own transaction only.
    let refusal = refused(|scenario| {
        let url = "/transactions/0/steps/0/one_of/of/0/steps/0/request/url";
        set(url, json!("/sales?${colour}"))(scenario);
    });
    assert!(
        refusal
            .problem
            .contains("`${colour}` is extracted by no request"),
        "{refusal}"
    );
}

#[test]
fn a_log_in_has_no_choice_and_keeps_no_answer() {
    let refusal = refused(|scenario| {
        scenario["log_in"] = json!({"steps": [
            {"one_of": {"name": "x", "of": [{"steps": [get("a", "/")]}]}}]});
    });
    let expected = "workload.parameters.scenario.log_in.steps[0].one_of";
    assert_eq!(refusal.field, expected);
    let refusal = refused(|scenario| {
        let mut form = get("form", "/");
        form["request"]["keep"] = json!({"answers": 5});
        scenario["log_in"] = json!({"steps": [form]});
    });
    assert!(
        refusal.field.ends_with(".log_in.steps[0].keep"),
        "{refusal}"
    );
    let refusal = refused(|scenario| scenario["log_in_again"] = json!({"classes": ["x"]}));
    assert!(refusal.field.ends_with(".log_in_again"), "{refusal}");
}

#[test]
fn further_fields_of_a_request_are_read() {
    for (fields, field) in [
        (json!({"retry": {"times": 101}}), ".retry.times"),
        (json!({"marks": {"cached": {}}}), ".marks.cached"),
        (json!({"keep": {"answers": 0}}), ".keep.answers"),
        (json!({"dance": 1}), ".dance"),
    ] {
        let refusal = refused(|scenario| {
            let way = &mut scenario["transactions"][0]["steps"][0]["one_of"]["of"][0];
            let request = way["steps"][0]["request"]
                .as_object_mut()
                .expect("a request");
            request.extend(fields.as_object().expect("fields").clone());
        });
        assert!(refusal.field.ends_with(field), "{refusal}");
    }
}
