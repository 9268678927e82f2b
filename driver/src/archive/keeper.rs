//! The keeper: it makes the next segment and switches to it.

use serde_json::{Map, Value, json};

use super::engine::{Engine, Link, damaged, number};
use super::parameters::{Indexing, Kind};
use super::segments::{NEVER_US, segment_name};
use super::session::{Common, run_all};
use crate::clock::to_s;
use crate::session::{Failure, Outcome, WorkloadEvent};
use crate::timer::Timer;

/// The next segment is made when the current one has this share of its events.
const EARLY: f64 = 0.8;
/// A segment begins so many intervals of the stations after it became the current one.
const LEAD_INTERVALS: f64 = 2.0;

/// What the keeper remembers.
#[derive(Debug, Default)]
pub struct Keeper {
    /// The current segment, and how much was stored when it became that.
    current: Option<(u32, u64)>,
    /// Whether the next segment is to be made.
    wants_next: bool,
}

/// The catalogue, as far as the keeper needs it.
#[derive(Debug, Clone, Copy)]
struct Catalogue {
    current: u32,
    highest: u32,
    next: Option<u32>,
}

impl Keeper {
    /// What is to be done next.
    pub fn choose(&mut self) -> Kind {
        if std::mem::take(&mut self.wants_next) {
            Kind::Preallocate
        } else {
            Kind::Switch
        }
    }

    /// Makes the next segment unless there is one.
    ///
    /// # Errors
    /// The engine's failure.
    pub async fn preallocate<E: Engine>(
        &mut self,
        common: &Common<E>,
        link: &mut E::Link,
        timer: &Timer,
        workload_events: &mut Vec<WorkloadEvent>,
    ) -> Result<Outcome, Failure> {
        let catalogue = look(link).await?;
        if catalogue.next.is_some() {
            return Ok(Outcome::Idle);
        }
        create(common, link, timer, catalogue.highest + 1, workload_events).await?;
        Ok(Outcome::Done)
    }

    /// Switches to the next segment when the current one is full.
    ///
    /// # Errors
    /// The engine's failure.
    pub async fn switch<E: Engine>(
        &mut self,
        common: &Common<E>,
        link: &mut E::Link,
        timer: &Timer,
        workload_events: &mut Vec<WorkloadEvent>,
    ) -> Result<Outcome, Failure> {
        let table = link.ask("SELECT sum(stored) FROM archive_station").await?;
        let stored = number(&table).unwrap_or(0).max(0) as u64;
        let Some((known, before)) = self.current else {
            self.current = Some((look(link).await?.current, stored));
            return Ok(Outcome::Idle);
        };
        let parameters = &common.parameters;
        let (held, full) = (stored.saturating_sub(before), parameters.segment_events);
        let is_early = parameters.preallocate && held as f64 >= EARLY * full as f64;
        if held < full && !is_early {
            return Ok(Outcome::Idle);
        }
        let catalogue = look(link).await?;
        if catalogue.current != known {
            // A switch whose commit was not answered has taken place.
            self.current = Some((catalogue.current, stored));
            return Ok(Outcome::Idle);
        }
        if held < full {
            self.wants_next = catalogue.next.is_none();
            return Ok(Outcome::Idle);
        }
        let (number, create_s) = match catalogue.next {
            Some(number) => (number, 0.0),
            None => {
                let number = catalogue.highest + 1;
                (
                    number,
                    create(common, link, timer, number, workload_events).await?,
                )
            }
        };
        let preallocated = catalogue.next.is_some();
        let made = (preallocated, create_s);
        switch_to(common, link, timer, number, made, workload_events).await?;
        self.current = Some((number, stored));
        Ok(Outcome::Done)
    }
}

