//! The subcommand `cells`, as a program.

use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::scratch::Folder;
use crate::support::command;

const LINES: &str = "Entity,Product,Years,Scenario,Version,Currency,Account,Period,Data\n\
                     D,P,FY17,Actual,Final,Local,Units,Jan,5\n\
                     D,P,FY17,Actual,Final,Local,Units,Feb,x\n";

/// The files of a test.
struct Files(Folder);

impl Files {
    fn new() -> Self {
        let folder = Folder::new("cells");
        let names = json!({
            "dimensions": {
                "Entity": {"D": 1}, "Product": {"P": 2}, "Years": {"FY17": 3},
                "Scenario": {"Actual": 4}, "Version": {"Final": 5}, "Currency": {"Local": 6},
                "Account": {"Units": 7},
            },
            "periods": ["BegBalance", "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
        });
        std::fs::write(folder.join("names.json"), names.to_string()).expect("names");
        std::fs::write(folder.join("cells.csv"), LINES).expect("cells");
        Self(folder)
    }

    fn encode(&self, input: &str, stdout: impl Into<Stdio>) -> Output {
        command()
            .args(["cells", "--names", "names.json", "--source", "lines"])
            .args(["--form", "fixed", input])
            .current_dir(self.0.path())
            .stdout(stdout)
            .output()
            .expect("output")
    }
}

#[test]
fn rows_go_out_and_one_line_tells_what_they_were() {
    let files = Files::new();
    let output = files.encode("cells.csv", Stdio::piped());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout.len(), 118);
    let told = String::from_utf8(output.stderr).expect("text");
    assert_eq!(told.lines().count(), 1, "{told}");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let expected = json!({"lines": 2, "cells": 1, "rows": 1, "rejected": 1, "sum": 5.0,
                          "cpu_s": told["cpu_s"].as_f64().expect("a number")});
    assert_eq!(told, expected);
}

#[test]
fn what_is_wrong_is_one_line_and_an_exit_code() {
    let files = Files::new();
    let (reader, closed) = std::io::pipe().expect("a pipe");
    drop(reader);
    for (output, code, named) in [
        (files.encode("other.csv", Stdio::piped()), 1, "other.csv: "),
        (
            files.encode("--dance", Stdio::piped()),
            2,
            "--dance is not an option",
        ),
        (files.encode("cells.csv", closed), 1, "standard output"),
    ] {
        let told = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(
            told.starts_with("loadstone-driver: ") && told.contains(named),
            "{told}"
        );
        assert_eq!(told.lines().count(), 1, "{told}");
    }
}
