//! What a user draws before it acts: values, and which of several ways it goes.

use std::collections::BTreeMap;

use super::names::Names;
use super::options::{OneOfPlan, PicksPlan};
use super::person::Person;
use super::value::Kept;

/// Most ways of one choice.
const MOST_ALTERNATIVES: usize = 1000;

/// What is done in order.
#[derive(Debug)]
pub struct Transaction<S> {
    /// The field that it is in.
    pub path: String,
    /// What is drawn as it begins.
    pub picks: Picks,
    /// Its parts.
    pub parts: Vec<Part<S>>,
}

/// A part of a transaction.
#[derive(Debug)]
pub enum Part<S> {
    /// One step, the same for all users.
    Step(S),
    /// One of several ways.
    OneOf(OneOf<S>),
}

/// Several ways, of which a user takes one.
#[derive(Debug)]
pub struct OneOf<S> {
    /// The number of the choice; parts of one number are chosen together.
    pub choice: usize,
    /// Whether it is drawn here.
    pub draws: bool,
    /// The ways.
    pub alternatives: Vec<Alternative<S>>,
}

/// One of several ways.
#[derive(Debug)]
pub struct Alternative<S> {
    /// What is drawn as the transaction begins, if this way is taken.
    pub picks: Picks,
    /// Its steps.
    pub steps: Vec<S>,
}

impl<S> Transaction<S> {
    /// Draws all that it needs for `person`.
    pub fn begin(&self, person: &mut Person) {
        self.picks.draw(person);
        for part in &self.parts {
            if let Part::OneOf(one_of) = part {
                let count = one_of.alternatives.len();
                let taken = person.choose(one_of.choice, count, one_of.draws);
                one_of.alternatives[taken].picks.draw(person);
            }
        }
    }

    /// All steps that it may have.
    pub fn all_steps(&self) -> impl Iterator<Item = &S> {
        self.parts.iter().flat_map(Part::all_steps)
    }
}

impl<S> Part<S> {
    /// The steps that `person` makes, once the transaction has begun for it.
    pub fn steps(&self, person: &Person) -> &[S] {
        match self {
            Self::Step(step) => std::slice::from_ref(step),
            Self::OneOf(one_of) => {
                let taken = person.chosen(one_of.choice);
                one_of.alternatives.get(taken).map_or(&[], |way| &way.steps)
            }
        }
    }

    /// What is drawn with it, whichever way is taken.
    pub fn picks(&self) -> impl Iterator<Item = &Picks> {
        let ways = match self {
            Self::Step(_) => &[][..],
            Self::OneOf(one_of) => &one_of.alternatives[..],
        };
        ways.iter().map(|way| &way.picks)
    }

    fn all_steps(&self) -> impl Iterator<Item = &S> {
        let (own, ways) = match self {
            Self::Step(step) => (std::slice::from_ref(step), &[][..]),
            Self::OneOf(one_of) => (&[][..], &one_of.alternatives[..]),
        };
        own.iter().chain(ways.iter().flat_map(|way| &way.steps))
    }
}

/// Values that are drawn together.
#[derive(Debug, Default)]
pub struct Picks(Box<[Pick]>);

#[derive(Debug)]
struct Pick {
    slot: usize,
    of: Box<[Kept]>,
    hold: bool,
}

impl Picks {
    /// Reads what is drawn.
    ///
    /// # Errors
    /// The name of the value that is wrong, and what is wrong with it.
    pub fn new(plan: &PicksPlan, names: &Names) -> Result<Self, (String, &'static str)> {
        let read = |(name, pick): (&String, &super::options::PickPlan)| {
            if pick.of.is_empty() {
                return Err((name.clone(), "has nothing to pick; give values (of)"));
            }
            let slot = names.picked(name).expect("a slot for each picked value");
            let of = pick.of.iter().cloned().map(Kept::from).collect();
            Ok(Pick {
                slot,
                of,
                hold: pick.hold,
            })
        };
        plan.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The slots of the values, and whether each stays after its transaction.
    pub fn slots(&self) -> impl Iterator<Item = (usize, bool)> {
        self.0.iter().map(|pick| (pick.slot, pick.hold))
    }

    fn draw(&self, person: &mut Person) {
        for Pick { slot, of, .. } in &self.0 {
            let drawn = person.random().below(of.len());
            person.keep(*slot, of[drawn].clone());
        }
    }
}

/// The choices of a scenario, by name: number, and how many ways each has.
#[derive(Debug, Default)]
pub struct Choices(BTreeMap<String, (usize, usize)>);

impl Choices {
    /// The number of the choice of `plan`.
    ///
    /// # Errors
    /// What is wrong with it: the field, and why.
    pub fn number<S>(&mut self, plan: &OneOfPlan<S>) -> Result<usize, (&'static str, String)> {
        let count = plan.of.len();
        if plan.name.is_empty() {
            return Err(("one_of", "is empty; give a name".into()));
        }
        if !(1..=MOST_ALTERNATIVES).contains(&count) {
            let problem = format!("{count} is not between 1 and {MOST_ALTERNATIVES} alternatives");
            return Err(("of", problem));
        }
        let next = self.0.len();
        let (number, known) = *self.0.entry(plan.name.clone()).or_insert((next, count));
        if known != count {
            let problem = format!(
                "has {count} alternatives, and another `one_of: {}` has {known}; give both as many",
                plan.name
            );
            return Err(("of", problem));
        }
        Ok(number)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
