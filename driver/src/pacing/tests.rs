use proptest::prelude::*;

use super::*;
use crate::clock::to_s;

fn pace(keying_s: f64, think: Think) -> Pace {
    let default = Waits {
        keying_s,
        think,
        ..Waits::default()
    };
    let pacing = Pacing {
        default,
        ..Pacing::default()
    };
    Pace::new(&pacing, &["only"]).expect("a pace")
}

/// Mean and mean square of a whole wait, in seconds, and the longest that it can be.
fn moments(keying_s: f64, think: Think) -> (f64, f64, f64) {
    let (mean_s, square, longest_s) = match think {
        Think::None => (0.0, 0.0, 0.0),
        Think::Constant { mean_s } => (mean_s, mean_s * mean_s, mean_s),
        Think::Uniform { from_s, to_s } => {
            let square = (from_s * from_s + from_s * to_s + to_s * to_s) / 3.0;
            ((from_s + to_s) / 2.0, square, to_s)
        }
        Think::NegativeExponential { mean_s, cap } => {
            let beyond = (-cap).exp();
            let square = 2.0 * mean_s * mean_s * (1.0 - beyond * (1.0 + cap));
            (mean_s * (1.0 - beyond), square, mean_s * cap)
        }
    };
    (
        keying_s + mean_s,
        keying_s * keying_s + 2.0 * keying_s * mean_s + square,
        keying_s + longest_s,
    )
}

fn any_think() -> impl Strategy<Value = Think> {
    prop_oneof![
        Just(Think::None),
        (0.001..100.0_f64).prop_map(|mean_s| Think::Constant { mean_s }),
        (0.0..50.0_f64, 0.001..50.0_f64).prop_map(|(from_s, width_s)| Think::Uniform {
            from_s,
            to_s: from_s + width_s,
        }),
        (0.001..100.0_f64, 1.0..20.0_f64)
            .prop_map(|(mean_s, cap)| Think::NegativeExponential { mean_s, cap }),
    ]
}

/// Mean of draws, and the standard error of the mean.
fn mean_of(draws: &[f64]) -> (f64, f64) {
    let count = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / count;
    let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / count;
    (mean, (variance / count).sqrt())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn think_times_have_their_mean_and_their_end(think in any_think(), seed: u64) {
        let pace = pace(0.0, think);
        let (mean_s, _, longest_s) = moments(0.0, think);
        let mut random = Random::new(seed, 0);
        let draws: Vec<f64> = (0..20_000).map(|_| to_s(pace.gap_ns(0, 0, &mut random))).collect();
        prop_assert!(draws.iter().all(|gap_s| *gap_s <= longest_s + 1e-8));
        let (found_s, error_s) = mean_of(&draws);
        prop_assert!((found_s - mean_s).abs() <= 6.0 * error_s + 1e-8, "{found_s} {mean_s}");
    }

    /// The mean of what is left of a wait X is E(X^2) / 2 E(X).
    #[test]
    fn what_is_left_of_a_wait_has_its_mean_and_its_end(
        keying_s in prop_oneof![Just(0.0), 0.001..50.0_f64], think in any_think(), seed: u64,
    ) {
        let pace = pace(keying_s, think);
        let (mean_s, square, longest_s) = moments(keying_s, think);
        let mut random = Random::new(seed, 0);
        let draws: Vec<f64> =
            (0..20_000).map(|_| to_s(pace.residual_ns(0, &mut random))).collect();
        prop_assert!(draws.iter().all(|left_s| *left_s <= longest_s + 1e-8));
        let (found_s, error_s) = mean_of(&draws);
        let expected_s = if mean_s > 0.0 { square / mean_s / 2.0 } else { 0.0 };
        prop_assert!((found_s - expected_s).abs() <= 6.0 * error_s + 1e-8, "{found_s} {expected_s}");
    }
}

/// How many operations of 10,000 users, who all begin at 0, are due in each of the first seconds.
fn by_second(pace: &Pace, seconds: usize) -> Vec<u32> {
    let mut counts = vec![0; seconds];
    for user in 0..10_000 {
        let mut random = Random::new(!1, user).split();
        let mut at_ns = pace.residual_ns(0, &mut random);
        while let Some(count) = counts.get_mut(to_s(at_ns) as usize) {
            *count += 1;
            at_ns += pace.gap_ns(0, 0, &mut random);
        }
    }
    counts
}

#[test]
fn users_who_begin_together_are_due_as_evenly_as_users_who_have_been_there_for_long() {
    let thinks = [
        Think::Constant { mean_s: 10.0 },
        Think::Uniform {
            from_s: 5.0,
            to_s: 15.0,
        },
        Think::NegativeExponential {
            mean_s: 10.0,
            cap: 10.0,
        },
    ];
    for (think, keying_s) in thinks.iter().flat_map(|think| [(think, 0.0), (think, 4.0)]) {
        let (mean_s, ..) = moments(keying_s, *think);
        let expected = 10_000.0 / mean_s;
        for (second, count) in by_second(&pace(keying_s, *think), 30).iter().enumerate() {
            let share = f64::from(*count) / expected;
            assert!(
                (0.7..1.3).contains(&share),
                "second {second} of {think:?} with keying {keying_s}: {share}"
            );
        }
    }
}

#[test]
fn of_no_wait_nothing_is_left() {
    let mut random = Random::new(1, 0);
    for think in [Think::None, Think::Constant { mean_s: 0.0 }] {
        assert_eq!(pace(0.0, think).residual_ns(0, &mut random), 0);
    }
}

/// With keying k and a think time of mean m, the share k / (k + m) of users is found keying.
#[test]
fn keying_has_its_share_of_what_is_left() {
    let pace = pace(
        6.0,
        Think::NegativeExponential {
            mean_s: 2.0,
            cap: 10.0,
        },
    );
    let mut random = Random::new(7, 0);
    let draws = 40_000;
    let keying = (0..draws).filter(|_| pace.residual_ns(0, &mut random) < to_ns(6.0));
    let share = keying.count() as f64 / f64::from(draws);
    // Six standard errors; the cap takes off less than a ten-thousandth.
    assert!((share - 0.75).abs() < 0.014, "{share}");
}

#[test]
fn who_comes_by_a_ramp_does_not_wait_before_the_first_operation() {
    let think = Think::Constant { mean_s: 10.0 };
    let waits = Waits {
        think,
        begins_at_once: true,
        ..Waits::default()
    };
    let pacing = Pacing {
        default: waits,
        ..Pacing::default()
    };
    let pace = Pace::new(&pacing, &["log-in"]).expect("a pace");
    let mut random = Random::new(7, 0);
    assert_eq!(pace.residual_ns(0, &mut random), 0);
    assert_eq!(pace.gap_ns(0, 0, &mut random), to_ns(10.0), "after one");
}
