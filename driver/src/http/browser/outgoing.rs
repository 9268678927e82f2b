//! A request as bytes.

use url::Position;

use super::hop::Hop;
use crate::http::fault::{Class, Fault};
use crate::http::pool::Buffer;

const PRODUCT: &str = concat!("loadstone/", env!("CARGO_PKG_VERSION"));
/// A body up to this size is sent together with its header, by one call of the system.
const SMALL_BYTES: usize = 16 * 1024;
/// How the body ends follows from the body.
const FRAMING: [&str; 2] = ["Content-Length", "Transfer-Encoding"];

/// A request that is being sent.
#[derive(Debug)]
pub struct Outgoing<'r> {
    /// The header, and a small body.
    head: Buffer,
    /// A large body.
    body: &'r [u8],
}

impl<'r> Outgoing<'r> {
    /// Writes a request: what a browser says of itself, the headers that were given, cookies, the body.
    ///
    /// # Errors
    /// [`Class::BadHeader`] for a given header that would end its line, and so begin another one.
    pub fn new(hop: &Hop<'r>, host: &str, cookies: Option<&str>) -> Result<Self, Fault> {
        let mut head = Buffer::take();
        put(
            &mut head,
            &[hop.method.name(), " ", target(hop), " HTTP/1.1\r\n"],
        );
        let own = [
            ("Host", Some(host)),
            ("User-Agent", Some(PRODUCT)),
            ("Accept", Some("*/*")),
            ("Accept-Encoding", Some("gzip, deflate")),
            ("Cookie", cookies),
            ("Content-Type", hop.body.map(|(kind, _)| kind)),
        ];
        for (name, value) in own {
            let value = value.filter(|value| !value.is_empty() && !gives(hop, name));
            if let Some(value) = value {
                put(&mut head, &[name, ": ", value, "\r\n"]);
            }
        }
        for (name, value) in hop.headers {
            if is_sent(hop, name) {
                check(name, value)?;
                put(&mut head, &[&**name, ": ", &**value, "\r\n"]);
            }
        }
        let body = hop.body.map_or(&[][..], |(_, bytes)| bytes);
        if hop.body.is_some() || hop.method.has_content() {
            let length = body.len().to_string();
            put(&mut head, &["Content-Length: ", length.as_str(), "\r\n"]);
        }
        put(&mut head, &["\r\n"]);
        if body.len() > SMALL_BYTES {
            return Ok(Self { head, body });
        }
        head.extend_from_slice(body);
        Ok(Self { head, body: &[] })
    }

    /// What is next, after the first `sent` bytes; empty when all are sent.
    #[inline]
    pub fn after(&self, sent: usize) -> &[u8] {
        match self.head.get(sent..) {
            Some(rest) if !rest.is_empty() => rest,
            _ => &self.body[sent - self.head.len()..],
        }
    }
}

/// Path and query.
fn target<'h>(hop: &'h Hop<'_>) -> &'h str {
    &hop.url[Position::BeforePath..Position::AfterQuery]
}

fn gives(hop: &Hop<'_>, name: &str) -> bool {
    let mut given = hop.headers.iter();
    given.any(|(given, _)| given.eq_ignore_ascii_case(name) && is_sent(hop, given))
}

/// Whether a given header is sent. No credentials go to another origin, nothing is said of a body that a
/// redirect took away.
fn is_sent(hop: &Hop<'_>, name: &str) -> bool {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    let is_lost = hop.lost_body && is("Content-Type");
    let is_secret = hop.is_elsewhere && (is("Authorization") || is("Cookie") || is("Host"));
    !is_lost && !is_secret && !FRAMING.into_iter().any(is)
}

fn check(name: &str, value: &str) -> Result<(), Fault> {
    let is_token = |byte: u8| byte.is_ascii_graphic() && byte != b':';
    if name.is_empty() || !name.bytes().all(is_token) {
        let words = "a header of the request has a name with a space, a colon or another letter";
        return Err(Fault::new(Class::BadHeader, words));
    }
    if value.bytes().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
        let words = format!("the header {name} of the request has a line end in its value");
        return Err(Fault::new(Class::BadHeader, words));
    }
    Ok(())
}

