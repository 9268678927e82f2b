//! Where a server is and who asks.

use crate::clock::to_ns;
use crate::plan::{self, Protocol, Refusal};

/// All that is needed to open a connection.
#[derive(Clone)]
pub struct Config {
    /// Host name or address; beginning with `/` it is the path of a Unix socket.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Account to log in as.
    pub user: String,
    /// Database to use; may be empty.
    pub database: String,
    /// Password, if the account has one.
    pub password: Option<String>,
    /// Time that the server may take to accept the connection and the log-in, in nanoseconds.
    pub connect_timeout_ns: u64,
    /// Statements that each session begins with.
    pub opening: Vec<String>,
}

impl Config {
    /// The server that a plan names, with the password from the environment.
    ///
    /// # Errors
    /// A [`Refusal`] if the plan names no such server, or a password that is not there.
    pub fn from_plan(connection: &plan::Connection) -> Result<Self, Refusal> {
        if connection.protocol != Protocol::Mysql {
            return Err(Refusal::new(
                "connection.protocol",
                "this workload needs a server; write \"mysql\"",
            ));
        }
        let password = connection.password_env.as_ref().map(|name| {
            std::env::var(name)
                .map_err(|_| Refusal::new("connection.password_env", format!("{name} is not set")))
        });
        Ok(Self {
            host: connection.host.clone(),
            port: connection.port,
            user: connection.user.clone(),
            database: connection.database.clone(),
            password: password.transpose()?,
            connect_timeout_ns: to_ns(connection.connect_timeout_s),
            opening: Vec::new(),
        })
    }

    /// The server's address, as messages name it.
    pub fn address(&self) -> String {
        match self.is_local() {
            true => self.host.clone(),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// Whether the server is reached by a Unix socket.
    pub fn is_local(&self) -> bool {
        self.host.starts_with('/')
    }

    /// The same server with one more statement that its sessions begin with.
    #[must_use]
    pub fn with_opening(mut self, sql: impl Into<String>) -> Self {
        self.opening.push(sql.into());
        self
    }
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("user", &self.user)
            .field("database", &self.database)
            .field("password", &self.password.as_ref().map(|_| "***"))
            .field("connect_timeout_ns", &self.connect_timeout_ns)
            .field("opening", &self.opening)
            .finish()
    }
}
