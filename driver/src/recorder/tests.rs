use proptest::prelude::*;

use super::*;
use crate::session::{Course, Failure, RequestNotes};

const OPERATIONS: usize = 3;
const REQUESTS: usize = 4;

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
    Request(RequestEnd),
    Lagged(u64),
    Late,
}

fn class_of(name: &str) -> ErrorClass {
    ErrorClass(name.into())
}

fn failed(class: &str) -> Outcome {
    Outcome::Failed(Failure {
        class: class_of(class),
        message: "no".into(),
    })
}

fn any_class() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["40001", "40P01", "23505"][..])
}

fn any_request() -> impl Strategy<Value = RequestEnd> {
    let classes = || prop::option::of(any_class().prop_map(class_of));
    let mark = (
        any::<bool>(),
        prop::sample::select(&["cached", "partial"][..]),
    );
    let notes = (
        prop::collection::vec(any_class().prop_map(class_of), 0..3),
        prop::collection::vec(mark.prop_map(|(has_it, mark)| (mark, has_it)), 0..3),
    );
    let notes = notes.prop_map(|(retried, marks)| RequestNotes { retried, marks });
    let service_ns = 0_u64..20_000_000_000;
    (0..REQUESTS, service_ns, classes(), classes(), notes).prop_map(
        |(request, service_ns, error, resent, notes)| RequestEnd {
            request,
            begun_ns: 1_000,
            done_ns: 1_000 + service_ns,
            outcome: error.map_or(Ok(()), Err),
            resent,
            course: Course::default(),
            notes,
        },
    )
}

fn any_note() -> impl Strategy<Value = Note> {
    let time_ns = || 0_u64..20_000_000_000;
    let outcome = prop_oneof![
        6 => Just(Outcome::Done),
        1 => Just(Outcome::RolledBack),
        1 => Just(Outcome::Exhausted),
        1 => Just(Outcome::Idle),
        1 => Just(Outcome::DoneSince { from_ns: 7 }),
        1 => Just(Outcome::DoneLate { from_ns: 7 }),
        1 => any_class().prop_map(failed),
    ];
    prop_oneof![
        6 => (0..OPERATIONS, time_ns(), time_ns(), outcome).prop_map(
            |(operation, wait_ns, service_ns, outcome)| {
                Note::Ended { operation, wait_ns, service_ns, outcome }
            }
        ),
        1 => (0..OPERATIONS, any_class())
            .prop_map(|(operation, class)| Note::Retried { operation, class }),
        3 => any_request().prop_map(Note::Request),
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
            recorder.retried(*operation, &class_of(class));
        }
        Note::Request(end) => recorder.request_ended(end),
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
    for (one, other) in one.requests.iter().zip(&other.requests) {
        prop_assert_eq!(one.count, other.count);
        prop_assert_eq!((&one.errors, &one.resent), (&other.errors, &other.resent));
        prop_assert_eq!((&one.retried, &one.marks), (&other.retried, &other.marks));
        prop_assert_eq!(counts(&one.service), counts(&other.service));
    }
    Ok(())
}

fn empty() -> Recorder {
    Recorder::new(OPERATIONS, REQUESTS)
}

proptest! {
    #[test]
    fn the_parts_merged_are_the_whole(
        notes in prop::collection::vec((any_note(), 0_usize..4), 0..200)
    ) {
        let mut whole = empty();
        let mut parts = vec![empty(); 4];
        for (given, part) in &notes {
            note(&mut whole, given);
            note(&mut parts[*part], given);
        }
        let mut merged = empty();
        parts.iter().for_each(|part| merged.merge(part));
        assert_same(&merged, &whole)?;
        merged.reset();
        prop_assert!(merged.is_empty());
        assert_same(&merged, &empty())?;
    }

    #[test]
    fn every_ended_operation_and_request_is_counted_once(
        notes in prop::collection::vec(any_note(), 0..200)
    ) {
        let mut recorder = empty();
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
        let requests = notes.iter().filter(|given| matches!(given, Note::Request(_)));
        let counted: u64 = recorder
            .requests
            .iter()
            .map(|tally| tally.count + tally.errors.values().sum::<u64>())
            .sum();
        prop_assert_eq!(counted, requests.count() as u64);
        for tally in &recorder.requests {
            prop_assert_eq!(tally.service.len(), tally.count);
        }
    }

    #[test]
    fn a_value_is_kept_to_three_digits(value_ns in 1_u64..4_000_000_000_000) {
        let mut recorder = Recorder::new(1, 0);
        recorder.lagged(value_ns);
        let kept_ns = recorder.lag.max();
        prop_assert!(kept_ns.abs_diff(value_ns) as f64 <= value_ns as f64 / 1000.0);
    }
}

#[test]
fn response_counts_from_the_intended_time_and_service_from_the_sent() {
    let mut recorder = Recorder::new(1, 0);
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
    let mut recorder = Recorder::new(1, 0);
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
        let mut recorder = Recorder::new(1, 0);
        recorder.ended(0, times, &Outcome::DoneLate { from_ns });
        let tally = &recorder.operations[0];
        assert_eq!(
            (tally.count, tally.response.max(), tally.service.max()),
            (1, response, service)
        );
    }
}

#[test]
fn a_request_that_was_sent_again_is_counted_as_such_and_by_how_it_ended() {
    let mut recorder = Recorder::new(1, 2);
    let end = RequestEnd {
        request: 1,
        begun_ns: 100,
        done_ns: 1_000,
        outcome: Ok(()),
        resent: Some(class_of("closed")),
        course: Course::default(),
        notes: RequestNotes::default(),
    };
    recorder.request_ended(&end);
    recorder.request_ended(&RequestEnd {
        outcome: Err(class_of("reset")),
        ..end
    });
    let tally = &recorder.requests[1];
    assert_eq!((tally.count, tally.service.max()), (1, 900));
    assert_eq!(tally.errors, [(class_of("reset"), 1)].into());
    assert_eq!(tally.resent, [(class_of("closed"), 2)].into());
    assert!(recorder.requests[0].is_empty() && !recorder.is_empty());
}
