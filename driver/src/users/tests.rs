//! The schedules of closed users and of those who serve arrivals, with a mock clock.

use std::pin::pin;
use std::task::{Context, Waker};

use proptest::prelude::*;

use super::*;
use crate::board::{Arrival, Assignment};
use crate::clock::{MockClock, SECOND_NS, to_ns, to_s};
use crate::plan::{self, Pacing, Think};

mod farewell;

fn pace(keying_s: f64, think: Think) -> Pace {
    let default = plan::Waits {
        keying_s,
        think,
        ..plan::Waits::default()
    };
    let pacing = Pacing {
        default,
        ..Pacing::default()
    };
    Pace::new(&pacing, &["only"]).expect("a pace")
}

fn waits() -> Waits {
    Waits::new(0, Random::new(1, 2))
}

fn assignment(duty: Duty, active: usize) -> Assignment {
    Assignment {
        duty,
        phase: 3,
        since_ns: 0,
        active,
        allowance: u64::MAX,
        room: 10,
        drains: false,
    }
}

fn board(duty: Duty, active: usize, allowance: u64) -> Board {
    let board = Board::default();
    board.enter(0);
    board.post(Assignment {
        allowance,
        ..assignment(duty, active)
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
    .due(0, Haste::Usual))
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
    waits.free = Some((0, 0));
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
    assert_eq!(at_s, [5, 5 + 1 + 5, 11 + 1 + 5]);
}

/// When the first two operations of user `number` are due, in seconds.
fn first_due_s(number: u32, pace: &Pace, board: &Board) -> [f64; 2] {
    let random = Random::new(!1, number.into()).split();
    let (clock, mut waits) = (MockClock::default(), Waits::new(number, random));
    [(); 2].map(|()| {
        let Poll::Ready(Some(due)) = closed_due(pace, &clock, board, &mut waits) else {
            panic!("an operation")
        };
        waits.free = Some((0, clock.now_ns()));
        to_s(due.at_ns)
    })
}

#[test]
fn users_who_begin_together_do_not_act_together() {
    let board = board(Duty::Closed, 1, u64::MAX);
    let pace = pace(0.0, Think::Constant { mean_s: 10.0 });
    let mut by_second = [0_u32; 20];
    for number in 0..10_000 {
        let [first_s, second_s] = first_due_s(number, &pace, &board);
        assert!((second_s - first_s - 10.0).abs() < 1e-6, "a whole wait");
        by_second[first_s as usize] += 1;
        by_second[second_s as usize] += 1;
    }
    let most = by_second.iter().max().expect("seconds");
    assert!(*most < 1_300, "a mean of 1,000: {by_second:?}");
}

#[test]
fn a_user_who_comes_again_waits_for_what_is_left_of_a_wait() {
    let (clock, board, mut waits) = (
        MockClock::default(),
        board(Duty::Closed, 0, u64::MAX),
        waits(),
    );
    waits.free = Some((0, 0));
    let pace = pace(0.0, Think::Constant { mean_s: 10.0 });
    assert_eq!(closed_due(&pace, &clock, &board, &mut waits), Poll::Pending);
    clock.advance(3 * SECOND_NS);
    board.set_active(1);
    let Poll::Ready(Some(due)) = closed_due(&pace, &clock, &board, &mut waits) else {
        panic!("an operation")
    };
    let at_s = to_s(due.at_ns);
    assert!((3.0..13.0).contains(&at_s) && at_s != 10.0, "{at_s}");
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
    assert_eq!(now(open.due(0, Haste::Usual)), Poll::Pending);
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
    assert_eq!(now(open.due(0, Haste::Usual)), Poll::Ready(Some(first)));
    let readiness = Readiness::Busy { lag_ns: Some(5) };
    let second = Due {
        phase: 3,
        at_ns: 20,
        readiness,
        closed: false,
    };
    assert_eq!(now(open.due(0, Haste::Usual)), Poll::Ready(Some(second)));
    assert_eq!(now(open.due(0, Haste::Usual)), Poll::Pending);
}

#[test]
fn what_was_handed_before_a_new_notice_is_done() {
    let board = board(Duty::Open, 1, u64::MAX);
    let mut open = Open {
        slot: 0,
        board: &board,
        offered: false,
    };
    let mut due = pin!(open.due(0, Haste::Usual));
    let mut context = Context::from_waker(Waker::noop());
    assert!(due.as_mut().poll(&mut context).is_pending());
    board.hand(Arrival {
        at_ns: 10,
        noticed_ns: 10,
    });
    let (phase, since_ns) = (4, 50);
    board.post(Assignment {
        phase,
        since_ns,
        ..assignment(Duty::Idle, 0)
    });
    let first = Due {
        phase: 3,
        at_ns: 10,
        readiness: Readiness::Free,
        closed: false,
    };
    assert_eq!(due.as_mut().poll(&mut context), Poll::Ready(Some(first)));
}

/// Times at which a user's operations were due and begun, in seconds, when each takes as long as `takes_s` says.
fn on_a_grid(user: u32, takes_s: &[f64]) -> Vec<(f64, f64)> {
    let pacing = Pacing {
        default: plan::Waits {
            every_s: Some(1.0),
            ..plan::Waits::default()
        },
        ..Pacing::default()
    };
    let pace = Pace::new(&pacing, &["only"]).expect("a pace");
    let (clock, board, mut waits) = (
        MockClock::default(),
        board(Duty::Closed, 1, u64::MAX),
        Waits { user, ..waits() },
    );
    let mut times_s = Vec::new();
    for takes_s in takes_s {
        let Poll::Ready(Some(due)) = closed_due(&pace, &clock, &board, &mut waits) else {
            panic!("an operation")
        };
        times_s.push((to_s(due.at_ns), to_s(clock.now_ns())));
        clock.advance(to_ns(*takes_s));
        waits.free = Some((0, clock.now_ns()));
    }
    times_s
}

#[test]
fn on_a_grid_the_first_missed_moment_is_made_up_for_and_later_ones_are_skipped() {
    assert_eq!(
        on_a_grid(0, &[0.5, 3.5, 0.1, 0.1, 0.1]),
        [(1.0, 1.0), (2.0, 2.0), (3.0, 5.5), (6.0, 6.0), (7.0, 7.0)]
    );
}

#[test]
fn users_on_a_grid_do_not_act_together() {
    let firsts = |users: u32| -> Vec<f64> {
        let mut firsts: Vec<f64> = (0..users)
            .map(|user| on_a_grid(user, &[0.0])[0].0.fract())
            .collect();
        firsts.sort_by(f64::total_cmp);
        firsts
    };
    for users in [2, 10, 50] {
        let gaps: Vec<f64> = firsts(users)
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .collect();
        let least = gaps.into_iter().fold(f64::MAX, f64::min);
        assert!(least > 0.3 / f64::from(users), "{users} users: {least}");
    }
}

#[test]
fn what_hurries_is_due_when_the_last_has_ended() {
    let (clock, board, mut waits) = (
        MockClock::default(),
        board(Duty::Closed, 1, u64::MAX),
        waits(),
    );
    waits.free = Some((0, 700));
    clock.advance(900);
    let pace = pace(0.0, Think::Constant { mean_s: 3.0 });
    let mut schedule = Closed {
        slot: 0,
        board: &board,
        clock: &clock,
        pace: &pace,
        waits: &mut waits,
    };
    let Poll::Ready(Some(due)) = now(schedule.due(0, Haste::AtOnce)) else {
        panic!("an operation")
    };
    assert_eq!((due.at_ns, due.readiness), (700, Readiness::Unpaced));
}

/// When an operation is due that holds off for five seconds after the last one, which ended at 2 s.
fn held_off(pace: &Pace, free: Option<(OperationId, u64)>) -> (f64, Readiness) {
    let (clock, board) = (MockClock::default(), board(Duty::Closed, 1, u64::MAX));
    let mut waits = waits();
    (waits.free, waits.begun_ns) = (free, free.map(|_| SECOND_NS));
    clock.advance(3 * SECOND_NS);
    let mut schedule = Closed {
        slot: 0,
        board: &board,
        clock: &clock,
        pace,
        waits: &mut waits,
    };
    let haste = Haste::HoldsOff { ns: 5 * SECOND_NS };
    let Poll::Ready(Some(due)) = now(schedule.due(0, haste)) else {
        panic!("an operation")
    };
    assert_eq!(
        clock.now_ns().max(3 * SECOND_NS),
        due.at_ns.max(3 * SECOND_NS)
    );
    (to_s(due.at_ns), due.readiness)
}

#[test]
fn who_holds_off_waits_at_least_so_long_after_the_last_operation() {
    let last = Some((0, 2 * SECOND_NS));
    let think = |mean_s| pace(0.0, Think::Constant { mean_s });
    for (pace, at_s) in [
        (pace(0.0, Think::None), 7.0),
        (think(1.0), 7.0),
        (think(9.0), 11.0),
    ] {
        assert_eq!(held_off(&pace, last), (at_s, Readiness::Free));
    }
    let grid = Pacing {
        default: plan::Waits {
            every_s: Some(1.0),
            ..plan::Waits::default()
        },
        ..Pacing::default()
    };
    let grid = Pace::new(&grid, &["only"]).expect("a pace");
    assert_eq!(held_off(&grid, last), (7.0, Readiness::Free));
    // Without an operation behind it there is nothing to hold off from.
    let at_once = held_off(&pace(0.0, Think::None), None);
    assert_eq!(at_once, (3.0, Readiness::Unpaced));
}

proptest! {
    #[test]
    fn the_next_moment_of_a_grid_is_later_and_less_than_a_period_away(
        period_ns in 1_u64..5_000_000_000, origin_ns in 0_u64..1_000_000_000, user in 0_u32..100_000,
        at_ns in 0_u64..100_000_000_000,
    ) {
        let grid = crate::pacing::Grid::new(period_ns, origin_ns, user);
        let next_ns = grid.after_ns(at_ns);
        prop_assert!(next_ns > at_ns || next_ns >= origin_ns);
        prop_assert!(next_ns <= at_ns.max(origin_ns) + period_ns);
        prop_assert_eq!(grid.after_ns(next_ns), next_ns + period_ns);
    }
}
