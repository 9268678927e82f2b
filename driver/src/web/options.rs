//! What a scenario may say besides steps and transactions, as a plan has it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::scenario::ExpectPlan;

/// Weights of transactions, by name.
pub type WeightsPlan = BTreeMap<String, f64>;

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
