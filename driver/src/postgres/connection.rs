//! One session with a server.

use bytes::{BufMut, BytesMut};
use postgres_protocol::message::frontend;

use super::error::from_response;
use super::startup::log_in;
use super::{Config, Error, Message, Param, Row, has_message, next_message, peek_tag};
use crate::session::Failure;
use crate::socket::{Incoming, Socket};

/// First size of the write buffer; it grows when a pipeline needs it.
const WRITE_BYTES: usize = 1024;
/// `Execute` of the unnamed portal, all rows.
const EXECUTE: [u8; 10] = [b'E', 0, 0, 0, 9, 0, 0, 0, 0, 0];
/// SQLSTATEs of `SELECT INTO STRICT`.
const NO_DATA_FOUND: &str = "P0002";
const TOO_MANY_ROWS: &str = "P0003";
const SYNC: [u8; 5] = [b'S', 0, 0, 0, 4];

/// A statement with the name under which it is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// Its name in the session.
    pub name: &'static str,
    /// Its text.
    pub sql: &'static str,
}

/// State of the transaction as the last `ReadyForQuery` gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// No transaction is open.
    Idle,
    /// A transaction is open.
    Open,
    /// A transaction is open and failed; only a rollback is possible.
    Failed,
}

/// A connection that is logged in. Dropping it closes the socket.
#[derive(Debug)]
pub struct Connection {
    pub(super) socket: Socket,
    pub(super) incoming: Incoming,
    pub(super) write: BytesMut,
    status: Status,
    /// `Sync`s and simple queries that were sent and whose `ReadyForQuery` has not come.
    pub(super) unready: u32,
}

impl Connection {
    /// Opens a connection and logs in; the thread must have a [`crate::timer::Timer`].
    ///
    /// # Errors
    /// A connection error with the address, also when it takes too long; or the server's refusal.
    pub async fn connect(config: &Config) -> Result<Self, Error> {
        let opened = config.in_time(Self::open(config)).await;
        opened.unwrap_or_else(|reason| Err(Error::cannot_connect(config, &reason)))
    }

    async fn open(config: &Config) -> Result<Self, Error> {
        let socket = match config.is_local() {
            true => Socket::unix(&config.address()).await,
            false => Socket::tcp(&config.host, config.port).await,
        };
        let mut socket =
            socket.map_err(|error| Error::cannot_connect(config, &error.to_string()))?;
        let mut incoming = Incoming::default();
        let mut write = BytesMut::with_capacity(WRITE_BYTES);
        log_in(&mut socket, &mut incoming, &mut write, config).await?;
        Ok(Self {
            socket,
            incoming,
            write,
            status: Status::Idle,
            unready: 0,
        })
    }

    /// State of the transaction when the last answer was complete.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Prepares statements in one round trip.
    ///
    /// # Errors
    /// The server's error, with the name of the statement.
    pub async fn prepare(&mut self, statements: &[Statement]) -> Result<(), Error> {
        for statement in statements {
            frontend::parse(statement.name, statement.sql, [], &mut self.write)?;
        }
        self.sync().await?;
        for statement in statements {
            match self.reply().await {
                Ok(Message { tag: b'1', .. }) => {}
                Ok(Message { tag, .. }) => return Err(unexpected(tag)),
                Err(Error::Server { sqlstate, message }) => {
                    let message = format!("statement {:?}: {message}", statement.name);
                    return Err(Error::Server { sqlstate, message });
                }
                Err(other) => return Err(other),
            }
        }
        self.ready().await
    }

