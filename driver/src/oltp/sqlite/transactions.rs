//! The thread's side: begin, make a transaction, and leave nothing open.

use rusqlite::{Connection, Statement};

use super::delivery::DeliveryStatements;
use super::new_order::NewOrderStatements;
use super::order_status::OrderStatusStatements;
use super::payment::PaymentStatements;
use super::stock_level::StockLevelStatement;
use crate::oltp::engine::Ending;
use crate::oltp::session::Chosen;
use crate::sqlite::{Clerk, Error};

/// Makes the five transactions.
#[derive(Debug)]
pub struct Transactor;

/// A connection and the prepared statements of all transactions.
pub struct Desk<'c> {
    connection: &'c Connection,
    begin_to_read: Statement<'c>,
    begin_to_write: Statement<'c>,
    commit: Statement<'c>,
    rollback: Statement<'c>,
    new_order: NewOrderStatements<'c>,
    payment: PaymentStatements<'c>,
    order_status: OrderStatusStatements<'c>,
    delivery: DeliveryStatements<'c>,
    stock_level: StockLevelStatement<'c>,
}

impl Clerk for Transactor {
    type Desk<'c> = Desk<'c>;
    type Job = Chosen;
    type Reply = Ending;

    fn settle(connection: &Connection) -> Result<Desk<'_>, Error> {
        Ok(Desk {
            connection,
            begin_to_read: connection.prepare("BEGIN DEFERRED")?,
            begin_to_write: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            rollback: connection.prepare("ROLLBACK")?,
            new_order: NewOrderStatements::prepare(connection)?,
            payment: PaymentStatements::prepare(connection)?,
            order_status: OrderStatusStatements::prepare(connection)?,
            delivery: DeliveryStatements::prepare(connection)?,
            stock_level: StockLevelStatement::prepare(connection)?,
        })
    }

    fn serve(desk: &mut Desk<'_>, chosen: Chosen) -> Result<Ending, Error> {
        let ending = desk.attempt(&chosen);
        // Some errors have ended the transaction already.
        if ending.is_err() && !desk.connection.is_autocommit() {
            desk.rollback.execute(())?;
        }
        ending
    }
}

impl Desk<'_> {
    fn attempt(&mut self, chosen: &Chosen) -> Result<Ending, Error> {
        match chosen {
            // One statement is its own transaction.
            Chosen::StockLevel(level) => return self.stock_level.run(level),
            Chosen::OrderStatus(_) => self.begin_to_read.execute(())?,
            _ => self.begin_to_write.execute(())?,
        };
        let ending = match chosen {
            Chosen::NewOrder(order) => self.new_order.run(order)?,
            Chosen::Payment(payment) => self.payment.run(payment)?,
            Chosen::OrderStatus(status) => self.order_status.run(status)?,
            Chosen::Delivery(delivery) => self.delivery.run(delivery)?,
            Chosen::StockLevel(level) => self.stock_level.run(level)?,
        };
        match ending {
            Ending::Committed(_) => self.commit.execute(())?,
            Ending::RolledBack => self.rollback.execute(())?,
        };
        Ok(ending)
    }
}
