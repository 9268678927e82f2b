//! A scenario as a plan has it: what the users of a web application do.
//!
//! It is the scenario of the experiment file with its defaults filled in.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::options::{
    ClassPlan, KeepPlan, LogInAgainPlan, OneOfPlan, PicksPlan, RetryPlan, WeightsPlan,
};
use crate::clock::to_ns;
use crate::parameters::refuse;
use crate::plan::Refusal;
use crate::plan::limits::LONGEST_S;
use crate::retry::BackOff;

/// The parameters of the workload.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    pub scenario: Scenario,
    /// The file to which kept answers are appended.
    #[serde(default)]
    pub answers: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[serde(default)]
    pub people: Option<PeopleFile>,
    /// Constants by name.
    #[serde(default)]
    pub values: Map<String, Value>,
    /// Environment variables that hold secrets, by the name of the secret.
    #[serde(default)]
    pub secrets: BTreeMap<String, String>,
    /// Sent with each request that does not have one of the same name.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Other hosts that may be asked.
    #[serde(default)]
    pub hosts: Vec<String>,
    #[serde(default)]
    pub order: Order,
    /// Weights of a user's first transaction.
    #[serde(default)]
    pub first: Option<WeightsPlan>,
    /// Classes of errors; the first that holds counts.
    #[serde(default)]
    pub classes: Vec<ClassPlan>,
    #[serde(default)]
    pub log_in_again: Option<LogInAgainPlan>,
    /// Most connections of a user to one origin.
    #[serde(default = "six")]
    pub connections: u32,
    /// Most redirects that one request follows.
    #[serde(default = "ten")]
    pub redirects: u32,
    /// The pacing of the plan has it.
    #[serde(default, rename = "think_time")]
    _think_time: Option<IgnoredAny>,
    #[serde(default)]
    pub timeouts_s: TimeoutsS,
    #[serde(default)]
    pub limits: LimitsPlan,
    #[serde(default = "sixty")]
    pub resolve_every_s: f64,
    #[serde(default)]
    pub log_in: Option<LogInPlan>,
    #[serde(default)]
    pub first_visit: Option<Steps>,
    #[serde(default)]
    pub log_out: Option<Steps>,
    pub transactions: Vec<TransactionPlan>,
}

/// A CSV file whose header names values; user n has row n modulo the rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeopleFile {
    pub path: String,
}

/// How a user chooses its next transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// By weight.
    #[default]
    Drawn,
    /// One after the other; weights are of no account.
    InTurn,
}

/// Seconds that each part of a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutsS {
    pub resolve: f64,
    pub connect: f64,
    pub tls: f64,
    pub first_byte: f64,
    pub whole: f64,
}

impl Default for TimeoutsS {
    fn default() -> Self {
        Self {
            resolve: 5.0,
            connect: 10.0,
            tls: 10.0,
            first_byte: 60.0,
            whole: 120.0,
        }
    }
}

/// The most that an answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsPlan {
    pub header_bytes: u64,
    pub body_bytes: u64,
    pub inflated_bytes: u64,
    /// Answers of 1xx before the one that counts.
    pub interim: u32,
}

impl Default for LimitsPlan {
    fn default() -> Self {
        Self {
            header_bytes: 65_536,
            body_bytes: 64 << 20,
            inflated_bytes: 64 << 20,
            interim: 100,
        }
    }
}

/// A first visit or a log-out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    pub steps: Vec<StepPlan>,
}

/// A log-in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogInPlan {
    pub steps: Vec<StepPlan>,
    #[serde(default)]
    pub back_off_s: BackOffS,
}

/// Seconds for which a user holds off whose log-in has failed, give or take a half; they double with each that
/// fails.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BackOffS {
    pub first: f64,
    pub longest: f64,
}

impl Default for BackOffS {
    fn default() -> Self {
        Self {
            first: 1.0,
            longest: 30.0,
        }
    }
}

