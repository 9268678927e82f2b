//! Which transaction a user makes next.

use super::operations::LOG_OUT;
use super::options::{Order, WeightsPlan};
use crate::parameters::refuse;
use crate::plan::Refusal;
use crate::random::{Random, Weights};
use crate::session::OperationId;

/// The transactions that users choose among, as a scenario has them.
#[derive(Debug)]
pub struct Mix<'p> {
    /// How they are chosen.
    pub order: Order,
    /// In the order of their numbers.
    pub transactions: Vec<Entry<'p>>,
    /// Weights of a user's first transaction.
    pub first: Option<&'p WeightsPlan>,
    /// The log-out, if there is one.
    pub log_out: Option<OperationId>,
}

/// One of them.
#[derive(Debug)]
pub struct Entry<'p> {
    /// Its name.
    pub name: &'p str,
    /// Its weight among all.
    pub weight: f64,
    /// Weights of what follows it.
    pub next: Option<&'p WeightsPlan>,
}

/// The choice among the transactions of the mix.
#[derive(Debug)]
pub enum Agenda {
    /// By weight.
    Drawn(Drawn),
    /// One after the other. Each user begins at the first.
    InTurn {
        /// The first of them.
        first: OperationId,
        /// How many there are.
        count: usize,
    },
}

/// A choice by weights, which may hang on the transaction before: a Markov chain.
#[derive(Debug)]
pub struct Drawn {
    /// Number of the first transaction.
    base: OperationId,
    /// After what has no weights of its own.
    usual: Choice,
    /// At the beginning.
    first: Option<Choice>,
    /// After each transaction.
    next: Box<[Option<Choice>]>,
}

#[derive(Debug)]
struct Choice {
    /// Those that have a weight.
    operations: Box<[OperationId]>,
    weights: Weights,
}

impl Agenda {
    /// The choice of a mix whose first transaction has the number `base`.
    ///
    /// # Errors
    /// A [`Refusal`] if there are no transactions, or weights make no sense.
    pub fn new(mix: &Mix<'_>, base: OperationId) -> Result<Self, Refusal> {
        if mix.transactions.is_empty() {
            let problem = "is empty; give at least one transaction";
            return Err(refuse("scenario.transactions", problem));
        }
        for (index, transaction) in mix.transactions.iter().enumerate() {
            check(
                transaction.weight,
                &format!("scenario.transactions[{index}].weight"),
            )?;
        }
        if mix.order == Order::InTurn {
            return mix.in_turn(base);
        }
        let usual = mix.transactions.iter().enumerate();
        let usual = usual.map(|(index, transaction)| (base + index, transaction.weight));
        let usual = Choice::new(usual).ok_or_else(|| {
            let problem = "has no weight above 0; give one to at least one transaction";
            refuse("scenario.transactions", problem)
        })?;
        let read = |plan: Option<&WeightsPlan>, field: &str| {
            plan.map(|plan| mix.choice(plan, base, field)).transpose()
        };
        let next = mix.transactions.iter().enumerate().map(|(index, entry)| {
            read(entry.next, &format!("scenario.transactions[{index}].next"))
        });
        Ok(Self::Drawn(Drawn {
            base,
            usual,
            first: read(mix.first, "scenario.first")?,
            next: next.collect::<Result<_, _>>()?,
        }))
    }

    /// The next transaction of a user. `place` is where the user is: 0 at the beginning; it moves on.
    pub fn next(&self, place: &mut u32, random: &mut Random) -> OperationId {
        match self {
            Self::Drawn(drawn) => {
                let next = drawn.choice(*place).draw(random);
                *place = (next - drawn.base + 1) as u32;
                next
            }
            Self::InTurn { first, count } => {
                let next = first + *place as usize % count;
                *place = place.wrapping_add(1);
                next
            }
        }
    }

    /// Where a user is who has just logged in.
    pub fn begin(&self, place: &mut u32) {
        if let Self::Drawn(_) = self {
            *place = 0;
        }
    }
}

impl Mix<'_> {
    fn in_turn(&self, first: OperationId) -> Result<Agenda, Refusal> {
        let follows = |entry: &Entry<'_>| entry.next.is_some();
        let field = if self.first.is_some() {
            "scenario.first".to_owned()
        } else if let Some(index) = self.transactions.iter().position(follows) {
            format!("scenario.transactions[{index}].next")
        } else {
            let count = self.transactions.len();
            return Ok(Agenda::InTurn { first, count });
        };
        let problem = "has no effect where the order is in-turn; leave it out, or write drawn";
        Err(refuse(&field, problem))
    }

    /// A choice by weights that are given by name.
    fn choice(
        &self,
        plan: &WeightsPlan,
        base: OperationId,
        field: &str,
    ) -> Result<Choice, Refusal> {
        let mut found = Vec::with_capacity(plan.len());
        for (name, weight) in plan {
            let own = format!("{field}.{name}");
            check(*weight, &own)?;
            let mut entries = self.transactions.iter();
            let transaction = entries.position(|entry| entry.name == name);
            let log_out = self.log_out.filter(|_| name == LOG_OUT);
            let operation = transaction.map(|index| base + index).or(log_out);
            let operation = operation.ok_or_else(|| {
                refuse(
                    &own,
                    "is no transaction; give the name of one, or `log-out` where there is one",
                )
            })?;
            found.push((operation, *weight));
        }
        Choice::new(found.into_iter()).ok_or_else(|| {
            refuse(
                field,
                "has no weight above 0; give one to at least one transaction",
            )
        })
    }
}

