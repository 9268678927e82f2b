//! A user of the application: it logs in, makes its transactions, and logs out as it leaves.

use std::sync::Arc;

use futures_util::future::join_all;

use super::Shared;
use super::account::add_one;
use super::cache::{Cache, Lookup};
use super::made::{Made, Ready, is_unchanged, persist, verdict};
use super::page::Page;
use super::person::Person;
use super::request::Request;
use super::sample::Kept;
use super::steps::Step;
use super::trouble::Trouble;
use super::visit::Visit;
use crate::http::{Browser, Fetched, now_unix_s};
use crate::random::Random;
use crate::session::{
    Course, ErrorClass, Failure, Haste, OperationId, Outcome, RequestEnd, RequestNotes, Session,
};
use crate::timer::Timer;

/// A user. What it needs while a transaction runs is allocated for that time only: most users think.
#[derive(Debug)]
pub struct WebSession {
    shared: Arc<Shared>,
    pub(super) person: Person,
    browser: Browser,
    cache: Cache,
    /// Those of the last attempt.
    requests: Vec<RequestEnd>,
    visit: Visit,
}

impl WebSession {
    pub(super) fn new(shared: Arc<Shared>, user: u32, seed: u64) -> Self {
        Self {
            person: shared.program.person(user, seed),
            browser: Browser::new(user),
            cache: Cache::new(shared.application.cached.len()),
            requests: Vec::new(),
            visit: Visit::default(),
            shared,
        }
    }

    /// Makes the steps of a transaction in order, up to the first that fails. They are counted as the user makes
    /// them: of several ways those of the one that it takes.
    async fn attempt(&mut self, operation: OperationId) -> Result<(), Failure> {
        let shared = Arc::clone(&self.shared);
        let mut number = 0;
        for part in &shared.program.transaction(operation).parts {
            for step in part.steps(&self.person) {
                number += 1;
                match step {
                    Step::Pause { ns } => {
                        let timer = Timer::current();
                        timer.sleep_until(timer.now_ns() + ns).await;
                    }
                    Step::Request(request) => self.one(&shared, number, request).await?,
                    Step::Parallel(requests) => self.several(&shared, number, requests).await?,
                }
            }
        }
        Ok(())
    }

