//! What users do: read once, and shared by all of them.

use super::scenario::{Scenario, StatementPlan, StepPlan, Steps};
use crate::kept::KeptAnswers;
use crate::parameters::refuse;
use crate::plan::Refusal;
use crate::session::{OperationId, RequestId, RequestName};
use crate::web::agenda::{Agenda, Entry, Mix};
use crate::web::choices::{Alternative, Choices, OneOf, Part, Picks, Transaction};
use crate::web::encoding::Encoding;
use crate::web::flow::{self, Step};
use crate::web::names::Names;
use crate::web::options::{OneOfPlan, PicksPlan};
use crate::web::people::People;
use crate::web::program::{LOG_IN, LOG_OUT, check_name, forever};
use crate::web::quoting::Quoting;
use crate::web::sample::Sample;
use crate::web::scenario::BackOffS;
use crate::web::template::{Builder, Template};
use crate::web::visit::Itinerary;

/// What users do.
#[derive(Debug)]
pub struct Program {
    /// Names of the operations: log-in, the transactions, log-out.
    pub operations: Vec<&'static str>,
    /// Names of the statements.
    pub requests: Vec<RequestName>,
    /// By [`OperationId`].
    pub transactions: Vec<Transaction<Statement>>,
    /// In which order a user does them.
    pub way: Itinerary,
    /// How many values are picked.
    pub slots: usize,
    /// How many choices there are.
    pub choices: usize,
    /// The users' own values, if there are any.
    pub people: Option<People>,
    /// The answers that are kept.
    pub kept: KeptAnswers,
}

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

impl Program {
    /// Reads a scenario; literals are written by `quoting`.
    ///
    /// # Errors
    /// A [`Refusal`] of the first field that makes no sense.
    pub fn new(scenario: &Scenario, quoting: Quoting) -> Result<Self, Refusal> {
        let file = scenario.people.as_ref();
        let people = file.map(|file| People::read(&file.path)).transpose();
        let people = people.map_err(|problem| refuse("scenario.people", problem))?;
        let names = names_of(scenario, people.as_ref())?;
        let mut reader = Reader {
            names: &names,
            people: people.as_ref(),
            quoting,
            operations: Vec::new(),
            requests: Vec::new(),
            transactions: Vec::new(),
            choices: Choices::default(),
            kept: KeptAnswers::default(),
        };
        let log_in = reader.add_optional(LOG_IN, scenario.log_in.as_ref(), "scenario.log_in")?;
        let first = reader.operations.len();
        for (index, transaction) in scenario.transactions.iter().enumerate() {
            let path = format!("scenario.transactions[{index}]");
            check_name(&transaction.name, &reader.operations, &path)?;
            reader.add(
                &transaction.name,
                &transaction.pick,
                &transaction.steps,
                path,
            )?;
        }
        let mix = first..reader.operations.len();
        let log_out =
            reader.add_optional(LOG_OUT, scenario.log_out.as_ref(), "scenario.log_out")?;
        let of = |id: Option<OperationId>| id.map(|id| &reader.transactions[id]);
        let all = &reader.transactions[mix];
        flow::check([of(log_in), None], all, of(log_out), names.slots())?;
        Ok(Self {
            way: Itinerary {
                log_in,
                back_off: BackOffS::default().read("scenario.log_in")?,
                first_visit: None,
                agenda: Agenda::new(&mix_of(scenario, log_out), first)?,
                log_out,
            },
            operations: reader.operations,
            requests: reader.requests,
            transactions: reader.transactions,
            slots: names.slots(),
            choices: reader.choices.len(),
            kept: reader.kept,
            people,
        })
    }
}

fn names_of(scenario: &Scenario, people: Option<&People>) -> Result<Names, Refusal> {
    let mut names = Names::common(&scenario.values, people, None, "scenario")?;
    for (index, transaction) in scenario.transactions.iter().enumerate() {
        let path = format!("scenario.transactions[{index}]");
        names.add_picked(&transaction.pick, &path)?;
        for (at, step) in transaction.steps.iter().enumerate() {
            if let StepPlan::OneOf(one_of) = step {
                names.add_ways(one_of, &format!("{path}.steps[{at}]"))?;
            }
        }
    }
    Ok(names)
}

fn mix_of(scenario: &Scenario, log_out: Option<OperationId>) -> Mix<'_> {
    let transactions = scenario.transactions.iter().map(|transaction| Entry {
        name: &transaction.name,
        weight: transaction.weight,
        next: transaction.next.as_ref(),
    });
    Mix {
        order: scenario.order,
        transactions: transactions.collect(),
        first: scenario.first.as_ref(),
        log_out,
    }
}

/// Reads transactions.
struct Reader<'s> {
    names: &'s Names,
    people: Option<&'s People>,
    quoting: Quoting,
    operations: Vec<&'static str>,
    requests: Vec<RequestName>,
    transactions: Vec<Transaction<Statement>>,
    choices: Choices,
    kept: KeptAnswers,
}

