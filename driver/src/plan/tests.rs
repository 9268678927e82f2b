use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn example() -> Value {
    json!({
        "version": 4, "seed": 42, "threads": 2, "tick_s": 0.5,
        "workload": {"name": "noop", "role": "run", "parameters": {"service_time_us": 10}},
        "connection": {"protocol": "postgresql", "host": "/tmp", "port": 5432, "user": "u",
                       "database": "d", "password_env": "SECRET"},
        "retry": {"max_attempts": 3},
        "pacing": {"default": {"keying_s": 0.5, "think": {"distribution": "none"}},
                   "operations": {"noop": {"keying_s": 1.0, "think":
                       {"distribution": "negative-exponential", "mean_s": 12.0, "cap": 10.0}}}},
        "phases": [
            {"name": "w", "kind": "warm-up", "duration_s": 1.0, "backlog": "discard",
             "load": {"model": "closed", "users": {"from": 1, "to": 8}}},
            {"name": "m", "kind": "measure", "duration_s": 2.0,
             "load": {"model": "open", "rate_per_s": {"from": 10, "to": 20},
                      "arrival": "poisson", "sessions": 4, "queue": 100}},
            {"name": "p", "kind": "prepare", "iterations": null,
             "load": {"model": "closed", "users": {"from": 4, "to": 4}}}
        ]
    })
}

fn refused(change: impl FnOnce(&mut Value)) -> Refusal {
    let mut value = example();
    change(&mut value);
    Plan::parse(&value.to_string()).expect_err("a refusal")
}

#[test]
fn the_documented_plan_is_read() {
    let plan = Plan::parse(&example().to_string()).expect("a plan");
    assert_eq!(plan.sessions(), 8);
    assert_eq!(plan.phases[1].backlog, Backlog::Drain);
    assert_eq!(plan.phases[2].duration_s, None);
    assert_eq!(plan.retry.max_attempts, 3);
    let think = Think::NegativeExponential {
        mean_s: 12.0,
        cap: 10.0,
    };
    assert_eq!(plan.pacing.operations["noop"].think, think);
}

#[test]
fn a_minimal_plan_has_defaults() {
    let text = r#"{"version": 4, "workload": {"name": "noop"}, "phases": [
        {"name": "m", "kind": "measure", "duration_s": 1,
         "load": {"model": "closed", "users": {"from": 1, "to": 1}}}]}"#;
    let plan = Plan::parse(text).expect("a plan");
    assert_eq!(
        (plan.threads, plan.tick_s, plan.retry.max_attempts),
        (1, 1.0, 50)
    );
    assert_eq!(plan.connection, Connection::default());
}