impl Drawn {
    fn choice(&self, place: u32) -> &Choice {
        let own = match (place as usize).checked_sub(1) {
            None => self.first.as_ref(),
            Some(before) => self.next.get(before).and_then(Option::as_ref),
        };
        own.unwrap_or(&self.usual)
    }
}

impl Choice {
    /// `None` if no weight is above 0.
    fn new(all: impl Iterator<Item = (OperationId, f64)>) -> Option<Self> {
        let (operations, weights): (Vec<_>, Vec<_>) =
            all.filter(|(_, weight)| *weight > 0.0).unzip();
        Some(Self {
            operations: operations.into(),
            weights: Weights::new(&weights)?,
        })
    }

    fn draw(&self, random: &mut Random) -> OperationId {
        self.operations[self.weights.draw(random)]
    }
}

fn check(weight: f64, field: &str) -> Result<(), Refusal> {
    if weight.is_finite() && weight >= 0.0 {
        return Ok(());
    }
    Err(refuse(field, format!("{weight} is not 0 or more")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: OperationId = 1;
    const NAMES: [&str; 3] = ["list", "open", "filter"];

    fn weights(given: &[(&str, f64)]) -> WeightsPlan {
        let named = given
            .iter()
            .map(|(name, weight)| ((*name).to_owned(), *weight));
        named.collect()
    }

    fn mix<'p>(first: Option<&'p WeightsPlan>, next: [Option<&'p WeightsPlan>; 3]) -> Mix<'p> {
        let entries = NAMES.iter().zip(next);
        Mix {
            order: Order::Drawn,
            transactions: entries
                .map(|(name, next)| Entry {
                    name,
                    weight: 1.0,
                    next,
                })
                .collect(),
            first,
            log_out: Some(9),
        }
    }

    /// How often each operation of the chain followed each other one, from the beginning.
    fn walked(agenda: &Agenda, steps: usize) -> Vec<OperationId> {
        let (mut place, mut random) = (0, Random::new(1, 0));
        (0..steps)
            .map(|_| agenda.next(&mut place, &mut random))
            .collect()
    }

    #[test]
    fn what_follows_hangs_on_what_came_before() {
        let (first, after_list) = (weights(&[("list", 1.0)]), weights(&[("open", 1.0)]));
        let after_open = weights(&[("filter", 3.0), ("list", 1.0)]);
        let mix = mix(Some(&first), [Some(&after_list), Some(&after_open), None]);
        let agenda = Agenda::new(&mix, BASE).expect("an agenda");
        let walk = walked(&agenda, 4000);
        assert_eq!(walk[..2], [BASE, BASE + 1]);
        let follows = |before: usize, after: usize| {
            let pairs = walk.windows(2);
            pairs
                .filter(|pair| pair[0] == BASE + before && pair[1] == BASE + after)
                .count() as f64
        };
        assert!(follows(0, 0) + follows(0, 2) + follows(1, 1) < 0.5);
        let opened = follows(1, 0) + follows(1, 2);
        // 3 of 4; five standard deviations.
        assert!((follows(1, 2) / opened - 0.75).abs() < 5.0 * (0.1875 / opened).sqrt());
        let filtered: f64 = (0..3).map(|after| follows(2, after)).sum();
        for after in 0..3 {
            let share = follows(2, after) / filtered;
            assert!((share - 1.0 / 3.0).abs() < 5.0 * (2.0 / 9.0 / filtered).sqrt());
        }
    }

    #[test]
    fn a_user_may_leave_and_begins_afresh() {
        let leave = weights(&[("log-out", 1.0)]);
        let first = weights(&[("filter", 1.0)]);
        let mix = mix(Some(&first), [None, None, Some(&leave)]);
        let agenda = Agenda::new(&mix, BASE).expect("an agenda");
        let (mut place, mut random) = (0, Random::new(1, 0));
        assert_eq!(agenda.next(&mut place, &mut random), BASE + 2);
        assert_eq!(agenda.next(&mut place, &mut random), 9);
        agenda.begin(&mut place);
        assert_eq!(agenda.next(&mut place, &mut random), BASE + 2);
    }

    #[test]
    fn weights_that_make_no_sense_are_refused_by_their_field() {
        for (given, field) in [
            (weights(&[]), ".next"),
            (weights(&[("list", 0.0)]), ".next"),
            (weights(&[("list", -1.0)]), ".next.list"),
            (weights(&[("list", f64::NAN)]), ".next.list"),
            (weights(&[("dance", 1.0)]), ".next.dance"),
            (weights(&[("log-in", 1.0)]), ".next.log-in"),
        ] {
            let refusal = Agenda::new(&mix(None, [None, Some(&given), None]), BASE);
            let expected = format!("workload.parameters.scenario.transactions[1]{field}");
            assert_eq!(refusal.expect_err("refused").field, expected);
        }
        let given = weights(&[("list", 1.0)]);
        let mut turned = mix(None, [Some(&given), None, None]);
        turned.order = Order::InTurn;
        let refusal = Agenda::new(&turned, BASE).expect_err("refused");
        assert!(refusal.field.ends_with("transactions[0].next"), "{refusal}");
        let mut stays = mix(None, [None, Some(&given), None]);
        stays.log_out = None;
        let leave = weights(&[("log-out", 1.0)]);
        stays.first = Some(&leave);
        let refusal = Agenda::new(&stays, BASE).expect_err("refused");
        assert!(refusal.field.ends_with("first.log-out"), "{refusal}");
    }
}
