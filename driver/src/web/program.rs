//! What users do, whatever the steps of it are: read once, and shared by all of them.

use super::agenda::{Agenda, Entry, Mix};
use super::choices::Transaction;
use super::flow;
use super::names::Names;
use super::operations::{FIRST_VISIT, LOG_IN, LOG_OUT};
use super::options::{Order, TransactionPlan, WeightsPlan};
use super::people::People;
use super::person::Person;
use super::reader::{Reader, Register, StepReader};
use super::visit::Itinerary;
use crate::kept::KeptAnswers;
use crate::plan::Refusal;
use crate::random::Random;
use crate::retry::BackOff;
use crate::session::{OperationId, RequestName};

/// What users do.
#[derive(Debug)]
pub struct Program<S> {
    /// Names of the transactions: log-in, first visit, those of the mix, log-out.
    pub operations: Vec<&'static str>,
    /// Names of what is asked in them.
    pub requests: Vec<RequestName>,
    /// In which order a user does them.
    pub way: Itinerary,
    /// The answers that are kept.
    pub kept: KeptAnswers,
    /// The users' own values, if there are any.
    pub people: Option<People>,
    /// By [`OperationId`].
    transactions: Vec<Transaction<S>>,
    /// How many values are extracted or picked.
    slots: usize,
    /// How many choices there are.
    choices: usize,
}

/// What the scenarios of all workloads say of their users.
#[derive(Debug)]
pub struct Outline<'s, P> {
    /// How a user chooses its next transaction.
    pub order: Order,
    /// Weights of its first transaction.
    pub first: Option<&'s WeightsPlan>,
    /// The steps of its log-in.
    pub log_in: Option<&'s [P]>,
    /// For how long it holds off after a log-in that failed.
    pub back_off: BackOff,
    /// The steps that it makes once, after its first log-in.
    pub first_visit: Option<&'s [P]>,
    /// What it does in between.
    pub transactions: &'s [TransactionPlan<P>],
    /// The steps of its log-out.
    pub log_out: Option<&'s [P]>,
}

impl<S: flow::Step> Program<S> {
    /// Reads a scenario, its steps by `steps`.
    ///
    /// # Errors
    /// A [`Refusal`] of the first field that makes no sense.
    pub fn read<R: StepReader<Step = S>>(
        outline: Outline<'_, R::Plan>,
        names: &Names,
        people: Option<People>,
        steps: &mut R,
    ) -> Result<Self, Refusal> {
        let mut reader = Reader::new(names, people.as_ref(), steps);
        let log_in = reader.add_apart(LOG_IN, outline.log_in, "scenario.log_in")?;
        let first_visit =
            reader.add_apart(FIRST_VISIT, outline.first_visit, "scenario.first_visit")?;
        let first = reader.transactions.len();
        for (index, plan) in outline.transactions.iter().enumerate() {
            reader.add_to_mix(plan, format!("scenario.transactions[{index}]"))?;
        }
        let mix = first..reader.transactions.len();
        let log_out = reader.add_apart(LOG_OUT, outline.log_out, "scenario.log_out")?;
        let Reader {
            register,
            transactions,
            choices,
            ..
        } = reader;
        let Register {
            operations,
            requests,
            kept,
            ..
        } = register;
        let of = |id: Option<OperationId>| id.map(|id| &transactions[id]);
        let before = [of(log_in), of(first_visit)];
        flow::check(before, &transactions[mix], of(log_out), names.slots())?;
        Ok(Self {
            way: Itinerary {
                log_in,
                back_off: outline.back_off,
                first_visit,
                agenda: Agenda::new(&outline.mix(log_out), first)?,
                log_out,
            },
            operations,
            requests,
            transactions,
            slots: names.slots(),
            choices: choices.len(),
            kept,
            people,
        })
    }

    /// What is done in an operation.
    pub fn transaction(&self, operation: OperationId) -> &Transaction<S> {
        &self.transactions[operation]
    }

    /// User `user`, who has done nothing yet.
    pub fn person(&self, user: u32, seed: u64) -> Person {
        let random = Random::new(seed, user.into());
        Person::new(user, random, self.slots).with_choices(self.choices)
    }
}

impl<P> Outline<'_, P> {
    fn mix(&self, log_out: Option<OperationId>) -> Mix<'_> {
        let transactions = self.transactions.iter().map(|transaction| Entry {
            name: &transaction.name,
            weight: transaction.weight,
            next: transaction.next.as_ref(),
        });
        Mix {
            order: self.order,
            transactions: transactions.collect(),
            first: self.first,
            log_out,
        }
    }
}
