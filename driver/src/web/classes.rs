//! Classes of errors that a scenario has of its own: what an answer is that is no good.

use url::Url;

use super::expect::Expectation;
use super::options::ClassPlan;
use super::page::Page;
use super::target::Target;
use super::trouble::Trouble;
use crate::parameters::refuse;
use crate::plan::Refusal;
use crate::session::OperationId;

const LONGEST_NAME: usize = 60;

/// The classes of a scenario, in their order.
#[derive(Debug, Default)]
pub struct Classes(Box<[Class]>);

#[derive(Debug)]
struct Class {
    name: Box<str>,
    statuses: Box<[u16]>,
    answer: Expectation,
    /// How the address begins to which a redirect led.
    location: Option<Url>,
    /// None: all.
    operations: Box<[OperationId]>,
}

/// Where an answer came from.
#[derive(Debug, Clone, Copy)]
pub struct Landing<'a> {
    /// Its address.
    pub url: &'a Url,
    /// Whether a redirect led there.
    pub redirected: bool,
}

impl Classes {
    /// Reads classes; `operations` are the names of all, by [`OperationId`].
    ///
    /// # Errors
    /// A [`Refusal`] of the first field that is wrong.
    pub fn new(
        plans: &[ClassPlan],
        operations: &[&'static str],
        target: &Target,
    ) -> Result<Self, Refusal> {
        let mut classes = Vec::with_capacity(plans.len());
        for (index, plan) in plans.iter().enumerate() {
            let class = Class::new(plan, operations, target);
            let class = class.and_then(|class| {
                let twice = classes.iter().any(|other: &Class| other.name == class.name);
                let problem = "is the name of another class; choose another";
                if twice {
                    Err(("name".into(), problem.into()))
                } else {
                    Ok(class)
                }
            });
            classes.push(class.map_err(|(field, problem)| {
                refuse(&format!("scenario.classes[{index}].{field}"), problem)
            })?);
        }
        Ok(Self(classes.into()))
    }

    /// Whether an answer within `operation` is of none of the classes.
    ///
    /// # Errors
    /// The first of the classes that it is of.
    pub fn check(
        &self,
        operation: OperationId,
        page: &Page<'_>,
        landing: Landing<'_>,
    ) -> Result<(), Trouble> {
        let mut classes = self.0.iter();
        match classes.find(|class| class.holds(operation, page, landing)) {
            None => Ok(()),
            Some(class) => {
                let status = page.status();
                let words = format!("an answer of the status {status} is of this class");
                Err(Trouble::new(&*class.name, words))
            }
        }
    }
}

impl Class {
    fn new(
        plan: &ClassPlan,
        operations: &[&'static str],
        target: &Target,
    ) -> Result<Self, (String, String)> {
        check_name(&plan.name).map_err(|problem| ("name".into(), problem.into()))?;
        let answer = Expectation::new(&plan.answer)?;
        let location = plan.location.as_ref().map(|location| target.join(location));
        if location == Some(None) {
            return Err((
                "location".into(),
                "is no address; write a path, as /login".into(),
            ));
        }
        let statuses = plan.answer.status.clone().unwrap_or_default();
        if statuses.is_empty() && location.is_none() && !answer.has_more_than_status() {
            let problem =
                "says nothing of the answer; give a status, text, header, json or location";
            return Err(("name".into(), problem.into()));
        }
        let numbers = plan.operations.iter().enumerate().map(|(index, name)| {
            let found = operations.iter().position(|own| own == name);
            found.ok_or_else(|| {
                let problem =
                    format!("`{name}` is no operation; give a transaction, log-in or log-out");
                (format!("operations[{index}]"), problem)
            })
        });
        Ok(Self {
            name: plan.name.as_str().into(),
            statuses: statuses.into(),
            answer,
            location: location.flatten(),
            operations: numbers.collect::<Result<_, _>>()?,
        })
    }

    /// What is cheap to look at comes first.
    fn holds(&self, operation: OperationId, page: &Page<'_>, landing: Landing<'_>) -> bool {
        (self.operations.is_empty() || self.operations.contains(&operation))
            && (self.statuses.is_empty() || self.statuses.contains(&page.status()))
            && self.leads_there(page, landing)
            && self.answer.holds_beyond_status(page)
    }

    /// Whether a redirect led to its location: one that was followed, or the answer itself.
    fn leads_there(&self, page: &Page<'_>, landing: Landing<'_>) -> bool {
        let Some(location) = &self.location else {
            return true;
        };
        let begins = |url: &Url| url.as_str().starts_with(location.as_str());
        if landing.redirected && begins(landing.url) {
            return true;
        }
        let is_redirect = (300..400).contains(&page.status());
        let kept = is_redirect
            .then(|| page.headers("location").next())
            .flatten();
        kept.and_then(|to| landing.url.join(&to).ok())
            .is_some_and(|url| begins(&url))
    }
}

/// A class is told beside those of the driver: it has a word as they have.
fn check_name(name: &str) -> Result<(), &'static str> {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_word) {
        return if name.len() > LONGEST_NAME {
            Err("is longer than 60 letters")
        } else {
            Ok(())
        };
    }
    Err("is no name of a class; write small letters, digits and _, as session_expired")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::plan::{Connection, Protocol};
    use crate::web::testing::answer;

