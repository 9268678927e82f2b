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

    /// Nanoseconds from the end of `previous` to the intended start of `next`.
    pub fn gap_ns(&self, previous: OperationId, next: OperationId, random: &mut Random) -> u64 {
        let think_s = think_s(self.waits[previous].think, random);
        to_ns(think_s + self.waits[next].keying_s)
    }

    /// Nanoseconds until a user who begins now makes `first`, as if it had been there for long: what is
    /// left of the waits of `first`. Users who begin together so do not act together.
    pub fn residual_ns(&self, first: OperationId, random: &mut Random) -> u64 {
        if self.waits[first].begins_at_once {
            return 0;
        }
        to_ns(residual_s(&self.waits[first], random))
    }
}

fn think_s(think: Think, random: &mut Random) -> f64 {
    match think {
        Think::None => 0.0,
        Think::Constant { mean_s } => mean_s,
        Think::Uniform { from_s, to_s } => from_s + (to_s - from_s) * random.unit(),
        Think::NegativeExponential { mean_s, cap } => mean_s * random.exponential().min(cap),
    }
}

/// Draws what is left of a wait X at a moment that has nothing to do with it: its density is
/// P(X > x) / E(X), the equilibrium distribution of renewal theory (Cox, Renewal Theory, 1962,
/// chapter 5).
///
/// A wait is a constant part c, keying included, and a part Y that varies. What is left is uniform over
/// (0, c) with probability c / E(X), otherwise c and what is left of Y.
fn residual_s(waits: &Waits, random: &mut Random) -> f64 {
    let (constant_s, varying_mean_s) = match waits.think {
        Think::None => (0.0, 0.0),
        Think::Constant { mean_s } => (mean_s, 0.0),
        Think::Uniform { from_s, to_s } => (from_s, (to_s - from_s) / 2.0),
        Think::NegativeExponential { mean_s, cap } => (0.0, mean_s * below(cap)),
    };
    let constant_s = waits.keying_s + constant_s;
    let point_s = random.unit() * (constant_s + varying_mean_s);
    if point_s < constant_s {
        return point_s;
    }
    let varying_s = match waits.think {
        Think::None | Think::Constant { .. } => 0.0,
        // The density falls linearly to 0 over the width.
        Think::Uniform { from_s, to_s } => (to_s - from_s) * (1.0 - (1.0 - random.unit()).sqrt()),
        // An exponential wait has no memory: what is left of it is one again, which ends at the cap.
        Think::NegativeExponential { mean_s, cap } => {
            -mean_s * (-random.unit() * below(cap)).ln_1p()
        }
    };
    constant_s + varying_s
}

/// The probability that a negative-exponential draw of mean 1 is below `cap`; also the mean of draws
/// that are cut off at it.
fn below(cap: f64) -> f64 {
    -(-cap).exp_m1()
}

#[cfg(test)]
mod tests;
