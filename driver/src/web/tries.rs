//! How a request that failed is tried again, as the front end of an application does.

use super::options::RetryPlan;
use crate::clock::to_ns;
use crate::random::Random;

const MOST_TIMES: u32 = 100;
const LONGEST_WAIT_S: f64 = 3600.0;
const MOST_FACTOR: f64 = 100.0;

/// When a request is tried again, and after which waits.
#[derive(Debug)]
pub struct Tries {
    statuses: Box<[u16]>,
    classes: Box<[Box<str>]>,
    /// Tries beyond the first.
    times: u32,
    wait_s: f64,
    factor: f64,
    longest_s: f64,
    jitter: bool,
}

impl Tries {
    /// Reads how a request is tried again.
    ///
    /// # Errors
    /// The field below `retry` that is wrong, and what is wrong with it.
    pub fn new(plan: &RetryPlan) -> Result<Self, (&'static str, String)> {
        let seconds = |field, value: f64| {
            if (0.0..=LONGEST_WAIT_S).contains(&value) {
                return Ok(value);
            }
            let problem = format!("{value} is not between 0 and {LONGEST_WAIT_S} seconds");
            Err((field, problem))
        };
        if plan.times > MOST_TIMES {
            let problem = format!("{} is not between 0 and {MOST_TIMES}", plan.times);
            return Err(("times", problem));
        }
        if !(1.0..=MOST_FACTOR).contains(&plan.factor) {
            let problem = format!("{} is not between 1 and {MOST_FACTOR}", plan.factor);
            return Err(("factor", problem));
        }
        Ok(Self {
            statuses: plan.status.clone().into(),
            classes: plan
                .classes
                .iter()
                .map(|name| name.as_str().into())
                .collect(),
            times: plan.times,
            wait_s: seconds("wait_s", plan.wait_s)?,
            factor: plan.factor,
            longest_s: seconds("longest_s", plan.longest_s)?,
            jitter: plan.jitter,
        })
    }

    /// Whether an answer of `status` may be tried again if it is no good. One of another status need not be
    /// looked at unless there are classes.
    pub fn concerns(&self, status: u16) -> bool {
        !self.classes.is_empty() || self.statuses.contains(&status)
    }

    /// Whether what failed is tried again. `status` is that of the answer, if there was one.
    pub fn covers(&self, status: Option<u16>, class: &str) -> bool {
        status.is_some_and(|status| self.statuses.contains(&status))
            || self.classes.iter().any(|own| &**own == class)
    }

    /// Nanoseconds until the next try, after `made` tries beyond the first; none if those were all.
    pub fn wait_ns(&self, made: usize, random: &mut Random) -> Option<u64> {
        let made = u32::try_from(made).ok().filter(|made| *made < self.times)?;
        let wait_s = (self.wait_s * self.factor.powf(made.into())).min(self.longest_s);
        let more_s = if self.jitter {
            self.wait_s * random.unit()
        } else {
            0.0
        };
        Some(to_ns(wait_s + more_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::to_s;

    fn waits_s(plan: &RetryPlan) -> Vec<f64> {
        let tries = Tries::new(plan).expect("read");
        let mut random = Random::new(1, 0);
        let waits = (0..).map_while(|made| tries.wait_ns(made, &mut random));
        waits.map(to_s).collect()
    }

    #[test]
    fn waits_grow_up_to_the_longest() {
        let plan = RetryPlan {
            times: 6,
            jitter: false,
            ..RetryPlan::default()
        };
        assert_eq!(waits_s(&plan), [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]);
        let none = RetryPlan { times: 0, ..plan };
        assert_eq!(waits_s(&none), [0.0; 0]);
    }

    #[test]
    fn jitter_adds_up_to_the_first_wait() {
        let plan = RetryPlan {
            times: 50,
            factor: 1.0,
            ..RetryPlan::default()
        };
        let waits = waits_s(&plan);
        assert!(waits.iter().all(|wait_s| (1.0..2.0).contains(wait_s)));
        assert!(waits.iter().any(|wait_s| *wait_s > 1.5) && waits[0] != waits[1]);
    }

    #[test]
    fn an_answer_is_tried_again_by_its_status_or_its_class() {
        let mut plan = RetryPlan::default();
        let tries = Tries::new(&plan).expect("read");
        assert!(tries.concerns(503) && !tries.concerns(200));
        assert!(tries.covers(Some(502), "status_502") && !tries.covers(None, "reset"));
        plan.classes = vec!["reset".into(), "accepted".into()];
        let tries = Tries::new(&plan).expect("read");
        assert!(tries.concerns(200), "its class is not known before");
        assert!(tries.covers(None, "reset") && tries.covers(Some(202), "accepted"));
        assert!(!tries.covers(Some(404), "status_404"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let usual = RetryPlan::default;
        for (plan, field) in [
            (
                RetryPlan {
                    times: 101,
                    ..usual()
                },
                "times",
            ),
            (
                RetryPlan {
                    factor: 0.5,
                    ..usual()
                },
                "factor",
            ),
            (
                RetryPlan {
                    wait_s: -1.0,
                    ..usual()
                },
                "wait_s",
            ),
            (
                RetryPlan {
                    longest_s: f64::NAN,
                    ..usual()
                },
                "longest_s",
            ),
        ] {
            assert_eq!(Tries::new(&plan).expect_err("refused").0, field);
        }
    }
}
