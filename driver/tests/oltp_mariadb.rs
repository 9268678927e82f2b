//! Order entry against a real MariaDB: the load, both styles, and the consistency of what they leave.

mod conditions;
mod crew;
mod mariadb_server;

use std::collections::BTreeMap;

use conditions::CONDITIONS;
use crew::drive;
use loadstone_driver::clock::Epoch;
use loadstone_driver::mysql::{Connection, Error, Row, Statement};
use loadstone_driver::oltp::acknowledgements::Acknowledgements;
use loadstone_driver::oltp::mariadb::MariaDb;
use loadstone_driver::oltp::parameters::RunParameters;
use loadstone_driver::oltp::{OltpLoad, OltpRun};
use loadstone_driver::session::{Outcome, Session, Workload};
use mariadb_server::{Server, block_on};
use serde_json::{Value, json};

const SEED: u64 = 20;

/// Tables with the columns that are the same whenever a run is made: times are not.
const TABLES: [(&str, &str); 9] = [
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
const KEYS_AND_PROCEDURES: [&str; 2] = [
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
async fn number(connection: &mut Connection, sql: &str) -> i64 {
    let read = |mut row: Row<'_>| row.clone().int().or_else(|_| row.decimal(0));
    ask(connection, sql, read).await
}

async fn open(server: &Server, database: &str) -> Connection {
    Connection::connect(&server.database(database))
        .await
        .expect(database)
}

/// A sum of hashes of all rows of each table, with their number.
async fn digest(server: &Server, database: &str) -> BTreeMap<&'static str, String> {
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

/// Runs the statements of a file, separated by lines of `//`.
async fn apply(server: &Server, database: &str, file: &str) {
    let mut connection = open(server, database).await;
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let script = std::fs::read_to_string(&path).expect(&path);
    for sql in script.split("\n//").filter(|sql| !sql.trim().is_empty()) {
        connection.run(sql).await.expect(sql);
    }
}

async fn check_conditions(server: &Server, database: &str) {
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

fn parsed(parameters: &Value) -> RunParameters {
    RunParameters::parse(parameters.as_object().expect("an object")).expect("parameters")
}

fn workload(server: &Server, database: &str, parameters: &Value) -> OltpRun<MariaDb> {
    let parameters = parsed(parameters);
    let engine = MariaDb::new(server.database(database), &parameters);
    OltpRun::new(engine, &parameters, SEED).expect("a mix")
}

fn parameters(style: &str, home: &str, isolation: &str) -> Value {
    json!({"warehouses": 2, "style": style, "home": home, "isolation": isolation})
}

/// Returns the rows that the driver says it wrote.
async fn load(server: &Server, database: &str, sessions: u32) -> f64 {
    let sql = format!("CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
    server.connect().await.run(&sql).await.expect("a database");
    apply(server, database, TABLES_FILE).await;
    let engine = MariaDb::new(
        server.database(database),
        &parsed(&json!({"warehouses": 2})),
    );
    let (counts, workload) = drive(OltpLoad::new(engine, 2), SEED, sessions, u32::MAX).await;
    assert_eq!(counts.values().sum::<u64>(), 9, "work items: {counts:?}");
    let facts = workload.facts();
    facts
        .iter()
        .find(|fact| fact.0 == "rows")
        .map_or(0.0, |fact| fact.1)
}

/// A database with the rows of `loaded`, its keys and its procedures.
async fn copy(server: &Server, to: &str) {
    let mut admin = server.connect().await;
    let sql = format!("CREATE DATABASE {to} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
    admin.run(&sql).await.expect(&sql);
    apply(server, to, TABLES_FILE).await;
    let unchecked = "SET foreign_key_checks = 0, unique_checks = 0";
    admin.run(unchecked).await.expect(unchecked);
    for (table, _) in TABLES {
        let sql = format!("INSERT INTO {to}.{table} SELECT * FROM loaded.{table}");
        admin.run(&sql).await.expect(&sql);
    }
    for file in KEYS_AND_PROCEDURES {
        apply(server, to, file).await;
    }
}

#[test]
fn order_entry_from_the_load_to_its_consistency() {
    let Some(server) = Server::start() else {
        return;
    };
    block_on(async {
        let rows = load(&server, "loaded", 3).await;
        load(&server, "loaded_alone", 1).await;
        let digests = digest(&server, "loaded").await;
        let alone = digest(&server, "loaded_alone").await;
        assert_eq!(digests, alone, "the same rows whoever writes them");
        let counts = digests
            .values()
            .filter_map(|digest| digest.split(':').next());
        let counted: f64 = counts.filter_map(|count| count.parse::<f64>().ok()).sum();
        assert_eq!(rows, counted, "the fact counts what is there");
        check_conditions(&server, "loaded").await;
        server
            .connect()
            .await
            .run("DROP DATABASE loaded_alone")
            .await
            .expect("dropped");

        both_styles_do_the_same(&server, &digests).await;
        for (style, isolation, users, decks) in [
            ("statements", "read committed", 6, 10),
            ("procedures", "read committed", 6, 10),
            ("statements", "repeatable read", 4, 5),
            ("procedures", "serializable", 3, 2),
        ] {
            let database = format!("{style}_{}", isolation.replace(' ', "_"));
            copy(&server, &database).await;
            let parameters = parameters(style, "any", isolation);
            let counts = acknowledged(&server, &database, &parameters, users, 23 * decks).await;
            let cards = u64::from(users * decks);
            assert_eq!(counts.values().sum::<u64>(), 23 * cards);
            let orders = counts["new-order"] + counts.get("rolled back").unwrap_or(&0);
            let made = (orders, counts["payment"]);
            assert_eq!(made, (10 * cards, 10 * cards), "the deck is exact");
            assert_eq!(counts["delivery"], cards);
            let is_small = cards < 60;
            assert!(
                is_small || counts["rolled back"] > 0,
                "one of a hundred: {counts:?}"
            );
            check_conditions(&server, &database).await;
            a_missing_row_is_an_error_and_no_loss(&server, &database, style).await;
        }
    });
}

/// One user with the same seed leaves the same rows in both styles.
async fn both_styles_do_the_same(server: &Server, loaded: &BTreeMap<&'static str, String>) {
    let mut digests = Vec::new();
    for style in ["statements", "procedures"] {
        let database = format!("same_{style}");
        copy(server, &database).await;
        assert_eq!(&digest(server, &database).await, loaded);
        let parameters = parameters(style, "per-user", "read committed");
        drive(workload(server, &database, &parameters), SEED, 1, 460).await;
        check_conditions(server, &database).await;
        digests.push(digest(server, &database).await);
    }
    assert_ne!(digests[0]["stock"], loaded["stock"]);
    assert_eq!(digests[0], digests[1]);
}

/// Drives a run that acknowledges; all that is on its list must be in the data, once.
async fn acknowledged(
    server: &Server,
    database: &str,
    parameters: &Value,
    users: u32,
    limit: u32,
) -> BTreeMap<String, u64> {
    let name = format!("lsma-list-{}-{database}", std::process::id());
    let path = std::env::temp_dir().join(name).display().to_string();
    let list = Acknowledgements::open(&path, Epoch::start()).expect("a list");
    let run = workload(server, database, parameters).acknowledging(Some(list));
    let (counts, _) = drive(run, SEED, users, limit).await;
    let lines = std::fs::read_to_string(&path).expect("the list");
    std::fs::remove_file(&path).expect("removed");
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line"))
        .collect();
    let mut connection = open(server, database).await;
    let of = |operation: &'static str| lines.iter().filter(move |line| line[2] == operation);
    let asked = |line: &Value| {
        format!(
            "(o_w_id = {} AND o_d_id = {} AND o_id = {})",
            line[3], line[4], line[5]
        )
    };
    let orders: Vec<String> = of("new-order").map(asked).collect();
    assert_eq!(orders.len() as u64, counts["new-order"]);
    let sql = format!("SELECT count(*) FROM orders WHERE {}", orders.join(" OR "));
    assert_eq!(number(&mut connection, &sql).await, orders.len() as i64);

    assert_eq!(of("payment").count() as u64, counts["payment"]);
    for line in of("payment").take(100) {
        let sql = format!(
            "SELECT count(*) FROM history WHERE h_w_id = {} AND h_d_id = {} AND h_c_w_id = {} AND h_c_d_id = {}
             AND h_c_id = {} AND h_amount * 100 = {}",
            line[3], line[4], line[5], line[6], line[7], line[8]
        );
        assert!(number(&mut connection, &sql).await > 0, "{line}");
    }
    let delivered: Vec<String> = of("delivery")
        .flat_map(|line| {
            let orders = line[4].as_array().expect("orders").iter();
            orders.map(|order| format!("({}, {}, {})", line[3], order[0], order[1]))
        })
        .collect();
    let undelivered = "(SELECT count(*) FROM new_order)";
    let sql = format!("SELECT (SELECT count(*) FROM orders) - {undelivered} - 2 * 10 * 2100");
    assert_eq!(number(&mut connection, &sql).await, delivered.len() as i64);
    let once: std::collections::BTreeSet<&String> = delivered.iter().collect();
    assert_eq!(once.len(), delivered.len(), "no order is delivered twice");
    counts
}

/// A plan that asks for more warehouses than there are fails with a SQLSTATE; the session lives on.
async fn a_missing_row_is_an_error_and_no_loss(server: &Server, database: &str, style: &str) {
    let parameters =
        json!({"warehouses": 3, "style": style, "mix": {"new-order": 1, "payment": 1}});
    let workload = workload(server, database, &parameters);
    let mut session = workload.open(2, SEED).await.expect("a session");
    for _ in 0..20 {
        let operation = session.choose();
        match session.execute(operation).await {
            Outcome::Failed(failure) => assert_eq!(&*failure.class.0, "P0002", "{failure:?}"),
            // Where stock is looked at first, what is missing there is an item that does not exist.
            Outcome::RolledBack if operation == 0 => {}
            other => panic!("warehouse 3 does not exist: {other:?}"),
        }
    }
    check_conditions(server, database).await;
}
