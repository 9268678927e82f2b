//! Rows of `item`, `warehouse`, `district`, `customer`, `history` and `stock` (clause 4.3.3.1).

use rand::RngExt;

use super::Rows;
use super::fields::{LOADED_AT, address, alphanumeric, data};
use super::row::RowWriter;
use crate::decimal::Decimal;
use crate::oltp::parameters::{CUSTOMERS, DISTRICTS, ITEMS};
use crate::oltp::random::{
    A_LAST, LOAD_C_LAST, LastName, Purpose, Selection, Stream, fill_alphanumeric, fill_digits,
    nu_rand, stream,
};

const CUSTOMERS_OF_WAREHOUSE: u32 = DISTRICTS * CUSTOMERS;

/// Gives the numbers 1 to `last`.
#[derive(Debug)]
struct Counter {
    given: u32,
    last: u32,
}

impl Counter {
    fn to(last: u32) -> Self {
        Self { given: 0, last }
    }

    fn next(&mut self) -> Option<u32> {
        self.given += 1;
        (self.given <= self.last).then_some(self.given)
    }

    /// The next district and customer of a warehouse.
    fn next_customer(&mut self) -> Option<(u32, u32)> {
        let nth = self.next()? - 1;
        Some((nth / CUSTOMERS + 1, nth % CUSTOMERS + 1))
    }
}

fn rate(rng: &mut Stream, most: i64) -> Decimal {
    Decimal::ten_thousandths(rng.random_range(0..=most))
}

#[derive(Debug)]
pub struct Items {
    rng: Stream,
    counter: Counter,
    original: Selection,
}

impl Items {
    pub fn new(seed: u64) -> Self {
        Self {
            rng: stream(seed, Purpose::Item, 0),
            counter: Counter::to(ITEMS),
            original: Selection::tenth(ITEMS),
        }
    }
}

impl Rows for Items {
    const TABLE: &'static str = "item";
    const COLUMNS: i16 = 5;

    fn write_next(&mut self, row: &mut impl RowWriter) -> bool {
        let Some(item) = self.counter.next() else {
            return false;
        };
        let rng = &mut self.rng;
        let row = row.begin(Self::COLUMNS);
        row.int4(item as i32).int4(rng.random_range(1..=10_000));
        alphanumeric(row, rng, 14, 24);
        row.numeric(Decimal::cents(rng.random_range(100..=10_000)));
        let original = self.original.next(rng);
        data(row, rng, original);
        true
    }
}

#[derive(Debug)]
pub struct Warehouse {
    rng: Stream,
    warehouse: i32,
    counter: Counter,
}

impl Warehouse {
    pub fn new(seed: u64, warehouse: u32) -> Self {
        Self {
            rng: stream(seed, Purpose::Warehouse, u64::from(warehouse)),
            warehouse: warehouse as i32,
            counter: Counter::to(1),
        }
    }
}

impl Rows for Warehouse {
    const TABLE: &'static str = "warehouse";
    const COLUMNS: i16 = 9;

    fn write_next(&mut self, row: &mut impl RowWriter) -> bool {
        if self.counter.next().is_none() {
            return false;
        }
        let row = row.begin(Self::COLUMNS);
        row.int4(self.warehouse);
        alphanumeric(row, &mut self.rng, 6, 10);
        address(row, &mut self.rng);
        row.numeric(rate(&mut self.rng, 2000))
            .numeric(Decimal::cents(30_000_000));
        true
    }
}

#[derive(Debug)]
pub struct Districts {
    rng: Stream,
    warehouse: i32,
    counter: Counter,
}

impl Districts {
    pub fn new(seed: u64, warehouse: u32) -> Self {
        Self {
            rng: stream(seed, Purpose::District, u64::from(warehouse)),
            warehouse: warehouse as i32,
            counter: Counter::to(DISTRICTS),
        }
    }
}

impl Rows for Districts {
    const TABLE: &'static str = "district";
    const COLUMNS: i16 = 11;

    fn write_next(&mut self, row: &mut impl RowWriter) -> bool {
        let Some(district) = self.counter.next() else {
            return false;
        };
        let row = row.begin(Self::COLUMNS);
        row.int2(district as i16).int4(self.warehouse);
        alphanumeric(row, &mut self.rng, 6, 10);
        address(row, &mut self.rng);
        row.numeric(rate(&mut self.rng, 2000))
            .numeric(Decimal::cents(3_000_000));
        row.int4(CUSTOMERS as i32 + 1);
        true
    }
}

