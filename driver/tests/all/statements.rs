//! The workload `statements` by the driver as it is used, on each engine: the same scenario makes the same statements
//! and gives the same answers.

use loadstone_driver::{mysql, postgres};
use serde_json::{Value, json};

use crate::host::block_on;
use crate::mariadb_server;
use crate::pg_server::Database;
use crate::scratch::Folder;
use crate::support::{Driver, Finished, of_kind, phase};
use crate::web_plans::users;

const TABLE: [&str; 2] = [
    "CREATE TABLE sales (year integer, region varchar(20), revenue decimal(10, 2))",
    "INSERT INTO sales VALUES (1994, 'ASIA', 10.50), (1995, 'ASIA', 20.25), (1995, 'EUROPE', 30.00), \
     (1995, 'AN O''EAST', NULL)",
];

/// Two people who may see one region each, of whom one has a quote in its name.
const PEOPLE: &str = "username,region,mine\nann,ASIA,region = 'ASIA'\nbo,AN O'EAST,1 = 1\n";

fn people(folder: &Folder) -> Value {
    let path = folder.join("people.csv");
    std::fs::write(&path, PEOPLE).expect("a file");
    json!({"path": path})
}

fn statement(name: &str, sql: &str) -> Value {
    json!({"statement": {"name": name, "sql": sql}})
}

/// Users log in, open, and filter by a year that stays.
fn scenario(folder: &Folder) -> Value {
    let mut chart = statement(
        "chart",
        "SELECT year AS y, revenue FROM sales WHERE ${mine:sql} AND year = ${year} AND region = ${region}",
    );
    chart["statement"]["keep"] = json!({"answers": 20});
    let mut account = statement("account", "SELECT ${username}");
    account["statement"]["rows"] = json!({"min": 1, "max": 1});
    json!({
        "people": people(folder),
        "first": {"open": 1.0},
        "log_in": {"steps": [account]},
        "log_out": {"steps": [statement("leave", "SELECT ${user}")]},
        "transactions": [
            {"name": "open", "next": {"filter": 1.0}, "steps": [statement("all", "SELECT * FROM sales")]},
            {"name": "filter", "next": {"filter": 1.0, "open": 1.0},
             "pick": {"year": {"of": [1994, 1995], "hold": true}}, "steps": [chart]},
        ],
    })
}

fn plan(connection: Value, scenario: Value, folder: &Folder) -> Value {
    let mut work = phase("work", "measure", Value::Null, users(2));
    work["iterations"] = json!(60);
    let leave = json!({"model": "closed", "users": {"from": 2, "to": 0}});
    let leave = phase("leave", "drain", json!(0.2), leave);
    json!({
        "version": 4, "seed": 1, "tick_s": 0.1,
        "workload": {"name": "statements", "parameters": {
            "scenario": scenario, "answers": folder.join("answers.jsonl")}},
        "connection": connection,
        "phases": [work, leave],
    })
}

fn answers(folder: &Folder) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("answers.jsonl")).expect("a file");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Runs the scenario, and looks at all that is told of it.
fn check(connection: Value) {
    let folder = Folder::new("statements");
    let run = Driver::start(&plan(connection, scenario(&folder), &folder)).finish();
    assert_eq!(run.code, Some(0), "{}", run.errors);
    check_figures(&run);
    let kept = answers(&folder);
    assert!(kept.len() >= 20, "{}", kept.len());
    for line in &kept {
        let values = &line["values"];
        let year = values["year"].as_u64().expect("a year");
        let expected = match (line["username"].as_str(), year) {
            (Some("ann"), 1994) => json!([["1994", "10.50"]]),
            (Some("ann"), 1995) => json!([["1995", "20.25"]]),
            (Some("bo"), 1994) => json!([]),
            (Some("bo"), 1995) => json!([["1995", null]]),
            other => panic!("{other:?}"),
        };
        let answer = &line["answer"];
        assert_eq!(answer["columns"], json!(["y", "revenue"]));
        // SQLite does not keep how many digits a number was written with.
        let rows = answer["rows"].to_string().replace("\"10.5\"", "\"10.50\"");
        assert_eq!(rows, expected.to_string(), "{line}");
        let names: Vec<&String> = values.as_object().expect("values").keys().collect();
        assert_eq!(names, ["mine", "region", "year"]);
    }
}

