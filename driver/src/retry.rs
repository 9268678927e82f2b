//! How often an operation is tried, and how long to wait in between.

use crate::clock::to_ns;
use crate::plan;
use crate::random::Random;

/// A limit that doubles with each failure in a row, up to a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackOff {
    /// The limit after the first failure.
    pub base_ns: u64,
    /// The greatest limit.
    pub cap_ns: u64,
}

impl BackOff {
    /// The limit after `failures` failures in a row, of which there is at least one.
    pub fn limit_ns(self, failures: u32) -> u64 {
        let factor = 1_u64
            .checked_shl(failures.saturating_sub(1))
            .unwrap_or(u64::MAX);
        self.base_ns.saturating_mul(factor).min(self.cap_ns)
    }
}

/// How operations that may succeed when tried again are tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Attempts of one operation in all, the first one included.
    pub max_attempts: u32,
    /// The longest pauses between them.
    pub back_off: BackOff,
}

impl Retry {
    /// The pause after `failures` failed attempts: uniform from 0 to the back-off's limit.
    ///
    /// Operations that failed because of each other must not meet again. A pause that is random from
    /// 0 on spreads them best ("full jitter" of M. Brooker, "Exponential Backoff And Jitter", AWS
    /// Architecture Blog, 2015).
    pub fn pause_ns(&self, failures: u32, random: &mut Random) -> u64 {
        match self.back_off.limit_ns(failures) {
            0 => 0,
            limit_ns => (limit_ns as f64 * random.unit()) as u64,
        }
    }
}

impl From<plan::Retry> for Retry {
    fn from(given: plan::Retry) -> Self {
        Self {
            max_attempts: given.max_attempts,
            back_off: BackOff {
                base_ns: to_ns(given.backoff_base_s),
                cap_ns: to_ns(given.backoff_cap_s),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_limit_doubles_up_to_the_cap() {
        let back_off = BackOff {
            base_ns: 100,
            cap_ns: 1_000,
        };
        let limits: Vec<u64> = (1..=6)
            .map(|failures| back_off.limit_ns(failures))
            .collect();
        assert_eq!(limits, [100, 200, 400, 800, 1_000, 1_000]);
    }

    proptest! {
        #[test]
        fn a_pause_is_never_longer_than_its_limit(
            base_ns: u64,
            cap_ns in 0..u64::from(u32::MAX),
            failures in 1_u32..,
            seed: u64,
        ) {
            let back_off = BackOff { base_ns, cap_ns };
            let retry = Retry { max_attempts: u32::MAX, back_off };
            let pause_ns = retry.pause_ns(failures, &mut Random::new(seed, 0));
            prop_assert!(pause_ns <= back_off.limit_ns(failures) && back_off.limit_ns(failures) <= cap_ns);
        }
    }
}
