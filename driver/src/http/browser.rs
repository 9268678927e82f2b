//! The browser of one user: its cookies, its connections, and how it asks.

mod exchange;
mod hop;
mod lanes;
mod outgoing;
mod request;

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use url::Url;

use self::exchange::{Broken, Reply, exchange, too_long};
use self::hop::{Hop, is_redirect};
use self::lanes::{Lanes, Lease};
use self::outgoing::Outgoing;
use super::answer::Answer;
use super::cookies::Jar;
use super::fault::{Class, Fault};
use super::network::deadline::within;
use super::site::{Site, add};
use crate::leg::{Cause, Connection, Part, Stopwatch};
use crate::timer::Timer;

pub use self::request::{Fetched, Method, Notes, Request};

/// A browser. It makes several requests at a time, and holds nothing but cookies and connections between them.
#[derive(Debug)]
pub struct Browser {
    user: u32,
    jar: RefCell<Jar>,
    lanes: Lanes,
}

impl Browser {
    /// The browser of a user, without cookies and connections. The number of the user says which addresses it
    /// begins with.
    pub fn new(user: u32) -> Self {
        Self {
            user,
            jar: RefCell::default(),
            lanes: Lanes::default(),
        }
    }

    /// Makes a request and follows its redirects, if it is to. The thread must have a [`Timer`].
    ///
    /// A request is sent a second time, on a fresh connection, when the first one had served before and ended
    /// before a byte of the answer came: the server closed it just as it was used again. Browsers do so
    /// whatever the method is. Nothing else is sent twice.
    ///
    /// An answer of any status is an answer. Errors have the [`Class`] of what went wrong.
    pub async fn fetch(
        &self,
        site: &Site,
        request: &Request<'_>,
    ) -> (Result<Fetched, Fault>, Notes) {
        let mut notes = Notes::default();
        let fetched = self.follow(site, request, &mut notes).await;
        (fetched, notes)
    }