async fn look<L: Link>(link: &mut L) -> Result<Catalogue, Failure> {
    let table = link
        .ask("SELECT number, state FROM archive_segment ORDER BY number")
        .await?;
    let (mut current, mut highest, mut next) = (None, 0, None);
    for row in &table {
        let [Some(number), Some(state)] = row.as_slice() else {
            return Err(damaged("a segment without a number or a state"));
        };
        highest = number
            .parse()
            .map_err(|_| damaged("the number of a segment is none"))?;
        match state.as_str() {
            "current" => current = Some(highest),
            "next" => next = Some(highest),
            _ => {}
        }
    }
    let current = current.ok_or_else(|| damaged("no segment is the current one"))?;
    Ok(Catalogue {
        current,
        highest,
        next,
    })
}

/// Makes segment `number` and adds it to the view; returns how long it took, in seconds.
async fn create<E: Engine>(
    common: &Common<E>,
    link: &mut E::Link,
    timer: &Timer,
    number: u32,
    workload_events: &mut Vec<WorkloadEvent>,
) -> Result<f64, Failure> {
    let (engine, name) = (&common.engine, segment_name(number));
    let begun_ns = timer.now_ns();
    let mut statements = vec!["BEGIN".to_owned()];
    let indexed = common.parameters.index == Indexing::Live;
    statements.extend(engine.create_segment(&name, indexed));
    let select = |number| {
        let name = segment_name(number);
        format!("SELECT element_id, ts, value, text, status, station, seq FROM {name}")
    };
    let selects: Vec<String> = (1..=number).map(select).collect();
    statements.extend(engine.replace_view(&selects.join(" UNION ALL ")));
    statements.push("COMMIT".to_owned());
    run_all(link, &statements).await?;
    let create_s = to_s(timer.now_ns() - begun_ns);
    let now_us = common.unix_us(timer.now_ns());
    link.run(&format!(
        "INSERT INTO archive_segment (number, name, begin_us, state, created_us, create_s) \
         VALUES ({number}, '{name}', {NEVER_US}, 'next', {now_us}, {create_s})"
    ))
    .await?;
    workload_events.push(WorkloadEvent {
        name: "segment-create",
        data: data(
            create_s,
            [("number", json!(number)), ("create_s", json!(create_s))],
        ),
    });
    Ok(create_s)
}

/// Lets segment `number` be the current one.
async fn switch_to<E: Engine>(
    common: &Common<E>,
    link: &mut E::Link,
    timer: &Timer,
    number: u32,
    (preallocated, create_s): (bool, f64),
    workload_events: &mut Vec<WorkloadEvent>,
) -> Result<(), Failure> {
    let begun_ns = timer.now_ns();
    run_all(link, &common.engine.begin_switch()).await?;
    // From here on nobody reads the old routes: what becomes due later can begin the new segment.
    let now_us = common.unix_us(timer.now_ns());
    let lead_us = (LEAD_INTERVALS * common.parameters.interval_s * 1e6) as i64;
    let begin_us = now_us + lead_us;
    let statements = [
        "UPDATE archive_segment SET state = 'open' WHERE state = 'current'".to_owned(),
        format!(
            "UPDATE archive_segment SET state = 'current', begin_us = {begin_us}, \
             current_us = {now_us} WHERE number = {number}"
        ),
        "COMMIT".to_owned(),
    ];
    run_all(link, &statements).await?;
    let switch_s = to_s(timer.now_ns() - begun_ns);
    workload_events.push(WorkloadEvent {
        name: "segment-switch",
        data: data(
            switch_s + create_s,
            [
                ("number", json!(number)),
                ("switch_s", json!(switch_s)),
                ("create_s", json!(create_s)),
                ("preallocated", json!(u8::from(preallocated))),
                ("begin_unix_s", json!(begin_us as f64 / 1e6)),
            ],
        ),
    });
    let sql = format!("UPDATE archive_segment SET switch_s = {switch_s} WHERE number = {number}");
    link.run(&sql).await
}

/// What is told of something that took `took_s` seconds up to now.
pub(super) fn data<const N: usize>(
    took_s: f64,
    fields: [(&'static str, Value); N],
) -> Map<String, Value> {
    let took = [("took_s", json!(took_s))];
    let pairs = took.into_iter().chain(fields);
    pairs
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
