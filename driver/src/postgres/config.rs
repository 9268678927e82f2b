//! Where a PostgreSQL server is and who asks.

use crate::plan::{self, Protocol, Refusal};
use crate::server;

/// Name and value of a setting of the session.
pub type Setting = (&'static str, String);

/// All that is needed to open a connection. A `host` that begins with `/` is the folder of a Unix socket,
/// `port` the number in its name; the settings of `opening` are sent with the start-up message.
pub type Config = server::Config<Setting>;

impl Config {
    /// The server that a plan names, with the password from the environment.
    ///
    /// # Errors
    /// A [`Refusal`] if the plan names no PostgreSQL, or a password that is not there.
    pub fn from_plan(connection: &plan::Connection) -> Result<Self, Refusal> {
        match connection.protocol {
            Protocol::Postgresql => Self::new(connection),
            _ => Err(Refusal::new(
                "connection.protocol",
                "this workload needs a server; write \"postgresql\"",
            )),
        }
    }

    /// The server's address, as messages name it; of a local one the path of its socket.
    pub fn address(&self) -> String {
        match self.is_local() {
            true => format!("{}/.s.PGSQL.{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}
