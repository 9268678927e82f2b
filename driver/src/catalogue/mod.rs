//! The catalogue of a server for many users: a home folder each, with small files in it.
//!
//! A BI server keeps what its users own this way: `users/st/steve/...`, hashed by the first characters
//! of the *name*, so that numbered users all land in one folder. File calls block: each session has a
//! thread of its own for them, as with SQLite, and awaits the reply.

mod account;
mod calls;
mod content;
mod errors;
mod home;
mod load;
mod parameters;
mod session;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use account::Account;
use calls::{Answer, Call, FileCalls};
use content::Contents;
use home::Homes;
use parameters::Parameters;

use crate::cpu_meter::CpuMeter;
use crate::job_thread::{Bench, Gone, JobThread};
use crate::plan::{Plan, Protocol, Refusal};
use crate::session::{ErrorClass, Failure};

pub use load::CatalogueLoad;
pub use session::CatalogueRun;

/// A session's thread.
type Hands = JobThread<Call, Answer>;

/// Where the files are, what they hold, and what was counted: one value for all sessions.
#[derive(Debug)]
pub struct Catalogue {
    folder: PathBuf,
    parameters: Parameters,
    homes: Homes,
    contents: Contents,
    account: Account,
    meter: Arc<CpuMeter>,
}

impl Catalogue {
    /// The catalogue of a plan.
    ///
    /// # Errors
    /// A [`Refusal`] that names the wrong field: no folder, a parameter that makes no sense.
    pub fn from_plan(plan: &Plan) -> Result<Self, Refusal> {
        if plan.connection.protocol != Protocol::Files {
            let problem = "storage is made in a folder; write \"files\"";
            return Err(Refusal::new("connection.protocol", problem));
        }
        let folder = PathBuf::from(&plan.connection.folder);
        if !folder.is_dir() {
            let problem = format!("{} is not a folder that exists", folder.display());
            return Err(Refusal::new("connection.folder", problem));
        }
        let parameters = Parameters::parse(&plan.workload.parameters)?;
        Ok(Self {
            homes: Homes::new(&parameters),
            contents: Contents::new(parameters.data_seed),
            account: Account::default(),
            meter: Arc::default(),
            folder,
            parameters,
        })
    }
}

/// Starts the thread of a session.
fn hands(catalogue: &Arc<Catalogue>) -> Result<Hands, Failure> {
    let catalogue = Arc::clone(catalogue);
    let body = move |bench: Bench<Call, Answer>| {
        let _presence = catalogue.meter.enter();
        let mut calls = FileCalls::new(&catalogue);
        bench.serve(|call| calls.make(call));
    };
    JobThread::start("files", body).map_err(no_thread)
}

fn no_thread(error: io::Error) -> Failure {
    Failure {
        class: ErrorClass("connection".into()),
        message: format!("cannot start a thread: {error}"),
    }
}

/// Has a call made.
async fn made(hands: &mut Hands, call: Call) -> Answer {
    let gone = |gone: Gone| Failure {
        class: ErrorClass("connection".into()),
        message: gone.to_string(),
    };
    hands.send(call).map_err(gone)?;
    hands.reply().await.map_err(gone)?
}
