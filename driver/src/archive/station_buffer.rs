//! The buffer of one station: which of its events have come, wait, are stored or are lost.
//!
//! Events are not kept. Those that wait are runs of consecutive numbers, because what an event says can be
//! made again at any time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::source::{Event, EventSource};

/// Events that became due one after the other and were all accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRun {
    /// Number at the station of the first, from 1; only accepted events have one.
    pub first_seq: u64,
    /// Position of the first in the order in which events become due, from 0.
    pub first_number: u64,
    /// How many they are.
    pub count: u64,
}

impl EventRun {
    fn from(self, seq: u64) -> Self {
        let passed = seq - self.first_seq;
        Self {
            first_seq: seq,
            first_number: self.first_number + passed,
            count: self.count - passed,
        }
    }
}

/// Totals of a station.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Totals {
    pub offered: u64,
    pub accepted: u64,
    /// Acknowledged by the engine.
    pub stored: u64,
    pub lost: u64,
    /// Accepted, not acknowledged and not in doubt.
    pub buffered: u64,
    /// Their commit was sent and not answered.
    pub in_doubt: u64,
    /// Bulk inserts that took longer than the threshold.
    pub over_threshold: u64,
}

/// The buffer of one station.
#[derive(Debug)]
pub struct StationBuffer {
    source: Arc<EventSource>,
    capacity: u64,
    /// Begin, in nanoseconds since the driver's start.
    began_ns: Option<u64>,
    stopped: bool,
    runs: VecDeque<EventRun>,
    waiting: u64,
    /// The most that waited since it was last asked.
    deepest: u64,
    /// The highest number that is known to be stored.
    mark: u64,
    totals: Totals,
}

/// A buffer that its station and the reporter share.
#[derive(Debug, Clone)]
pub struct SharedBuffer(Arc<Mutex<StationBuffer>>);

impl SharedBuffer {
    /// Shares `buffer`.
    pub fn new(buffer: StationBuffer) -> Self {
        Self(Arc::new(Mutex::new(buffer)))
    }

    /// Locks the buffer; it is held for moments only.
    pub fn lock(&self) -> MutexGuard<'_, StationBuffer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StationBuffer {
    /// The buffer of a station that can hold back `capacity` events and has stored events up to `mark` before.
    pub fn new(source: Arc<EventSource>, capacity: u64, mark: u64) -> Self {
        Self {
            source,
            capacity,
            began_ns: None,
            stopped: false,
            runs: VecDeque::new(),
            waiting: 0,
            deepest: 0,
            mark,
            totals: Totals::default(),
        }
    }

    /// Takes in what became due up to `now_ns`; the first time the station begins. An event that finds the
    /// buffer full is lost. Returns when the station began.
    pub fn advance(&mut self, now_ns: u64) -> u64 {
        let began_ns = *self.began_ns.get_or_insert(now_ns);
        if self.stopped {
            return began_ns;
        }
        let due = self.source.due_by(now_ns.saturating_sub(began_ns));
        let fresh = due.saturating_sub(self.totals.offered);
        let accepted = fresh.min(self.capacity.saturating_sub(self.waiting));
        if accepted > 0 {
            self.accept(accepted);
        }
        self.totals.offered += fresh;
        self.totals.lost += fresh - accepted;
        self.waiting += accepted;
        self.deepest = self.deepest.max(self.waiting);
        began_ns
    }

    fn accept(&mut self, count: u64) {
        let run = EventRun {
            first_seq: self.mark + self.waiting + 1,
            first_number: self.totals.offered,
            count,
        };
        match self.runs.back_mut() {
            Some(last) if last.first_number + last.count == run.first_number => last.count += count,
            _ => self.runs.push_back(run),
        }
        self.totals.accepted += count;
    }

    /// Takes in what became due up to `now_ns`, and nothing after it.
    pub fn stop(&mut self, now_ns: u64) {
        if self.began_ns.is_some() {
            self.advance(now_ns);
        }
        self.stopped = true;
    }

