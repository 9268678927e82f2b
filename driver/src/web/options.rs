//! What the scenarios of all workloads may say, as a plan has it, and what only some requests may.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::scenario::ExpectPlan;
use crate::clock::to_ns;
use crate::parameters::refuse;
use crate::plan::Refusal;
use crate::plan::limits::LONGEST_S;
use crate::retry::BackOff;

/// The parameters of a workload of users, with its scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters<S> {
    /// What users do.
    pub scenario: S,
    /// The file to which kept answers are appended.
    #[serde(default)]
    pub answers: Option<String>,
}

/// A CSV file whose header names values; user n has row n modulo the rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeopleFile {
    /// Where it is.
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

/// Weights of transactions, by name.
pub type WeightsPlan = BTreeMap<String, f64>;

/// A transaction of the mix, whose steps are of the kind `S`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransactionPlan<S> {
    /// Its name in figures.
    pub name: String,
    /// Its weight among all.
    #[serde(default = "one")]
    pub weight: f64,
    /// The pacing of the plan has it.
    #[serde(default, rename = "think_time")]
    _think_time: Option<IgnoredAny>,
    /// Weights of what a user does after it.
    #[serde(default)]
    pub next: Option<WeightsPlan>,
    /// What a user draws as it begins.
    #[serde(default)]
    pub pick: PicksPlan,
    /// What is done in it.
    pub steps: Vec<S>,
}

fn one() -> f64 {
    1.0
}

/// What stands apart from the mix, as a log-out does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApartPlan<S> {
    /// What is done in it.
    pub steps: Vec<S>,
}

/// A step, of whatever kind.
pub trait StepPlan: Sized {
    /// The choice that it is, if it is one.
    fn one_of(&self) -> Option<&OneOfPlan<Self>>;
}

/// Seconds for which a user holds off whose log-in has failed, give or take a half; they double with each that
/// fails.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BackOffS {
    /// After the first that fails.
    pub first: f64,
    /// The most.
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
        Ok(self.into())
    }
}

impl From<BackOffS> for BackOff {
    fn from(BackOffS { first, longest }: BackOffS) -> Self {
        Self {
            base_ns: to_ns(first),
            cap_ns: to_ns(longest),
        }
    }
}

/// How a request that failed is tried again, as the front end of an application does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetryPlan {
    /// Statuses of answers that are no good.
    pub status: Vec<u16>,
    /// Further classes of errors.
    pub classes: Vec<String>,
    /// Tries beyond the first.
    pub times: u32,
    /// Seconds before the second try.
    pub wait_s: f64,
    /// By which each wait is longer than the one before.
    pub factor: f64,
    /// The longest wait, in seconds.
    pub longest_s: f64,
    /// Whether each wait has up to `wait_s` more, drawn.
    pub jitter: bool,
}

impl Default for RetryPlan {
    fn default() -> Self {
        Self {
            status: vec![502, 503, 504],
            classes: Vec::new(),
            times: 3,
            wait_s: 1.0,
            factor: 2.0,
            longest_s: 10.0,
            jitter: true,
        }
    }
}

/// A class of errors by what an answer is. All that is given must hold.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassPlan {
    /// Its name in figures.
    pub name: String,
    /// What the answer is; a status that is not given may be any.
    #[serde(default)]
    pub answer: ExpectPlan,
    /// How the address begins to which a redirect led.
    #[serde(default)]
    pub location: Option<String>,
    /// The operations in which it holds; none: in all.
    #[serde(default)]
    pub operations: Vec<String>,
}

/// After which errors a user logs in again.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogInAgainPlan {
    /// Their classes.
    pub classes: Vec<String>,
}

/// A sample of the answers to a request.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeepPlan {
    /// Most answers that are kept.
    pub answers: u32,
}

/// A value that a user draws as a transaction begins.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PickPlan {
    /// Those that it is one of.
    pub of: Vec<Value>,
    /// Whether it stays for later transactions, until it is drawn again.
    #[serde(default)]
    pub hold: bool,
}

/// What a user draws as a transaction begins, by the name of the value.
pub type PicksPlan = BTreeMap<String, PickPlan>;

/// Several ways to go on, of which each user takes one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneOfPlan<S> {
    /// The name of the choice. Choices of one name are made together.
    pub name: String,
    /// Whether it is drawn here; else it is what the user drew last, wherever that was.
    #[serde(default)]
    pub draw: bool,
    /// The ways.
    pub of: Vec<AlternativePlan<S>>,
}

/// One of several ways to go on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlternativePlan<S> {
    /// What is drawn if it is taken.
    #[serde(default)]
    pub pick: PicksPlan,
    /// What is done then.
    pub steps: Vec<S>,
}
