//! A request as it is made: once, or again as long as it fails and is to be tried again.

use super::Shared;
use super::classes::Landing;
use super::page::Page;
use super::request::{Prepared, Request};
use super::trouble::Trouble;
use crate::http::{Browser, Class, Fetched, Notes, Site};
use crate::leg::{Cause, Leg};
use crate::random::Random;
use crate::session::ErrorClass;
use crate::timer::Timer;

const NOT_MODIFIED: u16 = 304;

/// A request that is about to be made.
pub struct Ready<'r> {
    pub request: &'r Request,
    /// As it is written, or why it could not be.
    pub prepared: Result<Prepared<'r>, Trouble>,
    /// The random numbers of its waits; none for one that is not tried again.
    pub random: Option<Random>,
}

/// A request that was made, or could not be.
pub struct Made {
    pub begun_ns: u64,
    pub done_ns: u64,
    /// What the last try gave.
    pub fetched: Result<Fetched, Trouble>,
    /// Why it was sent a second time, the first time that it was.
    pub resent: Option<Class>,
    /// What was sent, in order, of all tries.
    pub legs: Vec<Leg>,
    /// Why it was tried again, each time.
    pub retried: Vec<ErrorClass>,
}

impl Made {
    /// The same with one try more, which was made because of `class`.
    fn then(mut self, class: ErrorClass, mut again: Self) -> Self {
        if let Some(leg) = self.legs.last_mut() {
            leg.broken = Some(class.0.clone().into_string().into());
        }
        if let Some(leg) = again.legs.first_mut() {
            leg.cause = Cause::Again;
        }
        self.legs.append(&mut again.legs);
        self.retried.push(class);
        Self {
            begun_ns: self.begun_ns,
            resent: self.resent.or(again.resent),
            legs: self.legs,
            retried: self.retried,
            ..again
        }
    }
}

/// Makes a request, and again after ever longer waits, as often as it is to be tried. It is the same each time.
pub async fn persist(browser: &Browser, shared: &Shared, ready: Ready<'_>) -> Made {
    let Ready {
        request,
        prepared,
        random,
    } = ready;
    let mut made = make(browser, &shared.site, &prepared).await;
    let Some((tries, mut random)) = request.tries.as_ref().zip(random) else {
        return made;
    };
    while let Some(class) = cause(shared, request, &made.fetched)
        && let Some(wait_ns) = tries.wait_ns(made.retried.len(), &mut random)
    {
        let timer = Timer::current();
        timer.sleep_until(timer.now_ns() + wait_ns).await;
        let again = make(browser, &shared.site, &prepared).await;
        made = made.then(class, again);
    }
    made
}

/// Why a request is to be tried again, if it is.
fn cause(
    shared: &Shared,
    request: &Request,
    fetched: &Result<Fetched, Trouble>,
) -> Option<ErrorClass> {
    let tries = request.tries.as_ref()?;
    let (status, trouble) = match fetched {
        Err(trouble) => (None, trouble.clone()),
        Ok(fetched) => {
            let status = fetched.answer.status;
            if !tries.concerns(status) {
                return None;
            }
            let page = Page::new(&fetched.answer);
            let trouble = verdict(shared, request, &page, fetched).err()?;
            (Some(status), trouble)
        }
    };
    tries
        .covers(status, &trouble.class)
        .then(|| trouble.class())
}

/// Whether an answer is good.
///
/// # Errors
/// Why it is not.
pub fn verdict(
    shared: &Shared,
    request: &Request,
    page: &Page<'_>,
    fetched: &Fetched,
) -> Result<(), Trouble> {
    if is_unchanged(request, fetched) {
        return Ok(());
    }
    let operation = shared.program.requests[request.id].operation;
    let landing = Landing {
        url: &fetched.url,
        redirected: fetched.redirects > 0,
    };
    let classes = &shared.application.classes;
    classes.check(operation, page, landing)?;
    request.expectation.check(page)
}

/// Whether the answer is that what the browser has kept is still the same.
pub fn is_unchanged(request: &Request, fetched: &Fetched) -> bool {
    request.cached.is_some() && fetched.answer.status == NOT_MODIFIED
}

async fn make(browser: &Browser, site: &Site, prepared: &Result<Prepared<'_>, Trouble>) -> Made {
    let (fetched, notes) = match prepared {
        Err(trouble) => (Err(trouble.clone()), Notes::default()),
        Ok(prepared) => {
            let (fetched, notes) = browser.fetch(site, &prepared.request()).await;
            (fetched.map_err(Trouble::from), notes)
        }
    };
    // What was never sent took no time.
    let (begun_ns, done_ns) = notes.span().unwrap_or_else(|| {
        let now_ns = Timer::current().now_ns();
        (now_ns, now_ns)
    });
    Made {
        begun_ns,
        done_ns,
        fetched,
        resent: notes.resent,
        legs: notes.legs,
        retried: Vec::new(),
    }
}
