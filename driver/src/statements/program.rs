//! What users do: read once, and shared by all of them.

use super::scenario::{Scenario, StatementPlan, StepPlan};
use crate::plan::Refusal;
use crate::session::RequestId;
use crate::web::encoding::Encoding;
use crate::web::flow::Step;
use crate::web::names::Names;
use crate::web::people::People;
use crate::web::program;
use crate::web::quoting::Quoting;
use crate::web::reader::{Place, Register, StepReader};
use crate::web::sample::Sample;
use crate::web::template::{Builder, Template};

/// What users do.
pub type Program = program::Program<Statement>;

/// A statement.
#[derive(Debug)]
pub struct Statement {
    /// Its number among all statements.
    pub id: RequestId,
    /// Its name in figures.
    pub name: &'static str,
    /// Its text.
    pub sql: Template,
    /// The fewest rows that it must give, and the most.
    pub rows: (u64, u64),
    /// Which of its answers are kept, if any.
    pub sample: Option<Sample>,
}

impl Step for Statement {
    fn lacks(&self, known: &[bool]) -> Option<(&str, &str)> {
        let mut needs = self.sql.extracted();
        let lacking = needs.find(|(_, slot)| !known[*slot]);
        lacking.map(|(value, _)| (self.name, value))
    }

    fn give(&self, _known: &mut [bool]) {}
}

/// Reads a scenario; literals are written by `quoting`.
///
/// # Errors
/// A [`Refusal`] of the first field that makes no sense.
pub fn read(scenario: &Scenario, quoting: Quoting) -> Result<Program, Refusal> {
    let people = People::of(scenario.people.as_ref())?;
    let mut names = Names::common(&scenario.values, people.as_ref(), None, "scenario")?;
    names.add_picked(&scenario.transactions)?;
    Program::read(scenario.outline(), &names, people, &mut Statements(quoting))
}

/// Reads statements.
struct Statements(Quoting);

impl StepReader for Statements {
    type Plan = StepPlan;
    type Step = Statement;

    const NOTHING: &'static str = "has no statement; give at least one";

    fn read(
        &mut self,
        plan: &StepPlan,
        place: Place<'_>,
        register: &mut Register<'_>,
    ) -> Result<Statement, Refusal> {
        let StepPlan::Statement(plan) = plan else {
            return Err(place.nested());
        };
        let (id, name) = register.add_request(&plan.name, place, "name")?;
        let mut builder = Builder::new(register.names);
        builder
            .template(&plan.sql, Encoding::Plain, Encoding::Sql(self.0))
            .map_err(|problem| place.refuse("sql", problem))?;
        Ok(Statement {
            id,
            name,
            sql: builder.finish(),
            rows: rows(plan, place)?,
            sample: sample(plan, place, register)?,
        })
    }

    fn asks(_statement: &Statement) -> bool {
        true
    }
}

/// The fewest rows, and the most.
fn rows(plan: &StatementPlan, place: Place<'_>) -> Result<(u64, u64), Refusal> {
    let (least, most) = (plan.rows.min, plan.rows.max.unwrap_or(u64::MAX));
    if least > most {
        let problem = format!("{least} is more than max, {most}");
        return Err(place.refuse("rows.min", problem));
    }
    Ok((least, most))
}

fn sample(
    plan: &StatementPlan,
    place: Place<'_>,
    register: &mut Register<'_>,
) -> Result<Option<Sample>, Refusal> {
    let Some(keep) = plan.keep else {
        return Ok(None);
    };
    let number = register.add_sample(keep, place)?;
    Sample::new(number, &[&plan.sql], None, register.names, register.people)
        .map(Some)
        .map_err(|problem| place.refuse("keep", problem))
}
