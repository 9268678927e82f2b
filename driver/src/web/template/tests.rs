use serde_json::json;

use super::*;
use crate::random::Random;
use crate::web::scenario::Scenario;
use crate::web::value::Kept;

/// Names with values of all kinds: `n`, `list` and `name` are the same for all, `id` is extracted in slot 0.
fn names() -> Names {
    let scenario: Scenario = serde_json::from_value(json!({
        "values": {"n": 7, "list": [1, "b"], "name": "a b/c", "lines": "a\nb"},
        "transactions": [{"name": "t", "steps": [{"request": {
            "name": "r", "method": "GET", "url": "/",
            "extract": {"id": {"from": "json", "what": "$.id"}}}}]}],
    }))
    .expect("a scenario");
    Names::new(&scenario, None, "http://app:8080/base").expect("names")
}

fn person() -> Person {
    Person::new(3, Random::new(1, 3), 1)
}

fn template(text: &str, texts: Encoding, values: Encoding) -> Result<Template, String> {
    let names = names();
    let mut builder = Builder::new(&names);
    builder.template(text, texts, values)?;
    Ok(builder.finish())
}

/// A template as it is written in an address.
fn written(text: &str, person: &mut Person) -> Result<String, String> {
    let template = template(text, Encoding::Plain, Encoding::Percent)?;
    template.write(person, None).map(Cow::into_owned)
}

#[test]
fn values_are_written_in_their_place() {
    let mut person = person();
    person.keep(0, Kept::from("ü/1".to_owned()));
    for (text, expected) in [
        ("", ""),
        ("/a b", "/a b"),
        ("/${id}/x", "/%C3%BC%2F1/x"),
        ("/${ id }${n}", "/%C3%BC%2F17"),
        ("/${name}?q=${user}", "/a%20b%2Fc?q=3"),
        ("$${id} $$${n} $", "${id} $${n} $"),
        ("}{$n", "}{$n"),
    ] {
        assert_eq!(
            written(text, &mut person).as_deref(),
            Ok(expected),
            "{text}"
        );
    }
    let base = template("${base}/x", Encoding::Plain, Encoding::Plain).expect("read");
    assert_eq!(base.fixed(), Some("http://app:8080/base/x"));
}

#[test]
fn what_is_the_same_for_all_is_text() {
    let read = |text| template(text, Encoding::Plain, Encoding::Percent).expect("read");
    assert_eq!(read("/${n}/${name}").fixed(), Some("/7/a%20b%2Fc"));
    let live = read("/${n}/${id}/${user}");
    assert_eq!((live.fixed(), live.prefix()), (None, "/7/"));
    assert_eq!(live.extracted().collect::<Vec<_>>(), [("id", 0)]);
}

#[test]
fn a_name_that_is_unknown_or_open_is_said() {
    for (text, said) in [
        ("/${di}", "`${di}` is not known"),
        ("/${}", "`${}` is not known"),
        ("/${id", "has no `}` after it"),
    ] {
        let problem = written(text, &mut person()).expect_err("refused");
        assert!(problem.contains(said), "{problem}");
    }
}

#[test]
fn a_value_that_was_not_extracted_is_missing() {
    let problem = written("/${id}", &mut person()).expect_err("missing");
    assert_eq!(
        problem,
        "the value `id` was not extracted yet when it was used"
    );
}

#[test]
fn a_header_takes_no_line_break_from_anywhere() {
    let header = |text| template(text, Encoding::Header, Encoding::Header);
    assert!(header("a\r\nX: y").is_err());
    assert!(header("${lines}").is_err());
    let live = header("t ${id}").expect("read");
    let mut person = person();
    person.keep(0, Kept::from("a\r\nX: y".to_owned()));
    let problem = live.write(&mut person, None).expect_err("refused");
    assert!(
        problem.starts_with("the value `id` has a line break"),
        "{problem}"
    );
}

#[test]
fn unique_values_differ_and_are_those_of_the_seed() {
    let drawn = || {
        let mut person = person();
        written("${unique}-${unique}", &mut person).expect("written")
    };
    let first = drawn();
    assert_eq!(first, drawn());
    let (one, other) = first.split_once('-').expect("two");
    assert_ne!(one, other);
    assert!(one.len() == 16 && one.bytes().all(|byte| byte.is_ascii_hexdigit()));
}

#[test]
fn json_keeps_types_and_is_always_json() {
    let names = names();
    let body = json!({
        "whole": "${id}", "list": "${list}", "within": "<${id}> \"${name}\"", "user": "${user}",
        "plain": [1, null, true, "x\n", {}], "literal": "$${id}", "key ${n}": {}
    });
    let mut builder = Builder::new(&names);
    builder.json(&body).expect("read");
    let template = builder.finish();
    let mut person = person();
    person.keep(0, Kept::from(json!({"a": ["\"", 1.5]})));
    let text = template.write(&mut person, None).expect("written");
    let read: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        read,
        json!({
            "whole": {"a": ["\"", 1.5]}, "list": [1, "b"],
            "within": "<{\"a\":[\"\\\"\",1.5]}> \"a b/c\"", "user": "3",
            "plain": [1, null, true, "x\n", {}], "literal": "${id}", "key ${n}": {}
        })
    );
}

#[test]
fn pairs_are_encoded_names_and_all() {
    let names = names();
    let pairs = [
        ("q r".to_owned(), "a&b=${name}".to_owned()),
        ("q r".to_owned(), String::new()),
    ];
    for (encoding, expected) in [
        (Encoding::Percent, "q%20r=a%26b%3Da%20b%2Fc&q%20r="),
        (Encoding::Form, "q+r=a%26b%3Da+b%2Fc&q+r="),
    ] {
        let mut builder = Builder::new(&names);
        builder.pairs(&pairs, encoding).expect("read");
        assert_eq!(builder.finish().fixed(), Some(expected));
    }
    let wrong = [("b".to_owned(), "${missing}".to_owned())];
    let mut builder = Builder::new(&names);
    let (name, problem) = builder.pairs(&wrong, Encoding::Form).expect_err("refused");
    assert!(name == "b" && problem.contains("`${missing}`"));
}

#[test]
fn a_template_does_not_show_its_text() {
    let shown = format!(
        "{:?}",
        template("${name}", Encoding::Plain, Encoding::Plain).expect("read")
    );
    assert!(!shown.contains("a b"), "{shown}");
}
