//! What users of order entry were told, and whether it is in the data.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use loadstone_driver::{mysql, postgres};
use serde_json::Value;

/// A connection that answers a question with one value.
pub trait Asked {
    async fn text(&mut self, sql: &str) -> String;

    /// Counts are integers, sums may be decimals.
    async fn number(&mut self, sql: &str) -> i64 {
        let text = self.text(sql).await;
        let number: f64 = text.parse().unwrap_or_else(|_| panic!("{sql}: {text}"));
        number as i64
    }
}

impl Asked for postgres::Connection {
    async fn text(&mut self, sql: &str) -> String {
        let mut rows = self.ask(sql).await.expect(sql);
        rows[0][0].take().expect(sql)
    }
}

impl Asked for mysql::Connection {
    async fn text(&mut self, sql: &str) -> String {
        let mut rows = self.ask(sql).await.expect(sql);
        rows[0][0].take().expect(sql)
    }
}

/// Orders, payments and deliveries in the data.
pub async fn written(connection: &mut impl Asked) -> [i64; 3] {
    let orders = connection.number("SELECT count(*) FROM orders").await;
    let payments = connection.number("SELECT count(*) FROM history").await;
    let undelivered = connection.number("SELECT count(*) FROM new_order").await;
    [orders, payments, orders - undelivered]
}

/// What was acknowledged, by operation.
pub struct Noted(Vec<Value>);

impl Noted {
    pub fn read(list: &Path) -> Self {
        let text = std::fs::read_to_string(list).expect("the list");
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
    pub async fn check(&self, connection: &mut impl Asked) -> i64 {
        let orders = self.of("new-order");
        let orders: Vec<String> = orders
            .map(|line| row(&line.as_array().expect("a line")[3..6]))
            .collect();
        assert_orders(connection, &orders, "o_id > 3000").await;
        let delivered: Vec<String> = self
            .of("delivery")
            .flat_map(|line| {
                let orders = line[4].as_array().expect("orders").iter();
                orders.map(|order| row(&[line[3].clone(), order[0].clone(), order[1].clone()]))
            })
            .collect();
        let sent = "o_id > 2100 AND o_carrier_id IS NOT NULL";
        assert_orders(connection, &delivered, sent).await;
        self.check_payments(connection).await;
        delivered.len() as i64
    }

    /// Two payments may be alike, so they are counted by what they say.
    async fn check_payments(&self, connection: &mut impl Asked) {
        let mut alike = BTreeMap::<String, i64>::new();
        for line in self.of("payment") {
            let said = row(&line.as_array().expect("a line")[3..9]);
            *alike.entry(said).or_default() += 1;
        }
        let rows: Vec<String> = alike
            .iter()
            .map(|(said, count)| said.replace(')', &format!(", {count})")))
            .collect();
        let sql = format!(
            "WITH noted (w, d, c_w, c_d, c, cents, n) AS (VALUES {}), \
             paid AS (SELECT h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_amount, count(*) AS times \
                      FROM history GROUP BY 1, 2, 3, 4, 5, 6) \
             SELECT count(*) FROM noted LEFT JOIN paid ON h_w_id = w AND h_d_id = d AND h_c_w_id = c_w \
                 AND h_c_d_id = c_d AND h_c_id = c AND h_amount * 100 = cents \
             WHERE coalesce(times, 0) < n",
            rows.join(", ")
        );
        assert_eq!(connection.number(&sql).await, 0, "payments are missing");
    }
}

/// Values of a line as a row of SQL.
fn row(values: &[Value]) -> String {
    let values: Vec<String> = values.iter().map(Value::to_string).collect();
    format!("({})", values.join(", "))
}

/// Each of these orders is there as `condition` says, and none is named twice.
async fn assert_orders(connection: &mut impl Asked, keys: &[String], condition: &str) {
    let once: BTreeSet<&String> = keys.iter().collect();
    assert_eq!(once.len(), keys.len(), "an order is named twice");
    if keys.is_empty() {
        return;
    }
    let sql = format!(
        "WITH noted (w, d, o) AS (VALUES {}) SELECT count(*) FROM noted \
         JOIN orders ON o_w_id = w AND o_d_id = d AND o_id = o WHERE {condition}",
        keys.join(", ")
    );
    let found = connection.number(&sql).await;
    assert_eq!(found, keys.len() as i64, "{condition}");
}
