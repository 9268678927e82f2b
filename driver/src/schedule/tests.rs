use proptest::prelude::*;

use super::*;

fn plan(from: f64, to: f64, duration_s: f64, arrival: Arrival) -> ArrivalPlan {
    ArrivalPlan {
        start_ns: 5_000,
        duration_ns: Some((duration_s * 1e9) as u64),
        rate_per_s: Range { from, to },
        arrival,
        most: None,
        seed: 7,
    }
}

fn all(plan: ArrivalPlan) -> Vec<u64> {
    Arrivals::new(plan, 1, 0).collect()
}

#[test]
fn uniform_arrivals_have_equal_gaps() {
    let times = all(plan(1000.0, 1000.0, 0.004, Arrival::Uniform));
    assert_eq!(times, [505_000, 1_505_000, 2_505_000, 3_505_000]);
}

#[test]
fn without_a_duration_arrivals_go_on() {
    let endless = ArrivalPlan {
        duration_ns: None,
        ..plan(10.0, 10.0, 1.0, Arrival::Uniform)
    };
    assert_eq!(
        Arrivals::new(endless, 1, 0).nth(1_000_000),
        Some(100_000_050_005_000)
    );
}

#[test]
fn a_limit_counts_all_threads_together() {
    let limited = ArrivalPlan {
        most: Some(10),
        ..plan(100.0, 100.0, 60.0, Arrival::Poisson)
    };
    let counts: Vec<usize> = (0..3)
        .map(|part| Arrivals::new(limited, 3, part).count())
        .collect();
    assert_eq!(counts, [4, 3, 3]);
    let mut last = Arrivals::new(limited, 1, 0);
    assert!(!last.all_came());
    assert_eq!(last.by_ref().count(), 10);
    assert!(last.all_came());
}

#[test]
fn the_time_of_an_arrival_that_waits_is_not_lost() {
    let mut arrivals = Arrivals::new(plan(1000.0, 1000.0, 1.0, Arrival::Poisson), 1, 0);
    while let Some(peeked) = arrivals.peek() {
        assert_eq!(arrivals.next(), Some(peeked));
    }
    assert_eq!(arrivals.next(), None);
}

#[test]
fn poisson_gaps_are_exponential() {
    let rate_per_s = 2000.0;
    let times = all(plan(rate_per_s, rate_per_s, 100.0, Arrival::Poisson));
    let gaps: Vec<f64> = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / 1e9 * rate_per_s)
        .collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
    // Four standard errors of 200,000 gaps of mean 1 and variance 1 (whose own variance is 8).
    assert!((mean - 1.0).abs() < 4.0 / count.sqrt(), "mean {mean}");
    assert!(
        (variance - 1.0).abs() < 4.0 * (8.0 / count).sqrt(),
        "variance {variance}"
    );
    let beyond = gaps.iter().filter(|gap| **gap > 3.0).count() as f64 / count;
    assert!(
        (beyond - (-3.0_f64).exp()).abs() < 0.002,
        "beyond three means: {beyond}"
    );
}

#[test]
fn a_ramp_has_its_density_where_the_rate_is_high() {
    for arrival in [Arrival::Uniform, Arrival::Poisson] {
        let times = all(plan(0.0, 2000.0, 100.0, arrival));
        let half_ns = 5_000 + 50_000_000_000;
        let early = times.iter().filter(|time| **time < half_ns).count() as f64;
        // The integral of the rate over the first half is a quarter of the whole.
        assert!((early / times.len() as f64 - 0.25).abs() < 0.01);
    }
}

proptest! {
    #[test]
    fn shares_add_up(total in 0_u64..1_000_000, parts in 1_u64..100) {
        let shares: Vec<u64> = (0..parts).map(|index| share(total, parts, index)).collect();
        prop_assert_eq!(shares.iter().sum::<u64>(), total);
        prop_assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
    }

    #[test]
    fn uniform_arrivals_are_in_order_and_of_the_right_number(
        from in 0.0..5000.0_f64, to in 0.0..5000.0_f64, duration_s in 0.01..5.0_f64,
    ) {
        let plan = plan(from, to, duration_s, Arrival::Uniform);
        let times = all(plan);
        prop_assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
        let end_ns = plan.start_ns + plan.duration_ns.unwrap();
        prop_assert!(times.iter().all(|time| (plan.start_ns..=end_ns).contains(time)));
        let expected = (from + to) / 2.0 * duration_s;
        prop_assert!((times.len() as f64 - expected).abs() <= 0.5 + 1e-6 * expected.max(1.0));
    }

    #[test]
    fn poisson_arrivals_are_in_order_and_about_the_right_number(
        from in 0.0..5000.0_f64, to in 0.0..5000.0_f64, duration_s in 0.01..5.0_f64, seed: u64,
    ) {
        let plan = ArrivalPlan { seed, ..plan(from, to, duration_s, Arrival::Poisson) };
        let times = all(plan);
        prop_assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
        let expected = (from + to) / 2.0 * duration_s;
        // Six standard deviations, and some for the skew of small means.
        prop_assert!((times.len() as f64 - expected).abs() <= 6.0 * expected.sqrt() + 12.0);
    }

    #[test]
    fn threads_share_the_same_arrivals(
        parts in 1_u64..6, from in 0.0..3000.0_f64, to in 0.0..3000.0_f64, poisson: bool,
    ) {
        let arrival = if poisson { Arrival::Poisson } else { Arrival::Uniform };
        let plan = plan(from, to, 1.0, arrival);
        let mut together: Vec<u64> =
            (0..parts).flat_map(|part| Arrivals::new(plan, parts, part)).collect();
        together.sort_unstable();
        prop_assert_eq!(together, all(plan));
    }

    #[test]
    fn users_change_one_by_one_when_they_said(
        from in 0_u32..200, to in 0_u32..200, duration_ns in 1_u64..1_000_000_000_000,
    ) {
        let ramp = UserRamp { users: Range { from, to }, start_ns: 1_000, duration_ns };
        prop_assert_eq!(ramp.at(0), from);
        prop_assert_eq!(ramp.at(1_000 + duration_ns), to);
        let (mut now_ns, mut users, mut changes) = (1_000, from, 0);
        while let Some(next_ns) = ramp.next_change_ns(now_ns) {
            prop_assert!(next_ns > now_ns);
            prop_assert_eq!(ramp.at(next_ns - 1), users);
            let step = ramp.at(next_ns).abs_diff(users);
            // More than one at a time only where the ramp is faster than the clock's nanoseconds.
            prop_assert!(step == 1 || duration_ns < 2 * u64::from(from.abs_diff(to)));
            changes += step;
            users = ramp.at(next_ns);
            now_ns = next_ns;
        }
        prop_assert_eq!(users, to);
        prop_assert_eq!(changes, from.abs_diff(to));
    }
}
