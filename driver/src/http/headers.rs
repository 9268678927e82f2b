//! The header fields of an answer: one buffer for all names and values, and where each of them ends.

use std::fmt::{self, Debug};
use std::iter::once;

/// Header fields, in the order in which they came. Names are in lower case; values are bytes (they may be
/// Latin-1), without the spaces around them; a folded value is one line.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// Name, value, name, value, without anything in between.
    text: Vec<u8>,
    fields: Vec<Field>,
}

/// A field begins where the one before it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Field {
    name_end: u32,
    value_end: u32,
}

impl Headers {
    /// Copies the fields. All of them together are smaller than 4 GiB.
    pub(super) fn of(parsed: &[httparse::Header<'_>]) -> Self {
        let sizes = parsed
            .iter()
            .map(|field| field.name.len() + field.value.len());
        let mut text = Vec::with_capacity(sizes.sum());
        let mut fields = Vec::with_capacity(parsed.len());
        for field in parsed {
            let start = text.len();
            text.extend_from_slice(field.name.as_bytes());
            text[start..].make_ascii_lowercase();
            let name_end = text.len() as u32;
            put_unfolded(&mut text, field.value);
            fields.push(Field {
                name_end,
                value_end: text.len() as u32,
            });
        }
        Self { text, fields }
    }

    /// The value of the first field of this name, in whatever case the name is given.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.get_all(name).next()
    }

    /// The values of all fields of this name, in whatever case the name is given.
    pub fn get_all<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        let name = name.as_bytes();
        self.bytes()
            .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.bytes()
            .map(|(name, value)| (str::from_utf8(name).unwrap_or_default(), value))
    }

    /// The parts of a field that is a list, as `Connection`: those of all fields of this name, without the
    /// spaces around them; parts that are empty are left out.
    pub(super) fn list<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        self.get_all(name)
            .flat_map(|value| value.split(|byte| *byte == b','))
            .map(<[u8]>::trim_ascii)
            .filter(|part| !part.is_empty())
    }

    fn bytes(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let ends = self.fields.iter().map(|field| field.value_end as usize);
        let starts = once(0).chain(ends);
        self.fields.iter().zip(starts).map(|(field, start)| {
            let (name_end, value_end) = (field.name_end as usize, field.value_end as usize);
            (&self.text[start..name_end], &self.text[name_end..value_end])
        })
    }
}

/// Shows names alone: a value may be a cookie or a token.
impl Debug for Headers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_list()
            .entries(self.iter().map(|(name, _)| name))
            .finish()
    }
}

/// Appends a value. The lines of a folded one are joined by a space (RFC 9112, section 5.2).
fn put_unfolded(text: &mut Vec<u8>, value: &[u8]) {
    if !value.contains(&b'\n') {
        text.extend_from_slice(value);
        return;
    }
    let lines = value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    for (number, line) in lines.filter(|line| !line.is_empty()).enumerate() {
        if number > 0 {
            text.push(b' ');
        }
        text.extend_from_slice(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&str, &[u8])]) -> Headers {
        let parsed: Vec<_> = fields
            .iter()
            .map(|&(name, value)| httparse::Header { name, value })
            .collect();
        Headers::of(&parsed)
    }

    #[test]
    fn fields_come_back_in_their_order_with_names_in_lower_case() {
        let given: [(&str, &[u8]); 3] = [
            ("Content-Type", b"text/html"),
            ("X-Empty", b""),
            ("ETag", b"\"caf\xe9\""),
        ];
        let headers = headers(&given);
        let found: Vec<_> = headers.iter().collect();
        let lower = ["content-type", "x-empty", "etag"];
        let expected: Vec<_> = lower
            .into_iter()
            .zip(given.map(|(_, value)| value))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_field_is_found_in_any_case_and_each_time_it_came() {
        let headers = headers(&[
            ("Set-Cookie", b"a=1"),
            ("Date", b"now"),
            ("set-cookie", b"b=2"),
        ]);
        assert_eq!(headers.get("SET-COOKIE"), Some(&b"a=1"[..]));
        let all: Vec<_> = headers.get_all("set-cookie").collect();
        assert_eq!(all, [&b"a=1"[..], b"b=2"]);
        assert_eq!(headers.get("cookie"), None);
        assert_eq!(Headers::default().get("date"), None);
    }

    #[test]
    fn a_list_may_be_spread_over_fields() {
        let headers = headers(&[("Connection", b"a, ,b"), ("connection", b" c ")]);
        let parts: Vec<_> = headers.list("connection").collect();
        assert_eq!(parts, [&b"a"[..], b"b", b"c"]);
    }

    #[test]
    fn a_folded_value_is_one_line() {
        let folded = b"default-src 'self';\r\n\timg-src *;  \n \r\n  font-src *";
        let headers = headers(&[("Content-Security-Policy", folded), ("Next", b"1")]);
        let unfolded = &b"default-src 'self'; img-src *; font-src *"[..];
        assert_eq!(headers.get("content-security-policy"), Some(unfolded));
        assert_eq!(headers.get("next"), Some(&b"1"[..]));
    }

    #[test]
    fn no_value_is_shown_where_it_is_debugged() {
        let shown = format!("{:?}", headers(&[("Set-Cookie", b"session=secret")]));
        assert_eq!(shown, r#"["set-cookie"]"#);
    }
}
