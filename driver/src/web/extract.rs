//! Values taken from answers.

use std::borrow::Cow;

use regex::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;

use super::page::Page;
use super::person::Person;
use super::scenario::{ExtractPlan, Pick, Place};
use super::trouble::{self, Trouble};
use super::value::Kept;
use super::{forms, json_path};
use crate::http::Browser;

/// How one value is taken from the answers to one request.
#[derive(Debug)]
pub struct Extraction {
    name: String,
    slot: usize,
    place: Finder,
    pick: Pick,
    default: Option<Kept>,
}

#[derive(Debug)]
enum Finder {
    Form(String),
    Json(JsonPath),
    Header(String),
    Cookie(String),
    Regex(Regex),
}

impl Extraction {
    /// Reads how value `name`, which is kept in `slot`, is taken.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn new(name: &str, slot: usize, plan: &ExtractPlan) -> Result<Self, String> {
        let what = &plan.what;
        if what.is_empty() {
            return Err("is empty; say what is taken from the answer".into());
        }
        let place = match plan.from {
            Place::Form => Finder::Form(what.clone()),
            Place::Json => Finder::Json(json_path::parse(what)?),
            Place::Header => Finder::Header(what.to_ascii_lowercase()),
            Place::Cookie => Finder::Cookie(what.clone()),
            Place::Regex => Finder::Regex(regex(what)?),
        };
        Ok(Self {
            name: name.to_owned(),
            slot,
            place,
            pick: plan.pick,
            default: plan.has_default.then(|| plan.default.clone().into()),
        })
    }

    /// The slot that the value is kept in.
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// Takes the value from `page`, or a cookie from `browser`; `person` keeps it.
    ///
    /// # Errors
    /// That there is none, and no default.
    pub fn take(
        &self,
        page: &Page<'_>,
        browser: &Browser,
        person: &mut Person,
    ) -> Result<(), Trouble> {
        let found = self.find(page, browser, person);
        match found.or_else(|| self.default.clone()) {
            Some(value) => {
                person.keep(self.slot, value);
                Ok(())
            }
            None => Err(trouble::no_value(format!(
                "the answer has no value `{}`",
                self.name
            ))),
        }
    }

    fn find(&self, page: &Page<'_>, browser: &Browser, person: &mut Person) -> Option<Kept> {
        let most = if self.pick == Pick::First {
            1
        } else {
            usize::MAX
        };
        let texts = match &self.place {
            Finder::Json(path) => return self.find_json(path, page.json()?, person),
            Finder::Form(name) => forms::find(page.body(), name, most),
            Finder::Header(name) => {
                let values = page.headers(name).take(most);
                values.map(Cow::into_owned).collect()
            }
            Finder::Cookie(name) => browser.cookie(name).into_iter().collect(),
            Finder::Regex(regex) => matches(regex, page.text(), most),
        };
        let picked = person.pick(self.pick, texts.len())?;
        if self.pick == Pick::All {
            return Some(Value::from(texts).into());
        }
        texts.into_iter().nth(picked).map(Kept::from)
    }

    fn find_json(&self, path: &JsonPath, json: &Value, person: &mut Person) -> Option<Kept> {
        let nodes = path.query(json).all();
        let picked = person.pick(self.pick, nodes.len())?;
        if self.pick == Pick::All {
            let all: Vec<Value> = nodes.into_iter().cloned().collect();
            return Some(Value::from(all).into());
        }
        nodes.get(picked).map(|node| Kept::from((*node).clone()))
    }
}

/// Group 1 of each match, or the whole match where there is no group.
fn matches(regex: &Regex, text: &str, most: usize) -> Vec<String> {
    let found = regex.captures_iter(text).take(most);
    found
        .filter_map(|captures| {
            let group = usize::from(captures.len() > 1);
            captures.get(group).map(|group| group.as_str().to_owned())
        })
        .collect()
}

fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| {
        // The library draws the place of the error below the pattern; the last line says what it is.
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default();
        let why = last.trim().trim_start_matches("error: ");
        format!("is no regular expression ({why})")
    })
}

#[cfg(test)]
mod tests;
