//! What a plan says about order entry.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

pub use crate::parameters::{read, refuse};
use crate::plan::Refusal;
use crate::plan::limits::{MOST_CARDS, MOST_WAREHOUSES};

/// Districts of a warehouse.
pub const DISTRICTS: u32 = 10;
/// Customers of a district, and its orders after the load.
pub const CUSTOMERS: u32 = 3_000;
/// Items, and stock rows of a warehouse.
pub const ITEMS: u32 = 100_000;

/// Names of the transactions, by their position in [`Kind`].
pub const OPERATIONS: [&str; 5] = [
    "new-order",
    "payment",
    "order-status",
    "delivery",
    "stock-level",
];

/// The five transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A customer orders 5 to 15 items.
    NewOrder,
    /// A customer pays.
    Payment,
    /// A customer asks for the last order.
    OrderStatus,
    /// The oldest orders of all districts are delivered.
    Delivery,
    /// How many items of the last orders are low in stock.
    StockLevel,
}

impl Kind {
    /// All, in the order of [`OPERATIONS`].
    pub const ALL: [Self; 5] = [
        Self::NewOrder,
        Self::Payment,
        Self::OrderStatus,
        Self::Delivery,
        Self::StockLevel,
    ];
}

/// How a transaction is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// Prepared statements of the client.
    #[default]
    Statements,
    /// One call of a stored function.
    Procedures,
}

/// Where a user is at home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// At one warehouse for all time, as a terminal is.
    #[default]
    PerUser,
    /// At a warehouse drawn anew for each transaction.
    Any,
}

/// Isolation level of all transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
pub enum Isolation {
    /// READ COMMITTED
    #[default]
    #[serde(rename = "read committed")]
    ReadCommitted,
    /// REPEATABLE READ
    #[serde(rename = "repeatable read")]
    RepeatableRead,
    /// SERIALIZABLE
    #[serde(rename = "serializable")]
    Serializable,
}

impl Isolation {
    /// The words of SQL for it.
    pub fn sql(self) -> &'static str {
        match self {
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Serializable => "serializable",
        }
    }
}

/// Parameters of both roles; the load uses `warehouses` alone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunParameters {
    /// Warehouses of the database.
    pub warehouses: u32,
    /// How a transaction is made.
    #[serde(default)]
    pub style: Style,
    /// Cards of each transaction in the deck, by name.
    #[serde(default = "standard_mix")]
    pub mix: BTreeMap<String, u32>,
    /// Where a user is at home.
    #[serde(default)]
    pub home: Home,
    /// Isolation level of all transactions.
    #[serde(default)]
    pub isolation: Isolation,
}

/// The deck of clause 5.2.4.2: of 23 cards 10, 10, 1, 1 and 1.
fn standard_mix() -> BTreeMap<String, u32> {
    OPERATIONS
        .iter()
        .zip([10, 10, 1, 1, 1])
        .map(|(name, cards)| ((*name).to_owned(), cards))
        .collect()
}

impl RunParameters {
    /// Reads and checks the parameters of a plan.
    ///
    /// # Errors
    /// A [`Refusal`] that names the wrong field.
    pub fn parse(parameters: &Map<String, Value>) -> Result<Self, Refusal> {
        let parsed: Self = read(parameters)?;
        check_warehouses(parsed.warehouses)?;
        parsed.deck()?;
        Ok(parsed)
    }

    /// The cards of the mix, not shuffled.
    ///
    /// # Errors
    /// A [`Refusal`] that names what is wrong with the mix.
    pub fn deck(&self) -> Result<Vec<Kind>, Refusal> {
        let mut deck = Vec::new();
        for (name, cards) in &self.mix {
            let field = format!("mix.{name}");
            let Some(kind) = OPERATIONS.iter().position(|known| known == name) else {
                let problem = format!("no such transaction; known are {}", OPERATIONS.join(", "));
                return Err(refuse(&field, problem));
            };
            if *cards > MOST_CARDS {
                return Err(refuse(&field, format!("{cards} is more than {MOST_CARDS}")));
            }
            deck.extend(std::iter::repeat_n(Kind::ALL[kind], *cards as usize));
        }
        if deck.is_empty() {
            return Err(refuse("mix", "no transaction has a card"));
        }
        Ok(deck)
    }
}

fn check_warehouses(warehouses: u32) -> Result<(), Refusal> {
    if (1..=MOST_WAREHOUSES).contains(&warehouses) {
        return Ok(());
    }
    Err(refuse(
        "warehouses",
        format!("{warehouses} is not between 1 and {MOST_WAREHOUSES}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(parameters: &Value) -> Result<RunParameters, Refusal> {
        RunParameters::parse(parameters.as_object().expect("an object"))
    }

    #[test]
    fn the_standard_deck_has_23_cards() {
        let deck = parse(&json!({"warehouses": 1})).unwrap().deck().unwrap();
        let count = |kind| deck.iter().filter(|card| **card == kind).count();
        assert_eq!(Kind::ALL.map(count), [10, 10, 1, 1, 1]);
    }

    #[test]
    fn a_wrong_field_is_named() {
        let cases = [
            (json!({}), "warehouses"),
            (json!({"warehouses": 0}), "warehouses"),
            (json!({"warehouses": 1, "stile": "statements"}), "stile"),
            (json!({"warehouses": 1, "style": "poetry"}), "poetry"),
            (json!({"warehouses": 1, "mix": {"paiment": 1}}), "paiment"),
            (json!({"warehouses": 1, "mix": {"payment": 0}}), "mix"),
            (json!({"warehouses": 1, "isolation": "none"}), "none"),
        ];
        for (parameters, word) in cases {
            let refusal = parse(&parameters).unwrap_err();
            assert!(
                refusal.to_string().contains(word),
                "{refusal} does not name {word}"
            );
        }
    }
}
