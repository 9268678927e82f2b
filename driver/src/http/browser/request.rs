//! What a browser is asked for, and what it gives.

use std::borrow::Cow;
use std::fmt::{self, Debug};

use url::Url;

use crate::http::answer::Answer;
use crate::http::fault::Class;
use crate::leg::Leg;

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Asks for a resource.
    Get,
    /// Hands data over.
    Post,
    /// Replaces a resource.
    Put,
    /// Changes a resource.
    Patch,
    /// Removes a resource.
    Delete,
    /// Asks for a header without its body.
    Head,
    /// Asks what is possible.
    Options,
}

impl Method {
    /// As it is written in a request.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Head => "HEAD",
            Self::Options => "OPTIONS",
        }
    }

    /// Whether servers expect a body, so that an empty one is announced (RFC 9110, section 8.6).
    pub(super) fn has_content(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }
}

/// One request of a user.
pub struct Request<'a> {
    /// Its method.
    pub method: Method,
    /// Its address, with `http` or `https`.
    pub url: &'a Url,
    /// Names and values. They take the place of the browser's own ones of the same name.
    pub headers: &'a [(Cow<'a, str>, Cow<'a, str>)],
    /// Content type and bytes.
    pub body: Option<(&'a str, Cow<'a, [u8]>)>,
    /// Whether redirects are followed; else a redirect is the answer.
    pub follow: bool,
}

/// Shows neither address, headers nor body: they may hold secrets.
impl Debug for Request<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Request")
            .field("method", &self.method)
            .field("host", &self.url.host_str())
            .field("follow", &self.follow)
            .finish_non_exhaustive()
    }
}

/// An answer, after redirects.
#[derive(Clone)]
pub struct Fetched {
    /// The last answer.
    pub answer: Answer,
    /// Where it came from.
    pub url: Url,
    /// Redirects that were followed.
    pub redirects: u32,
}

/// Does not show the address: it may hold a secret.
impl Debug for Fetched {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Fetched")
            .field("answer", &self.answer)
            .field("redirects", &self.redirects)
            .finish_non_exhaustive()
    }
}

/// What else happened while something was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notes {
    /// Why the request was sent a second time, if it was.
    pub resent: Option<Class>,
    /// Connections that were opened for it.
    pub connections_opened: u32,
    /// What was sent, in order.
    pub legs: Vec<Leg>,
}

impl Notes {
    /// When the first sending was begun and the last one over; `None` if nothing was sent.
    pub fn span(&self) -> Option<(u64, u64)> {
        let (first, last) = (self.legs.first()?, self.legs.last()?);
        Some((first.begun_ns, last.done_ns()))
    }

    /// Notes what was sent. Nearly all requests are sent once: memory is taken for one.
    pub(super) fn add(&mut self, leg: Leg) {
        if self.legs.is_empty() {
            self.legs.reserve_exact(1);
        }
        self.legs.push(leg);
    }
}
