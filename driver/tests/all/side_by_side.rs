//! Users who work side by side on one thread, as a worker of the driver lets them.

use std::collections::BTreeMap;
use std::rc::Rc;

use loadstone_driver::oltp::parameters::RunParameters;
use loadstone_driver::session::{Outcome, Session, Workload};
use serde_json::{Value, json};

/// With few warehouses a serializable transaction may fail many times before it gets through.
const MOST_ATTEMPTS: u32 = 10_000;

/// Runs sessions side by side until each has made `limit` operations or is exhausted; counts outcomes.
pub async fn drive<W: Workload>(
    workload: W,
    seed: u64,
    users: u32,
    limit: u32,
) -> (BTreeMap<String, u64>, Rc<W>) {
    let workload = Rc::new(workload);
    let mut tasks = Vec::new();
    for user in 0..users {
        let workload = Rc::clone(&workload);
        tasks.push(tokio::task::spawn_local(async move {
            let mut session = workload.open(user, seed).await.expect("a session");
            let mut counts = BTreeMap::<String, u64>::new();
            for _ in 0..limit {
                let operation = session.choose();
                let name = match attempt(&mut session, operation).await {
                    Outcome::Exhausted => break,
                    Outcome::Done | Outcome::DoneSince { .. } | Outcome::DoneLate { .. } => {
                        workload.operations()[operation].to_owned()
                    }
                    Outcome::Idle => continue,
                    Outcome::RolledBack => "rolled back".to_owned(),
                    Outcome::Failed(failure) => panic!("{failure:?}"),
                };
                *counts.entry(name).or_default() += 1;
            }
            session.close().await;
            counts
        }));
    }
    let mut total = BTreeMap::new();
    for task in tasks {
        for (name, count) in task.await.expect("a user") {
            *total.entry(name).or_default() += count;
        }
    }
    (total, workload)
}

/// Tries again what may be tried again, with the same inputs.
async fn attempt<S: Session>(session: &mut S, operation: usize) -> Outcome {
    for _ in 0..MOST_ATTEMPTS {
        match session.execute(operation).await {
            Outcome::Failed(failure) if failure.class.is_retryable() => {}
            outcome => return outcome,
        }
    }
    panic!("{MOST_ATTEMPTS} attempts were not enough");
}

/// Parameters of order entry with two warehouses.
pub fn parameters(style: &str, home: &str, isolation: &str) -> Value {
    json!({"warehouses": 2, "style": style, "home": home, "isolation": isolation})
}

pub fn parsed(parameters: &Value) -> RunParameters {
    RunParameters::parse(parameters.as_object().expect("an object")).expect("parameters")
}

/// The load of all warehouses was complete; returns the rows that the driver says it wrote.
pub fn loaded(
    warehouses: u32,
    counts: &BTreeMap<String, u64>,
    facts: &[(&'static str, f64)],
) -> f64 {
    let items = u64::from(1 + 4 * warehouses);
    assert_eq!(
        counts.values().sum::<u64>(),
        items,
        "work items: {counts:?}"
    );
    let rows = facts.iter().find(|fact| fact.0 == "rows");
    rows.expect("a number of rows").1
}

/// All users dealt all their cards; a deck has 23 of them.
pub fn assert_decks(counts: &BTreeMap<String, u64>, decks: u64) {
    assert_eq!(counts.values().sum::<u64>(), 23 * decks);
    let rolled_back = counts.get("rolled back").copied().unwrap_or(0);
    let made = (counts["new-order"] + rolled_back, counts["payment"]);
    assert_eq!(made, (10 * decks, 10 * decks), "the deck is exact");
    assert_eq!(counts["delivery"], decks);
    let is_small = decks < 60;
    assert!(is_small || rolled_back > 0, "one of a hundred: {counts:?}");
}
