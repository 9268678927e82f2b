//! For how long a browser uses an answer without asking again, and by what it asks (RFC 9111).
//!
//! It is the cache of one person: `s-maxage` and `private` say nothing to it. `Vary` is of account only where it
//! is `*`, as a user makes a request alike each time.

use super::answer::Answer;
use super::cookies::date;
use super::headers::Headers;
use crate::clock::SECOND_NS;

/// The greatest number of seconds that a cache need understand (section 1.2.2).
const MOST_S: u64 = 1 << 31;
/// Without a word of the server, an answer is fresh for this part of the time since it was last changed
/// (section 4.2.2).
const HEURISTIC: u64 = 10;

/// What a browser notes of an answer that it keeps.
#[derive(Debug, PartialEq, Eq)]
pub struct Freshness {
    /// So long it need not ask again, in nanoseconds.
    pub fresh_ns: u64,
    /// How it asks then.
    pub validators: Validators,
}

/// By what a server knows whether an answer is still the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validators {
    /// For `If-None-Match`.
    pub etag: Option<Box<str>>,
    /// For `If-Modified-Since`.
    pub last_modified: Option<Box<str>>,
}

impl Validators {
    /// Whether the server cannot be asked by them.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

impl Freshness {
    /// What a browser notes of an answer at `now_s`, in seconds since 1970; `None` if it may not keep it.
    pub fn of(answer: &Answer, now_s: i64) -> Option<Self> {
        let headers = &answer.headers;
        let varies = headers.list("vary").any(|part| part == b"*");
        if says(headers, b"no-store") || varies {
            return None;
        }
        let age_s = number(headers, "age").unwrap_or(0);
        let fresh_s = lifetime_s(headers, now_s).saturating_sub(age_s);
        Some(Self {
            fresh_ns: fresh_s.min(MOST_S) * SECOND_NS,
            validators: Validators {
                etag: text(headers, "etag"),
                last_modified: text(headers, "last-modified"),
            },
        })
    }
}

/// For how long an answer is fresh that was made just now (section 4.2.1), in seconds.
fn lifetime_s(headers: &Headers, now_s: i64) -> u64 {
    if says(headers, b"no-cache") {
        return 0;
    }
    if let Some(max_age_s) = max_age_s(headers) {
        return max_age_s;
    }
    let made_s = moment_s(headers, "date").unwrap_or(now_s);
    let since = |from: i64, to: i64| u64::try_from(to.saturating_sub(from)).unwrap_or(0);
    if headers.get("expires").is_some() {
        // A date that cannot be read is past.
        return moment_s(headers, "expires").map_or(0, |expires_s| since(made_s, expires_s));
    }
    match moment_s(headers, "last-modified") {
        Some(changed_s) if !says(headers, b"must-revalidate") => {
            since(changed_s, made_s) / HEURISTIC
        }
        _ => 0,
    }
}

/// Whether `Cache-Control` has a directive, with a value or without.
fn says(headers: &Headers, directive: &[u8]) -> bool {
    headers.list("cache-control").any(|part| {
        let name = part.split(|byte| *byte == b'=').next();
        name.is_some_and(|name| name.trim_ascii_end().eq_ignore_ascii_case(directive))
    })
}

fn max_age_s(headers: &Headers) -> Option<u64> {
    headers.list("cache-control").find_map(|part| {
        let (name, value) = part.split_at_checked(b"max-age=".len())?;
        let is_it = name.eq_ignore_ascii_case(b"max-age=");
        // What cannot be read counts as stale (section 4.2.1).
        is_it.then(|| seconds(unquoted(value)).unwrap_or(0))
    })
}

fn unquoted(value: &[u8]) -> &[u8] {
    let inner = value.strip_prefix(b"\"");
    inner
        .and_then(|inner| inner.strip_suffix(b"\""))
        .unwrap_or(value)
}

/// A number of seconds; one that is too large is the most.
fn seconds(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = str::from_utf8(text).ok()?.parse().unwrap_or(MOST_S);
    Some(number.min(MOST_S))
}

fn number(headers: &Headers, name: &str) -> Option<u64> {
    seconds(headers.get(name)?)
}

fn moment_s(headers: &Headers, name: &str) -> Option<i64> {
    date::parse(str::from_utf8(headers.get(name)?).ok()?)
}

/// A value that can be sent back as it is.
fn text(headers: &Headers, name: &str) -> Option<Box<str>> {
    let text = str::from_utf8(headers.get(name)?).ok()?;
    let is_plain = !text.is_empty() && !text.chars().any(char::is_control);
    is_plain.then(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::answer::{AnswerReader, Limits};

    /// 6 Nov 1994 08:49:37.
    const NOW_S: i64 = 784_111_777;
    const NOW: &str = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    const HOUR_AGO: &str = "Last-Modified: Sun, 06 Nov 1994 07:49:37 GMT\r\n";
    const IN_AN_HOUR: &str = "Expires: Sun, 06 Nov 1994 09:49:37 GMT\r\n";

    fn freshness(lines: &str) -> Option<Freshness> {
        let limits = Limits {
            header_bytes: 65_536,
            body_bytes: 1,
            inflated_bytes: 1,
            interim: 1,
        };
        let text = format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 0\r\n\r\n");
        let mut reader = AnswerReader::new(false, &limits);
        assert!(reader.feed(text.as_bytes()).expect("an answer").done);
        Freshness::of(&reader.finish(), NOW_S)
    }

    #[test]
    fn an_answer_is_fresh_as_long_as_its_server_says() {
        let with = |parts: &[&str]| parts.concat();
        for (lines, fresh_s) in [
            (with(&["Cache-Control: max-age=600\r\n"]), 600),
            (
                with(&["Cache-Control: public, Max-Age=\"600\", immutable\r\n"]),
                600,
            ),
            (with(&["Cache-Control: max-age=600\r\nAge: 100\r\n"]), 500),
            (with(&["Cache-Control: max-age=600\r\nAge: 601\r\n"]), 0),
            (
                with(&["Cache-Control: max-age=99999999999999999999\r\n"]),
                MOST_S,
            ),
            (with(&["Cache-Control: max-age=soon\r\n", IN_AN_HOUR]), 0),
            (
                with(&["Cache-Control: max-age=60\r\n", NOW, IN_AN_HOUR]),
                60,
            ),
            (with(&["Cache-Control: no-cache, max-age=600\r\n"]), 0),
            (with(&["Cache-Control: no-cache=\"Set-Cookie\"\r\n"]), 0),
            (with(&["Cache-Control: s-maxage=600\r\n"]), 0),
            (with(&[NOW, IN_AN_HOUR]), 3600),
            (with(&[IN_AN_HOUR]), 3600),
            (with(&["Expires: 0\r\n", NOW, HOUR_AGO]), 0),
            (
                with(&[NOW, "Expires: Sun, 06 Nov 1994 08:00:00 GMT\r\n"]),
                0,
            ),
            (with(&[NOW, HOUR_AGO]), 360),
            (
                with(&["Cache-Control: must-revalidate\r\n", NOW, HOUR_AGO]),
                0,
            ),
            (with(&[]), 0),
        ] {
            let found = freshness(&lines).expect("it may be kept");
            assert_eq!(found.fresh_ns, fresh_s * SECOND_NS, "{lines:?}");
        }
    }

    #[test]
    fn what_may_not_be_kept_is_not() {
        for lines in [
            "Cache-Control: no-store\r\n",
            "Cache-Control: max-age=600, No-Store\r\n",
            "Cache-Control: max-age=600\r\nVary: Accept, *\r\n",
        ] {
            assert_eq!(freshness(lines), None, "{lines:?}");
        }
    }

    #[test]
    fn a_server_is_asked_by_what_it_gave() {
        let found = freshness(&format!("ETag: W/\"a\"\r\n{HOUR_AGO}")).expect("kept");
        assert_eq!(found.validators.etag.as_deref(), Some("W/\"a\""));
        let changed = found.validators.last_modified.as_deref();
        assert_eq!(changed, Some("Sun, 06 Nov 1994 07:49:37 GMT"));
        assert!(freshness("").expect("kept").validators.is_empty());
    }
}
