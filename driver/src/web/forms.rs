//! Values of form fields in HTML: what a browser would send for a field of a name.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

/// The first `most` values of fields `name` in `html`: of `input`, `textarea` and `select`, and the
/// content of `meta`. Buttons of choice count when they are checked.
pub fn find(html: &[u8], name: &str, most: usize) -> Vec<String> {
    let mut emitter = DefaultEmitter::default();
    // What looks like a tag within a script or a text area is none.
    emitter.naively_switch_states(true);
    let mut reader = Reader {
        name,
        open: Open::Nothing,
        found: Vec::new(),
    };
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        reader.read(&token);
        if reader.found.len() >= most {
            break;
        }
    }
    reader.found
}

/// The field whose value goes on after its tag.
enum Open {
    Nothing,
    TextArea(String),
    Select(Select),
}

#[derive(Default)]
struct Select {
    first: Option<String>,
    selected: Option<String>,
    /// The option whose text is being read.
    option: Option<Choice>,
}

/// An option.
struct Choice {
    value: Option<String>,
    text: String,
    selected: bool,
}

impl Select {
    /// Ends the option whose text was being read.
    fn end_option(&mut self) {
        let Some(choice) = self.option.take() else {
            return;
        };
        let words = || {
            let words: Vec<&str> = choice.text.split_ascii_whitespace().collect();
            words.join(" ")
        };
        let value = choice.value.unwrap_or_else(words);
        if choice.selected && self.selected.is_none() {
            self.selected = Some(value.clone());
        }
        self.first.get_or_insert(value);
    }

    /// Its value: that of the option that is selected, or else of the first.
    fn value(mut self) -> Option<String> {
        self.end_option();
        self.selected.or(self.first)
    }
}

struct Reader<'n> {
    name: &'n str,
    open: Open,
    found: Vec<String>,
}

impl Reader<'_> {
    fn read(&mut self, token: &Token) {
        match token {
            Token::StartTag(tag) => self.begin(tag),
            Token::EndTag(tag) => self.end(&tag.name),
            Token::String(text) => self.text(text),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }

    fn begin(&mut self, tag: &StartTag<()>) {
        match tag.name.as_slice() {
            b"input" if self.is_named(tag) => self.found.extend(input(tag)),
            b"meta" if self.is_named(tag) => self.found.extend(attribute(tag, "content")),
            b"textarea" if self.is_named(tag) => self.open = Open::TextArea(String::new()),
            b"select" if self.is_named(tag) => self.open = Open::Select(Select::default()),
            b"option" => {
                if let Open::Select(select) = &mut self.open {
                    select.end_option();
                    select.option = Some(Choice {
                        value: attribute(tag, "value"),
                        text: String::new(),
                        selected: attribute(tag, "selected").is_some(),
                    });
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        match &mut self.open {
            Open::TextArea(value) => value.push_str(&text),
            Open::Select(Select {
                option: Some(choice),
                ..
            }) => choice.text.push_str(&text),
            Open::Select(_) | Open::Nothing => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        match (name, std::mem::replace(&mut self.open, Open::Nothing)) {
            (b"textarea", Open::TextArea(value)) => {
                // A line break after the tag is no part of the value.
                let value = value.strip_prefix('\n').unwrap_or(&value);
                self.found.push(value.to_owned());
            }
            (b"select", Open::Select(select)) => self.found.extend(select.value()),
            (b"option", Open::Select(mut select)) => {
                select.end_option();
                self.open = Open::Select(select);
            }
            (_, open) => self.open = open,
        }
    }

    fn is_named(&self, tag: &StartTag<()>) -> bool {
        attribute(tag, "name").is_some_and(|name| name == self.name)
    }
}

/// The value of an `input`, if a browser would send it.
fn input(tag: &StartTag<()>) -> Option<String> {
    let kind = attribute(tag, "type").unwrap_or_default();
    let choice = ["checkbox", "radio"]
        .iter()
        .any(|name| kind.eq_ignore_ascii_case(name));
    if choice && attribute(tag, "checked").is_none() {
        return None;
    }
    let without = if choice { "on" } else { "" };
    Some(attribute(tag, "value").unwrap_or_else(|| without.to_owned()))
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(html: &str, name: &str) -> Vec<String> {
        find(html.as_bytes(), name, usize::MAX)
    }

    #[test]
    fn a_token_is_found_in_any_spelling_of_its_field() {
        for html in [
            r#"<form><input type="hidden" name="csrf" value="a&amp;b"></form>"#,
            "<INPUT value='a&amp;b' NAME=csrf />",
            "<p><input name=\"csrf\"\n  value=\"a&#38;b\"",
            r#"<meta name="csrf" content="a&amp;b">"#,
            "<textarea name=csrf>\na&amp;b</textarea>",
        ] {
            let expected: &[&str] = if html.ends_with('"') { &[] } else { &["a&b"] };
            assert_eq!(all(html, "csrf"), expected, "{html}");
        }
    }

    #[test]
    fn what_is_no_field_of_the_name_is_passed_over() {
        for html in [
            "<input name=other value=x><a name=csrf>y</a>",
            "<script>'<input name=csrf value=x>'</script>",
            "<!-- <input name=csrf value=x> -->",
            "<textarea><input name=csrf value=x></textarea>",
            "<input type=radio name=csrf value=x><input type=CHECKBOX name=csrf>",
            "<select name=csrf></select>",
            "\u{0}\u{ff}<<<>",
        ] {
            assert_eq!(all(html, "csrf"), Vec::<String>::new(), "{html}");
        }
    }

    #[test]
    fn a_select_has_the_value_that_is_selected_or_else_the_first() {
        let plain = "<select name=s><option value=1>one<option>two  words\n</option></select>";
        assert_eq!(all(plain, "s"), ["1"]);
        let selected = "<select name=s><optgroup><option value=1>one</option>\
            <option selected> two  words\n</option></optgroup></select>";
        assert_eq!(all(selected, "s"), ["two words"]);
    }

    #[test]
    fn only_as_many_as_are_asked_for_are_read() {
        let html = "<input name=a value=1><input name=a><input name=a type=checkbox checked>";
        assert_eq!(all(html, "a"), ["1", "", "on"]);
        assert_eq!(find(html.as_bytes(), "a", 1), ["1"]);
    }
}