#[test]
fn a_wrong_value_is_refused_by_its_field() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 23] = [
        ("version", |plan| plan["version"] = json!(1)),
        ("threads", |plan| plan["threads"] = json!(0)),
        ("threads", |plan| plan["threads"] = json!(-1)),
        ("tick_s", |plan| plan["tick_s"] = json!(0)),
        ("delay_s", |plan| plan["delay_s"] = json!(11.0)),
        ("retry.max_attempts", |plan| {
            plan["retry"]["max_attempts"] = json!(0)
        }),
        ("retry.backoff_base_s", |plan| {
            plan["retry"]["backoff_base_s"] = json!(-0.001)
        }),
        ("retry.backoff_cap_s", |plan| {
            plan["retry"]["backoff_cap_s"] = json!(1e9)
        }),
        ("connection.settings", |plan| {
            plan["connection"]["settings"] = json!({"work_mem": "1MB"})
        }),
        (
            "connection.database",
            |plan| {
                plan["connection"] =
                    json!({"protocol": "sqlite", "settings": {"synchronous": "off"}})
            },
        ),
        ("finish_s", |plan| plan["finish_s"] = json!(11)),
        ("connection.connect_timeout_s", |plan| {
            plan["connection"]["connect_timeout_s"] = json!(0)
        }),
        ("connection.host", |plan| {
            plan["connection"]["host"] = json!("")
        }),
        ("pacing.default.keying_s", |plan| {
            plan["pacing"]["default"]["keying_s"] = json!(-1)
        }),
        ("pacing.operations.noop.think.cap", |plan| {
            plan["pacing"]["operations"]["noop"]["think"]["cap"] = json!(0.5);
        }),
        ("phases", |plan| plan["phases"] = json!([])),
        ("phases[0].kind", |plan| {
            plan["phases"][0]["kind"] = json!("fast")
        }),
        ("phases[0].duration_s", |plan| {
            plan["phases"][0]["duration_s"] = json!(0)
        }),
        ("phases[1].load.rate_per_s.to", |plan| {
            plan["phases"][1]["load"]["rate_per_s"]["to"] = json!(-5);
        }),
        ("phases[1].load.sessions", |plan| {
            plan["phases"][1]["load"]["sessions"] = json!(0)
        }),
        ("phases[2].load.users", |plan| {
            plan["phases"][2]["load"]["users"]["to"] = json!(5)
        }),
        ("phases[2].iterations", |plan| {
            plan["phases"][2]["iterations"] = json!(0)
        }),
        ("phases[2].name", |plan| {
            plan["phases"][2]["name"] = json!("")
        }),
    ];
    for (field, change) in cases {
        assert_eq!(refused(change).field, field);
    }
}

#[test]
fn an_application_is_reached_by_its_address_alone() {
    let mut value = example();
    value["connection"] = json!({"protocol": "http", "url": "https://app.example:8443"});
    let plan = Plan::parse(&value.to_string()).expect("a plan");
    assert_eq!(plan.connection.url, "https://app.example:8443");
    assert_eq!(
        (plan.connection.ca, plan.connection.sources),
        (None, vec![])
    );

    value["connection"]["ca"] = json!("ca.pem");
    value["connection"]["sources"] = json!(["127.0.0.2", "::1"]);
    let plan = Plan::parse(&value.to_string()).expect("a plan");
    let connection = plan.connection;
    assert_eq!(connection.ca.as_deref(), Some("ca.pem"));
    let sources: Vec<String> = connection.sources.iter().map(IpAddr::to_string).collect();
    assert_eq!(sources, ["127.0.0.2", "::1"]);
}

#[test]
fn what_is_for_http_alone_is_refused_elsewhere_and_http_needs_an_address() {
    let http = |field: &str, value: Value| {
        refused(|plan| {
            plan["connection"] = json!({"protocol": "http", "url": "http://app"});
            plan["connection"][field] = value;
        })
    };
    assert_eq!(http("url", json!("")).field, "connection.url");
    assert_eq!(http("ca", json!("")).field, "connection.ca");
    let wrong = http("sources", json!(["127.0.0.2", "app.example"]));
    assert_eq!(wrong.field, "connection.sources[1]");
    let settings = json!({"work_mem": "1MB"});
    assert_eq!(http("settings", settings).field, "connection.settings");
    for (field, value) in [("ca", json!("ca.pem")), ("sources", json!(["127.0.0.2"]))] {
        let refusal = refused(|plan| plan["connection"][field] = value);
        assert_eq!(refusal.field, format!("connection.{field}"));
    }
}

#[test]
fn a_uniform_think_time_has_two_ends_in_their_order() {
    let with = |from_s: f64, to_s: f64| {
        let mut plan = example();
        plan["pacing"]["operations"]["noop"]["think"] =
            json!({"distribution": "uniform", "from_s": from_s, "to_s": to_s});
        Plan::parse(&plan.to_string())
    };
    let (from_s, to_s) = (1.0, 3.0);
    let plan = with(from_s, to_s).expect("a plan");
    let think = plan.pacing.operations["noop"].think;
    assert_eq!(think, Think::Uniform { from_s, to_s });
    assert!(with(2.0, 2.0).is_ok());
    for (from_s, to_s, field) in [(3.0, 1.0, "to_s"), (-1.0, 1.0, "from_s")] {
        let refusal = with(from_s, to_s).expect_err("a refusal");
        let expected = format!("pacing.operations.noop.think.{field}");
        assert_eq!(refusal.field, expected);
    }
}