    /// Whether the station has begun.
    pub fn has_begun(&self) -> bool {
        self.began_ns.is_some()
    }

    /// The oldest events that wait, at most `most`; they go on waiting.
    pub fn cut(&self, most: u64) -> Vec<EventRun> {
        let mut left = most;
        let mut runs = Vec::new();
        for run in &self.runs {
            let count = run.count.min(left);
            if count == 0 {
                break;
            }
            runs.push(EventRun { count, ..*run });
            left -= count;
        }
        runs
    }

    /// Notes that the commit of the `count` oldest events is sent.
    pub fn doubt(&mut self, count: u64) {
        self.totals.in_doubt = count;
    }

    /// Notes that all events up to number `mark` are stored and no others; gives the first and the last that
    /// were not known to be.
    pub fn settle(&mut self, mark: u64) -> Option<(u64, u64)> {
        self.totals.in_doubt = 0;
        let stored = mark.saturating_sub(self.mark).min(self.waiting);
        if stored == 0 {
            return None;
        }
        let first = self.mark + 1;
        self.mark += stored;
        self.waiting -= stored;
        self.totals.stored += stored;
        while let Some(run) = self.runs.front_mut() {
            if run.first_seq + run.count > self.mark + 1 {
                *run = run.from((self.mark + 1).max(run.first_seq));
                break;
            }
            self.runs.pop_front();
        }
        Some((first, self.mark))
    }

    /// Counts a bulk insert that took longer than the threshold.
    pub fn slow(&mut self) {
        self.totals.over_threshold += 1;
    }

    /// Events that wait.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// The most that waited at once since this was last asked.
    pub fn deepest(&mut self) -> u64 {
        std::mem::replace(&mut self.deepest, self.waiting)
    }

    /// What the station has done so far.
    pub fn totals(&self) -> Totals {
        Totals {
            buffered: self.waiting - self.totals.in_doubt,
            ..self.totals
        }
    }
}

/// Events that are stored in one transaction.
#[derive(Debug, Clone)]
pub struct Batch {
    source: Arc<EventSource>,
    /// When the station began, in microseconds since 1970.
    began_us: i64,
    runs: Vec<EventRun>,
}

impl Batch {
    /// The events of `runs`, in their order, if there are any.
    pub fn new(source: Arc<EventSource>, began_us: i64, runs: Vec<EventRun>) -> Option<Self> {
        let batch = Self {
            source,
            began_us,
            runs,
        };
        (!batch.runs.is_empty()).then_some(batch)
    }

    /// Number of the station.
    pub fn station(&self) -> u32 {
        self.source.station()
    }

    /// How many events there are.
    pub fn count(&self) -> u64 {
        self.runs.iter().map(|run| run.count).sum()
    }

    /// Number of the last event.
    pub fn last_seq(&self) -> u64 {
        self.runs
            .last()
            .map_or(0, |run| run.first_seq + run.count - 1)
    }

