//! A user of the application: it logs in, makes its transactions, and logs out as it leaves.

use std::sync::Arc;

use futures_util::future::join_all;

use super::Shared;
use super::account::add_one;
use super::cache::{Cache, Lookup};
use super::page::Page;
use super::person::Person;
use super::program::Step;
use super::request::{Prepared, Request};
use super::trouble::Trouble;
use super::visit::Visit;
use crate::http::{Browser, Fetched, Notes, Site, now_unix_s};
use crate::random::Random;
use crate::session::{
    Course, ErrorClass, Failure, Haste, OperationId, Outcome, RequestEnd, Session,
};
use crate::timer::Timer;

const NOT_MODIFIED: u16 = 304;

/// A user. What it needs while a transaction runs is allocated for that time only: most users think.
#[derive(Debug)]
pub struct WebSession {
    shared: Arc<Shared>,
    person: Person,
    browser: Browser,
    cache: Cache,
    /// Those of the last attempt.
    requests: Vec<RequestEnd>,
    visit: Visit,
}

impl WebSession {
    pub(super) fn new(shared: Arc<Shared>, user: u32, seed: u64) -> Self {
        let random = Random::new(seed, user.into());
        Self {
            person: Person::new(user, random, shared.program.slots),
            browser: Browser::new(user),
            cache: Cache::new(shared.program.cached.len()),
            requests: Vec::new(),
            visit: Visit::default(),
            shared,
        }
    }

    /// Makes the steps of a transaction in order, up to the first that fails.
    async fn attempt(&mut self, operation: OperationId) -> Result<(), Failure> {
        let shared = Arc::clone(&self.shared);
        for (number, step) in (1..).zip(shared.program.steps(operation)) {
            match step {
                Step::Pause { ns } => {
                    let timer = Timer::current();
                    timer.sleep_until(timer.now_ns() + ns).await;
                }
                Step::Request(request) => self.one(&shared, number, request).await?,
                Step::Parallel(requests) => self.several(&shared, number, requests).await?,
            }
        }
        Ok(())
    }

    async fn one(&mut self, shared: &Shared, step: u32, request: &Request) -> Result<(), Failure> {
        let Some(prepared) = self.prepare(shared, request) else {
            return Ok(());
        };
        let made = make(&self.browser, &shared.site, prepared).await;
        self.conclude(request, (step, None), made)
    }

    /// Makes all of the requests, also if one fails. They are written before and read after all of them, in
    /// their order, so that what is drawn does not depend on which answer comes first.
    async fn several(
        &mut self,
        shared: &Shared,
        step: u32,
        requests: &[Request],
    ) -> Result<(), Failure> {
        let (mut asked, mut all) = (Vec::new(), Vec::with_capacity(requests.len()));
        for request in requests {
            if let Some(prepared) = self.prepare(shared, request) {
                asked.push(request);
                all.push(prepared);
            }
        }
        let making = all
            .into_iter()
            .map(|prepared| make(&self.browser, &shared.site, prepared));
        let made = join_all(making).await;
        let mut first = Ok(());
        for (lane, (request, made)) in (1..).zip(asked.into_iter().zip(made)) {
            let ended = self.conclude(request, (step, Some(lane)), made);
            first = first.and(ended);
        }
        first
    }

