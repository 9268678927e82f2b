//! The waits of closed users: keying before an operation, thinking after it, or a grid of moments.

use std::collections::BTreeMap;

use crate::clock::to_ns;
use crate::plan::{Pacing, Refusal, Think, Waits};
use crate::random::Random;
use crate::session::OperationId;

/// Fractional part of the golden ratio: its multiples, modulo 1, lie evenly however many there are
/// (Knuth, The Art of Computer Programming 3, section 6.4).
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Moments at which an operation of one user is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    period_ns: u64,
    /// The first moment of all.
    first_ns: u64,
}

impl Grid {
    /// Every `period_ns`, from somewhere in the period after `origin_ns`: users begin spread over it.
    pub fn new(period_ns: u64, origin_ns: u64, user: u32) -> Self {
        let part = (f64::from(user) * GOLDEN).fract();
        Self {
            period_ns,
            first_ns: origin_ns + (part * period_ns as f64) as u64,
        }
    }

    /// The first moment that is later than `at_ns`.
    pub fn after_ns(&self, at_ns: u64) -> u64 {
        match at_ns.checked_sub(self.first_ns) {
            None => self.first_ns,
            Some(past_ns) => self.first_ns + (past_ns / self.period_ns + 1) * self.period_ns,
        }
    }
}

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

    /// Nanoseconds between the moments at which `operation` is due, if they are a grid.
    pub fn period_ns(&self, operation: OperationId) -> Option<u64> {
        self.waits[operation].every_s.map(to_ns)
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
