//! Where a server that speaks MySQL's protocol is and who asks.

use crate::plan::{self, Protocol, Refusal};
use crate::server;

/// All that is needed to open a connection. A `host` that begins with `/` is the path of a Unix socket;
/// `database` may be empty; `opening` are statements, which each session runs first.
pub type Config = server::Config<String>;

impl Config {
    /// The server that a plan names, with the password from the environment.
    ///
    /// # Errors
    /// A [`Refusal`] if the plan names no such server, or a password that is not there.
    pub fn from_plan(connection: &plan::Connection) -> Result<Self, Refusal> {
        match connection.protocol {
            Protocol::Mysql => Self::new(connection),
            _ => Err(Refusal::new(
                "connection.protocol",
                "this workload needs a server; write \"mysql\"",
            )),
        }
    }

    /// The server's address, as messages name it; of a local one the path of its socket.
    pub fn address(&self) -> String {
        match self.is_local() {
            true => self.host.clone(),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}
