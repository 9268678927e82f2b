//! The event archive by the driver as it is used, on real engines: segments are switched under load, and
//! every event is stored exactly once, whatever becomes of the connections.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::host::block_on;
use crate::support::{Driver, Finished, histogram, of_kind};
use crate::{mariadb_server, pg_server};
use serde_json::{Value, json};

type Table = Vec<Vec<Option<String>>>;

const STATIONS: u32 = 3;
const DURATION_S: f64 = 3.0;

/// An engine with an empty archive.
enum Store {
    Postgres(pg_server::Server),
    MariaDb(Arc<mariadb_server::Server>, String),
    Sqlite(PathBuf),
}

impl Store {
    fn postgres() -> Option<Self> {
        let store = Self::Postgres(pg_server::Server::start()?);
        store.make_tables("timestamp(6)");
        Some(store)
    }

    fn mariadb() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("archive_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let server = mariadb_server::Server::start()?;
        block_on(async {
            let mut connection = connect_mariadb(&server, "").await;
            let made = connection.run(&format!("CREATE DATABASE {name}")).await;
            made.expect("a database");
        });
        let store = Self::MariaDb(server, name);
        store.make_tables("datetime(6)");
        Some(store)
    }

    fn sqlite(name: &str) -> Self {
        let name = format!("ls-archive-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a folder");
        let file = folder.join("archive.db");
        rusqlite::Connection::open(&file).expect("a file");
        let store = Self::Sqlite(file);
        store.ask("PRAGMA journal_mode = wal");
        store.make_tables("integer");
        store
    }

