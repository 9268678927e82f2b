//! What answers are counted by besides: each mark is one that an answer has or has not.

use std::collections::BTreeMap;

use super::expect::Expectation;
use super::operations::forever;
use super::page::Page;
use super::scenario::ExpectPlan;

/// The marks that answers to a request may have.
#[derive(Debug)]
pub struct Marks(Box<[(&'static str, Expectation)]>);

impl Marks {
    /// Reads marks.
    ///
    /// # Errors
    /// The field below `marks` that is wrong, and what is wrong with it.
    pub fn new(plans: &BTreeMap<String, ExpectPlan>) -> Result<Self, (String, String)> {
        let read = |(name, plan): (&String, &ExpectPlan)| {
            let answer = Expectation::new(plan);
            let answer = answer.map_err(|(field, problem)| (format!("{name}.{field}"), problem))?;
            if name.is_empty() || plan.status.is_some() || !answer.has_more_than_status() {
                let problem = "needs a name, and a value (json), a text or a header";
                return Err((name.clone(), problem.into()));
            }
            Ok((forever(name), answer))
        };
        plans.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Each mark, and whether `page` has it.
    pub fn of(&self, page: &Page<'_>) -> Vec<(&'static str, bool)> {
        let marks = self.0.iter();
        marks
            .map(|(name, answer)| (*name, answer.holds_beyond_status(page)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::web::testing::answer;

    fn marks(plans: Value) -> Result<Marks, (String, String)> {
        Marks::new(&serde_json::from_value(plans).expect("plans"))
    }

    #[test]
    fn an_answer_has_a_mark_or_has_it_not() {
        let marks = marks(json!({
            "cached": {"json": {"$.result[0].is_cached": true}},
            "hit": {"header": {"X-Cache": "HIT"}},
        }));
        let marks = marks.expect("read");
        let of = |header: &str, body: &str| {
            let length = body.len();
            let text = format!("HTTP/1.1 200 OK\r\n{header}Content-Length: {length}\r\n\r\n{body}");
            marks.of(&Page::new(&answer(&text)))
        };
        let cached = r#"{"result": [{"is_cached": true}]}"#;
        assert_eq!(
            of("x-cache: HIT from b\r\n", cached),
            [("cached", true), ("hit", true)]
        );
        let missed = r#"{"result": [{"is_cached": null}]}"#;
        assert_eq!(of("", missed), [("cached", false), ("hit", false)]);
        assert_eq!(of("X-Cache: MISS\r\n", "no JSON")[0], ("cached", false));
    }

    #[test]
    fn what_says_nothing_is_refused() {
        for (plans, field) in [
            (json!({"x": {}}), "x"),
            (json!({"x": {"status": [200], "text": ["a"]}}), "x"),
            (json!({"x": {"json": {"no path": 1}}}), "x.json.no path"),
        ] {
            assert_eq!(marks(plans).expect_err("refused").0, field);
        }
    }
}
