//! The names that templates may have, and where the value of each comes from.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::Value;

use super::people::People;
use super::scenario::{RequestPlan, Scenario, StepPlan};
use crate::parameters::refuse;
use crate::plan::Refusal;

/// Where a value comes from that is only known when it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A column of people.
    Column(usize),
    /// What a request extracted, by the number of its slot.
    Extracted(usize),
    /// The number of the user, from 0.
    User,
    /// 16 hexadecimal digits, new at each use.
    Unique,
    /// Unix time in milliseconds.
    NowMs,
}

/// What a name stands for.
pub enum Meaning {
    /// The same for all, from the start.
    Fixed(Value),
    Live(Source),
}

/// The names of a scenario. They hold secrets, so they cannot be shown.
pub struct Names {
    /// What each name stands for, and what that is in words.
    meanings: BTreeMap<String, (Meaning, &'static str)>,
    /// How many values are extracted.
    slots: usize,
}

impl Names {
    /// The names of `scenario`; secrets are read from the environment.
    ///
    /// # Errors
    /// A [`Refusal`] if a name has two meanings, or the variable of a secret is not set.
    pub fn new(scenario: &Scenario, people: Option<&People>, base: &str) -> Result<Self, Refusal> {
        let mut names = Self {
            meanings: BTreeMap::new(),
            slots: 0,
        };
        for (name, meaning) in [
            ("user", Meaning::Live(Source::User)),
            ("unique", Meaning::Live(Source::Unique)),
            ("now_ms", Meaning::Live(Source::NowMs)),
            ("base", Meaning::Fixed(base.into())),
        ] {
            names.add(name, meaning, "a built-in name", "scenario")?;
        }
        for (column, name) in people
            .iter()
            .flat_map(|people| people.columns())
            .enumerate()
        {
            let meaning = Meaning::Live(Source::Column(column));
            names.add(name, meaning, "a column of people", "scenario.people")?;
        }
        for (name, value) in &scenario.values {
            let field = format!("scenario.values.{name}");
            names.add(name, Meaning::Fixed(value.clone()), "a value", &field)?;
        }
        for (name, variable) in &scenario.secrets {
            let field = format!("scenario.secrets.{name}");
            let secret = std::env::var(variable)
                .map_err(|_| refuse(&field, format!("{variable} is not set")))?;
            names.add(name, Meaning::Fixed(secret.into()), "a secret", &field)?;
        }
        names.add_extracted(scenario)?;
        Ok(names)
    }

    fn add_extracted(&mut self, scenario: &Scenario) -> Result<(), Refusal> {
        for (path, steps) in transactions(scenario) {
            for (index, step) in steps.iter().enumerate() {
                for (at, request) in requests(step) {
                    for name in request.extract.keys() {
                        let field = format!("{path}.steps[{index}]{at}.extract.{name}");
                        self.add_slot(name, &field)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives an extracted value a slot, once.
    fn add_slot(&mut self, name: &str, field: &str) -> Result<(), Refusal> {
        if self.slot(name).is_some() {
            return Ok(());
        }
        let meaning = Meaning::Live(Source::Extracted(self.slots));
        self.add(name, meaning, "an extracted value", field)?;
        self.slots += 1;
        Ok(())
    }

    fn add(
        &mut self,
        name: &str,
        meaning: Meaning,
        kind: &'static str,
        field: &str,
    ) -> Result<(), Refusal> {
        match self.meanings.entry(name.to_owned()) {
            Entry::Vacant(vacant) => {
                vacant.insert((meaning, kind));
                Ok(())
            }
            Entry::Occupied(taken) => {
                let before = taken.get().1;
                let problem = format!("`{name}` is also {before}; choose another name");
                Err(refuse(field, problem))
            }
        }
    }

    /// What a name stands for.
    ///
    /// # Errors
    /// That it is not known, in words.
    pub fn find(&self, name: &str) -> Result<&Meaning, String> {
        let found = self.meanings.get(name).map(|(meaning, _)| meaning);
        found.ok_or_else(|| {
            format!(
                "`${{{name}}}` is not known: it is no column of people, no value and no secret, \
                 and no request extracts it"
            )
        })
    }

    /// The slot of an extracted value.
    pub fn slot(&self, name: &str) -> Option<usize> {
        match self.meanings.get(name) {
            Some((Meaning::Live(Source::Extracted(slot)), _)) => Some(*slot),
            _ => None,
        }
    }

    /// How many values are extracted.
    pub fn slots(&self) -> usize {
        self.slots
    }
}

/// The steps of every transaction, with their path below the parameters.
fn transactions(scenario: &Scenario) -> impl Iterator<Item = (String, &[StepPlan])> {
    let log_in = scenario.log_in.iter();
    let log_in = log_in.map(|log_in| ("scenario.log_in".to_owned(), &*log_in.steps));
    let first_visit = scenario.first_visit.iter();
    let first_visit = first_visit.map(|visit| ("scenario.first_visit".to_owned(), &*visit.steps));
    let log_out = scenario.log_out.iter();
    let log_out = log_out.map(|log_out| ("scenario.log_out".to_owned(), &*log_out.steps));
    let others = scenario.transactions.iter().enumerate();
    let others = others.map(|(index, transaction)| {
        let path = format!("scenario.transactions[{index}]");
        (path, &*transaction.steps)
    });
    log_in.chain(first_visit).chain(others).chain(log_out)
}

/// The requests of a step, with their path below it.
pub fn requests(step: &StepPlan) -> Vec<(String, &RequestPlan)> {
    match step {
        StepPlan::Request(request) => vec![(String::new(), &**request)],
        StepPlan::Parallel(requests) => {
            let numbered = requests.iter().enumerate();
            numbered
                .map(|(index, request)| (format!(".parallel[{index}]"), request))
                .collect()
        }
        StepPlan::PauseS(_) => Vec::new(),
    }
}