    async fn one(&mut self, shared: &Shared, step: u32, request: &Request) -> Result<(), Failure> {
        let Some(ready) = self.prepare(shared, request) else {
            return Ok(());
        };
        let made = persist(&self.browser, shared, ready).await;
        self.conclude(shared, request, (step, None), made)
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
            if let Some(ready) = self.prepare(shared, request) {
                asked.push(request);
                all.push(ready);
            }
        }
        let making = all
            .into_iter()
            .map(|ready| persist(&self.browser, shared, ready));
        let made = join_all(making).await;
        let mut first = Ok(());
        for (lane, (request, made)) in (1..).zip(asked.into_iter().zip(made)) {
            let ended = self.conclude(shared, request, (step, Some(lane)), made);
            first = first.and(ended);
        }
        first
    }

    /// Writes a request; `None` if the browser has an answer that is fresh.
    fn prepare<'r>(&mut self, shared: &Shared, request: &'r Request) -> Option<Ready<'r>> {
        // Also for what is not made in the end: what is drawn does not depend on how fresh an answer is.
        let random = self.random_of(request);
        let (target, person) = (&shared.application.target, &mut self.person);
        let kept = match request.cached {
            Some(place) => self.cache.look(place, Timer::current().now_ns()),
            None => Lookup::Missing,
        };
        if kept == Lookup::Fresh {
            add_one(&shared.account.from_cache);
            return None;
        }
        let mut prepared = request.prepare(target, person, shared.program.people.as_ref());
        if let (Lookup::Stale(validators), Ok(prepared)) = (kept, &mut prepared) {
            prepared.ask_for_change(validators);
        }
        Some(Ready {
            request,
            prepared,
            random,
        })
    }

    /// The random numbers of a request for itself, so that what is drawn for it hangs on no other's waits; none
    /// for one that is not tried again.
    fn random_of(&mut self, request: &Request) -> Option<Random> {
        let person = &mut self.person;
        let draws = request.tries.is_some();
        draws.then(|| Random::new(person.random().unit().to_bits(), request.id as u64))
    }

    /// Looks at the answer, and notes how the request ended.
    fn conclude(
        &mut self,
        shared: &Shared,
        request: &Request,
        (step, lane): (u32, Option<u32>),
        made: Made,
    ) -> Result<(), Failure> {
        let mut marks = Vec::new();
        let outcome = made.fetched.and_then(|fetched| {
            let page = Page::new(&fetched.answer);
            self.judge(shared, request, &page, &fetched, made.done_ns)?;
            marks = request
                .marks
                .as_ref()
                .map_or_else(Vec::new, |all| all.of(&page));
            Ok(())
        });
        self.requests.push(RequestEnd {
            request: request.id,
            begun_ns: made.begun_ns,
            done_ns: made.done_ns,
            outcome: outcome.as_ref().copied().map_err(Trouble::class),
            resent: made.resent.map(|class| ErrorClass(class.name().into())),
            notes: RequestNotes {
                retried: made.retried,
                marks,
            },
            course: Course {
                step,
                lane,
                legs: made.legs,
            },
        });
        outcome.map_err(|trouble| trouble.of(request.name))
    }

    fn judge(
        &mut self,
        shared: &Shared,
        request: &Request,
        page: &Page<'_>,
        fetched: &Fetched,
        done_ns: u64,
    ) -> Result<(), Trouble> {
        self.keep_for_browser(request, fetched, done_ns);
        // It is drawn for each answer, also for one that is no good.
        let (sample, kept) = (request.sample.as_ref(), &shared.program.kept);
        let drawn = sample.and_then(|sample| Some((sample, sample.draw(kept, &mut self.person)?)));
        verdict(shared, request, page, fetched)?;
        for extraction in &request.extractions {
            extraction.take(page, &self.browser, &mut self.person)?;
        }
        let Some((sample, draw)) = drawn else {
            return Ok(());
        };
        let program = &shared.program;
        let operation = program.operations[program.requests[request.id].operation];
        let answer = Kept {
            names: (operation, request.name),
            done_ns,
            answer: page.body(),
            bytes: page.body().len(),
        };
        let people = program.people.as_ref();
        let written = sample.keep(kept, draw, &answer, &mut self.person, people);
        written.map_err(Trouble::from)
    }

    /// Lets the browser keep an answer, if it is one to be kept.
    fn keep_for_browser(&mut self, request: &Request, fetched: &Fetched, done_ns: u64) {
        let Some(place) = request.cached else {
            return;
        };
        // What a redirect led to is not the answer of this address.
        if fetched.redirects == 0 {
            let now = (done_ns, now_unix_s());
            self.cache
                .keep(place, &fetched.answer, now, &self.shared.known);
        }
        if is_unchanged(request, fetched) {
            add_one(&self.shared.account.not_modified);
        }
    }

    /// Takes note of how a transaction ended.
    fn settle(&mut self, operation: OperationId, well: bool) {
        let (way, random) = (&self.shared.program.way, self.person.random());
        let ended = (operation, well);
        self.shared
            .account
            .ended(&mut self.visit, way, ended, random);
    }

    /// Takes note that a user has to log in again, if an error of the last attempt says so.
    fn notice_end_of_session(&mut self, operation: OperationId) {
        let Shared {
            program,
            application,
            account,
            ..
        } = &*self.shared;
        let own = [program.way.log_in, program.way.log_out].contains(&Some(operation));
        if own || !self.visit.is_logged_in() {
            return;
        }
        let errors = self
            .requests
            .iter()
            .filter_map(|end| end.outcome.as_ref().err());
        let says_so = |class: &ErrorClass| application.log_in_again.contains(&class.0);
        if errors.into_iter().any(says_so) {
            account.session_lost(&mut self.visit);
        }
    }
}

impl Session for WebSession {
    fn choose(&mut self) -> OperationId {
        let program = &self.shared.program;
        let chosen = self.visit.next(&program.way, self.person.random());
        program.transaction(chosen).begin(&mut self.person);
        chosen
    }

    async fn execute(&mut self, operation: OperationId) -> Outcome {
        self.visit.begin();
        self.requests.clear();
        let outcome = Box::pin(self.attempt(operation)).await;
        self.settle(operation, outcome.is_ok());
        self.notice_end_of_session(operation);
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

    fn farewell(&mut self) -> Option<OperationId> {
        self.visit.farewell(&self.shared.program.way)
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

#[cfg(test)]
mod tests;
