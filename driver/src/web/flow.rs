//! Which values a user can have when: a request whose value nothing can have extracted before it would fail
//! in every run.

use super::program::Transaction;
use crate::parameters::refuse;
use crate::plan::Refusal;

/// Looks at the order of extractions and uses of `slots` values: the log-in and the first visit come first, as
/// far as there are any, then the transactions of the mix in any order and again and again, then the log-out.
///
/// # Errors
/// A [`Refusal`] of the first request whose value cannot be there.
pub fn check(
    first: [Option<&Transaction>; 2],
    mix: &[Transaction],
    log_out: Option<&Transaction>,
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

/// Follows a transaction as far as its values are `known`, and adds what it extracts.
fn follow(transaction: &Transaction, known: &mut [bool]) -> Result<(), Refusal> {
    for (index, step) in transaction.steps.iter().enumerate() {
        for request in step.requests() {
            if let Some((name, _)) = request.needs().find(|(_, slot)| !known[*slot]) {
                let problem = format!(
                    "{}: `${{{name}}}` is extracted by no request that can come before; extract it \
                     in an earlier step, in log_in or in another transaction",
                    request.name
                );
                return Err(refuse(
                    &format!("{}.steps[{index}]", transaction.path),
                    problem,
                ));
            }
        }
        for extraction in step
            .requests()
            .iter()
            .flat_map(|request| &request.extractions)
        {
            known[extraction.slot()] = true;
        }
    }
    Ok(())
}
