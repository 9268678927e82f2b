//! What an answer must be to count as good.

use regex::bytes::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;

use super::page::Page;
use super::scenario::ExpectPlan;
use super::trouble::Trouble;
use super::{json_path, trouble};

/// What is expected of the answers to one request.
#[derive(Debug)]
pub struct Expectation {
    /// None: any 2xx or 3xx.
    status: Box<[u16]>,
    texts: Box<[Text]>,
    json: Box<[Node]>,
    headers: Box<[Header]>,
}

/// A text that is in the body, or is not.
#[derive(Debug)]
struct Text {
    text: String,
    /// Finds the text; a pattern without operators is searched as fast as bytes can be.
    pattern: Regex,
    is_there: bool,
}

#[derive(Debug)]
struct Node {
    path: String,
    query: JsonPath,
    value: Value,
}

#[derive(Debug)]
struct Header {
    name: String,
    part: String,
}

impl Expectation {
    /// Reads what a plan expects.
    ///
    /// # Errors
    /// The field below `expect` that is wrong, and what is wrong with it.
    pub fn new(plan: &ExpectPlan) -> Result<Self, (String, String)> {
        let status = plan.status.clone().unwrap_or_default();
        if let Some(wrong) = status.iter().find(|status| !(200..=999).contains(*status)) {
            let problem = format!("{wrong} is not between 200 and 999");
            return Err(("status".into(), problem));
        }
        let mut texts = Vec::new();
        for (field, given, is_there) in [
            ("text", &plan.text, true),
            ("no_text", &plan.no_text, false),
        ] {
            for (index, text) in given.iter().enumerate() {
                let text = Text::new(text, is_there);
                texts.push(text.map_err(|problem| (format!("{field}[{index}]"), problem))?);
            }
        }
        let mut json = Vec::new();
        for (path, value) in &plan.json {
            let query = json_path::parse(path);
            json.push(Node {
                path: path.clone(),
                query: query.map_err(|problem| (format!("json.{path}"), problem))?,
                value: value.clone(),
            });
        }
        let headers = plan.header.iter().map(|(name, part)| Header {
            name: name.to_ascii_lowercase(),
            part: part.clone(),
        });
        Ok(Self {
            status: status.into(),
            texts: texts.into(),
            json: json.into(),
            headers: headers.collect(),
        })
    }

    /// Whether `page` is as it is expected.
    ///
    /// # Errors
    /// The first thing that is not.
    pub fn check(&self, page: &Page<'_>) -> Result<(), Trouble> {
        let status = page.status();
        let is_good = if self.status.is_empty() {
            (200..=399).contains(&status)
        } else {
            self.status.contains(&status)
        };
        if !is_good {
            let class = format!("status_{status}");
            return Err(Trouble::new(
                class,
                "an answer of this status is not expected",
            ));
        }
        self.check_headers(page)?;
        self.check_texts(page)?;
        self.check_json(page)
    }

    /// Whether all that is expected of `page` beside its status is so.
    pub fn holds_beyond_status(&self, page: &Page<'_>) -> bool {
        self.headers.iter().all(|header| header.is_in(page))
            && self.texts.iter().all(|text| text.holds(page))
            && self.json.iter().all(|node| node.is_in(page))
    }

    /// Whether anything is expected beside a status.
    pub fn has_more_than_status(&self) -> bool {
        !(self.headers.is_empty() && self.texts.is_empty() && self.json.is_empty())
    }

    fn check_headers(&self, page: &Page<'_>) -> Result<(), Trouble> {
        for header in &self.headers {
            if !header.is_in(page) {
                let Header { name, part } = header;
                return Err(trouble::check(format!("no header `{name}` has `{part}`")));
            }
        }
        Ok(())
    }

    fn check_texts(&self, page: &Page<'_>) -> Result<(), Trouble> {
        for text in &self.texts {
            if !text.holds(page) {
                let is = if text.is_there { "is not" } else { "is" };
                let problem = format!("`{}` {is} in the body", text.text);
                return Err(trouble::check(problem));
            }
        }
        Ok(())
    }