fn put(head: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        head.extend_from_slice(part.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use url::Url;

    use super::*;
    use crate::http::browser::request::{Method, Request};

    type Header<'h> = (Cow<'h, str>, Cow<'h, str>);

    fn given<'h>(headers: &[(&'h str, &'h str)]) -> Vec<Header<'h>> {
        let headers = headers.iter();
        headers
            .map(|(name, value)| (Cow::Borrowed(*name), Cow::Borrowed(*value)))
            .collect()
    }

    fn written(
        method: Method,
        headers: &[Header<'_>],
        body: Option<(&str, &[u8])>,
        change: impl FnOnce(&mut Hop<'_>),
    ) -> Result<String, Fault> {
        let url = Url::parse("http://app/a%20b/?q=1#part").expect("an address");
        let request = Request {
            method,
            url: &url,
            headers,
            body: body.map(|(kind, bytes)| (kind, Cow::Borrowed(bytes))),
            follow: true,
        };
        let mut hop = Hop::first(&request);
        change(&mut hop);
        let outgoing = Outgoing::new(&hop, "app", Some("session=1"))?;
        let mut bytes = Vec::new();
        while !outgoing.after(bytes.len()).is_empty() {
            let next = outgoing.after(bytes.len());
            bytes.extend_from_slice(&next[..next.len().min(1000)]);
        }
        Ok(String::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn a_request_says_what_a_browser_says() {
        let text = written(Method::Get, &[], None, |_| ()).expect("a request");
        let expected = format!(
            "GET /a%20b/?q=1 HTTP/1.1\r\nHost: app\r\nUser-Agent: {PRODUCT}\r\nAccept: */*\r\n\
             Accept-Encoding: gzip, deflate\r\nCookie: session=1\r\n\r\n"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn given_headers_take_the_place_of_its_own() {
        let headers = given(&[
            ("user-agent", "me"),
            ("ACCEPT", "text/html"),
            ("X-Token", "t"),
            ("cookie", "own=2"),
            ("Content-Length", "7"),
        ]);
        let text = written(Method::Get, &headers, None, |_| ()).expect("a request");
        let expected = "GET /a%20b/?q=1 HTTP/1.1\r\nHost: app\r\nAccept-Encoding: gzip, deflate\r\n\
                        user-agent: me\r\nACCEPT: text/html\r\nX-Token: t\r\ncookie: own=2\r\n\r\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn bodies_small_and_large_follow_their_length() {
        for size in [0, 1, SMALL_BYTES, SMALL_BYTES + 1, 5 * SMALL_BYTES] {
            let body = vec![b'x'; size];
            let text = written(Method::Post, &[], Some(("text/plain", &body[..])), |_| ());
            let text = text.expect("a request");
            let (head, sent) = text.split_once("\r\n\r\n").expect("a header");
            assert_eq!(sent.as_bytes(), body);
            let length = format!("Content-Type: text/plain\r\nContent-Length: {size}");
            assert!(head.ends_with(&length), "{head}");
        }
        let text = written(Method::Post, &[], None, |_| ()).expect("a request");
        assert!(text.ends_with("\r\nContent-Length: 0\r\n\r\n"), "{text}");
    }

    #[test]
    fn a_redirect_takes_along_what_belongs_to_it() {
        let headers = given(&[
            ("Authorization", "Bearer t"),
            ("Content-Type", "text/csv"),
            ("Accept-Language", "en"),
        ]);
        let body = Some(("text/csv", &b"a,b"[..]));
        let text = written(Method::Post, &headers, body, |hop| {
            hop.redirect(302, Some(b"//other/")).expect("a redirect");
        });
        let text = text.expect("a request");
        assert!(text.starts_with("GET / HTTP/1.1\r\n"), "{text}");
        let kept = ["Authorization", "Content-", "Accept-Language"].map(|name| text.contains(name));
        assert_eq!(kept, [false, false, true], "{text}");
        let text = written(Method::Post, &headers, body, |hop| {
            hop.redirect(307, Some(b"/again")).expect("a redirect");
        });
        let text = text.expect("a request");
        assert!(text.contains("Authorization: Bearer t\r\n"), "{text}");
        assert!(text.ends_with("Content-Length: 3\r\n\r\na,b"), "{text}");
    }

    #[test]
    fn a_value_cannot_begin_another_line() {
        for (name, value) in [
            ("X-Token", "hidden\r\nX-Other: 1"),
            ("X-Token", "hidden\n"),
            ("X Token", "hidden"),
            ("X-Token:", "hidden"),
            ("", "hidden"),
        ] {
            let headers = given(&[(name, value)]);
            let fault = written(Method::Get, &headers, None, |_| ()).expect_err(name);
            assert_eq!(fault.class, Class::BadHeader);
            assert!(!fault.message.contains("hidden"), "{}", fault.message);
        }
    }
}
