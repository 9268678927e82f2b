//! A scenario as users follow it: read once, and shared by all of them.

use url::Url;

use super::agenda::{Agenda, Entry, Mix};
use super::choices::{Alternative, Choices, OneOf, Part, Picks, Transaction};
use super::classes::Classes;
use super::flow;
use super::names::{Names, requests};
use super::options::{OneOfPlan, PicksPlan};
use super::people::People;
use super::request::{Request, Wrong};
use super::scenario::{RequestPlan, Scenario, StepPlan};
use super::target::Target;
use super::visit::Itinerary;
use crate::clock::to_ns;
use crate::kept::KeptAnswers;
use crate::parameters::refuse;
use crate::plan::limits::LONGEST_S;
use crate::plan::{Connection, Refusal};
use crate::session::{OperationId, RequestName};

/// The name of what a user does first.
pub const LOG_IN: &str = "log-in";
/// The name of what it does once, after its first log-in.
const FIRST_VISIT: &str = "first-visit";
/// The name of what a user does as it leaves.
pub const LOG_OUT: &str = "log-out";

/// What users do.
#[derive(Debug)]
pub struct Program {
    /// Names of the transactions: log-in, first visit, those of the mix, log-out.
    pub operations: Vec<&'static str>,
    /// Names of the requests.
    pub requests: Vec<RequestName>,
    /// By [`OperationId`].
    transactions: Vec<Transaction<Step>>,
    /// In which order a user does them.
    pub way: Itinerary,
    /// Classes of errors of its own.
    pub classes: Classes,
    /// After errors of these classes a user logs in again.
    pub log_in_again: Box<[Box<str>]>,
    /// How many values are extracted or picked.
    pub slots: usize,
    /// How many choices there are.
    pub choices: usize,
    /// The answers that are kept.
    pub kept: KeptAnswers,
    /// The addresses whose answers a browser keeps.
    pub cached: Vec<Url>,
    /// The users' own values, if there are any.
    pub people: Option<People>,
    /// Where the application is.
    pub target: Target,
}

/// A step of a transaction.
#[derive(Debug)]
pub enum Step {
    /// A request.
    Request(Box<Request>),
    /// Requests at the same time.
    Parallel(Vec<Request>),
    /// A wait.
    Pause {
        /// Nanoseconds.
        ns: u64,
    },
}

impl Step {
    /// The requests of the step.
    pub fn requests(&self) -> &[Request] {
        match self {
            Self::Request(request) => std::slice::from_ref(&**request),
            Self::Parallel(requests) => requests,
            Self::Pause { .. } => &[],
        }
    }
}

impl flow::Step for Step {
    fn lacks(&self, known: &[bool]) -> Option<(&str, &str)> {
        self.requests().iter().find_map(|request| {
            let lacking = request.needs().find(|(_, slot)| !known[*slot]);
            lacking.map(|(value, _)| (request.name, value))
        })
    }

    fn give(&self, known: &mut [bool]) {
        let requests = self.requests().iter();
        for extraction in requests.flat_map(|request| &request.extractions) {
            known[extraction.slot()] = true;
        }
    }
}

impl Program {
    /// Reads a scenario for the application of `connection`.
    ///
    /// # Errors
    /// A [`Refusal`] of the first field that makes no sense. All that can be wrong without an answer of the
    /// application is found here.
    pub fn new(scenario: &Scenario, connection: &Connection) -> Result<Self, Refusal> {
        let target = Target::new(connection, &scenario.hosts)?;
        let file = scenario.people.as_ref();
        let people = file.map(|file| People::read(&file.path)).transpose();
        let people = people.map_err(|problem| refuse("scenario.people", problem))?;
        let names = Names::new(scenario, people.as_ref(), target.text())?;
        let mut reader = Reader {
            scenario,
            names: &names,
            target: &target,
            people: people.as_ref(),
            operations: Vec::new(),
            requests: Vec::new(),
            transactions: Vec::new(),
            choices: Choices::default(),
            kept: KeptAnswers::default(),
            cached: Vec::new(),
        };
        let log_in = scenario.log_in.as_ref();
        let back_off = log_in.map(|log_in| log_in.back_off_s).unwrap_or_default();
        let back_off = back_off.read("scenario.log_in.back_off_s")?;
        let log_in = log_in.map(|log_in| &*log_in.steps);
        let log_in = reader.add_optional(LOG_IN, log_in, "scenario.log_in")?;
        let visit = scenario.first_visit.as_ref().map(|visit| &*visit.steps);
        let first_visit = reader.add_optional(FIRST_VISIT, visit, "scenario.first_visit")?;
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
        let log_out = scenario.log_out.as_ref().map(|log_out| &*log_out.steps);
        let log_out = reader.add_optional(LOG_OUT, log_out, "scenario.log_out")?;
        let Reader {
            operations,
            requests,
            transactions,
            choices,
            kept,
            cached,
            ..
        } = reader;
        let slots = names.slots();
        flow::check(
            [log_in, first_visit].map(|id| id.map(|id| &transactions[id])),
            &transactions[mix],
            log_out.map(|id| &transactions[id]),
            slots,
        )?;
        Ok(Self {
            way: Itinerary {
                log_in,
                back_off,
                first_visit,
                agenda: Agenda::new(&mix_of(scenario, log_out), first)?,
                log_out,
            },
            classes: Classes::new(&scenario.classes, &operations, &target)?,
            log_in_again: again(scenario)?,
            operations,
            requests,
            transactions,
            slots,
            choices: choices.len(),
            kept,
            cached,
            people,
            target,
        })
    }

