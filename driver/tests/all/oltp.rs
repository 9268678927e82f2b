//! Order entry against a real server: the load, both styles, and the consistency of what they leave.

use std::collections::BTreeMap;

use crate::conditions::CONDITIONS;
use crate::crew::{assert_decks, drive, loaded, parameters, parsed};
use crate::host::block_on;
use crate::pg_server::Server;
use loadstone_driver::acknowledgements::Acknowledgements;
use loadstone_driver::clock::Epoch;
use loadstone_driver::oltp::postgres::Postgres;
use loadstone_driver::oltp::{OltpLoad, OltpRun};
use loadstone_driver::postgres::{Connection, Statement};
use loadstone_driver::session::{Outcome, Session, Workload};
use serde_json::{Value, json};

const SEED: u64 = 20;

/// What is made after the load; the functions are those that Loadstone installs.
const KEYS_AND_FUNCTIONS: [&str; 2] = [
    "tests/sql/indexes.sql",
    "../src/loadstone/workloads/oltp/procedures.postgresql.sql",
];

/// Tables with the columns that are the same whenever a run is made: times are not.
const TABLES: [(&str, &str); 9] = [
    ("item", "i"),
    ("warehouse", "i"),
    ("district", "i"),
    ("customer", "i"),
    ("stock", "i"),
    ("new_order", "i"),
    (
        "history",
        "(h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_amount, h_data)",
    ),
    (
        "orders",
        "(o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt, o_all_local)",
    ),
    (
        "order_line",
        "(ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
        ol_dist_info, ol_delivery_d IS NULL)",
    ),
];

async fn number(connection: &mut Connection, sql: &'static str) -> i64 {
    let statement = Statement { name: "", sql };
    connection.prepare(&[statement]).await.expect(sql);
    connection.queue(&statement, &[]).expect(sql);
    connection.sync().await.expect(sql);
    // count(*) is a bigint, sums are numeric
    let value = connection
        .one(|mut row| {
            let mut again = row.clone();
            row.int8().or_else(|_| again.numeric(0))
        })
        .await
        .expect(sql);
    connection.ready().await.expect(sql);
    value
}

async fn text(connection: &mut Connection, sql: String) -> String {
    let statement = Statement {
        name: "",
        sql: String::leak(sql),
    };
    connection.prepare(&[statement]).await.expect(statement.sql);
    connection.queue(&statement, &[]).expect(statement.sql);
    connection.sync().await.expect(statement.sql);
    let value = connection
        .one(|mut row| Ok(row.text()?.to_owned()))
        .await
        .expect(statement.sql);
    connection.ready().await.expect(statement.sql);
    value
}

/// A sum of hashes of all rows of each table.
async fn digest(server: &Server, database: &str) -> BTreeMap<&'static str, String> {
    let mut connection = Connection::connect(&server.database(database))
        .await
        .expect(database);
    let mut digests = BTreeMap::new();
    for (table, columns) in TABLES {
        let sql = format!(
            "SELECT count(*) || ':' || coalesce(sum(hashtextextended({columns}::text, 0)), 0) FROM {table} AS i"
        );
        digests.insert(table, text(&mut connection, sql).await);
    }
    digests
}

async fn apply(server: &Server, database: &str, files: &[&str]) {
    let mut connection = Connection::connect(&server.database(database))
        .await
        .expect(database);
    for file in files {
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let sql = std::fs::read_to_string(&path).expect(&path);
        connection.run(&sql).await.expect(file);
    }
    connection.run("ANALYZE").await.expect("ANALYZE");
}

async fn check_conditions(server: &Server, database: &str) {
    let mut connection = Connection::connect(&server.database(database))
        .await
        .expect(database);
    for (name, sql) in CONDITIONS {
        assert_eq!(
            number(&mut connection, sql).await,
            0,
            "condition {name} in {database}"
        );
    }
}

async fn load(server: &Server, database: &str, sessions: u32) -> f64 {
    let mut admin = server.connect().await;
    admin
        .run(&format!("CREATE DATABASE {database}"))
        .await
        .expect("a database");
    let mut connection = Connection::connect(&server.database(database))
        .await
        .expect(database);
    let path = format!("{}/tests/sql/schema.sql", env!("CARGO_MANIFEST_DIR"));
    connection
        .run(&std::fs::read_to_string(&path).expect(&path))
        .await
        .expect("the schema");
    let engine = Postgres::new(
        server.database(database),
        &parsed(&json!({"warehouses": 2})),
    );
    let (counts, workload) = drive(OltpLoad::new(engine, 2), SEED, sessions, u32::MAX).await;
    loaded(&counts, &workload.facts())
}

async fn copy_database(server: &Server, from: &str, to: &str) {
    let mut admin = server.connect().await;
    admin
        .run(&format!("CREATE DATABASE {to} TEMPLATE {from}"))
        .await
        .expect("a copy");
}

async fn run(
    server: &Server,
    database: &str,
    parameters: &Value,
    users: u32,
    limit: u32,
) -> BTreeMap<String, u64> {
    let workload = workload(server, database, parameters);
    drive(workload, SEED, users, limit).await.0
}

