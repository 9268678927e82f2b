//! The workload `statements`: users of a database, each with a connection, who make the statements that a plan
//! has. It knows no schema: what the statements are is up to whoever writes the plan.
//!
//! Read in this order: `scenario` (what is given), `program` (what it becomes, once for all users), `engine` (what a
//! database is asked), `session` (a user). Choices, values and templates are those of [`crate::web`].

mod engine;
mod program;
mod scenario;
mod servers;
mod session;
mod sqlite;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use engine::{Desk, Engine};
pub use servers::{MariaDb, Postgres};
pub use session::StatementSession;
pub use sqlite::Sqlite;

use program::Program;
use scenario::Scenario;

use crate::pacing::Pace;
use crate::parameters::read;
use crate::plan::{Plan, Protocol, Refusal};
use crate::session::{Failure, RequestName, Workload};
use crate::web::account::Account;
use crate::web::options::Parameters;
use crate::web::quoting::Quoting;

/// What all users share.
#[derive(Debug)]
struct Shared<E> {
    engine: E,
    program: Program,
    account: Account,
    /// Rows that came.
    rows: AtomicU64,
}

/// A database and what its users ask.
#[derive(Debug)]
pub struct Statements<E> {
    shared: Arc<Shared<E>>,
    /// The file for kept answers.
    answers: Option<String>,
}

/// Looks at all of a plan that can be known without its database.
///
/// # Errors
/// A [`Refusal`] of the first field that makes no sense.
pub fn check(plan: &Plan) -> Result<(), Refusal> {
    let Parameters::<Scenario> { scenario, .. } = read(&plan.workload.parameters)?;
    let quoting = match plan.connection.protocol {
        Protocol::Mysql => Quoting::Mysql,
        Protocol::Sqlite => Quoting::Sqlite,
        _ => Quoting::Postgresql,
    };
    let program = program::read(&scenario, quoting)?;
    Pace::new(&plan.pacing, &program.operations).map(drop)
}

impl<E: Engine> Statements<E> {
    /// The workload of a plan on `engine`. Asks nothing of it.
    ///
    /// # Errors
    /// A [`Refusal`] of the first field that makes no sense.
    pub fn new(engine: E, plan: &Plan) -> Result<Self, Refusal> {
        let Parameters::<Scenario> { scenario, answers } = read(&plan.workload.parameters)?;
        Ok(Self {
            shared: Arc::new(Shared {
                program: program::read(&scenario, E::QUOTING)?,
                engine,
                account: Account::default(),
                rows: AtomicU64::new(0),
            }),
            answers,
        })
    }

    /// Opens the file for the answers that the scenario keeps, if it keeps any.
    ///
    /// # Errors
    /// A [`Refusal`] if the plan names none, or it cannot be opened.
    pub fn keeping(self) -> Result<Self, Refusal> {
        self.shared.program.kept.open(self.answers.as_deref())?;
        Ok(self)
    }
}

impl<E: Engine> Workload for Statements<E> {
    type Session = StatementSession<E>;

    fn operations(&self) -> &[&'static str] {
        &self.shared.program.operations
    }

    fn requests(&self) -> &[RequestName] {
        &self.shared.program.requests
    }

    async fn open(&self, user: u32, seed: u64) -> Result<StatementSession<E>, Failure> {
        let desk = self.shared.engine.connect().await?;
        Ok(StatementSession::new(
            Arc::clone(&self.shared),
            desk,
            user,
            seed,
        ))
    }

    fn engine(&self) -> Option<String> {
        self.shared.engine.version()
    }

    fn engine_cpu_s(&self) -> Option<f64> {
        self.shared.engine.cpu_s()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("rows", self.shared.rows.load(Ordering::Relaxed))]
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        self.shared.account.gauges(&self.shared.program.way)
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        let counters = self.counters().into_iter();
        counters.map(|(name, count)| (name, count as f64)).collect()
    }

    fn gathered(&self) -> Option<u64> {
        self.shared.account.gathered(&self.shared.program.way)
    }
}
