//! Order entry in databases of a MariaDB: how they are made, and what must hold in them.

use std::collections::{BTreeMap, BTreeSet};

use loadstone_driver::mysql::{Connection, Error, Row, Statement};
use loadstone_driver::oltp::OltpLoad;
use loadstone_driver::oltp::mariadb::MariaDb;
use loadstone_driver::session::Workload;
use serde_json::{Value, json};

use crate::conditions::CONDITIONS;
use crate::crew::{drive, loaded, parsed};
use crate::mariadb_server::Server;

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

/// The one value of a query.
async fn ask<T>(
    connection: &mut Connection,
    sql: &str,
    read: impl Fn(Row<'_>) -> Result<T, Error>,
) -> T {
    let statement = Statement {
        slot: 0,
        name: "asked",
        sql: String::leak(sql.to_owned()),
    };
    connection.prepare(&[statement]).await.expect(sql);
    connection.queue(&statement, &[]).expect(sql);
    connection.send().await.expect(sql);
    connection.one(read).await.expect(sql)
}

/// Counts are integers, sums are decimals.
pub async fn number(connection: &mut Connection, sql: &str) -> i64 {
    let read = |mut row: Row<'_>| row.clone().int().or_else(|_| row.decimal(0));
    ask(connection, sql, read).await
}

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
            "SELECT concat(count(*), ':', sum(conv(left(md5(concat_ws('|', {columns})), 12), 16, 10))) FROM {table}"
        );
        let digest = ask(&mut connection, &sql, |mut row| {
            row.text().map(str::to_owned)
        });
        digests.insert(table, digest.await);
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
        let broken = number(&mut connection, sql).await;
        assert_eq!(broken, 0, "condition {name} in {database}");
    }
}

/// A database with the tables and nothing in them.
async fn create(server: &Server, database: &str) {
    let sql = format!("CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
    server.connect().await.run(&sql).await.expect(&sql);
    server.apply(database, TABLES_FILE).await;
}

/// A database with two warehouses; returns the rows that the driver says it wrote.
pub async fn load(server: &Server, database: &str, sessions: u32, seed: u64) -> f64 {
    create(server, database).await;
    let parameters = parsed(&json!({"warehouses": 2}));
    let engine = MariaDb::new(server.database(database), &parameters);
    let (counts, workload) = drive(OltpLoad::new(engine, 2), seed, sessions, u32::MAX).await;
    loaded(&counts, &workload.facts())
}

/// A database with the rows of another one, its keys and its procedures.
pub async fn copy(server: &Server, from: &str, to: &str) {
    create(server, to).await;
    let mut admin = server.connect().await;
    let unchecked = "SET foreign_key_checks = 0, unique_checks = 0";
    admin.run(unchecked).await.expect(unchecked);
    for (table, _) in TABLES {
        let sql = format!("INSERT INTO {to}.{table} SELECT * FROM {from}.{table}");
        admin.run(&sql).await.expect(&sql);
    }
    for file in KEYS_AND_PROCEDURES {
        server.apply(to, file).await;
    }
}

/// Orders that were delivered by a run, so far.
pub async fn delivered(connection: &mut Connection) -> i64 {
    let undelivered = "(SELECT count(*) FROM new_order)";
    let sql = format!("SELECT (SELECT count(*) FROM orders) - {undelivered} - 2 * 10 * 2100");
    number(connection, &sql).await
}

/// What was acknowledged, by operation.
pub struct Noted(Vec<Value>);

impl Noted {
    /// Reads a list and removes it.
    pub fn take(path: &str) -> Self {
        let text = std::fs::read_to_string(path).expect("the list");
        std::fs::remove_file(path).expect("removed");
        let lines = text.lines().map(serde_json::from_str);
        Self(lines.collect::<Result<_, _>>().expect("lines"))
    }

    /// How often an operation is on the list.
    pub fn count(&self, operation: &str) -> u64 {
        self.of(operation).count() as u64
    }

    fn of<'n>(&'n self, operation: &'n str) -> impl Iterator<Item = &'n Value> {
        self.0.iter().filter(move |line| line[2] == operation)
    }

    /// All of it is in the data, no order is delivered twice; returns the number of deliveries.
    pub async fn check(&self, connection: &mut Connection) -> i64 {
        let asked = |line: &Value| format!("({}, {}, {})", line[3], line[4], line[5]);
        let orders: Vec<String> = self.of("new-order").map(asked).collect();
        let keys = orders.join(", ");
        let sql = format!("SELECT count(*) FROM orders WHERE (o_w_id, o_d_id, o_id) IN ({keys})");
        assert_eq!(number(connection, &sql).await, orders.len() as i64);
        self.check_payments(connection).await;

        let delivered: Vec<String> = self
            .of("delivery")
            .flat_map(|line| {
                let orders = line[4].as_array().expect("orders").iter();
                orders.map(|order| format!("({}, {}, {})", line[3], order[0], order[1]))
            })
            .collect();
        let once: BTreeSet<&String> = delivered.iter().collect();
        assert_eq!(once.len(), delivered.len(), "no order is delivered twice");
        let keys = delivered.join(", ");
        let sql = format!(
            "SELECT count(*) FROM orders WHERE (o_w_id, o_d_id, o_id) IN ({keys}) AND o_carrier_id IS NOT NULL"
        );
        assert_eq!(number(connection, &sql).await, delivered.len() as i64);
        delivered.len() as i64
    }

    /// Two payments may be alike, so they are counted by what they say.
    async fn check_payments(&self, connection: &mut Connection) {
        let mut alike = BTreeMap::<String, i64>::new();
        for line in self.of("payment") {
            let keys: Vec<String> = (3..9).map(|place| line[place].to_string()).collect();
            *alike.entry(keys.join(", ")).or_default() += 1;
        }
        let rows: Vec<String> = alike
            .iter()
            .map(|(payment, count)| format!("({payment}, {count})"))
            .collect();
        let create = "CREATE TEMPORARY TABLE noted (w int, d int, c_w int, c_d int, c int, cents int, n int)";
        connection.run(create).await.expect(create);
        let insert = format!("INSERT INTO noted VALUES {}", rows.join(", "));
        connection.run(&insert).await.expect("payments");
        let lost = "SELECT count(*) FROM noted WHERE n > (SELECT count(*) FROM history
            WHERE h_w_id = w AND h_d_id = d AND h_c_w_id = c_w AND h_c_d_id = c_d AND h_c_id = c
              AND h_amount * 100 = cents)";
        // It joins by the key of the customer, where there is one.
        assert_eq!(number(connection, lost).await, 0, "payments are missing");
        connection
            .run("DROP TEMPORARY TABLE noted")
            .await
            .expect("dropped");
    }
}
