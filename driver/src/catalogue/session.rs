//! The role `run`: what is done with the files of users.
//!
//! Any file that was there at first is looked at and read. What changes files has homes of its own in each
//! session, so that it knows what is in them: new versions of first files, and files that it created.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::calls::Call;
use super::home::FileId;
use super::{Catalogue, Hands, hands, made};
use crate::plan::{Plan, Refusal};
use crate::random::{Random, Weights};
use crate::session::{Failure, OperationId, Outcome, Session, Workload};

use super::parameters::OPERATIONS;

/// Positions in [`OPERATIONS`].
const CREATE: OperationId = 0;
const STAT: OperationId = 1;
const READ: OperationId = 2;
const LIST: OperationId = 3;
const REPLACE: OperationId = 4;
const DELETE: OperationId = 5;

/// The operation that makes a call; what comes before all operations is of none.
pub fn operation_of(call: Call) -> Option<OperationId> {
    match call {
        Call::Begin | Call::MakeHome(_) => None,
        Call::Create(_) => Some(CREATE),
        Call::Stat(_) => Some(STAT),
        Call::Read(_) => Some(READ),
        Call::List(_) => Some(LIST),
        Call::Replace(..) => Some(REPLACE),
        Call::Delete(_) => Some(DELETE),
    }
}

/// Works with a catalogue that is there.
#[derive(Debug)]
pub struct CatalogueRun {
    catalogue: Arc<Catalogue>,
    deck: Deck,
    sessions: u32,
}

/// The operations that have a weight, and the weights.
#[derive(Debug, Clone)]
struct Deck {
    operations: Vec<OperationId>,
    weights: Weights,
}

impl CatalogueRun {
    /// For the sessions of `plan`.
    ///
    /// # Errors
    /// A [`Refusal`] if the mix makes no sense, or there are more sessions than homes.
    pub fn new(catalogue: Catalogue, plan: &Plan) -> Result<Self, Refusal> {
        let (operations, weights): (Vec<_>, Vec<_>) = catalogue
            .parameters
            .weights()?
            .into_iter()
            .enumerate()
            .filter(|(_, weight)| *weight > 0)
            .map(|(operation, weight)| (operation, f64::from(weight)))
            .unzip();
        let weights = Weights::new(&weights)
            .ok_or_else(|| Refusal::new("workload.parameters.mix", "has no weight above 0"))?;
        let (sessions, homes) = (plan.sessions(), catalogue.parameters.homes);
        if sessions > homes {
            let problem = format!(
                "{homes} homes are fewer than the {sessions} sessions, each of which needs one of its own"
            );
            return Err(Refusal::new("workload.parameters.homes", problem));
        }
        Ok(Self {
            catalogue: Arc::new(catalogue),
            deck: Deck {
                operations,
                weights,
            },
            sessions,
        })
    }
}

impl Workload for CatalogueRun {
    type Session = RunSession;

    fn operations(&self) -> &[&'static str] {
        &OPERATIONS
    }

    async fn open(&self, user: u32, seed: u64) -> Result<RunSession, Failure> {
        Ok(RunSession {
            hands: hands(&self.catalogue).await?,
            catalogue: Arc::clone(&self.catalogue),
            deck: self.deck.clone(),
            draws: Draws {
                random: Random::new(seed, u64::from(user)),
                homes: self.catalogue.parameters.homes,
                files: self.catalogue.parameters.home_files,
                first: user % self.sessions,
                step: self.sessions,
            },
            own: Own::new(self.catalogue.parameters.home_files),
            call: Call::List(0),
        })
    }

    fn engine(&self) -> Option<String> {
        Some(self.catalogue.engine())
    }

    fn engine_cpu_s(&self) -> Option<f64> {
        Some(self.catalogue.meter.total_s())
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.catalogue.account.counters()
    }
}

/// Which files are taken.
#[derive(Debug)]
struct Draws {
    random: Random,
    homes: u32,
    files: u32,
    /// The first of the homes that are this session's own.
    first: u32,
    /// From one of them to the next.
    step: u32,
}

impl Draws {
    fn below(&mut self, count: u32) -> u32 {
        (self.random.unit() * f64::from(count)) as u32
    }

    fn any_home(&mut self) -> u32 {
        self.below(self.homes)
    }

