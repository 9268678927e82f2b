//! The schedules of closed users and of those who serve arrivals, with a mock clock.

use std::pin::pin;
use std::task::{Context, Waker};

use proptest::prelude::*;

use super::*;
use crate::board::{Arrival, Notice};
use crate::clock::{MockClock, SECOND_NS};
use crate::plan::{self, Pacing, Think};

fn pace(keying_s: f64, think: Think) -> Pace {
    let default = plan::Waits { keying_s, think };
    let pacing = Pacing {
        default,
        ..Pacing::default()
    };
    Pace::new(&pacing, &["only"]).expect("a pace")
}

fn waits() -> Waits {
    Waits {
        random: Random::new(1, 2),
        free: None,
        due: None,
    }
}

fn board(duty: Duty, active: usize, allowance: u64) -> Board {
    let board = Board::default();
    board.enter(0);
    board.post(Notice {
        duty,
        phase: 3,
        since_ns: 0,
        active,
        allowance,
        room: 10,
    });
    board
}

/// Polls once.
fn now<T>(future: impl Future<Output = T>) -> Poll<T> {
    pin!(future)
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}

fn closed_due(
    pace: &Pace,
    clock: &MockClock,
    board: &Board,
    waits: &mut Waits,
) -> Poll<Option<Due>> {
    now(Closed {
        slot: 0,
        board,
        clock,
        pace,
        waits,
    }
    .due(0))
}

#[test]
fn without_waits_an_operation_is_due_when_the_last_is_done() {
    let (clock, board, mut waits) = (
        MockClock::default(),
        board(Duty::Closed, 1, u64::MAX),
        waits(),
    );
    waits.free = Some((0, 700));
    clock.advance(900);
    let due = Due {
        phase: 3,
        at_ns: 700,
        readiness: Readiness::Unpaced,
        closed: true,
    };
    let pace = pace(0.0, Think::None);
    assert_eq!(
        closed_due(&pace, &clock, &board, &mut waits),
        Poll::Ready(Some(due))
    );
}

#[test]
fn keying_comes_before_and_thinking_after_an_operation() {
    let (clock, board, mut waits) = (
        MockClock::default(),
        board(Duty::Closed, 1, u64::MAX),
        waits(),
    );
    let pace = pace(2.0, Think::Constant { mean_s: 3.0 });
    let mut at_s = Vec::new();
    for _ in 0..3 {
        let Poll::Ready(Some(due)) = closed_due(&pace, &clock, &board, &mut waits) else {
            panic!("an operation")
        };
        assert_eq!(due.readiness, Readiness::Free);
        at_s.push(due.at_ns / SECOND_NS);
        clock.advance(SECOND_NS);
        waits.free = Some((0, clock.now_ns()));
    }
    assert_eq!(at_s, [2, 2 + 1 + 5, 8 + 1 + 5]);
}

#[test]
fn a_user_that_was_not_free_in_time_is_a_late_start() {
    let (clock, board, mut waits) = (
        MockClock::default(),
        board(Duty::Closed, 1, u64::MAX),
        waits(),
    );
    waits.free = Some((0, 0));
    clock.advance(9 * SECOND_NS);
    let pace = pace(0.0, Think::Constant { mean_s: 3.0 });
    let readiness = Readiness::Busy { lag_ns: None };
    let due = Due {
        phase: 3,
        at_ns: 3 * SECOND_NS,
        readiness,
        closed: true,
    };
    assert_eq!(
        closed_due(&pace, &clock, &board, &mut waits),
        Poll::Ready(Some(due))
    );
}

#[test]
fn a_user_that_takes_no_part_waits_and_begins_afresh() {
    let (clock, board, mut waits) = (
        MockClock::default(),
        board(Duty::Closed, 0, u64::MAX),
        waits(),
    );
    waits.free = Some((0, 5));
    let pace = pace(0.0, Think::None);
    assert_eq!(closed_due(&pace, &clock, &board, &mut waits), Poll::Pending);
    clock.advance(1_000);
    board.set_active(1);
    let Poll::Ready(Some(due)) = closed_due(&pace, &clock, &board, &mut waits) else {
        panic!("an operation")
    };
    assert_eq!(due.at_ns, 1_000);
}

#[test]
fn the_allowance_of_a_phase_ends_it() {
    let (clock, board, mut waits) = (MockClock::default(), board(Duty::Closed, 1, 1), waits());
    let pace = pace(0.0, Think::None);
    assert!(matches!(
        closed_due(&pace, &clock, &board, &mut waits),
        Poll::Ready(Some(_))
    ));
    assert!(!board.is_finished());
    assert_eq!(
        closed_due(&pace, &clock, &board, &mut waits),
        Poll::Ready(None)
    );
    assert!(board.is_finished());
}

#[test]
fn a_free_user_is_handed_arrivals_and_a_busy_one_takes_what_waits() {
    let board = board(Duty::Open, 1, u64::MAX);
    let mut open = Open {
        slot: 0,
        board: &board,
        offered: false,
    };
    assert_eq!(now(open.due(0)), Poll::Pending);
    board.hand(Arrival {
        at_ns: 10,
        noticed_ns: 12,
    });
    board.hand(Arrival {
        at_ns: 20,
        noticed_ns: 25,
    });
    let first = Due {
        phase: 3,
        at_ns: 10,
        readiness: Readiness::Free,
        closed: false,
    };
    assert_eq!(now(open.due(0)), Poll::Ready(Some(first)));
    let readiness = Readiness::Busy { lag_ns: Some(5) };
    let second = Due {
        phase: 3,
        at_ns: 20,
        readiness,
        closed: false,
    };
    assert_eq!(now(open.due(0)), Poll::Ready(Some(second)));
    assert_eq!(now(open.due(0)), Poll::Pending);
}

#[test]
fn what_was_handed_before_a_new_notice_is_done() {
    let board = board(Duty::Open, 1, u64::MAX);
    let mut open = Open {
        slot: 0,
        board: &board,
        offered: false,
    };
    let mut due = pin!(open.due(0));
    let mut context = Context::from_waker(Waker::noop());
    assert!(due.as_mut().poll(&mut context).is_pending());
    board.hand(Arrival {
        at_ns: 10,
        noticed_ns: 10,
    });
    let (duty, phase, since_ns) = (Duty::Idle, 4, 50);
    board.post(Notice {
        duty,
        phase,
        since_ns,
        active: 0,
        allowance: u64::MAX,
        room: 0,
    });
    let first = Due {
        phase: 3,
        at_ns: 10,
        readiness: Readiness::Free,
        closed: false,
    };
    assert_eq!(due.as_mut().poll(&mut context), Poll::Ready(Some(first)));
}

proptest! {
    #[test]
    fn think_times_have_their_mean_and_their_cap(mean_s in 0.001..100.0_f64, seed: u64) {
        let pace = pace(0.0, Think::NegativeExponential { mean_s, cap: 10.0 });
        let mut random = Random::new(seed, 0);
        let draws = 20_000;
        let mut sum_s = 0.0;
        for _ in 0..draws {
            let gap_s = pace.gap_ns(Some(0), 0, &mut random) as f64 / 1e9;
            prop_assert!(gap_s <= 10.0 * mean_s + 1e-9);
            sum_s += gap_s;
        }
        // Six standard errors; the cap takes off less than a ten-thousandth.
        let error = 6.0 / f64::from(draws).sqrt();
        prop_assert!((sum_s / f64::from(draws) / mean_s - 1.0).abs() < error);
    }
}
