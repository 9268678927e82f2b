//! How the body of an answer ends, and whether the connection can be used again after it
//! (RFC 9112, sections 6.3 and 9.3).

use super::fault::{Class, Fault};
use super::head::Head;
use super::headers::Headers;

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// There is none, whatever the header says.
    None,
    /// After so many bytes.
    Length(u64),
    /// After the last chunk.
    Chunks,
    /// When the server closes the connection.
    UntilClose,
}

/// How the body below `head` ends, and whether another request may follow on the connection.
///
/// # Errors
/// [`Class::BadLength`] for a Content-Length that is not one number; [`Class::BadEncoding`] for a
/// Transfer-Encoding other than `chunked`.
pub(super) fn of(head: &Head, head_request: bool) -> Result<(Framing, bool), Fault> {
    let headers = &head.headers;
    let persistent = is_persistent(head);
    if head_request || head.status == 304 {
        return Ok((Framing::None, persistent));
    }
    if matches!(head.status, 204 | 205) {
        // What is announced here may follow, and would be taken for the start of the next answer.
        let is_silent = headers.get("transfer-encoding").is_none()
            && matches!(content_length(headers), Ok(None | Some(0)));
        return Ok((Framing::None, persistent && is_silent));
    }
    if is_chunked(headers)? {
        let is_clear = head.minor_version > 0 && headers.get("content-length").is_none();
        return Ok((Framing::Chunks, persistent && is_clear));
    }
    Ok(match content_length(headers)? {
        Some(length) => (Framing::Length(length), persistent),
        None => (Framing::UntilClose, false),
    })
}

fn is_persistent(head: &Head) -> bool {
    let mut keeps = head.minor_version > 0;
    for option in head.headers.list("connection") {
        if option.eq_ignore_ascii_case(b"close") {
            return false;
        }
        keeps |= option.eq_ignore_ascii_case(b"keep-alive");
    }
    keeps
}

fn is_chunked(headers: &Headers) -> Result<bool, Fault> {
    let mut is_chunked = false;
    for coding in headers.list("transfer-encoding") {
        if coding.eq_ignore_ascii_case(b"chunked") && !is_chunked {
            is_chunked = true;
        } else if !coding.eq_ignore_ascii_case(b"identity") {
            let words = "the answer has a Transfer-Encoding other than chunked, \
                         which was not asked for";
            return Err(Fault::new(Class::BadEncoding, words));
        }
    }
    Ok(is_chunked)
}

