//! Schedules: when operations arrive and how many users there are, as pure functions of time.

use crate::clock::SECOND_NS;
use crate::plan::{Arrival, Range};
use crate::random::Random;

/// The part of `total` that part `index` of `parts` has; the parts differ by one at most.
pub fn share(total: u64, parts: u64, index: u64) -> u64 {
    total / parts + u64::from(index < total % parts)
}

/// When arrivals begin, end and how dense they are; all threads hold the same one.
#[derive(Debug, Clone, Copy)]
pub struct ArrivalPlan {
    /// Begin, in nanoseconds since the driver's start.
    pub start_ns: u64,
    /// Length; without it the rate stays at `rate_per_s.from` for ever.
    pub duration_ns: Option<u64>,
    /// Arrivals a second of all threads together.
    pub rate_per_s: Range<f64>,
    /// Their gaps.
    pub arrival: Arrival,
    /// Arrivals of all threads together, at most.
    pub most: Option<u64>,
    /// Seed of the gaps.
    pub seed: u64,
}

/// The arrivals of one thread, in nanoseconds since the driver's start, in order.
///
/// Arrival number i lies where the integral of the rate reaches i + 1/2 (uniform) or the sum of i + 1
/// independent exponential draws of mean 1 (Poisson; the time-change theorem for inhomogeneous
/// processes, Çinlar 1975). Every thread walks the same sequence and takes each `parts`-th, so
/// the total does not depend on the number of threads.
#[derive(Debug, Clone)]
pub struct Arrivals {
    plan: ArrivalPlan,
    slope_per_s2: f64,
    random: Option<Random>,
    /// Sum of the exponential draws so far.
    position: f64,
    /// Number of the next arrival that this thread takes, counted over all threads.
    next: u64,
    /// Number of the next arrival whose gap is drawn, counted over all threads.
    drawn: u64,
    parts: u64,
    /// When the next arrival is due.
    next_ns: Option<u64>,
}

impl Arrivals {
    /// The part `index` of `parts` of the arrivals of `plan`.
    pub fn new(plan: ArrivalPlan, parts: u64, index: u64) -> Self {
        let change = plan.rate_per_s.to - plan.rate_per_s.from;
        let slope_per_s2 = match plan.duration_ns {
            Some(duration_ns) if change != 0.0 => {
                change * SECOND_NS as f64 / duration_ns.max(1) as f64
            }
            _ => 0.0,
        };
        let random = (plan.arrival == Arrival::Poisson).then(|| Random::new(plan.seed, u64::MAX));
        let mut arrivals = Self {
            plan,
            slope_per_s2,
            random,
            position: 0.0,
            next: index,
            drawn: 0,
            parts,
            next_ns: None,
        };
        arrivals.next_ns = arrivals.compute();
        arrivals
    }

    /// When the next arrival is due, which [`Iterator::next`] takes.
    pub fn peek(&self) -> Option<u64> {
        self.next_ns
    }

    /// Whether as many came as the plan allows.
    pub fn all_came(&self) -> bool {
        self.plan.most.is_some_and(|most| self.next >= most)
    }

    fn compute(&mut self) -> Option<u64> {
        if self.all_came() {
            return None;
        }
        let position = match &mut self.random {
            None => self.next as f64 + 0.5,
            Some(random) => {
                while self.drawn <= self.next {
                    self.position += random.exponential();
                    self.drawn += 1;
                }
                self.position
            }
        };
        let after_ns = self.seconds_at(position)? * SECOND_NS as f64;
        let end_ns = self
            .plan
            .duration_ns
            .map_or(f64::MAX, |duration_ns| duration_ns as f64);
        let within = after_ns < end_ns;
        within.then(|| self.plan.start_ns.saturating_add(after_ns as u64))
    }

    /// The seconds at which the integral of the rate reaches `position`.
    fn seconds_at(&self, position: f64) -> Option<f64> {
        let from = self.plan.rate_per_s.from;
        if self.slope_per_s2 == 0.0 {
            return (from > 0.0).then(|| position / from);
        }
        // Solves from t + slope t^2 / 2 = position, in the form that does not cancel.
        let square = from * from + 2.0 * self.slope_per_s2 * position;
        (square >= 0.0).then(|| 2.0 * position / (from + square.sqrt()))
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let at_ns = self.next_ns?;
        self.next += self.parts;
        self.next_ns = self.compute();
        Some(at_ns)
    }
}

/// A number of users that changes linearly.
#[derive(Debug, Clone, Copy)]
pub struct UserRamp {
    /// Users at the begin and at the end.
    pub users: Range<u32>,
    /// Begin, in nanoseconds since the driver's start.
    pub start_ns: u64,
    /// Length; 0 when the number stays at `users.from`.
    pub duration_ns: u64,
}

impl UserRamp {
    /// A number that does not change.
    pub fn constant(users: u32) -> Self {
        Self {
            users: Range {
                from: users,
                to: users,
            },
            start_ns: 0,
            duration_ns: 0,
        }
    }

    /// Users at `now_ns`: the straight line, rounded to the nearest whole user.
    pub fn at(&self, now_ns: u64) -> u32 {
        let step = self.steps_at(now_ns) as u32;
        if self.users.to >= self.users.from {
            self.users.from + step
        } else {
            self.users.from - step
        }
    }

    /// When the number changes next after `now_ns`.
    pub fn next_change_ns(&self, now_ns: u64) -> Option<u64> {
        let (steps, done) = (self.steps(), self.steps_at(now_ns));
        if done >= steps || self.duration_ns == 0 {
            return None;
        }
        let after = ((2 * done + 1) * u128::from(self.duration_ns)).div_ceil(2 * steps);
        Some(self.start_ns + after as u64)
    }

    fn steps(&self) -> u128 {
        u128::from(self.users.from.abs_diff(self.users.to))
    }

    fn steps_at(&self, now_ns: u64) -> u128 {
        let duration = u128::from(self.duration_ns);
        if duration == 0 {
            return 0;
        }
        let elapsed = u128::from(now_ns.saturating_sub(self.start_ns)).min(duration);
        (2 * self.steps() * elapsed + duration) / (2 * duration)
    }
}

#[cfg(test)]
mod tests;