impl BackOffS {
    /// The back-off; `path` is the field that it is in.
    ///
    /// # Errors
    /// A [`Refusal`] of the first number that makes no sense.
    pub fn read(self, path: &str) -> Result<BackOff, Refusal> {
        let Self { first, longest } = self;
        for (name, value) in [("first", first), ("longest", longest)] {
            if !(0.0..=LONGEST_S).contains(&value) {
                let problem = format!("{value} is not between 0 and {LONGEST_S} seconds");
                return Err(refuse(&format!("{path}.{name}"), problem));
            }
        }
        if first > longest {
            let problem = format!("{first} is more than longest, {longest}");
            return Err(refuse(&format!("{path}.first"), problem));
        }
        Ok(BackOff {
            base_ns: to_ns(first),
            cap_ns: to_ns(longest),
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransactionPlan {
    pub name: String,
    #[serde(default = "one")]
    pub weight: f64,
    /// The pacing of the plan has it.
    #[serde(default, rename = "think_time")]
    _think_time: Option<IgnoredAny>,
    /// Weights of what a user does after it.
    #[serde(default)]
    pub next: Option<WeightsPlan>,
    #[serde(default)]
    pub pick: PicksPlan,
    pub steps: Vec<StepPlan>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepPlan {
    Request(Box<RequestPlan>),
    /// At the same time.
    Parallel(Vec<RequestPlan>),
    /// A wait, in seconds.
    PauseS(f64),
    /// One of several ways, which have no further choice in them.
    OneOf(OneOfPlan<StepPlan>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestPlan {
    /// Its name in figures.
    pub name: String,
    pub method: Verb,
    /// A path below the target's address, or an address.
    pub url: String,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Added to the query of the address.
    #[serde(default)]
    pub query: Vec<(String, String)>,
    #[serde(default)]
    pub body: Option<BodyPlan>,
    #[serde(default)]
    pub expect: ExpectPlan,
    #[serde(default)]
    pub redirects: Redirects,
    /// What is taken from the answer, by the name of the value.
    #[serde(default)]
    pub extract: BTreeMap<String, ExtractPlan>,
    /// Whether the browser keeps the answer and asks again only when it must.
    #[serde(default)]
    pub cache: bool,
    #[serde(default)]
    pub retry: Option<RetryPlan>,
    /// What answers are counted by, besides, by the name of the mark; no status.
    #[serde(default)]
    pub marks: BTreeMap<String, ExpectPlan>,
    #[serde(default)]
    pub keep: Option<KeepPlan>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verb {
    #[serde(alias = "get")]
    Get,
    #[serde(alias = "post")]
    Post,
    #[serde(alias = "put")]
    Put,
    #[serde(alias = "patch")]
    Patch,
    #[serde(alias = "delete")]
    Delete,
    #[serde(alias = "head")]
    Head,
    #[serde(alias = "options")]
    Options,
}

impl Verb {
    /// The field of a request in the experiment file that has its address.
    pub fn field(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::Head => "head",
            Self::Options => "options",
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyPlan {
    /// Urlencoded names and values.
    Form(Vec<(String, String)>),
    Json(Value),
    Raw(String),
}

/// What an answer must be to count as good.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectPlan {
    /// Any of these; none or an empty list: any 2xx or 3xx.
    pub status: Option<Vec<u16>>,
    /// All of these are in the body.
    pub text: Vec<String>,
    /// None of these is in the body.
    pub no_text: Vec<String>,
    /// Values by JSON path.
    pub json: BTreeMap<String, Value>,
    /// Parts of headers, by the name of the header.
    pub header: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Redirects {
    #[default]
    Follow,
    /// The redirect itself is the answer.
    Keep,
}

/// How a value is taken from an answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtractPlan {
    pub from: Place,
    /// Name of the field, header or cookie, JSON path, or regular expression.
    pub what: String,
    #[serde(default)]
    pub pick: Pick,
    /// What it is when it is missing, if `has_default`.
    #[serde(default)]
    pub default: Value,
    #[serde(default)]
    pub has_default: bool,
}

/// Where in an answer a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Form,
    Json,
    Header,
    Cookie,
    Regex,
}

/// Which of several values is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pick {
    #[default]
    First,
    Last,
    Random,
    /// A list of all.
    All,
}

fn one() -> f64 {
    1.0
}

fn six() -> u32 {
    6
}

fn ten() -> u32 {
    10
}

fn sixty() -> f64 {
    60.0
}
