//! The list of commits that the engine acknowledged, against which a crash trial checks the data.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::sync::Arc;

use super::engine::{Delivered, Key};
use super::session::Chosen;
use crate::clock::{Epoch, to_s};
use crate::plan::Refusal;
use crate::session::{ErrorClass, Failure};

/// The file that all users append to.
#[derive(Debug)]
pub struct Acknowledgements {
    file: File,
    epoch: Epoch,
}

impl Acknowledgements {
    /// Opens `path` for appending; times are counted from `epoch`.
    ///
    /// # Errors
    /// A [`Refusal`] when the file cannot be opened.
    pub fn open(path: &str, epoch: Epoch) -> Result<Arc<Self>, Refusal> {
        let file = OpenOptions::new().append(true).create(true).open(path);
        let file = file.map_err(|error| {
            Refusal::new("acknowledgements", format!("cannot open {path}: {error}"))
        })?;
        Ok(Arc::new(Self { file, epoch }))
    }

    /// One write, so that a line is there as a whole or not at all, whatever kills the driver next.
    fn append(&self, line: &[u8]) -> io::Result<()> {
        loop {
            match (&self.file).write(line) {
                Ok(written) if written == line.len() => return Ok(()),
                Ok(_) => return Err(ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// One user's hold on the list.
#[derive(Debug)]
pub struct Acknowledger {
    list: Arc<Acknowledgements>,
    user: u32,
    line: String,
}

impl Acknowledger {
    /// The hold of user number `user`.
    pub fn new(list: Arc<Acknowledgements>, user: u32) -> Self {
        Self {
            list,
            user,
            line: String::new(),
        }
    }

    /// Appends a commit before the user goes on.
    ///
    /// # Errors
    /// A failure of class `acknowledgements` when the line was not written as a whole.
    pub fn note(&mut self, chosen: &Chosen, key: &Key) -> Result<(), Failure> {
        let at_s = to_s(self.list.epoch.now_ns());
        self.line.clear();
        // Writing to a String does not fail.
        let _ = write!(self.line, "[{at_s:.6},{},", self.user);
        let _ = describe(&mut self.line, chosen, key);
        self.line.push_str("]\n");
        self.list
            .append(self.line.as_bytes())
            .map_err(|error| Failure {
                class: ErrorClass("acknowledgements".into()),
                message: format!("a commit could not be noted: {error}"),
            })
    }
}

fn describe(line: &mut String, chosen: &Chosen, key: &Key) -> std::fmt::Result {
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
        user.note(&payment, &Key::Customer(5)).expect("written");
        user.note(&delivery, &Key::Delivered(delivered))
            .expect("written");
        assert!(delivered.add(1, 2101) && delivered.add(3, 2102));
        user.note(&delivery, &Key::Delivered(delivered))
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

    #[test]
    fn a_file_that_cannot_be_opened_is_refused() {
        let refusal = Acknowledgements::open("/nowhere/at/all", Epoch::start()).unwrap_err();
        assert_eq!(refusal.field, "acknowledgements");
    }
}
