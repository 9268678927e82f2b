//! Runs that cannot go on: no server, a server that never answers, data that cannot be written.

use std::net::TcpListener;

use crate::host::block_on;
use crate::pg_server::Database;
use crate::support::{Driver, Finished, of_kind, phase, plan};
use serde_json::{Value, json};

fn users(count: u32) -> Value {
    json!({"model": "closed", "users": {"from": count, "to": count}})
}

/// Reads of single rows by three users.
fn reads(connection: Value) -> Value {
    let mut plan = plan(json!([phase("m", "measure", json!(null), users(3))]));
    plan["workload"] = json!({"name": "point-select", "parameters": {"scale": 1}});
    plan["connection"] = connection;
    plan
}

/// The load of order entry by two sessions.
fn load(database: &Database) -> Value {
    let mut plan = plan(json!([phase("load", "prepare", json!(null), users(2))]));
    plan["workload"] = json!({"name": "oltp", "role": "load", "parameters": {"warehouses": 1}});
    plan["connection"] = database.plan();
    plan
}

fn end(run: &Finished) -> &Value {
    run.frames.last().expect("a frame")
}

/// The run failed, and says so in its last frame and in one line for people.
#[track_caller]
fn assert_failed(run: &Finished, named: &str) {
    let end = end(run);
    assert_eq!(
        (&end["frame"], &end["reason"]),
        (&json!("end"), &json!("failed"))
    );
    let error = end["error"].as_str().expect("a text");
    assert!(error.contains(named), "{error}");
    assert_eq!(run.errors, format!("loadstone-driver: {error}\n"));
    assert_eq!(run.code, Some(1));
}

#[test]
fn a_port_that_nobody_listens_on_fails_the_run() {
    let run = Driver::start(&reads(at(1))).finish();
    assert_failed(&run, "cannot connect to 127.0.0.1:1: ");
    assert!(
        end(&run)["error"]
            .as_str()
            .expect("a text")
            .starts_with("cannot open session ")
    );
    let error = end(&run)["error"].as_str().expect("a text");
    assert!(
        error.contains("(0 of ") && error.ends_with(" sessions are open)"),
        "{error}"
    );
    let phases = of_kind(&run.frames, "event").filter(|event| event["kind"] == "phase-begin");
    assert_eq!(phases.count(), 0, "no phase begins without its sessions");
}

/// The connection to a port of this host.
fn at(port: u16) -> Value {
    json!({"protocol": "postgresql", "host": "127.0.0.1", "port": port, "user": "tester",
           "database": "postgres"})
}

/// The kernel accepts the connection; nobody ever reads from it.
fn deaf() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    (listener, port)
}

#[test]
fn a_server_that_does_not_answer_in_time_fails_the_run() {
    let (_listener, port) = deaf();
    let mut plan = reads(at(port));
    plan["connection"]["connect_timeout_s"] = json!(0.1);
    let run = Driver::start(&plan).finish();
    assert_failed(
        &run,
        &format!("cannot connect to 127.0.0.1:{port}: no answer in 0.1 s"),
    );
}

#[test]
fn a_stop_does_not_wait_for_sessions_that_do_not_open() {
    let (listener, port) = deaf();
    let mut driver = Driver::start(&reads(at(port)));
    let _session = listener.accept().expect("a session that is being opened");
    driver.control(&json!({"control": "stop"}));
    let run = driver.finish();
    assert_eq!(
        (&end(&run)["reason"], run.code),
        (&json!("stopped"), Some(0))
    );
}

#[test]
fn operations_that_never_end_are_given_up_and_said_so() {
    let mut plan = plan(json!([phase("m", "measure", json!(null), users(3))]));
    plan["workload"]["parameters"] = json!({"service_time_us": 3_600_000_000_u32});
    plan["finish_s"] = json!(0.2);
    let mut driver = Driver::start(&plan);
    driver.wait_until(|tick| tick["in_flight"] == 3);
    finish_stalled(driver, 3);
}

#[test]
fn a_server_that_stops_answering_does_not_hold_the_end_up() {
    let Some(database) = Database::new() else {
        return;
    };
    let mut plan = reads(database.plan());
    plan["finish_s"] = json!(0.2);
    block_on(async {
        let mut holder = database.connect().await;
        holder
            .run(
                "CREATE TABLE pgbench_accounts (aid integer PRIMARY KEY, abalance integer);
                 INSERT INTO pgbench_accounts SELECT n, 0 FROM generate_series(1, 100000) AS n",
            )
            .await
            .expect("accounts");
        let mut driver = Driver::start(&plan);
        driver.wait_until(|tick| tick["operations"]["point-select"]["count"].as_u64() > Some(0));
        holder
            .run("BEGIN; LOCK TABLE pgbench_accounts IN ACCESS EXCLUSIVE MODE")
            .await
            .expect("a lock");
        driver.wait_until(|tick| tick["in_flight"] == 3 && tick["due"] == 0);
        finish_stalled(driver, 3);
    });
}

#[track_caller]
fn finish_stalled(mut driver: Driver, in_flight: u64) {
    driver.control(&json!({"control": "stop"}));
    let run = driver.finish();
    let told: Vec<&str> = of_kind(&run.frames, "event")
        .filter(|event| event["kind"] == "stalled")
        .filter_map(|event| event["detail"].as_str())
        .collect();
    let expected = format!("{in_flight} operations did not end within 0.2 s and are not counted");
    assert_eq!(told, [expected]);
    assert_eq!(
        (&end(&run)["reason"], run.code),
        (&json!("stopped"), Some(0))
    );
}

#[test]
fn a_table_that_is_missing_fails_the_load() {
    let Some(database) = Database::new() else {
        return;
    };
    let run = Driver::start(&load(&database)).finish();
    assert_failed(&run, "failed in phase load (42P01): relation \"");
    let errors = end(&run)["operations"].as_object().expect("operations");
    assert!(
        errors
            .values()
            .any(|total| total["errors"]["42P01"].as_u64() > Some(0))
    );
}

#[test]
fn one_item_that_fails_fails_the_load() {
    let Some(database) = Database::new() else {
        return;
    };
    block_on(async {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sql/schema.sql");
        let schema = std::fs::read_to_string(path).expect(path);
        let mut connection = database.connect().await;
        connection.run(&schema).await.expect("the schema");
        // The last item of the list: all others are well by then.
        connection
            .run("ALTER TABLE district ADD CHECK (d_id < 10)")
            .await
            .expect("a check");
    });
    let run = Driver::start(&load(&database)).finish();
    assert_failed(&run, "load-warehouse failed in phase load (23514): ");
    let orders = &end(&run)["operations"]["load-order"];
    assert_eq!(orders["count"], 1);
}
