//! What is kept of an answer: who asked, with which values, and what was answered. Never a secret.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::names::Names;
use super::people::People;
use super::person::Person;
use super::template::{Builder, Template, names_in};
use crate::kept::{Draw, KeptAnswers, Line, as_json};
use crate::session::Failure;

const USERNAME: &str = "username";

/// How the answers to a request are sampled.
#[derive(Debug)]
pub struct Sample {
    /// Its number among those of [`KeptAnswers`].
    number: usize,
    /// Column of the users' names.
    username: Option<usize>,
    /// JSON: the values that the request is made with.
    values: Template,
    /// What is handed over with the request, without secrets.
    body: Option<ShownBody>,
}

/// What is handed over with a request, as it may be shown.
#[derive(Debug)]
pub struct ShownBody {
    /// Writes it.
    pub template: Template,
    /// Whether it is JSON; else it is told as a text.
    pub is_json: bool,
}

/// An answer to be kept.
#[derive(Debug)]
pub struct Kept<'a> {
    /// The operation and the request.
    pub names: (&'a str, &'a str),
    /// When it was there.
    pub done_ns: u64,
    /// What was answered, as far as it may be kept.
    pub answer: &'a [u8],
    /// Length of all that was answered.
    pub bytes: usize,
}

impl Sample {
    /// The sample of a request whose texts are `texts`. Names that may stand for secrets are left out.
    ///
    /// # Errors
    /// What is wrong with a text, in words.
    pub fn new(
        number: usize,
        texts: &[&str],
        body: Option<ShownBody>,
        names: &Names,
        people: Option<&People>,
    ) -> Result<Self, String> {
        let mut used = BTreeSet::new();
        for text in texts {
            used.extend(names_in(text)?);
        }
        let telling = used.into_iter().filter(|name| names.is_telling(name));
        let values = telling.map(|name| (name.to_owned(), Value::from(format!("${{{name}}}"))));
        let mut builder = Builder::new(names);
        builder.json(&Value::Object(values.collect::<Map<_, _>>()))?;
        let columns = people.iter().flat_map(|people| people.columns());
        Ok(Self {
            number,
            username: columns.into_iter().position(|column| column == USERNAME),
            values: builder.finish(),
            body,
        })
    }

    /// Draws the number of an answer; none if it is not among those that are kept.
    pub fn draw(&self, kept: &KeptAnswers, person: &mut Person) -> Option<Draw> {
        let draw = Draw::new(person.random().unit());
        kept.wants(self.number, draw).then_some(draw)
    }

    /// Keeps an answer.
    ///
    /// # Errors
    /// A failure if it cannot be written.
    pub fn keep(
        &self,
        kept: &KeptAnswers,
        draw: Draw,
        answer: &Kept<'_>,
        person: &mut Person,
        people: Option<&People>,
    ) -> Result<(), Failure> {
        // What the request was made with is there.
        let values = self.values.write(person, people);
        let values = values.as_deref().unwrap_or("{}");
        let body = self
            .body
            .as_ref()
            .and_then(|body| body.json(person, people));
        let column = self.username.zip(people);
        let (operation, request) = answer.names;
        let line = Line {
            draw,
            done_ns: answer.done_ns,
            user: person.user(),
            username: column.map(|(column, people)| people.cell(person.user(), column)),
            operation,
            request,
            values,
            body: body.as_deref(),
            answer: as_json(answer.answer).filter(|text| text.len() == answer.bytes),
            bytes: answer.bytes,
        };
        kept.keep(self.number, &line)
    }
}

impl ShownBody {
    fn json(&self, person: &mut Person, people: Option<&People>) -> Option<String> {
        let text = self.template.write(person, people).ok()?;
        Some(if self.is_json {
            text.into_owned()
        } else {
            Value::from(&*text).to_string()
        })
    }
}