    fn check_json(&self, page: &Page<'_>) -> Result<(), Trouble> {
        for node in &self.json {
            if page.json().is_none() {
                return Err(trouble::check("the body is no JSON"));
            }
            if !node.is_in(page) {
                let Node { path, value, .. } = node;
                return Err(trouble::check(format!("nothing at `{path}` is {value}")));
            }
        }
        Ok(())
    }
}

impl Header {
    fn is_in(&self, page: &Page<'_>) -> bool {
        let mut values = page.headers(&self.name);
        values.any(|value| value.contains(&self.part))
    }
}

impl Node {
    fn is_in(&self, page: &Page<'_>) -> bool {
        page.json().is_some_and(|json| {
            let found = self.query.query(json).all();
            found.iter().any(|node| same(node, &self.value))
        })
    }
}

impl Text {
    fn holds(&self, page: &Page<'_>) -> bool {
        self.pattern.is_match(page.body()) == self.is_there
    }

    fn new(text: &str, is_there: bool) -> Result<Self, String> {
        if text.is_empty() {
            return Err("is empty; give the text to look for".into());
        }
        let pattern = Regex::new(&regex::escape(text)).map_err(|error| error.to_string())?;
        Ok(Self {
            text: text.to_owned(),
            pattern,
            is_there,
        })
    }
}

/// Whether two values of JSON are equal; 1 and 1.0 are.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one_number), Some(other_number)) => one == other || one_number == other_number,
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::web::testing::answer;

    fn expectation(plan: Value) -> Result<Expectation, (String, String)> {
        Expectation::new(&serde_json::from_value(plan).expect("a plan"))
    }

    /// The class of the failure, or an empty text.
    fn checked(plan: Value, given: &str) -> String {
        let answer = answer(given);
        let outcome = expectation(plan).expect("read").check(&Page::new(&answer));
        outcome.map_or_else(|trouble| trouble.class, |()| String::new())
    }

    #[test]
    fn any_success_or_redirect_is_good_unless_it_is_said() {
        for (plan, status, expected) in [
            (json!({}), "200 OK", ""),
            (json!({"status": []}), "302 Found", ""),
            (json!({}), "404 Not Found", "status_404"),
            (json!({"status": [404, 410]}), "404 Not Found", ""),
            (json!({"status": [404, 410]}), "200 OK", "status_200"),
        ] {
            let given = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            assert_eq!(checked(plan, &given), expected, "{status}");
        }
    }

    #[test]
    fn text_json_and_headers_are_looked_at() {
        let body = r#"{"ok": true, "items": [{"id": 1}, {"id": 2}], "mark": "a.b"}"#;
        let given = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        for (plan, is_good) in [
            (json!({"text": ["a.b", "items"]}), true),
            (json!({"text": ["items", "axb"]}), false),
            (json!({"no_text": ["axb"]}), true),
            (json!({"no_text": ["a.b"]}), false),
            (json!({"json": {"$.ok": true}}), true),
            (json!({"json": {"$.ok": "true"}}), false),
            (json!({"json": {"$.items[*].id": 2.0}}), true),
            (json!({"json": {"$.items[*].id": 3}}), false),
            (json!({"json": {"$.missing": null}}), false),
            (
                json!({"header": {"Content-Type": "application/json"}}),
                true,
            ),
            (json!({"header": {"Content-Type": "text/html"}}), false),
            (json!({"header": {"X-Missing": ""}}), false),
        ] {
            let expected = if is_good { "" } else { "check" };
            assert_eq!(checked(plan.clone(), &given), expected, "{plan}");
        }
    }

    #[test]
    fn a_body_that_is_no_json_fails_the_check_of_json() {
        let given = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<ok/>";
        assert_eq!(checked(json!({"json": {"$.ok": true}}), given), "check");
    }

    #[test]
    fn what_cannot_be_expected_is_named() {
        for (plan, field) in [
            (json!({"status": [200, 99]}), "status"),
            (json!({"text": ["a", ""]}), "text[1]"),
            (json!({"json": {"ok": true}}), "json.ok"),
        ] {
            assert_eq!(expectation(plan).expect_err("refused").0, field);
        }
    }
}
