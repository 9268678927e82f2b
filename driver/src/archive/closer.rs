//! The closer: it closes segments that no event reaches any more, and looks for events just stored.

use serde_json::json;
use tokio::sync::watch;

use super::engine::{Engine, Link};
use super::keeper::data;
use super::parameters::{Indexing, Kind};
use super::session::{Acknowledged, Common};
use crate::clock::{SECOND_NS, to_s};
use crate::race::unless;
use crate::session::{ErrorClass, Failure, Outcome, WorkloadEvent};
use crate::timer::Timer;

/// Closing is looked at so often between two looks at an event.
const CLOSES: u32 = 4;
/// An event that is not visible by then is missing.
const LONGEST_NS: u64 = 10 * SECOND_NS;
/// The pause between two looks for the same event.
const PAUSE_NS: u64 = 200_000;

/// What the closer remembers.
#[derive(Debug)]
pub struct Closer {
    last: watch::Receiver<Acknowledged>,
    turn: u32,
}

impl Closer {
    /// A closer that hears of events from `last`.
    pub fn new(last: watch::Receiver<Acknowledged>) -> Self {
        Self { last, turn: 0 }
    }

    /// What is to be done next.
    pub fn choose(&mut self) -> Kind {
        self.turn = (self.turn + 1) % (CLOSES + 1);
        if self.turn == 0 {
            Kind::Visible
        } else {
            Kind::Close
        }
    }

    /// Waits for the next event that is acknowledged, and looks for it through the view.
    ///
    /// # Errors
    /// The engine's failure; an event that does not show.
    pub async fn look<E: Engine>(
        &mut self,
        common: &Common<E>,
        link: &mut E::Link,
        timer: &Timer,
    ) -> Result<Outcome, Failure> {
        self.last.mark_unchanged();
        let patience = timer.sleep_until(timer.now_ns() + SECOND_NS);
        if !matches!(unless(patience, self.last.changed()).await, Some(Ok(()))) {
            return Ok(Outcome::Idle);
        }
        let event = *self.last.borrow_and_update();
        let sql = format!(
            "SELECT seq FROM event_history WHERE element_id = {} AND ts = {} AND seq = {}",
            event.element,
            common.engine.instant(event.ts_us),
            event.seq
        );
        while link.ask(&sql).await?.is_empty() {
            let now_ns = timer.now_ns();
            if now_ns > event.at_ns + LONGEST_NS {
                return Err(Failure {
                    class: ErrorClass("no_data".into()),
                    message: format!("event {} was stored and is not in the view", event.seq),
                });
            }
            timer.sleep_until(now_ns + PAUSE_NS).await;
        }
        Ok(Outcome::DoneSince {
            from_ns: event.at_ns,
        })
    }

    /// Closes the oldest open segment once no event reaches it any more.
    ///
    /// # Errors
    /// The engine's failure.
    pub async fn close<E: Engine>(
        &mut self,
        common: &Common<E>,
        link: &mut E::Link,
        timer: &Timer,
        workload_events: &mut Vec<WorkloadEvent>,
    ) -> Result<Outcome, Failure> {
        let parameters = &common.parameters;
        let quiet_us = (parameters.late_by_s + 2.0 * parameters.interval_s) * 1e6;
        let before_us = common.unix_us(timer.now_ns()) - quiet_us as i64;
        let table = link
            .ask(&format!(
                "SELECT number, name FROM archive_segment WHERE state = 'open' AND number + 1 IN \
                 (SELECT number FROM archive_segment WHERE begin_us < {before_us}) ORDER BY number"
            ))
            .await?;
        let Some([Some(number), Some(name)]) = table.first().map(Vec::as_slice) else {
            return Ok(Outcome::Idle);
        };
        let engine = &common.engine;
        let index = parameters.index == Indexing::OnClose;
        let index_s = timed(link, timer, index.then(|| engine.create_index(name))).await?;
        let analyse_s = timed(link, timer, [engine.analyse(name)]).await?;
        let compress = parameters.compress.then(|| engine.compress(name)).flatten();
        let compress_s = timed(link, timer, compress).await?;
        let moves = parameters.moves.then(|| engine.move_away(name));
        let move_s = timed(link, timer, moves.into_iter().flatten()).await?;
        let close_s = index_s + analyse_s + compress_s + move_s;
        let now_us = common.unix_us(timer.now_ns());
        link.run(&format!(
            "UPDATE archive_segment SET state = 'closed', closed_us = {now_us}, \
             close_s = {close_s} WHERE number = {number}"
        ))
        .await?;
        let number: u64 = number.parse().unwrap_or(0);
        workload_events.push(WorkloadEvent {
            name: "segment-close",
            data: data(
                close_s,
                [
                    ("number", json!(number)),
                    ("close_s", json!(close_s)),
                    ("index_s", json!(index_s)),
                    ("analyse_s", json!(analyse_s)),
                    ("compress_s", json!(compress_s)),
                    ("move_s", json!(move_s)),
                ],
            ),
        });
        Ok(Outcome::Done)
    }
}

/// Runs statements, if there are any; returns how long they took, in seconds.
async fn timed<L: Link>(
    link: &mut L,
    timer: &Timer,
    statements: impl IntoIterator<Item = String>,
) -> Result<f64, Failure> {
    let begun_ns = timer.now_ns();
    for statement in statements {
        link.run(&statement).await?;
    }
    Ok(to_s(timer.now_ns() - begun_ns))
}
