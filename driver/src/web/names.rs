//! The names that templates may have, and where the value of each comes from.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::{Map, Value};

use super::options::{self, PicksPlan, TransactionPlan};
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
    /// What was drawn as a transaction began, by the number of its slot.
    Picked(usize),
    /// The number of the user, from 0.
    User,
    /// 16 hexadecimal digits, new at each use.
    Unique,
    /// Unix time in milliseconds.
    NowMs,
}

impl Source {
    /// Why a value that is not there yet cannot be written.
    pub fn missing(self) -> &'static str {
        match self {
            Self::Picked(_) => "was not picked yet when it was used",
            _ => "was not extracted yet when it was used",
        }
    }
}

/// What stands in the place of a value that nobody is to read.
const HIDDEN: &str = "***";
/// Parts of the names of columns whose cells may be secrets.
const SECRET: [&str; 7] = [
    "passw",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "credential",
    "apikey",
];

/// What a name stands for.
#[derive(Clone)]
pub enum Meaning {
    /// The same for all, from the start.
    Fixed(Value),
    Live(Source),
}

/// The names of a scenario. They hold secrets, so they cannot be shown.
pub struct Names {
    /// What each name stands for, and what that is in words.
    meanings: BTreeMap<String, (Meaning, &'static str)>,
    /// How many values are extracted or picked.
    slots: usize,
    /// The values that are picked, and whether they stay.
    held: BTreeMap<String, bool>,
}

/// The kinds of meanings, in words.
const BUILT_IN: &str = "a built-in name";
const SECRET_VALUE: &str = "a secret";

impl Names {
    /// The names of `scenario`; secrets are read from the environment.
    ///
    /// # Errors
    /// A [`Refusal`] if a name has two meanings, or the variable of a secret is not set.
    pub fn new(scenario: &Scenario, people: Option<&People>, base: &str) -> Result<Self, Refusal> {
        let mut names = Self::common(&scenario.values, people, Some(base), "scenario")?;
        for (name, variable) in &scenario.secrets {
            let field = format!("scenario.secrets.{name}");
            let secret = std::env::var(variable)
                .map_err(|_| refuse(&field, format!("{variable} is not set")))?;
            names.add(name, Meaning::Fixed(secret.into()), SECRET_VALUE, &field)?;
        }
        names.add_extracted(scenario)?;
        names.add_picked(&scenario.transactions)?;
        Ok(names)
    }

    /// Names that are there before a user has done anything: built-in ones, columns and constants.
    ///
    /// # Errors
    /// A [`Refusal`] of a field below `path` if a name has two meanings.
    pub fn common(
        values: &Map<String, Value>,
        people: Option<&People>,
        base: Option<&str>,
        path: &str,
    ) -> Result<Self, Refusal> {
        let mut names = Self {
            meanings: BTreeMap::new(),
            slots: 0,
            held: BTreeMap::new(),
        };
        let base = base.map(|base| ("base", Meaning::Fixed(base.into())));
        let live = [
            ("user", Meaning::Live(Source::User)),
            ("unique", Meaning::Live(Source::Unique)),
            ("now_ms", Meaning::Live(Source::NowMs)),
        ];
        for (name, meaning) in live.into_iter().chain(base) {
            names.add(name, meaning, BUILT_IN, path)?;
        }
        let columns = people.iter().flat_map(|people| people.columns());
        for (column, name) in columns.enumerate() {
            let meaning = Meaning::Live(Source::Column(column));
            let field = format!("{path}.people");
            names.add(name, meaning, "a column of people", &field)?;
        }
        for (name, value) in values {
            let field = format!("{path}.values.{name}");
            names.add(name, Meaning::Fixed(value.clone()), "a value", &field)?;
        }
        Ok(names)
    }

