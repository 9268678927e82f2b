//! A thread of a session's own for calls that block: jobs go in, replies come out, in their order.

use std::io;
use std::sync::mpsc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The thread is gone, and with it whoever would reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the thread of the session is gone")]
pub struct Gone;

/// A session's hold on its thread. Dropping it ends the thread after its present job.
#[derive(Debug)]
pub struct JobThread<J, R> {
    jobs: Option<mpsc::Sender<J>>,
    replies: UnboundedReceiver<R>,
}

/// The thread's own end.
#[derive(Debug)]
pub struct Bench<J, R> {
    inbox: mpsc::Receiver<J>,
    outbox: UnboundedSender<R>,
}

impl<J: Send + 'static, R: Send + 'static> JobThread<J, R> {
    /// Starts a thread called `name` that lives as long as `body` does.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(name: &str, body: impl FnOnce(Bench<J, R>) + Send + 'static) -> io::Result<Self> {
        let (jobs, inbox) = mpsc::channel();
        let (outbox, replies) = unbounded_channel();
        std::thread::Builder::new()
            .name(name.into())
            .spawn(move || body(Bench { inbox, outbox }))?;
        let jobs = Some(jobs);
        Ok(Self { jobs, replies })
    }

    /// Sends a job; each has one [`Self::reply`].
    ///
    /// # Errors
    /// [`Gone`].
    pub fn send(&mut self, job: J) -> Result<(), Gone> {
        let jobs = self.jobs.as_ref().ok_or(Gone)?;
        jobs.send(job).map_err(|_| Gone)
    }

    /// The answer to the first job that has none yet.
    ///
    /// # Errors
    /// [`Gone`].
    pub async fn reply(&mut self) -> Result<R, Gone> {
        self.replies.recv().await.ok_or(Gone)
    }

    /// Lets the thread end, and waits for that.
    pub async fn close(&mut self) {
        self.jobs = None;
        while self.replies.recv().await.is_some() {}
    }
}

impl<J, R> Bench<J, R> {
    /// Does jobs until nobody sends any, or nobody waits for a reply.
    pub fn serve(&self, mut work: impl FnMut(J) -> R) {
        while let Ok(job) = self.inbox.recv() {
            if self.outbox.send(work(job)).is_err() {
                return;
            }
        }
    }
}
