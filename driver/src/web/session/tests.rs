//! What a user chooses, without an application: no request gets an answer.

use std::future::Future;

use serde_json::{Value, json};

use super::*;
use crate::clock::{Epoch, to_s};
use crate::session::Workload;
use crate::web::Web;
use crate::web::tests::{get, plan, shop, web};

const LOG_IN: OperationId = 0;
const LIST: OperationId = 1;
const ITEM: OperationId = 2;
const LOG_OUT: OperationId = 3;

/// Runs a future as a worker does.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let _timer = Timer::start(Epoch::start()).expect("a timer");
        future.await
    })
}

/// A workload whose application is down: nobody listens on port 1.
fn down(scenario: Value) -> Web {
    let mut plan = plan(scenario);
    plan["connection"]["url"] = json!("http://127.0.0.1:1");
    web(&plan).expect("a workload")
}

fn session(web: &Web, user: u32, seed: u64) -> WebSession {
    WebSession::new(Arc::clone(&web.shared), user, seed)
}

#[test]
fn a_user_logs_in_first_and_then_draws_its_transactions() {
    let web = down(shop());
    let mut session = session(&web, 0, 1);
    assert_eq!((session.choose(), session.choose()), (LOG_IN, LOG_IN));
    assert_eq!(session.farewell(), None, "it is not logged in");
    session.settle(LOG_IN, true);
    assert_eq!(session.haste(), Haste::AtOnce);
    let chosen: Vec<_> = (0..1000).map(|_| session.choose()).collect();
    let lists = chosen.iter().filter(|id| **id == LIST).count();
    assert!(chosen.iter().all(|id| [LIST, ITEM].contains(id)));
    // 3 of 4; five standard deviations.
    assert!((682..=818).contains(&lists), "{lists}");
    assert_eq!(session.farewell(), Some(LOG_OUT));
    session.settle(LOG_OUT, false);
    assert_eq!(session.farewell(), None);
    assert_eq!(session.choose(), LOG_IN);
}

/// How long users hold off after each of 12 log-ins that fail in a row, in seconds.
fn holds_off_s(web: &Web, user: u32) -> Vec<f64> {
    let mut session = session(web, user, 1);
    let after = |_| {
        session.settle(LOG_IN, false);
        assert_eq!(session.choose(), LOG_IN);
        let Haste::HoldsOff { ns } = session.haste() else {
            panic!("it is in no haste")
        };
        to_s(ns)
    };
    (0..12).map(after).collect()
}

#[test]
fn a_user_whose_log_in_fails_holds_off_ever_longer_and_never_with_others() {
    let web = down(shop());
    let usual_s = [
        1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0,
    ];
    let all: Vec<_> = (0..500).map(|user| holds_off_s(&web, user)).collect();
    for (failures, usual_s) in usual_s.into_iter().enumerate() {
        let each = all.iter().map(|user| user[failures]);
        let mean_s = each.clone().sum::<f64>() / all.len() as f64;
        // Uniform give or take a half; five standard deviations of a mean of 500 are 6.5 %.
        assert!(
            (mean_s / usual_s - 1.0).abs() < 0.065,
            "{failures}: {mean_s}"
        );
        assert!(each.clone().all(|s| (0.5..1.5).contains(&(s / usual_s))));
    }
    assert_eq!(all[3], holds_off_s(&web, 3), "a seed repeats it");

    let mut session = session(&web, 0, 1);
    session.settle(LOG_IN, false);
    session.settle(LOG_IN, true);
    session.settle(LIST, false);
    assert_eq!(session.haste(), Haste::AtOnce, "as after any log-in");
    session.settle(LOG_OUT, true);
    session.settle(LOG_IN, false);
    let Haste::HoldsOff { ns } = session.haste() else {
        panic!("it is in no haste")
    };
    assert!(to_s(ns) < 1.5, "it begins afresh");
}

#[test]
fn a_scenario_says_how_long_users_hold_off() {
    let mut scenario = shop();
    scenario["log_in"]["back_off_s"] = json!({"first": 0.0, "longest": 0.0});
    assert!(
        holds_off_s(&down(scenario.clone()), 0)
            .iter()
            .all(|s| *s == 0.0)
    );
    scenario["log_in"]["back_off_s"] = json!({"first": 5.0, "longest": 5.0});
    let fixed = holds_off_s(&down(scenario), 0);
    assert!(fixed.iter().all(|s| (2.5..7.5).contains(s)), "{fixed:?}");
}

#[test]
fn a_first_visit_is_made_once_after_the_first_log_in() {
    let mut scenario = shop();
    scenario["first_visit"] = json!({"steps": [get("style", "/style.css")]});
    scenario["order"] = json!("in-turn");
    let web = down(scenario);
    assert_eq!(
        web.operations(),
        ["log-in", "first-visit", "list", "item", "log-out"]
    );
    let mut session = session(&web, 0, 1);
    let (first_visit, list, log_out) = (1, 2, 4);
    assert_eq!(session.choose(), LOG_IN);
    session.settle(LOG_IN, true);
    assert_eq!(session.choose(), first_visit);
    session.settle(first_visit, false);
    assert_eq!((session.choose(), session.haste()), (list, Haste::AtOnce));
    session.settle(log_out, true);
    session.settle(LOG_IN, true);
    assert_ne!(
        session.choose(),
        first_visit,
        "its browser was there before"
    );
}

#[test]
fn users_differ_and_a_seed_repeats_them() {
    let web = down(shop());
    let chosen = |user, seed| -> Vec<OperationId> {
        let mut session = session(&web, user, seed);
        session.settle(LOG_IN, true);
        (0..50).map(|_| session.choose()).collect()
    };
    assert_eq!(chosen(3, 1), chosen(3, 1));
    assert_ne!(chosen(3, 1), chosen(4, 1));
    assert_ne!(chosen(3, 1), chosen(3, 2));
}

