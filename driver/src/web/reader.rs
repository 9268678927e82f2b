//! Reads the transactions of a scenario. What a step is, its workload knows.

use super::choices::{Alternative, Choices, OneOf, Part, Picks, Transaction};
use super::names::Names;
use super::operations::{LOG_IN, LOG_OUT, check_name, forever};
use super::options::{KeepPlan, OneOfPlan, PicksPlan, StepPlan, TransactionPlan};
use super::people::People;
use crate::kept::KeptAnswers;
use crate::parameters::refuse;
use crate::plan::Refusal;
use crate::session::{OperationId, RequestId, RequestName};

/// Reads the steps of one workload.
pub trait StepReader {
    /// A step as a plan has it.
    type Plan: StepPlan;
    /// A step as users make it.
    type Step;

    /// What is wrong with a transaction in which nothing is asked.
    const NOTHING: &'static str;

    /// Reads a step.
    ///
    /// # Errors
    /// A [`Refusal`] of the first field that makes no sense; also of a choice: it stands within another.
    fn read(
        &mut self,
        plan: &Self::Plan,
        place: Place<'_>,
        register: &mut Register<'_>,
    ) -> Result<Self::Step, Refusal>;

    /// Whether something is asked in a step.
    fn asks(step: &Self::Step) -> bool;
}

/// Where a step stands.
#[derive(Debug, Clone, Copy)]
pub struct Place<'p> {
    /// The operation that it is part of.
    pub operation: OperationId,
    /// The field that it is in.
    pub path: &'p str,
}

impl Place<'_> {
    /// A refusal of a field below it.
    pub fn refuse(self, field: &str, problem: impl Into<String>) -> Refusal {
        refuse(&format!("{}.{field}", self.path), problem)
    }

    /// A refusal of the choice that stands here, where there can be none.
    pub fn nested(self) -> Refusal {
        self.refuse(
            "one_of",
            "stands within another choice; make one of the two",
        )
    }
}

/// What is known of a scenario while it is read.
pub struct Register<'s> {
    /// What templates may name.
    pub names: &'s Names,
    /// The users' own values, if there are any.
    pub people: Option<&'s People>,
    /// Names of the operations.
    pub operations: Vec<&'static str>,
    /// Names of what is asked in them.
    pub requests: Vec<RequestName>,
    /// The answers that are kept.
    pub kept: KeptAnswers,
}

impl Register<'_> {
    /// Adds a request whose name is in `field`; gives its number and its name.
    ///
    /// # Errors
    /// A [`Refusal`] of a name that is empty, or that of another request of its transaction.
    pub fn add_request(
        &mut self,
        name: &str,
        place: Place<'_>,
        field: &str,
    ) -> Result<(RequestId, &'static str), Refusal> {
        if name.is_empty() {
            return Err(place.refuse(field, "is empty; give a name"));
        }
        let operation = place.operation;
        let of_operation = |other: &&RequestName| other.operation == operation;
        let mut others = self.requests.iter().filter(of_operation);
        if others.any(|other| other.name == name) {
            let problem = format!("`{name}` is the name of another step of the transaction");
            return Err(place.refuse(field, problem));
        }
        let (id, name) = (self.requests.len(), forever(name));
        self.requests.push(RequestName { operation, name });
        Ok((id, name))
    }

    /// Adds a sample of answers; gives its number.
    ///
    /// # Errors
    /// A [`Refusal`] of one that is too large, or of answers that may hold secrets.
    pub fn add_sample(&mut self, keep: KeepPlan, place: Place<'_>) -> Result<usize, Refusal> {
        if [LOG_IN, LOG_OUT].contains(&self.operations[place.operation]) {
            let problem = "is for transactions: what a log-in says may be a secret";
            return Err(place.refuse("keep", problem));
        }
        let number = self.kept.add_sample(keep.answers);
        number.map_err(|problem| place.refuse("keep.answers", problem))
    }
}

