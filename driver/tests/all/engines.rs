//! All engines do the same: one user with the same seed leaves the same rows in each of them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::host::block_on;
use crate::mariadb_server;
use crate::pg_server::Database;
use crate::scratch::Folder;
use crate::side_by_side::drive;
use loadstone_driver::mysql;
use loadstone_driver::oltp::engine::Engine;
use loadstone_driver::oltp::mariadb::MariaDb;
use loadstone_driver::oltp::parameters::RunParameters;
use loadstone_driver::oltp::postgres::Postgres;
use loadstone_driver::oltp::sqlite::Sqlite;
use loadstone_driver::oltp::{OltpLoad, OltpRun};
use loadstone_driver::point_select::{Accounts, PointSelect, Rows};
use loadstone_driver::postgres::Statement;
use loadstone_driver::session::{Outcome, Session, Workload};
use loadstone_driver::sqlite;
use serde_json::{Value, json};

const SEED: u64 = 31;
const OPERATIONS: u32 = 23 * 15;

/// Rows as text, by key. Those that a run touches and some that it does not. `{...}` is an amount of
/// money, as cents, or a rate, as ten-thousandths.
const ROWS: [(&str, &str); 9] = [
    ("warehouse", "SELECT w_id || ' ' || w_name || ' ' || w_zip || ' ' || {100 w_ytd} || ' ' || {10000 w_tax}
        AS line, w_id AS k FROM warehouse"),
    ("district", "SELECT d_id || ' ' || d_name || ' ' || {100 d_ytd} || ' ' || d_next_o_id AS line, d_id AS k
        FROM district"),
    ("customer", "SELECT c_id || ' ' || c_d_id || ' ' || c_last || ' ' || {100 c_balance} || ' ' ||
            {100 c_ytd_payment} || ' ' || c_payment_cnt || ' ' || c_delivery_cnt || ' ' || c_data AS line,
            c_d_id * 10000 + c_id AS k
        FROM customer WHERE c_payment_cnt > 1 OR c_delivery_cnt > 0 OR c_id < 20"),
    ("history", "SELECT h_c_id || ' ' || h_c_d_id || ' ' || h_d_id || ' ' || {100 h_amount} || ' ' || h_data
            AS line, h_d_id * 10000 + h_c_id AS k
        FROM history WHERE h_amount <> {10}"),
    ("orders", "SELECT o_id || ' ' || o_d_id || ' ' || o_c_id || ' ' || coalesce(o_carrier_id, 0) || ' ' ||
            o_ol_cnt || ' ' || o_all_local AS line, o_d_id * 10000 + o_id AS k
        FROM orders WHERE o_id > 2090"),
    ("new_order", "SELECT no_d_id || ' ' || no_o_id AS line, no_d_id * 10000 + no_o_id AS k FROM new_order"),
    ("order_line", "SELECT ol_o_id || ' ' || ol_d_id || ' ' || ol_number || ' ' || ol_i_id || ' ' || ol_quantity
            || ' ' || {100 ol_amount} || ' ' || ol_dist_info || ' ' ||
            CASE WHEN ol_delivery_d IS NULL THEN 'open' ELSE 'sent' END AS line,
            ol_d_id * 10000000 + ol_o_id * 100 + ol_number AS k
        FROM order_line WHERE ol_o_id > 2090"),
    ("stock", "SELECT s_i_id || ' ' || s_quantity || ' ' || {1 s_ytd} || ' ' || s_order_cnt || ' ' ||
            s_remote_cnt || ' ' || s_dist_03 || ' ' || s_data AS line, s_i_id AS k
        FROM stock WHERE s_order_cnt > 0 OR s_i_id < 100"),
    ("item", "SELECT i_id || ' ' || i_name || ' ' || {100 i_price} || ' ' || i_data AS line, i_id AS k
        FROM item WHERE i_id < 500"),
];

/// `sql` with each `{unit column}` replaced.
fn spelled(sql: &str, amount: impl Fn(&str, &str) -> String) -> String {
    let mut parts = sql.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (inside, rest) = part.split_once('}').expect("a closing brace");
        let (unit, column) = inside.split_once(' ').unwrap_or((inside, ""));
        text += &amount(unit, column);
        text += rest;
    }
    text
}

/// Loads `E` and lets one user work; `between` makes what comes after the load.
async fn work<E: Engine>(engines: [E; 2], parameters: &RunParameters, between: impl AsyncFn()) {
    let [loading, running] = engines;
    let load = OltpLoad::new(loading, parameters.warehouses);
    let mut session = load.open(0, SEED).await.expect("a session");
    loop {
        let operation = session.choose();
        match session.execute(operation).await {
            Outcome::Done => {}
            Outcome::Exhausted => break,
            other => panic!("{other:?}"),
        }
    }
    session.close().await;
    between().await;
    let run = OltpRun::new(running, parameters, SEED).expect("a mix");
    let mut session = run.open(0, SEED).await.expect("a session");
    for _ in 0..OPERATIONS {
        let operation = session.choose();
        let outcome = session.execute(operation).await;
        assert!(
            matches!(outcome, Outcome::Done | Outcome::RolledBack),
            "{outcome:?}"
        );
    }
    session.close().await;
}

async fn on_postgresql(
    database: &Database,
    parameters: &RunParameters,
) -> BTreeMap<String, Vec<String>> {
    let mut connection = database.connect().await;
    connection
        .run(include_str!("../sql/schema.sql"))
        .await
        .expect("tables");
    let engine = || Postgres::new(database.config(), parameters);
    work([engine(), engine()], parameters, async || {
        let mut connection = database.connect().await;
        connection
            .run(include_str!("../sql/indexes.sql"))
            .await
            .expect("keys");
    })
    .await;
    let mut rows = BTreeMap::new();
    for (table, sql) in ROWS {
        let sql = spelled(sql, |unit, column| match column {
            "" => unit.into(),
            _ => format!("({column} * {unit})::bigint"),
        });
        let statement = Statement {
            name: "",
            sql: format!("SELECT line FROM ({sql}) AS r ORDER BY k, line COLLATE \"C\"").leak(),
        };
        connection.prepare(&[statement]).await.expect(statement.sql);
        connection.queue(&statement, &[]).expect(statement.sql);
        connection.sync().await.expect(statement.sql);
        let lines = rows.entry(table.to_owned()).or_insert_with(Vec::new);
        connection
            .rows(|mut row| {
                lines.push(row.text()?.to_owned());
                Ok(())
            })
            .await
            .expect(statement.sql);
        connection.ready().await.expect(statement.sql);
    }
    rows
}

async fn on_sqlite(path: &Path, parameters: &RunParameters) -> BTreeMap<String, Vec<String>> {
    let connection = rusqlite::Connection::open(path).expect("a file");
    connection
        .execute_batch(include_str!("../sql/sqlite.sql"))
        .expect("tables");
    let settings = BTreeMap::from([("synchronous".to_owned(), "off".to_owned())]);
    let config = sqlite::Config::new(path, settings);
    let engine = || Sqlite::new(&config, parameters).expect("an engine");
    work([engine(), engine()], parameters, async || {
        connection
            .execute_batch(include_str!("../sql/sqlite_indexes.sql"))
            .expect("indexes");
    })
    .await;
    let mut rows = BTreeMap::new();
    for (table, sql) in ROWS {
        let sql = spelled(sql, |unit, column| match column {
            "" => format!("{unit} * 100"),
            _ => column.into(),
        });
        let sql = format!("SELECT line FROM ({sql}) AS r ORDER BY k, line");
        let mut statement = connection.prepare(&sql).expect(&sql);
        let lines = statement.query_map((), |row| row.get(0)).expect(&sql);
        let lines: Result<Vec<String>, _> = lines.collect();
        rows.insert(table.to_owned(), lines.expect(&sql));
    }
    rows
}

async fn on_mariadb(
    server: &mariadb_server::Server,
    parameters: &RunParameters,
) -> BTreeMap<String, Vec<String>> {
    let create = "CREATE DATABASE engines CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
    server.connect().await.run(create).await.expect(create);
    let config = server.database("engines");
    server
        .apply("engines", "tests/sql/mariadb_tables.sql")
        .await;
    let engine = || MariaDb::new(config.clone(), parameters);
    work([engine(), engine()], parameters, async || {
        server.apply("engines", "tests/sql/mariadb_keys.sql").await;
    })
    .await;
    let config = config.with_opening("SET sql_mode = 'PIPES_AS_CONCAT'".into());
    let mut connection = mysql::Connection::connect(&config).await.expect("engines");
    let mut rows = BTreeMap::new();
    for (table, sql) in ROWS {
        let sql = spelled(sql, |unit, column| match column {
            "" => unit.into(),
            _ => format!("CAST({column} * {unit} AS signed)"),
        });
        let statement = mysql::Statement {
            slot: 0,
            name: table,
            sql: format!("SELECT line FROM ({sql}) AS r ORDER BY k, line").leak(),
        };
        connection.prepare(&[statement]).await.expect(statement.sql);
        connection.queue(&statement, &[]).expect(statement.sql);
        connection.send().await.expect(statement.sql);
        let lines = rows.entry(table.to_owned()).or_insert_with(Vec::new);
        connection
            .rows(|mut row| {
                lines.push(row.text()?.to_owned());
                Ok(())
            })
            .await
            .expect(statement.sql);
    }
    rows
}

/// Rows of `other` are those of SQLite.
#[track_caller]
fn assert_same(
    sqlite: &BTreeMap<String, Vec<String>>,
    other: &BTreeMap<String, Vec<String>>,
    engine: &str,
) {
    for (table, _) in ROWS {
        let (ours, theirs) = (&sqlite[table], &other[table]);
        assert!(!ours.is_empty(), "{table}");
        let difference = ours.iter().zip(theirs).find(|(a, b)| a != b);
        let found = (difference, theirs.len());
        assert_eq!(found, (None, ours.len()), "{table} in {engine}");
    }
}

#[test]
fn all_engines_leave_the_same_rows() {
    let parameters = json!({"warehouses": 1, "mix": {"new-order": 10, "payment": 10, "order-status": 1,
                            "delivery": 2, "stock-level": 1}});
    let parameters =
        RunParameters::parse(parameters.as_object().expect("an object")).expect("parameters");
    let folder = Folder::new("engines");
    let database = Database::new();
    block_on(async {
        let sqlite = on_sqlite(&folder.join("oltp.db"), &parameters).await;
        if let Some(database) = &database {
            let rows = on_postgresql(database, &parameters).await;
            assert_same(&sqlite, &rows, "PostgreSQL");
        }
        if let Some(server) = mariadb_server::Server::shared() {
            assert_same(&sqlite, &on_mariadb(&server, &parameters).await, "MariaDB");
        }
    });
}

/// Reads `reads` keys; then keys of a table that would be larger, of which one is missing soon.
async fn read_by_key(small: impl Workload, larger: impl Workload, reads: u32) {
    let (counts, _) = drive(small, SEED, 3, reads).await;
    assert_eq!(
        counts,
        [("point-select".to_owned(), u64::from(3 * reads))].into()
    );
    let mut session = larger.open(0, SEED).await.expect("a session");
    let mut classes = Vec::new();
    while classes.is_empty() {
        let operation = session.choose();
        match session.execute(operation).await {
            Outcome::Done => {}
            Outcome::Failed(failure) => classes.push(failure.class.0.into_string()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(classes, ["P0002"], "no such row");
}

fn object(parameters: Value) -> serde_json::Map<String, Value> {
    parameters.as_object().expect("an object").clone()
}

#[test]
fn point_selects_read_rows_of_pgbench() {
    let Some(database) = Database::new() else {
        return;
    };
    block_on(async {
        let sql = "CREATE TABLE pgbench_accounts (aid integer PRIMARY KEY, abalance integer);
                   INSERT INTO pgbench_accounts SELECT n, 0 FROM generate_series(1, 100000) AS n";
        database.connect().await.run(sql).await.expect(sql);
        let reads = |scale: i32| {
            let parameters = object(json!({"scale": scale}));
            PointSelect::<Accounts>::new(database.config(), &parameters).expect("parameters")
        };
        read_by_key(reads(1), reads(2), 1000).await;
    });
}

#[test]
fn point_selects_read_rows_of_sysbench() {
    let Some(server) = mariadb_server::Server::shared() else {
        return;
    };
    block_on(async {
        let mut connection = server.connect().await;
        for sql in [
            "CREATE DATABASE sysbench",
            "USE sysbench",
            "CREATE TABLE sbtest1 (id integer PRIMARY KEY, c char(120) NOT NULL)",
            "INSERT INTO sbtest1 SELECT seq, repeat('c', 119) FROM seq_1_to_1000",
        ] {
            connection.run(sql).await.expect(sql);
        }
        let reads = |rows: i32| {
            let parameters = object(json!({"table_size": rows}));
            PointSelect::<Rows>::new(server.database("sysbench"), &parameters).expect("parameters")
        };
        read_by_key(reads(1000), reads(2000), 1000).await;
    });
}
