//! Where a server is and who asks, for all protocols.

use std::fmt::{Debug, Formatter};
use std::future::Future;

use crate::clock::{to_ns, to_s};
use crate::plan::{self, Refusal};
use crate::race::unless;
use crate::timer::Timer;

/// All that is needed to open a connection. `S` is what a protocol lets each session begin with.
#[derive(Clone)]
pub struct Config<S> {
    /// Host name or address; beginning with `/` it is a Unix socket, as the protocol names it.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Account to log in as.
    pub user: String,
    /// Database to use.
    pub database: String,
    /// Password, if the account has one.
    pub password: Option<String>,
    /// Time that the server may take to accept the connection and the log-in, in nanoseconds.
    pub connect_timeout_ns: u64,
    /// What each session begins with.
    pub opening: Vec<S>,
}

impl<S> Config<S> {
    /// The server that a plan names, with the password from the environment.
    ///
    /// # Errors
    /// A [`Refusal`] if the password is not there.
    pub fn new(connection: &plan::Connection) -> Result<Self, Refusal> {
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

    /// Whether the server is reached by a Unix socket.
    pub fn is_local(&self) -> bool {
        self.host.starts_with('/')
    }

    /// The same server with one more thing that its sessions begin with.
    #[must_use]
    pub fn with_opening(mut self, opening: S) -> Self {
        self.opening.push(opening);
        self
    }

    /// What `opening` gives, if it does in the time that the server may take; the thread must have a
    /// [`Timer`].
    ///
    /// # Errors
    /// That it took too long, in words.
    pub async fn in_time<T>(&self, opening: impl Future<Output = T>) -> Result<T, String> {
        let timer = Timer::current();
        let too_late = timer.sleep_until(timer.now_ns() + self.connect_timeout_ns);
        unless(too_late, opening).await.ok_or_else(|| {
            let seconds = to_s(self.connect_timeout_ns);
            format!("no answer in {seconds} s (connection.connect_timeout_s)")
        })
    }
}

impl<S: Debug> Debug for Config<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
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
