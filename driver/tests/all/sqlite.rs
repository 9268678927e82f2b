//! Order entry on SQLite, by the driver as it is used: load, run, crash.

use std::path::PathBuf;
use std::sync::LazyLock;

use crate::conditions::CONDITIONS;
use crate::scratch;
use crate::support::{Driver, Finished, of_kind};
use rusqlite::Connection;
use serde_json::{Value, json};

/// A folder with a database.
struct Folder(scratch::Folder);

/// One warehouse and the indexes, for all tests, and the run that loaded it.
static LOADED: LazyLock<(Folder, Finished)> = LazyLock::new(|| {
    let folder = Folder::new();
    let finished = Driver::start(&folder.load_plan()).finish();
    assert_eq!(finished.code, Some(0), "{}", finished.errors);
    let indexes = include_str!("../sql/sqlite_indexes.sql");
    folder.connect().execute_batch(indexes).expect("indexes");
    (folder, finished)
});

impl Folder {
    /// With the tables, and nothing in them.
    fn new() -> Self {
        let folder = Self(scratch::Folder::new("sqlite"));
        let tables = include_str!("../sql/sqlite.sql");
        folder.connect().execute_batch(tables).expect("tables");
        folder
    }

    /// With a copy of what was loaded.
    fn loaded() -> Self {
        let folder = Self(scratch::Folder::new("sqlite"));
        std::fs::copy(LOADED.0.database(), folder.database()).expect("a copy");
        folder
    }

    fn database(&self) -> PathBuf {
        self.0.join("oltp.db")
    }

    fn list(&self) -> PathBuf {
        self.0.join("acknowledged")
    }

    fn connect(&self) -> Connection {
        Connection::open(self.database()).expect("the database")
    }

    fn connection(&self, settings: Value) -> Value {
        json!({"protocol": "sqlite", "database": self.database(), "settings": settings})
    }

    fn load_plan(&self) -> Value {
        json!({"version": 4, "seed": 5,
            "workload": {"name": "oltp", "role": "load", "parameters": {"warehouses": 1}},
            "connection": self.connection(json!({"synchronous": "off", "journal_mode": "wal"})),
            "phases": [{"name": "load", "kind": "prepare",
                        "load": {"model": "closed", "users": {"from": 2, "to": 2}}}]})
    }

    fn run_plan(&self, users: u32, duration_s: f64, settings: Value) -> Value {
        json!({"version": 4, "seed": 5, "tick_s": 0.5,
            "workload": {"name": "oltp", "parameters": {"warehouses": 1}},
            "connection": self.connection(settings),
            "acknowledgements": self.list(),
            "phases": [{"name": "measure", "kind": "measure", "duration_s": duration_s,
                        "load": {"model": "closed", "users": {"from": users, "to": users}}}]})
    }

    fn acknowledged(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.list()).expect("the list");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }
}

fn number(connection: &Connection, sql: &str) -> i64 {
    let value = connection.query_row(sql, (), |row| row.get::<_, Option<i64>>(0));
    value.expect(sql).unwrap_or(0)
}

fn check_conditions(connection: &Connection) {
    for (name, sql) in CONDITIONS {
        assert_eq!(number(connection, sql), 0, "condition {name}");
    }
    let broken = connection.query_row("PRAGMA integrity_check", (), |row| row.get::<_, String>(0));
    assert_eq!(broken.expect("a check"), "ok");
    let mut strays = connection
        .prepare("PRAGMA foreign_key_check")
        .expect("a check");
    assert!(
        !strays.exists(()).expect("an answer"),
        "a row refers to nothing"
    );
}

