//! What users of a web application know of it, and what they do there: both from a scenario.

use url::Url;

use super::classes::Classes;
use super::names::Names;
use super::people::People;
use super::program::Program;
use super::scenario::Scenario;
use super::steps::{Step, Steps};
use super::target::Target;
use crate::parameters::refuse;
use crate::plan::{Connection, Refusal};

/// What users know of the application.
#[derive(Debug)]
pub struct Application {
    /// Where it is.
    pub target: Target,
    /// Classes of errors of its own.
    pub classes: Classes,
    /// After errors of these classes a user logs in again.
    pub log_in_again: Box<[Box<str>]>,
    /// The addresses whose answers a browser keeps.
    pub cached: Vec<Url>,
}

impl Application {
    /// Reads a scenario for the application of `connection`.
    ///
    /// # Errors
    /// A [`Refusal`] of the first field that makes no sense. All that can be wrong without an answer of the
    /// application is found here.
    pub fn read(
        scenario: &Scenario,
        connection: &Connection,
    ) -> Result<(Self, Program<Step>), Refusal> {
        let target = Target::new(connection, &scenario.hosts)?;
        let people = People::of(scenario.people.as_ref())?;
        let names = Names::new(scenario, people.as_ref(), target.text())?;
        let mut steps = Steps::new(&scenario.headers, &target);
        let program = Program::read(scenario.outline()?, &names, people, &mut steps)?;
        let cached = steps.cached;
        let application = Self {
            classes: Classes::new(&scenario.classes, &program.operations, &target)?,
            log_in_again: again(scenario)?,
            cached,
            target,
        };
        Ok((application, program))
    }
}

/// The classes after which a user logs in again.
fn again(scenario: &Scenario) -> Result<Box<[Box<str>]>, Refusal> {
    let classes = scenario
        .log_in_again
        .iter()
        .flat_map(|again| &again.classes);
    if scenario.log_in_again.is_some() && scenario.log_in.is_none() {
        let problem = "has no log_in to make again; write one";
        return Err(refuse("scenario.log_in_again", problem));
    }
    Ok(classes.map(|class| class.as_str().into()).collect())
}
