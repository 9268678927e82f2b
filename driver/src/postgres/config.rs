//! Where a server is and who asks.

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
