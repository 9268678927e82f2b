//! How commits of order entry are listed.

use std::fmt::Write as _;

use super::engine::{Delivered, Key};
use super::session::Chosen;

/// Writes the operation and the keys of what was committed.
///
/// # Errors
/// None: writing to a String does not fail.
pub fn describe(line: &mut String, chosen: &Chosen, key: &Key) -> std::fmt::Result {
    match (chosen, key) {
        (Chosen::NewOrder(order), Key::Order(number)) => write!(
            line,
            "\"new-order\",{},{},{number}",
            order.warehouse, order.district
        ),
        (Chosen::Payment(payment), Key::Customer(customer)) => write!(
            line,
            "\"payment\",{},{},{},{},{customer},{}",
            payment.warehouse,
            payment.district,
            payment.customer_warehouse,
            payment.customer_district,
            payment.amount_cents
        ),
        (Chosen::Delivery(delivery), Key::Delivered(orders)) => {
            write!(line, "\"delivery\",{},[", delivery.warehouse)?;
            describe_orders(line, orders)?;
            line.write_char(']')
        }
        (chosen, key) => unreachable!("{key:?} is no key of {chosen:?}"),
    }
}

fn describe_orders(line: &mut String, delivered: &Delivered) -> std::fmt::Result {
    for (at, (district, order)) in delivered
        .districts()
        .iter()
        .zip(delivered.orders())
        .enumerate()
    {
        let comma = if at == 0 { "" } else { "," };
        write!(line, "{comma}[{district},{order}]")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::acknowledgements::{Acknowledgements, Acknowledger};
    use crate::clock::Epoch;
    use crate::oltp::inputs::{Delivery, Payment, Who};

    #[test]
    fn each_commit_is_a_line_of_json() {
        let path = std::env::temp_dir().join(format!("ls-acks-{}", std::process::id()));
        let text = path.display().to_string();
        let list = Acknowledgements::open(&text, Epoch::start()).expect("a file");
        let mut user = Acknowledger::new(list, 7);
        let payment = Chosen::Payment(Payment {
            warehouse: 1,
            district: 2,
            customer_warehouse: 3,
            customer_district: 4,
            who: Who::Number(5),
            amount_cents: 600,
        });
        let delivery = Chosen::Delivery(Delivery {
            warehouse: 9,
            carrier: 1,
        });
        let mut delivered = Delivered::default();
        user.note(|line| describe(line, &payment, &Key::Customer(5)))
            .expect("written");
        user.note(|line| describe(line, &delivery, &Key::Delivered(delivered)))
            .expect("written");
        assert!(delivered.add(1, 2101) && delivered.add(3, 2102));
        user.note(|line| describe(line, &delivery, &Key::Delivered(delivered)))
            .expect("written");
        let lines = std::fs::read_to_string(&path).expect("the file");
        std::fs::remove_file(&path).expect("removed");
        let lines: Vec<serde_json::Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let rests: Vec<_> = lines
            .iter()
            .map(|line| json!(line.as_array().expect("a list")[1..]))
            .collect();
        assert_eq!(
            rests,
            [
                json!([7, "payment", 1, 2, 3, 4, 5, 600]),
                json!([7, "delivery", 9, []]),
                json!([7, "delivery", 9, [[1, 2101], [3, 2102]]]),
            ]
        );
        assert!(lines[0][0].as_f64().expect("seconds") >= 0.0);
    }
}
