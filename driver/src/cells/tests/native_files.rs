use super::*;

fn native_error(text: &str) -> String {
    let found = encoded(Source::Native, Form::Fixed, text);
    found.expect_err("an error").to_string()
}

#[test]
fn native_lines_belong_to_their_point_of_view() {
    let text = format!(
        "{PERIODS}\n{VIEW}\n\"Units\" 1 0 #Mi\n\n\"COGS\"  #Missing\t-2.5 #Mi \n\
         \"Final\" \"Budget\" \"FY17\" \"Dept_0002\" \"Local\" \"Article_0001\"\n\"Units\" #Mi #Mi #Mi\n"
    );
    for text in [text.clone(), text.replace('\n', "\r\n")] {
        let (counts, many, bytes) = encoded(Source::Native, Form::Fixed, &text).expect("rows");
        let told = (counts.lines, counts.cells, counts.rejected, many);
        assert_eq!(told, (3, 3, 0, 3));
        assert_eq!(counts.sum.to_bits(), (-1.5_f64).to_bits());
        let expected = [
            row([5, 11, 5, 1, 2, 1, 8], &[(0, 1.0), (1, 0.0)]),
            row([5, 11, 5, 1, 2, 1, -3], &[(1, -2.5)]),
            row([6, 7, 4, 2, 2, 1, 8], &[]),
        ];
        assert_eq!(rows(&bytes), expected);
    }
}

#[test]
fn rows_may_end_early_and_missing_is_written_in_any_case() {
    let text = format!("\u{feff}{PERIODS}\n{VIEW}\n\"Units\" 1 #MISSING #mI\n\"COGS\" 2\n");
    let (counts, _, bytes) = encoded(Source::Native, Form::Fixed, &text).expect("rows");
    assert_eq!((counts.lines, counts.cells), (2, 2));
    let expected = [
        row([5, 11, 5, 1, 2, 1, 8], &[(0, 1.0)]),
        row([5, 11, 5, 1, 2, 1, -3], &[(0, 2.0)]),
    ];
    assert_eq!(rows(&bytes), expected);
}

#[test]
fn what_is_wrong_in_a_native_file_is_named_with_its_line() {
    let swapped = |from: &str, to: &str| format!("{PERIODS}\n{}\n", VIEW.replace(from, to));
    let below = |line: &str| format!("{PERIODS}\n{VIEW}\n\"Units\" 1 2 3\n{line}\n");
    for (text, expected) in [
        (String::new(), "in, line 1: the file is empty"),
        ("\n".into(), "in, line 1: there are no periods"),
        ("\"Jan\" \"Q1\"\n".into(), "in, line 1: \"Q1\" is no period"),
        (
            "\"Jan\" \"Jan\"\n".into(),
            "in, line 1: \"Jan\" is there twice",
        ),
        (
            "Jan\n".into(),
            "in, line 1: \"Jan\" stands where a quoted member should",
        ),
        (
            swapped("\"FY18\" ", ""),
            "in, line 2: the point of view has no member of Years",
        ),
        (
            swapped("FY18", "FY99"),
            "in, line 2: \"FY99\" is no sparse member",
        ),
        (
            swapped("FY18", "Dept_0002"),
            "in, line 2: it has two members of Entity",
        ),
        (
            swapped("FY18", "Both"),
            "in, line 2: \"Both\" is a member of Entity and of Product",
        ),
        (
            swapped("\"FY18\"", "FY18"),
            "in, line 2: \"FY18\" stands where a quoted member should",
        ),
        (
            format!("{PERIODS}\n\"Units\" 1 2 3\n"),
            "in, line 2: no point of view stands before it",
        ),
        (
            below("\"Unit\" 1 2 3"),
            "in, line 4: \"Unit\" is no account",
        ),
        (
            below("\"Units\" 1 2 3 4"),
            "in, line 4: it has more amounts than columns, which are 3",
        ),
        (
            below("\"Units\" 1 2 inf"),
            "in, line 4: \"inf\" is no number",
        ),
        (below("\"Units"), "in, line 4: a quote is not closed"),
        (
            below("1 2 3"),
            "in, line 4: \"1\" stands where a quoted member should",
        ),
    ] {
        let told = native_error(&text);
        assert!(told.starts_with(expected), "{told}");
    }
}
