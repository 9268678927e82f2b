//! What makes sense in a plan, beyond its shape.

use serde::Deserialize;

use super::limits::{
    LONGEST_DELAY_S, LONGEST_S, MOST_PROCESSES, MOST_QUEUED, MOST_RATE_PER_S, MOST_SESSIONS,
    MOST_THREADS, SHORTEST_PHASE_S,
};
use super::{
    Connection, Load, PROTOCOL_VERSION, Phase, Plan, Protocol, Refusal, Retry, Think, Waits,
};

/// A run that was stopped is ended by force soon after (`control.rs`).
const LONGEST_FINISH_S: f64 = 10.0;
/// A grid as fine as this is no pacing any more.
const SHORTEST_PERIOD_S: f64 = 1e-5;
const LONGEST_PAUSE_S: f64 = 3600.0;

/// Looks at the version alone, so that a plan of another version is named as such.
pub(super) fn version(text: &str) -> Result<(), Refusal> {
    #[derive(Deserialize)]
    struct Versioned {
        version: Option<serde_json::Value>,
    }
    let Versioned { version } = serde_json::from_str(text)
        .map_err(|error| Refusal::new(".", format!("not a JSON object: {error}")))?;
    match version {
        Some(value) if value == PROTOCOL_VERSION => Ok(()),
        Some(value) => Err(Refusal::new(
            "version",
            format!("{value} is not known; this driver speaks version {PROTOCOL_VERSION}"),
        )),
        None => Err(Refusal::new(
            "version",
            format!("missing; write {PROTOCOL_VERSION}"),
        )),
    }
}

/// Refuses the first value that makes no sense.
pub(super) fn plan(plan: &Plan) -> Result<(), Refusal> {
    within("threads", plan.threads, 1, MOST_THREADS)?;
    within("process.of", plan.process.of, 1, MOST_PROCESSES)?;
    within("process.index", plan.process.index, 0, plan.process.of - 1)?;
    seconds("tick_s", plan.tick_s, 0.01, 3600.0)?;
    seconds("finish_s", plan.finish_s, 0.0, LONGEST_FINISH_S)?;
    seconds("delay_s", plan.delay_s, 0.0, LONGEST_DELAY_S)?;
    retry(&plan.retry)?;
    connection(&plan.connection)?;
    waits("pacing.default", &plan.pacing.default)?;
    for (name, value) in &plan.pacing.operations {
        waits(&format!("pacing.operations.{name}"), value)?;
    }
    if plan.phases.is_empty() {
        return Err(Refusal::new("phases", "is empty; give at least one phase"));
    }
    for (index, value) in plan.phases.iter().enumerate() {
        phase(&format!("phases[{index}]"), value)?;
    }
    Ok(())
}

fn retry(given: &Retry) -> Result<(), Refusal> {
    within("retry.max_attempts", given.max_attempts, 1, 1_000_000)?;
    seconds(
        "retry.backoff_base_s",
        given.backoff_base_s,
        0.0,
        LONGEST_PAUSE_S,
    )?;
    seconds(
        "retry.backoff_cap_s",
        given.backoff_cap_s,
        0.0,
        LONGEST_PAUSE_S,
    )
}

fn connection(given: &Connection) -> Result<(), Refusal> {
    only_of_http(given)?;
    let (server, database, folder, url) = match given.protocol {
        Protocol::None => return Ok(()),
        Protocol::Postgresql | Protocol::Mysql => (true, true, false, false),
        Protocol::Sqlite => (false, true, false, false),
        Protocol::Files => (false, false, true, false),
        Protocol::Nfs | Protocol::Http => (false, false, false, true),
    };
    if given.protocol != Protocol::Sqlite && !given.settings.is_empty() {
        return Err(Refusal::new(
            "connection.settings",
            "only sqlite takes settings; set those of a server on the server",
        ));
    }
    // MariaDB's Unix socket is a file of any name; that of PostgreSQL has the port in its name.
    let needs_port = server && !(given.protocol == Protocol::Mysql && given.host.starts_with('/'));
    for (name, missing) in [
        ("host", server && given.host.is_empty()),
        ("port", needs_port && given.port == 0),
        ("user", server && given.user.is_empty()),
        ("database", database && given.database.is_empty()),
        ("folder", folder && given.folder.is_empty()),
        ("url", url && given.url.is_empty()),
        ("ca", given.ca.as_deref() == Some("")),
    ] {
        if missing {
            return Err(Refusal::new(
                format!("connection.{name}"),
                "missing; give one",
            ));
        }
    }
    seconds(
        "connection.connect_timeout_s",
        given.connect_timeout_s,
        0.001,
        LONGEST_PAUSE_S,
    )
}

