//! How a value is written as a literal of SQL.

use serde_json::Value;

use super::value::Shown;

/// Whose literals they are. They mean the same whatever the settings of the session are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoting {
    /// PostgreSQL's.
    Postgresql,
    /// Those of MySQL and MariaDB.
    Mysql,
    /// SQLite's.
    Sqlite,
}

impl Quoting {
    /// Appends `value` to `out`: a text in quotes, all else as it is.
    ///
    /// # Errors
    /// That the value is no literal, in words that follow its name.
    pub fn write(self, value: Shown<'_>, out: &mut String) -> Result<(), &'static str> {
        match value {
            Shown::Text(text) => return self.text(text, out),
            Shown::Json(Value::Null) => out.push_str("NULL"),
            Shown::Json(Value::Bool(is_true)) => {
                out.push_str(if *is_true { "TRUE" } else { "FALSE" })
            }
            Shown::Json(Value::Number(number)) => {
                let text = number.to_string();
                // Two signs in a row would begin a comment.
                if text.starts_with('-') {
                    out.extend(["(", &text, ")"]);
                } else {
                    out.push_str(&text);
                }
            }
            Shown::Json(Value::String(text)) => return self.text(text, out),
            Shown::Json(Value::Array(_) | Value::Object(_)) => {
                return Err("is a list or an object, which no literal of SQL is");
            }
        }
        Ok(())
    }

    fn text(self, text: &str, out: &mut String) -> Result<(), &'static str> {
        if text.contains('\0') {
            return Err("has a NUL, which no text of SQL can have");
        }
        let has_backslash = text.contains('\\');
        match self {
            // What a backslash means in plain quotes is a setting.
            Self::Postgresql if has_backslash => {
                out.push_str(" E'");
                out.push_str(&text.replace('\\', "\\\\").replace('\'', "''"));
            }
            Self::Mysql if has_backslash => {
                out.push_str("CONVERT(X'");
                out.extend(text.bytes().map(|byte| format!("{byte:02X}")));
                out.push_str("' USING utf8mb4)");
                return Ok(());
            }
            _ => {
                out.push('\'');
                out.push_str(&text.replace('\'', "''"));
            }
        }
        out.push('\'');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(quoting: Quoting, value: &Value) -> Result<String, &'static str> {
        let mut out = String::new();
        quoting.write(Shown::from(value), &mut out)?;
        Ok(out)
    }

    #[test]
    fn a_literal_is_of_its_type() {
        for (value, expected) in [
            (json!(1995), "1995"),
            (json!(-5), "(-5)"),
            (json!(1.5), "1.5"),
            (json!(true), "TRUE"),
            (json!(null), "NULL"),
            (json!("1995"), "'1995'"),
            (json!("O'Brien's"), "'O''Brien''s'"),
            (json!(""), "''"),
        ] {
            for quoting in [Quoting::Postgresql, Quoting::Mysql, Quoting::Sqlite] {
                assert_eq!(written(quoting, &value).as_deref(), Ok(expected));
            }
        }
    }

    #[test]
    fn a_text_cannot_end_its_quotes() {
        let text = json!("\\' OR 1=1 --");
        for (quoting, expected) in [
            (Quoting::Postgresql, " E'\\\\'' OR 1=1 --'"),
            (
                Quoting::Mysql,
                "CONVERT(X'5C27204F5220313D31202D2D' USING utf8mb4)",
            ),
            (Quoting::Sqlite, "'\\'' OR 1=1 --'"),
        ] {
            assert_eq!(written(quoting, &text).as_deref(), Ok(expected));
            assert!(written(quoting, &json!("a\0b")).is_err());
            assert!(written(quoting, &json!([1])).is_err());
            assert!(written(quoting, &json!({"a": 1})).is_err());
        }
    }
}
