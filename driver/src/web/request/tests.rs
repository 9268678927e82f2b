use serde_json::{Value, json};

use super::*;
use crate::plan::{Connection, Protocol};
use crate::random::Random;
use crate::web::scenario::Scenario;
use crate::web::value::Kept;

fn target() -> Target {
    let connection = Connection {
        protocol: Protocol::Http,
        url: "http://app".into(),
        ..Connection::default()
    };
    Target::new(&connection, &[]).expect("a target")
}

/// Reads a request that has these fields beside its name and a plain address; `id` is extracted in slot 0.
fn read(fields: Value) -> Result<Request, Wrong> {
    let mut request = json!({"name": "r", "method": "POST", "url": "/x",
        "extract": {"id": {"from": "json", "what": "$.id"}}});
    let all = request.as_object_mut().expect("an object");
    all.extend(fields.as_object().expect("an object").clone());
    let scenario: Scenario = serde_json::from_value(json!({
        "headers": {"Accept-Language": "en", "X-Common": "${id}"},
        "transactions": [{"name": "t", "steps": [{"request": request}]}],
    }))
    .expect("a scenario");
    let names = Names::new(&scenario, None, "http://app").expect("names");
    let plan: RequestPlan = serde_json::from_value(request).expect("a request");
    Request::new(&plan, (0, "r"), &scenario.headers, &names, &target())
}

/// Headers and body as they are sent when the extracted value is `a b`.
fn sent(fields: Value) -> (Vec<String>, Option<(String, String)>) {
    let mut person = Person::new(0, Random::new(1, 0), 1);
    person.keep(0, Kept::from("a b".to_owned()));
    let request = read(fields).expect("read");
    let target = target();
    let prepared = request.prepare(&target, &mut person, None);
    let prepared = prepared.expect("prepared");
    let headers = prepared.headers.iter();
    let headers = headers.map(|(name, value)| format!("{name}: {value}"));
    let body = prepared.body.as_ref();
    let body = body.map(|(kind, text)| (kind.to_string(), text.to_string()));
    (headers.collect(), body)
}

#[test]
fn headers_of_the_scenario_are_sent_unless_the_request_has_them() {
    let (headers, body) = sent(json!({}));
    assert_eq!(headers, ["Accept-Language: en", "X-Common: a b"]);
    assert_eq!(body, None);
    let (headers, _) = sent(json!({"headers": {"x-common": "own", "X-More": "<${id}>"}}));
    assert_eq!(
        headers,
        ["Accept-Language: en", "X-More: <a b>", "x-common: own"]
    );
}

#[test]
fn a_body_has_the_type_of_its_form_unless_a_header_says_another() {
    for (fields, kind, text) in [
        (
            json!({"body": {"form": [["q", "${id}"], ["r", "&"]]}}),
            "application/x-www-form-urlencoded",
            "q=a+b&r=%26",
        ),
        (
            json!({"body": {"json": {"q": ["${id}", 1]}}}),
            "application/json",
            "{\"q\":[\"a b\",1]}",
        ),
        (
            json!({"body": {"raw": "<${id}>"}}),
            "text/plain; charset=utf-8",
            "<a b>",
        ),
        (
            json!({"body": {"raw": "<${id}/>"}, "headers": {"content-type": "text/xml"}}),
            "text/xml",
            "<a b/>",
        ),
    ] {
        let (headers, body) = sent(fields);
        assert_eq!(body, Some((kind.to_owned(), text.to_owned())));
        assert_eq!(headers, ["Accept-Language: en", "X-Common: a b"]);
    }
}

#[test]
fn what_it_needs_and_takes_is_known() {
    let request = read(json!({
        "url": "/${id}", "query": [["q", "${id}"]], "body": {"raw": "${id}"}, "redirects": "keep"
    }))
    .expect("read");
    assert_eq!(request.needs().count(), 4);
    assert!(
        request
            .needs()
            .all(|(name, slot)| name == "id" && slot == 0)
    );
    assert_eq!(request.extractions[0].slot(), 0);
    assert!(!request.follow);
}

#[test]
fn a_value_that_is_missing_fails_it() {
    let request = read(json!({})).expect("read");
    let mut person = Person::new(0, Random::new(1, 0), 1);
    let target = target();
    let trouble = request.prepare(&target, &mut person, None);
    assert_eq!(trouble.expect_err("missing").class, "no_value");
}

#[test]
fn what_is_wrong_is_named_by_its_field() {
    for (fields, field) in [
        (json!({"url": "x"}), "post"),
        (json!({"url": "/${missing}", "method": "get"}), "get"),
        (json!({"query": [["q", "${missing}"]]}), "query.q"),
        (json!({"headers": {"X-A": "a\nb"}}), "headers.X-A"),
        (json!({"headers": {"X A": "a"}}), "headers.X A"),
        (
            json!({"headers": {"Content-Length": "1"}}),
            "headers.Content-Length",
        ),
        (json!({"headers": {"x-a": "1", "X-A": "2"}}), "headers.x-a"),
        (json!({"body": {"form": [["f", "${missing}"]]}}), "form.f"),
        (json!({"body": {"json": ["${missing}"]}}), "json"),
        (json!({"body": {"raw": "${"}}), "body"),
        (json!({"expect": {"status": [1]}}), "expect.status"),
        (
            json!({"extract": {"id": {"from": "regex", "what": "("}}}),
            "extract.id",
        ),
    ] {
        let shown = fields.to_string();
        assert_eq!(read(fields).expect_err("refused").0, field, "{shown}");
    }
}