#[test]
fn an_unknown_field_is_refused_wherever_it_is() {
    let places = [
        "",
        "/workload",
        "/connection",
        "/retry",
        "/pacing",
        "/pacing/default",
        "/phases/0",
        "/phases/0/load",
        "/phases/0/load/users",
        "/phases/1/load",
        "/phases/1/load/rate_per_s",
        "/pacing/operations/noop/think",
    ];
    for place in places {
        let refusal = refused(|plan| {
            plan.pointer_mut(place).expect("a place")["surprise"] = json!(1);
        });
        assert!(
            refusal.to_string().contains("surprise"),
            "{place}: {refusal}"
        );
        assert!(!refusal.to_string().contains('\n'), "{refusal}");
    }
}

#[test]
fn text_after_the_plan_is_refused() {
    assert!(Plan::parse(&format!("{} x", example())).is_err());
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z-]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,10}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// All places of a value, as JSON pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(map) => {
            map.iter()
                .for_each(|(key, inner)| places(inner, &format!("{at}/{key}"), found));
        }
        Value::Array(list) => {
            let inner = list.iter().enumerate();
            inner.for_each(|(index, inner)| places(inner, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,200}") {
        let _ = Plan::parse(&text);
    }

    #[test]
    fn no_cut_makes_the_parser_panic(cut in 0_usize..1000) {
        let text = example().to_string();
        let cut = cut.min(text.len() - 1);
        prop_assert!(Plan::parse(&text[..cut]).is_err());
    }

    #[test]
    fn what_is_accepted_keeps_its_promises(place in any::<prop::sample::Index>(), value in any_value()) {
        let mut plan = example();
        let mut found = Vec::new();
        places(&plan, "", &mut found);
        let place: &String = place.get(&found);
        *plan.pointer_mut(place).expect("a place") = value;
        match Plan::parse(&plan.to_string()) {
            Ok(plan) => {
                prop_assert!(plan.threads >= 1 && plan.tick_s > 0.0 && !plan.phases.is_empty());
                let endless = |phase: &&Phase| phase.duration_s.is_none();
                prop_assert!(plan.phases.iter().filter(endless).all(|phase| phase.load.sessions() > 0));
            }
            Err(refusal) => prop_assert!(!refusal.to_string().contains('\n')),
        }
    }
}

#[test]
fn users_are_divided_over_the_threads_of_all_processes() {
    for total in [0, 1, 7, 64, 1000] {
        let own = |index| {
            let mut value = example();
            value["process"] = json!({"index": index, "of": 3});
            Plan::parse(&value.to_string()).expect("a plan").own(total)
        };
        let parts: Vec<u32> = (0..3).map(own).collect();
        assert_eq!(parts.iter().sum::<u32>(), total);
        assert!(parts[0] - parts[2] <= 2, "{parts:?}");
    }
}

#[test]
fn a_process_or_a_grid_that_makes_no_sense_is_refused() {
    let refusal = refused(|plan| plan["process"] = json!({"index": 2, "of": 2}));
    assert_eq!(refusal.field, "process.index");
    let refusal = refused(|plan| plan["start"] = json!("later"));
    assert_eq!(refusal.field, "start");
    let refusal = refused(|plan| plan["pacing"]["default"]["every_s"] = json!(1.0));
    assert_eq!(refusal.field, "pacing.default.every_s");
    let refusal = refused(|plan| plan["pacing"]["operations"]["noop"] = json!({"every_s": 0.0}));
    assert_eq!(refusal.field, "pacing.operations.noop.every_s");
}
