//! A thread with a connection, to which a session sends its transactions.

use std::sync::Arc;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{Config, Error};
use crate::cpu_meter::CpuMeter;
use crate::job_thread::{Bench, Gone, JobThread};
use crate::session::Failure;

/// What a thread does with its connection.
pub trait Clerk: 'static {
    /// What it keeps as long as the connection is open: prepared statements.
    type Desk<'c>;
    /// What it is asked.
    type Job: Send + 'static;
    /// What it answers.
    type Reply: Send + 'static;

    /// Prepares its statements.
    ///
    /// # Errors
    /// SQLite's error.
    fn settle(connection: &Connection) -> Result<Self::Desk<'_>, Error>;

    /// Does a job. After an error no transaction may be left open.
    ///
    /// # Errors
    /// SQLite's error, or a row that is not there.
    fn serve(desk: &mut Self::Desk<'_>, job: Self::Job) -> Result<Self::Reply, Error>;
}

/// A session's hold on its thread. Dropping it closes the connection and ends the thread.
#[derive(Debug)]
pub struct EngineThread<C: Clerk>(JobThread<C::Job, Result<C::Reply, Error>>);

impl<C: Clerk> EngineThread<C> {
    /// Starts a thread that opens `config`; `meter` counts its processor time.
    ///
    /// # Errors
    /// When the system gives no thread, or the connection cannot be opened.
    pub async fn start(config: Arc<Config>, meter: Arc<CpuMeter>) -> Result<Self, Failure> {
        let (opened, open) = oneshot::channel();
        let body = move |bench: Bench<_, _>| {
            let _presence = meter.enter();
            work::<C>(&config, opened, &bench);
        };
        let thread = JobThread::start("sqlite", body)
            .map_err(|error| Error::Thread(format!("cannot start a thread: {error}")))?;
        open.await.map_err(|_| gone(Gone))??;
        Ok(Self(thread))
    }

    /// Has a job done.
    ///
    /// # Errors
    /// That of the job.
    pub async fn call(&mut self, job: C::Job) -> Result<C::Reply, Error> {
        self.send(job)?;
        self.reply().await
    }

    /// Sends a job. Jobs are done in their order, and each has one [`Self::reply`].
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn send(&mut self, job: C::Job) -> Result<(), Error> {
        self.0.send(job).map_err(gone)
    }

    /// The answer to the first job that has none yet.
    ///
    /// # Errors
    /// That of the job.
    pub async fn reply(&mut self) -> Result<C::Reply, Error> {
        self.0.reply().await.map_err(gone)?
    }

    /// Closes the connection and waits for that.
    pub async fn close(&mut self) {
        self.0.close().await;
    }
}

fn gone(gone: Gone) -> Error {
    Error::Thread(gone.to_string())
}

fn work<C: Clerk>(
    config: &Config,
    opened: oneshot::Sender<Result<(), Error>>,
    bench: &Bench<C::Job, Result<C::Reply, Error>>,
) {
    // Whoever asked may have stopped waiting; then there is nobody to tell.
    let connection = match config.open() {
        Ok(connection) => connection,
        Err(error) => return drop(opened.send(Err(error))),
    };
    let mut desk = match C::settle(&connection) {
        Ok(desk) => desk,
        Err(error) => return drop(opened.send(Err(error))),
    };
    if opened.send(Ok(())).is_err() {
        return;
    }
    bench.serve(|job| C::serve(&mut desk, job));
}