    const OPERATIONS: [&str; 2] = ["log-in", "list"];

    fn target() -> Target {
        let connection = Connection {
            protocol: Protocol::Http,
            url: "http://app/base".into(),
            ..Connection::default()
        };
        Target::new(&connection, &[]).expect("a target")
    }

    fn classes(plans: Value) -> Result<Classes, Refusal> {
        let plans: Vec<ClassPlan> = serde_json::from_value(plans).expect("plans");
        Classes::new(&plans, &OPERATIONS, &target())
    }

    /// The class of an answer, or an empty text.
    fn class_of(classes: &Classes, operation: usize, given: &str, from: (&str, bool)) -> String {
        let answer = answer(given);
        let url = Url::parse(from.0).expect("an address");
        let landing = Landing {
            url: &url,
            redirected: from.1,
        };
        let checked = classes.check(operation, &Page::new(&answer), landing);
        checked.map_or_else(|trouble| trouble.class, |()| String::new())
    }

    fn told(status: &str, header: &str, body: &str) -> String {
        let length = body.len();
        format!("HTTP/1.1 {status}\r\n{header}Content-Length: {length}\r\n\r\n{body}")
    }

    #[test]
    fn the_first_class_of_which_all_holds_counts() {
        let classes = classes(json!([
            {"name": "csrf_expired", "answer": {"status": [400], "text": ["CSRF"]}},
            {"name": "rate_limited", "answer": {"status": [429]}},
            {"name": "slow_down", "answer": {"header": {"Retry-After": ""}}},
            {"name": "failed_query", "answer": {"json": {"$.error": "no"}}},
        ]))
        .expect("read");
        let here = ("http://app/x", false);
        for (given, class) in [
            (
                told("400 Bad", "", "The CSRF token has expired"),
                "csrf_expired",
            ),
            (told("400 Bad", "", "another"), ""),
            (told("200 OK", "", "CSRF"), ""),
            (told("429 No", "Retry-After: 5\r\n", ""), "rate_limited"),
            (told("200 OK", "Retry-After: 5\r\n", ""), "slow_down"),
            (told("200 OK", "", r#"{"error": "no"}"#), "failed_query"),
            (told("200 OK", "", r#"{"error": null}"#), ""),
            (told("200 OK", "", "no JSON"), ""),
        ] {
            assert_eq!(class_of(&classes, 1, &given, here), class, "{given}");
        }
    }

    #[test]
    fn a_location_is_one_that_a_redirect_led_to() {
        let classes = classes(json!([
            {"name": "log_in_refused", "location": "/login", "operations": ["log-in"]},
            {"name": "session_expired", "location": "/login"},
        ]))
        .expect("read");
        let page = told("200 OK", "", "");
        let class =
            |operation, url, redirected| class_of(&classes, operation, &page, (url, redirected));
        assert_eq!(class(0, "http://app/login/", true), "log_in_refused");
        assert_eq!(
            class(1, "http://app/login/?next=%2F", true),
            "session_expired"
        );
        assert_eq!(class(1, "http://app/login/", false), "", "it was asked for");
        assert_eq!(class(1, "http://app/home", true), "");
        assert_eq!(class(1, "http://other/login", true), "", "another host");
        let kept = |to: &str| told("302 Found", &format!("Location: {to}\r\n"), "");
        let of_kept = |to| class_of(&classes, 1, &kept(to), ("http://app/base/x", false));
        assert_eq!(of_kept("/login?a"), "session_expired");
        assert_eq!(of_kept("http://app/login"), "session_expired");
        assert_eq!(of_kept("login"), "");
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_its_field() {
        for (plans, field) in [
            (json!([{"name": "Big", "location": "/"}]), "[0].name"),
            (json!([{"name": "", "location": "/"}]), "[0].name"),
            (
                json!([{"name": "x".repeat(61), "location": "/"}]),
                "[0].name",
            ),
            (json!([{"name": "nothing"}]), "[0].name"),
            (
                json!([{"name": "a", "location": "http://"}]),
                "[0].location",
            ),
            (
                json!([{"name": "a", "answer": {"text": [""]}}]),
                "[0].text[0]",
            ),
            (
                json!([{"name": "a", "answer": {"status": [1]}}]),
                "[0].status",
            ),
            (
                json!([{"name": "a", "location": "/", "operations": ["dance"]}]),
                "[0].operations[0]",
            ),
            (
                json!([{"name": "a", "location": "/"}, {"name": "a", "location": "/b"}]),
                "[1].name",
            ),
        ] {
            let refusal = classes(plans).expect_err("refused");
            let expected = format!("workload.parameters.scenario.classes{field}");
            assert_eq!(refusal.field, expected, "{refusal}");
        }
    }
}
