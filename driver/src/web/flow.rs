//! Which values a user can have when: a request whose value nothing can have extracted before it would fail
//! in every run.

use super::choices::{Part, Picks, Transaction};
use crate::parameters::refuse;
use crate::plan::Refusal;

/// A step of a transaction, as far as its values go.
pub trait Step {
    /// A request of it whose value is not `known` by the number of its slot, and the name of that value.
    fn lacks(&self, known: &[bool]) -> Option<(&str, &str)>;

    /// Adds the values that its answers give.
    fn give(&self, known: &mut [bool]);
}

/// Looks at the order of extractions and uses of `slots` values: the log-in and the first visit come first, as
/// far as there are any, then the transactions of the mix in any order and again and again, then the log-out.
///
/// # Errors
/// A [`Refusal`] of the first request whose value cannot be there.
pub fn check<S: Step>(
    first: [Option<&Transaction<S>>; 2],
    mix: &[Transaction<S>],
    log_out: Option<&Transaction<S>>,
    slots: usize,
) -> Result<(), Refusal> {
    let mut known = vec![false; slots];
    for transaction in first.into_iter().flatten() {
        follow(transaction, &mut known)?;
    }
    loop {
        let before = known.clone();
        for transaction in mix {
            // One that stops here may go on once another one was made.
            let _ = follow(transaction, &mut known);
        }
        if known == before {
            break;
        }
    }
    for transaction in mix.iter().chain(log_out) {
        follow(transaction, &mut known)?;
    }
    Ok(())
}

/// Follows a transaction as far as its values are `known`, and adds what it picks and extracts. Of several ways
/// each may have been taken before.
fn follow<S: Step>(transaction: &Transaction<S>, known: &mut [bool]) -> Result<(), Refusal> {
    let path = &transaction.path;
    pick(&transaction.picks, known);
    for (index, part) in transaction.parts.iter().enumerate() {
        let path = format!("{path}.steps[{index}]");
        match part {
            Part::Step(step) => make(step, &path, known)?,
            Part::OneOf(one_of) => {
                let before = known.to_vec();
                for (way, alternative) in one_of.alternatives.iter().enumerate() {
                    let mut own = before.clone();
                    pick(&alternative.picks, &mut own);
                    for (at, step) in alternative.steps.iter().enumerate() {
                        make(step, &format!("{path}.of[{way}].steps[{at}]"), &mut own)?;
                    }
                    known.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
                }
            }
        }
    }
    let of_parts = transaction.parts.iter().flat_map(Part::picks);
    let picks = std::iter::once(&transaction.picks).chain(of_parts);
    for (slot, hold) in picks.flat_map(Picks::slots) {
        known[slot] = hold;
    }
    Ok(())
}

fn pick(picks: &Picks, known: &mut [bool]) {
    picks.slots().for_each(|(slot, _)| known[slot] = true);
}

/// Makes a step whose values are `known`, and adds what it extracts.
fn make<S: Step>(step: &S, path: &str, known: &mut [bool]) -> Result<(), Refusal> {
    if let Some((request, name)) = step.lacks(known) {
        let problem = format!(
            "{request}: `${{{name}}}` is extracted by no request that can come before; extract it in an \
             earlier step, in log_in or in another transaction, or let a transaction pick it (with hold)"
        );
        return Err(refuse(path, problem));
    }
    step.give(known);
    Ok(())
}
