use proptest::prelude::*;

use super::*;
use crate::leg::{Cause, Stopwatch};
use crate::session::{Course, RequestNotes};

const MEASURED: PhaseIndex = 1;

fn kinds() -> Arc<[PhaseKind]> {
    [PhaseKind::WarmUp, PhaseKind::Measure, PhaseKind::Drain].into()
}

fn requests(legs: usize) -> Vec<RequestEnd> {
    let leg = Stopwatch::start(Cause::Asked, 0).stop(1);
    vec![RequestEnd {
        request: 0,
        begun_ns: 0,
        done_ns: 1,
        outcome: Ok(()),
        resent: None,
        notes: RequestNotes::default(),
        course: Course {
            step: 1,
            lane: None,
            legs: vec![leg; legs],
        },
    }]
}

fn times(due_ns: u64, response_ns: u64) -> Times {
    Times {
        intended_ns: due_ns,
        sent_ns: due_ns,
        done_ns: due_ns + response_ns,
    }
}

fn class() -> ErrorClass {
    ErrorClass("status_500".into())
}

/// Notes an operation of a phase that was due at `due_ns`.
fn note(tracer: &mut Tracer, phase: PhaseIndex, due_ns: u64, response_ns: u64, fails: bool) {
    let class = class();
    let ended = Ended {
        phase,
        times: times(due_ns, response_ns),
        error: fails.then_some(&class),
    };
    tracer.ended(0, &ended, requests(1));
}

fn only(tracer: &mut Tracer) -> Kept {
    let mut taken = tracer.take();
    assert_eq!(taken.len(), 1);
    taken.remove(0)
}

#[test]
fn the_slowest_of_those_that_ended_well_and_of_those_that_failed_is_kept() {
    let mut tracer = Tracer::new(1, kinds(), 1, 0);
    for (due_ns, response_ns, fails) in [
        (1, 50, false),
        (2, 90, false),
        (3, 70, false),
        (4, 500, true),
        (5, 900, true),
        (6, 60, false),
        (7, 800, true),
    ] {
        note(&mut tracer, MEASURED, due_ns, response_ns, fails);
    }
    let kept = only(&mut tracer);
    let slowest = kept.slowest.expect("one ended well");
    assert_eq!((slowest.times, slowest.error), (times(2, 90), None));
    let failed = kept.failed.expect("one failed");
    assert_eq!((failed.times, failed.error), (times(5, 900), Some(class())));
    assert_eq!(kept.sample.len(), SAMPLE);
    assert!(kept.sample.iter().all(|trace| trace.error.is_none()));
    assert!(only(&mut tracer).is_empty(), "they are handed over once");
}

#[test]
fn only_measured_operations_with_requests_are_kept() {
    let mut tracer = Tracer::new(1, kinds(), 1, 0);
    note(&mut tracer, 0, 1, 10, false);
    note(&mut tracer, 2, 2, 10, true);
    let ended = Ended {
        phase: MEASURED,
        times: times(3, 10),
        error: None,
    };
    tracer.ended(0, &ended, Vec::new());
    assert!(only(&mut tracer).is_empty());
}

/// 2,000 samples of 3 out of 30: each operation is in 200 of them, give or take 5 standard deviations.
#[test]
fn every_operation_has_the_same_chance() {
    const OPERATIONS: usize = 30;
    let mut drawn = [0_u32; OPERATIONS];
    for seed in 0..2_000 {
        let mut tracer = Tracer::new(1, kinds(), seed, 0);
        for due_ns in 0..OPERATIONS as u64 {
            note(&mut tracer, MEASURED, due_ns, 10 + due_ns, false);
        }
        for trace in only(&mut tracer).sample {
            drawn[trace.times.intended_ns as usize] += 1;
        }
    }
    assert!(
        drawn.iter().all(|count| (133..=267).contains(count)),
        "{drawn:?}"
    );
}

#[test]
fn threads_draw_other_keys_and_a_seed_repeats_them() {
    let keys = |seed, thread| {
        let mut tracer = Tracer::new(1, kinds(), seed, thread);
        for due_ns in 0..10 {
            note(&mut tracer, MEASURED, due_ns, 10, false);
        }
        let sample = only(&mut tracer).sample.into_iter();
        sample.map(|trace| trace.key).collect::<Vec<_>>()
    };
    assert_eq!(keys(1, 0), keys(1, 0));
    assert_ne!(keys(1, 0), keys(1, 1));
    assert_ne!(keys(1, 0), keys(2, 0));
}

#[test]
fn rows_beyond_the_limit_are_left_out_and_counted() {
    let rows = |sizes: &[usize]| {
        let requests = sizes.iter().flat_map(|legs| requests(*legs)).collect();
        let ended = Ended {
            phase: MEASURED,
            times: times(0, 1),
            error: None,
        };
        let trace = trace(&ended, 0.5, requests);
        (trace.requests.len(), trace.left_out)
    };
    assert_eq!(rows(&[1; MOST_ROWS]), (MOST_ROWS, 0));
    assert_eq!(rows(&[0; MOST_ROWS + 2]), (MOST_ROWS, 2));
    assert_eq!(rows(&[2; MOST_ROWS]), (MOST_ROWS / 2, MOST_ROWS / 2));
}

fn any_trace() -> impl Strategy<Value = Trace> {
    (0_u64..50, 0_u32..1_000_000, any::<bool>()).prop_map(|(response_ns, key, fails)| Trace {
        phase: MEASURED,
        times: times(0, response_ns),
        error: fails.then(class),
        key: f64::from(key) / 1e6,
        requests: Vec::new(),
        left_out: 0,
    })
}

fn of_one(trace: Trace) -> Kept {
    match trace.error {
        Some(_) => Kept {
            failed: Some(trace),
            ..Kept::default()
        },
        None => Kept {
            slowest: Some(trace.clone()),
            sample: vec![trace],
            ..Kept::default()
        },
    }
}

fn merged(parts: impl IntoIterator<Item = Kept>) -> Kept {
    parts.into_iter().fold(Kept::default(), |mut all, part| {
        all.merge(part);
        all
    })
}

proptest! {
    /// However operations are spread over threads and processes, the same are kept.
    #[test]
    fn parts_are_merged_without_loss(
        parts in prop::collection::vec(prop::collection::vec(any_trace(), 0..8), 0..5)
    ) {
        let all: Vec<Trace> = parts.iter().flatten().cloned().collect();
        let kept = merged(parts.into_iter().map(|part| merged(part.into_iter().map(of_one))));
        let (failed, well): (Vec<_>, Vec<_>) = all.iter().partition(|trace| trace.error.is_some());
        let slowest = |of: &[&Trace]| of.iter().map(|trace| trace.response_ns()).max();
        prop_assert_eq!(kept.slowest.as_ref().map(Trace::response_ns), slowest(&well));
        prop_assert_eq!(kept.failed.as_ref().map(Trace::response_ns), slowest(&failed));
        let mut keys: Vec<f64> = well.iter().map(|trace| trace.key).collect();
        keys.sort_by(f64::total_cmp);
        keys.truncate(SAMPLE);
        let drawn: Vec<f64> = kept.sample.iter().map(|trace| trace.key).collect();
        prop_assert_eq!(drawn, keys);
    }
}
