//! A station: it stores what has come since the last time.

use std::fmt::Write as _;
use std::sync::Arc;

use super::engine::{Engine, Link, damaged, number};
use super::replay::Replay;
use super::session::{Acknowledged, Common};
use super::source::EventSource;
use super::station_buffer::{Batch, SharedBuffer, StationBuffer};
use crate::acknowledgements::Acknowledger;
use crate::clock::to_ns;
use crate::session::{Failure, Outcome};
use crate::timer::Timer;

/// A station.
#[derive(Debug)]
pub struct Station {
    source: Arc<EventSource>,
    buffer: SharedBuffer,
    acknowledger: Option<Acknowledger>,
    /// Whether more waits than one bulk insert takes: the next is due at once.
    hurries: bool,
    /// When the batch that waits was first begun, if storing it failed: the mark must be read before
    /// the next attempt.
    begun_ns: Option<u64>,
}

impl Station {
    /// Enlists station `number`; it goes on where its mark is.
    ///
    /// # Errors
    /// The engine's failure.
    pub async fn open<E: Engine>(
        common: &Common<E>,
        link: &mut E::Link,
        number: u32,
        seed: u64,
        replay: Option<Arc<Replay>>,
        acknowledger: Option<Acknowledger>,
    ) -> Result<Self, Failure> {
        let mark = enlist(link, number).await?;
        let parameters = &common.parameters;
        let source = Arc::new(EventSource::new(number, parameters, seed, replay));
        let buffer = StationBuffer::new(Arc::clone(&source), parameters.buffer_events, mark);
        let buffer = SharedBuffer::new(buffer);
        common.add(buffer.clone());
        Ok(Self {
            source,
            buffer,
            acknowledger,
            hurries: false,
            begun_ns: None,
        })
    }

    /// Whether the next bulk insert is due at once.
    pub fn hurries(&self) -> bool {
        self.hurries
    }

    /// No events come any more.
    pub fn stop(&mut self, now_ns: u64) {
        self.buffer.lock().stop(now_ns);
    }

    /// Stores the oldest events that wait.
    ///
    /// # Errors
    /// The engine's failure; the events go on waiting.
    pub async fn insert<E: Engine>(
        &mut self,
        common: &Common<E>,
        link: &mut E::Link,
        timer: &Timer,
    ) -> Result<Outcome, Failure> {
        let hurried = std::mem::take(&mut self.hurries);
        let failed_ns = self.begun_ns;
        if failed_ns.is_some() {
            let mark = enlist(link, self.source.station()).await?;
            self.settle(mark, timer.now_ns())?;
        }
        let done = failed_ns.map_or(Outcome::Done, |from_ns| Outcome::DoneLate { from_ns });
        let now_ns = timer.now_ns();
        let Some(batch) = self.cut(common, now_ns) else {
            // What failed was stored none the less, and nothing has come since.
            let failed = self.begun_ns.take().is_some();
            return Ok(if failed { done } else { Outcome::Idle });
        };
        let begun_ns = *self.begun_ns.get_or_insert(now_ns);
        common.sent(link.store(&batch, &self.buffer).await?);
        let at_ns = timer.now_ns();
        self.settle(batch.last_seq(), at_ns)?;
        if at_ns - begun_ns > to_ns(common.parameters.threshold_ms / 1e3) {
            self.buffer.lock().slow();
        }
        self.begun_ns = None;
        self.publish(common, &batch, at_ns);
        self.hurries = self.is_behind(
            common,
            hurried || batch.count() == common.parameters.batch_events,
        );
        Ok(done)
    }

    /// The oldest events that wait now.
    fn cut<E>(&self, common: &Common<E>, now_ns: u64) -> Option<Batch> {
        let mut buffer = self.buffer.lock();
        let began_us = common.unix_us(buffer.advance(now_ns));
        let runs = buffer.cut(common.parameters.batch_events);
        Batch::new(Arc::clone(&self.source), began_us, runs)
    }

    /// Whether what is left after a full batch, or a hurried one, cannot wait for the next moment.
    fn is_behind<E>(&self, common: &Common<E>, full: bool) -> bool {
        let parameters = &common.parameters;
        let interval = (self.source.per_s() * parameters.interval_s) as u64;
        let enough = parameters.batch_events.min(interval).max(1);
        full && self.buffer.lock().waiting() >= enough
    }

    /// Takes note that all up to `mark` is stored, at `at_ns`.
    fn settle(&mut self, mark: u64, at_ns: u64) -> Result<(), Failure> {
        let mut buffer = self.buffer.lock();
        // What came while the batch was under way found the buffer as it was then.
        buffer.advance(at_ns);
        let stored = buffer.settle(mark);
        drop(buffer);
        let (Some((first, last)), Some(acknowledger)) = (stored, &mut self.acknowledger) else {
            return Ok(());
        };
        let station = self.source.station();
        acknowledger.note(|line| write!(line, "\"insert\",{station},{first},{last}"))
    }

    fn publish<E>(&self, common: &Common<E>, batch: &Batch, at_ns: u64) {
        let Some(event) = batch.last() else { return };
        common.last.send_replace(Acknowledged {
            element: event.element,
            ts_us: event.ts_us,
            seq: event.seq,
            at_ns,
        });
    }
}

/// The mark of a station, which is entered when it is new.
async fn enlist<L: Link>(link: &mut L, station: u32) -> Result<u64, Failure> {
    let table = link
        .ask(&format!(
            "SELECT stored FROM archive_station WHERE station = {station}"
        ))
        .await?;
    if table.is_empty() {
        let sql = format!("INSERT INTO archive_station (station, stored) VALUES ({station}, 0)");
        link.run(&sql).await?;
        return Ok(0);
    }
    let mark = number(&table).and_then(|mark| u64::try_from(mark).ok());
    mark.ok_or_else(|| damaged("the mark of a station is no number"))
}
