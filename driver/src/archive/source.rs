//! The events of a station: when they become due, and what they say.
//!
//! Nothing is drawn and kept. What event number `seq` says is a function of the seed, the station and
//! the number, so that a batch that is sent again is the same to the last bit.

use std::sync::Arc;

use super::parameters::Parameters;
use super::replay::Replay;
use crate::clock::SECOND_NS;

/// Quality codes as OPC has them.
const GOOD: i32 = 192;
const UNCERTAIN: i32 = 64;
const BAD: i32 = 0;
/// Values of elements that have a state instead of a number.
const STATES: [&str; 8] = [
    "OFF", "STANDBY", "RAMPING", "ON", "WARNING", "ERROR", "TRIPPED", "LOCAL",
];
/// The bits of the golden ratio: their multiples spread consecutive numbers over all of 64 bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// The same of 32 bits.
const SPREAD_32: u32 = 0x9E37_79B9;

/// A value change, as a row of the history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event<'a> {
    /// The data point.
    pub element: i32,
    /// EventSource time, in microseconds since 1970.
    pub ts_us: i64,
    /// Its value, if it is a number.
    pub value: Option<f64>,
    /// Its value, if it is a text.
    pub text: Option<&'a str>,
    /// Quality code.
    pub status: i32,
    /// The station.
    pub station: i32,
    /// Its number at the station, from 1.
    pub seq: i64,
}

/// Where the events of one station come from.
#[derive(Debug)]
pub struct EventSource {
    station: u32,
    elements: u32,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Made(EventGenerator),
    Replayed(Arc<Replay>),
}

/// Makes up events.
#[derive(Debug)]
struct EventGenerator {
    /// Of the station.
    seed: u64,
    period_ns: f64,
    late_below: u64,
    disorder_below: u64,
    late_by_us: u64,
}

impl EventSource {
    /// The events of `station`: those of `replay`, or made up from `seed`.
    pub fn new(
        station: u32,
        parameters: &Parameters,
        seed: u64,
        replay: Option<Arc<Replay>>,
    ) -> Self {
        let share = |share: f64| (share * 4_294_967_296.0) as u64;
        let made = || {
            Kind::Made(EventGenerator {
                seed: mix(seed ^ u64::from(station).wrapping_add(1).wrapping_mul(SPREAD)),
                period_ns: SECOND_NS as f64 / parameters.events_per_s,
                late_below: share(parameters.late_share),
                disorder_below: share(parameters.late_share + parameters.disorder_share),
                late_by_us: (parameters.late_by_s * 1e6) as u64,
            })
        };
        Self {
            station,
            elements: parameters.elements,
            kind: replay.map_or_else(made, Kind::Replayed),
        }
    }

    /// Number of the station.
    pub fn station(&self) -> u32 {
        self.station
    }

    /// Events that are due `elapsed_ns` after the station began.
    pub fn due_by(&self, elapsed_ns: u64) -> u64 {
        match &self.kind {
            Kind::Made(maker) => maker.due_by(elapsed_ns),
            Kind::Replayed(replay) => replay.due_by(elapsed_ns / 1000),
        }
    }

    /// Events a second, on average.
    pub fn per_s(&self) -> f64 {
        match &self.kind {
            Kind::Made(maker) => SECOND_NS as f64 / maker.period_ns,
            Kind::Replayed(replay) => replay.per_s(),
        }
    }

    /// A time, in microseconds after the station began, that no source time of event `number` and of
    /// those after it lies before; none when that is not known.
    pub fn least_us(&self, number: u64) -> Option<i64> {
        match &self.kind {
            Kind::Made(maker) => {
                let disorder_us = 5.0 * maker.period_ns / 1000.0 + 1.0;
                let due_us = (maker.due_ns(number) / 1000) as i64;
                Some(due_us - maker.late_by_us as i64 - 1 - disorder_us as i64)
            }
            Kind::Replayed(_) => None,
        }
    }

    /// The event that became due as number `number`, from 0, and was accepted as number `seq`, from 1, of a
    /// station that began at `began_us`, microseconds since 1970.
    #[inline]
    pub fn event(&self, began_us: i64, number: u64, seq: u64) -> Event<'_> {
        let (element, after_us, value, text, status) = match &self.kind {
            Kind::Made(maker) => maker.event(number, seq, self.elements),
            Kind::Replayed(replay) => replay.event(number),
        };
        Event {
            element: (self.station * self.elements + element) as i32,
            ts_us: began_us + after_us,
            value,
            text,
            status,
            station: self.station as i32,
            seq: seq as i64,
        }
    }
}

/// Element of the station, source time after its begin, value, text, status.
pub(super) type Said<'a> = (u32, i64, Option<f64>, Option<&'a str>, i32);

impl EventGenerator {
    /// When event `number` is due after the begin.
    #[inline]
    fn due_ns(&self, number: u64) -> u64 {
        ((number + 1) as f64 * self.period_ns) as u64
    }

