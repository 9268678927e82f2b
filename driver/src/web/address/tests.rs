use serde_json::json;

use super::*;
use crate::plan::{Connection, Protocol};
use crate::random::Random;
use crate::web::scenario::Scenario;
use crate::web::value::Kept;

fn target() -> Target {
    let connection = Connection {
        protocol: Protocol::Http,
        url: "http://app:8080/base/".into(),
        ..Connection::default()
    };
    Target::new(&connection, &["static".into()]).expect("a target")
}

/// `id` is extracted in slot 0.
fn names() -> Names {
    let scenario: Scenario = serde_json::from_value(json!({
        "values": {"n": 7, "cdn": "https://static"},
        "transactions": [{"name": "t", "steps": [{"request": {
            "name": "r", "method": "GET", "url": "/",
            "extract": {"id": {"from": "json", "what": "$.id"}}}}]}],
    }))
    .expect("a scenario");
    Names::new(&scenario, None, target().text()).expect("names")
}

fn address(text: &str, query: &[(&str, &str)]) -> Result<Address, String> {
    let query = query.iter();
    let query: Vec<_> = query
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let address = Address::new(text, &names(), &target())?;
    address
        .with_query(&query, &names())
        .map_err(|(_, problem)| problem)
}

/// The address that is written when the extracted value is `id`, or the class of the failure.
fn written(text: &str, query: &[(&str, &str)], id: &str) -> String {
    let mut person = Person::new(0, Random::new(1, 0), 1);
    person.keep(0, Kept::from(id.to_owned()));
    let address = address(text, query).expect("read");
    match address.write(&target(), &mut person, None) {
        Ok(url) => url.as_str().to_owned(),
        Err(trouble) => trouble.class,
    }
}

#[test]
fn a_path_lies_below_the_target_whatever_its_values_are() {
    for (text, id, expected) in [
        ("/items", "", "http://app:8080/base/items"),
        ("/a b?q=1", "", "http://app:8080/base/a%20b?q=1"),
        ("${base}/items", "", "http://app:8080/base/items"),
        (
            "/${id}/x",
            "a/b?c#d",
            "http://app:8080/base/a%2Fb%3Fc%23d/x",
        ),
        ("/${id}/x", "", "http://app:8080/base//x"),
        ("/${n}/${id}", "@evil", "http://app:8080/base/7/%40evil"),
        ("//evil/x", "", "http://app:8080/base//evil/x"),
    ] {
        assert_eq!(written(text, &[], id), expected, "{text}");
    }
}

#[test]
fn a_value_at_the_begin_is_an_address() {
    for (text, id, expected) in [
        ("${id}", "/items/7?x=1", "http://app:8080/items/7?x=1"),
        ("${id}", "http://app:8080/x", "http://app:8080/x"),
        (
            "${id}/more/${id}",
            "https://static",
            "https://static/more/https%3A%2F%2Fstatic",
        ),
        ("${id}", "//evil/x", "foreign_host"),
        ("${id}", "http://evil/x", "foreign_host"),
        ("${id}", "javascript:void(0)", "foreign_host"),
        ("${id}", "http://[::1", "bad_url"),
        ("${id}", "http://me:pass@app:8080/", "bad_url"),
        ("http://${id}/x", "evil", "foreign_host"),
        ("http://${id}/x", "a:b", "bad_url"),
        ("http://${id}/x", "static", "http://static/x"),
    ] {
        assert_eq!(written(text, &[], id), expected, "{text} {id}");
    }
}

#[test]
fn a_query_is_added_to_that_of_the_address() {
    let query = [("q", "a b&${id}"), ("r", "")];
    for (text, expected) in [
        ("/x", "http://app:8080/base/x?q=a%20b%26%2F&r="),
        ("/x?", "http://app:8080/base/x?q=a%20b%26%2F&r="),
        ("/x?y=1#z", "http://app:8080/base/x?y=1&q=a%20b%26%2F&r=#z"),
        (
            "/${id}?y=1",
            "http://app:8080/base/%2F?y=1&q=a%20b%26%2F&r=",
        ),
    ] {
        assert_eq!(written(text, &query, "/"), expected, "{text}");
    }
    let fixed = address("/x?y=1", &[("n", "${n}")]).expect("read");
    assert_eq!(fixed.extracted().count(), 0);
    assert!(matches!(&fixed.whole, Whole::Fixed(url) if url.query() == Some("y=1&n=7")));
}

#[test]
fn hosts_are_looked_at_before_anything_begins() {
    for text in [
        "https://static/a",
        "${cdn}/a/${id}",
        "http://app:8080/${id}",
    ] {
        assert!(address(text, &[]).is_ok(), "{text}");
    }
    for (text, said) in [
        ("items", "neither a path"),
        ("", "neither a path"),
        ("ftp://app/x", "neither a path"),
        ("http:///", "neither a path"),
        ("https://evil/${id}", "name it in `hosts`"),
        ("http://app:81/", "name it in `hosts`"),
        ("http://me:hidden@app:8080/", "has a user or a password"),
        ("/${missing}", "is not known"),
    ] {
        let problem = address(text, &[]).expect_err(text);
        assert!(
            problem.contains(said) && !problem.contains("hidden"),
            "{text}: {problem}"
        );
    }
}

#[test]
fn a_value_that_is_missing_fails_the_request() {
    let mut person = Person::new(0, Random::new(1, 0), 1);
    let address = address("/x", &[("q", "${id}")]).expect("read");
    assert_eq!(address.extracted().collect::<Vec<_>>(), [("id", 0)]);
    let trouble = address.write(&target(), &mut person, None);
    assert_eq!(trouble.expect_err("missing").class, "no_value");
}
