//! The workload `http`: users of a web application, as a scenario says what they do.
//!
//! Read in this order: `scenario` (what is given), `program` (what it becomes, once for all users), `reader` (how),
//! `session` (a user), `request` (one of its requests).

pub(crate) mod account;
mod address;
pub(crate) mod agenda;
mod application;
mod cache;
pub(crate) mod choices;
mod classes;
pub(crate) mod encoding;
mod expect;
mod extract;
pub(crate) mod flow;
mod forms;
mod json_path;
mod made;
mod marks;
pub(crate) mod names;
mod operations;
pub(crate) mod options;
mod page;
pub(crate) mod people;
pub(crate) mod person;
pub(crate) mod program;
pub(crate) mod quoting;
pub(crate) mod reader;
mod request;
pub(crate) mod sample;
mod scenario;
mod session;
mod steps;
mod target;
pub(crate) mod template;
#[cfg(test)]
mod testing;
mod tries;
mod trouble;
mod value;
pub(crate) mod visit;

use std::sync::Arc;

use account::Account;
use application::Application;
use cache::Known;
use options::Parameters;
use program::Program;
use scenario::Scenario;
use steps::Step;

use crate::http::Site;
use crate::parameters::read;
use crate::plan::{Plan, Refusal};
use crate::session::{Failure, RequestName, Workload};

pub use session::WebSession;

/// What all users share.
#[derive(Debug)]
struct Shared {
    program: Program<Step>,
    application: Application,
    site: Site,
    account: Account,
    known: Known,
}

/// A web application and what its users do.
#[derive(Debug)]
pub struct Web {
    shared: Arc<Shared>,
    /// The file for kept answers.
    answers: Option<String>,
}

impl Web {
    /// The workload of a plan. Asks nothing of the application.
    ///
    /// # Errors
    /// A [`Refusal`] of the first field that makes no sense: all that can be wrong without an answer of the
    /// application, also in the file of people and the environment.
    pub fn from_plan(plan: &Plan) -> Result<Self, Refusal> {
        let Parameters::<Scenario> { scenario, answers } = read(&plan.workload.parameters)?;
        let (application, program) = Application::read(&scenario, &plan.connection)?;
        let site = application.target.site(&plan.connection, &scenario)?;
        Ok(Self {
            shared: Arc::new(Shared {
                known: Known::new(application.cached.len()),
                program,
                application,
                site,
                account: Account::default(),
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

impl Workload for Web {
    type Session = WebSession;

    fn operations(&self) -> &[&'static str] {
        &self.shared.program.operations
    }

    fn requests(&self) -> &[RequestName] {
        &self.shared.program.requests
    }

    async fn open(&self, user: u32, seed: u64) -> Result<WebSession, Failure> {
        Ok(WebSession::new(Arc::clone(&self.shared), user, seed))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        account::counters(&self.shared)
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let shared = &self.shared;
        let open = account::connections_open(&shared.site) as f64;
        let mut gauges = vec![("connections_open", open)];
        gauges.extend(shared.account.gauges(&shared.program.way));
        gauges
    }

    fn gathered(&self) -> Option<u64> {
        self.shared.account.gathered(&self.shared.program.way)
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        account::facts(&self.shared)
    }
}

#[cfg(test)]
mod tests;
