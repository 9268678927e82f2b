//! Texts with values in them, as `/items?page=${page}`, read once and written for each request.

use std::borrow::Cow;
use std::fmt::{Debug, Formatter};

use serde_json::Value;

use super::encoding::Encoding;
use super::names::{Meaning, Names, Source};
use super::people::People;
use super::person::Person;
use super::value::Shown;

/// A text with values in it. What is the same for all users is part of the text.
pub struct Template {
    parts: Box<[Part]>,
}

/// Behind the name of a value in SQL: its text is part of the statement.
const VERBATIM: &str = ":sql";

enum Part {
    Text(Box<str>),
    Value {
        name: Box<str>,
        source: Source,
        encoding: Encoding,
    },
}

impl Template {
    /// Writes it for `person`.
    ///
    /// # Errors
    /// Which value is missing or cannot stand here, in words.
    pub fn write<'t>(
        &'t self,
        person: &mut Person,
        people: Option<&People>,
    ) -> Result<Cow<'t, str>, String> {
        if let Some(text) = self.fixed() {
            return Ok(Cow::Borrowed(text));
        }
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Value {
                    name,
                    source,
                    encoding,
                } => person
                    .write(*source, *encoding, people, &mut out)
                    .map_err(|problem| format!("the value `{name}` {problem}"))?,
            }
        }
        Ok(Cow::Owned(out))
    }

    /// The whole text, if it is the same for all.
    pub fn fixed(&self) -> Option<&str> {
        match &*self.parts {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text before the first value.
    pub fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// The extracted and picked values that it has: name and slot.
    pub fn extracted(&self) -> impl Iterator<Item = (&str, usize)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value {
                name,
                source: Source::Extracted(slot) | Source::Picked(slot),
                ..
            } => Some((&**name, *slot)),
            _ => None,
        })
    }
}

impl Debug for Template {
    /// Secrets are part of the text.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "Template of {} parts", self.parts.len())
    }
}

/// Reads templates.
pub struct Builder<'n> {
    names: &'n Names,
    parts: Vec<Part>,
    /// The text after the last part.
    text: String,
}

impl<'n> Builder<'n> {
    /// An empty template whose names are `names`.
    pub fn new(names: &'n Names) -> Self {
        Self {
            names,
            parts: Vec::new(),
            text: String::new(),
        }
    }

    /// Adds a text that has no values.
    pub fn literal(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a template: its own text is written by `texts`, the values in it by `values`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn template(
        &mut self,
        template: &str,
        texts: Encoding,
        values: Encoding,
    ) -> Result<(), String> {
        for piece in pieces(template)? {
            match piece {
                Piece::Text(text) => texts
                    .write(Shown::Text(text), &mut self.text)
                    .map_err(|problem| format!("it {problem}"))?,
                Piece::Name(name) => self.value(name, values)?,
            }
        }
        Ok(())
    }

    /// Adds names and values, joined as in a query or an urlencoded form.
    ///
    /// # Errors
    /// The name of the pair that is wrong, and what is wrong with it.
    pub fn pairs(
        &mut self,
        pairs: &[(String, String)],
        encoding: Encoding,
    ) -> Result<(), (String, String)> {
        for (index, (name, value)) in pairs.iter().enumerate() {
            if index > 0 {
                self.literal("&");
            }
            self.pair(name, value, encoding)
                .map_err(|problem| (name.clone(), problem))?;
        }
        Ok(())
    }

    fn pair(&mut self, name: &str, value: &str, encoding: Encoding) -> Result<(), String> {
        self.template(name, encoding, encoding)?;
        self.literal("=");
        self.template(value, encoding, encoding)
    }

    /// Adds JSON whose strings are templates. A string that is one value only becomes that value.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn json(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::String(text) => self.json_text(text),
            Value::Array(items) => {
                self.literal("[");
                for (index, item) in items.iter().enumerate() {
                    self.literal(if index > 0 { "," } else { "" });
                    self.json(item)?;
                }
                self.literal("]");
                Ok(())
            }
            Value::Object(fields) => {
                self.literal("{");
                for (index, (name, item)) in fields.iter().enumerate() {
                    self.literal(if index > 0 { "," } else { "" });
                    self.literal(&Shown::Text(name).json());
                    self.literal(":");
                    self.json(item)?;
                }
                self.literal("}");
                Ok(())
            }
            other => {
                self.literal(&other.to_string());
                Ok(())
            }
        }
    }

    fn json_text(&mut self, text: &str) -> Result<(), String> {
        if let [Piece::Name(name)] = *pieces(text)? {
            return self.value(name, Encoding::JsonValue);
        }
        self.literal("\"");
        self.template(text, Encoding::JsonText, Encoding::JsonText)?;
        self.literal("\"");
        Ok(())
    }

    fn value(&mut self, name: &str, encoding: Encoding) -> Result<(), String> {
        let (name, encoding) = match (encoding, name.strip_suffix(VERBATIM)) {
            (Encoding::Sql(_), Some(name)) => (name, Encoding::Plain),
            _ => (name, encoding),
        };
        match self.names.find(name)? {
            Meaning::Fixed(value) => encoding
                .write(Shown::from(value), &mut self.text)
                .map_err(|problem| format!("the value `{name}` {problem}")),
            Meaning::Live(source) => {
                self.end_text();
                self.parts.push(Part::Value {
                    name: name.into(),
                    source: *source,
                    encoding,
                });
                Ok(())
            }
        }
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.parts.push(Part::Text(text.into()));
        }
    }

    /// The template that was read.
    pub fn finish(mut self) -> Template {
        self.end_text();
        Template {
            parts: self.parts.into(),
        }
    }
}

enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
}

/// The pieces of a template, none of them empty; `$${` is a `${` that is none.
fn pieces(template: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, opened)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            pieces.extend([Piece::Text(before), Piece::Text("${")]);
            rest = opened;
            continue;
        }
        let (name, after) = opened.split_once('}').ok_or(
            "a `${` has no `}` after it; close it, or write `$${` where no value is meant",
        )?;
        pieces.extend([Piece::Text(before), Piece::Name(name.trim())]);
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    pieces.retain(|piece| !matches!(piece, Piece::Text("")));
    Ok(pieces)
}

/// The names of the values in a template.
///
/// # Errors
/// What is wrong with it, in words.
pub fn names_in(template: &str) -> Result<impl Iterator<Item = &str>, String> {
    let pieces = pieces(template)?.into_iter();
    Ok(pieces.filter_map(|piece| match piece {
        Piece::Text(_) => None,
        Piece::Name(name) => Some(name.strip_suffix(VERBATIM).unwrap_or(name)),
    }))
}

#[cfg(test)]
mod tests;