    /// The value of a cookie, whatever its domain and path are.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.jar.borrow().get(name).map(str::to_owned)
    }

    /// Closes the connections that are idle. Cookies stay.
    pub fn close(&self) {
        self.lanes.close();
    }

    async fn follow(
        &self,
        site: &Site,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Fetched, Fault> {
        let mut hop = Hop::first(request);
        let mut redirects = 0;
        loop {
            let origin = site.position(&hop.url)?;
            if redirects > 0 {
                add(&site.counters.redirects_followed, 1);
            }
            let answer = self.ask(site, &hop, origin, notes).await?;
            if !request.follow || !is_redirect(answer.status) {
                return Ok(Fetched {
                    answer,
                    url: hop.url.into_owned(),
                    redirects,
                });
            }
            if redirects == site.redirects {
                let words = format!("more than {redirects} redirects followed each other");
                return Err(Fault::new(Class::TooManyRedirects, words));
            }
            hop.redirect(answer.status, answer.headers.get("location"))?;
            redirects += 1;
        }
    }

    /// Makes one request, with cookies, on a connection to `origin` that is idle or that is opened for it.
    async fn ask(
        &self,
        site: &Site,
        hop: &Hop<'_>,
        origin: usize,
        notes: &mut Notes,
    ) -> Result<Answer, Fault> {
        let timer = Timer::current();
        let begun_ns = timer.now_ns();
        let mut watch = Stopwatch::start(hop.cause, begun_ns);
        let whole_at_ns = begun_ns.saturating_add(site.network.timeouts().whole_ns);
        self.lanes.close_extras(begun_ns, site.idle_close_ns);
        let lease = within(whole_at_ns, self.lanes.lease(origin, site.connections)).await;
        let Some(mut lease) = lease else {
            notes.add(watch.stop(timer.now_ns()));
            return Err(too_long(site));
        };
        // Clocks are read where there was a wait.
        let leased_ns = if lease.waited() {
            timer.now_ns()
        } else {
            begun_ns
        };
        watch.turn(Part::Send, leased_ns);
        let mut attempt = Attempt {
            site,
            hop,
            origin,
            whole_at_ns,
            notes,
            watch,
        };
        let mut reply = self.attempt(&mut lease, &mut attempt).await;
        if let Err(broken) = &reply
            && broken.is_unanswered
            && lease.has_served()
        {
            attempt.send_again(broken.fault.class, timer.now_ns());
            add(&site.counters.resent, 1);
            lease.begin_afresh();
            reply = self.attempt(&mut lease, &mut attempt).await;
        }
        let done_ns = timer.now_ns();
        attempt.notes.add(attempt.watch.stop(done_ns));
        let Reply { answer, keeps } = reply.map_err(|broken| broken.fault)?;
        self.keep_cookies(&hop.url, &answer);
        if keeps {
            lease.give_back(done_ns);
        }
        Ok(answer)
    }

    /// Sends a request once.
    async fn attempt(
        &self,
        lease: &mut Lease<'_>,
        attempt: &mut Attempt<'_, '_>,
    ) -> Result<Reply, Broken> {
        let Attempt { site, hop, .. } = *attempt;
        let origin = &site.allowed[attempt.origin];
        let wire = match lease.wire() {
            Some(wire) => {
                add(&site.counters.connections_reused, 1);
                attempt.watch.leg.connection = Some(Connection::Reused);
                wire
            }
            None => {
                // Boxed: it is rare, and large beside a request that only waits.
                let watch = &mut attempt.watch;
                let opening = Box::pin(site.network.connect(origin, self.user, watch));
                let opened = within(attempt.whole_at_ns, opening).await;
                let opened = opened.unwrap_or_else(|| Err(too_long(site)))?;
                watch.turn(Part::Send, Timer::current().now_ns());
                watch.leg.connection = Some(Connection::New);
                attempt.notes.connections_opened += 1;
                lease.use_fresh(opened, &site.counters)
            }
        };
        let cookies = self.jar.borrow().header(&hop.url, now_unix_s());
        let outgoing = Outgoing::new(hop, &origin.host_header(), cookies.as_deref())?;
        let is_head = hop.method == Method::Head;
        let watch = &mut attempt.watch;
        exchange(wire, outgoing, is_head, site, attempt.whole_at_ns, watch).await
    }

    fn keep_cookies(&self, url: &Url, answer: &Answer) {
        for cookie in answer.headers.get_all("set-cookie") {
            self.jar.borrow_mut().set(url, cookie, now_unix_s());
        }
    }
}

/// A request that is sent once, or a second time.
struct Attempt<'a, 'h> {
    site: &'a Site,
    hop: &'a Hop<'h>,
    /// Its position among the origins of the site.
    origin: usize,
    whole_at_ns: u64,
    notes: &'a mut Notes,
    watch: Stopwatch,
}

impl Attempt<'_, '_> {
    /// Begins to send it a second time: its connection ended in the way of `class`.
    fn send_again(&mut self, class: Class, now_ns: u64) {
        let fresh = Stopwatch::start(Cause::Again, now_ns);
        let mut broken = std::mem::replace(&mut self.watch, fresh).stop(now_ns);
        broken.broken = Some(class.name().into());
        self.notes.add(broken);
        self.notes.resent = Some(class);
    }
}

/// Seconds since 1970, as cookies expire by the calendar.
pub(crate) fn now_unix_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::answer::Limits;
    use crate::http::network::{Network, NetworkPlan};

    #[test]
    fn an_idle_user_is_small() {
        assert!(size_of::<Browser>() < 200, "{}", size_of::<Browser>());
    }

    /// All that a request needs while it waits, and while it opens a connection, besides what is boxed.
    #[test]
    fn a_request_under_way_is_small() {
        let url = Url::parse("http://app/").expect("an address");
        let request = Request {
            method: Method::Get,
            url: &url,
            headers: &[],
            body: None,
            follow: true,
        };
        let limits = Limits {
            header_bytes: 1,
            body_bytes: 1,
            inflated_bytes: 1,
            interim: 1,
        };
        let network = Network::new(NetworkPlan::default()).expect("a network");
        let site = Site::new(network, limits, 0, 1, Vec::new(), 0);
        let browser = Browser::new(0);
        let fetch = browser.fetch(&site, &request);
        assert!(size_of_val(&fetch) < 4096, "{}", size_of_val(&fetch));
    }
}
