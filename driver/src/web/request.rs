//! A request of a scenario, read once, and as it is made for a user.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{Debug, Formatter};

use serde_json::Value;
use url::Url;

use super::address::Address;
use super::encoding::Encoding;
use super::expect::Expectation;
use super::extract::Extraction;
use super::marks::Marks;
use super::names::Names;
use super::people::People;
use super::person::Person;
use super::sample::{Sample, ShownBody};
use super::scenario::{BodyPlan, ExpectPlan, Redirects, RequestPlan, Verb};
use super::target::Target;
use super::template::{Builder, Template};
use super::tries::Tries;
use super::trouble::{self, Trouble};
use crate::http::{self, Method, Validators};
use crate::session::RequestId;

/// Headers that follow from the body.
const OWN: [&str; 2] = ["content-length", "transfer-encoding"];
const CONTENT_TYPE: &str = "content-type";

/// What is wrong with a request: the field below it, and what is wrong, in words.
pub type Wrong = (String, String);

/// A request of a scenario.
#[derive(Debug)]
pub struct Request {
    /// Its number among all requests of the scenario.
    pub id: RequestId,
    /// Its name in figures.
    pub name: &'static str,
    /// What its answers must be.
    pub expectation: Expectation,
    /// What is taken from its answers.
    pub extractions: Box<[Extraction]>,
    /// The place of its address among those whose answers a browser keeps, if it is one.
    pub cached: Option<usize>,
    /// How it is tried again, if it is.
    pub tries: Option<Tries>,
    /// What its answers are counted by besides.
    pub marks: Option<Marks>,
    /// Which of its answers are kept, if any.
    pub sample: Option<Sample>,
    method: Method,
    address: Address,
    headers: Box<[(Box<str>, Template)]>,
    body: Option<Body>,
    follow: bool,
}

#[derive(Debug)]
struct Body {
    kind: Template,
    content: Template,
}

impl Request {
    /// Reads a request; `common` are the headers of the scenario.
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn new(
        plan: &RequestPlan,
        (id, name): (RequestId, &'static str),
        common: &BTreeMap<String, String>,
        names: &Names,
        target: &Target,
    ) -> Result<Self, Wrong> {
        let wrong_address = |problem| (plan.method.field().to_owned(), problem);
        let address = Address::new(&plan.url, names, target).map_err(wrong_address)?;
        let address = address
            .with_query(&plan.query, names)
            .map_err(|(name, problem)| (format!("query.{name}"), problem))?;
        let mut headers = headers(common, &plan.headers, names)?;
        let body = plan.body.as_ref().map(|body| Body::new(body, names));
        let mut body = body.transpose()?;
        if let Some(body) = &mut body {
            body.take_kind(&mut headers);
        }
        let expectation = Expectation::new(&plan.expect)
            .map_err(|(field, problem)| (format!("expect.{field}"), problem))?;
        let tries = plan.retry.as_ref().map(Tries::new).transpose();
        let tries = tries.map_err(|(field, problem)| (format!("retry.{field}"), problem))?;
        let marks = Marks::new(&plan.marks)
            .map_err(|(field, problem)| (format!("marks.{field}"), problem))?;
        Ok(Self {
            id,
            name,
            expectation,
            extractions: extractions(plan, names)?,
            cached: None,
            tries,
            marks: (!plan.marks.is_empty()).then_some(marks),
            sample: None,
            method: method(plan.method),
            address,
            headers: headers.into(),
            body,
            follow: plan.redirects == Redirects::Follow,
        })
    }

    /// Its address, if a browser may keep its answers.
    ///
    /// # Errors
    /// That it may not, or that its answers are looked at: a browser that has one gets none.
    pub fn kept_url(&self, plan: &RequestPlan) -> Result<Url, Wrong> {
        let wrong = |problem: &str| Err(("cache".to_owned(), problem.to_owned()));
        if self.method != Method::Get || self.body.is_some() {
            return wrong("is for a GET without a body; leave it out");
        }
        let ExpectPlan {
            text,
            no_text,
            json,
            header,
            ..
        } = &plan.expect;
        let expects = [
            text.is_empty(),
            no_text.is_empty(),
            json.is_empty(),
            header.is_empty(),
        ];
        let takes = !self.extractions.is_empty() || self.marks.is_some() || plan.keep.is_some();
        if takes || expects.contains(&false) {
            return wrong(
                "leaves no answer to look at; leave out extract, marks, keep, and of expect all but status",
            );
        }
        match self.address.fixed() {
            Some(url) => Ok(url.clone()),
            None => wrong("is for an address that is always the same; this one has values in it"),
        }
    }

    /// Keeps a sample of its answers, the one of this number.
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn keep(
        &mut self,
        number: usize,
        plan: &RequestPlan,
        names: &Names,
        people: Option<&People>,
    ) -> Result<(), Wrong> {
        let wrong = |problem| ("keep".to_owned(), problem);
        let body = plan.body.as_ref();
        let shown = body.map(|body| Body::new(body, &names.redacted()));
        let shown = shown.transpose()?.map(|body| body.content);
        let is_json = matches!(plan.body, Some(BodyPlan::Json(_)));
        let body = shown.map(|template| ShownBody { template, is_json });
        let sample = Sample::new(number, &texts(plan), body, names, people);
        self.sample = Some(sample.map_err(wrong)?);
        Ok(())
    }

    /// The extracted values that it needs: name and slot.
    pub fn needs(&self) -> impl Iterator<Item = (&str, usize)> {
        let headers = self.headers.iter().map(|(_, value)| value);
        let body = self.body.iter();
        let templates = headers.chain(body.flat_map(|body| [&body.kind, &body.content]));
        let of_templates = templates.flat_map(Template::extracted);
        self.address.extracted().chain(of_templates)
    }

    /// Writes it for `person`.
    ///
    /// # Errors
    /// That a value is missing or does not fit.
    pub fn prepare(
        &self,
        target: &Target,
        person: &mut Person,
        people: Option<&People>,
    ) -> Result<Prepared<'_>, Trouble> {
        let url = self.address.write(target, person, people)?;
        let mut headers = Vec::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            headers.push((Cow::Borrowed(&**name), written(value, person, people)?));
        }
        let body = match &self.body {
            Some(Body { kind, content }) => Some((
                written(kind, person, people)?,
                written(content, person, people)?,
            )),
            None => None,
        };
        Ok(Prepared {
            method: self.method,
            url,
            headers,
            body,
            follow: self.follow,
        })
    }
}

