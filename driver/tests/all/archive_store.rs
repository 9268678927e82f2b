//! An archive on each engine, short runs of it, and what holds after each of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::host::block_on;
use crate::scratch::Folder;
use crate::support::{Finished, of_kind};
use crate::{mariadb_server, pg_server};
use serde_json::{Value, json};

pub type Table = Vec<Vec<Option<String>>>;

pub const STATIONS: u32 = 3;
pub const DURATION_S: f64 = 2.0;

/// An engine with an empty archive.
pub enum Store {
    Postgres(pg_server::Database),
    MariaDb(Arc<mariadb_server::Server>, String),
    Sqlite(Folder),
}

impl Store {
    pub fn postgres() -> Option<Self> {
        Some(Self::postgres_in(pg_server::Database::new()?))
    }

    /// On a server that no other test uses.
    pub fn postgres_alone() -> Option<Self> {
        Some(Self::postgres_in(pg_server::Database::alone()?))
    }

    fn postgres_in(database: pg_server::Database) -> Self {
        let store = Self::Postgres(database);
        store.make_tables("timestamp(6)");
        store
    }

    pub fn mariadb() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("archive_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let server = mariadb_server::Server::shared()?;
        block_on(async {
            let mut connection = connect_mariadb(&server, "").await;
            let made = connection.run(&format!("CREATE DATABASE {name}")).await;
            made.expect("a database");
        });
        let store = Self::MariaDb(server, name);
        store.make_tables("datetime(6)");
        Some(store)
    }

    pub fn sqlite() -> Self {
        let store = Self::Sqlite(Folder::new("archive"));
        store.ask("PRAGMA journal_mode = wal");
        store.make_tables("integer");
        store
    }

    pub fn make_tables(&self, instant: &str) {
        for sql in [
            "CREATE TABLE archive_station (station integer PRIMARY KEY, stored bigint NOT NULL)",
            "CREATE TABLE archive_segment (number integer PRIMARY KEY, name varchar(40), \
             begin_us bigint NOT NULL, state varchar(12) NOT NULL, created_us bigint, \
             current_us bigint, closed_us bigint, create_s double precision, \
             switch_s double precision, close_s double precision)",
            &format!(
                "CREATE TABLE event_history_00000001 (element_id integer NOT NULL, \
                 ts {instant} NOT NULL, value double precision, text varchar(80), \
                 status integer NOT NULL, station integer NOT NULL, seq bigint NOT NULL)"
            ),
            "CREATE INDEX event_history_00000001_element_ts \
             ON event_history_00000001 (element_id, ts)",
            "CREATE VIEW event_history AS SELECT element_id, ts, value, text, status, station, seq \
             FROM event_history_00000001",
            "INSERT INTO archive_segment (number, name, begin_us, state) \
             VALUES (1, 'event_history_00000001', 0, 'current')",
        ] {
            self.ask(sql);
        }
    }

    pub fn connection(&self) -> Value {
        match self {
            Self::Postgres(database) => database.plan(),
            Self::MariaDb(server, name) => json!({"protocol": "mysql", "host": "127.0.0.1",
                "port": server.port, "user": "tester", "database": name}),
            Self::Sqlite(folder) => json!({"protocol": "sqlite", "database": sqlite_file(folder),
                "settings": {"synchronous": "normal", "busy_timeout": "60000"}}),
        }
    }

    pub fn ask(&self, sql: &str) -> Table {
        match self {
            Self::Postgres(database) => block_on(async {
                let mut connection = database.connect().await;
                connection.ask(sql).await.expect(sql)
            }),
            Self::MariaDb(server, name) => block_on(async {
                let mut connection = connect_mariadb(server, name).await;
                connection.ask(sql).await.expect(sql)
            }),
            Self::Sqlite(folder) => ask_sqlite(folder, sql),
        }
    }

    pub fn number(&self, sql: &str) -> i64 {
        let table = self.ask(sql);
        let text = table[0][0].as_deref().unwrap_or("0");
        text.parse().unwrap_or_else(|_| panic!("{sql}: {text}"))
    }

