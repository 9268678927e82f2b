//! Where a server is and who asks.

use crate::plan::{self, Protocol, Refusal};

/// All that is needed to open a connection.
#[derive(Clone)]
pub struct Config {
    /// Host name or address; beginning with `/` it is the folder of a Unix socket.
    pub host: String,
    /// TCP port, or the number in the name of the Unix socket.
    pub port: u16,
    /// Role to log in as.
    pub user: String,
    /// Database to use.
    pub database: String,
    /// Password, if the server asks for one.
    pub password: Option<String>,
    /// Settings of the session, sent with the start-up message.
    pub settings: Vec<(&'static str, String)>,
}

impl Config {
    /// The server that a plan names, with the password from the environment.
    ///
    /// # Errors
    /// A [`Refusal`] if the plan names no PostgreSQL, or a password that is not there.
    pub fn from_plan(connection: &plan::Connection) -> Result<Self, Refusal> {
        if connection.protocol != Protocol::Postgresql {
            return Err(Refusal::new(
                "connection.protocol",
                "this workload needs a server; write \"postgresql\"",
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
            settings: Vec::new(),
        })
    }

    /// The same server with one more setting for its sessions.
    #[must_use]
    pub fn with_setting(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.settings.push((name, value.into()));
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
            .field("settings", &self.settings)
            .finish()
    }
}
