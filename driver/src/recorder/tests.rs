use proptest::prelude::*;

use super::*;
use crate::session::Failure;

#[derive(Debug, Clone)]
enum Note {
    Ended {
        operation: usize,
        wait_ns: u64,
        service_ns: u64,
        outcome: Outcome,
    },
    Retried {
        operation: usize,
        class: &'static str,
    },
    Lagged(u64),
    Late,
}

fn failed(class: &str) -> Outcome {
    Outcome::Failed(Failure {
        class: ErrorClass(class.into()),
        message: "no".into(),
    })
}

fn any_note() -> impl Strategy<Value = Note> {
    let time_ns = || 0_u64..20_000_000_000;
    let class = || prop::sample::select(&["40001", "40P01", "23505"][..]);
    let outcome = prop_oneof![
        6 => Just(Outcome::Done),
        1 => Just(Outcome::RolledBack),
        1 => Just(Outcome::Exhausted),
        1 => Just(Outcome::Idle),
        1 => Just(Outcome::DoneSince { from_ns: 7 }),
        1 => Just(Outcome::DoneLate { from_ns: 7 }),
        1 => class().prop_map(failed),
    ];
    prop_oneof![
        6 => (0_usize..3, time_ns(), time_ns(), outcome).prop_map(
            |(operation, wait_ns, service_ns, outcome)| {
                Note::Ended { operation, wait_ns, service_ns, outcome }
            }
        ),
        1 => (0_usize..3, class()).prop_map(|(operation, class)| Note::Retried { operation, class }),
        2 => time_ns().prop_map(Note::Lagged),
        1 => Just(Note::Late),
    ]
}

fn note(recorder: &mut Recorder, note: &Note) {
    match note {
        Note::Ended {
            operation,
            wait_ns,
            service_ns,
            outcome,
        } => {
            let sent_ns = 1_000 + wait_ns;
            let times = Times {
                intended_ns: 1_000,
                sent_ns,
                done_ns: sent_ns + service_ns,
            };
            recorder.ended(*operation, times, outcome);
            recorder.due += 1;
        }
        Note::Retried { operation, class } => {
            recorder.retried(*operation, &ErrorClass((*class).into()));
        }
        Note::Lagged(ns) => recorder.lagged(*ns),
        Note::Late => recorder.late_starts += 1,
    }
}

/// The counts of a histogram, whatever the size of its memory.
fn counts(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
    let recorded = histogram.iter_recorded();
    recorded
        .map(|step| (step.value_iterated_to(), step.count_at_value()))
        .collect()
}

fn assert_same(one: &Recorder, other: &Recorder) -> Result<(), TestCaseError> {
    prop_assert_eq!(counts(&one.lag), counts(&other.lag));
    prop_assert_eq!(
        (one.late_starts, one.dropped, one.due, one.reconnects),
        (
            other.late_starts,
            other.dropped,
            other.due,
            other.reconnects
        )
    );
    for (one, other) in one.operations.iter().zip(&other.operations) {
        prop_assert_eq!(
            (one.count, one.rolled_back),
            (other.count, other.rolled_back)
        );
        prop_assert_eq!((&one.errors, &one.retries), (&other.errors, &other.retries));
        prop_assert_eq!(counts(&one.response), counts(&other.response));
        prop_assert_eq!(counts(&one.service), counts(&other.service));
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_parts_merged_are_the_whole(
        notes in prop::collection::vec((any_note(), 0_usize..4), 0..200)
    ) {
        let mut whole = Recorder::new(3);
        let mut parts = vec![Recorder::new(3); 4];
        for (given, part) in &notes {
            note(&mut whole, given);
            note(&mut parts[*part], given);
        }
        let mut merged = Recorder::new(3);
        parts.iter().for_each(|part| merged.merge(part));
        assert_same(&merged, &whole)?;
        merged.reset();
        prop_assert!(merged.is_empty());
        assert_same(&merged, &Recorder::new(3))?;
    }

    #[test]
    fn every_ended_operation_is_counted_once(
        notes in prop::collection::vec(any_note(), 0..200)
    ) {
        let mut recorder = Recorder::new(3);
        notes.iter().for_each(|given| note(&mut recorder, given));
        let ended = notes.iter().filter(|given| {
            matches!(given, Note::Ended { outcome, .. }
                if !matches!(outcome, Outcome::Exhausted | Outcome::Idle))
        });
        let counted: u64 = recorder
            .operations
            .iter()
            .map(|tally| tally.count + tally.errors.values().sum::<u64>())
            .sum();
        prop_assert_eq!(counted, ended.count() as u64);
        for tally in &recorder.operations {
            prop_assert_eq!(tally.response.len(), tally.count);
            prop_assert_eq!(tally.service.len(), tally.count);
            prop_assert!(tally.rolled_back <= tally.count);
        }
    }

    #[test]
    fn a_value_is_kept_to_three_digits(value_ns in 1_u64..4_000_000_000_000) {
        let mut recorder = Recorder::new(1);
        recorder.lagged(value_ns);
        let kept_ns = recorder.lag.max();
        prop_assert!(kept_ns.abs_diff(value_ns) as f64 <= value_ns as f64 / 1000.0);
    }
}

#[test]
fn response_counts_from_the_intended_time_and_service_from_the_sent() {
    let mut recorder = Recorder::new(1);
    let times = Times {
        intended_ns: 100,
        sent_ns: 400,
        done_ns: 1100,
    };
    recorder.ended(0, times, &Outcome::Done);
    let tally = &recorder.operations[0];
    assert_eq!((tally.response.max(), tally.service.max()), (1000, 700));
}

#[test]
fn what_was_done_since_a_moment_is_timed_from_there_and_what_was_idle_not_at_all() {
    let mut recorder = Recorder::new(1);
    let times = Times {
        intended_ns: 500,
        sent_ns: 600,
        done_ns: 1_000,
    };
    recorder.ended(0, times, &Outcome::Idle);
    assert!(recorder.is_empty());
    recorder.ended(0, times, &Outcome::DoneSince { from_ns: 100 });
    let tally = &recorder.operations[0];
    assert_eq!(
        (tally.count, tally.response.max(), tally.service.max()),
        (1, 900, 900)
    );
}

#[test]
fn what_was_done_late_is_timed_from_when_it_was_first_due_or_begun() {
    let times = Times {
        intended_ns: 500,
        sent_ns: 600,
        done_ns: 1_000,
    };
    for (from_ns, response, service) in [(100, 900, 900), (550, 500, 450), (700, 500, 400)] {
        let mut recorder = Recorder::new(1);
        recorder.ended(0, times, &Outcome::DoneLate { from_ns });
        let tally = &recorder.operations[0];
        assert_eq!(
            (tally.count, tally.response.max(), tally.service.max()),
            (1, response, service)
        );
    }
}
