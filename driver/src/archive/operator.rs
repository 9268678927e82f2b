//! An operator: asks what operators of a control room ask.

use super::engine::{Engine, Link};
use super::parameters::{Kind, Parameters};
use super::session::Common;
use crate::random::{Random, Weights};
use crate::session::{Failure, Outcome};
use crate::timer::Timer;

/// The questions and how often each is asked, of a hundred.
const QUESTIONS: [Kind; 3] = [Kind::ElementWindow, Kind::GroupLast, Kind::Minute];
const WEIGHTS: [f64; 3] = [60.0, 30.0, 10.0];
/// Elements of a group.
const GROUP: u32 = 20;
const MINUTE_US: i64 = 60_000_000;
const WINDOW_US: i64 = 5 * MINUTE_US;

/// What an operator keeps.
#[derive(Debug)]
pub struct Operator {
    random: Random,
    weights: Weights,
    question: Kind,
    station: u32,
    element: u32,
}

impl Operator {
    /// Operator of user number `user`.
    pub fn new(user: u32, seed: u64) -> Self {
        Self {
            random: Random::new(seed, u64::from(user)),
            weights: Weights::new(&WEIGHTS).expect("weights above 0"),
            question: Kind::ElementWindow,
            station: 0,
            element: 0,
        }
    }

    /// Draws a question, a station and an element.
    pub fn choose(&mut self, parameters: &Parameters) -> Kind {
        self.question = QUESTIONS[self.weights.draw(&mut self.random)];
        self.station = below(parameters.stations, &mut self.random);
        self.element = below(parameters.elements, &mut self.random);
        self.question
    }

    /// Asks it.
    ///
    /// # Errors
    /// The engine's failure.
    pub async fn ask<E: Engine>(
        &mut self,
        common: &Common<E>,
        link: &mut E::Link,
        timer: &Timer,
    ) -> Result<Outcome, Failure> {
        let now_us = common.unix_us(timer.now_ns());
        let sql = self.sql(&common.parameters, now_us, |us| common.engine.instant(us));
        link.run(&sql).await?;
        Ok(Outcome::Done)
    }

    fn sql(&self, parameters: &Parameters, now_us: i64, instant: impl Fn(i64) -> String) -> String {
        let first = self.station * parameters.elements;
        let element = first + self.element;
        let span = |us| {
            format!(
                "ts >= {} AND ts < {}",
                instant(now_us - us),
                instant(now_us)
            )
        };
        match self.question {
            Kind::GroupLast => {
                let last = (element + GROUP - 1).min(first + parameters.elements - 1);
                let wanted = format!("element_id BETWEEN {element} AND {last}");
                let span = span(WINDOW_US);
                format!(
                    "SELECT h.element_id, h.ts, h.value, h.status FROM event_history h JOIN \
                     (SELECT element_id, max(ts) AS ts FROM event_history \
                      WHERE {wanted} AND {span} GROUP BY element_id) l \
                     ON h.element_id = l.element_id AND h.ts = l.ts"
                )
            }
            Kind::Minute => {
                let last = first + parameters.elements - 1;
                let span = span(MINUTE_US);
                format!(
                    "SELECT count(*), min(value), max(value) FROM event_history \
                     WHERE element_id BETWEEN {first} AND {last} AND {span}"
                )
            }
            _ => {
                let span = span(WINDOW_US);
                format!(
                    "SELECT ts, value, text, status FROM event_history \
                     WHERE element_id = {element} AND {span} ORDER BY ts"
                )
            }
        }
    }
}

fn below(count: u32, random: &mut Random) -> u32 {
    ((random.unit() * f64::from(count)) as u32).min(count - 1)
}