/// Everything in the list is in the data.
fn check_acknowledged(connection: &Connection, lines: &[Value]) {
    let mut orders = connection
        .prepare("SELECT count(*) FROM orders WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_id = ?3")
        .expect("a statement");
    let mut sent = connection
        .prepare(
            "SELECT count(*) FROM orders WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_id = ?3
                 AND o_carrier_id IS NOT NULL",
        )
        .expect("a statement");
    let key = |values: [&Value; 3]| values.map(|value| value.as_i64().expect("a number"));
    for line in lines {
        match line[2].as_str() {
            Some("new-order") => {
                let key = key([&line[3], &line[4], &line[5]]);
                let found: i64 = orders.query_row(key, |row| row.get(0)).expect("a count");
                assert_eq!(found, 1, "{line}");
            }
            Some("delivery") => {
                for order in line[4].as_array().expect("orders") {
                    let key = key([&line[3], &order[0], &order[1]]);
                    let found: i64 = sent.query_row(key, |row| row.get(0)).expect("a count");
                    assert_eq!(found, 1, "{line}");
                }
            }
            Some("payment") => {}
            _ => panic!("{line} is of no operation that commits"),
        }
    }
    let noted = noted(lines, "payment");
    let paid = number(
        connection,
        "SELECT count(*) FROM history WHERE h_date > '2025-01-01 00:00:00'",
    );
    assert!(
        paid >= noted,
        "{noted} payments were acknowledged, {paid} are there"
    );
}

fn noted(lines: &[Value], operation: &str) -> i64 {
    lines.iter().filter(|line| line[2] == operation).count() as i64
}

fn total(finished: &Finished, operation: &str) -> i64 {
    let end = of_kind(&finished.frames, "end").next().expect("an end");
    end["operations"][operation]["count"]
        .as_i64()
        .expect("a count")
}

#[test]
fn the_load_writes_the_rows_of_the_specification() {
    let (folder, finished) = &*LOADED;
    let connection = folder.connect();
    let mut rows = 0;
    for (table, wanted) in [
        ("warehouse", 1),
        ("district", 10),
        ("customer", 30_000),
        ("history", 30_000),
        ("orders", 30_000),
        ("new_order", 9_000),
        ("item", 100_000),
        ("stock", 100_000),
    ] {
        let found = number(&connection, &format!("SELECT count(*) FROM {table}"));
        assert_eq!(found, wanted, "{table}");
        rows += found;
    }
    rows += number(&connection, "SELECT count(*) FROM order_line");
    let end = of_kind(&finished.frames, "end").next().expect("an end");
    assert_eq!(end["facts"]["rows"].as_f64(), Some(rows as f64));
    let engine = finished.frames[0]["engine"].as_str().expect("a version");
    assert!(engine.starts_with("SQLite 3."), "{engine}");
    assert!(end["engine_cpu_s"].as_f64().expect("seconds") > 0.0);
    let moment = "SELECT count(*) FROM orders WHERE o_entry_d <> '2025-01-01 00:00:00'";
    assert_eq!(number(&connection, moment), 0);
    check_conditions(&connection);
}

#[test]
fn eight_users_leave_consistent_data_and_what_they_were_told() {
    let folder = Folder::loaded();
    let plan = folder.run_plan(
        8,
        1.5,
        json!({"journal_mode": "wal", "synchronous": "normal"}),
    );
    let finished = Driver::start(&plan).finish();
    assert_eq!(finished.code, Some(0), "{}", finished.errors);
    let connection = folder.connect();
    check_conditions(&connection);
    let lines = folder.acknowledged();
    check_acknowledged(&connection, &lines);
    let written = number(&connection, "SELECT count(*) FROM orders WHERE o_id > 3000");
    assert_eq!(noted(&lines, "new-order"), written, "the list is complete");
    let rolled_back: i64 = of_kind(&finished.frames, "tick")
        .map(|tick| {
            tick["operations"]["new-order"]["rolled_back"]
                .as_i64()
                .expect("a count")
        })
        .sum();
    assert_eq!(total(&finished, "new-order"), written + rolled_back);
    for operation in ["payment", "delivery"] {
        let count = total(&finished, operation);
        assert!(
            count > 0 && count == noted(&lines, operation),
            "{operation}"
        );
    }
    for tick in of_kind(&finished.frames, "tick") {
        let of = |field: &str| tick[field].as_f64().expect("seconds");
        let driver_s = of("cpu_user_s") + of("cpu_system_s");
        assert!(
            of("engine_cpu_s") > 0.0 && of("engine_cpu_s") < driver_s + 0.05,
            "{tick}"
        );
    }
}

