//! The segments of the history, and which of them an event belongs to.

use super::engine::Table;
use super::source::Event;
use super::station_buffer::Batch;

/// Begin of a segment that was made and is not used yet.
pub const NEVER_US: i64 = i64::MAX;
/// The segments that take events.
pub const ROUTES: &str = "SELECT name, begin_us FROM archive_segment \
    WHERE state IN ('open', 'current') ORDER BY begin_us";

/// Name of segment `number`.
pub fn segment_name(number: u32) -> String {
    format!("event_history_{number:08}")
}

/// Name of its index by element and time.
pub fn index_name(segment: &str) -> String {
    format!("{segment}_element_ts")
}

/// The segments that take events, by their begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Routes(Vec<(String, i64)>);

/// A segment and the source times that it takes: from `from_us` up to and without `to_us`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'r> {
    /// Name of the segment.
    pub segment: &'r str,
    from_us: i64,
    to_us: i64,
}

impl Part<'_> {
    /// Whether an event belongs here.
    #[inline]
    pub fn takes(&self, event: &Event<'_>) -> bool {
        (self.from_us..self.to_us).contains(&event.ts_us)
    }
}

impl Routes {
    /// Segments with their names and begins, microseconds since 1970.
    pub fn new(mut segments: Vec<(String, i64)>) -> Self {
        segments.sort_by_key(|segment| segment.1);
        Self(segments)
    }

    /// The answer to [`ROUTES`].
    pub fn of(table: &Table) -> Option<Self> {
        let segment = |row: &Vec<Option<String>>| match row.as_slice() {
            [Some(name), Some(begin_us)] => Some((name.clone(), begin_us.parse().ok()?)),
            _ => None,
        };
        let segments: Option<Vec<_>> = table.iter().map(segment).collect();
        segments
            .filter(|segments| !segments.is_empty())
            .map(Self::new)
    }

    /// The segments that the events of `batch` go to. One takes those from its begin up to the begin of the
    /// next, the first also all that are older.
    pub fn parts(&self, batch: &Batch) -> Vec<Part<'_>> {
        let part = |at: usize| Part {
            segment: &self.0[at].0,
            from_us: if at == 0 { i64::MIN } else { self.0[at].1 },
            to_us: self.0.get(at + 1).map_or(i64::MAX, |next| next.1),
        };
        let last = self.0.len() - 1;
        if last == 0 || batch.least_us().is_some_and(|us| us >= self.0[last].1) {
            return vec![part(last)];
        }
        let mut counts = vec![0_u64; self.0.len()];
        for event in batch.events() {
            let after = self.0.partition_point(|segment| segment.1 <= event.ts_us);
            counts[after.saturating_sub(1)] += 1;
        }
        let used = (0..=last).filter(|at| counts[*at] > 0);
        used.map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::parameters::Parameters;
    use super::super::parameters::tests::example;
    use super::super::source::EventSource;
    use super::super::station_buffer::EventRun;
    use super::*;

    proptest! {
        #[test]
        fn every_event_goes_to_the_segment_of_its_time(
            mut begins in prop::collection::vec(-2_000_000_i64..3_000_000, 1..5), count in 1_u64..2000,
        ) {
            begins.sort_unstable();
            begins.dedup();
            let named = begins.iter().map(|begin| (format!("s{begin}"), *begin));
            let routes = Routes::new(named.collect());
            let parameters = Parameters::parse(&example()).expect("parameters");
            let source = Arc::new(EventSource::new(0, &parameters, 1, None));
            let runs = vec![EventRun { first_seq: 1, first_number: 0, count }];
            let batch = Batch::new(source, 0, runs).expect("events");
            let parts = routes.parts(&batch);
            for event in batch.events() {
                let expected = begins.iter().rev().find(|begin| **begin <= event.ts_us);
                let expected = format!("s{}", expected.unwrap_or(&begins[0]));
                let found: Vec<_> = parts.iter().filter(|part| part.takes(&event)).collect();
                prop_assert_eq!(found.len(), 1);
                prop_assert_eq!(found[0].segment, expected);
            }
        }
    }
}
