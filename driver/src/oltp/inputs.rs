//! The inputs of the five transactions (clauses 2.4.1 to 2.8.1).

use rand::{Rng, RngExt};

use super::lines::{Lines, remote_warehouse};
use super::parameters::{CUSTOMERS, DISTRICTS};
use super::random::{A_CUSTOMER, A_LAST, Constants, LastName, nu_rand};

/// Where a transaction is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Warehouse of the terminal.
    pub warehouse: i32,
    /// District of the terminal, for `stock-level`.
    pub district: i16,
}

/// What all draws share.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Warehouses of the database.
    pub warehouses: u32,
    /// NURand's constants.
    pub constants: Constants,
}

/// Which customer is meant: 60 % by last name, 40 % by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// By number.
    Number(i32),
    /// By last name: the middle one of those who bear it.
    Name(LastName),
}

/// Inputs of `new-order`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewOrder {
    /// `w_id`
    pub warehouse: i32,
    /// `d_id`
    pub district: i16,
    /// `c_id`
    pub customer: i32,
    /// Lines, by supplying warehouse and item: all orders lock stock in this order.
    pub lines: Lines,
}

/// Inputs of `payment`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payment {
    /// `w_id`
    pub warehouse: i32,
    /// `d_id`
    pub district: i16,
    /// `c_w_id`
    pub customer_warehouse: i32,
    /// `c_d_id`
    pub customer_district: i16,
    /// Which customer.
    pub who: Who,
    /// `h_amount` in cents.
    pub amount_cents: i64,
}

/// Inputs of `order-status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderStatus {
    /// `c_w_id`
    pub warehouse: i32,
    /// `c_d_id`
    pub district: i16,
    /// Which customer.
    pub who: Who,
}

/// Inputs of `delivery`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// `w_id`
    pub warehouse: i32,
    /// `o_carrier_id`
    pub carrier: i16,
}

/// Inputs of `stock-level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockLevel {
    /// `w_id`
    pub warehouse: i32,
    /// `d_id`
    pub district: i16,
    /// Below this quantity stock is low.
    pub threshold: i16,
}

impl Who {
    fn draw(rng: &mut impl Rng, constants: &Constants) -> Self {
        if rng.random_range(1..=100) <= 60 {
            Self::Name(LastName::of(nu_rand(rng, A_LAST, constants.last, 0, 999)))
        } else {
            Self::Number(customer(rng, constants))
        }
    }
}

fn customer(rng: &mut impl Rng, constants: &Constants) -> i32 {
    nu_rand(rng, A_CUSTOMER, constants.customer, 1, CUSTOMERS) as i32
}

/// A district drawn evenly.
pub fn any_district(rng: &mut impl Rng) -> i16 {
    rng.random_range(1..=DISTRICTS as i16)
}

impl NewOrder {
    /// Draws the inputs (clause 2.4.1).
    pub fn draw(rng: &mut impl Rng, place: Place, scale: &Scale) -> Self {
        Self {
            warehouse: place.warehouse,
            district: any_district(rng),
            customer: customer(rng, &scale.constants),
            lines: Lines::draw(rng, place.warehouse, scale),
        }
    }

    /// Whether all lines are supplied by the home warehouse: `o_all_local`.
    pub fn all_local(&self) -> i16 {
        i16::from(
            self.lines
                .suppliers()
                .iter()
                .all(|supplier| *supplier == self.warehouse),
        )
    }
}

impl Payment {
    /// Draws the inputs (clause 2.5.1): 15 % of the customers belong to another warehouse.
    pub fn draw(rng: &mut impl Rng, place: Place, scale: &Scale) -> Self {
        let district = any_district(rng);
        let remote = rng.random_range(1..=100) > 85;
        let (customer_warehouse, customer_district) = if remote {
            (
                remote_warehouse(rng, place.warehouse, scale.warehouses),
                any_district(rng),
            )
        } else {
            (place.warehouse, district)
        };
        Self {
            warehouse: place.warehouse,
            district,
            customer_warehouse,
            customer_district,
            who: Who::draw(rng, &scale.constants),
            amount_cents: rng.random_range(100..=500_000),
        }
    }
}

