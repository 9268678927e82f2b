//! A lean PostgreSQL client: one connection, prepared statements, pipelines and COPY.
//!
//! It exists because the load driver must cost less per statement than a general client does. A
//! statement that is already prepared needs no allocation: parameters are encoded into one reused
//! buffer, answers are read in place from another. Messages of the frontend, SCRAM and the encoding
//! of values come from the `postgres-protocol` crate; the reader is our own because it borrows.
//!
//! How a pipeline is written:
//!
//! ```ignore
//! connection.queue(&BEGIN, &[])?;
//! connection.queue(&READ, &[Param::Int4(7)])?;
//! connection.sync().await?;                       // one write
//! connection.done().await?;                       // the answers, in order
//! connection.rows(|mut row| { balance = row.int4()?; Ok(()) }).await?;
//! connection.ready().await?;                      // ReadyForQuery
//! ```
//!
//! An error of the server anywhere in it reads on to `ReadyForQuery` before it is returned, so the
//! connection can be used again; see [`Connection::abort`] for the transaction that may still be open.

mod bulk;
mod config;
mod connection;
mod copy;
mod decimal;
mod error;
mod param;
mod row;
mod startup;
mod text;
mod wire;

pub use bulk::Rows;
pub use config::{Config, Setting};
pub use connection::{Connection, Statement, Status};
pub use copy::{CopyIn, TupleWriter};
pub use error::Error;
pub use param::Param;
pub use row::Row;
use wire::{Message, has_message, next_message, peek_tag};
