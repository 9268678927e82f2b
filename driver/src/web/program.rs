//! A scenario as users follow it: read once, and shared by all of them.

use url::Url;

use super::agenda::Agenda;
use super::flow;
use super::names::{Names, requests};
use super::people::People;
use super::request::{Request, Wrong};
use super::scenario::{BackOffS, RequestPlan, Scenario, StepPlan};
use super::target::Target;
use crate::clock::to_ns;
use crate::parameters::refuse;
use crate::plan::limits::LONGEST_S;
use crate::plan::{Connection, Refusal};
use crate::retry::BackOff;
use crate::session::{OperationId, RequestName};

const LOG_IN: &str = "log-in";
const FIRST_VISIT: &str = "first-visit";
const LOG_OUT: &str = "log-out";

/// What users do.
#[derive(Debug)]
pub struct Program {
    /// Names of the transactions: log-in, first visit, those of the mix, log-out.
    pub operations: Vec<&'static str>,
    /// Names of the requests.
    pub requests: Vec<RequestName>,
    /// By [`OperationId`].
    transactions: Vec<Transaction>,
    /// What a user does first, if anything.
    pub log_in: Option<OperationId>,
    /// For how long it holds off after a log-in that failed.
    pub back_off: BackOff,
    /// What it does once, after its first log-in, if anything.
    pub first_visit: Option<OperationId>,
    /// What a user does as it leaves, if anything.
    pub log_out: Option<OperationId>,
    /// What it does in between.
    pub agenda: Agenda,
    /// How many values are extracted.
    pub slots: usize,
    /// The addresses whose answers a browser keeps.
    pub cached: Vec<Url>,
    /// The users' own values, if there are any.
    pub people: Option<People>,
    /// Where the application is.
    pub target: Target,
}

/// What is done in order.
#[derive(Debug)]
pub struct Transaction {
    /// The field that it is in.
    pub path: String,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// A part of a transaction.
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
            operations: Vec::new(),
            requests: Vec::new(),
            transactions: Vec::new(),
            cached: Vec::new(),
        };
        let log_in = scenario.log_in.as_ref();
        let back_off = back_off(log_in.map(|log_in| log_in.back_off_s))?;
        let log_in = log_in.map(|log_in| &*log_in.steps);
        let log_in = reader.add_optional(LOG_IN, log_in, "scenario.log_in")?;
        let visit = scenario.first_visit.as_ref().map(|visit| &*visit.steps);
        let first_visit = reader.add_optional(FIRST_VISIT, visit, "scenario.first_visit")?;
        let first = reader.operations.len();
        for (index, transaction) in scenario.transactions.iter().enumerate() {
            let path = format!("scenario.transactions[{index}]");
            reader.check_name(&transaction.name, &path)?;
            reader.add(&transaction.name, &transaction.steps, path)?;
        }
        let mix = first..reader.operations.len();
        let log_out = scenario.log_out.as_ref().map(|log_out| &*log_out.steps);
        let log_out = reader.add_optional(LOG_OUT, log_out, "scenario.log_out")?;
        let Reader {
            operations,
            requests,
            transactions,
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
            agenda: Agenda::new(scenario, first)?,
            operations,
            requests,
            transactions,
            log_in,
            back_off,
            first_visit,
            log_out,
            slots,
            cached,
            people,
            target,
        })
    }

    /// The steps of a transaction.
    pub fn steps(&self, operation: OperationId) -> &[Step] {
        &self.transactions[operation].steps
    }
}

/// Reads transactions.
struct Reader<'s> {
    scenario: &'s Scenario,
    names: &'s Names,
    target: &'s Target,
    operations: Vec<&'static str>,
    requests: Vec<RequestName>,
    transactions: Vec<Transaction>,
    cached: Vec<Url>,
}

impl Reader<'_> {
    fn check_name(&self, name: &str, path: &str) -> Result<(), Refusal> {
        let problem = if name.is_empty() {
            "is empty; give a name".to_owned()
        } else if [LOG_IN, LOG_OUT].contains(&name) {
            format!("`{name}` is the name of a user's first or last transaction; choose another")
        } else if self.operations.contains(&name) {
            format!("`{name}` is the name of another transaction; choose another")
        } else {
            return Ok(());
        };
        Err(refuse(&format!("{path}.name"), problem))
    }

    fn add_optional(
        &mut self,
        name: &str,
        given: Option<&[StepPlan]>,
        path: &str,
    ) -> Result<Option<OperationId>, Refusal> {
        let Some(steps) = given else {
            return Ok(None);
        };
        self.add(name, steps, path.to_owned()).map(Some)
    }

    fn add(
        &mut self,
        name: &str,
        given: &[StepPlan],
        path: String,
    ) -> Result<OperationId, Refusal> {
        let operation = self.operations.len();
        self.operations.push(forever(name));
        let mut steps = Vec::with_capacity(given.len());
        for (index, step) in given.iter().enumerate() {
            steps.push(self.step(step, operation, &format!("{path}.steps[{index}]"))?);
        }
        if steps.iter().all(|step| step.requests().is_empty()) {
            let problem = "has no request; give at least one";
            return Err(refuse(&format!("{path}.steps"), problem));
        }
        self.transactions.push(Transaction { path, steps });
        Ok(operation)
    }

    fn step(
        &mut self,
        given: &StepPlan,
        operation: OperationId,
        path: &str,
    ) -> Result<Step, Refusal> {
        match given {
            StepPlan::PauseS(pause_s) => pause(*pause_s, path),
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
        let read = Request::new(plan, (id, name), common, self.names, self.target);
        let refused = |(field, problem): Wrong| refuse(&format!("{path}.{field}"), problem);
        let mut request = read.map_err(refused)?;
        if plan.cache {
            let url = request.kept_url(plan).map_err(refused)?;
            request.cached = Some(self.place_of(url));
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

fn back_off(given: Option<BackOffS>) -> Result<BackOff, Refusal> {
    let BackOffS { first, longest } = given.unwrap_or_default();
    for (name, value) in [("first", first), ("longest", longest)] {
        if !(0.0..=LONGEST_S).contains(&value) {
            let field = format!("scenario.log_in.back_off_s.{name}");
            let problem = format!("{value} is not between 0 and {LONGEST_S} seconds");
            return Err(refuse(&field, problem));
        }
    }
    if first > longest {
        let problem = format!("{first} is more than longest, {longest}");
        return Err(refuse("scenario.log_in.back_off_s.first", problem));
    }
    Ok(BackOff {
        base_ns: to_ns(first),
        cap_ns: to_ns(longest),
    })
}

fn pause(pause_s: f64, path: &str) -> Result<Step, Refusal> {
    if (0.0..=LONGEST_S).contains(&pause_s) {
        return Ok(Step::Pause { ns: to_ns(pause_s) });
    }
    let problem = format!("{pause_s} is not between 0 and {LONGEST_S} seconds");
    Err(refuse(&format!("{path}.pause_s"), problem))
}

/// A name that lives as long as the process, as those of every other workload do.
fn forever(name: &str) -> &'static str {
    name.to_owned().leak()
}