    /// Adds a prepared statement with its parameters to the pipeline; nothing is sent yet.
    ///
    /// # Errors
    /// A protocol error if a parameter cannot be encoded.
    #[inline]
    pub fn queue(&mut self, statement: &Statement, params: &[Param<'_>]) -> Result<(), Error> {
        let encode = |param: &Param<'_>, buf: &mut BytesMut| param.encode(buf);
        frontend::bind(
            "",
            statement.name,
            [1],
            params,
            encode,
            [1],
            &mut self.write,
        )
        .map_err(|_| Error::protocol(format!("parameters of {:?}", statement.name)))?;
        self.write.put_slice(&EXECUTE);
        Ok(())
    }

    /// Ends the pipeline with `Sync` and sends it.
    ///
    /// # Errors
    /// A connection error if it was lost.
    #[inline]
    pub async fn sync(&mut self) -> Result<(), Error> {
        self.write.put_slice(&SYNC);
        self.unready += 1;
        self.send().await
    }

    /// Sends what was queued.
    pub(super) async fn send(&mut self) -> Result<(), Error> {
        self.socket.write_all(&self.write).await?;
        self.write.clear();
        Ok(())
    }

    /// Reads the answer of the next queued statement, giving each row to `on_row`.
    /// Returns the number of rows that came.
    ///
    /// # Errors
    /// The server's error (the pipeline is then read to its end), that of `on_row`, or a lost connection.
    #[inline]
    pub async fn rows(
        &mut self,
        mut on_row: impl FnMut(Row<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let mut count = 0;
        loop {
            let message = self.reply().await?;
            match message.tag {
                b'2' | b'T' => {}
                b'D' => {
                    on_row(Row::new(message.body)?)?;
                    count += 1;
                }
                b'C' | b'I' => return Ok(count),
                tag => return Err(unexpected(tag)),
            }
        }
    }

    /// Reads the answer of the next queued statement that gives no rows.
    ///
    /// # Errors
    /// As [`Connection::rows`].
    #[inline]
    pub async fn done(&mut self) -> Result<(), Error> {
        self.rows(|_| Ok(())).await.map(drop)
    }

    /// Reads the answer of the next queued statement, which must give exactly one row.
    ///
    /// # Errors
    /// As [`Connection::rows`]; SQLSTATE P0002 if there is none, P0003 if there are more, as PL/pgSQL has it.
    #[inline]
    pub async fn one<T>(&mut self, read: impl Fn(Row<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let mut value = None;
        let count = self
            .rows(|row| {
                value = Some(read(row)?);
                Ok(())
            })
            .await?;
        match (count, value) {
            (1, Some(value)) => Ok(value),
            (0, _) => Err(data_error(
                NO_DATA_FOUND,
                "no row came where one was expected",
            )),
            _ => Err(data_error(
                TOO_MANY_ROWS,
                "rows came where one was expected",
            )),
        }
    }

    /// Reads the `ReadyForQuery` that ends a pipeline.
    ///
    /// # Errors
    /// The server's error, if it failed at the end of the pipeline; a lost connection.
    #[inline]
    pub async fn ready(&mut self) -> Result<(), Error> {
        while self.unready > 0 {
            let message = self.reply().await?;
            if message.tag != b'Z' {
                return Err(unexpected(message.tag));
            }
        }
        Ok(())
    }

    /// Runs SQL without parameters by the simple protocol and ignores its rows.
    ///
    /// # Errors
    /// The server's error or a lost connection.
    pub async fn run(&mut self, sql: &str) -> Result<(), Error> {
        frontend::query(sql, &mut self.write)?;
        self.unready += 1;
        self.send().await?;
        while self.unready > 0 {
            self.reply().await?;
        }
        Ok(())
    }

    /// Rolls back a transaction that an error left open.
    ///
    /// # Errors
    /// The server's error or a lost connection.
    pub async fn abort(&mut self) -> Result<(), Error> {
        self.write.clear();
        self.resynchronise().await?;
        match self.status {
            Status::Idle => Ok(()),
            Status::Open | Status::Failed => self.run("ROLLBACK").await,
        }
    }

    /// Turns an error within a transaction into a failure, with the connection ready for the next one.
    pub async fn fail(&mut self, error: Error) -> Failure {
        let failure = Failure::from(error);
        if failure.class.is_fatal() {
            return failure;
        }
        match self.abort().await {
            Ok(()) => failure,
            Err(worse) => worse.into(),
        }
    }

    /// Says goodbye. Errors do not matter any more.
    pub async fn close(&mut self) {
        self.write.clear();
        frontend::terminate(&mut self.write);
        let _ = self.send().await;
    }

    /// The next message that is an answer; notices and changed settings are passed over.
    /// After an error of the server all is read up to `ReadyForQuery`.
    #[inline]
    pub(super) async fn reply(&mut self) -> Result<Message<'_>, Error> {
        loop {
            while !has_message(&self.incoming) {
                self.socket.fill(&mut self.incoming).await?;
            }
            match peek_tag(&self.incoming) {
                b'N' | b'S' | b'A' => {
                    next_message(&mut self.incoming)?;
                }
                b'E' => return Err(self.error_reply().await),
                b'Z' => {
                    self.note_ready()?;
                    return Ok(Message {
                        tag: b'Z',
                        body: &[],
                    });
                }
                _ => break,
            }
        }
        next_message(&mut self.incoming)?.ok_or_else(|| Error::protocol("a message vanished"))
    }

    fn note_ready(&mut self) -> Result<(), Error> {
        let body = next_message(&mut self.incoming)?.map_or(&[][..], |message| message.body);
        self.status = match body {
            b"I" => Status::Idle,
            b"T" => Status::Open,
            b"E" => Status::Failed,
            _ => return Err(Error::protocol("ReadyForQuery without a known status")),
        };
        self.unready = self.unready.saturating_sub(1);
        Ok(())
    }

    /// Reads the error that is next, then all that follows up to `ReadyForQuery`.
    async fn error_reply(&mut self) -> Error {
        let error = match next_message(&mut self.incoming) {
            Ok(Some(message)) => from_response(message.body),
            Ok(None) => Error::protocol("an error vanished"),
            Err(broken) => return broken,
        };
        match self.resynchronise().await {
            Ok(()) => error,
            Err(_) if Failure::from(error.clone()).class.is_fatal() => error,
            Err(lost) => Error::Connection(format!("{lost}, after: {error}")),
        }
    }

    async fn resynchronise(&mut self) -> Result<(), Error> {
        while self.unready > 0 {
            while !has_message(&self.incoming) {
                self.socket.fill(&mut self.incoming).await?;
            }
            if peek_tag(&self.incoming) == b'Z' {
                self.note_ready()?;
            } else {
                next_message(&mut self.incoming)?;
            }
        }
        Ok(())
    }
}

fn data_error(sqlstate: &str, message: &str) -> Error {
    Error::Server {
        sqlstate: sqlstate.into(),
        message: message.into(),
    }
}

fn unexpected(tag: u8) -> Error {
    Error::protocol(format!(
        "unexpected message {:?} of the server",
        char::from(tag)
    ))
}
