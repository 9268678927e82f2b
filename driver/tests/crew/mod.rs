//! Users who work side by side on one thread, as a worker of the driver lets them.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::rc::Rc;

use loadstone_driver::session::{Outcome, Session, Workload};

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
                    Outcome::Done => workload.operations()[operation].to_owned(),
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
