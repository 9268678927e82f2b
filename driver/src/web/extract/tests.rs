use serde_json::json;

use super::*;
use crate::random::Random;
use crate::web::encoding::Encoding;
use crate::web::names::Source;
use crate::web::testing::answer;

fn extraction(plan: Value) -> Result<Extraction, String> {
    let plan: ExtractPlan = serde_json::from_value(plan).expect("a plan");
    Extraction::new("x", 0, &plan)
}

fn person(seed: u64) -> Person {
    Person::new(0, Random::new(seed, 0), 1)
}

/// The value that was taken, as JSON.
fn taken(plan: Value, given: &str, person: &mut Person) -> Result<String, Trouble> {
    let answer = answer(given);
    let browser = Browser::new(0);
    let extraction = extraction(plan).expect("read");
    extraction.take(&Page::new(&answer), &browser, person)?;
    let mut out = String::new();
    person
        .write(Source::Extracted(0), Encoding::JsonValue, None, &mut out)
        .expect("kept");
    Ok(out)
}

fn page(headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

#[test]
fn values_come_from_forms_json_headers_and_patterns() {
    let html = page(
        "Location: /items/7\r\n",
        "<input name=csrf value='a&amp;b'><p data-key=\"k1\"><p data-key=\"k2\">",
    );
    let json = page("", r#"{"items": [{"id": 1}, {"id": "two"}, {"id": null}]}"#);
    for (plan, given, expected) in [
        (json!({"from": "form", "what": "csrf"}), &html, "\"a&b\""),
        (
            json!({"from": "header", "what": "Location"}),
            &html,
            "\"/items/7\"",
        ),
        (
            json!({"from": "regex", "what": "data-key=\"([^\"]+)\""}),
            &html,
            "\"k1\"",
        ),
        (
            json!({"from": "regex", "what": "k[0-9]", "pick": "last"}),
            &html,
            "\"k2\"",
        ),
        (
            json!({"from": "regex", "what": "k[0-9]", "pick": "all"}),
            &html,
            "[\"k1\",\"k2\"]",
        ),
        (json!({"from": "json", "what": "$.items[*].id"}), &json, "1"),
        (
            json!({"from": "json", "what": "$.items[1].id"}),
            &json,
            "\"two\"",
        ),
        (
            json!({"from": "json", "what": "$.items[*].id", "pick": "last"}),
            &json,
            "null",
        ),
        (
            json!({"from": "json", "what": "$.items[*].id", "pick": "all"}),
            &json,
            "[1,\"two\",null]",
        ),
        (
            json!({"from": "json", "what": "$.items[0]"}),
            &json,
            "{\"id\":1}",
        ),
    ] {
        let shown = plan.to_string();
        assert_eq!(
            taken(plan, given, &mut person(1)).as_deref(),
            Ok(expected),
            "{shown}"
        );
    }
}

#[test]
fn a_value_that_is_missing_is_the_default_or_a_failure() {
    let given = page("", "no JSON, no form");
    for place in ["form", "json", "header", "cookie", "regex"] {
        for pick in ["first", "last", "random", "all"] {
            let plan = json!({"from": place, "what": "$", "pick": pick});
            let plan = if place == "regex" {
                json!({"from": place, "what": "[0-9]", "pick": pick})
            } else {
                plan
            };
            let trouble = taken(plan.clone(), &given, &mut person(1)).expect_err("missing");
            assert_eq!(trouble.class, "no_value", "{plan}");
            for (default, expected) in [(json!(""), "\"\""), (json!(null), "null")] {
                let mut plan = plan.clone();
                plan["default"] = default;
                plan["has_default"] = json!(true);
                assert_eq!(taken(plan, &given, &mut person(1)).as_deref(), Ok(expected));
            }
        }
    }
}

#[test]
fn random_picks_are_those_of_the_seed() {
    let given = page("", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]");
    let plan = json!({"from": "json", "what": "$[*]", "pick": "random"});
    let drawn = |seed| -> Vec<String> {
        let mut person = person(seed);
        (0..50)
            .map(|_| taken(plan.clone(), &given, &mut person).expect("taken"))
            .collect()
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
    let mut seen = drawn(1);
    seen.sort();
    seen.dedup();
    assert!(seen.len() > 5, "{seen:?}");
}

#[test]
fn a_pattern_or_path_that_is_none_is_said_in_one_line() {
    for (plan, said) in [
        (json!({"from": "regex", "what": "(a"}), "unclosed group"),
        (json!({"from": "json", "what": "items"}), "is no JSON path"),
        (json!({"from": "form", "what": ""}), "is empty"),
    ] {
        let problem = extraction(plan).expect_err("refused");
        assert!(
            problem.contains(said) && problem.lines().count() == 1,
            "{problem}"
        );
    }
}