/// Equal values are one, as browsers have it.
fn content_length(headers: &Headers) -> Result<Option<u64>, Fault> {
    let mut length = None;
    let values = headers.get_all("content-length");
    for value in values.flat_map(|value| value.split(|byte| *byte == b',')) {
        let value = number(value.trim_ascii()).ok_or_else(|| {
            let words = "the answer has a Content-Length that is not a number";
            Fault::new(Class::BadLength, words)
        })?;
        match length.replace(value) {
            Some(before) if before != value => {
                let words = format!("the answer has the Content-Length {before} and {value}");
                return Err(Fault::new(Class::BadLength, words));
            }
            _ => {}
        }
    }
    Ok(length)
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, digit| {
        let digit = (*digit as char).to_digit(10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::super::head;
    use super::*;

    fn of_status(status: &str, fields: &[&str]) -> Result<(Framing, bool), Class> {
        let lines: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
        let head = head::parse(format!("{status}\r\n{lines}\r\n").as_bytes()).expect("a head");
        of(&head, false).map_err(|fault| fault.class)
    }

    fn of_ok(fields: &[&str]) -> Result<(Framing, bool), Class> {
        of_status("HTTP/1.1 200 OK", fields)
    }

    #[test]
    fn equal_lengths_are_one_and_others_are_refused() {
        for fields in [
            &["Content-Length: 5"][..],
            &["Content-Length: 5", "Content-Length: 5"],
            &["Content-Length: 5, 5"],
            &["Content-Length: 005"],
        ] {
            assert_eq!(of_ok(fields), Ok((Framing::Length(5), true)), "{fields:?}");
        }
        for fields in [
            &["Content-Length: 5", "Content-Length: 6"][..],
            &["Content-Length: 5, 6"],
            &["Content-Length: 5,"],
            &["Content-Length:"],
            &["Content-Length: -5"],
            &["Content-Length: +5"],
            &["Content-Length: 5 5"],
            &["Content-Length: 0x5"],
            &["Content-Length: 18446744073709551616"],
        ] {
            assert_eq!(of_ok(fields), Err(Class::BadLength), "{fields:?}");
        }
        let largest = of_ok(&["Content-Length: 18446744073709551615"]);
        assert_eq!(largest, Ok((Framing::Length(u64::MAX), true)));
    }

    #[test]
    fn chunks_win_over_a_length_and_cost_the_connection() {
        let chunked = "Transfer-Encoding: chunked";
        assert_eq!(of_ok(&[chunked]), Ok((Framing::Chunks, true)));
        assert_eq!(
            of_ok(&["transfer-encoding: Chunked"]),
            Ok((Framing::Chunks, true))
        );
        for length in ["Content-Length: 5", "Content-Length: none"] {
            assert_eq!(of_ok(&[length, chunked]), Ok((Framing::Chunks, false)));
        }
        let old = of_status("HTTP/1.0 200 OK", &["Connection: keep-alive", chunked]);
        assert_eq!(old, Ok((Framing::Chunks, false)));
    }

    #[test]
    fn other_transfer_encodings_are_refused() {
        for fields in [
            &["Transfer-Encoding: gzip, chunked"][..],
            &["Transfer-Encoding: chunked, chunked"],
            &["Transfer-Encoding: chunked", "Transfer-Encoding: gzip"],
            &["Transfer-Encoding: gzip"],
        ] {
            assert_eq!(of_ok(fields), Err(Class::BadEncoding), "{fields:?}");
        }
        let plain = of_ok(&["Transfer-Encoding: identity", "Content-Length: 5"]);
        assert_eq!(plain, Ok((Framing::Length(5), true)));
    }

    #[test]
    fn a_connection_is_kept_as_both_sides_agree() {
        let length = "Content-Length: 5";
        for (status, fields, kept) in [
            ("HTTP/1.1 200", &[length][..], true),
            ("HTTP/1.1 200", &[length, "Connection: close"], false),
            ("HTTP/1.1 200", &[length, "Connection: foo, Close"], false),
            (
                "HTTP/1.1 200",
                &[length, "Connection: keep-alive", "Connection: close"],
                false,
            ),
            ("HTTP/1.0 200", &[length], false),
            ("HTTP/1.0 200", &[length, "Connection: Keep-Alive"], true),
            (
                "HTTP/1.0 200",
                &[length, "Connection: keep-alive, close"],
                false,
            ),
        ] {
            let expected = Ok((Framing::Length(5), kept));
            assert_eq!(of_status(status, fields), expected, "{status} {fields:?}");
        }
        assert_eq!(of_ok(&[]), Ok((Framing::UntilClose, false)));
        let none = of_ok(&["Connection: keep-alive"]);
        assert_eq!(none, Ok((Framing::UntilClose, false)));
    }

    #[test]
    fn some_answers_have_no_body_whatever_they_say() {
        let (length, zero) = ("Content-Length: 99", "Content-Length: 0");
        let (chunked, wrong) = ("Transfer-Encoding: chunked", "Content-Length: none");
        for (status, fields, kept) in [
            ("HTTP/1.1 304", &[length][..], true),
            ("HTTP/1.1 304", &[chunked], true),
            ("HTTP/1.1 304", &[length, "Connection: close"], false),
            ("HTTP/1.1 204", &[], true),
            ("HTTP/1.1 205", &[zero], true),
            ("HTTP/1.1 204", &[length], false),
            ("HTTP/1.1 205", &[chunked], false),
            ("HTTP/1.1 204", &[wrong], false),
        ] {
            let expected = Ok((Framing::None, kept));
            assert_eq!(of_status(status, fields), expected, "{status} {fields:?}");
        }
        for field in [length, chunked, wrong, "Transfer-Encoding: gzip"] {
            let text = format!("HTTP/1.1 200 OK\r\n{field}\r\n\r\n");
            let head = head::parse(text.as_bytes()).expect("a head");
            assert_eq!(of(&head, true), Ok((Framing::None, true)), "{field}");
        }
    }
}