fn written<'t>(
    template: &'t Template,
    person: &mut Person,
    people: Option<&People>,
) -> Result<Cow<'t, str>, Trouble> {
    template.write(person, people).map_err(trouble::no_value)
}

/// A request as it is made for a user.
pub struct Prepared<'r> {
    method: Method,
    url: Cow<'r, Url>,
    headers: Vec<(Cow<'r, str>, Cow<'r, str>)>,
    /// Its type and its text.
    body: Option<(Cow<'r, str>, Cow<'r, str>)>,
    follow: bool,
}

impl Debug for Prepared<'_> {
    /// All parts of it may hold secrets.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.request().fmt(f)
    }
}

impl Prepared<'_> {
    /// Asks for the answer only if it has changed since the browser got the one with these validators.
    pub fn ask_for_change(&mut self, since: &Validators) {
        let Validators {
            etag,
            last_modified,
        } = since;
        for (name, value) in [
            ("If-None-Match", etag),
            ("If-Modified-Since", last_modified),
        ] {
            if let Some(value) = value {
                let value = Cow::Owned(value.to_string());
                self.headers.push((Cow::Borrowed(name), value));
            }
        }
    }

    /// As a browser makes it.
    pub fn request(&self) -> http::Request<'_> {
        let body = self.body.as_ref();
        http::Request {
            method: self.method,
            url: &self.url,
            headers: &self.headers,
            body: body.map(|(kind, text)| (&**kind, Cow::Borrowed(text.as_bytes()))),
            follow: self.follow,
        }
    }
}