    /// Adds the values that are picked in the transactions of a mix.
    ///
    /// # Errors
    /// A [`Refusal`] if a name has another meaning, too.
    pub fn add_picked<S: options::StepPlan>(
        &mut self,
        transactions: &[TransactionPlan<S>],
    ) -> Result<(), Refusal> {
        for (index, transaction) in transactions.iter().enumerate() {
            let path = format!("scenario.transactions[{index}]");
            self.add_picks(&transaction.pick, &path)?;
            for (at, step) in transaction.steps.iter().enumerate() {
                let ways = step.one_of().into_iter().flat_map(|one_of| &one_of.of);
                for (way, alternative) in ways.enumerate() {
                    let path = format!("{path}.steps[{at}].of[{way}]");
                    self.add_picks(&alternative.pick, &path)?;
                }
            }
        }
        Ok(())
    }

    /// Gives each value that is picked a slot, once; `path` is the field that `pick` is in.
    fn add_picks(&mut self, picks: &PicksPlan, path: &str) -> Result<(), Refusal> {
        for (name, pick) in picks {
            let field = format!("{path}.pick.{name}");
            if self.picked(name).is_none() {
                let meaning = Meaning::Live(Source::Picked(self.slots));
                self.add(name, meaning, "a picked value", &field)?;
                self.slots += 1;
                self.held.insert(name.clone(), pick.hold);
            } else if self.held[name] != pick.hold {
                let problem = "is held in one place and not in another; write `hold` in both";
                return Err(refuse(&field, problem));
            }
        }
        Ok(())
    }

    /// The slot of a value that is picked.
    pub fn picked(&self, name: &str) -> Option<usize> {
        match self.meanings.get(name) {
            Some((Meaning::Live(Source::Picked(slot)), _)) => Some(*slot),
            _ => None,
        }
    }

    /// The same names, of which those that may stand for secrets stand for `***`: secrets, what is extracted
    /// (it may be a token), and columns that are called as passwords are. So do those that are new at each use.
    #[must_use]
    pub fn redacted(&self) -> Self {
        let meanings = self.meanings.iter().map(|(name, (meaning, kind))| {
            let meaning = match meaning {
                Meaning::Live(Source::Extracted(_) | Source::Unique | Source::NowMs) => {
                    Meaning::Fixed(HIDDEN.into())
                }
                Meaning::Live(Source::Column(_)) if is_secret(name) => {
                    Meaning::Fixed(HIDDEN.into())
                }
                Meaning::Fixed(_) if *kind == SECRET_VALUE => Meaning::Fixed(HIDDEN.into()),
                other => other.clone(),
            };
            (name.clone(), (meaning, *kind))
        });
        Self {
            meanings: meanings.collect(),
            slots: self.slots,
            held: self.held.clone(),
        }
    }

    /// Whether a name stands for what may be read, and tells something: no secret, nothing built-in.
    pub fn is_telling(&self, name: &str) -> bool {
        self.meanings.get(name).is_some_and(|(meaning, kind)| {
            let hides = match meaning {
                Meaning::Live(Source::Extracted(_)) => true,
                Meaning::Live(Source::Column(_)) => is_secret(name),
                _ => *kind == SECRET_VALUE,
            };
            !hides && *kind != BUILT_IN
        })
    }

    fn add_extracted(&mut self, scenario: &Scenario) -> Result<(), Refusal> {
        for (path, steps) in transactions(scenario) {
            for (index, step) in steps.iter().enumerate() {
                for (at, request) in all_requests(step) {
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
                 no transaction picks it, and no request extracts it"
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

    /// How many values are extracted or picked.
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
        StepPlan::PauseS(_) | StepPlan::OneOf(_) => Vec::new(),
    }
}

/// The requests of a step, of all its ways where it has several, with their path below it.
fn all_requests(step: &StepPlan) -> Vec<(String, &RequestPlan)> {
    let StepPlan::OneOf(one_of) = step else {
        return requests(step);
    };
    let ways = one_of.of.iter().enumerate();
    ways.flat_map(|(way, alternative)| {
        let steps = alternative.steps.iter().enumerate();
        steps.flat_map(move |(index, step)| {
            let below = format!(".of[{way}].steps[{index}]");
            let requests = requests(step).into_iter();
            requests.map(move |(at, request)| (format!("{below}{at}"), request))
        })
    })
    .collect()
}

/// Whether a column is called as one of secrets is.
fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    SECRET.iter().any(|part| plain.contains(part))
}
