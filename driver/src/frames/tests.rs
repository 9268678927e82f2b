use serde_json::{Value, json};

use super::*;
use crate::session::{Course, ErrorClass, RequestEnd, RequestName, RequestNotes};

fn names(requests: Vec<RequestName>) -> Names {
    Names {
        operations: vec!["log-in", "list"],
        requests,
    }
}

fn two_requests_of_the_list() -> Names {
    let operation = 1;
    names(vec![
        RequestName {
            operation,
            name: "list page",
        },
        RequestName {
            operation,
            name: "image",
        },
    ])
}

fn told(names: &Names, recorder: &Recorder) -> Value {
    serde_json::to_value(Operations { names, recorder }).expect("JSON")
}

fn end(outcome: Result<(), ErrorClass>, resent: Option<ErrorClass>) -> RequestEnd {
    RequestEnd {
        request: 0,
        begun_ns: 1_000,
        done_ns: 3_000,
        outcome,
        resent,
        course: Course::default(),
        notes: RequestNotes::default(),
    }
}

#[test]
fn operations_without_requests_say_nothing_of_any() {
    let told = told(&names(Vec::new()), &Recorder::new(2, 0));
    let expected = json!({"count": 0, "rolled_back": 0, "errors": {}, "retries": {}});
    assert_eq!(told, json!({"log-in": expected, "list": expected}));
}

#[test]
fn requests_are_told_below_their_operation_if_any_ended() {
    let names = two_requests_of_the_list();
    let mut recorder = Recorder::new(2, 2);
    let class = |name: &str| ErrorClass(name.into());
    recorder.request_ended(&end(Ok(()), Some(class("closed"))));
    recorder.request_ended(&end(Err(class("status_500")), None));
    let told = told(&names, &recorder);
    assert_eq!(told["log-in"].get("requests"), None);
    let requests = told["list"]["requests"].as_object().expect("requests");
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["list page"]);
    let page = &requests["list page"];
    assert_eq!(
        (&page["count"], &page["errors"], &page["resent"]),
        (&json!(1), &json!({"status_500": 1}), &json!({"closed": 1}))
    );
    assert!(
        page["service"]
            .as_str()
            .is_some_and(|text| text.starts_with("HIST"))
    );
}

#[test]
fn further_tries_and_marks_are_told_where_there_are_any() {
    let names = two_requests_of_the_list();
    let mut recorder = Recorder::new(2, 2);
    recorder.request_ended(&end(Ok(()), None));
    let without = &told(&names, &recorder)["list"]["requests"]["list page"];
    assert_eq!((without.get("retried"), without.get("marks")), (None, None));
    let of = |cached| RequestNotes {
        retried: vec![ErrorClass("status_503".into()); 2],
        marks: vec![("cached", cached), ("partial", false)],
    };
    for cached in [true, false, true] {
        let notes = of(cached);
        recorder.request_ended(&RequestEnd {
            notes,
            ..end(Ok(()), None)
        });
    }
    let page = &told(&names, &recorder)["list"]["requests"]["list page"];
    assert_eq!(page["retried"], json!({"status_503": 6}));
    assert_eq!(page["marks"], json!({"cached": 2, "partial": 0}));
}

#[test]
fn a_tick_in_which_no_request_ended_has_an_empty_object() {
    let told = told(&two_requests_of_the_list(), &Recorder::new(2, 2));
    assert_eq!(told["list"]["requests"], json!({}));
}

#[test]
fn totals_have_their_requests_beside_their_counts() {
    let count = |count| Count {
        count,
        errors: BTreeMap::new(),
    };
    let total = |requests| Total {
        all: count(7),
        requests,
    };
    let text = |total: Total<'_>| serde_json::to_value(total).expect("JSON");
    assert_eq!(text(total(None)), json!({"count": 7, "errors": {}}));
    let requests = Some([("list page", count(3))].into());
    assert_eq!(
        text(total(requests)),
        json!({"count": 7, "errors": {}, "requests": {"list page": {"count": 3, "errors": {}}}})
    );
}
