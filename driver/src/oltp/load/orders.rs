//! Rows of `orders`, `new_order` and `order_line` (clause 4.3.3.1).
//!
//! In each district every customer has one order, by a random permutation. The last 900 of the 3,000
//! orders are not delivered.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::Rows;
use super::fields::LOADED_AT;
use super::row::RowWriter;
use crate::decimal::Decimal;
use crate::oltp::parameters::{CUSTOMERS, DISTRICTS, ITEMS};
use crate::oltp::random::{Purpose, Stream, fill_alphanumeric, stream};

/// The first order of a district that is not delivered.
const FIRST_NEW: u32 = 2101;
const QUANTITY: i16 = 5;

/// What `orders` and `order_line` both need to know of an order.
#[derive(Debug, Clone, Copy)]
struct Head {
    customer: i32,
    carrier: i16,
    lines: i16,
}

/// The orders of one district after the other, in the order of their numbers.
#[derive(Debug)]
struct Heads {
    seed: u64,
    warehouse: u32,
    district: u32,
    order: u32,
    heads: Vec<Head>,
}

impl Heads {
    fn new(seed: u64, warehouse: u32) -> Self {
        Self {
            seed,
            warehouse,
            district: 0,
            order: CUSTOMERS,
            heads: Vec::new(),
        }
    }

    /// District and number of the next order, and the order.
    fn next(&mut self) -> Option<(u32, u32, Head)> {
        if self.order == CUSTOMERS {
            if self.district == DISTRICTS {
                return None;
            }
            self.district += 1;
            self.order = 0;
            self.draw_district();
        }
        self.order += 1;
        Some((
            self.district,
            self.order,
            self.heads[self.order as usize - 1],
        ))
    }

    fn draw_district(&mut self) {
        let index = u64::from(self.warehouse) * u64::from(DISTRICTS + 1) + u64::from(self.district);
        let mut rng = stream(self.seed, Purpose::Order, index);
        let mut customers: Vec<i32> = (1..=CUSTOMERS as i32).collect();
        customers.shuffle(&mut rng);
        self.heads.clear();
        self.heads
            .extend(customers.into_iter().map(|customer| Head {
                customer,
                carrier: rng.random_range(1..=10),
                lines: rng.random_range(5..=15),
            }));
    }
}

#[derive(Debug)]
pub struct Orders {
    heads: Heads,
    warehouse: i32,
}

impl Orders {
    pub fn new(seed: u64, warehouse: u32) -> Self {
        Self {
            heads: Heads::new(seed, warehouse),
            warehouse: warehouse as i32,
        }
    }
}

impl Rows for Orders {
    const TABLE: &'static str = "orders";
    const COLUMNS: i16 = 8;

    fn write_next(&mut self, row: &mut impl RowWriter) -> bool {
        let Some((district, order, head)) = self.heads.next() else {
            return false;
        };
        let row = row.begin(Self::COLUMNS);
        row.int4(order as i32)
            .int2(district as i16)
            .int4(self.warehouse)
            .int4(head.customer);
        row.timestamp(LOADED_AT);
        match order {
            FIRST_NEW.. => row.null(),
            _ => row.int2(head.carrier),
        };
        row.int2(head.lines).int2(1);
        true
    }
}

#[derive(Debug)]
pub struct NewOrders {
    warehouse: i32,
    district: u32,
    order: u32,
}

impl NewOrders {
    pub fn new(warehouse: u32) -> Self {
        Self {
            warehouse: warehouse as i32,
            district: 1,
            order: FIRST_NEW,
        }
    }
}

impl Rows for NewOrders {
    const TABLE: &'static str = "new_order";
    const COLUMNS: i16 = 3;

    fn write_next(&mut self, row: &mut impl RowWriter) -> bool {
        if self.order > CUSTOMERS {
            self.order = FIRST_NEW;
            self.district += 1;
        }
        if self.district > DISTRICTS {
            return false;
        }
        let row = row.begin(Self::COLUMNS);
        row.int4(self.order as i32)
            .int2(self.district as i16)
            .int4(self.warehouse);
        self.order += 1;
        true
    }
}

#[derive(Debug)]
pub struct OrderLines {
    rng: Stream,
    heads: Heads,
    warehouse: i32,
    district: u32,
    order: u32,
    number: i16,
    last: i16,
}

impl OrderLines {
    pub fn new(seed: u64, warehouse: u32) -> Self {
        Self {
            rng: stream(seed, Purpose::OrderLine, u64::from(warehouse)),
            heads: Heads::new(seed, warehouse),
            warehouse: warehouse as i32,
            district: 0,
            order: 0,
            number: 0,
            last: 0,
        }
    }
}

impl Rows for OrderLines {
    const TABLE: &'static str = "order_line";
    const COLUMNS: i16 = 10;

    fn write_next(&mut self, row: &mut impl RowWriter) -> bool {
        if self.number == self.last {
            let Some((district, order, head)) = self.heads.next() else {
                return false;
            };
            (self.district, self.order, self.number, self.last) = (district, order, 0, head.lines);
        }
        self.number += 1;
        let rng = &mut self.rng;
        let row = row.begin(Self::COLUMNS);
        row.int4(self.order as i32)
            .int2(self.district as i16)
            .int4(self.warehouse)
            .int2(self.number);
        row.int4(rng.random_range(1..=ITEMS as i32))
            .int4(self.warehouse);
        if self.order < FIRST_NEW {
            row.timestamp(LOADED_AT)
                .int2(QUANTITY)
                .numeric(Decimal::cents(0));
        } else {
            row.null()
                .int2(QUANTITY)
                .numeric(Decimal::cents(rng.random_range(1..=999_999)));
        }
        row.text_with(24, |room| fill_alphanumeric(rng, room));
        true
    }
}
