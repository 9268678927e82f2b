use super::*;

fn arrival(at_ns: u64) -> Arrival {
    Arrival {
        at_ns,
        noticed_ns: at_ns,
    }
}

fn open_board(users: usize, room: usize) -> Board {
    let board = Board::default();
    for slot in 0..users {
        board.enter(slot);
    }
    let (duty, phase, since_ns) = (Duty::Open, 0, 0);
    board.post(Notice {
        duty,
        phase,
        since_ns,
        active: users,
        allowance: u64::MAX,
        room,
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
    let (duty, phase, since_ns) = (Duty::Closed, 0, 0);
    board.post(Notice {
        duty,
        phase,
        since_ns,
        active: 1,
        allowance: 2,
        room: 0,
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
    let (duty, phase, since_ns) = (Duty::Idle, 1, 9);
    board.post(Notice {
        duty,
        phase,
        since_ns,
        active: 0,
        allowance: u64::MAX,
        room: 0,
    });
    assert!(stop.requested());
    assert_eq!(board.discard(), 1);
}
