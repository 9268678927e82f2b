//! One page, again and again, by Goose: PAGE and THINK_S say which and how often. It ends with 1 if a request
//! failed.

use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Duration;

use goose::prelude::*;

static PAGE: LazyLock<String> = LazyLock::new(|| std::env::var("PAGE").expect("PAGE"));
static THINK: LazyLock<Duration> = LazyLock::new(|| {
    let seconds = std::env::var("THINK_S").expect("THINK_S");
    Duration::from_secs_f64(seconds.parse().expect("seconds"))
});
/// Steps by it spread users evenly over a think time.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Begins at a moment of its own.
async fn settle(user: &mut GooseUser) -> TransactionResult {
    let share = (user.weighted_users_index as f64 * GOLDEN).fract();
    tokio::time::sleep(THINK.mul_f64(share)).await;
    Ok(())
}

/// Fetches the page, checks its status, and thinks.
async fn visit(user: &mut GooseUser) -> TransactionResult {
    let mut fetched = user.get(PAGE.as_str()).await?;
    if let Ok(response) = fetched.response {
        let status = response.status().as_u16();
        let whole = response.bytes().await.is_ok();
        if status != 200 || !whole {
            return user.set_failure("no whole 200", &mut fetched.request, None, None);
        }
    }
    if !THINK.is_zero() {
        tokio::time::sleep(*THINK).await;
    }
    Ok(())
}

async fn attack() -> Result<usize, GooseError> {
    let metrics = GooseAttack::initialize()?
        .register_scenario(
            scenario!("visit")
                .register_transaction(transaction!(settle).set_on_start())
                .register_transaction(transaction!(visit)),
        )
        .execute()
        .await?;
    Ok(metrics
        .requests
        .values()
        .map(|requests| requests.fail_count)
        .sum())
}

#[tokio::main]
async fn main() -> ExitCode {
    match attack().await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("{failed} requests failed");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
