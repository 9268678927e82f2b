//! Order entry in databases of a MariaDB: how they are made, and what must hold in them.

use std::collections::BTreeMap;

use loadstone_driver::mysql::Connection;
use loadstone_driver::oltp::OltpLoad;
use loadstone_driver::oltp::mariadb::MariaDb;
use loadstone_driver::session::Workload;
use serde_json::json;

use crate::conditions::CONDITIONS;
use crate::mariadb_server::Server;
use crate::noted::Asked;
use crate::side_by_side::{drive, loaded, parsed};

/// Tables with the columns that are the same whenever a run is made, where those are not all: times are not.
const TABLES: [(&str, &str); 9] = [
    ("item", ALL),
    ("warehouse", ALL),
    ("district", ALL),
    ("customer", ALL),
    ("stock", ALL),
    ("new_order", ALL),
    (
        "history",
        "h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_amount, h_data",
    ),
    (
        "orders",
        "o_w_id, o_d_id, o_id, o_c_id, coalesce(o_carrier_id, 0), o_ol_cnt, o_all_local",
    ),
    (
        "order_line",
        "ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
        ol_dist_info, ol_delivery_d IS NULL",
    ),
];

const ALL: &str = "";

const TABLES_FILE: &str = "tests/sql/mariadb_tables.sql";
pub const KEYS_AND_PROCEDURES: [&str; 2] = [
    "tests/sql/mariadb_keys.sql",
    "../src/loadstone/workloads/oltp/procedures.mariadb.sql",
];

pub async fn open(server: &Server, database: &str) -> Connection {
    Connection::connect(&server.database(database))
        .await
        .expect(database)
}

/// A sum of hashes of all rows of each table, with their number: of whole rows the server has a quick one.
pub async fn digest(server: &Server, database: &str) -> BTreeMap<&'static str, String> {
    let mut connection = open(server, database).await;
    let mut digests = BTreeMap::new();
    for (table, columns) in TABLES {
        let count = format!("SELECT count(*) FROM {table}");
        let hashes = match columns {
            ALL => format!("CHECKSUM TABLE {table} EXTENDED"),
            _ => format!("SELECT '', sum(crc32(concat_ws('|', {columns}))) FROM {table}"),
        };
        let mut rows = connection.ask(&hashes).await.expect(&hashes);
        let hash = rows[0][1].take().expect(&hashes);
        digests.insert(table, format!("{}:{hash}", connection.text(&count).await));
    }
    digests
}

pub async fn check_conditions(server: &Server, database: &str) {
    let mut connection = open(server, database).await;
    // Without figures of the tables it would join them in quadratic time.
    let tables = TABLES.map(|(table, _)| table).join(", ");
    let analyze = format!("ANALYZE TABLE {tables}");
    connection.run(&analyze).await.expect(&analyze);
    connection
        .run("SET join_cache_level = 8")
        .await
        .expect("set");
    for (name, sql) in CONDITIONS {
        let broken = connection.number(sql).await;
        assert_eq!(broken, 0, "condition {name} in {database}");
    }
}

/// A database with some warehouses; returns the rows that the driver says it wrote.
pub async fn load(
    server: &Server,
    database: &str,
    warehouses: u32,
    sessions: u32,
    seed: u64,
) -> f64 {
    let create = format!("CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
    server.connect().await.run(&create).await.expect(&create);
    server.apply(database, TABLES_FILE).await;
    let parameters = parsed(&json!({"warehouses": warehouses}));
    let engine = MariaDb::new(server.database(database), &parameters);
    let load = OltpLoad::new(engine, warehouses);
    let (counts, workload) = drive(load, seed, sessions, u32::MAX).await;
    loaded(warehouses, &counts, &workload.facts())
}
