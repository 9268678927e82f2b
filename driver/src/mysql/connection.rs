//! One session with a server.

use std::collections::VecDeque;

use super::handshake::capability;
use super::login::log_in;
use super::statement::{Prepared, put_prepare};
use super::wire::{Fields, begin_packet, end_packet, next_length, next_packet};
use super::{Answer, Config, Error, Param, Row, Statement};
use crate::session::Failure;
use crate::socket::{Incoming, Socket};

/// First size of the write buffer; it grows when a pipeline needs it.
const WRITE_BYTES: usize = 1024;
const QUIT: u8 = 0x01;
const QUERY: u8 = 0x03;
/// First bytes of an answer.
pub(super) const OK: u8 = 0x00;
pub(super) const LOCAL_INFILE: u8 = 0xfb;
/// A value of a row as text.
const NULL: u8 = 0xfb;
pub(super) const END: u8 = 0xfe;
pub(super) const ERROR: u8 = 0xff;
/// The type lies so many bytes before the end of the description of a column.
const KIND_FROM_END: usize = 6;

/// What a command that was sent will be answered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaited {
    /// The results of the prepared statement of this slot.
    Binary(usize),
    /// Results as text, which are not read.
    Text,
    /// The description of a statement.
    Description,
}

/// A connection that is logged in. Dropping it closes the socket.
#[derive(Debug)]
pub struct Connection {
    pub(super) socket: Socket,
    pub(super) incoming: Incoming,
    pub(super) write: Vec<u8>,
    pub(super) awaited: VecDeque<Awaited>,
    prepared: Vec<Prepared>,
    pub(super) capabilities: u64,
}

