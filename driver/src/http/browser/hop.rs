//! A request on its way: as it was asked for, or as a redirect made it.

use std::borrow::Cow;

use url::Url;

use super::request::{Method, Request};
use crate::http::fault::{Class, Fault};
use crate::leg::Cause;

/// A request to one address.
pub struct Hop<'r> {
    /// Why it is made.
    pub cause: Cause,
    pub method: Method,
    pub url: Cow<'r, Url>,
    /// Those that were given with the request.
    pub headers: &'r [(Cow<'r, str>, Cow<'r, str>)],
    /// Content type and bytes.
    pub body: Option<(&'r str, &'r [u8])>,
    /// Whether a redirect took the body away.
    pub lost_body: bool,
    /// Whether a redirect led to another origin.
    pub is_elsewhere: bool,
}

/// Whether a status says where to go instead.
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

impl<'r> Hop<'r> {
    /// The request as it was asked for.
    pub fn first(request: &'r Request<'r>) -> Self {
        let body = request.body.as_ref();
        Self {
            cause: Cause::Asked,
            method: request.method,
            url: Cow::Borrowed(request.url),
            headers: request.headers,
            body: body.map(|(kind, bytes)| (*kind, &**bytes)),
            lost_body: false,
            is_elsewhere: false,
        }
    }

    /// Goes where a redirect leads. 307 and 308 keep method and body; all others make it a GET without a
    /// body, as browsers do, and HEAD stays HEAD.
    ///
    /// # Errors
    /// [`Class::BadRedirect`] without an address of HTTP.
    pub fn redirect(&mut self, status: u16, location: Option<&[u8]>) -> Result<(), Fault> {
        let bad =
            |what: &str| Fault::new(Class::BadRedirect, format!("a redirect ({status}) {what}"));
        let location = location.ok_or_else(|| bad("came without a Location"))?;
        let joined = self.url.join(&text(location));
        let mut url = joined.map_err(|_| bad("has a Location that is no address"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("leads to an address that is not of HTTP"));
        }
        if url.fragment().is_none() {
            url.set_fragment(self.url.fragment());
        }
        self.is_elsewhere |= url.origin() != self.url.origin();
        self.url = Cow::Owned(url);
        self.cause = Cause::Redirect;
        if !matches!(status, 307 | 308) {
            self.lost_body |= self.body.take().is_some();
            if self.method != Method::Head {
                self.method = Method::Get;
            }
        }
        Ok(())
    }
}

/// UTF-8, or else Latin-1.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("an address")
    }

    fn follow(method: Method, from: &str, status: u16, location: &[u8]) -> Result<Seen, Fault> {
        let from = url(from);
        let request = Request {
            method,
            url: &from,
            headers: &[],
            body: Some(("text/plain", Cow::Borrowed(b"body"))),
            follow: true,
        };
        let mut hop = Hop::first(&request);
        hop.redirect(status, Some(location))?;
        Ok((
            hop.method,
            hop.url.to_string(),
            hop.body.is_some(),
            hop.is_elsewhere,
        ))
    }

    type Seen = (Method, String, bool, bool);

    #[test]
    fn a_location_is_read_as_browsers_read_it() {
        let cases: [(&[u8], &str); 8] = [
            (b"/next", "http://app/next"),
            (b"next?a=1", "http://app/a/next?a=1"),
            (b"?b=2", "http://app/a/b?b=2"),
            (b"", "http://app/a/b?q=1"),
            (b"//other/x", "http://other/x"),
            (b"https://app/", "https://app/"),
            (b"/k\xc3\xa4se", "http://app/k%C3%A4se"),
            (b"/caf\xe9", "http://app/caf%C3%A9"),
        ];
        for (location, expected) in cases {
            let seen = follow(Method::Get, "http://app/a/b?q=1", 302, location);
            let (_, url, _, is_elsewhere) = seen.expect("a redirect");
            assert_eq!(url, expected);
            let stays = expected.starts_with("http://app/");
            assert_eq!(is_elsewhere, !stays, "{expected}");
        }
        let kept = follow(Method::Get, "http://app/#part", 302, b"/next").expect("a redirect");
        assert_eq!(kept.1, "http://app/next#part");
    }

    #[test]
    fn the_status_says_what_becomes_of_method_and_body() {
        use Method::{Delete, Get, Head, Post};
        for (method, status, expected, keeps) in [
            (Post, 301, Get, false),
            (Post, 302, Get, false),
            (Delete, 303, Get, false),
            (Head, 302, Head, false),
            (Post, 307, Post, true),
            (Delete, 308, Delete, true),
        ] {
            let seen = follow(method, "http://app/", status, b"/next").expect("a redirect");
            assert_eq!((seen.0, seen.2), (expected, keeps), "{method:?} {status}");
            assert!(is_redirect(status));
        }
        assert!(
            [200, 300, 304, 305, 306]
                .iter()
                .all(|status| !is_redirect(*status))
        );
    }

    #[test]
    fn a_redirect_to_nowhere_is_told() {
        for location in [
            &b"http://[::1/"[..],
            b"ftp://app/",
            b"mailto:me@app",
            b"http://",
        ] {
            let fault = follow(Method::Get, "http://app/", 302, location).expect_err("nowhere");
            assert_eq!(fault.class, Class::BadRedirect);
        }
        let from = url("http://app/");
        let request = Request {
            method: Method::Get,
            url: &from,
            headers: &[],
            body: None,
            follow: true,
        };
        let fault = Hop::first(&request)
            .redirect(303, None)
            .expect_err("nowhere");
        assert_eq!(fault.message, "a redirect (303) came without a Location");
    }
}
