//! How a value is written, by the place in a request where it stands.

use std::fmt::Write as _;

use serde_json::Value;

use super::quoting::Quoting;
use super::value::Shown;

/// The place of a value in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As it is: addresses that are values, and bodies of no known form.
    Plain,
    /// As it is, on one line.
    Header,
    /// Percent-encoded: paths and queries (RFC 3986, section 2.3 has what is left as it is).
    Percent,
    /// Urlencoded: forms (WHATWG URL, section 5.2).
    Form,
    /// Within a string of JSON.
    JsonText,
    /// In place of a string of JSON: its type is kept.
    JsonValue,
    /// A literal of SQL.
    Sql(Quoting),
}

impl Encoding {
    /// Appends `value` to `out`.
    ///
    /// # Errors
    /// That the value cannot stand here, in words that follow its name.
    pub fn write(self, value: Shown<'_>, out: &mut String) -> Result<(), &'static str> {
        match self {
            Self::Plain => out.push_str(&value.text()),
            Self::Header => {
                let text = value.text();
                if text.bytes().any(is_control) {
                    return Err("has a line break or another control character, \
                                which a header cannot have");
                }
                out.push_str(&text);
            }
            Self::Percent => percent(&value.text(), out, |byte| b"-._~".contains(&byte)),
            Self::Form => form(&value.text(), out),
            Self::JsonText => {
                let quoted = Value::from(&*value.text()).to_string();
                out.push_str(&quoted[1..quoted.len() - 1]);
            }
            Self::JsonValue => out.push_str(&value.json()),
            Self::Sql(quoting) => quoting.write(value, out)?,
        }
        Ok(())
    }
}

fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && byte != b'\t'
}

/// Percent-encodes all but letters, digits and what is `kept`.
fn percent(text: &str, out: &mut String, kept: impl Fn(u8) -> bool) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept(byte) {
            out.push(char::from(byte));
        } else {
            // A string takes all that is written.
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

fn form(text: &str, out: &mut String) {
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 {
            out.push('+');
        }
        percent(word, out, |byte| b"*-._".contains(&byte));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(encoding: Encoding, value: &Value) -> String {
        let mut out = String::new();
        encoding
            .write(Shown::from(value), &mut out)
            .expect("written");
        out
    }

    #[test]
    fn each_place_has_its_encoding() {
        let value = json!("a b/ü~*\"\\\n");
        for (encoding, expected) in [
            (Encoding::Plain, "a b/ü~*\"\\\n"),
            (Encoding::Percent, "a%20b%2F%C3%BC~%2A%22%5C%0A"),
            (Encoding::Form, "a+b%2F%C3%BC%7E*%22%5C%0A"),
            (Encoding::JsonText, "a b/ü~*\\\"\\\\\\n"),
            (Encoding::JsonValue, "\"a b/ü~*\\\"\\\\\\n\""),
        ] {
            assert_eq!(written(encoding, &value), expected, "{encoding:?}");
        }
    }

    #[test]
    fn json_keeps_its_type_only_in_place_of_a_value() {
        let value = json!([1, true, null, "x"]);
        assert_eq!(written(Encoding::JsonValue, &value), "[1,true,null,\"x\"]");
        assert_eq!(
            written(Encoding::JsonText, &value),
            "[1,true,null,\\\"x\\\"]"
        );
        assert_eq!(written(Encoding::Percent, &json!(1.5)), "1.5");
        assert_eq!(written(Encoding::Plain, &json!(null)), "null");
    }

    #[test]
    fn a_header_is_one_line() {
        let mut out = String::new();
        for text in ["a\r\nX: y", "\0", "\u{7f}"] {
            let problem = Encoding::Header.write(Shown::Text(text), &mut out);
            assert!(problem.is_err());
        }
        assert_eq!(out, "");
        assert_eq!(written(Encoding::Header, &json!("a\tü")), "a\tü");
    }
}