    /// The events, in their order.
    #[inline]
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        self.runs.iter().flat_map(|run| {
            (0..run.count).map(|at| {
                self.source
                    .event(self.began_us, run.first_number + at, run.first_seq + at)
            })
        })
    }

    /// The last event.
    pub fn last(&self) -> Option<Event<'_>> {
        let run = self.runs.last()?;
        let (number, seq) = (run.first_number + run.count - 1, self.last_seq());
        Some(self.source.event(self.began_us, number, seq))
    }

    /// A source time before which none of the events lies, microseconds since 1970; none when not known.
    pub fn least_us(&self) -> Option<i64> {
        let first = self.runs.first()?;
        let after_us = self.source.least_us(first.first_number)?;
        Some(self.began_us + after_us)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::parameters::Parameters;
    use super::super::parameters::tests::example;
    use super::*;

    fn buffer(capacity: u64, mark: u64) -> StationBuffer {
        let parameters = Parameters::parse(&example()).expect("parameters");
        let source = Arc::new(EventSource::new(0, &parameters, 1, None));
        StationBuffer::new(source, capacity, mark)
    }

    const MILLISECOND: u64 = 1_000_000;

    #[test]
    fn an_event_that_finds_the_buffer_full_is_lost_and_has_no_number() {
        let mut buffer = buffer(10, 0);
        buffer.advance(0);
        buffer.advance(15 * MILLISECOND);
        assert_eq!((buffer.waiting(), buffer.totals().lost), (10, 5));
        assert_eq!(buffer.settle(4), Some((1, 4)));
        buffer.advance(17 * MILLISECOND);
        let expected = [
            EventRun {
                first_seq: 5,
                first_number: 4,
                count: 6,
            },
            EventRun {
                first_seq: 11,
                first_number: 15,
                count: 2,
            },
        ];
        assert_eq!(buffer.cut(100), expected);
    }

    #[test]
    fn a_station_goes_on_where_it_stopped_in_an_earlier_run() {
        let mut buffer = buffer(10, 70);
        buffer.advance(0);
        buffer.advance(2 * MILLISECOND);
        assert_eq!(buffer.cut(9)[0].first_seq, 71);
        assert_eq!(buffer.settle(71), Some((71, 71)));
    }

    #[test]
    fn nothing_comes_after_the_stop() {
        let mut buffer = buffer(1000, 0);
        buffer.advance(0);
        buffer.stop(5 * MILLISECOND);
        buffer.advance(50 * MILLISECOND);
        assert_eq!(buffer.totals().offered, 5);
    }

    #[derive(Debug, Clone)]
    enum Step {
        Advance(u64),
        /// Stores a share of a batch of at most so many, as a commit in doubt may turn out.
        Store(u64, bool),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0_u64..50).prop_map(|ms| Step::Advance(ms * MILLISECOND)),
            (1_u64..60, any::<bool>()).prop_map(|(most, stored)| Step::Store(most, stored)),
        ]
    }

    proptest! {
        #[test]
        fn every_event_is_stored_once_or_buffered_or_lost(
            capacity in 1_u64..200, steps in prop::collection::vec(step(), 0..60),
        ) {
            let (mut buffer, mut now_ns) = (buffer(capacity, 0), 0);
            let (mut stored, mut before) = (0, None);
            buffer.advance(0);
            for step in steps {
                match step {
                    Step::Advance(ns) => {
                        now_ns += ns;
                        buffer.advance(now_ns);
                    }
                    Step::Store(most, arrived) => {
                        let runs = buffer.cut(most);
                        let count: u64 = runs.iter().map(|run| run.count).sum();
                        // The numbers go on without a gap, and events in the order of their time.
                        for run in &runs {
                            prop_assert_eq!(run.first_seq, stored + 1 + runs.iter()
                                .take_while(|other| *other != run).map(|run| run.count).sum::<u64>());
                            if arrived {
                                prop_assert!(before.is_none_or(|before| run.first_number > before));
                                before = Some(run.first_number + run.count - 1);
                            }
                        }
                        buffer.doubt(count);
                        stored += if arrived { count } else { 0 };
                        buffer.settle(stored);
                    }
                }
                let totals = buffer.totals();
                prop_assert_eq!(totals.offered, now_ns / MILLISECOND);
                prop_assert_eq!(totals.offered, totals.accepted + totals.lost);
                prop_assert_eq!(totals.accepted, totals.stored + totals.buffered + totals.in_doubt);
                prop_assert_eq!(totals.stored, stored);
                prop_assert!(buffer.waiting() <= capacity);
                let waiting: u64 = buffer.cut(u64::MAX).iter().map(|run| run.count).sum();
                prop_assert_eq!(waiting, buffer.waiting());
            }
        }
    }
}
