//! The waits of closed users: keying before an operation, thinking after it.

use std::collections::BTreeMap;

use crate::clock::to_ns;
use crate::plan::{Pacing, Refusal, Think, Waits};
use crate::random::Random;
use crate::session::OperationId;

/// The waits of every operation of a workload, by [`OperationId`].
#[derive(Debug, Clone)]
pub struct Pace {
    waits: Box<[Waits]>,
    paced: bool,
}

impl Pace {
    /// Looks the plan's waits up by the names of the workload's operations.
    ///
    /// # Errors
    /// When the plan names an operation that the workload does not have.
    pub fn new(pacing: &Pacing, operations: &[&str]) -> Result<Self, Refusal> {
        let named: &BTreeMap<String, Waits> = &pacing.operations;
        if let Some(name) = named
            .keys()
            .find(|name| !operations.contains(&name.as_str()))
        {
            return Err(Refusal::new(
                format!("pacing.operations.{name}"),
                format!(
                    "no such operation; the workload has {}",
                    operations.join(", ")
                ),
            ));
        }
        let waits: Box<[Waits]> = operations
            .iter()
            .map(|name| *named.get(*name).unwrap_or(&pacing.default))
            .collect();
        let paced = waits.iter().any(|wait| *wait != Waits::default());
        Ok(Self { waits, paced })
    }

    /// Whether any operation has a wait at all.
    pub fn is_paced(&self) -> bool {
        self.paced
    }

    /// Nanoseconds from the end of `previous` (if any) to the intended start of `next`.
    pub fn gap_ns(
        &self,
        previous: Option<OperationId>,
        next: OperationId,
        random: &mut Random,
    ) -> u64 {
        let think_s = previous.map_or(0.0, |id| think_s(self.waits[id].think, random));
        to_ns(think_s + self.waits[next].keying_s)
    }
}

fn think_s(think: Think, random: &mut Random) -> f64 {
    match think {
        Think::None => 0.0,
        Think::Constant { mean_s } => mean_s,
        Think::NegativeExponential { mean_s, cap } => mean_s * random.exponential().min(cap),
    }
}