#[derive(Debug)]
pub struct Customers {
    rng: Stream,
    warehouse: i32,
    counter: Counter,
    bad_credit: Selection,
}

impl Customers {
    pub fn new(seed: u64, warehouse: u32) -> Self {
        Self {
            rng: stream(seed, Purpose::Customer, u64::from(warehouse)),
            warehouse: warehouse as i32,
            counter: Counter::to(CUSTOMERS_OF_WAREHOUSE),
            bad_credit: Selection::tenth(CUSTOMERS_OF_WAREHOUSE),
        }
    }

    /// The first thousand of a district bear all names once, the others by NURand(255, 0, 999).
    fn last_name(&mut self, customer: u32) -> LastName {
        LastName::of(match customer {
            1..=1000 => customer - 1,
            _ => nu_rand(&mut self.rng, A_LAST, LOAD_C_LAST, 0, 999),
        })
    }
}

impl Rows for Customers {
    const TABLE: &'static str = "customer";
    const COLUMNS: i16 = 21;

    fn write_next(&mut self, row: &mut impl RowWriter) -> bool {
        let Some((district, customer)) = self.counter.next_customer() else {
            return false;
        };
        let last = self.last_name(customer);
        let rng = &mut self.rng;
        let credit = if self.bad_credit.next(rng) {
            b"BC"
        } else {
            b"GC"
        };
        let row = row.begin(Self::COLUMNS);
        row.int4(customer as i32)
            .int2(district as i16)
            .int4(self.warehouse);
        alphanumeric(row, rng, 8, 16);
        row.text(b"OE").text(last.as_bytes());
        address(row, rng);
        row.text_with(16, |room| fill_digits(rng, room));
        row.timestamp(LOADED_AT)
            .text(credit)
            .numeric(Decimal::cents(5_000_000));
        row.numeric(rate(rng, 5000))
            .numeric(Decimal::cents(-1000))
            .numeric(Decimal::cents(1000));
        row.int4(1).int4(0);
        alphanumeric(row, rng, 300, 500);
        true
    }
}

#[derive(Debug)]
pub struct History {
    rng: Stream,
    warehouse: i32,
    counter: Counter,
}

impl History {
    pub fn new(seed: u64, warehouse: u32) -> Self {
        Self {
            rng: stream(seed, Purpose::History, u64::from(warehouse)),
            warehouse: warehouse as i32,
            counter: Counter::to(CUSTOMERS_OF_WAREHOUSE),
        }
    }
}

impl Rows for History {
    const TABLE: &'static str = "history";
    const COLUMNS: i16 = 8;

    fn write_next(&mut self, row: &mut impl RowWriter) -> bool {
        let Some((district, customer)) = self.counter.next_customer() else {
            return false;
        };
        let row = row.begin(Self::COLUMNS);
        row.int4(customer as i32)
            .int2(district as i16)
            .int4(self.warehouse);
        row.int2(district as i16).int4(self.warehouse);
        row.timestamp(LOADED_AT).numeric(Decimal::cents(1000));
        alphanumeric(row, &mut self.rng, 12, 24);
        true
    }
}

#[derive(Debug)]
pub struct Stock {
    rng: Stream,
    warehouse: i32,
    counter: Counter,
    original: Selection,
}

impl Stock {
    pub fn new(seed: u64, warehouse: u32) -> Self {
        Self {
            rng: stream(seed, Purpose::Stock, u64::from(warehouse)),
            warehouse: warehouse as i32,
            counter: Counter::to(ITEMS),
            original: Selection::tenth(ITEMS),
        }
    }
}

impl Rows for Stock {
    const TABLE: &'static str = "stock";
    const COLUMNS: i16 = 17;

    fn write_next(&mut self, row: &mut impl RowWriter) -> bool {
        let Some(item) = self.counter.next() else {
            return false;
        };
        let rng = &mut self.rng;
        let row = row.begin(Self::COLUMNS);
        row.int4(item as i32)
            .int4(self.warehouse)
            .int2(rng.random_range(10..=100));
        for _ in 0..DISTRICTS {
            row.text_with(24, |room| fill_alphanumeric(rng, room));
        }
        row.numeric(Decimal {
            unscaled: 0,
            scale: 0,
        })
        .int4(0)
        .int4(0);
        let original = self.original.next(rng);
        data(row, rng, original);
        true
    }
}
