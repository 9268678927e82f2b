//! The names of what users do.

use crate::parameters::refuse;
use crate::plan::Refusal;

/// The name of what a user does first.
pub const LOG_IN: &str = "log-in";
/// The name of what it does once, after its first log-in.
pub const FIRST_VISIT: &str = "first-visit";
/// The name of what a user does as it leaves.
pub const LOG_OUT: &str = "log-out";

/// Looks at the name of the transaction at `path`; `known` are those before it.
///
/// # Errors
/// A [`Refusal`] of one that is empty or taken.
pub fn check_name(name: &str, known: &[&'static str], path: &str) -> Result<(), Refusal> {
    let problem = if name.is_empty() {
        "is empty; give a name".to_owned()
    } else if [LOG_IN, LOG_OUT].contains(&name) {
        format!("`{name}` is the name of a user's first or last transaction; choose another")
    } else if known.contains(&name) {
        format!("`{name}` is the name of another transaction; choose another")
    } else {
        return Ok(());
    };
    Err(refuse(&format!("{path}.name"), problem))
}

/// A name that lives as long as the process, as those of every other workload do.
pub fn forever(name: &str) -> &'static str {
    name.to_owned().leak()
}