    /// A source time as microseconds since 1970.
    pub fn unix_us(&self) -> &'static str {
        match self {
            Self::Postgres(_) => "CAST(extract(epoch FROM ts) * 1000000 AS bigint)",
            Self::MariaDb(..) => "timestampdiff(MICROSECOND, TIMESTAMP '1970-01-01 00:00:00', ts)",
            Self::Sqlite(_) => "ts",
        }
    }
}

pub async fn connect_mariadb(
    server: &mariadb_server::Server,
    name: &str,
) -> loadstone_driver::mysql::Connection {
    let config = server.database(name);
    let connection = loadstone_driver::mysql::Connection::connect(&config).await;
    connection.expect("a connection")
}

fn sqlite_file(folder: &Folder) -> PathBuf {
    folder.join("archive.db")
}

fn ask_sqlite(folder: &Folder, sql: &str) -> Table {
    let connection = rusqlite::Connection::open(sqlite_file(folder)).expect("the file");
    let mut statement = connection.prepare(sql).expect(sql);
    let count = statement.column_count();
    let mut rows = statement.query(()).expect(sql);
    let mut table = Vec::new();
    while let Some(row) = rows.next().expect(sql) {
        let text = |at| match row.get::<_, rusqlite::types::Value>(at) {
            Ok(rusqlite::types::Value::Integer(number)) => Some(number.to_string()),
            Ok(rusqlite::types::Value::Text(text)) => Some(text),
            _ => None,
        };
        table.push((0..count).map(text).collect());
    }
    table
}

/// A short run with many switches: a segment is full after half a second.
pub fn plan(store: &Store, change: Value) -> Value {
    let mut parameters = json!({
        "stations": STATIONS, "events_per_s": 1000.0, "elements": 50, "path": "direct",
        "segment_events": 1500, "preallocate": true, "index": "live", "compress": false, "move": false,
        "buffer_events": 20000, "batch_events": 400, "interval_s": 0.1, "threshold_ms": 1000.0,
        "late_share": 0.02, "late_by_s": 0.3, "disorder_share": 0.01, "operators": 1, "events": null});
    for (name, value) in change.as_object().expect("an object") {
        parameters[name] = value.clone();
    }
    let every = |every_s: f64| json!({"every_s": every_s});
    let users = 2 + 1 + STATIONS;
    json!({"version": 4, "seed": 5, "tick_s": 0.5,
        "workload": {"name": "archive", "parameters": parameters},
        "connection": store.connection(),
        "pacing": {"default": every(0.1), "operations": {"insert": every(0.1),
            "switch": every(0.02), "preallocate": every(0.02), "close": every(0.05)}},
        "phases": [{"name": "measure", "kind": "measure", "duration_s": DURATION_S,
                    "load": {"model": "closed", "users": {"from": users, "to": users}}}]})
}

pub fn facts(run: &Finished) -> BTreeMap<String, i64> {
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let end = run.frames.last().expect("an end");
    let facts = end["facts"].as_object().expect("facts");
    let whole = |(name, fact): (&String, &Value)| (name.clone(), fact.as_f64().unwrap() as i64);
    facts.iter().map(whole).collect()
}

/// Each station's events are there once, in the segment of their time, and as the driver counted them.
#[track_caller]
pub fn check(store: &Store, run: &Finished) {
    let facts = facts(run);
    let (offered, stored) = (facts["events_offered"], facts["events_stored"]);
    let rows = store.number("SELECT count(*) FROM event_history");
    assert_eq!(offered, facts["events_accepted"] + facts["events_lost"]);
    let waiting = facts["events_buffered"] + facts["events_in_doubt"];
    assert_eq!(facts["events_accepted"], stored + waiting);
    assert!(
        (stored..=stored + facts["events_in_doubt"]).contains(&rows),
        "{facts:?} {rows}"
    );
    let ideal = DURATION_S * 1000.0 * f64::from(STATIONS);
    assert!(
        offered as f64 > 0.8 * ideal && (offered as f64) < 1.5 * ideal,
        "{offered}"
    );

    let wrong = store.ask(
        "SELECT e.station, n, lo, hi, total, stored FROM (SELECT station, count(*) AS n, \
         min(seq) AS lo, max(seq) AS hi, sum(seq) AS total FROM event_history GROUP BY station) e \
         JOIN archive_station m ON m.station = e.station \
         WHERE lo <> 1 OR hi <> n OR 2 * total <> n * (n + 1) OR stored <> hi",
    );
    assert_eq!(wrong, Table::new(), "stations with gaps or doubles");
    let doubles = store.number(
        "SELECT count(*) FROM (SELECT station, seq FROM event_history \
         GROUP BY station, seq HAVING count(*) > 1) d",
    );
    assert_eq!(doubles, 0);
    check_places(store);
}