/// What was acknowledged with a full synchronisation survives the driver's sudden end.
#[test]
fn a_killed_driver_keeps_its_promises() {
    let folder = Folder::loaded();
    let plan = folder.run_plan(
        8,
        60.0,
        json!({"journal_mode": "wal", "synchronous": "full"}),
    );
    let mut driver = Driver::start(&plan);
    let many = |frame: &Value| frame["operations"]["new-order"]["count"].as_u64() > Some(0);
    driver.wait_until(many);
    driver.wait_until(many);
    driver.signal(libc::SIGKILL);
    assert_eq!(driver.wait_exit(), None, "it was killed");
    let lines = folder.acknowledged();
    assert!(noted(&lines, "new-order") > 0);
    let connection = folder.connect();
    check_conditions(&connection);
    check_acknowledged(&connection, &lines);
}

#[test]
fn what_sqlite_has_not_is_refused_in_one_line() {
    let folder = Folder::new();
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut plan = folder.run_plan(1, 1.0, json!({}));
        change(&mut plan);
        let finished = Driver::start(&plan).finish();
        assert_eq!(finished.code, Some(2), "{}", finished.errors);
        assert_eq!(finished.errors.lines().count(), 1, "{}", finished.errors);
        finished.errors
    };
    let setting = |name: &'static str, value: &'static str| {
        refused(&move |plan: &mut Value| plan["connection"]["settings"] = json!({name: value}))
    };
    assert!(setting("page_size", "8192").contains("connection.settings.page_size: 8192 was asked"));
    assert!(setting("journal_modus", "wal").contains("connection.settings.journal_modus"));
    let absent = refused(&|plan| plan["connection"]["database"] = json!("/nowhere/x.db"));
    assert!(absent.contains("connection.database"), "{absent}");
    let style = refused(&|plan| plan["workload"]["parameters"]["style"] = json!("procedures"));
    assert!(style.contains("workload.parameters.style"), "{style}");
    let foreign = folder.0.join("foreign");
    std::fs::write(
        &foreign,
        "not a database, but long enough to look like one".repeat(20),
    )
    .expect("a file");
    let foreign = refused(&|plan| plan["connection"]["database"] = json!(foreign));
    assert!(foreign.contains("connection.database"), "{foreign}");
}

#[test]
fn each_connection_has_a_cache_of_its_own() {
    let connection = Connection::open_in_memory().expect("memory");
    let mut options = connection
        .prepare("PRAGMA compile_options")
        .expect("options");
    let shared = options
        .query_map((), |row| row.get::<_, String>(0))
        .expect("rows");
    let shared = shared
        .flatten()
        .any(|option| option.contains("MEMORY_MANAGEMENT"));
    assert!(!shared, "the flags of .cargo/config.toml were not used");
}

/// A full database is an error of its own, and the connection lives on.
#[test]
fn a_full_database_has_its_own_class() {
    let folder = Folder::loaded();
    let pages = number(&folder.connect(), "PRAGMA page_count");
    let settings = json!({"max_page_count": pages.to_string()});
    let finished = Driver::start(&folder.run_plan(2, 1.0, settings)).finish();
    assert_eq!(finished.code, Some(0), "{}", finished.errors);
    let full: i64 = of_kind(&finished.frames, "end")
        .map(|end| {
            end["operations"]["new-order"]["errors"]["sqlite_full"]
                .as_i64()
                .unwrap_or(0)
        })
        .sum();
    assert!(full > 0, "{:?}", finished.frames.last());
    assert!(total(&finished, "stock-level") > 0, "readers go on");
    check_conditions(&folder.connect());
}