impl OrderStatus {
    /// Draws the inputs (clause 2.6.1).
    pub fn draw(rng: &mut impl Rng, place: Place, scale: &Scale) -> Self {
        Self {
            warehouse: place.warehouse,
            district: any_district(rng),
            who: Who::draw(rng, &scale.constants),
        }
    }
}

impl Delivery {
    /// Draws the inputs (clause 2.7.1).
    pub fn draw(rng: &mut impl Rng, place: Place) -> Self {
        Self {
            warehouse: place.warehouse,
            carrier: rng.random_range(1..=10),
        }
    }
}

impl StockLevel {
    /// Draws the inputs (clause 2.8.1).
    pub fn draw(rng: &mut impl Rng, place: Place) -> Self {
        Self {
            warehouse: place.warehouse,
            district: place.district,
            threshold: rng.random_range(10..=20),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oltp::lines::UNUSED_ITEM;
    use crate::oltp::random::{Purpose, stream};
    use proptest::prelude::*;

    fn scale(warehouses: u32) -> Scale {
        Scale {
            warehouses,
            constants: Constants::draw(7),
        }
    }

    proptest! {
        #[test]
        fn a_new_order_keeps_the_rules(seed in any::<u64>(), warehouses in 1_u32..20) {
            let mut rng = stream(seed, Purpose::User, 0);
            let place = Place { warehouse: 1, district: 1 };
            for _ in 0..50 {
                let order = NewOrder::draw(&mut rng, place, &scale(warehouses));
                let lines = &order.lines;
                prop_assert!((5..=15).contains(&lines.count()));
                prop_assert!((1..=10).contains(&order.district) && (1..=3000).contains(&order.customer));
                prop_assert!(lines.quantities().iter().all(|quantity| (1..=10).contains(quantity)));
                let keys: Vec<_> = lines.suppliers().iter().zip(lines.items()).collect();
                prop_assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "sorted and distinct");
                prop_assert!(lines.suppliers().iter().all(|w| (1..=warehouses as i32).contains(w)));
                prop_assert!(lines.items().iter().all(|item| (1..=UNUSED_ITEM).contains(item)));
            }
        }
    }

    #[test]
    fn shares_are_those_of_the_specification() {
        let mut rng = stream(11, Purpose::User, 3);
        let place = Place {
            warehouse: 3,
            district: 1,
        };
        let (scale, n) = (scale(10), 40_000);
        let orders: Vec<_> = (0..n)
            .map(|_| NewOrder::draw(&mut rng, place, &scale))
            .collect();
        let payments: Vec<_> = (0..n)
            .map(|_| Payment::draw(&mut rng, place, &scale))
            .collect();
        let share = |count: usize, of: usize| 100.0 * count as f64 / of as f64;
        let unused = orders
            .iter()
            .filter(|o| o.lines.items().contains(&UNUSED_ITEM))
            .count();
        let lines: usize = orders.iter().map(|o| o.lines.count()).sum();
        let remote: usize = orders
            .iter()
            .map(|o| o.lines.suppliers().iter().filter(|s| **s != 3).count())
            .sum();
        let away = payments
            .iter()
            .filter(|p| p.customer_warehouse != 3)
            .count();
        let named = payments
            .iter()
            .filter(|p| matches!(p.who, Who::Name(_)))
            .count();
        assert!((0.8..1.2).contains(&share(unused, n)));
        assert!((9.9..10.1).contains(&(lines as f64 / n as f64)));
        assert!((0.9..1.1).contains(&share(remote, lines)));
        assert!((14.0..16.0).contains(&share(away, n)));
        assert!((59.0..61.0).contains(&share(named, n)));
    }
}
