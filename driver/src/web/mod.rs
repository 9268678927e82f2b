//! The workload `http`: users of a web application, as a scenario says what they do.
//!
//! Read in this order: `scenario` (what is given), `program` (what it becomes, once for all users),
//! `session` (a user), `request` (one of its requests).

mod account;
mod address;
mod agenda;
mod cache;
mod encoding;
mod expect;
mod extract;
mod flow;
mod forms;
mod json_path;
mod names;
mod page;
mod people;
mod person;
mod program;
mod request;
mod scenario;
mod session;
mod target;
mod template;
#[cfg(test)]
mod testing;
mod trouble;
mod value;
mod visit;

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
}

impl Web {
    /// The workload of a plan. Asks nothing of the application.
    ///
    /// # Errors
    /// A [`Refusal`] of the first field that makes no sense: all that can be wrong without an answer of the
    /// application, also in the file of people and the environment.
    pub fn from_plan(plan: &Plan) -> Result<Self, Refusal> {
        let Parameters { scenario } = read(&plan.workload.parameters)?;
        let program = Program::new(&scenario, &plan.connection)?;
        let site = program.target.site(&plan.connection, &scenario)?;
        Ok(Self {
            shared: Arc::new(Shared {
                known: Known::new(program.cached.len()),
                program,
                site,
                account: Account::default(),
            }),
        })
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
        account::counters(&self.shared.site, &self.shared.account)
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let Shared {
            program,
            site,
            account,
            ..
        } = &*self.shared;
        let mut gauges = vec![("connections_open", account::connections_open(site) as f64)];
        if program.log_in.is_some() {
            gauges.push(("users_logged_in", account.logged_in() as f64));
            gauges.push(("users_shut_out", account.shut_out() as f64));
        }
        gauges
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        account::facts(&self.shared.site, &self.shared.account)
    }
}

#[cfg(test)]
mod tests;