    fn due_by(&self, elapsed_ns: u64) -> u64 {
        let mut count = (elapsed_ns as f64 / self.period_ns) as u64;
        while count > 0 && self.due_ns(count - 1) > elapsed_ns {
            count -= 1;
        }
        while self.due_ns(count) <= elapsed_ns {
            count += 1;
        }
        count
    }

    #[inline]
    fn event(&self, number: u64, seq: u64, elements: u32) -> Said<'static> {
        let draw = mix(self.seed.wrapping_add(seq.wrapping_mul(SPREAD)));
        let element = (((draw & 0xffff_ffff) * u64::from(elements)) >> 32) as u32;
        let mut after_us = (self.due_ns(number) / 1000) as i64;
        let place = draw >> 32;
        if place < self.disorder_below {
            after_us -= self.lateness_us(place < self.late_below, draw);
        }
        let noise = (draw >> 13) & 0xfff;
        let (value, text) = self.value(element, noise);
        let status = match (draw >> 25) & 0x3ff {
            0..10 => UNCERTAIN,
            10 => BAD,
            _ => GOOD,
        };
        (element, after_us, value, text, status)
    }

    #[cold]
    fn lateness_us(&self, late: bool, draw: u64) -> i64 {
        let part = mix(draw) >> 32;
        let most_us = if late {
            self.late_by_us as f64
        } else {
            4.0 * self.period_ns / 1000.0
        };
        let least_us = if late { 1.0 } else { self.period_ns / 1000.0 };
        (least_us + part as f64 / 4_294_967_296.0 * most_us) as i64
    }

    /// An element has one type for all time: of 32 there are 19 with measured values, 8 with counts, 4 that
    /// are true or false, and 1 with a state.
    #[inline]
    fn value(&self, element: u32, noise: u64) -> (Option<f64>, Option<&'static str>) {
        let nature = (self.seed as u32 ^ element).wrapping_mul(SPREAD_32);
        let level = f64::from(nature & 0xffff);
        match nature >> 27 {
            0..19 => (Some(level + noise as f64 / 4096.0), None),
            19..27 => (Some(level + noise as f64), None),
            27..31 => (Some((noise & 1) as f64), None),
            _ => (None, Some(STATES[noise as usize % STATES.len()])),
        }
    }
}

/// Spreads a change of any bit over all bits (the finalizer of Stafford, variant 13, as in SplitMix64 by
/// Steele, Lea and Flood, 2014).
#[inline]
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::parameters::tests::example;
    use super::*;

    fn source(station: u32, events_per_s: f64) -> EventSource {
        let mut parameters = Parameters::parse(&example()).expect("parameters");
        parameters.events_per_s = events_per_s;
        EventSource::new(station, &parameters, 7, None)
    }

    #[test]
    fn the_same_number_says_the_same_and_another_says_something_else() {
        let (one, same, other) = (source(3, 1e3), source(3, 1e3), source(4, 1e3));
        let said = |source: &EventSource| -> Vec<_> {
            (0..50)
                .map(|number| source.event(0, number, number + 1).value)
                .collect()
        };
        assert_eq!(said(&one), said(&same));
        assert_ne!(said(&one), said(&other));
    }

    #[test]
    fn shares_are_as_asked_for() {
        let source = source(0, 1e3);
        let (mut late, mut disordered, mut good, mut texts) = (0, 0, 0, 0);
        let count = 200_000;
        for number in 0..count {
            let event = source.event(0, number, number + 1);
            assert!((0..100).contains(&event.element));
            assert_ne!(event.value.is_some(), event.text.is_some());
            let behind_us = (number as i64 + 1) * 1000 - event.ts_us;
            assert!((0..5_000_100).contains(&behind_us), "{behind_us}");
            assert!(event.ts_us >= source.least_us(number).expect("a bound"));
            late += u32::from(behind_us > 6_000);
            disordered += u32::from((1_000..6_000).contains(&behind_us));
            good += u32::from(event.status == GOOD);
            texts += u32::from(event.text.is_some());
        }
        assert!((1_800..2_200).contains(&late), "{late} of 2000");
        assert!((850..1_150).contains(&disordered), "{disordered} of 1000");
        assert!(good > 197_000 && good < 199_000, "{good} are good");
        assert!((3_000..13_000).contains(&texts), "{texts} of 1 in 32");
    }

    proptest! {
        #[test]
        fn an_event_is_counted_from_the_moment_it_is_due(
            events_per_s in 0.1_f64..1e6, elapsed_ns in 0_u64..100_000_000_000_000,
        ) {
            let source = source(0, events_per_s);
            let Kind::Made(maker) = &source.kind else { panic!("made up") };
            let count = source.due_by(elapsed_ns);
            prop_assert!(maker.due_ns(count) > elapsed_ns);
            prop_assert!(count == 0 || maker.due_ns(count - 1) <= elapsed_ns);
        }
    }
}
