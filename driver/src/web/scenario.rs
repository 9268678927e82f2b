//! A scenario as a plan has it: what the users of a web application do.
//!
//! It is the scenario of the experiment file with its defaults filled in.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::options::{
    self, ApartPlan, BackOffS, ClassPlan, KeepPlan, LogInAgainPlan, OneOfPlan, Order, PeopleFile,
    RetryPlan, TransactionPlan, WeightsPlan,
};
use super::program::Outline;
use crate::plan::Refusal;

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
    pub first_visit: Option<ApartPlan<StepPlan>>,
    #[serde(default)]
    pub log_out: Option<ApartPlan<StepPlan>>,
    pub transactions: Vec<TransactionPlan<StepPlan>>,
}

impl Scenario {
    /// What it says as the scenarios of all workloads do.
    ///
    /// # Errors
    /// A [`Refusal`] of a back-off that makes no sense.
    pub fn outline(&self) -> Result<Outline<'_, StepPlan>, Refusal> {
        let log_in = self.log_in.as_ref();
        let back_off = log_in.map(|log_in| log_in.back_off_s).unwrap_or_default();
        Ok(Outline {
            order: self.order,
            first: self.first.as_ref(),
            log_in: log_in.map(|log_in| &*log_in.steps),
            back_off: back_off.read("scenario.log_in.back_off_s")?,
            first_visit: self.first_visit.as_ref().map(|visit| &*visit.steps),
            transactions: &self.transactions,
            log_out: self.log_out.as_ref().map(|log_out| &*log_out.steps),
        })
    }
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

/// A log-in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogInPlan {
    pub steps: Vec<StepPlan>,
    #[serde(default)]
    pub back_off_s: BackOffS,
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

impl options::StepPlan for StepPlan {
    fn one_of(&self) -> Option<&OneOfPlan<Self>> {
        match self {
            Self::OneOf(one_of) => Some(one_of),
            Self::Request(_) | Self::Parallel(_) | Self::PauseS(_) => None,
        }
    }
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

fn six() -> u32 {
    6
}

fn ten() -> u32 {
    10
}

fn sixty() -> f64 {
    60.0
}
