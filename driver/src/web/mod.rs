//! The workload `http`: users of a web application, as a scenario says what they do.
//!
//! Read in this order: `scenario` (what is given), `program` (what it becomes, once for all users),
//! `session` (a user), `request` (one of its requests).

pub(crate) mod account;
mod address;
pub(crate) mod agenda;
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
pub(crate) mod options;
mod page;
pub(crate) mod people;
pub(crate) mod person;
pub(crate) mod program;
pub(crate) mod quoting;
mod request;
pub(crate) mod sample;
pub(crate) mod scenario;
mod session;
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
use cache::Known;
use program::Program;
use scenario::Parameters;

use crate::http::Site;
use crate::parameters::read;
use crate::plan::{Plan, Refusal};
use crate::session::{Failure, RequestName, Workload};

pub use session::WebSession;

/// What all users share.
#[derive(Debug)]
struct Shared {
    program: Program,
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
        let Parameters { scenario, answers } = read(&plan.workload.parameters)?;
        let program = Program::new(&scenario, &plan.connection)?;
        let site = program.target.site(&plan.connection, &scenario)?;
        Ok(Self {
            shared: Arc::new(Shared {
                known: Known::new(program.cached.len()),
                program,
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
        let Shared {
            program,
            site,
            account,
            ..
        } = &*self.shared;
        let mut gauges = vec![("connections_open", account::connections_open(site) as f64)];
        if program.way.log_in.is_some() {
            gauges.push(("users_logged_in", account.logged_in() as f64));
            gauges.push(("users_working", account.working() as f64));
            gauges.push(("users_shut_out", account.shut_out() as f64));
        }
        gauges
    }

    fn gathered(&self) -> Option<u64> {
        let Shared {
            program, account, ..
        } = &*self.shared;
        program.way.log_in.map(|_| account.working())
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        account::facts(&self.shared)
    }
}

#[cfg(test)]
mod tests;
