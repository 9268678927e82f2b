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

/// Tables with the columns that are the same whenever a run is made: times are not.
pub const TABLES: [(&str, &str); 9] = [
    ("item", "i_id, i_im_id, i_name, i_price, i_data"),
    ("warehouse", "w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd"),
    ("district", "d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, d_next_o_id"),
    ("customer", "c_id, c_d_id, c_w_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip,
        c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt,
        c_delivery_cnt, c_data"),
    ("stock", "s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06,
        s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data"),
    ("new_order", "no_o_id, no_d_id, no_w_id"),
    ("history", "h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_amount, h_data"),
    ("orders", "o_w_id, o_d_id, o_id, o_c_id, coalesce(o_carrier_id, 0), o_ol_cnt, o_all_local"),
    ("order_line", "ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
        ol_dist_info, ol_delivery_d IS NULL"),
];

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

/// A sum of hashes of all rows of each table, with their number.
pub async fn digest(server: &Server, database: &str) -> BTreeMap<&'static str, String> {
    let mut connection = open(server, database).await;
    let mut digests = BTreeMap::new();
    for (table, columns) in TABLES {
        let sql = format!(
            "SELECT concat(count(*), ':', sum(crc32(concat_ws('|', {columns})))) FROM {table}"
        );
        digests.insert(table, connection.text(&sql).await);
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

/// A database with two warehouses; returns the rows that the driver says it wrote.
pub async fn load(server: &Server, database: &str, sessions: u32, seed: u64) -> f64 {
    let create = format!("CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
    server.connect().await.run(&create).await.expect(&create);
    server.apply(database, TABLES_FILE).await;
    let parameters = parsed(&json!({"warehouses": 2}));
    let engine = MariaDb::new(server.database(database), &parameters);
    let (counts, workload) = drive(OltpLoad::new(engine, 2), seed, sessions, u32::MAX).await;
    loaded(&counts, &workload.facts())
}
