//! A lean client of the protocol of MySQL, as MariaDB 10.6 and newer speak it: one connection, prepared
//! statements in binary, pipelines, bulk execution and LOAD DATA LOCAL.
//!
//! It exists because the load driver must cost less per statement than a general client does. A
//! statement that is already prepared needs no allocation: parameters are encoded into one reused
//! buffer and their types are sent once; answers are read in place from another buffer, and a server
//! that can (MariaDB) describes the columns of an answer once and not with each.
//!
//! The server reads commands one after the other, so several can travel in one write. Unlike
//! PostgreSQL it goes on after one that failed: **only commands that may run whatever became of those
//! before them belong into one pipeline**. The transactions therefore run with `autocommit = 0`, in
//! pipelines without COMMIT, and COMMIT goes out alone when all answers were good; what ran after a
//! command that failed is rolled back with it.
//!
//! ```ignore
//! connection.queue(&READ, &[Param::Int(7)])?;
//! connection.queue(&WRITE, &[Param::Int(7), Param::Text("seven")])?;
//! connection.send().await?;                       // one write
//! connection.rows(|mut row| { balance = row.int()?; Ok(()) }).await?;
//! connection.done().await?;                       // the answers, in order
//! ```

mod answer;
mod config;
mod connection;
mod error;
mod handshake;
mod local_infile;
mod login;
mod param;
mod row;
mod statement;
mod text;
mod wire;

pub use answer::Answer;
pub use config::Config;
pub use connection::Connection;
pub use error::Error;
pub use local_infile::{LineWriter, LoadData};
pub use param::{DateTime, Param};
pub use row::Row;
pub use statement::Statement;
