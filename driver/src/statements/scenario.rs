//! What users do, as a plan has it.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::web::options::{KeepPlan, OneOfPlan, PicksPlan, WeightsPlan};
use crate::web::scenario::{Order, PeopleFile};

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
    #[serde(default)]
    pub order: Order,
    /// Weights of a user's first transaction.
    #[serde(default)]
    pub first: Option<WeightsPlan>,
    #[serde(default)]
    pub log_in: Option<Steps>,
    #[serde(default)]
    pub log_out: Option<Steps>,
    pub transactions: Vec<TransactionPlan>,
}

/// A log-in or a log-out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    pub steps: Vec<StepPlan>,
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
    Statement(StatementPlan),
    /// One of several ways, which have no further choice in them.
    OneOf(OneOfPlan<StepPlan>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementPlan {
    /// Its name in figures.
    pub name: String,
    /// Its text, with values in it.
    pub sql: String,
    #[serde(default)]
    pub rows: RowsPlan,
    #[serde(default)]
    pub keep: Option<KeepPlan>,
}

/// How many rows it must give to count as good.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowsPlan {
    #[serde(default)]
    pub min: u64,
    /// None: any number.
    #[serde(default)]
    pub max: Option<u64>,
}

fn one() -> f64 {
    1.0
}