fn check_figures(run: &Finished) {
    let end = run.frames.last().expect("an end");
    let of = |name: &str| &end["operations"][name];
    let count = |name: &str| of(name)["count"].as_u64().expect("a count");
    for name in ["log-in", "open", "filter", "log-out"] {
        assert_eq!(of(name)["errors"], json!({}), "{end}");
    }
    assert_eq!((count("log-in"), count("log-out")), (2, 2));
    // Those of the drain, too.
    assert!(count("open") + count("filter") >= 58, "{end}");
    assert_eq!(
        of("filter")["requests"]["chart"]["count"],
        of("filter")["count"]
    );
    let rows = end["facts"]["rows"].as_f64().expect("a count");
    assert!(rows >= (4 * count("open")) as f64, "{end}");
    let working = of_kind(&run.frames, "tick").map(|tick| &tick["gauges"]["users_working"]);
    let most = working.filter_map(Value::as_f64).fold(0.0, f64::max);
    assert!(most <= 2.0);
}

async fn make_on_postgresql(database: &Database) {
    let mut connection: postgres::Connection = database.connect().await;
    for sql in TABLE {
        connection.run(sql).await.expect(sql);
    }
}

#[test]
fn users_ask_postgresql() {
    let Some(database) = Database::new() else {
        return;
    };
    block_on(make_on_postgresql(&database));
    check(database.plan());
}

#[test]
fn users_ask_mariadb() {
    let Some(server) = mariadb_server::Server::shared() else {
        return;
    };
    block_on(async {
        let mut connection: mysql::Connection = server.connect().await;
        connection
            .run("CREATE DATABASE asked_by_users")
            .await
            .expect("a database");
        connection
            .run("USE asked_by_users")
            .await
            .expect("the database");
        for sql in TABLE {
            connection.run(sql).await.expect(sql);
        }
    });
    check(
        json!({"protocol": "mysql", "host": "127.0.0.1", "port": server.port, "user": "tester",
                 "database": "asked_by_users"}),
    );
}

/// A file of SQLite with the table.
fn sqlite(folder: &Folder) -> Value {
    let path = folder.join("sales.db");
    let connection = rusqlite::Connection::open(&path).expect("a file");
    for sql in TABLE {
        connection.execute_batch(sql).expect(sql);
    }
    json!({"protocol": "sqlite", "database": path})
}

#[test]
fn users_ask_sqlite() {
    let folder = Folder::new("statements-file");
    check(sqlite(&folder));
}

/// One user makes statements, of which each is a transaction.
fn run_on_sqlite(statements: &[Value]) -> Finished {
    let folder = Folder::new("statements-errors");
    let transactions: Vec<Value> = statements
        .iter()
        .map(|statement| json!({"name": statement["statement"]["name"], "steps": [statement]}))
        .collect();
    let scenario = json!({"order": "in-turn", "transactions": transactions});
    let mut plan = plan(sqlite(&folder), scenario, &folder);
    let mut work = phase("work", "measure", Value::Null, users(1));
    work["iterations"] = json!(statements.len());
    plan["phases"] = json!([work]);
    Driver::start(&plan).finish()
}

#[test]
fn what_is_wrong_with_an_answer_is_counted_by_its_class() {
    let mut few = statement("few", "SELECT * FROM sales WHERE year = 1995");
    few["statement"]["rows"] = json!({"min": 4});
    let mut many = statement("many", "SELECT * FROM sales");
    many["statement"]["rows"] = json!({"max": 3});
    let broken = statement("broken", "SELECT nothing FROM nowhere");
    let run = run_on_sqlite(&[few, broken, many, statement("fine", "SELECT 1")]);
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let end = &run.frames.last().expect("an end")["operations"];
    for (name, errors) in [
        ("few", json!({"rows": 1})),
        ("many", json!({"rows": 1})),
        ("broken", json!({"sqlite_error": 1})),
        ("fine", json!({})),
    ] {
        assert_eq!(end[name]["errors"], errors, "{name}");
    }
    let told = of_kind(&run.frames, "event").find(|event| event["class"] == "rows");
    let said = &told.expect("an event")["detail"];
    assert_eq!(said, "few: 3 rows came where 4 or more are expected");
}

#[test]
fn a_plan_that_makes_no_sense_is_refused_by_its_field() {
    let refused = |statement: Value| {
        let run = run_on_sqlite(&[statement]);
        assert_eq!(run.code, Some(2), "{}", run.errors);
        assert!(run.frames.is_empty() && run.errors.lines().count() == 1);
        run.errors
    };
    let mut limits = statement("s", "SELECT 1");
    limits["statement"]["rows"] = json!({"min": 2, "max": 1});
    let field = "workload.parameters.scenario.transactions[0]";
    assert!(refused(limits).contains(&format!("{field}.steps[0].rows.min: 2 is more than max, 1")));
    let unknown = refused(statement("s", "SELECT ${dance}"));
    assert!(unknown.contains(&format!("{field}.steps[0].sql: `${{dance}}` is not known")));
    let nameless = refused(statement("", "SELECT 1"));
    assert!(nameless.contains(&format!("{field}.name: is empty")));
}