    /// Writes a request; `None` if the browser has an answer that is fresh.
    fn prepare<'r>(
        &mut self,
        shared: &Shared,
        request: &'r Request,
    ) -> Option<Result<Prepared<'r>, Trouble>> {
        let (program, person) = (&shared.program, &mut self.person);
        let kept = match request.cached {
            Some(place) => self.cache.look(place, Timer::current().now_ns()),
            None => Lookup::Missing,
        };
        if kept == Lookup::Fresh {
            add_one(&shared.account.from_cache);
            return None;
        }
        let mut prepared = request.prepare(&program.target, person, program.people.as_ref());
        if let (Lookup::Stale(validators), Ok(prepared)) = (kept, &mut prepared) {
            prepared.ask_for_change(validators);
        }
        Some(prepared)
    }

    /// Looks at the answer, and notes how the request ended.
    fn conclude(
        &mut self,
        request: &Request,
        (step, lane): (u32, Option<u32>),
        made: Made,
    ) -> Result<(), Failure> {
        let Notes { resent, legs, .. } = made.notes;
        let outcome = made
            .fetched
            .and_then(|fetched| self.judge(request, &fetched, made.done_ns));
        self.requests.push(RequestEnd {
            request: request.id,
            begun_ns: made.begun_ns,
            done_ns: made.done_ns,
            outcome: outcome.as_ref().copied().map_err(Trouble::class),
            resent: resent.map(|class| ErrorClass(class.name().into())),
            course: Course { step, lane, legs },
        });
        outcome.map_err(|trouble| trouble.of(request.name))
    }

    fn judge(&mut self, request: &Request, fetched: &Fetched, at_ns: u64) -> Result<(), Trouble> {
        let (answer, page) = (&fetched.answer, Page::new(&fetched.answer));
        if let Some(place) = request.cached {
            // What a redirect led to is not the answer of this address.
            if fetched.redirects == 0 {
                let now = (at_ns, now_unix_s());
                self.cache.keep(place, answer, now, &self.shared.known);
            }
            if answer.status == NOT_MODIFIED {
                add_one(&self.shared.account.not_modified);
                return Ok(());
            }
        }
        request.expectation.check(&page)?;
        for extraction in &request.extractions {
            extraction.take(&page, &self.browser, &mut self.person)?;
        }
        Ok(())
    }

    /// Takes note of how a transaction ended.
    fn settle(&mut self, operation: OperationId, well: bool) {
        let Shared {
            program, account, ..
        } = &*self.shared;
        let random = self.person.random();
        account.observe(&mut self.visit, |visit| {
            visit.ended(program, operation, well, random);
        });
    }
}

impl Session for WebSession {
    fn choose(&mut self) -> OperationId {
        self.visit.next(&self.shared.program, self.person.random())
    }

    async fn execute(&mut self, operation: OperationId) -> Outcome {
        self.visit.begin();
        self.requests.clear();
        let outcome = Box::pin(self.attempt(operation)).await;
        self.settle(operation, outcome.is_ok());
        match outcome {
            // The browser had all of it: the application did nothing that could be measured.
            Ok(()) if self.requests.is_empty() => Outcome::Idle,
            Ok(()) => Outcome::Done,
            Err(failure) => Outcome::Failed(failure),
        }
    }

    fn haste(&self) -> Haste {
        self.visit.haste()
    }

    fn requests(&mut self) -> Vec<RequestEnd> {
        std::mem::take(&mut self.requests)
    }

    /// The log-out, if the user is logged in. Where a scenario has no log-in, each user is.
    fn farewell(&mut self) -> Option<OperationId> {
        let program = &self.shared.program;
        let logged_in = self.visit.is_logged_in() || program.log_in.is_none();
        program.log_out.filter(|_| logged_in)
    }

    /// Does nothing: connections are opened as they are needed.
    async fn reconnect(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    async fn close(&mut self) {
        self.shared.account.observe(&mut self.visit, Visit::close);
        self.browser.close();
    }
}

/// A request that was made, or could not be.
struct Made {
    begun_ns: u64,
    done_ns: u64,
    fetched: Result<Fetched, Trouble>,
    notes: Notes,
}

async fn make(browser: &Browser, site: &Site, prepared: Result<Prepared<'_>, Trouble>) -> Made {
    let (fetched, notes) = match prepared {
        Err(trouble) => (Err(trouble), Notes::default()),
        Ok(prepared) => {
            let (fetched, notes) = browser.fetch(site, &prepared.request()).await;
            (fetched.map_err(Trouble::from), notes)
        }
    };
    // What was never sent took no time.
    let span = notes.span().unwrap_or_else(|| {
        let now_ns = Timer::current().now_ns();
        (now_ns, now_ns)
    });
    Made {
        begun_ns: span.0,
        done_ns: span.1,
        fetched,
        notes,
    }
}

#[cfg(test)]
mod tests;
