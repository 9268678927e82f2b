//! What users do, as a plan has it.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::web::options::{
    self, ApartPlan, BackOffS, KeepPlan, OneOfPlan, Order, PeopleFile, TransactionPlan, WeightsPlan,
};
use crate::web::program::Outline;

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
    pub log_in: Option<ApartPlan<StepPlan>>,
    #[serde(default)]
    pub log_out: Option<ApartPlan<StepPlan>>,
    pub transactions: Vec<TransactionPlan<StepPlan>>,
}

impl Scenario {
    /// What it says as the scenarios of all workloads do.
    pub fn outline(&self) -> Outline<'_, StepPlan> {
        Outline {
            order: self.order,
            first: self.first.as_ref(),
            log_in: self.log_in.as_ref().map(|log_in| &*log_in.steps),
            back_off: BackOffS::default().into(),
            first_visit: None,
            transactions: &self.transactions,
            log_out: self.log_out.as_ref().map(|log_out| &*log_out.steps),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepPlan {
    Statement(StatementPlan),
    /// One of several ways, which have no further choice in them.
    OneOf(OneOfPlan<StepPlan>),
}

impl options::StepPlan for StepPlan {
    fn one_of(&self) -> Option<&OneOfPlan<Self>> {
        match self {
            Self::OneOf(one_of) => Some(one_of),
            Self::Statement(_) => None,
        }
    }
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
