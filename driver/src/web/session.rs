//! A user of the application: it logs in, makes its transactions, and logs out as it leaves.

use std::sync::Arc;

use futures_util::future::join_all;

use super::Shared;
use super::page::Page;
use super::person::Person;
use super::program::Step;
use super::request::{Prepared, Request};
use super::trouble::Trouble;
use crate::http::{Answer, Browser, Class, Site};
use crate::random::Random;
use crate::session::{ErrorClass, Failure, OperationId, Outcome, RequestEnd, Session};
use crate::timer::Timer;

/// A user. What it needs while a transaction runs is allocated for that time only: most users think.
#[derive(Debug)]
pub struct WebSession {
    shared: Arc<Shared>,
    person: Person,
    browser: Browser,
    /// Those of the last attempt.
    requests: Vec<RequestEnd>,
    /// Transactions that were chosen in turn.
    turn: u32,
    logged_in: bool,
    /// Whether the last transaction was a log-in that succeeded.
    hurries: bool,
}

impl WebSession {
    pub(super) fn new(shared: Arc<Shared>, user: u32, seed: u64) -> Self {
        let random = Random::new(seed, user.into());
        Self {
            person: Person::new(user, random, shared.program.slots),
            browser: Browser::new(user),
            requests: Vec::new(),
            turn: 0,
            logged_in: false,
            hurries: false,
            shared,
        }
    }

    /// Makes the steps of a transaction in order, up to the first that fails.
    async fn attempt(&mut self, operation: OperationId) -> Result<(), Failure> {
        let shared = Arc::clone(&self.shared);
        for step in shared.program.steps(operation) {
            match step {
                Step::Pause { ns } => {
                    let timer = Timer::current();
                    timer.sleep_until(timer.now_ns() + ns).await;
                }
                Step::Request(request) => self.one(&shared, request).await?,
                Step::Parallel(requests) => self.several(&shared, requests).await?,
            }
        }
        Ok(())
    }

    async fn one(&mut self, shared: &Shared, request: &Request) -> Result<(), Failure> {
        let prepared = self.prepare(shared, request);
        let made = make(&self.browser, &shared.site, prepared).await;
        self.conclude(request, made)
    }

    /// Makes all of the requests, also if one fails. They are written before and read after all of them, in
    /// their order, so that what is drawn does not depend on which answer comes first.
    async fn several(&mut self, shared: &Shared, requests: &[Request]) -> Result<(), Failure> {
        let mut all = Vec::with_capacity(requests.len());
        for request in requests {
            let prepared = self.prepare(shared, request);
            all.push(prepared);
        }
        let making = all
            .into_iter()
            .map(|prepared| make(&self.browser, &shared.site, prepared));
        let made = join_all(making).await;
        let mut first = Ok(());
        for (request, made) in requests.iter().zip(made) {
            let ended = self.conclude(request, made);
            first = first.and(ended);
        }
        first
    }

    fn prepare<'r>(
        &mut self,
        shared: &Shared,
        request: &'r Request,
    ) -> Result<Prepared<'r>, Trouble> {
        let program = &shared.program;
        request.prepare(&program.target, &mut self.person, program.people.as_ref())
    }

    /// Looks at the answer, and notes how the request ended.
    fn conclude(&mut self, request: &Request, made: Made) -> Result<(), Failure> {
        let outcome = made
            .answer
            .and_then(|answer| self.judge(request, &Page::new(&answer)));
        self.requests.push(RequestEnd {
            request: request.id,
            begun_ns: made.begun_ns,
            done_ns: made.done_ns,
            outcome: outcome.as_ref().copied().map_err(Trouble::class),
            resent: made.resent.map(|class| ErrorClass(class.name().into())),
        });
        outcome.map_err(|trouble| trouble.of(request.name))
    }

    fn judge(&mut self, request: &Request, page: &Page<'_>) -> Result<(), Trouble> {
        request.expectation.check(page)?;
        for extraction in &request.extractions {
            extraction.take(page, &self.browser, &mut self.person)?;
        }
        Ok(())
    }

    /// Takes note of how a transaction ended.
    fn settle(&mut self, operation: OperationId, well: bool) {
        let (log_in, log_out) = (self.shared.program.log_in, self.shared.program.log_out);
        if log_in == Some(operation) {
            self.set_logged_in(well);
            self.hurries = well;
        } else if log_out == Some(operation) {
            // Also if it failed: what the server still knows of the user is not sure.
            self.set_logged_in(false);
        }
    }

    fn set_logged_in(&mut self, logged_in: bool) {
        if self.logged_in != logged_in {
            self.logged_in = logged_in;
            self.shared.account.user_changed(logged_in);
        }
    }
}

impl Session for WebSession {
    fn choose(&mut self) -> OperationId {
        let program = &self.shared.program;
        match program.log_in {
            Some(log_in) if !self.logged_in => log_in,
            _ => program.agenda.next(&mut self.turn, self.person.random()),
        }
    }

    async fn execute(&mut self, operation: OperationId) -> Outcome {
        self.hurries = false;
        self.requests.clear();
        let outcome = Box::pin(self.attempt(operation)).await;
        self.settle(operation, outcome.is_ok());
        match outcome {
            Ok(()) => Outcome::Done,
            Err(failure) => Outcome::Failed(failure),
        }
    }

    /// A user does not think between its log-in and its first transaction. The wait after a log-in is that
    /// after one which failed: an application that is down is not asked again at once.
    fn hurries(&self) -> bool {
        self.hurries
    }

    fn requests(&mut self) -> Vec<RequestEnd> {
        std::mem::take(&mut self.requests)
    }

    /// The log-out, if the user is logged in. Where a scenario has no log-in, each user is.
    fn farewell(&mut self) -> Option<OperationId> {
        let program = &self.shared.program;
        let logged_in = self.logged_in || program.log_in.is_none();
        program.log_out.filter(|_| logged_in)
    }

    /// Does nothing: connections are opened as they are needed.
    async fn reconnect(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    async fn close(&mut self) {
        self.set_logged_in(false);
        self.browser.close();
    }
}

/// A request that was made, or could not be.
struct Made {
    begun_ns: u64,
    done_ns: u64,
    answer: Result<Answer, Trouble>,
    resent: Option<Class>,
}

async fn make(browser: &Browser, site: &Site, prepared: Result<Prepared<'_>, Trouble>) -> Made {
    let timer = Timer::current();
    let begun_ns = timer.now_ns();
    let (answer, resent) = match prepared {
        Err(trouble) => (Err(trouble), None),
        Ok(prepared) => {
            let (fetched, notes) = browser.fetch(site, &prepared.request()).await;
            let answer = fetched.map(|fetched| fetched.answer);
            (answer.map_err(Trouble::from), notes.resent)
        }
    };
    Made {
        begun_ns,
        done_ns: timer.now_ns(),
        answer,
        resent,
    }
}

#[cfg(test)]
mod tests;
