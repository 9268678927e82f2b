mod csv_files;
mod native_files;

use std::io;

use serde_json::{Value, json};

use super::encode::{Form, Row};
use super::*;

const HEADER: &str = "Entity,Product,Years,Scenario,Version,Currency,Account,Period,Data";
const PERIODS: &str = "\"BegBalance\" \"Jan\" \"Feb\"";
const VIEW: &str = "\"Dept_0001\" \"NoProduct\" \"FY18\" \"Actual\" \"Final\" \"Local\"";

pub(super) fn names_json() -> Value {
    json!({
        "dimensions": {
            "Entity": {"Dept_0001": 5, "Dept_0002": 6, "Both": 20},
            "Product": {"Article_0001": 7, "NoProduct": 11, "Both": 21},
            "Years": {"FY17": 4, "FY18": 5},
            "Scenario": {"Actual": 1, "Budget": 2},
            "Version": {"Final": 2},
            "Currency": {"Local": 1},
            "Account": {"Units": 8, "COGS": -3},
        },
        "periods": ["BegBalance", "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
    })
}

fn names() -> Names {
    Names::parse(&names_json().to_string()).expect("names")
}

fn encoded(source: Source, form: Form, text: &str) -> Result<(Counts, u64, Vec<u8>), Error> {
    let (names, mut bytes) = (names(), Vec::new());
    let mut encoder = Encoder::new(&mut bytes, form);
    let data = text.as_bytes();
    let counts = match source {
        Source::Native => native::read("in", data, &names, &mut encoder),
        Source::Lines => lines::read("in", data, &names, None, &mut encoder),
    }?;
    let rows = encoder.finish()?;
    Ok((counts, rows, bytes))
}

/// The rows of the form `fixed`.
fn rows(bytes: &[u8]) -> Vec<Row> {
    let (rows, rest) = bytes.as_chunks::<118>();
    assert!(rest.is_empty());
    let row = |bytes: &[u8; 118]| {
        let mut row = Row::empty([0; 7]);
        let (members, amounts) = bytes.split_at(14);
        for (member, bytes) in row.key.iter_mut().zip(members.as_chunks().0) {
            *member = i16::from_le_bytes(*bytes);
        }
        for (amount, bytes) in row.amounts.iter_mut().zip(amounts.as_chunks().0) {
            let number = f64::from_le_bytes(*bytes);
            *amount = (!number.is_nan()).then_some(number);
        }
        row
    };
    rows.iter().map(row).collect()
}

fn row(key: [i16; 7], amounts: &[(usize, f64)]) -> Row {
    let mut row = Row::empty(key);
    for (place, amount) in amounts {
        row.amounts[*place] = Some(*amount);
    }
    row
}

#[test]
fn a_header_alone_has_no_rows() {
    for (source, text) in [(Source::Lines, HEADER), (Source::Native, PERIODS)] {
        let (counts, many, bytes) = encoded(source, Form::Fixed, text).expect("no rows");
        assert_eq!((counts, many, bytes.len()), (Counts::default(), 0, 0));
        let (_, _, bytes) = encoded(source, Form::Copy, text).expect("no rows");
        assert_eq!(bytes, b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\xff\xff");
    }
}

#[test]
fn copy_is_what_the_server_reads() {
    let text = format!("{PERIODS}\n{VIEW}\n\"COGS\" #Mi 0 3\n");
    let (_, _, bytes) = encoded(Source::Native, Form::Copy, &text).expect("rows");
    let mut expected = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x14".to_vec();
    for member in [5_i16, 11, 5, 1, 2, 1, -3] {
        expected.extend([0, 0, 0, 2]);
        expected.extend(member.to_be_bytes());
    }
    expected.extend([0xff; 4]);
    for amount in [0.0_f64, 3.0] {
        expected.extend([0, 0, 0, 8]);
        expected.extend(amount.to_be_bytes());
    }
    expected.extend([0xff; 4 * 10]);
    expected.extend([0xff; 2]);
    assert_eq!(bytes, expected);
}

#[test]
fn missing_is_a_quiet_nan_in_the_form_fixed() {
    let text = format!("{PERIODS}\n{VIEW}\n\"COGS\" #Mi 0 3\n");
    let (_, _, bytes) = encoded(Source::Native, Form::Fixed, &text).expect("rows");
    assert_eq!(bytes[14..22], [0, 0, 0, 0, 0, 0, 0xf8, 0x7f]);
    assert_eq!(bytes[22..30], [0; 8]);
}

#[test]
fn an_output_that_was_closed_is_an_error() {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    let names = names();
    let mut encoder = Encoder::new(writer, Form::Fixed);
    let text = format!("{PERIODS}\n{VIEW}\n{}", "\"Units\" 1 2 3\n".repeat(5000));
    let error = native::read("in", text.as_bytes(), &names, &mut encoder).expect_err("EPIPE");
    assert!(matches!(&error, Error::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe));
    assert_eq!(error.exit_code(), 1);
}
