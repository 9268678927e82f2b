//! What a plan says about the event archive, and which user does what.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::parameters::{read, refuse};
use crate::plan::Refusal;
use crate::plan::limits::{
    LEAST_EVENTS_PER_S, LONGEST_INTERVAL_S, LONGEST_LATE_S, LONGEST_THRESHOLD_S, MOST_BATCH_EVENTS,
    MOST_BUFFER_EVENTS, MOST_ELEMENTS, MOST_EVENTS_PER_S, MOST_SEGMENT_EVENTS, MOST_STATIONS,
    SHORTEST_INTERVAL_S,
};

/// Names of the operations, by their position in [`Kind`].
pub const OPERATIONS: [&str; 8] = [
    "insert",
    "switch",
    "preallocate",
    "close",
    "visible",
    "element-window",
    "group-last",
    "minute",
];

/// The operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A station stores what has come.
    Insert,
    /// The next segment becomes the current one.
    Switch,
    /// The next segment is made before it is needed.
    Preallocate,
    /// A segment is closed.
    Close,
    /// An event that was just stored is looked for.
    Visible,
    /// One element over a time.
    ElementWindow,
    /// The last values of neighbouring elements.
    GroupLast,
    /// A minute of a station.
    Minute,
}

/// How events reach their segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// By a bulk copy into it.
    Direct,
    /// By a bulk copy into a temporary table, from which a procedure moves them.
    Staged,
}

/// When a segment gets its index by element and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Indexing {
    /// When it is made.
    Live,
    /// When it is closed.
    OnClose,
}

/// Parameters of the archive.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Stations that operators ask about.
    pub stations: u32,
    /// Events a second of each station; not used with a file.
    pub events_per_s: f64,
    /// Data points of each station.
    pub elements: u32,
    /// How events reach their segment.
    pub path: Path,
    /// Events after which a segment is switched.
    pub segment_events: u64,
    /// Whether the next segment is made before it is needed.
    pub preallocate: bool,
    /// When a segment gets its index.
    pub index: Indexing,
    /// Whether closing a segment compresses it.
    pub compress: bool,
    /// Whether closing a segment moves it to the second place.
    #[serde(rename = "move")]
    pub moves: bool,
    /// Events that a station can hold back.
    pub buffer_events: u64,
    /// Most events of one bulk insert.
    pub batch_events: u64,
    /// Seconds between the bulk inserts of a station.
    pub interval_s: f64,
    /// A bulk insert that takes longer, in milliseconds, counts as buffering.
    pub threshold_ms: f64,
    /// Share of events that come late.
    pub late_share: f64,
    /// Seconds that they are late at most.
    pub late_by_s: f64,
    /// Share of events that come a few events out of order.
    pub disorder_share: f64,
    /// Users who ask.
    pub operators: u32,
    /// File of events to replay, in the form that Loadstone makes.
    #[serde(default)]
    pub events: Option<String>,
}

/// What a user does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Switches segments.
    Keeper,
    /// Closes segments, and measures how soon events are visible.
    Closer,
    /// Asks.
    Operator,
    /// Stores the events of the station of this number.
    Station(u32),
}

impl Parameters {
    /// Reads and checks the parameters of a plan.
    ///
    /// # Errors
    /// A [`Refusal`] that names the wrong field.
    pub fn parse(parameters: &Map<String, Value>) -> Result<Self, Refusal> {
        let given: Self = read(parameters)?;
        let number = |field, value: u64, most: u64| (field, value as f64, 1.0, most as f64);
        for (field, value, least, most) in [
            number("stations", given.stations.into(), MOST_STATIONS.into()),
            (
                "events_per_s",
                given.events_per_s,
                LEAST_EVENTS_PER_S,
                MOST_EVENTS_PER_S,
            ),
            number("elements", given.elements.into(), MOST_ELEMENTS.into()),
            number("segment_events", given.segment_events, MOST_SEGMENT_EVENTS),
            number("buffer_events", given.buffer_events, MOST_BUFFER_EVENTS),
            number("batch_events", given.batch_events, MOST_BATCH_EVENTS),
            (
                "interval_s",
                given.interval_s,
                SHORTEST_INTERVAL_S,
                LONGEST_INTERVAL_S,
            ),
            (
                "threshold_ms",
                given.threshold_ms,
                0.0,
                LONGEST_THRESHOLD_S * 1e3,
            ),
            ("late_share", given.late_share, 0.0, 1.0),
            ("late_by_s", given.late_by_s, 0.0, LONGEST_LATE_S),
            ("disorder_share", given.disorder_share, 0.0, 1.0),
        ] {
            if !(least..=most).contains(&value) {
                let problem = format!("{value} is not between {least} and {most}");
                return Err(refuse(field, problem));
            }
        }
        Ok(given)
    }

    /// What user number `user` does.
    pub fn role(&self, user: u32) -> Role {
        match user {
            0 => Role::Keeper,
            1 => Role::Closer,
            user if user - 2 < self.operators => Role::Operator,
            user => Role::Station(user - 2 - self.operators),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    pub fn example() -> Map<String, Value> {
        let value = json!({
            "stations": 4, "events_per_s": 1000.0, "elements": 100, "path": "direct",
            "segment_events": 1000, "preallocate": true, "index": "live", "compress": false,
            "move": false, "buffer_events": 5000, "batch_events": 2000, "interval_s": 1.0, "threshold_ms": 1000.0,
            "late_share": 0.01, "late_by_s": 5.0, "disorder_share": 0.005, "operators": 2,
            "events": null});
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn users_have_their_roles_in_order() {
        let given = Parameters::parse(&example()).expect("parameters");
        let roles: Vec<Role> = (0..6).map(|user| given.role(user)).collect();
        let (operator, station) = (Role::Operator, Role::Station);
        let expected = [
            Role::Keeper,
            Role::Closer,
            operator,
            operator,
            station(0),
            station(1),
        ];
        assert_eq!(roles, expected);
    }

    #[test]
    fn a_wrong_field_is_named() {
        for (field, value) in [
            ("path", json!("round")),
            ("late_share", json!(2)),
            ("elements", json!(0)),
            ("elements", json!(1_000_000_000)),
            ("dance", json!(1)),
        ] {
            let mut parameters = example();
            parameters.insert(field.into(), value);
            let refusal = Parameters::parse(&parameters).unwrap_err().to_string();
            assert!(refusal.contains(field), "{refusal}");
        }
    }
}
