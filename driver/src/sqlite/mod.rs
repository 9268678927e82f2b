//! SQLite within this process: each session has a thread and a connection of its own.
//!
//! A call of SQLite waits for the disk and for other writers, which a worker of the driver must not
//! do: it would hold up all the users of that worker. So the session sends a whole transaction to its
//! thread and awaits the answer, as it would with a server.

mod config;
mod error;
mod settings;
mod text;
mod thread;

pub use config::Config;
pub use error::Error;
pub use text::text_of;
pub use thread::{Clerk, EngineThread};
