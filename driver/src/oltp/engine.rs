//! What order entry needs of an engine: the five transactions, and a way to write rows in bulk.

use std::fmt::Debug;
use std::future::Future;

use super::inputs::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use super::load::Sink;
use super::parameters::DISTRICTS;
use crate::session::Failure;

/// An engine at an address. One value serves all sessions.
pub trait Engine: Debug + Send + Sync + 'static {
    /// A connection that makes transactions, in the style and isolation that the plan asks for.
    type Conversation: Conversation;
    /// A connection that loads.
    type Sink: Sink;

    /// Opens a connection for transactions.
    fn converse(&self) -> impl Future<Output = Result<Self::Conversation, Failure>>;

    /// Opens a connection for the load.
    fn sink(&self) -> impl Future<Output = Result<Self::Sink, Failure>>;

    /// Name and version of an engine within this process; a server tells its own.
    fn version(&self) -> Option<String> {
        None
    }

    /// Processor time, in seconds, that the engine has used within this process so far; `None` when
    /// it is a process of its own.
    fn cpu_s(&self) -> Option<f64> {
        None
    }
}

/// One connection of one user. Each function is one attempt of one transaction; after a failure that
/// is not fatal the conversation is ready for the next attempt, with nothing left open.
pub trait Conversation {
    /// `new-order` (clause 2.4.2). An item that does not exist rolls the order back.
    fn new_order(&mut self, order: &NewOrder) -> impl Future<Output = Result<Ending, Failure>>;

    /// `payment` (clause 2.5.2).
    fn payment(&mut self, payment: &Payment) -> impl Future<Output = Result<Ending, Failure>>;

    /// `order-status` (clause 2.6.2).
    fn order_status(
        &mut self,
        status: &OrderStatus,
    ) -> impl Future<Output = Result<Ending, Failure>>;

    /// `delivery` (clause 2.7.4): a district without a new order is passed over.
    fn delivery(&mut self, delivery: &Delivery) -> impl Future<Output = Result<Ending, Failure>>;

    /// `stock-level` (clause 2.8.2).
    fn stock_level(&mut self, level: &StockLevel) -> impl Future<Output = Result<Ending, Failure>>;

    /// Says goodbye to the engine.
    fn close(&mut self) -> impl Future<Output = ()>;
}

/// How a transaction ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The engine said that its changes are there; with what it wrote, where the client has learned it.
    Committed(Option<Key>),
    /// It took its changes back, as the workload asks.
    RolledBack,
}

/// The part of a committed transaction's keys that its inputs do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// `o_id` of a new order.
    Order(i32),
    /// `c_id` of the customer who paid.
    Customer(i32),
    /// The orders of a delivery.
    Delivered(Delivered),
}

const SLOTS: usize = DISTRICTS as usize;

/// The orders that one delivery took: at most one a district.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delivered {
    count: usize,
    districts: [i16; SLOTS],
    orders: [i32; SLOTS],
}

impl Delivered {
    /// Notes an order; false when there are more than districts.
    #[must_use]
    pub fn add(&mut self, district: i16, order: i32) -> bool {
        let (Some(place), Some(number)) = (
            self.districts.get_mut(self.count),
            self.orders.get_mut(self.count),
        ) else {
            return false;
        };
        (*place, *number) = (district, order);
        self.count += 1;
        true
    }

    /// `no_d_id` of each order.
    pub fn districts(&self) -> &[i16] {
        &self.districts[..self.count]
    }

    /// `no_o_id` of each order.
    pub fn orders(&self) -> &[i32] {
        &self.orders[..self.count]
    }
}

/// Most customers of one name in a district that are remembered; about three are usual.
const MAX_NAMESAKES: usize = 64;

/// The customers of one last name in a district, in the order of their first names.
#[derive(Debug)]
pub struct Namesakes {
    count: usize,
    numbers: [i32; MAX_NAMESAKES],
}

impl Default for Namesakes {
    fn default() -> Self {
        Self {
            count: 0,
            numbers: [0; MAX_NAMESAKES],
        }
    }
}

impl Namesakes {
    /// Adds the next one; those beyond the most are not counted.
    pub fn add(&mut self, number: i32) {
        if let Some(slot) = self.numbers.get_mut(self.count) {
            *slot = number;
            self.count += 1;
        }
    }

    /// The one at position n/2, rounded up, counted from 1 (clause 2.5.2.2).
    pub fn middle(&self) -> Option<i32> {
        let position = self.count.div_ceil(2).checked_sub(1)?;
        self.numbers.get(position).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_rounded_up() {
        let middle = |count| {
            let mut namesakes = Namesakes::default();
            (1..=count).for_each(|number| namesakes.add(number));
            namesakes.middle()
        };
        assert_eq!((middle(0), middle(1), middle(2)), (None, Some(1), Some(1)));
        assert_eq!((middle(3), middle(4)), (Some(2), Some(2)));
        assert_eq!(middle(1000), Some(32), "of those that are remembered");
    }

    #[test]
    fn a_delivery_has_room_for_each_district() {
        let mut delivered = Delivered::default();
        assert!((1..=10).all(|district| delivered.add(district, 7)));
        assert!(!delivered.add(11, 7));
        assert_eq!(delivered.districts().len(), 10);
    }
}
