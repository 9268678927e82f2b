//! The catalogue of a server for many users: a home folder each, with small files in it.
//!
//! A BI server keeps what its users own this way: `users/st/steve/...`, hashed by the first characters
//! of the *name*, so that numbered users all land in one folder. They are in a folder of this machine or
//! in an export of NFS. Calls block: each session has a thread of its own for them, as with SQLite, and
//! awaits the reply.

mod account;
mod calls;
mod content;
mod errors;
mod export;
mod folder;
mod home;
mod load;
mod parameters;
mod session;
mod store;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use account::{Account, Calls};
use calls::{Answer, Call, FileCalls};
use content::Contents;
use export::{ExportStore, Mounted};
use folder::Folder;
use home::Homes;
use parameters::Parameters;
use store::Store;

use crate::cpu_meter::CpuMeter;
use crate::job_thread::{Bench, Gone, JobThread};
use crate::nfs;
use crate::plan::{Plan, Protocol, Refusal};
use crate::session::{ErrorClass, Failure};

pub use load::CatalogueLoad;
pub use session::CatalogueRun;

/// A session's thread.
type Hands = JobThread<Call, Answer>;

/// Where the files are, what they hold, and what was counted: one value for all sessions.
#[derive(Debug)]
pub struct Catalogue {
    /// Above the homes; of an export only as messages name it.
    folder: PathBuf,
    /// Where they are, if that is not on this machine.
    mounted: Option<Mounted>,
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
        let parameters = Parameters::parse(&plan.workload.parameters)?;
        let (folder, mounted) = match plan.connection.protocol {
            Protocol::Files => (existing(&plan.connection.folder)?, None),
            Protocol::Nfs => {
                let export = nfs::Export::from_plan(&plan.connection)?;
                let mounted = Mounted::new(export, parameters.handles);
                (mounted.shown().into(), Some(mounted))
            }
            _ => {
                let problem = "storage is made in a folder; write \"files\" or \"nfs\"";
                return Err(Refusal::new("connection.protocol", problem));
            }
        };
        Ok(Self {
            homes: Homes::new(&parameters),
            contents: Contents::new(parameters.data_seed),
            account: Account {
                calls: mounted.as_ref().map(|_| Calls::default()),
                ..Account::default()
            },
            meter: Arc::default(),
            folder,
            mounted,
            parameters,
        })
    }

    /// The homes, for the calling thread.
    fn store(&self) -> Box<dyn Store + '_> {
        match &self.mounted {
            Some(mounted) => Box::new(ExportStore::new(mounted, &self.homes)),
            None => Box::new(Folder {
                path: &self.folder,
                homes: &self.homes,
            }),
        }
    }

    /// What makes the calls, for people.
    fn engine(&self) -> String {
        match &self.mounted {
            Some(_) => "NFSv3 calls".into(),
            None => "file calls".into(),
        }
    }
}

fn existing(folder: &str) -> Result<PathBuf, Refusal> {
    let found = PathBuf::from(folder);
    if found.is_dir() {
        return Ok(found);
    }
    let problem = format!("{folder} is not a folder that exists");
    Err(Refusal::new("connection.folder", problem))
}

/// Starts the thread of a session, ready for calls.
async fn hands(catalogue: &Arc<Catalogue>) -> Result<Hands, Failure> {
    let catalogue = Arc::clone(catalogue);
    let body = move |bench: Bench<Call, Answer>| {
        let _presence = catalogue.meter.enter();
        let mut calls = FileCalls::new(&catalogue);
        bench.serve(|call| calls.make(call));
    };
    let mut hands = JobThread::start("files", body).map_err(no_thread)?;
    made(&mut hands, Call::Begin).await?;
    Ok(hands)
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
