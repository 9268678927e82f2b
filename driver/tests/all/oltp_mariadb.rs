//! Order entry against a real MariaDB: the load, both styles, the consistency of what they leave, and what is
//! left when the server is killed.

use std::collections::BTreeMap;

use crate::host::block_on;
use crate::mariadb_oltp::{KEYS_AND_PROCEDURES, check_conditions, digest, load, open};
use crate::mariadb_server::Server;
use crate::noted::{Noted, written};
use crate::scratch::Folder;
use crate::side_by_side::{assert_decks, drive, parameters, parsed};
use crate::support::{Driver, phase, plan};
use loadstone_driver::acknowledgements::Acknowledgements;
use loadstone_driver::clock::Epoch;
use loadstone_driver::oltp::OltpRun;
use loadstone_driver::oltp::mariadb::MariaDb;
use loadstone_driver::session::{Outcome, Session, Workload};
use serde_json::{Value, json};

const SEED: u64 = 20;

fn workload(server: &Server, database: &str, parameters: &Value) -> OltpRun<MariaDb> {
    let parameters = parsed(parameters);
    let engine = MariaDb::new(server.database(database), &parameters);
    OltpRun::new(engine, &parameters, SEED).expect("a mix")
}

#[test]
#[ignore = "long: two loads of two warehouses; the runs of order entry on each engine are tested in short"]
fn order_entry_from_the_load_to_its_consistency() {
    let Some(server) = Server::shared() else {
        return;
    };
    const STYLES: [&str; 2] = ["statements", "procedures"];
    block_on(async {
        let rows = load(&server, "statements", 2, 3, SEED).await;
        load(&server, "procedures", 2, 1, SEED).await;
        let digests = digest(&server, "statements").await;
        let alone = digest(&server, "procedures").await;
        assert_eq!(digests, alone, "the same rows whoever writes them");
        let counts = digests
            .values()
            .filter_map(|digest| digest.split(':').next());
        let counted: f64 = counts.filter_map(|count| count.parse::<f64>().ok()).sum();
        assert_eq!(rows, counted, "the fact counts what is there");

        for style in STYLES {
            for file in KEYS_AND_PROCEDURES {
                server.apply(style, file).await;
            }
        }
        both_styles_do_the_same(&server, &digests).await;
        for (style, isolation, users, decks) in [
            ("statements", "read committed", 6, 10),
            ("statements", "repeatable read", 4, 5),
            ("procedures", "read committed", 6, 10),
            ("procedures", "serializable", 3, 2),
        ] {
            let parameters = parameters(style, "any", isolation);
            let counts = acknowledged(&server, style, &parameters, users, 23 * decks).await;
            assert_decks(&counts, u64::from(users * decks));
        }
        for style in STYLES {
            a_missing_row_is_an_error_and_no_loss(&server, style).await;
            check_conditions(&server, style).await;
        }
    });
}

/// One user with the same seed leaves the same rows in both styles.
async fn both_styles_do_the_same(server: &Server, loaded: &BTreeMap<&'static str, String>) {
    let mut digests = Vec::new();
    for style in ["statements", "procedures"] {
        let parameters = parameters(style, "per-user", "read committed");
        drive(workload(server, style, &parameters), SEED, 1, 460).await;
        digests.push(digest(server, style).await);
    }
    assert_ne!(digests[0]["stock"], loaded["stock"]);
    assert_eq!(digests[0], digests[1]);
}

/// Drives a run that acknowledges; all that is on its list must be in the data, and nothing else.
async fn acknowledged(
    server: &Server,
    database: &str,
    parameters: &Value,
    users: u32,
    limit: u32,
) -> BTreeMap<String, u64> {
    let mut connection = open(server, database).await;
    let before = written(&mut connection).await;
    let folder = Folder::new("acknowledged");
    let path = folder.join("list");
    let list = Acknowledgements::open(&path.display().to_string(), Epoch::start());
    let run = workload(server, database, parameters).acknowledging(Some(list.expect("a list")));
    let (counts, _) = drive(run, SEED, users, limit).await;
    let noted = Noted::read(&path);
    let deliveries = noted.check(&mut connection).await;
    let after = written(&mut connection).await;
    let new = [0, 1, 2].map(|at| after[at] - before[at]);
    assert_eq!(noted.count("new-order"), counts["new-order"]);
    let listed = ["new-order", "payment"].map(|operation| noted.count(operation) as i64);
    assert_eq!(
        [listed[0], listed[1], deliveries],
        new,
        "nothing else is there"
    );
    counts
}

/// A plan that asks for more warehouses than there are fails with a SQLSTATE; the session lives on.
async fn a_missing_row_is_an_error_and_no_loss(server: &Server, style: &str) {
    let parameters =
        json!({"warehouses": 3, "style": style, "mix": {"new-order": 1, "payment": 1}});
    let workload = workload(server, style, &parameters);
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
}

/// The server is killed while all users are within transactions, and comes back.
#[test]
fn a_server_that_is_killed_loses_no_acknowledged_commit() {
    let Some(mut server) = Server::durable() else {
        return;
    };
    block_on(async {
        load(&server, "shop", 1, 3, SEED).await;
        for file in KEYS_AND_PROCEDURES {
            server.apply("shop", file).await;
        }
    });
    let folder = Folder::new("killed");
    let list = folder.join("list");
    let users = json!({"model": "closed", "users": {"from": 4, "to": 4}});
    let mut plan = plan(json!([phase("m", "measure", json!(null), users)]));
    let mut parameters = parameters("statements", "any", "read committed");
    parameters["warehouses"] = json!(1);
    plan["workload"] = json!({"name": "oltp", "parameters": parameters});
    let config = server.database("shop");
    plan["connection"] = json!({"protocol": "mysql", "host": config.host, "user": config.user,
                                "database": config.database});
    plan["acknowledgements"] = json!(list);
    let has_payments = |frame: &Value| frame["operations"]["payment"]["count"].as_u64() > Some(0);

    let mut driver = Driver::start(&plan);
    driver.wait_until(has_payments);
    server.kill();
    driver.wait_for("connection-lost");
    server.restart();
    for _ in 0..4 {
        driver.wait_for("reconnected");
    }
    driver.wait_until(has_payments);
    driver.control(&json!({"control": "stop"}));
    let run = driver.finish();

    let end = run.frames.last().expect("a frame");
    assert_eq!((&end["reason"], run.code), (&json!("stopped"), Some(0)));
    let totals = end["operations"].as_object().expect("operations").values();
    let errors = totals.filter_map(|total| total["errors"].as_object());
    let mut classes = BTreeMap::<&str, u64>::new();
    for (class, count) in errors.flatten() {
        *classes.entry(class).or_default() += count.as_u64().expect("a count");
    }
    assert_eq!(classes, [("connection", 4)].into(), "one operation a user");
    block_on(async {
        let noted = Noted::read(&list);
        let payments = end["operations"]["payment"]["count"].as_u64();
        assert_eq!(Some(noted.count("payment")), payments);
        noted.check(&mut open(&server, "shop").await).await;
        check_conditions(&server, "shop").await;
    });
}
