//! On servers: statements go as text, by the simple protocol of PostgreSQL and the command `COM_QUERY` of MySQL.

use super::engine::{Answer, Desk, Engine};
use crate::session::Failure;
use crate::web::quoting::Quoting;
use crate::{mysql, postgres};

/// A server with the connections of a protocol. A macro, because the connections of two protocols have no type in
/// common.
macro_rules! server {
    ($(#[$about:meta])* $server:ident, $protocol:ident, $quoting:expr) => {
        $(#[$about])*
        #[derive(Debug)]
        pub struct $server(pub $protocol::Config);

        impl Engine for $server {
            type Desk = $protocol::Connection;

            const QUOTING: Quoting = $quoting;

            async fn connect(&self) -> Result<Self::Desk, Failure> {
                Ok($protocol::Connection::connect(&self.0).await?)
            }
        }

        impl Desk for $protocol::Connection {
            async fn ask(&mut self, sql: &str, collects: bool) -> Result<Answer, Failure> {
                let mut answer = Answer::new(collects);
                match self.read_text(sql, answer.table.as_mut()).await {
                    Ok(rows) => Ok(Answer { rows, ..answer }),
                    Err(error) => Err(self.fail(error).await),
                }
            }

            async fn close(&mut self) {
                Self::close(self).await;
            }
        }
    };
}

server!(
    /// A database of PostgreSQL.
    Postgres,
    postgres,
    Quoting::Postgresql
);
server!(
    /// A database of MariaDB.
    MariaDb,
    mysql,
    Quoting::Mysql
);