impl Body {
    fn new(plan: &BodyPlan, names: &Names) -> Result<Self, Wrong> {
        let mut content = Builder::new(names);
        let kind = match plan {
            BodyPlan::Form(pairs) => {
                content
                    .pairs(pairs, Encoding::Form)
                    .map_err(|(name, problem)| (format!("form.{name}"), problem))?;
                "application/x-www-form-urlencoded"
            }
            BodyPlan::Json(value) => {
                content
                    .json(value)
                    .map_err(|problem| ("json".to_owned(), problem))?;
                "application/json"
            }
            BodyPlan::Raw(text) => {
                content
                    .template(text, Encoding::Plain, Encoding::Plain)
                    .map_err(|problem| ("body".to_owned(), problem))?;
                "text/plain; charset=utf-8"
            }
        };
        let mut own_kind = Builder::new(names);
        own_kind.literal(kind);
        Ok(Self {
            kind: own_kind.finish(),
            content: content.finish(),
        })
    }

    /// A header that says the type of the body is taken from among the headers.
    fn take_kind(&mut self, headers: &mut Vec<(Box<str>, Template)>) {
        let is_kind = |(name, _): &(Box<str>, Template)| name.eq_ignore_ascii_case(CONTENT_TYPE);
        if let Some(at) = headers.iter().position(is_kind) {
            self.kind = headers.remove(at).1;
        }
    }
}

/// The headers of a request, and those of all requests that it does not have itself.
fn headers(
    common: &BTreeMap<String, String>,
    own: &BTreeMap<String, String>,
    names: &Names,
) -> Result<Vec<(Box<str>, Template)>, Wrong> {
    let has = |name: &str| own.keys().any(|own| own.eq_ignore_ascii_case(name));
    let inherited = common.iter().filter(|(name, _)| !has(name));
    let mut headers: Vec<(Box<str>, Template)> = Vec::new();
    for (name, value) in inherited.chain(own) {
        let wrong = |problem: String| (format!("headers.{name}"), problem);
        check_name(name).map_err(|problem| wrong(problem.into()))?;
        let known = |(other, _): &(Box<str>, Template)| other.eq_ignore_ascii_case(name);
        if headers.iter().any(known) {
            return Err(wrong("is given twice; give it once".into()));
        }
        let mut builder = Builder::new(names);
        builder
            .template(value, Encoding::Header, Encoding::Header)
            .map_err(wrong)?;
        headers.push((name.as_str().into(), builder.finish()));
    }
    Ok(headers)
}

/// Whether a header may have this name (RFC 9110, section 5.6.2) and is not the driver's own.
fn check_name(name: &str) -> Result<(), &'static str> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err("is no name of a header");
    }
    if OWN.iter().any(|own| own.eq_ignore_ascii_case(name)) {
        return Err("follows from the body; leave it out");
    }
    Ok(())
}

fn extractions(plan: &RequestPlan, names: &Names) -> Result<Box<[Extraction]>, Wrong> {
    let all = plan.extract.iter();
    all.map(|(name, plan)| {
        let slot = names.slot(name).expect("a slot for each extracted value");
        let extraction = Extraction::new(name, slot, plan);
        extraction.map_err(|problem| (format!("extract.{name}"), problem))
    })
    .collect()
}

/// The texts of a request that may have values in them.
fn texts(plan: &RequestPlan) -> Vec<&str> {
    let mut texts = vec![plan.url.as_str()];
    texts.extend(plan.headers.values().map(String::as_str));
    texts.extend(texts_of_pairs(&plan.query));
    match &plan.body {
        Some(BodyPlan::Form(form)) => texts.extend(texts_of_pairs(form)),
        Some(BodyPlan::Json(value)) => texts_of_json(value, &mut texts),
        Some(BodyPlan::Raw(text)) => texts.push(text),
        None => {}
    }
    texts
}

fn texts_of_pairs(pairs: &[(String, String)]) -> impl Iterator<Item = &str> {
    pairs.iter().flat_map(|(name, value)| [&**name, &**value])
}

fn texts_of_json<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts_of_json(item, texts)),
        Value::Object(fields) => fields.values().for_each(|item| texts_of_json(item, texts)),
        _ => {}
    }
}

fn method(verb: Verb) -> Method {
    match verb {
        Verb::Get => Method::Get,
        Verb::Post => Method::Post,
        Verb::Put => Method::Put,
        Verb::Patch => Method::Patch,
        Verb::Delete => Method::Delete,
        Verb::Head => Method::Head,
        Verb::Options => Method::Options,
    }
}

#[cfg(test)]
mod tests;