impl Reader<'_> {
    fn add_optional(
        &mut self,
        name: &str,
        given: Option<&Steps>,
        path: &str,
    ) -> Result<Option<OperationId>, Refusal> {
        let Some(Steps { steps }) = given else {
            return Ok(None);
        };
        for (index, step) in steps.iter().enumerate() {
            let (field, problem) = match step {
                StepPlan::OneOf(_) => ("one_of", "is for transactions; write the steps themselves"),
                StepPlan::Statement(statement) if statement.keep.is_some() => {
                    ("keep", "is for transactions; leave it out")
                }
                StepPlan::Statement(_) => continue,
            };
            return Err(refuse(&format!("{path}.steps[{index}].{field}"), problem));
        }
        self.add(name, &PicksPlan::new(), steps, path.to_owned())
            .map(Some)
    }

    fn add(
        &mut self,
        name: &str,
        picks: &PicksPlan,
        given: &[StepPlan],
        path: String,
    ) -> Result<OperationId, Refusal> {
        let operation = self.operations.len();
        self.operations.push(forever(name));
        let mut parts = Vec::with_capacity(given.len());
        for (index, step) in given.iter().enumerate() {
            let path = format!("{path}.steps[{index}]");
            parts.push(match step {
                StepPlan::Statement(plan) => Part::Step(self.statement(plan, operation, &path)?),
                StepPlan::OneOf(one_of) => Part::OneOf(self.one_of(one_of, operation, &path)?),
            });
        }
        let picks = self.picks(picks, &path)?;
        let transaction = Transaction { path, picks, parts };
        if transaction.all_steps().next().is_none() {
            let problem = "has no statement; give at least one";
            return Err(refuse(&format!("{}.steps", transaction.path), problem));
        }
        self.transactions.push(transaction);
        Ok(operation)
    }

    fn picks(&self, plan: &PicksPlan, path: &str) -> Result<Picks, Refusal> {
        Picks::new(plan, self.names)
            .map_err(|(name, problem)| refuse(&format!("{path}.pick.{name}"), problem))
    }

    fn one_of(
        &mut self,
        given: &OneOfPlan<StepPlan>,
        operation: OperationId,
        path: &str,
    ) -> Result<OneOf<Statement>, Refusal> {
        let choice = self.choices.number(given);
        let choice =
            choice.map_err(|(field, problem)| refuse(&format!("{path}.{field}"), problem))?;
        let mut alternatives = Vec::with_capacity(given.of.len());
        for (index, way) in given.of.iter().enumerate() {
            let path = format!("{path}.of[{index}]");
            let mut steps = Vec::with_capacity(way.steps.len());
            for (at, step) in way.steps.iter().enumerate() {
                let path = format!("{path}.steps[{at}]");
                let StepPlan::Statement(plan) = step else {
                    let problem = "stands within another choice; make one of the two";
                    return Err(refuse(&format!("{path}.one_of"), problem));
                };
                steps.push(self.statement(plan, operation, &path)?);
            }
            let picks = self.picks(&way.pick, &path)?;
            alternatives.push(Alternative { picks, steps });
        }
        Ok(OneOf {
            choice,
            draws: given.draw,
            alternatives,
        })
    }

    fn statement(
        &mut self,
        plan: &StatementPlan,
        operation: OperationId,
        path: &str,
    ) -> Result<Statement, Refusal> {
        let wrong = |field: &str, problem: String| refuse(&format!("{path}.{field}"), problem);
        let of_operation = |other: &&RequestName| other.operation == operation;
        let mut others = self.requests.iter().filter(of_operation);
        if plan.name.is_empty() || others.any(|other| other.name == plan.name) {
            let problem = format!("`{}` is no name, or that of another statement", plan.name);
            return Err(wrong("name", problem));
        }
        let (least, most) = (plan.rows.min, plan.rows.max.unwrap_or(u64::MAX));
        if least > most {
            return Err(wrong(
                "rows.min",
                format!("{least} is more than max, {most}"),
            ));
        }
        let mut builder = Builder::new(self.names);
        builder
            .template(&plan.sql, Encoding::Plain, Encoding::Sql(self.quoting))
            .map_err(|problem| wrong("sql", problem))?;
        let sample = self
            .sample(plan)
            .map_err(|problem| wrong("keep", problem))?;
        let (id, name) = (self.requests.len(), forever(&plan.name));
        self.requests.push(RequestName { operation, name });
        Ok(Statement {
            id,
            name,
            sql: builder.finish(),
            rows: (least, most),
            sample,
        })
    }

    fn sample(&mut self, plan: &StatementPlan) -> Result<Option<Sample>, String> {
        let Some(keep) = plan.keep else {
            return Ok(None);
        };
        let number = self.kept.add_sample(keep.answers)?;
        Sample::new(number, &[&plan.sql], None, self.names, self.people).map(Some)
    }
}
