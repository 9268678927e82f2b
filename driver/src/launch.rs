//! The registry of workloads, and the way from a plan to a run.

use std::io::{BufRead, Write};
use std::sync::mpsc::channel;

use crate::clock::Epoch;
use crate::control::{Signals, listen};
use crate::noop::Noop;
use crate::plan::{Plan, Refusal, Role};
use crate::run::Run;
use crate::session::Workload;
use crate::teller::Ending;

/// Names of the workloads that this driver knows.
pub const WORKLOADS: [&str; 1] = ["noop"];

/// The streams and the time of a process that is to make a run.
pub struct Stage<I, O> {
    /// Where control lines come from.
    pub input: I,
    /// Where frames go.
    pub output: O,
    /// The signals that stop the run.
    pub signals: Signals,
    /// The origin of time.
    pub epoch: Epoch,
}

/// Runs `plan` with the workload that it names.
///
/// # Errors
/// A [`Refusal`] that names the wrong field; nothing was written then.
pub fn launch<I, O>(plan: &Plan, stage: Stage<I, O>) -> Result<Ending, Refusal>
where
    I: BufRead + Send + 'static,
    O: Write,
{
    match (plan.workload.name.as_str(), plan.workload.role) {
        ("noop", Role::Run | Role::Load) => {
            start(plan, Noop::new(&plan.workload.parameters)?, stage)
        }
        (name, _) => Err(Refusal::new(
            "workload.name",
            format!(
                "`{name}` is not known; this driver has {}",
                WORKLOADS.join(", ")
            ),
        )),
    }
}

fn start<L, I, O>(plan: &Plan, workload: L, stage: Stage<I, O>) -> Result<Ending, Refusal>
where
    L: Workload,
    I: BufRead + Send + 'static,
    O: Write,
{
    let (outbox, inbox) = channel();
    let run = Run::new(
        plan,
        workload,
        stage.epoch,
        (outbox.clone(), inbox),
        stage.output,
    )?;
    let listening = stage
        .signals
        .listen(outbox.clone())
        .and_then(|()| listen(stage.input, outbox));
    listening.map_err(|error| Refusal::new("threads", format!("cannot start: {error}")))?;
    Ok(run.conduct())
}