#[track_caller]
pub fn check_places(store: &Store) {
    let segments = store.ask("SELECT name, begin_us, state FROM archive_segment ORDER BY number");
    let column = |row: &Vec<Option<String>>, at: usize| row[at].clone().expect("a value");
    let begins: Vec<String> = segments.iter().map(|row| column(row, 1)).collect();
    let currents = segments.iter().filter(|row| column(row, 2) == "current");
    assert_eq!(currents.count(), 1, "{segments:?}");
    let ts = store.unix_us();
    for (at, row) in segments.iter().enumerate() {
        let (name, begin) = (column(row, 0), &begins[at]);
        if let Some(end) = begins.get(at + 1) {
            let beyond = format!("SELECT count(*) FROM {name} WHERE {ts} >= {end}");
            assert_eq!(store.number(&beyond), 0, "in {name} of {segments:?}");
        }
        // What comes after the segment of its time was closed goes into the next, and so does all that
        // its station stores later.
        let mut early = format!("SELECT count(*) FROM {name} s WHERE {ts} < {begin}");
        if let Some(before) = at.checked_sub(1).map(|before| &segments[before])
            && column(before, 2) == "closed"
        {
            let before = column(before, 0);
            early.push_str(&format!(
                " AND seq < (SELECT max(seq) FROM {before} b WHERE b.station = s.station)"
            ));
        }
        assert_eq!(store.number(&early), 0, "in {name} of {segments:?}");
    }
}

pub fn told<'a>(run: &'a Finished, name: &'a str) -> Vec<&'a Value> {
    of_kind(&run.frames, "event")
        .filter(|event| event["kind"] == "workload" && event["name"] == name)
        .map(|event| &event["data"])
        .collect()
}

#[track_caller]
pub fn check_switches(store: &Store, run: &Finished, preallocated: u8) {
    let switches = told(run, "segment-switch");
    assert!(switches.len() >= 2, "{} switches", switches.len());
    // A machine that stands still for a moment can make the keeper too late for a segment: it is then made at
    // the switch, which says so and takes the longer.
    let count = |kind: u8| {
        switches
            .iter()
            .filter(|data| data["preallocated"] == kind)
            .count()
    };
    assert!(count(preallocated) > 0, "{switches:?}");
    assert!(preallocated == 1 || count(1) == 0, "{switches:?}");
    assert!(
        switches
            .iter()
            .all(|data| (data["preallocated"] == 0) == (data["create_s"].as_f64() > Some(0.0))),
        "{switches:?}"
    );
    assert!(
        switches
            .iter()
            .all(|data| data["took_s"].as_f64() > Some(0.0))
    );
    assert_eq!(switches[0]["number"], 2);
    assert!(!told(run, "segment-create").is_empty() && !told(run, "segment-close").is_empty());
    let closed = store.number("SELECT count(*) FROM archive_segment WHERE state = 'closed'");
    assert_eq!(closed, told(run, "segment-close").len() as i64);
    let end = run.frames.last().expect("an end");
    let errors: Vec<&Value> = end["operations"]
        .as_object()
        .expect("operations")
        .values()
        .map(|total| &total["errors"])
        .filter(|errors| **errors != json!({}))
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert!(end["operations"]["visible"]["count"].as_u64() > Some(0));
    let counted: u64 = of_kind(&run.frames, "tick")
        .filter_map(|tick| tick["counters"]["events_stored"].as_u64())
        .sum();
    assert_eq!(counted as i64, facts(run)["events_stored"]);
}
