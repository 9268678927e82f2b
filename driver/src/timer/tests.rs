use std::cell::RefCell;

use tokio::task::{LocalSet, spawn_local};

use super::*;

fn on_a_thread<T>(work: impl AsyncFnOnce(Rc<Timer>) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime");
    LocalSet::new().block_on(&runtime, async {
        work(Timer::start(Epoch::start()).expect("a timer")).await
    })
}

#[test]
fn every_wait_ends_and_none_before_its_deadline() {
    let ended = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&ended);
    on_a_thread(async |timer: Rc<Timer>| {
        let start_ns = timer.now_ns();
        let waits = [3_u64, 1, 4, 2].map(|order| {
            let (timer, log) = (Rc::clone(&timer), Rc::clone(&log));
            spawn_local(async move {
                let at_ns = start_ns + order * 2_000_000;
                timer.sleep_until(at_ns).await;
                assert!(timer.now_ns() >= at_ns);
                log.borrow_mut().push(order);
            })
        });
        for wait in waits {
            wait.await.expect("no panic");
        }
    });
    let mut sorted = ended.borrow().clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [1, 2, 3, 4]);
}

#[test]
fn a_past_deadline_does_not_wait_and_a_dropped_wait_does_no_harm() {
    on_a_thread(async |timer: Rc<Timer>| {
        timer.sleep_until(0).await;
        let soon_ns = timer.now_ns() + 1_000_000;
        {
            let mut dropped = std::pin::pin!(timer.sleep_until(soon_ns));
            std::future::poll_fn(|context| {
                assert!(dropped.as_mut().poll(context).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        timer.sleep_until(soon_ns + 1_000_000).await;
        assert!(timer.now_ns() >= soon_ns + 1_000_000);
    });
}

#[test]
fn the_earliest_deadline_is_served_first() {
    let deadline = |at_ns| Deadline {
        at_ns,
        waker: Waker::noop().clone(),
    };
    let mut heap: BinaryHeap<Deadline> = [5, 1, 3].map(deadline).into();
    let order: Vec<u64> = std::iter::from_fn(|| heap.pop())
        .map(|next| next.at_ns)
        .collect();
    assert_eq!(order, [1, 3, 5]);
}
