use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Wake;

use super::*;

fn arrival(at_ns: u64) -> Arrival {
    Arrival {
        at_ns,
        noticed_ns: at_ns,
    }
}

fn assignment(duty: Duty) -> Assignment {
    Assignment {
        duty,
        phase: 0,
        since_ns: 0,
        active: 1,
        allowance: u64::MAX,
        room: 0,
        drains: false,
    }
}

fn open_board(users: usize, room: usize) -> Board {
    let board = Board::default();
    for slot in 0..users {
        board.enter(slot);
    }
    board.post(Assignment {
        active: users,
        room,
        ..assignment(Duty::Open)
    });
    board
}

#[test]
fn a_free_user_is_handed_the_arrival_and_it_is_never_queued() {
    let board = open_board(2, 0);
    board.offer(1);
    assert!(board.hand(arrival(5)));
    assert_eq!((board.handed(0), board.handed(1)), (None, Some(arrival(5))));
    assert_eq!(board.queued(), 0);
}

#[test]
fn the_user_that_is_free_longest_is_first() {
    let board = open_board(2, 0);
    board.offer(1);
    board.offer(0);
    assert!(board.hand(arrival(1)) && board.hand(arrival(2)));
    assert_eq!(
        (board.handed(0), board.handed(1)),
        (Some(arrival(2)), Some(arrival(1)))
    );
}

#[test]
fn without_a_free_user_arrivals_queue_in_order_up_to_the_room() {
    let board = open_board(1, 2);
    let taken: Vec<bool> = (1..=3).map(|at_ns| board.hand(arrival(at_ns))).collect();
    assert_eq!(taken, [true, true, false]);
    assert_eq!(
        (board.next(), board.next(), board.next()),
        (Some(arrival(1)), Some(arrival(2)), None)
    );
}

#[test]
fn the_allowance_is_exact() {
    let board = Board::default();
    board.post(Assignment {
        allowance: 2,
        ..assignment(Duty::Closed)
    });
    assert_eq!(
        [board.admit(), board.admit(), board.admit()],
        [true, true, false]
    );
}

#[test]
fn a_new_notice_ends_the_stage_and_keeps_the_backlog_countable() {
    let board = open_board(1, 10);
    board.hand(arrival(1));
    let stop = StageOver::new(&board, 0);
    assert!(!stop.requested());
    board.post(assignment(Duty::Closed));
    assert!(stop.requested());
    assert_eq!(board.discard(), 1);
}

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn only_users_who_come_or_go_are_woken_by_a_change_of_their_number() {
    let board = open_board(6, 0);
    let woken: Vec<Arc<Woken>> = (0..6).map(|_| Arc::default()).collect();
    for (slot, woken) in woken.iter().enumerate() {
        let waker = Waker::from(Arc::clone(woken));
        board.listen(slot, &Context::from_waker(&waker));
    }
    let since_last = || -> Vec<u32> {
        woken
            .iter()
            .map(|woken| woken.0.swap(0, Ordering::Relaxed))
            .collect()
    };
    board.set_active(4);
    assert_eq!(since_last(), [0, 0, 0, 0, 1, 1]);
    board.set_active(4);
    assert_eq!(since_last(), [0; 6]);
    board.set_active(5);
    assert_eq!(since_last(), [0, 0, 0, 0, 1, 0]);
    // More than there are yet.
    board.set_active(1_000_000);
    assert_eq!(since_last(), [0, 0, 0, 0, 0, 1]);
    board.post(assignment(Duty::Closed));
    assert_eq!(since_last(), [1; 6]);
}

#[test]
fn who_takes_no_part_in_a_drain_any_more_is_dismissed_also_when_it_is_over() {
    let board = Board::default();
    board.post(Assignment {
        active: 3,
        ..assignment(Duty::Closed)
    });
    let joined = board.stage();
    board.set_active(2);
    assert_eq!(board.dismissed(2, joined), None, "no drain");
    let (phase, active) = (7, 2);
    board.post(Assignment {
        phase,
        active,
        drains: true,
        ..assignment(Duty::Closed)
    });
    let dismissed = |joined| [0, 1, 2].map(|slot| board.dismissed(slot, joined));
    assert_eq!(dismissed(joined), [None, None, Some(7)]);
    board.set_active(1);
    assert_eq!(dismissed(joined), [None, Some(7), Some(7)]);
    board.post(Assignment {
        active: 3,
        ..assignment(Duty::Closed)
    });
    assert_eq!(dismissed(joined), [None, Some(7), Some(7)]);
    assert_eq!(dismissed(board.stage()), [None; 3], "they joined again");
}

#[test]
fn only_the_last_notice_ends_the_pauses_of_what_was_begun() {
    let board = open_board(1, 0);
    let stop = StageOver::new(&board, 0);
    let mut last = pin!(stop.wait_for_last());
    let mut is_over = || {
        let poll = last.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        poll.is_ready()
    };
    board.post(assignment(Duty::Closed));
    assert!(!is_over(), "a phase ends, the operation goes on");
    board.post(assignment(Duty::Leave));
    assert!(is_over());
}
