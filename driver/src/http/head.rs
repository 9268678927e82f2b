//! The head of an answer: where it ends, and what it says.
//!
//! It is read as browsers read it: lines may end with LF alone, fields may be folded, spaces may stand
//! before a colon or twice in the status line, the reason phrase may be missing, values may be Latin-1.

use std::mem::MaybeUninit;

use httparse::{ParserConfig, Response, Status};

use super::fault::{Class, Fault};
use super::headers::Headers;

/// Fields for which there is room without an allocation; one with more is read a second time.
const USUAL_FIELDS: usize = 64;
const START: &[u8] = b"HTTP/1.";

/// A status line and the fields below it.
#[derive(Debug)]
pub(super) struct Head {
    /// 0 to 999.
    pub status: u16,
    /// 1 for HTTP/1.1, 0 for HTTP/1.0.
    pub minor_version: u8,
    /// The fields.
    pub headers: Headers,
}

/// Where the head ends, after its first empty line; `bytes` before `from` hold no end.
pub(super) fn end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(offset) = bytes.get(at..)?.iter().position(|byte| *byte == b'\n') {
        at += offset + 1;
        match &bytes[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// Checks as much of the first bytes as is there, so that another protocol is told at once.
///
/// # Errors
/// [`Class::BadHeader`].
pub(super) fn check_start(bytes: &[u8]) -> Result<(), Fault> {
    let count = bytes.len().min(START.len());
    if bytes[..count] == START[..count] {
        return Ok(());
    }
    let words = "the answer does not begin with HTTP/1: is this the port of another protocol?";
    Err(Fault::new(Class::BadHeader, words))
}

/// Reads a whole head, as [`end`] has found it.
///
/// # Errors
/// [`Class::BadHeader`].
pub(super) fn parse(bytes: &[u8]) -> Result<Head, Fault> {
    let mut room = [const { MaybeUninit::uninit() }; USUAL_FIELDS];
    match parse_into(bytes, &mut room) {
        Err(httparse::Error::TooManyHeaders) => {}
        parsed => return checked(parsed),
    }
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    let mut room = vec![MaybeUninit::uninit(); lines];
    checked(parse_into(bytes, &mut room))
}

/// `None` when the head ends elsewhere than was found.
fn parse_into<'b>(
    bytes: &'b [u8],
    room: &mut [MaybeUninit<httparse::Header<'b>>],
) -> Result<Option<Head>, httparse::Error> {
    let mut config = ParserConfig::default();
    config
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .allow_multiple_spaces_in_response_status_delimiters(true);
    let mut response = Response::new(&mut []);
    let parsed = config.parse_response_with_uninit_headers(&mut response, bytes, room)?;
    Ok(match (parsed, response.code, response.version) {
        (Status::Complete(count), Some(status), Some(minor_version)) if count == bytes.len() => {
            Some(Head {
                status,
                minor_version,
                headers: Headers::of(response.headers),
            })
        }
        _ => None,
    })
}

fn checked(parsed: Result<Option<Head>, httparse::Error>) -> Result<Head, Fault> {
    let problem = match parsed {
        Ok(Some(head)) if head.status >= 100 => return Ok(head),
        Ok(Some(_)) => "invalid status code".to_owned(),
        Ok(None) => "invalid line end".to_owned(),
        Err(error) => error.to_string(),
    };
    let words = format!("the header of the answer cannot be read: {problem}");
    Err(Fault::new(Class::BadHeader, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_after_its_first_empty_line() {
        for (text, expected) in [
            ("HTTP/1.1 200\r\n\r\n", Some(16)),
            ("HTTP/1.1 200\n\nbody\n\n", Some(14)),
            ("HTTP/1.1 200\nA: b\n\r\nbody", Some(20)),
            ("HTTP/1.1 200\r\nA: b\r\n \r\n\r\n\r\n", Some(25)),
            ("HTTP/1.1 200\r\nA: b\r\n\r", None),
            ("HTTP/1.1 200\r\r", None),
            ("", None),
        ] {
            assert_eq!(end(text.as_bytes(), 0), expected, "{text:?}");
        }
        assert_eq!(end(b"a\n\r\n", 1), Some(4));
        assert_eq!(end(b"a", 7), None);
    }

    #[test]
    fn the_first_bytes_tell_another_protocol() {
        for start in ["", "H", "HTTP/1.", "HTTP/1.1 200"] {
            assert!(check_start(start.as_bytes()).is_ok(), "{start:?}");
        }
        for start in [
            "h",
            "HTTP/2",
            "HTTP/0.9 200",
            "SSH-2.0",
            "\x15\x03\x01",
            "<html>",
        ] {
            let fault = check_start(start.as_bytes()).unwrap_err();
            assert_eq!(fault.class, Class::BadHeader, "{start:?}");
        }
    }

    #[test]
    fn a_head_is_read_as_browsers_read_it() {
        for text in [
            "HTTP/1.1 200 OK\r\nX-A: b\r\n\r\n",
            "HTTP/1.1 200\r\nX-A: b\r\n\r\n",
            "HTTP/1.1 200 \r\nX-A: b\r\n\r\n",
            "HTTP/1.1  200  All is well\r\nX-A : b\r\n\r\n",
            "HTTP/1.1 200 OK\nX-A:\tb  \n\n",
            "HTTP/1.1 200 OK\nX-A:\r\n b\n\r\n",
        ] {
            let head = parse(text.as_bytes()).expect(text);
            assert_eq!((head.status, head.minor_version), (200, 1), "{text:?}");
            assert_eq!(head.headers.get("x-a"), Some(&b"b"[..]), "{text:?}");
        }
        let head = parse(b"HTTP/1.0 302 Trouv\xe9\r\nX-A: \xe9\r\n\r\n").expect("Latin-1");
        assert_eq!((head.status, head.minor_version), (302, 0));
        assert_eq!(head.headers.get("x-a"), Some(&b"\xe9"[..]));
    }

    #[test]
    fn what_no_browser_should_read_is_refused() {
        for text in [
            "HTTP/1.1 20\r\n\r\n",
            "HTTP/1.1 099 Low\r\n\r\n",
            "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.2 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
            "HTTP/1.1 200 OK\r\n folded: first\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n",
            "HTTP/1.1 200 OK\r\nCaf\u{e9}: c\r\n\r\n",
        ] {
            let fault = parse(text.as_bytes()).expect_err(text);
            assert_eq!(fault.class, Class::BadHeader, "{text:?}");
        }
    }

    #[test]
    fn there_may_be_many_fields() {
        for count in [0, 1, 64, 65, 500] {
            let fields: String = (0..count)
                .map(|number| format!("a{number}: {number}\n"))
                .collect();
            let head = parse(format!("HTTP/1.1 200\n{fields}\n").as_bytes()).expect("a head");
            assert_eq!(head.headers.iter().count(), count);
            if let Some(last) = count.checked_sub(1) {
                let value = last.to_string();
                assert_eq!(
                    head.headers.get(&format!("A{last}")),
                    Some(value.as_bytes())
                );
            }
        }
    }
}