    fn make_tables(&self, instant: &str) {
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

    fn connection(&self) -> Value {
        match self {
            Self::Postgres(server) => json!({"protocol": "postgresql", "host": "127.0.0.1",
                "port": server.port, "user": "tester", "database": "postgres"}),
            Self::MariaDb(server, name) => json!({"protocol": "mysql", "host": "127.0.0.1",
                "port": server.port, "user": "tester", "database": name}),
            Self::Sqlite(file) => json!({"protocol": "sqlite", "database": file,
                "settings": {"synchronous": "normal", "busy_timeout": "60000"}}),
        }
    }

    fn ask(&self, sql: &str) -> Table {
        match self {
            Self::Postgres(server) => block_on(async {
                let mut connection = server.connect().await;
                connection.ask(sql).await.expect(sql)
            }),
            Self::MariaDb(server, name) => block_on(async {
                let mut connection = connect_mariadb(server, name).await;
                connection.ask(sql).await.expect(sql)
            }),
            Self::Sqlite(file) => ask_sqlite(file, sql),
        }
    }

    fn number(&self, sql: &str) -> i64 {
        let table = self.ask(sql);
        let text = table[0][0].as_deref().unwrap_or("0");
        text.parse().unwrap_or_else(|_| panic!("{sql}: {text}"))
    }

    /// A source time as microseconds since 1970.
    fn unix_us(&self) -> &'static str {
        match self {
            Self::Postgres(_) => "CAST(extract(epoch FROM ts) * 1000000 AS bigint)",
            Self::MariaDb(..) => "timestampdiff(MICROSECOND, TIMESTAMP '1970-01-01 00:00:00', ts)",
            Self::Sqlite(_) => "ts",
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Self::Sqlite(file) = self {
            let _ = std::fs::remove_dir_all(file.parent().expect("a folder"));
        }
    }
}

async fn connect_mariadb(
    server: &mariadb_server::Server,
    name: &str,
) -> loadstone_driver::mysql::Connection {
    let config = server.database(name);
    let connection = loadstone_driver::mysql::Connection::connect(&config).await;
    connection.expect("a connection")
}

fn ask_sqlite(file: &PathBuf, sql: &str) -> Table {
    let connection = rusqlite::Connection::open(file).expect("the file");
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
fn plan(store: &Store, change: Value) -> Value {
    let mut parameters = json!({
        "stations": STATIONS, "events_per_s": 1000.0, "elements": 50, "path": "direct",
        "segment_events": 1500, "preallocate": true, "index": "live", "compress": false, "move": false,
        "buffer_events": 20000, "batch_events": 400, "interval_s": 0.1, "threshold_ms": 1000.0,
        "late_share": 0.02, "late_by_s": 0.3, "disorder_share": 0.01, "operators": 1, "csv": null});
    for (name, value) in change.as_object().expect("an object") {
        parameters[name] = value.clone();
    }
    let every = |every_s: f64| json!({"every_s": every_s});
    let users = 2 + 1 + STATIONS;
    json!({"version": 3, "seed": 5, "tick_s": 0.5,
        "workload": {"name": "archive", "parameters": parameters},
        "connection": store.connection(),
        "pacing": {"default": every(0.1), "operations": {"insert": every(0.1),
            "switch": every(0.02), "preallocate": every(0.02), "close": every(0.05)}},
        "phases": [{"name": "measure", "kind": "measure", "duration_s": DURATION_S,
                    "load": {"model": "closed", "users": {"from": users, "to": users}}}]})
}

fn facts(run: &Finished) -> BTreeMap<String, i64> {
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let end = run.frames.last().expect("an end");
    let facts = end["facts"].as_object().expect("facts");
    let whole = |(name, fact): (&String, &Value)| (name.clone(), fact.as_f64().unwrap() as i64);
    facts.iter().map(whole).collect()
}

/// Each station's events are there once, in the segment of their time, and as the driver counted them.
#[track_caller]
fn check(store: &Store, run: &Finished) {
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
fn check_places(store: &Store) {
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

fn told<'a>(run: &'a Finished, name: &'a str) -> Vec<&'a Value> {
    of_kind(&run.frames, "event")
        .filter(|event| event["kind"] == "workload" && event["name"] == name)
        .map(|event| &event["data"])
        .collect()
}

#[track_caller]
fn check_switches(store: &Store, run: &Finished, preallocated: u8) {
    let switches = told(run, "segment-switch");
    assert!(switches.len() >= 2, "{} switches", switches.len());
    assert!(
        switches
            .iter()
            .all(|data| data["preallocated"] == preallocated),
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

#[test]
fn segments_are_switched_under_load_on_postgresql() {
    let Some(store) = Store::postgres() else {
        return;
    };
    let run = Driver::start(&plan(&store, json!({}))).finish();
    check(&store, &run);
    check_switches(&store, &run, 1);
}

#[test]
fn segments_are_switched_under_load_on_mariadb() {
    let Some(store) = Store::mariadb() else {
        return;
    };
    let run = Driver::start(&plan(&store, json!({"compress": true}))).finish();
    check(&store, &run);
    check_switches(&store, &run, 1);
}

#[test]
fn segments_are_switched_under_load_on_sqlite() {
    let store = Store::sqlite("switches");
    let change = json!({"preallocate": false, "index": "on-close"});
    let run = Driver::start(&plan(&store, change)).finish();
    check(&store, &run);
    check_switches(&store, &run, 0);
}

#[test]
fn indexes_are_made_at_the_close() {
    let Some(store) = Store::postgres() else {
        return;
    };
    let change = json!({"preallocate": false, "index": "on-close"});
    let run = Driver::start(&plan(&store, change)).finish();
    check(&store, &run);
    check_switches(&store, &run, 0);
    let without = store.number(
        "SELECT count(*) FROM archive_segment WHERE state = 'closed' \
         AND NOT EXISTS (SELECT 1 FROM pg_indexes WHERE indexname = name || '_element_ts')",
    );
    let indexed = store.number("SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'event_%'");
    assert_eq!(
        (without, indexed),
        (0, told(&run, "segment-close").len() as i64)
    );
}

#[test]
fn closed_segments_are_moved_with_their_index() {
    let Some(store) = Store::postgres() else {
        return;
    };
    let Store::Postgres(server) = &store else {
        unreachable!()
    };
    block_on(server.make_tablespace("loadstone_archive"));
    let run = Driver::start(&plan(&store, json!({"move": true}))).finish();
    check(&store, &run);
    check_switches(&store, &run, 1);
    let moved = store.ask(
        "SELECT relname FROM pg_class c JOIN pg_tablespace t ON t.oid = reltablespace \
         WHERE spcname = 'loadstone_archive' AND relnamespace = 'public'::regnamespace ORDER BY 1",
    );
    let closed = store.ask(
        "SELECT unnest(ARRAY[name, name || '_element_ts']) FROM archive_segment \
         WHERE state = 'closed' ORDER BY 1",
    );
    assert_eq!(moved, closed);
    for data in told(&run, "segment-close") {
        let [close_s, move_s] = ["close_s", "move_s"].map(|name| data[name].as_f64().expect(name));
        assert!(0.0 < move_s && move_s < close_s, "{data}");
    }
}

#[test]
fn a_segment_that_cannot_be_moved_stays_open() {
    let Some(store) = Store::postgres() else {
        return;
    };
    let run = Driver::start(&plan(&store, json!({"move": true}))).finish();
    check(&store, &run);
    assert!(told(&run, "segment-close").is_empty());
    let end = run.frames.last().expect("an end");
    let undefined_object = &end["operations"]["close"]["errors"]["42704"];
    assert!(undefined_object.as_u64() > Some(0), "{end}");
}

#[test]
fn a_full_buffer_loses_events_and_counts_them() {
    let Some(store) = Store::postgres() else {
        return;
    };
    let run = Driver::start(&plan(&store, json!({"buffer_events": 60}))).finish();
    check(&store, &run);
    let facts = facts(&run);
    assert!(
        facts["events_lost"] > facts["events_offered"] / 4,
        "{facts:?}"
    );
}

#[test]
fn a_station_that_fell_behind_catches_up() {
    let Some(store) = Store::postgres() else {
        return;
    };
    // 20 of the 100 events of an interval fit in a bulk insert.
    let run = Driver::start(&plan(&store, json!({"batch_events": 20}))).finish();
    check(&store, &run);
    let facts = facts(&run);
    assert_eq!(facts["events_lost"], 0);
    assert!(facts["events_buffered"] < 1000, "{facts:?}");
}

#[test]
fn inserts_that_were_refused_count_from_the_first_attempt() {
    let Some(store) = Store::postgres() else {
        return;
    };
    store.ask(
        "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql \
         AS $$ BEGIN RAISE disk_full; END $$",
    );
    let mut driver = Driver::start(&plan(&store, json!({"threshold_ms": 500.0})));
    driver.wait_for("phase-begin");
    std::thread::sleep(Duration::from_millis(300));
    store.ask("CREATE TRIGGER refuse BEFORE UPDATE ON archive_station EXECUTE FUNCTION refuse()");
    std::thread::sleep(Duration::from_millis(800));
    store.ask("DROP TRIGGER refuse ON archive_station");
    let run = driver.finish();
    check(&store, &run);
    let inserts = || of_kind(&run.frames, "tick").map(|tick| &tick["operations"]["insert"]);
    let refused = inserts().filter_map(|tick| tick["errors"]["53100"].as_u64());
    assert!(refused.sum::<u64>() > STATIONS.into());
    let slow = inserts().map(|tick| histogram(&tick["response"]));
    let slow = slow.map(|times| times.count_between(700_000_000, u64::MAX));
    let slow: u64 = slow.sum();
    assert_eq!(slow, u64::from(STATIONS), "one of each station");
    assert_eq!(facts(&run)["inserts_over_threshold"], i64::from(STATIONS));
}

#[test]
fn connections_that_break_lose_and_double_nothing_on_postgresql() {
    let Some(store) = Store::postgres() else {
        return;
    };
    let mut plan = plan(&store, json!({}));
    let list = std::env::temp_dir().join(format!("ls-archive-acks-{}", std::process::id()));
    plan["acknowledgements"] = json!(list);
    let mut driver = Driver::start(&plan);
    driver.wait_for("phase-begin");
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(70));
        store.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        );
    }
    let run = driver.finish();
    check(&store, &run);
    let lost = of_kind(&run.frames, "event").filter(|event| event["kind"] == "connection-lost");
    assert!(lost.count() > 10);
    check_acknowledged(
        &std::fs::read_to_string(&list).expect("the list"),
        &facts(&run),
    );
    std::fs::remove_file(&list).expect("removed");
}

/// Each station's list goes on where it stopped, up to all that is known to be stored.
#[track_caller]
fn check_acknowledged(list: &str, facts: &BTreeMap<String, i64>) {
    let mut marks = BTreeMap::<i64, i64>::new();
    for line in list.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(line[2], "insert");
        let [station, first, last] = [3, 4, 5].map(|at| line[at].as_i64().expect("a number"));
        let mark = marks.entry(station).or_default();
        assert_eq!(first, *mark + 1);
        *mark = last;
    }
    assert_eq!(marks.values().sum::<i64>(), facts["events_stored"]);
}

#[test]
fn connections_that_break_lose_and_double_nothing_on_mariadb() {
    let Some(store) = Store::mariadb() else {
        return;
    };
    let mut driver = Driver::start(&plan(&store, json!({})));
    driver.wait_for("phase-begin");
    let Store::MariaDb(_, name) = &store else {
        unreachable!()
    };
    for _ in 0..15 {
        std::thread::sleep(Duration::from_millis(90));
        let sql = format!("SELECT id FROM information_schema.processlist WHERE db = '{name}'");
        for row in store.ask(&sql) {
            kill_mariadb(&store, row[0].as_deref().expect("a number"));
        }
    }
    let run = driver.finish();
    check(&store, &run);
    let lost = of_kind(&run.frames, "event").filter(|event| event["kind"] == "connection-lost");
    assert!(lost.count() > 5);
}

/// A connection that has gone by itself needs no killing.
fn kill_mariadb(store: &Store, id: &str) {
    let Store::MariaDb(server, _) = store else {
        unreachable!()
    };
    block_on(async {
        let mut connection = connect_mariadb(server, "").await;
        let _ = connection.run(&format!("KILL {id}")).await;
    });
}

/// A commit that waits for a standby that does not exist is done here, and its answer never comes when its
/// connection is ended.
#[test]
fn a_commit_whose_answer_is_lost_is_not_sent_again() {
    let Some(store) = Store::postgres() else {
        return;
    };
    let mut driver = Driver::start(&plan(&store, json!({"segment_events": 1_000_000})));
    driver.wait_for("phase-begin");
    std::thread::sleep(Duration::from_millis(500));
    store.ask("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    store.ask("SELECT pg_reload_conf()");
    let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let deadline = Instant::now() + Duration::from_secs(20);
    while store.number(&format!("SELECT count(*) {waiting}")) < i64::from(STATIONS) {
        assert!(
            Instant::now() < deadline,
            "stations do not wait for the standby"
        );
    }
    let rows = store.number("SELECT count(*) FROM event_history");
    store.ask("ALTER SYSTEM RESET synchronous_standby_names");
    let ended = store.ask(&format!("SELECT pg_terminate_backend(pid) {waiting}"));
    assert!(ended.len() >= STATIONS as usize);
    store.ask("SELECT pg_reload_conf()");
    assert!(
        store.number("SELECT count(*) FROM event_history") > rows,
        "the commits were done"
    );
    let run = driver.finish();
    check(&store, &run);
}

#[test]
fn two_processes_share_the_stations_of_one_archive() {
    let Some(store) = Store::postgres() else {
        return;
    };
    let split = |index: u32| {
        let mut plan = plan(&store, json!({}));
        plan["process"] = json!({"index": index, "of": 2});
        plan
    };
    let other = Driver::start(&split(1));
    let first = Driver::start(&split(0)).finish();
    let runs = [first, other.finish()];
    check_places(&store);
    let stored: i64 = runs.iter().map(|run| facts(run)["events_stored"]).sum();
    assert_eq!(
        stored,
        store.number("SELECT sum(stored) FROM archive_station")
    );
    assert_eq!(stored, store.number("SELECT count(*) FROM event_history"));
}

#[test]
fn a_file_is_replayed_by_each_station_with_its_own_elements() {
    let store = Store::sqlite("replay");
    let file = std::env::temp_dir().join(format!("ls-archive-csv-{}", std::process::id()));
    let rows = "ts,element,value,status,text\n1000,pump,1.5,192,\n1000.01,valve,,64,open\n";
    std::fs::write(&file, rows).expect("a file");
    let mut plan = plan(&store, json!({"csv": file}));
    let run = Driver::start(&plan).finish();
    let stored = facts(&run)["events_stored"];
    assert!(stored > 300, "100 a second of each station: {stored}");
    let expected = "SELECT count(*) FROM event_history WHERE \
        (element_id = station * 50 AND value = 1.5 AND text IS NULL AND status = 192) OR \
        (element_id = station * 50 + 1 AND value IS NULL AND text = 'open' AND status = 64)";
    assert_eq!(store.number(expected), stored);
    std::fs::write(&file, "ts,element\n").expect("a file");
    plan["workload"]["parameters"]["csv"] = json!(file);
    let run = Driver::start(&plan).finish();
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(run.code, Some(2));
    assert!(run.errors.contains("workload.parameters.csv") && run.errors.contains("line 1"));
}

#[test]
fn what_an_engine_cannot_do_is_refused() {
    let store = Store::sqlite("refused");
    for (change, field) in [
        (json!({"path": "staged"}), "path"),
        (json!({"compress": true}), "compress"),
        (json!({"move": true}), "move"),
    ] {
        let run = Driver::start(&plan(&store, change)).finish();
        assert_eq!(run.code, Some(2));
        assert!(
            run.errors.contains(&format!("workload.parameters.{field}")),
            "{}",
            run.errors
        );
    }
}
