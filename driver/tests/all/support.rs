//! Starts the driver and reads its frames.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde_json::{Value, json};

/// The driver's command, with pipes.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadstone-driver"));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn plan(phases: Value) -> Value {
    json!({"version": 4, "seed": 1, "tick_s": 0.1, "workload": {"name": "noop"}, "phases": phases})
}

pub fn phase(name: &str, kind: &str, duration_s: Value, load: Value) -> Value {
    json!({"name": name, "kind": kind, "duration_s": duration_s, "load": load})
}

/// A driver that runs.
pub struct Driver {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
    frames: Vec<Value>,
}

/// A driver that has ended.
pub struct Finished {
    pub frames: Vec<Value>,
    pub errors: String,
    pub code: Option<i32>,
}

impl Driver {
    pub fn start(plan: &Value) -> Self {
        let mut child = command().spawn().expect("the driver");
        let mut input = child.stdin.take().expect("a pipe");
        writeln!(input, "{plan}").expect("written");
        let output = child.stdout.take().map(BufReader::new);
        Self {
            child,
            input: Some(input),
            output,
            frames: Vec::new(),
        }
    }

    fn next(&mut self) -> Option<&Value> {
        let mut line = String::new();
        self.output.as_mut()?.read_line(&mut line).expect("a line");
        if line.is_empty() {
            return None;
        }
        self.frames
            .push(serde_json::from_str(&line).expect("a frame"));
        self.frames.last()
    }

    pub fn wait_until(&mut self, mut wanted: impl FnMut(&Value) -> bool) {
        while !wanted(self.next().expect("a further frame")) {}
    }

    /// Reads up to the event of `kind`.
    pub fn wait_for(&mut self, kind: &str) {
        self.wait_until(|frame| frame["kind"] == kind);
    }

    pub fn control(&mut self, line: &Value) {
        writeln!(self.input.as_mut().expect("a pipe"), "{line}").expect("written");
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: the child has not been waited for, so its number is still its own.
        unsafe { libc::kill(self.child.id().cast_signed(), signal) };
    }

    pub fn close_input(&mut self) {
        self.input = None;
    }

    pub fn close_output(&mut self) {
        self.output = None;
    }

    pub fn wait_exit(mut self) -> Option<i32> {
        self.child.wait().expect("an end").code()
    }

    /// Reads to the end.
    pub fn finish(mut self) -> Finished {
        while self.next().is_some() {}
        let mut errors = String::new();
        let stderr = self.child.stderr.as_mut().expect("a pipe");
        stderr.read_to_string(&mut errors).expect("text");
        let code = self.child.wait().expect("an end").code();
        Finished {
            frames: self.frames,
            errors,
            code,
        }
    }
}

pub fn of_kind<'a>(frames: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    frames.iter().filter(move |frame| frame["frame"] == kind)
}

/// The histogram of a frame; an empty one where there is none.
pub fn histogram(text: &Value) -> Histogram<u64> {
    let Some(text) = text.as_str() else {
        return Histogram::new(3).expect("a histogram");
    };
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .expect("base64");
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .expect("a histogram")
}

/// How long the ticks of a run last together: longer than its phases on a busy machine.
pub fn lasted_s(frames: &[Value]) -> f64 {
    let of =
        |name: &'static str| of_kind(frames, "tick").filter_map(move |tick| tick[name].as_f64());
    of("to_s").fold(0.0, f64::max) - of("from_s").fold(f64::INFINITY, f64::min)
}

/// Operations that ended well in a phase.
pub fn operations(frames: &[Value], phase: &str, name: &str) -> u64 {
    of_kind(frames, "tick")
        .filter(|tick| tick["phase"] == phase)
        .map(|tick| tick["operations"][name]["count"].as_u64().expect("a count"))
        .sum()
}

/// The sum of a count over the ticks of a phase.
pub fn sum(frames: &[Value], phase: &str, field: &str) -> u64 {
    of_kind(frames, "tick")
        .filter(|tick| tick["phase"] == phase)
        .map(|tick| tick[field].as_u64().expect("a count"))
        .sum()
}
