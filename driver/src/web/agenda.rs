//! Which transaction a user makes next.

use super::scenario::{Order, Scenario};
use crate::parameters::refuse;
use crate::plan::Refusal;
use crate::random::{Random, Weights};
use crate::session::OperationId;

/// The choice among the transactions of the mix.
#[derive(Debug)]
pub enum Agenda {
    /// By weight.
    Drawn {
        /// Those that have a weight.
        operations: Vec<OperationId>,
        /// Their weights.
        weights: Weights,
    },
    /// One after the other. Each user begins at the first.
    InTurn {
        /// The first of them.
        first: OperationId,
        /// How many there are.
        count: usize,
    },
}

impl Agenda {
    /// The choice of a scenario whose first transaction has the number `first`.
    ///
    /// # Errors
    /// A [`Refusal`] if there are no transactions, or weights make no sense.
    pub fn new(scenario: &Scenario, first: OperationId) -> Result<Self, Refusal> {
        let transactions = &scenario.transactions;
        if transactions.is_empty() {
            let problem = "is empty; give at least one transaction";
            return Err(refuse("scenario.transactions", problem));
        }
        for (index, transaction) in transactions.iter().enumerate() {
            let weight = transaction.weight;
            if !weight.is_finite() || weight < 0.0 {
                let field = format!("scenario.transactions[{index}].weight");
                return Err(refuse(&field, format!("{weight} is not 0 or more")));
            }
        }
        if scenario.order == Order::InTurn {
            let count = transactions.len();
            return Ok(Self::InTurn { first, count });
        }
        let (operations, weights): (Vec<_>, Vec<_>) = transactions
            .iter()
            .enumerate()
            .filter(|(_, transaction)| transaction.weight > 0.0)
            .map(|(index, transaction)| (first + index, transaction.weight))
            .unzip();
        let weights = Weights::new(&weights).ok_or_else(|| {
            let problem = "has no weight above 0; give one to at least one transaction";
            refuse("scenario.transactions", problem)
        })?;
        Ok(Self::Drawn {
            operations,
            weights,
        })
    }

    /// The next transaction of a user who made `turn` before; counts it.
    pub fn next(&self, turn: &mut u32, random: &mut Random) -> OperationId {
        match self {
            Self::Drawn {
                operations,
                weights,
            } => operations[weights.draw(random)],
            Self::InTurn { first, count } => {
                let next = first + *turn as usize % count;
                *turn = turn.wrapping_add(1);
                next
            }
        }
    }
}
