//! Reading the parameters of a workload from a plan.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::plan::Refusal;

/// Reads parameters by their shape.
///
/// # Errors
/// A [`Refusal`] with the path of the wrong field.
pub fn read<'p, T: Deserialize<'p>>(parameters: &'p Map<String, Value>) -> Result<T, Refusal> {
    serde_path_to_error::deserialize(parameters)
        .map_err(|error| refuse(&error.path().to_string(), error.inner().to_string()))
}

/// A refusal of the parameter `field`.
pub fn refuse(field: &str, problem: impl Into<String>) -> Refusal {
    Refusal::new(format!("workload.parameters.{field}"), problem)
}
