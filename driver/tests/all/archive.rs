//! The event archive by the driver as it is used, on real engines: segments are switched under load, and
//! every event is stored exactly once, whatever becomes of the connections.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::archive_store::{
    STATIONS, Store, check, check_places, check_switches, connect_mariadb, facts, plan, told,
};
use crate::host::block_on;
use crate::scratch::Folder;
use crate::support::{Driver, histogram, of_kind};
use serde_json::{Value, json};

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
    let store = Store::sqlite();
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
    // A tablespace is there for all databases of a server.
    let Some(store) = Store::postgres_alone() else {
        return;
    };
    let Store::Postgres(database) = &store else {
        unreachable!()
    };
    block_on(database.make_tablespace("loadstone_archive"));
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
    // 20 of the 100 events of an interval fit in a bulk insert: with one for each interval, a fifth would be stored.
    let run = Driver::start(&plan(&store, json!({"batch_events": 20}))).finish();
    check(&store, &run);
    let facts = facts(&run);
    assert_eq!(facts["events_lost"], 0);
    assert!(
        facts["events_stored"] > facts["events_offered"] / 5,
        "{facts:?}"
    );
}

fn has_inserted(frame: &Value) -> bool {
    frame["operations"]["insert"]["count"].as_u64() > Some(0)
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
    driver.wait_until(has_inserted);
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
    let folder = Folder::new("acknowledged");
    let list = folder.join("list");
    plan["acknowledgements"] = json!(list);
    let mut driver = Driver::start(&plan);
    driver.wait_for("phase-begin");
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(70));
        store.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
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

#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < deadline, "not within 20 s");
    }
}

/// A commit that waits for a standby that does not exist is done here, and its answer never comes when its
/// connection is ended.
#[test]
fn a_commit_whose_answer_is_lost_is_not_sent_again() {
    // Which standbys a server waits for is the same for all its databases.
    let Some(store) = Store::postgres_alone() else {
        return;
    };
    let mut driver = Driver::start(&plan(&store, json!({"segment_events": 1_000_000})));
    driver.wait_until(has_inserted);
    store.ask("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    store.ask("SELECT pg_reload_conf()");
    let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    wait_until(|| store.number(&format!("SELECT count(*) {waiting}")) >= i64::from(STATIONS));
    let rows = store.number("SELECT count(*) FROM event_history");
    store.ask("ALTER SYSTEM RESET synchronous_standby_names");
    let ended = store.ask(&format!("SELECT pg_terminate_backend(pid) {waiting}"));
    assert!(ended.len() >= STATIONS as usize);
    store.ask("SELECT pg_reload_conf()");
    // The commits were done.
    wait_until(|| store.number("SELECT count(*) FROM event_history") > rows);
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
    let store = Store::sqlite();
    let folder = Folder::new("replay");
    let file = folder.join("events.bin");
    // Two rows: pump 1.5, and 10 ms later valve "open", which is no number.
    let mut data = b"LSEVENT1".to_vec();
    data.extend([2_u64, 2].iter().flat_map(|word| word.to_le_bytes()));
    for (at_us, value, text_end, element, status) in [
        (0_i64, 1.5, 0_u64, 0_u32, 192_i32),
        (10_000, f64::NAN, 4, 1, 64),
    ] {
        data.extend([at_us, at_us].iter().flat_map(|us| us.to_le_bytes()));
        data.extend(f64::to_le_bytes(value));
        data.extend(text_end.to_le_bytes());
        data.extend(element.to_le_bytes());
        data.extend(status.to_le_bytes());
    }
    data.extend(b"open");
    std::fs::write(&file, data).expect("a file");
    let mut plan = plan(&store, json!({"events": file}));
    let run = Driver::start(&plan).finish();
    let stored = facts(&run)["events_stored"];
    assert!(stored > 300, "100 a second of each station: {stored}");
    let expected = "SELECT count(*) FROM event_history WHERE \
        (element_id = station * 50 AND value = 1.5 AND text IS NULL AND status = 192) OR \
        (element_id = station * 50 + 1 AND value IS NULL AND text = 'open' AND status = 64)";
    assert_eq!(store.number(expected), stored);
    std::fs::write(&file, "ts,element\n").expect("a file");
    plan["workload"]["parameters"]["events"] = json!(file);
    let run = Driver::start(&plan).finish();
    assert_eq!(run.code, Some(2));
    assert!(
        run.errors
            .contains("workload.parameters.events: cannot replay")
    );
}

#[test]
fn what_an_engine_cannot_do_is_refused() {
    let store = Store::sqlite();
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
