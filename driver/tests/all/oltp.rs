//! Order entry against a real server: the load, both styles, and the consistency of what they leave.

use std::collections::BTreeMap;

use crate::conditions::CONDITIONS;
use crate::host::block_on;
use crate::noted::{Asked, Noted, written};
use crate::pg_server::Database;
use crate::scratch::Folder;
use crate::side_by_side::{assert_decks, drive, loaded, parameters, parsed};
use loadstone_driver::acknowledgements::Acknowledgements;
use loadstone_driver::clock::Epoch;
use loadstone_driver::oltp::postgres::Postgres;
use loadstone_driver::oltp::{OltpLoad, OltpRun};
use loadstone_driver::session::{Outcome, Session, Workload};
use serde_json::{Value, json};

const SEED: u64 = 20;

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

/// A sum of hashes of all rows of each table.
async fn digest(database: &Database) -> BTreeMap<&'static str, String> {
    let mut connection = database.connect().await;
    let mut digests = BTreeMap::new();
    for (table, columns) in TABLES {
        let sql = format!(
            "SELECT count(*) || ':' || coalesce(sum(hash_record_extended({columns}, 0)), 0) FROM {table} AS i"
        );
        digests.insert(table, connection.text(&sql).await);
    }
    digests
}

async fn check_conditions(database: &Database) {
    let mut connection = database.connect().await;
    for (name, sql) in CONDITIONS {
        assert_eq!(connection.number(sql).await, 0, "condition {name}");
    }
}

/// Writes two warehouses; returns the rows that the driver says it wrote.
async fn load(database: &Database, sessions: u32) -> f64 {
    let schema = include_str!("../sql/schema.sql");
    let mut connection = database.connect().await;
    connection.run(schema).await.expect("the schema");
    let engine = Postgres::new(database.config(), &parsed(&json!({"warehouses": 2})));
    let (counts, workload) = drive(OltpLoad::new(engine, 2), SEED, sessions, u32::MAX).await;
    loaded(2, &counts, &workload.facts())
}

/// Makes what comes after the load; the functions are those that Loadstone installs.
async fn add_keys_and_functions(database: &Database) {
    let mut connection = database.connect().await;
    for sql in [
        include_str!("../sql/indexes.sql"),
        include_str!("../../../src/loadstone/workloads/oltp/procedures.postgresql.sql"),
        "ANALYZE",
    ] {
        connection.run(sql).await.expect(sql);
    }
}

fn workload(database: &Database, parameters: &Value) -> OltpRun<Postgres> {
    let parameters = parsed(parameters);
    let engine = Postgres::new(database.config(), &parameters);
    OltpRun::new(engine, &parameters, SEED).expect("a mix")
}

#[test]
fn order_entry_from_the_load_to_its_consistency() {
    let Some(statements) = Database::new() else {
        return;
    };
    block_on(async {
        let procedures = statements.another().await;
        let rows = load(&statements, 3).await;
        load(&procedures, 1).await;
        let digests = digest(&statements).await;
        let alone = digest(&procedures).await;
        assert_eq!(digests, alone, "the same bytes whoever writes them");
        let counted: f64 = digests
            .values()
            .filter_map(|digest| digest.split(':').next()?.parse::<f64>().ok())
            .sum();
        assert_eq!(rows, counted, "the fact counts what is there");
        for database in [&statements, &procedures] {
            add_keys_and_functions(database).await;
        }
        check_conditions(&statements).await;

        let styles = [("statements", &statements), ("procedures", &procedures)];
        both_styles_do_the_same(styles, &digests).await;
        for (style, database) in styles {
            a_missing_row_is_an_error_and_no_loss(database, style).await;
        }
        for ((style, database), isolation, users, decks) in [
            (styles[0], "read committed", 6, 10),
            (styles[0], "repeatable read", 4, 5),
            (styles[1], "read committed", 6, 10),
            (styles[1], "serializable", 3, 2),
        ] {
            let parameters = parameters(style, "any", isolation);
            let counts = acknowledged(database, &parameters, users, 23 * decks).await;
            assert_decks(&counts, u64::from(users * decks));
        }
        for (_, database) in styles {
            check_conditions(database).await;
        }
    });
}

/// One user with the same seed leaves the same rows in both styles.
async fn both_styles_do_the_same(
    styles: [(&str, &Database); 2],
    loaded: &BTreeMap<&'static str, String>,
) {
    let mut digests = Vec::new();
    for (style, database) in styles {
        let parameters = parameters(style, "per-user", "read committed");
        drive(workload(database, &parameters), SEED, 1, 460).await;
        digests.push(digest(database).await);
    }
    assert_ne!(digests[0]["stock"], loaded["stock"]);
    assert_eq!(digests[0], digests[1]);
}

/// A plan that asks for more warehouses than there are fails with a SQLSTATE; the session lives on.
async fn a_missing_row_is_an_error_and_no_loss(database: &Database, style: &str) {
    let parameters =
        json!({"warehouses": 3, "style": style, "mix": {"new-order": 1, "payment": 1}});
    let workload = workload(database, &parameters);
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

/// Drives a run that acknowledges; all that is on its list must be in the data, and nothing else.
async fn acknowledged(
    database: &Database,
    parameters: &Value,
    users: u32,
    limit: u32,
) -> BTreeMap<String, u64> {
    let mut connection = database.connect().await;
    let before = written(&mut connection).await;
    let folder = Folder::new("acknowledged");
    let path = folder.join("list");
    let list = Acknowledgements::open(&path.display().to_string(), Epoch::start());
    let run = workload(database, parameters).acknowledging(Some(list.expect("a list")));
    let (counts, _) = drive(run, SEED, users, limit).await;
    let noted = Noted::read(&path);
    let deliveries = noted.check(&mut connection).await;
    let after = written(&mut connection).await;
    let [orders, payments, delivered] = [0, 1, 2].map(|at| after[at] - before[at]);
    assert_eq!(noted.count("new-order"), counts["new-order"]);
    let listed = ["new-order", "payment"].map(|operation| noted.count(operation) as i64);
    assert_eq!(listed, [orders, payments], "nothing else is there");
    // The function does not tell which orders it delivered.
    let told = if parameters["style"] == "statements" {
        delivered
    } else {
        0
    };
    assert_eq!(deliveries, told);
    counts
}