    /// What is done in an operation.
    pub fn transaction(&self, operation: OperationId) -> &Transaction<Step> {
        &self.transactions[operation]
    }
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

/// Reads transactions.
struct Reader<'s> {
    scenario: &'s Scenario,
    names: &'s Names,
    target: &'s Target,
    people: Option<&'s People>,
    operations: Vec<&'static str>,
    requests: Vec<RequestName>,
    transactions: Vec<Transaction<Step>>,
    choices: Choices,
    kept: KeptAnswers,
    cached: Vec<Url>,
}

impl Reader<'_> {
    fn add_optional(
        &mut self,
        name: &str,
        given: Option<&[StepPlan]>,
        path: &str,
    ) -> Result<Option<OperationId>, Refusal> {
        let Some(steps) = given else {
            return Ok(None);
        };
        for (index, step) in steps.iter().enumerate() {
            if let StepPlan::OneOf(_) = step {
                let problem = "is for transactions; write the steps themselves";
                return Err(refuse(&format!("{path}.steps[{index}].one_of"), problem));
            }
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
                StepPlan::OneOf(one_of) => Part::OneOf(self.one_of(one_of, operation, &path)?),
                step => Part::Step(self.step(step, operation, &path)?),
            });
        }
        let picks = self.picks(picks, &path)?;
        let transaction = Transaction { path, picks, parts };
        let mut steps = transaction.all_steps();
        if steps.all(|step| step.requests().is_empty()) {
            let problem = "has no request; give at least one";
            return Err(refuse(&format!("{}.steps", transaction.path), problem));
        }
        drop(steps);
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
    ) -> Result<OneOf<Step>, Refusal> {
        let choice = self.choices.number(given);
        let choice =
            choice.map_err(|(field, problem)| refuse(&format!("{path}.{field}"), problem))?;
        let mut alternatives = Vec::with_capacity(given.of.len());
        for (index, way) in given.of.iter().enumerate() {
            let path = format!("{path}.of[{index}]");
            let mut steps = Vec::with_capacity(way.steps.len());
            for (at, step) in way.steps.iter().enumerate() {
                steps.push(self.step(step, operation, &format!("{path}.steps[{at}]"))?);
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

    fn step(
        &mut self,
        given: &StepPlan,
        operation: OperationId,
        path: &str,
    ) -> Result<Step, Refusal> {
        match given {
            StepPlan::PauseS(pause_s) => pause(*pause_s, path),
            StepPlan::OneOf(_) => {
                let problem = "stands within another choice; make one of the two";
                Err(refuse(&format!("{path}.one_of"), problem))
            }
            StepPlan::Request(request) => {
                let request = self.request(request, operation, path)?;
                Ok(Step::Request(Box::new(request)))
            }
            StepPlan::Parallel(plans) if plans.is_empty() => {
                let problem = "has no request; give at least one";
                Err(refuse(&format!("{path}.parallel"), problem))
            }
            StepPlan::Parallel(_) => {
                let read = |(at, request): (String, &RequestPlan)| {
                    self.request(request, operation, &format!("{path}{at}"))
                };
                let read: Result<Vec<_>, _> = requests(given).into_iter().map(read).collect();
                read.map(Step::Parallel)
            }
        }
    }

    fn request(
        &mut self,
        plan: &RequestPlan,
        operation: OperationId,
        path: &str,
    ) -> Result<Request, Refusal> {
        let name = &plan.name;
        if name.is_empty() {
            let problem = "is empty; give a name";
            return Err(refuse(&format!("{path}.request"), problem));
        }
        let of_operation = |other: &&RequestName| other.operation == operation;
        let mut others = self.requests.iter().filter(of_operation);
        if others.any(|other| other.name == name) {
            let problem = format!("`{name}` is the name of another request of the transaction");
            return Err(refuse(&format!("{path}.request"), problem));
        }
        let (id, name) = (self.requests.len(), forever(name));
        self.requests.push(RequestName { operation, name });
        let common = &self.scenario.headers;
        let wrong = |(field, problem): Wrong| refuse(&format!("{path}.{field}"), problem);
        let request = Request::new(plan, (id, name), common, self.names, self.target);
        let mut request = request.map_err(wrong)?;
        if plan.cache {
            let url = request.kept_url(plan).map_err(wrong)?;
            request.cached = Some(self.place_of(url));
        }
        if let Some(keep) = plan.keep {
            let own = self.operations[operation];
            if [LOG_IN, LOG_OUT].contains(&own) {
                let problem = "is for transactions: what a log-in says may be a secret";
                return Err(refuse(&format!("{path}.keep"), problem));
            }
            let number = self.kept.add_sample(keep.answers);
            let number =
                number.map_err(|problem| refuse(&format!("{path}.keep.answers"), problem))?;
            let kept = request.keep(number, plan, self.names, self.people);
            kept.map_err(wrong)?;
        }
        Ok(request)
    }

    /// The place of an address among those whose answers are kept.
    fn place_of(&mut self, url: Url) -> usize {
        let known = self.cached.iter().position(|known| *known == url);
        known.unwrap_or_else(|| {
            self.cached.push(url);
            self.cached.len() - 1
        })
    }
}

fn pause(pause_s: f64, path: &str) -> Result<Step, Refusal> {
    if (0.0..=LONGEST_S).contains(&pause_s) {
        return Ok(Step::Pause { ns: to_ns(pause_s) });
    }
    let problem = format!("{pause_s} is not between 0 and {LONGEST_S} seconds");
    Err(refuse(&format!("{path}.pause_s"), problem))
}

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