/// Certificates and addresses of its own are for connections of HTTP.
fn only_of_http(given: &Connection) -> Result<(), Refusal> {
    if given.protocol == Protocol::Http {
        return Ok(());
    }
    for (name, is_given) in [
        ("ca", given.ca.is_some()),
        ("sources", !given.sources.is_empty()),
    ] {
        if is_given {
            return Err(Refusal::new(
                format!("connection.{name}"),
                "only http takes it; leave it out",
            ));
        }
    }
    Ok(())
}

fn waits(path: &str, waits: &Waits) -> Result<(), Refusal> {
    seconds(&format!("{path}.keying_s"), waits.keying_s, 0.0, LONGEST_S)?;
    if let Some(every_s) = waits.every_s {
        seconds(
            &format!("{path}.every_s"),
            every_s,
            SHORTEST_PERIOD_S,
            LONGEST_S,
        )?;
        if waits.keying_s > 0.0 || waits.think != Think::None {
            return Err(Refusal::new(
                format!("{path}.every_s"),
                "stands beside keying_s or a think time; give a grid or waits, not both",
            ));
        }
    }
    think(&format!("{path}.think"), waits.think)
}

fn think(path: &str, think: Think) -> Result<(), Refusal> {
    match think {
        Think::None => Ok(()),
        Think::Constant { mean_s } => seconds(&format!("{path}.mean_s"), mean_s, 0.0, LONGEST_S),
        Think::Uniform { from_s, to_s } => {
            seconds(&format!("{path}.from_s"), from_s, 0.0, LONGEST_S)?;
            seconds(&format!("{path}.to_s"), to_s, from_s, LONGEST_S)
        }
        Think::NegativeExponential { mean_s, cap } => {
            seconds(&format!("{path}.mean_s"), mean_s, 0.0, LONGEST_S)?;
            number(&format!("{path}.cap"), cap, "means", 1.0, 1000.0)
        }
    }
}

fn phase(path: &str, phase: &Phase) -> Result<(), Refusal> {
    if phase.name.is_empty() {
        return Err(Refusal::new(
            format!("{path}.name"),
            "is empty; give a name",
        ));
    }
    if let Some(duration_s) = phase.duration_s {
        seconds(
            &format!("{path}.duration_s"),
            duration_s,
            SHORTEST_PHASE_S,
            LONGEST_S,
        )?;
    }
    if phase.iterations == Some(0) {
        return Err(Refusal::new(
            format!("{path}.iterations"),
            "0 is no work; give 1 or more, or null",
        ));
    }
    seconds(&format!("{path}.gather_s"), phase.gather_s, 0.0, LONGEST_S)?;
    match phase.load {
        Load::Closed { users } => {
            within(
                &format!("{path}.load.users.from"),
                users.from,
                0,
                MOST_SESSIONS,
            )?;
            within(&format!("{path}.load.users.to"), users.to, 0, MOST_SESSIONS)?;
            steady(path, "users", phase, users.from == users.to, users.from > 0)
        }
        Load::Open {
            rate_per_s: rate,
            sessions,
            queue,
            ..
        } => {
            let field = format!("{path}.load.rate_per_s");
            number(
                &format!("{field}.from"),
                rate.from,
                "per second",
                0.0,
                MOST_RATE_PER_S,
            )?;
            number(
                &format!("{field}.to"),
                rate.to,
                "per second",
                0.0,
                MOST_RATE_PER_S,
            )?;
            within(&format!("{path}.load.sessions"), sessions, 1, MOST_SESSIONS)?;
            within(&format!("{path}.load.queue"), queue, 0, MOST_QUEUED)?;
            steady(
                path,
                "rate_per_s",
                phase,
                rate.from == rate.to,
                rate.from > 0.0,
            )
        }
    }
}

/// A phase without a duration has no time to change over, and must make progress to end.
fn steady(
    path: &str,
    field: &str,
    phase: &Phase,
    equal: bool,
    positive: bool,
) -> Result<(), Refusal> {
    if phase.duration_s.is_some() || (equal && positive) {
        return Ok(());
    }
    Err(Refusal::new(
        format!("{path}.load.{field}"),
        "a phase without duration_s needs `from` equal to `to` and more than 0",
    ))
}

fn within(field: &str, value: u32, least: u32, most: u32) -> Result<(), Refusal> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Refusal::new(
        field,
        format!("{value} is not between {least} and {most}"),
    ))
}

fn seconds(field: &str, value: f64, least: f64, most: f64) -> Result<(), Refusal> {
    number(field, value, "seconds", least, most)
}

fn number(field: &str, value: f64, unit: &str, least: f64, most: f64) -> Result<(), Refusal> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Refusal::new(
        field,
        format!("{value} is not between {least} and {most} {unit}"),
    ))
}