fn workload(server: &Server, database: &str, parameters: &Value) -> OltpRun<Postgres> {
    let parameters = parsed(parameters);
    let engine = Postgres::new(server.database(database), &parameters);
    OltpRun::new(engine, &parameters, SEED).expect("a mix")
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
        assert_eq!(
            digests,
            digest(&server, "loaded_alone").await,
            "the same bytes whoever writes them"
        );
        let counted: f64 = digests
            .values()
            .filter_map(|d| d.split(':').next()?.parse::<f64>().ok())
            .sum();
        assert_eq!(rows, counted, "the fact counts what is there");
        apply(&server, "loaded", &KEYS_AND_FUNCTIONS).await;
        check_conditions(&server, "loaded").await;

        a_missing_row_is_an_error_and_no_loss(&server).await;
        both_styles_do_the_same(&server).await;
        every_acknowledged_commit_is_there(&server).await;
        for (style, isolation, users, decks) in [
            ("statements", "read committed", 6, 10),
            ("procedures", "read committed", 6, 10),
            ("statements", "repeatable read", 4, 5),
            ("procedures", "serializable", 3, 2),
        ] {
            let database = format!("{style}_{}", isolation.replace(' ', "_"));
            copy_database(&server, "loaded", &database).await;
            let parameters = parameters(style, "any", isolation);
            let counts = run(&server, &database, &parameters, users, 23 * decks).await;
            assert_decks(&counts, u64::from(users * decks));
            check_conditions(&server, &database).await;
        }
    });
}

/// A plan that asks for more warehouses than there are fails with a SQLSTATE; the session lives on.
async fn a_missing_row_is_an_error_and_no_loss(server: &Server) {
    for style in ["statements", "procedures"] {
        let parameters =
            json!({"warehouses": 3, "style": style, "mix": {"new-order": 1, "payment": 1}});
        let workload = workload(server, "loaded", &parameters);
        let mut session = workload.open(2, SEED).await.expect("a session");
        for _ in 0..20 {
            let operation = session.choose();
            let Outcome::Failed(failure) = session.execute(operation).await else {
                panic!("warehouse 3 does not exist");
            };
            let class = &*failure.class.0;
            assert!(["P0002", "23503"].contains(&class), "{style}: {failure:?}");
        }
    }
    check_conditions(server, "loaded").await;
}

/// One user with the same seed leaves the same rows in both styles.
async fn both_styles_do_the_same(server: &Server) {
    let mut digests = Vec::new();
    for style in ["statements", "procedures"] {
        let database = format!("same_{style}");
        copy_database(server, "loaded", &database).await;
        run(
            server,
            &database,
            &parameters(style, "per-user", "read committed"),
            1,
            460,
        )
        .await;
        check_conditions(server, &database).await;
        digests.push(digest(server, &database).await);
    }
    assert_ne!(digests[0]["stock"], digest(server, "loaded").await["stock"]);
    assert_eq!(digests[0], digests[1]);
}

/// What users noted as committed is in the tables, and nothing else is.
async fn every_acknowledged_commit_is_there(server: &Server) {
    for style in ["statements", "procedures"] {
        let database = format!("noted_{style}");
        copy_database(server, "loaded", &database).await;
        let path = std::env::temp_dir().join(format!("ls-noted-{}-{style}", std::process::id()));
        let text = path.display().to_string();
        let list = Acknowledgements::open(&text, Epoch::start()).expect("a list");
        let parameters = parameters(style, "any", "read committed");
        let noting = workload(server, &database, &parameters).acknowledging(Some(list));
        let (counts, _) = drive(noting, SEED, 5, 23 * 8).await;

        let lines = std::fs::read_to_string(&path).expect("the list");
        std::fs::remove_file(&path).expect("removed");
        let lines: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let of = |name: &'static str| lines.iter().filter(move |line| line[2] == name);
        let mut connection = Connection::connect(&server.database(&database))
            .await
            .expect("a connection");
        for line in of("new-order") {
            let sql = format!(
                "SELECT count(*) FROM orders WHERE o_w_id = {} AND o_d_id = {} AND o_id = {} AND o_id > 3000",
                line[3], line[4], line[5]
            );
            assert_eq!(number(&mut connection, sql.leak()).await, 1, "{line}");
        }
        for line in of("payment") {
            let sql = format!(
                "SELECT count(*) FROM history WHERE h_w_id = {} AND h_d_id = {} AND h_c_w_id = {}
                     AND h_c_d_id = {} AND h_c_id = {} AND h_amount * 100 = {}",
                line[3], line[4], line[5], line[6], line[7], line[8]
            );
            assert!(number(&mut connection, sql.leak()).await >= 1, "{line}");
        }
        let mut delivered = 0;
        for line in of("delivery") {
            for order in line[4].as_array().expect("orders") {
                delivered += 1;
                let sql = format!(
                    "SELECT count(*) FROM orders WHERE o_w_id = {} AND o_d_id = {} AND o_id = {}
                         AND o_carrier_id IS NOT NULL AND o_id > 2100",
                    line[3], order[0], order[1]
                );
                assert_eq!(number(&mut connection, sql.leak()).await, 1, "{line}");
            }
        }
        let gone = "SELECT (SELECT count(*) FROM orders) - (SELECT count(*) FROM new_order) - 2 * 10 * 2100";
        let new = "SELECT count(*) FROM orders WHERE o_id > 3000";
        let paid = "SELECT count(*) FROM history WHERE h_amount <> 10 OR h_date > '2025-01-02'";
        assert_eq!(
            of("new-order").count() as i64,
            number(&mut connection, new).await
        );
        assert_eq!(of("new-order").count() as u64, counts["new-order"]);
        assert_eq!(
            of("payment").count() as i64,
            number(&mut connection, paid).await
        );
        match style {
            "statements" => assert_eq!(delivered, number(&mut connection, gone).await),
            _ => assert_eq!(
                of("delivery").count(),
                0,
                "the function does not tell which"
            ),
        }
    }
}