/// Reads transactions, in the order of their numbers.
pub struct Reader<'s, R: StepReader> {
    steps: &'s mut R,
    /// What is known so far.
    pub register: Register<'s>,
    /// Those that were read, by [`OperationId`].
    pub transactions: Vec<Transaction<R::Step>>,
    /// The choices in them.
    pub choices: Choices,
}

impl<'s, R: StepReader> Reader<'s, R> {
    /// Has read nothing yet.
    pub fn new(names: &'s Names, people: Option<&'s People>, steps: &'s mut R) -> Self {
        Self {
            steps,
            register: Register {
                names,
                people,
                operations: Vec::new(),
                requests: Vec::new(),
                kept: KeptAnswers::default(),
            },
            transactions: Vec::new(),
            choices: Choices::default(),
        }
    }

    /// Adds what stands apart from the mix, as a log-in does, if it is given. It has no choices.
    ///
    /// # Errors
    /// A [`Refusal`] of the first field that makes no sense.
    pub fn add_apart(
        &mut self,
        name: &str,
        given: Option<&[R::Plan]>,
        path: &str,
    ) -> Result<Option<OperationId>, Refusal> {
        let Some(steps) = given else {
            return Ok(None);
        };
        if let Some(index) = steps.iter().position(|step| step.one_of().is_some()) {
            let problem = "is for transactions; write the steps themselves";
            return Err(refuse(&format!("{path}.steps[{index}].one_of"), problem));
        }
        self.add(name, &PicksPlan::new(), steps, path.to_owned())
            .map(Some)
    }

    /// Adds a transaction of the mix; `path` is the field that it is in.
    ///
    /// # Errors
    /// A [`Refusal`] of the first field that makes no sense.
    pub fn add_to_mix(
        &mut self,
        plan: &TransactionPlan<R::Plan>,
        path: String,
    ) -> Result<OperationId, Refusal> {
        check_name(&plan.name, &self.register.operations, &path)?;
        self.add(&plan.name, &plan.pick, &plan.steps, path)
    }

    fn add(
        &mut self,
        name: &str,
        picks: &PicksPlan,
        given: &[R::Plan],
        path: String,
    ) -> Result<OperationId, Refusal> {
        let operation = self.register.operations.len();
        self.register.operations.push(forever(name));
        let mut parts = Vec::with_capacity(given.len());
        for (index, step) in given.iter().enumerate() {
            let path = &*format!("{path}.steps[{index}]");
            let place = Place { operation, path };
            parts.push(match step.one_of() {
                Some(one_of) => Part::OneOf(self.one_of(one_of, place)?),
                None => Part::Step(self.step(step, place)?),
            });
        }
        let picks = self.picks(picks, &path)?;
        let transaction = Transaction { path, picks, parts };
        if !transaction.all_steps().any(R::asks) {
            let path = transaction.path;
            return Err(refuse(&format!("{path}.steps"), R::NOTHING));
        }
        self.transactions.push(transaction);
        Ok(operation)
    }

    fn one_of(
        &mut self,
        given: &OneOfPlan<R::Plan>,
        place: Place<'_>,
    ) -> Result<OneOf<R::Step>, Refusal> {
        let choice = self.choices.number(given);
        let choice = choice.map_err(|(field, problem)| place.refuse(field, problem))?;
        let mut alternatives = Vec::with_capacity(given.of.len());
        for (index, way) in given.of.iter().enumerate() {
            let path = format!("{}.of[{index}]", place.path);
            let mut steps = Vec::with_capacity(way.steps.len());
            for (at, step) in way.steps.iter().enumerate() {
                let path = &*format!("{path}.steps[{at}]");
                steps.push(self.step(step, Place { path, ..place })?);
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

    fn step(&mut self, plan: &R::Plan, place: Place<'_>) -> Result<R::Step, Refusal> {
        self.steps.read(plan, place, &mut self.register)
    }

    fn picks(&self, plan: &PicksPlan, path: &str) -> Result<Picks, Refusal> {
        Picks::new(plan, self.register.names)
            .map_err(|(name, problem)| refuse(&format!("{path}.pick.{name}"), problem))
    }
}
