//! The role `log-in`: the sessions of a load are opened, and nothing is asked of the server.
//!
//! So it is known before anything is touched whether the driver's own log-in, its encryption and the number
//! of its sessions are to the server's liking.

use crate::plan::{Connection, Protocol, Refusal};
use crate::session::{Failure, OperationId, Outcome, Session, Workload};
use crate::{mysql, nfs, postgres};

/// A server to which sessions are opened.
#[derive(Debug)]
pub enum LogIn {
    /// That speaks PostgreSQL's protocol.
    Postgresql(postgres::Config),
    /// That speaks MySQL's.
    Mysql(mysql::Config),
    /// That speaks NFS; its export is mounted.
    Nfs(nfs::Export),
}

impl LogIn {
    /// The server of a plan.
    ///
    /// # Errors
    /// A [`Refusal`] if the plan names none, a password that is not there, or an export that cannot be mounted.
    pub fn new(connection: &Connection) -> Result<Self, Refusal> {
        match connection.protocol {
            Protocol::Postgresql => postgres::Config::from_plan(connection).map(Self::Postgresql),
            Protocol::Mysql => mysql::Config::from_plan(connection).map(Self::Mysql),
            Protocol::Nfs => nfs::Export::from_plan(connection).map(Self::Nfs),
            Protocol::Http => Err(Refusal::new(
                "workload.role",
                "log-in has nothing to do over http, where the scenario logs in; write \"run\"",
            )),
            Protocol::Sqlite | Protocol::Files | Protocol::None => Err(Refusal::new(
                "connection.protocol",
                "the role log-in needs a server; write \"postgresql\", \"mysql\" or \"nfs\"",
            )),
        }
    }

    async fn enter(&self) -> Result<LoggedIn, Failure> {
        Ok(match self {
            Self::Postgresql(config) => {
                LoggedIn::Postgresql(postgres::Connection::connect(config).await?)
            }
            Self::Mysql(config) => LoggedIn::Mysql(mysql::Connection::connect(config).await?),
            Self::Nfs(export) => LoggedIn::Nfs {
                _connection: nfs::Connection::open(export)?,
            },
        })
    }
}

impl Workload for LogIn {
    type Session = LoggedIn;

    fn operations(&self) -> &[&'static str] {
        &["log-in"]
    }

    async fn open(&self, _user: u32, _seed: u64) -> Result<LoggedIn, Failure> {
        self.enter().await
    }
}

/// A session that asks for nothing.
#[derive(Debug)]
pub enum LoggedIn {
    /// With PostgreSQL.
    Postgresql(postgres::Connection),
    /// With MariaDB.
    Mysql(mysql::Connection),
    /// With NFS, which knows no goodbye.
    Nfs {
        /// Open for as long as the session is.
        _connection: nfs::Connection,
    },
}

impl Session for LoggedIn {
    fn choose(&mut self) -> OperationId {
        0
    }

    async fn execute(&mut self, _operation: OperationId) -> Outcome {
        Outcome::Exhausted
    }

    /// It loses none: it asks for nothing.
    async fn reconnect(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    async fn close(&mut self) {
        match self {
            Self::Postgresql(connection) => connection.close().await,
            Self::Mysql(connection) => connection.close().await,
            Self::Nfs { .. } => {}
        }
    }
}
