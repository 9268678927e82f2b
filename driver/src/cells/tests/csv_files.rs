use std::fs;
use std::path::PathBuf;

use super::*;

/// A folder that is gone after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ls-cells-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str, text: &[u8]) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn lines_of_one_key_are_a_row() {
    let text = format!(
        "{HEADER}\n\
         Dept_0001,Article_0001,FY17,Actual,Final,Local,Units,Jan,10\n\
         Dept_0001,Article_0001,FY17,Actual,Final,Local,Units,Mar,0\n\
         \"Dept_0001\",Article_0001,FY17,Actual,Final,Local,Units,Jan,12\n\
         \n\
         Dept_0001,Article_0001,FY17,Actual,Final,Local,COGS,Dec,-1.5\n\
         Dept_0001,Article_0001,FY17,Actual,Final,Local,Units,Feb,2"
    );
    let unended = text.clone();
    for text in [unended, format!("{text}\n"), text.replace('\n', "\r\n")] {
        let (counts, many, bytes) = encoded(Source::Lines, Form::Fixed, &text).expect("rows");
        let told = (counts.lines, counts.cells, counts.rejected, many);
        assert_eq!(told, (5, 5, 0, 3), "{text:?}");
        assert_eq!(counts.sum.to_bits(), 22.5_f64.to_bits());
        let units = [5, 7, 4, 1, 2, 1, 8];
        let expected = [
            row(units, &[(1, 12.0), (3, 0.0)]),
            row([5, 7, 4, 1, 2, 1, -3], &[(12, -1.5)]),
            row(units, &[(2, 2.0)]),
        ];
        assert_eq!(rows(&bytes), expected);
    }
}

#[test]
fn a_missing_amount_is_no_cell() {
    let key = "Dept_0001,Article_0001,FY17,Actual,Final,Local,Units";
    let text = format!("\u{feff}{HEADER}\n{key},Jan,1\n{key},Feb,#MISSING\n{key},Jan,#mi\n");
    let (counts, many, bytes) = encoded(Source::Lines, Form::Fixed, &text).expect("rows");
    assert_eq!(
        (counts.lines, counts.cells, counts.rejected, many),
        (3, 1, 0, 1)
    );
    assert_eq!(rows(&bytes), [row([5, 7, 4, 1, 2, 1, 8], &[])]);
}

#[test]
fn columns_come_in_the_order_of_the_header() {
    let text = "Data,Account,Period,Currency,Version,Scenario,Years,Product,Entity\n\
                7,Units,BegBalance,Local,Final,Budget,FY18,NoProduct,Dept_0002\n";
    let (_, _, bytes) = encoded(Source::Lines, Form::Fixed, text).expect("rows");
    assert_eq!(rows(&bytes), [row([6, 11, 5, 2, 2, 1, 8], &[(0, 7.0)])]);
}

#[test]
fn a_wrong_header_names_the_column() {
    for (header, named) in [
        (
            "Entity,Product".to_owned(),
            "in, line 1: the header has no column Years",
        ),
        (format!("{HEADER},Note"), "\"Note\""),
        (format!("{HEADER},Data"), "Data twice"),
        (String::new(), "no column Entity"),
    ] {
        let found = encoded(Source::Lines, Form::Copy, &header);
        let told = found.expect_err("an error").to_string();
        assert!(told.contains(named), "{told}");
    }
}

#[test]
fn wrong_lines_are_rejected_with_their_line_and_column() {
    let rest = "FY17,Actual,Final,Local";
    let text = format!(
        "{HEADER}\n\
         Dept_0001,Article_0001,{rest},Units,Jan,1\n\
         Dpt_0815,Article_0001,{rest},Unit,Jan,2\n\
         Dept_0001,Article_0001,{rest},Unit,Jan,4\n\
         Dept_0001,Article_0001,{rest},Units,P01,8\n\
         \n\
         Dept_0001,Article_0001,{rest},Units,Feb,#Miss\n\
         Dept_0001,Article_0001,{rest},Units,Feb,NaN\n\
         Dept_0001,Article_0001,{rest},Units,Feb,\n\
         Dept_0001,Article_0001,{rest},Units,Feb\n\
         Dept_0001,\"Department, 12\",{rest},Units,Feb,16\n\
         Dept_0001,Article_0001,{rest},Units,Feb,32\n\
         Dept_0001,Article_0001,{rest},Units,Feb,64,128"
    );
    let expected = format!(
        "line,field,text\n3,Entity,Dpt_0815\n4,Account,Unit\n5,Period,P01\n7,Data,#Miss\n\
         8,Data,NaN\n9,Data,\n10,,\"Dept_0001,Article_0001,{rest},Units,Feb\"\n\
         11,Product,\"Department, 12\"\n13,,\"Dept_0001,Article_0001,{rest},Units,Feb,64,128\"\n"
    );
    let folder = Folder::new("rejects");
    let names = folder.file("names.json", names_json().to_string().as_bytes());
    let rejects = folder.file("rejects.csv", b"");
    for text in [text.clone(), text.replace('\n', "\r\n")] {
        let input = folder.file("in.csv", text.as_bytes());
        let mut bytes = Vec::new();
        let options = ["--names", &names, "--source", "lines", "--form", "fixed"];
        let arguments = [&options[..], &["--rejects", &rejects, &input]].concat();
        let told = run(&arguments, &mut bytes).expect("rows");
        let counts = (told.lines, told.cells, told.rows, told.rejected);
        assert_eq!(counts, (11, 2, 1, 9));
        assert!(told.to_string().contains("\"rejected\":9,\"sum\":33.0,"));
        let found = fs::read_to_string(&rejects).expect("rejects");
        assert_eq!(found, expected);
        let key = [5, 7, 4, 1, 2, 1, 8];
        assert_eq!(rows(&bytes), [row(key, &[(1, 1.0), (2, 32.0)])]);
    }
}

#[test]
fn a_quote_that_is_not_closed_ends_the_reading() {
    let text = format!("{HEADER}\nx\n\"Dept_0001,Article_0001\nDept_0001\n");
    let found = encoded(Source::Lines, Form::Fixed, &text);
    let told = found.expect_err("an error").to_string();
    assert_eq!(told, "in, line 3: a quote is not closed");
}
