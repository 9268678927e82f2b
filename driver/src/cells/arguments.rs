//! The arguments of the subcommand.

use super::Error;
use super::encode::Form;

/// How the subcommand is used.
pub const USAGE: &str = "loadstone-driver cells --names FILE --source native|lines \
                         --form copy|fixed [--rejects FILE] INPUT";

/// The kind of a file of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Blocks of cells below their points of view.
    Native,
    /// One cell a line, CSV.
    Lines,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task<'a> {
    /// File of the members and their numbers.
    pub names: &'a str,
    /// Kind of the input.
    pub source: Source,
    /// Form of the output.
    pub form: Form,
    /// File for wrong lines; without one they are only counted.
    pub rejects: Option<&'a str>,
    /// The file of cells.
    pub input: &'a str,
}

impl<'a> Task<'a> {
    /// Options in any order, each at most once, and the input.
    ///
    /// # Errors
    /// [`Error::Arguments`] that names the wrong one.
    pub fn parse(arguments: &[&'a str]) -> Result<Self, Error> {
        let (mut names, mut source, mut form, mut rejects, mut input) =
            (None, None, None, None, None);
        let mut left = arguments.iter().copied();
        while let Some(argument) = left.next() {
            let place = match argument {
                "--names" => &mut names,
                "--source" => &mut source,
                "--form" => &mut form,
                "--rejects" => &mut rejects,
                option if option.starts_with('-') => {
                    return Err(wrong(format!("{option} is not an option")));
                }
                file => {
                    if input.replace(file).is_some() {
                        return Err(wrong(format!("{file} is a second input")));
                    }
                    continue;
                }
            };
            let value = left
                .next()
                .ok_or_else(|| wrong(format!("{argument} needs a value")))?;
            if place.replace(value).is_some() {
                return Err(wrong(format!("{argument} is given twice")));
            }
        }
        let task = Self {
            names: given(names, "--names")?,
            source: match given(source, "--source")? {
                "native" => Source::Native,
                "lines" => Source::Lines,
                other => return Err(wrong(format!("--source is native or lines, not {other}"))),
            },
            form: match given(form, "--form")? {
                "copy" => Form::Copy,
                "fixed" => Form::Fixed,
                other => return Err(wrong(format!("--form is copy or fixed, not {other}"))),
            },
            rejects,
            input: given(input, "INPUT")?,
        };
        if task.source == Source::Native && task.rejects.is_some() {
            return Err(wrong("native files take no --rejects".into()));
        }
        Ok(task)
    }
}

fn given<'a>(value: Option<&'a str>, name: &str) -> Result<&'a str, Error> {
    value.ok_or_else(|| wrong(format!("{name} is missing")))
}

fn wrong(reason: String) -> Error {
    Error::Arguments(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Task<'_>, Error> {
        Task::parse(&line.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn options_come_in_any_order() {
        let task = parse("--form fixed in.csv --source lines --rejects r.csv --names n.json");
        let expected = Task {
            names: "n.json",
            source: Source::Lines,
            form: Form::Fixed,
            rejects: Some("r.csv"),
            input: "in.csv",
        };
        assert_eq!(task.expect("a task"), expected);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, named) in [
            ("--names n --source lines --form copy", "INPUT is missing"),
            ("--source lines --form copy i", "--names is missing"),
            ("--names n --form copy i", "--source is missing"),
            ("--names n --source lines i", "--form is missing"),
            ("--names n --source lines i --form", "--form needs a value"),
            (
                "--names n --source xml --form copy i",
                "native or lines, not xml",
            ),
            (
                "--names n --source lines --form json i",
                "copy or fixed, not json",
            ),
            (
                "--names n --names m --source lines --form copy i",
                "--names is given twice",
            ),
            (
                "--names n --source lines --form copy i j",
                "j is a second input",
            ),
            ("--dance", "--dance is not an option"),
            (
                "--names n --source native --form copy --rejects r i",
                "native files take no --rejects",
            ),
        ] {
            let error = parse(line).expect_err(line);
            let text = error.to_string();
            assert!(text.contains(named) && text.ends_with(USAGE), "{text}");
            assert_eq!(error.exit_code(), 2);
        }
    }
}