    fn own_home(&mut self) -> u32 {
        let count = (self.homes - self.first).div_ceil(self.step);
        self.first + self.below(count) * self.step
    }

    fn file_of(&mut self, home: u32) -> FileId {
        let file = self.below(self.files);
        FileId { home, file }
    }
}

/// What a session has made of its homes.
#[derive(Debug)]
struct Own {
    /// First files that were replaced: the version that they have.
    versions: HashMap<FileId, u32>,
    /// Files that were created and not deleted, the oldest first.
    created: VecDeque<FileId>,
    /// Number of the next file to create, in whatever home.
    next_file: u32,
}

impl Own {
    fn new(home_files: u32) -> Self {
        Self {
            versions: HashMap::new(),
            created: VecDeque::new(),
            next_file: home_files,
        }
    }

    /// Takes note that a call has succeeded.
    fn note(&mut self, call: Call) {
        match call {
            Call::Create(id) => {
                self.created.push_back(id);
            }
            Call::Replace(id, version) => {
                self.versions.insert(id, version);
            }
            Call::Delete(_) => {
                self.created.pop_front();
            }
            Call::Begin | Call::MakeHome(_) | Call::Stat(_) | Call::Read(_) | Call::List(_) => {}
        }
    }
}

/// A user of the load, with a thread for the calls.
#[derive(Debug)]
pub struct RunSession {
    hands: Hands,
    catalogue: Arc<Catalogue>,
    deck: Deck,
    draws: Draws,
    own: Own,
    call: Call,
}

impl RunSession {
    fn create(&mut self) -> Call {
        let (home, file) = (self.draws.own_home(), self.own.next_file);
        self.own.next_file += 1;
        Call::Create(FileId { home, file })
    }
}

impl Session for RunSession {
    fn choose(&mut self) -> OperationId {
        let drawn = self.deck.operations[self.deck.weights.draw(&mut self.draws.random)];
        let operation = match drawn {
            // Nothing was created that could be deleted.
            DELETE if self.own.created.is_empty() => CREATE,
            drawn => drawn,
        };
        self.call = match operation {
            CREATE => self.create(),
            STAT | READ => {
                let home = self.draws.any_home();
                let id = self.draws.file_of(home);
                if operation == STAT {
                    Call::Stat(id)
                } else {
                    Call::Read(id)
                }
            }
            LIST => Call::List(self.draws.any_home()),
            REPLACE => {
                let home = self.draws.own_home();
                let id = self.draws.file_of(home);
                Call::Replace(id, self.own.versions.get(&id).map_or(1, |last| last + 1))
            }
            _ => Call::Delete(self.own.created[0]),
        };
        operation
    }

    async fn execute(&mut self, _operation: OperationId) -> Outcome {
        match made(&mut self.hands, self.call).await {
            Ok(()) => {
                self.own.note(self.call);
                Outcome::Done
            }
            Err(failure) => Outcome::Failed(failure),
        }
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        self.hands = hands(&self.catalogue).await?;
        Ok(())
    }

    async fn close(&mut self) {
        self.hands.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(first: u32, step: u32) -> Draws {
        Draws {
            random: Random::new(1, 0),
            homes: 10,
            files: 3,
            first,
            step,
        }
    }

    #[test]
    fn sessions_change_homes_of_their_own_and_all_of_them() {
        let mut seen = Vec::new();
        for first in 0..4 {
            let mut own: Vec<u32> = {
                let mut draws = draws(first, 4);
                (0..200).map(|_| draws.own_home()).collect()
            };
            own.sort_unstable();
            own.dedup();
            assert!(own.iter().all(|home| home % 4 == first));
            seen.extend(own);
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..10).collect::<Vec<u32>>());
    }

    #[test]
    fn what_failed_leaves_the_account_as_it_was() {
        let mut own = Own::new(3);
        let id = FileId { home: 1, file: 3 };
        own.note(Call::Create(id));
        own.note(Call::Stat(id));
        own.note(Call::Replace(FileId { home: 1, file: 0 }, 1));
        assert_eq!(own.created, [id]);
        assert_eq!(own.versions[&FileId { home: 1, file: 0 }], 1);
        own.note(Call::Delete(id));
        assert!(own.created.is_empty());
    }
}