#[test]
fn in_turn_each_user_begins_at_the_first() {
    let mut scenario = shop();
    scenario["order"] = json!("in-turn");
    scenario["transactions"][0]["weight"] = json!(0);
    let web = down(scenario);
    for user in 0..3 {
        let mut session = session(&web, user, 1);
        session.settle(LOG_IN, true);
        let chosen: Vec<_> = (0..4).map(|_| session.choose()).collect();
        assert_eq!(chosen, [LIST, ITEM, LIST, ITEM]);
    }
}

#[test]
fn without_a_log_in_each_user_may_log_out() {
    let scenario = json!({
        "log_out": {"steps": [get("out", "/out")]},
        "transactions": [{"name": "t", "steps": [get("r", "/")]}],
    });
    let web = down(scenario);
    let mut session = session(&web, 0, 1);
    assert_eq!(session.choose(), 0);
    assert_eq!(session.farewell(), Some(1));
    assert_eq!(web.gauges().len(), 1, "nobody is counted as logged in");
}

#[test]
fn a_failed_log_in_leaves_the_user_out_and_in_no_hurry() {
    block_on(async {
        let web = down(shop());
        let mut session = session(&web, 0, 1);
        for _ in 0..2 {
            assert_eq!(session.choose(), LOG_IN);
            let Outcome::Failed(failure) = session.execute(LOG_IN).await else {
                panic!("nobody answers");
            };
            assert_eq!(&*failure.class.0, "connect_refused");
            assert!(failure.message.starts_with("form: "), "{}", failure.message);
            assert!(!failure.class.is_fatal() && !failure.class.is_retryable());
            assert!(matches!(session.haste(), Haste::HoldsOff { .. }));
            let ends = session.requests();
            assert_eq!(ends.len(), 1, "later steps are not made");
            assert_eq!(
                (ends[0].request, &ends[0].outcome),
                (0, &Err(failure.class))
            );
            assert!(ends[0].begun_ns <= ends[0].done_ns);
            assert!(session.requests().is_empty(), "they are handed over once");
        }
    });
}

#[test]
fn all_parallel_requests_end_also_when_they_fail() {
    block_on(async {
        let web = down(shop());
        let mut session = session(&web, 0, 1);
        let Outcome::Failed(failure) = session.execute(ITEM).await else {
            panic!("its value is missing");
        };
        assert_eq!(&*failure.class.0, "no_value");
        assert_eq!(
            failure.message,
            "item: the value `id` was not extracted yet when it was used"
        );
        let ends: Vec<_> = session.requests().iter().map(|end| end.request).collect();
        assert_eq!(ends, [3, 4]);
    });
}

#[test]
fn users_who_are_logged_in_are_counted() {
    let mut scenario = shop();
    scenario["first_visit"] = json!({"steps": [get("style", "/style.css")]});
    scenario["log_in_again"] = json!({"classes": ["no_value"]});
    let web = down(scenario);
    let (first_visit, list, item, log_out) = (1, 2, 3, 4);
    let gauge = |name: &str| {
        let gauges = web.gauges().into_iter();
        let mut named = gauges.filter(|(own, _)| *own == name);
        named.next().map(|(_, count)| count)
    };
    let (logged_in, shut_out) = (|| gauge("users_logged_in"), || gauge("users_shut_out"));
    let working = || gauge("users_working");
    let mut users: Vec<_> = (0..3).map(|user| session(&web, user, 1)).collect();
    for user in &mut users {
        user.settle(LOG_IN, true);
        user.settle(first_visit, true);
    }
    assert_eq!((logged_in(), working()), (Some(3.0), Some(0.0)));
    assert_eq!(web.gathered(), Some(0), "a first visit is no transaction");
    for user in &mut users {
        user.settle(list, false);
    }
    assert_eq!((logged_in(), working()), (Some(3.0), Some(3.0)));
    users[0].settle(log_out, true);
    users[1].settle(LOG_IN, false);
    assert_eq!((logged_in(), shut_out()), (Some(1.0), Some(1.0)));
    assert_eq!((working(), web.gathered()), (Some(1.0), Some(1)));

    // Its session has died.
    let outcome = block_on(users[2].execute(item));
    assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
    assert_eq!(
        (logged_in(), working(), shut_out()),
        (Some(0.0), Some(0.0), Some(1.0))
    );
    assert!(web.counters().contains(&("sessions_lost", 1)));
    assert_eq!(users[2].choose(), LOG_IN);
    assert_eq!(users[2].haste(), Haste::Usual);
    users[2].settle(LOG_IN, true);
    assert_ne!(users[2].choose(), first_visit, "it was made before");
    users[1].settle(LOG_IN, false);
    assert_eq!(shut_out(), Some(1.0));
    users[1].settle(LOG_IN, true);
    assert_eq!((logged_in(), shut_out()), (Some(2.0), Some(0.0)));
    users[0].settle(LOG_IN, false);
    for user in &mut users {
        block_on(user.close());
    }
    assert_eq!((logged_in(), shut_out()), (Some(0.0), Some(0.0)));
}

/// Most of the memory of many users is that of those who think.
#[test]
fn a_user_who_thinks_is_small() {
    assert!(size_of::<WebSession>() < 512, "{}", size_of::<WebSession>());
    let web = down(shop());
    let mut session = session(&web, 0, 1);
    let running = session.execute(LIST);
    assert!(size_of_val(&running) < 256, "{}", size_of_val(&running));
}
