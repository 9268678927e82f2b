//! Addresses of requests.

use std::borrow::Cow;
use std::fmt::{Debug, Formatter};

use url::Url;

use super::encoding::Encoding;
use super::names::Names;
use super::people::People;
use super::person::Person;
use super::target::{Target, has_user};
use super::template::{Builder, Template};
use super::trouble::{self, Trouble};
use crate::http::Class;

/// The address of a request.
pub struct Address {
    whole: Whole,
    /// Added to the query that the address has.
    query: Option<Template>,
}

impl Debug for Address {
    /// Secrets may be part of it.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Address").finish_non_exhaustive()
    }
}

enum Whole {
    /// The same for all.
    Fixed(Url),
    /// With values in it; `is_known` if they do not change its host, which may be asked.
    Written { template: Template, is_known: bool },
}

impl Address {
    /// Reads an address: a path below the target's, or a whole one of a host that may be asked. One that
    /// begins with a value is that value as it is, as of a `Location` header; in any other place values are
    /// percent-encoded.
    ///
    /// # Errors
    /// What is wrong with it, in words that quote nothing of it.
    pub fn new(text: &str, names: &Names, target: &Target) -> Result<Self, String> {
        let mut builder = Builder::new(names);
        if text.starts_with('/') {
            builder.literal(target.text());
        }
        let (first, rest) = cut(text);
        builder.template(first, Encoding::Plain, Encoding::Plain)?;
        builder.template(rest, Encoding::Plain, Encoding::Percent)?;
        let whole = Whole::new(builder.finish(), target)?;
        Ok(Self { whole, query: None })
    }

    /// Adds names and values to its query.
    ///
    /// # Errors
    /// The name of the pair that is wrong, and what is wrong with it.
    pub fn with_query(
        mut self,
        pairs: &[(String, String)],
        names: &Names,
    ) -> Result<Self, (String, String)> {
        if pairs.is_empty() {
            return Ok(self);
        }
        let mut builder = Builder::new(names);
        builder.pairs(pairs, Encoding::Percent)?;
        let query = builder.finish();
        if let Whole::Fixed(url) = &mut self.whole
            && let Some(query) = query.fixed()
        {
            add_query(url, query);
            return Ok(self);
        }
        self.query = Some(query);
        Ok(self)
    }

    /// The whole address, if it is the same for all.
    pub fn fixed(&self) -> Option<&Url> {
        match (&self.whole, &self.query) {
            (Whole::Fixed(url), None) => Some(url),
            _ => None,
        }
    }

    /// The extracted values that it has: name and slot.
    pub fn extracted(&self) -> impl Iterator<Item = (&str, usize)> {
        let whole = match &self.whole {
            Whole::Fixed(_) => None,
            Whole::Written { template, .. } => Some(template),
        };
        let both = [whole, self.query.as_ref()];
        both.into_iter().flatten().flat_map(Template::extracted)
    }

    /// Writes it for `person`.
    ///
    /// # Errors
    /// That a value is missing, or that what they make is no address or one of a foreign host.
    pub fn write(
        &self,
        target: &Target,
        person: &mut Person,
        people: Option<&People>,
    ) -> Result<Cow<'_, Url>, Trouble> {
        let mut url = match &self.whole {
            Whole::Fixed(url) => Cow::Borrowed(url),
            Whole::Written { template, is_known } => {
                let text = template.write(person, people).map_err(trouble::no_value)?;
                let url = target.join(&text).filter(|url| !has_user(url));
                let url = url.ok_or_else(|| fault(Class::BadUrl, "the values make no address"))?;
                if !is_known && !target.allows(&url) {
                    let problem = "the values make an address of a host that `hosts` does not name";
                    return Err(fault(Class::ForeignHost, problem));
                }
                Cow::Owned(url)
            }
        };
        if let Some(query) = &self.query {
            let query = query.write(person, people).map_err(trouble::no_value)?;
            add_query(url.to_mut(), &query);
        }
        Ok(url)
    }
}

impl Whole {
    fn new(template: Template, target: &Target) -> Result<Self, String> {
        const NONE: &str = "is neither a path, which begins with /, nor an address of HTTP";
        if template.prefix().is_empty() && template.fixed().is_none() {
            return Ok(Self::Written {
                template,
                is_known: false,
            });
        }
        let prefix = template.prefix();
        let Some((scheme, rest)) = prefix.split_once("://") else {
            return Err(NONE.into());
        };
        if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
            return Err(NONE.into());
        }
        // The host ends where the path, the query or the fragment begins.
        let end = rest.find(['/', '?', '#']);
        let host = match (end, template.fixed()) {
            (Some(end), _) => &prefix[..prefix.len() - rest.len() + end],
            (None, Some(_)) => prefix,
            (None, None) => {
                return Ok(Self::Written {
                    template,
                    is_known: false,
                });
            }
        };
        let host = Url::parse(host).map_err(|_| NONE)?;
        if has_user(&host) {
            return Err("has a user or a password; leave them out".into());
        }
        if !target.allows(&host) {
            return Err("is of another host than the target's; name it in `hosts`".into());
        }
        match template.fixed().map(Url::parse) {
            None => Ok(Self::Written {
                template,
                is_known: true,
            }),
            Some(url) => url.map(Self::Fixed).map_err(|_| NONE.into()),
        }
    }
}

fn fault(class: Class, problem: &str) -> Trouble {
    Trouble::new(class.name(), problem)
}

/// Cuts a text after the value that it begins with, if it begins with one.
fn cut(text: &str) -> (&str, &str) {
    let end = match text.find('}') {
        Some(end) if text.starts_with("${") => end + 1,
        _ => 0,
    };
    text.split_at(end)
}

/// Adds to the query of an address what is encoded already.
fn add_query(url: &mut Url, more: &str) {
    let whole = match url.query() {
        None | Some("") => more.to_owned(),
        Some(before) => format!("{before}&{more}"),
    };
    url.set_query(Some(&whole));
}

#[cfg(test)]
mod tests;
