//! An answer as checks and extractions read it. Nothing is parsed before it is asked for.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;

use crate::http::Answer;

/// An answer, with what was read from its body.
pub struct Page<'a> {
    answer: &'a Answer,
    text: OnceCell<Cow<'a, str>>,
    json: OnceCell<Option<Value>>,
}

impl<'a> Page<'a> {
    /// A page of which nothing was read.
    pub fn new(answer: &'a Answer) -> Self {
        Self {
            answer,
            text: OnceCell::new(),
            json: OnceCell::new(),
        }
    }

    /// The status of the answer.
    pub fn status(&self) -> u16 {
        self.answer.status
    }

    /// The bytes of the body.
    pub fn body(&self) -> &'a [u8] {
        &self.answer.body
    }

    /// The body as text; what is no UTF-8 is replaced.
    pub fn text(&self) -> &str {
        self.text
            .get_or_init(|| String::from_utf8_lossy(self.body()))
    }

    /// The body as JSON, if it is JSON.
    pub fn json(&self) -> Option<&Value> {
        self.json
            .get_or_init(|| serde_json::from_slice(self.body()).ok())
            .as_ref()
    }

    /// The values of the headers `name`, in their order.
    pub fn headers<'p>(&'p self, name: &'p str) -> impl Iterator<Item = Cow<'p, str>> {
        let values = self.answer.headers.get_all(name);
        values.map(String::from_utf8_lossy)
    }
}
