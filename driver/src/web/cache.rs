//! What the browser of a user has kept of answers to requests that are marked so: not the answers themselves,
//! of which nothing is looked at a second time, but until when they are fresh, and how the server is asked
//! whether they have changed.

use std::sync::{Arc, Mutex, PoisonError};

use crate::http::{Answer, Freshness, Validators};

const NOT_MODIFIED: u16 = 304;
const OK: u16 = 200;

/// The cache of one user: a place for each address.
#[derive(Debug)]
pub struct Cache(Box<[Kept]>);

/// What is kept of an address; nothing at first, which is never fresh.
#[derive(Debug, Clone, Default)]
struct Kept {
    /// Nanoseconds since the driver's start.
    fresh_until_ns: u64,
    validators: Option<Arc<Validators>>,
}

/// What a browser does about an address.
#[derive(Debug, PartialEq, Eq)]
pub enum Lookup<'c> {
    /// It uses what it has.
    Fresh,
    /// It asks whether what it has is still the same.
    Stale(&'c Validators),
    /// It asks for all of it.
    Missing,
}

impl Cache {
    /// An empty one.
    pub fn new(places: usize) -> Self {
        Self(vec![Kept::default(); places].into())
    }

    /// What is to be done about the address of `place`.
    pub fn look(&self, place: usize, now_ns: u64) -> Lookup<'_> {
        let kept = &self.0[place];
        match &kept.validators {
            _ if now_ns < kept.fresh_until_ns => Lookup::Fresh,
            Some(validators) => Lookup::Stale(validators),
            None => Lookup::Missing,
        }
    }

    /// Takes note of an answer from the address of `place` itself: of a whole one, or that what is kept is
    /// still the same. Other answers are not kept.
    pub fn keep(
        &mut self,
        place: usize,
        answer: &Answer,
        (now_ns, now_s): (u64, i64),
        known: &Known,
    ) {
        let kept = &mut self.0[place];
        let before = match answer.status {
            OK => None,
            NOT_MODIFIED => kept.validators.take(),
            _ => return,
        };
        *kept = match Freshness::of(answer, now_s) {
            None => Kept::default(),
            Some(freshness) => Kept {
                fresh_until_ns: now_ns.saturating_add(freshness.fresh_ns),
                validators: known.share(place, freshness.validators).or(before),
            },
        };
    }
}

/// The validators that came last from each address. All users have the same as a rule, and share them.
#[derive(Debug)]
pub struct Known(Mutex<Box<[Option<Arc<Validators>>]>>);

impl Known {
    /// None yet.
    pub fn new(places: usize) -> Self {
        Self(Mutex::new(vec![None; places].into()))
    }

    fn share(&self, place: usize, validators: Validators) -> Option<Arc<Validators>> {
        if validators.is_empty() {
            return None;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = &mut known[place];
        if last.as_deref() != Some(&validators) {
            *last = Some(Arc::new(validators));
        }
        last.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SECOND_NS;
    use crate::web::testing::answer;

    fn reply(status: u16, lines: &str) -> Answer {
        answer(&format!(
            "HTTP/1.1 {status} X\r\n{lines}Content-Length: 0\r\n\r\n"
        ))
    }

    #[test]
    fn an_answer_is_used_while_it_is_fresh_and_asked_about_afterwards() {
        let (mut cache, known) = (Cache::new(2), Known::new(2));
        assert_eq!(cache.look(1, 0), Lookup::Missing);
        let whole = reply(200, "Cache-Control: max-age=10\r\nETag: \"a\"\r\n");
        cache.keep(1, &whole, (5 * SECOND_NS, 0), &known);
        assert_eq!(cache.look(1, 15 * SECOND_NS - 1), Lookup::Fresh);
        let validators = Validators {
            etag: Some("\"a\"".into()),
            last_modified: None,
        };
        assert_eq!(cache.look(1, 15 * SECOND_NS), Lookup::Stale(&validators));
        assert_eq!(cache.look(0, 0), Lookup::Missing, "it is another address");

        // The same for another while; it need not say again by what it is asked.
        let same = reply(304, "Cache-Control: max-age=20\r\n");
        cache.keep(1, &same, (20 * SECOND_NS, 0), &known);
        assert_eq!(cache.look(1, 40 * SECOND_NS - 1), Lookup::Fresh);
        assert_eq!(cache.look(1, 40 * SECOND_NS), Lookup::Stale(&validators));
    }

    #[test]
    fn what_is_no_answer_of_the_address_is_not_kept() {
        let (mut cache, known) = (Cache::new(1), Known::new(1));
        for status in [206, 301, 404, 500] {
            let other = reply(status, "Cache-Control: max-age=10\r\nETag: \"a\"\r\n");
            cache.keep(0, &other, (0, 0), &known);
            assert_eq!(cache.look(0, 0), Lookup::Missing, "{status}");
        }
        cache.keep(0, &reply(200, "ETag: \"a\"\r\n"), (0, 0), &known);
        cache.keep(0, &reply(503, ""), (0, 0), &known);
        assert!(matches!(cache.look(0, 0), Lookup::Stale(_)), "it stays");
        cache.keep(
            0,
            &reply(200, "Cache-Control: no-store\r\n"),
            (0, 0),
            &known,
        );
        assert_eq!(cache.look(0, 0), Lookup::Missing);
    }

    #[test]
    fn users_share_what_is_the_same_for_all() {
        let known = Known::new(1);
        let mut users = [Cache::new(1), Cache::new(1), Cache::new(1)];
        for (user, etag) in users.iter_mut().zip(["a", "a", "b"]) {
            let whole = reply(200, &format!("ETag: \"{etag}\"\r\n"));
            user.keep(0, &whole, (0, 0), &known);
        }
        let [one, two, three] = users.map(|user| user.0[0].validators.clone().expect("kept"));
        assert!(Arc::ptr_eq(&one, &two) && !Arc::ptr_eq(&two, &three));
        assert!(size_of::<Kept>() <= 16);
    }
}
