//! Order entry, derived from TPC-C revision 5.11: the load and the five transactions.
//!
//! Where it differs from the specification:
//! * the items of one order are distinct (see [`lines::Lines`]), so that its lines can be one
//!   set-wise update of the stock;
//! * the times of orders, payments and deliveries are the server's clock; those of loaded rows are
//!   one fixed day, so that the same seed gives the same bytes;
//! * no terminals: what a terminal would show is read from the server and not displayed.

pub mod acknowledgements;
pub mod engine;
pub mod inputs;
pub mod lines;
pub mod load;
pub mod mariadb;
pub mod parameters;
pub mod postgres;
pub mod random;
mod session;
pub mod sqlite;
mod styles;

pub use load::OltpLoad;
pub use session::{OltpRun, RunSession};