/// The next packet's body. A macro, because its borrow must leave the other fields free.
macro_rules! packet {
    ($self:ident) => {{
        while next_length($self.incoming.pending())?.is_none() {
            $self.socket.fill(&mut $self.incoming).await?;
        }
        next_packet(&mut $self.incoming)?.ok_or_else(|| Error::protocol("a packet vanished"))?
    }};
}
pub(super) use packet;

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
        let capabilities = log_in(&mut socket, &mut incoming, config).await?;
        let mut connection = Self {
            socket,
            incoming,
            write: Vec::with_capacity(WRITE_BYTES),
            awaited: VecDeque::new(),
            prepared: Vec::new(),
            capabilities,
        };
        for sql in &config.opening {
            connection.run(sql).await?;
        }
        Ok(connection)
    }

    /// Whether the server executes one statement with many sets of parameters (MariaDB 10.2 and newer).
    pub fn has_bulk(&self) -> bool {
        self.capabilities & capability::BULK != 0
    }

    /// Prepares statements in one round trip, each at its slot; those that were prepared before are gone.
    ///
    /// # Errors
    /// The server's error, with the name of the statement.
    pub async fn prepare(&mut self, statements: &[Statement]) -> Result<(), Error> {
        self.prepared.clear();
        for (place, statement) in statements.iter().enumerate() {
            if statement.slot != place {
                let name = statement.name;
                return Err(Error::protocol(format!("{name:?} is not at its slot")));
            }
            put_prepare(statement.sql, &mut self.write)?;
            self.awaited.push_back(Awaited::Description);
        }
        self.send().await?;
        for statement in statements {
            self.awaited.pop_front();
            match self.description().await {
                Ok(prepared) => self.prepared.push(prepared),
                Err(Error::Server {
                    number,
                    sqlstate,
                    message,
                }) => {
                    self.resynchronise().await?;
                    let message = format!("statement {:?}: {message}", statement.name);
                    return Err(Error::Server {
                        number,
                        sqlstate,
                        message,
                    });
                }
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    /// Reads `COM_STMT_PREPARE_OK` with the descriptions of parameters and columns that follow.
    async fn description(&mut self) -> Result<Prepared, Error> {
        let body = packet!(self);
        if body.first() == Some(&ERROR) {
            return Err(Error::from_packet(body));
        }
        let mut fields = Fields::new(body);
        fields.fixed::<1>()?;
        let id = fields.u32()?;
        let (columns, params) = (fields.u16()?, usize::from(fields.u16()?));
        for _ in 0..params {
            packet!(self);
        }
        let mut prepared = Prepared::new(id, params);
        for _ in 0..columns {
            prepared.columns.push(kind_of(packet!(self))?);
        }
        Ok(prepared)
    }

    /// Adds a prepared statement with its parameters to the pipeline; nothing is sent yet.
    ///
    /// # Errors
    /// A protocol error if the parameters do not fit the statement.
    #[inline]
    pub fn queue(&mut self, statement: &Statement, params: &[Param<'_>]) -> Result<(), Error> {
        let prepared = self
            .prepared
            .get_mut(statement.slot)
            .ok_or_else(|| not_prepared(statement))?;
        prepared.execute(params, &mut self.write)?;
        self.awaited.push_back(Awaited::Binary(statement.slot));
        Ok(())
    }

    /// Adds a statement that is executed once for each of `rows`, in their order, as one command.
    ///
    /// # Errors
    /// A protocol error if the rows do not fit the statement, or the server cannot do it.
    pub fn queue_bulk<'p, const N: usize>(
        &mut self,
        statement: &Statement,
        rows: impl IntoIterator<Item = [Param<'p>; N]>,
    ) -> Result<(), Error> {
        if !self.has_bulk() {
            return Err(Error::protocol(
                "the server knows no bulk execution, as MariaDB has it",
            ));
        }
        let prepared = self
            .prepared
            .get_mut(statement.slot)
            .ok_or_else(|| not_prepared(statement))?;
        prepared.execute_bulk(rows, &mut self.write)?;
        self.awaited.push_back(Awaited::Binary(statement.slot));
        Ok(())
    }

    /// Adds a statement without parameters, as text, to the pipeline.
    ///
    /// # Errors
    /// A protocol error if it is too long.
    pub fn queue_text(&mut self, sql: &str) -> Result<(), Error> {
        let start = begin_packet(&mut self.write, 0);
        self.write.push(QUERY);
        self.write.extend_from_slice(sql.as_bytes());
        self.awaited.push_back(Awaited::Text);
        end_packet(&mut self.write, start)
    }

    /// Sends what was queued, in one write.
    ///
    /// # Errors
    /// A connection error if it was lost.
    #[inline]
    pub async fn send(&mut self) -> Result<(), Error> {
        self.socket.write_all(&self.write).await?;
        self.write.clear();
        Ok(())
    }

    /// Reads the answer of the next queued statement, giving each row to `on_row`.
    ///
    /// # Errors
    /// The server's error (the pipeline is then read to its end), that of `on_row`, or a lost connection.
    #[inline]
    pub async fn rows(
        &mut self,
        on_row: impl FnMut(Row<'_>) -> Result<(), Error>,
    ) -> Result<Answer, Error> {
        let awaited = self
            .awaited
            .pop_front()
            .ok_or_else(|| Error::protocol("no answer is awaited"))?;
        match self.answer(awaited, on_row).await {
            Err(error @ Error::Server { .. }) => Err(self.after(error).await),
            other => other,
        }
    }

    /// Reads the answer of the next queued statement and ignores its rows.
    ///
    /// # Errors
    /// As [`Connection::rows`].
    #[inline]
    pub async fn done(&mut self) -> Result<Answer, Error> {
        self.rows(|_| Ok(())).await
    }

    /// Reads the answer of the next queued statement, which must give exactly one row.
    ///
    /// # Errors
    /// As [`Connection::rows`]; SQLSTATE P0002 if there is none, P0003 if there are more.
    #[inline]
    pub async fn one<T>(&mut self, read: impl Fn(Row<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let mut value = None;
        let answer = self
            .rows(|row| {
                value = Some(read(row)?);
                Ok(())
            })
            .await?;
        match (answer.rows, value) {
            (1, Some(value)) => Ok(value),
            (0, _) => Err(self.missing("no row came where one was expected").await),
            _ => Err(self.surplus().await),
        }
    }

    /// The error of a row that is not there; the pipeline is read to its end.
    pub async fn missing(&mut self, message: impl Into<String>) -> Error {
        self.after(Error::data("P0002", message)).await
    }

    async fn surplus(&mut self) -> Error {
        let error = Error::data("P0003", "rows came where one was expected");
        self.after(error).await
    }

    /// Runs SQL without parameters and ignores its rows.
    ///
    /// # Errors
    /// The server's error or a lost connection.
    pub async fn run(&mut self, sql: &str) -> Result<Answer, Error> {
        self.queue_text(sql)?;
        self.send().await?;
        self.done().await
    }

    /// Runs a query without parameters; gives its rows as text.
    ///
    /// # Errors
    /// The server's error, a value that is not UTF-8, or a lost connection.
    pub async fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
        self.queue_text(sql)?;
        self.send().await?;
        self.awaited.pop_front();
        let body = packet!(self);
        match body.first() {
            Some(&OK) => return Ok(Vec::new()),
            Some(&ERROR) => return Err(Error::from_packet(body)),
            _ => {}
        }
        let (count, described) = columns(self.capabilities, body)?;
        for _ in 0..if described { count } else { 0 } {
            packet!(self);
        }
        let mut rows = Vec::new();
        loop {
            let body = packet!(self);
            match body.first() {
                Some(&END) => return Ok(rows),
                Some(&ERROR) => return Err(Error::from_packet(body)),
                _ => rows.push(text_row(body, count)?),
            }
        }
    }

    /// Rolls back what an error left open.
    ///
    /// # Errors
    /// The server's error or a lost connection.
    pub async fn abort(&mut self) -> Result<(), Error> {
        self.write.clear();
        self.resynchronise().await?;
        self.run("ROLLBACK").await.map(drop)
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
        let start = begin_packet(&mut self.write, 0);
        self.write.push(QUIT);
        let _ = end_packet(&mut self.write, start);
        let _ = self.send().await;
    }

    /// Reads all results of one command.
    #[inline]
    async fn answer(
        &mut self,
        awaited: Awaited,
        mut on_row: impl FnMut(Row<'_>) -> Result<(), Error>,
    ) -> Result<Answer, Error> {
        let mut answer = Answer::default();
        loop {
            let body = packet!(self);
            let more = match body.first() {
                Some(&OK) => answer.add(body)?,
                Some(&ERROR) => return Err(Error::from_packet(body)),
                Some(&LOCAL_INFILE) | None => {
                    return Err(Error::protocol("the server asks for a file"));
                }
                Some(_) => {
                    let (count, described) = columns(self.capabilities, body)?;
                    match awaited {
                        Awaited::Binary(slot) => {
                            self.describe(slot, count, described).await?;
                            self.binary_rows(slot, &mut answer, &mut on_row).await?
                        }
                        Awaited::Text | Awaited::Description => {
                            self.text_rows(count, described, &mut answer).await?
                        }
                    }
                }
            };
            if !more {
                return Ok(answer);
            }
        }
    }

    #[inline]
    async fn describe(&mut self, slot: usize, count: usize, described: bool) -> Result<(), Error> {
        if described {
            let columns = &mut self.prepared[slot].columns;
            columns.clear();
            for _ in 0..count {
                columns.push(kind_of(packet!(self))?);
            }
        } else if self.prepared[slot].columns.len() != count {
            return Err(Error::protocol("columns changed and were not described"));
        }
        Ok(())
    }

    #[inline]
    async fn binary_rows(
        &mut self,
        slot: usize,
        answer: &mut Answer,
        on_row: &mut impl FnMut(Row<'_>) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        loop {
            let body = packet!(self);
            match body.first() {
                Some(&OK) => {
                    on_row(Row::new(&self.prepared[slot].columns, body)?)?;
                    answer.rows += 1;
                }
                Some(&END) => return answer.add(body),
                Some(&ERROR) => return Err(Error::from_packet(body)),
                other => {
                    return Err(Error::protocol(format!("unexpected packet {other:?}")));
                }
            }
        }
    }

    async fn text_rows(
        &mut self,
        count: usize,
        described: bool,
        answer: &mut Answer,
    ) -> Result<bool, Error> {
        for _ in 0..if described { count } else { 0 } {
            packet!(self);
        }
        loop {
            let body = packet!(self);
            match body.first() {
                Some(&END) => return answer.add(body),
                Some(&ERROR) => return Err(Error::from_packet(body)),
                _ => answer.rows += 1,
            }
        }
    }

    /// Reads the rest of a pipeline in which `error` came; nothing of it counts any more.
    pub(super) async fn after(&mut self, error: Error) -> Error {
        match self.resynchronise().await {
            Ok(()) => error,
            Err(_) if Failure::from(error.clone()).class.is_fatal() => error,
            Err(lost) => Error::Connection(format!("{lost}, after: {error}")),
        }
    }

    async fn resynchronise(&mut self) -> Result<(), Error> {
        while let Some(awaited) = self.awaited.pop_front() {
            let read = match awaited {
                Awaited::Description => self.description().await.map(drop),
                _ => self.answer(awaited, |_| Ok(())).await.map(drop),
            };
            match read {
                Ok(()) | Err(Error::Server { .. }) => {}
                Err(lost) => return Err(lost),
            }
        }
        Ok(())
    }
}

/// Number of columns of a result, and whether their descriptions follow.
#[inline]
pub(super) fn columns(capabilities: u64, body: &[u8]) -> Result<(usize, bool), Error> {
    let mut fields = Fields::new(body);
    let count = fields.length()? as usize;
    let described = capabilities & capability::CACHE_METADATA == 0 || fields.fixed()? != [0_u8];
    Ok((count, described))
}

/// The columns of a row that came as text.
pub(super) fn text_row(body: &[u8], count: usize) -> Result<Vec<Option<String>>, Error> {
    let mut fields = Fields::new(body);
    let mut row = Vec::with_capacity(count);
    for _ in 0..count {
        if fields.rest().first() == Some(&NULL) {
            fields.take(1)?;
            row.push(None);
            continue;
        }
        let text = std::str::from_utf8(fields.bytes()?);
        let text = text.map_err(|_| Error::protocol("a text is not UTF-8"))?;
        row.push(Some(text.to_owned()));
    }
    Ok(row)
}

/// Type of a described column.
fn kind_of(body: &[u8]) -> Result<u8, Error> {
    body.len()
        .checked_sub(KIND_FROM_END)
        .map(|at| body[at])
        .ok_or_else(|| Error::protocol("the description of a column is too short"))
}

fn not_prepared(statement: &Statement) -> Error {
    Error::protocol(format!("{:?} is not prepared", statement.name))
}
