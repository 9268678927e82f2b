//! One request and its answer on one connection.
//!
//! It holds no buffer while it waits: what comes is read into the thread's buffer and used up at once.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::ReadBuf;

use super::outgoing::Outgoing;
use crate::clock::to_s;
use crate::http::answer::{Answer, AnswerReader, Progress, StreamEnd};
use crate::http::fault::{Class, Fault};
use crate::http::network::deadline::Deadline;
use crate::http::pool::with_read_buffer;
use crate::http::site::{Counters, Site, add};
use crate::http::wire::{Wire, lost, tls_error};
use crate::leg::{Part, Stopwatch};
use crate::timer::Timer;

const NEVER_NS: u64 = u64::MAX;

/// An answer that is whole.
pub struct Reply {
    pub answer: Answer,
    /// Whether the connection may serve again.
    pub keeps: bool,
}

/// Why there is no answer.
pub struct Broken {
    pub fault: Fault,
    /// Whether the connection ended before a byte of the answer came.
    pub is_unanswered: bool,
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self {
            fault,
            is_unanswered: false,
        }
    }
}

/// That a request took longer than it may as a whole.
pub fn too_long(site: &Site) -> Fault {
    let seconds = to_s(site.network.timeouts().whole_ns);
    let words = format!("the request took longer than {seconds} s (timeouts_s.whole)");
    Fault::new(Class::Timeout, words)
}

/// Sends a request and reads its answer, until `whole_at_ns`.
///
/// An answer that comes before the request was sent whole ends the sending; so an early refusal is read, even
/// if the server takes no more or has closed the connection after it.
///
/// # Errors
/// A fault of the connection, of the answer, or of the time that they take.
pub async fn exchange(
    wire: &mut Wire,
    outgoing: Outgoing<'_>,
    is_head: bool,
    site: &Site,
    whole_at_ns: u64,
    watch: &mut Stopwatch,
) -> Result<Reply, Broken> {
    let mut exchange = Exchange {
        timer: Timer::current(),
        watch,
        wire,
        sending: Sending::Going(outgoing),
        reader: AnswerReader::new(is_head, &site.limits),
        traffic: Traffic {
            counters: &site.counters,
            sent: 0,
            received: 0,
        },
        site,
        deadline: Deadline::default(),
        first_byte_at_ns: NEVER_NS,
        whole_at_ns,
    };
    let ended = poll_fn(|context| exchange.poll(context)).await;
    exchange.note();
    let is_clean = ended?;
    let answer = exchange.reader.finish();
    Ok(Reply {
        keeps: is_clean && answer.reusable,
        answer,
    })
}

struct Exchange<'e> {
    timer: Rc<Timer>,
    watch: &'e mut Stopwatch,
    wire: &'e mut Wire,
    sending: Sending<'e>,
    reader: AnswerReader,
    traffic: Traffic<'e>,
    site: &'e Site,
    deadline: Deadline,
    /// When the first byte must be there, from the moment when the request was sent.
    first_byte_at_ns: u64,
    whole_at_ns: u64,
}

enum Sending<'e> {
    Going(Outgoing<'e>),
    Done,
    Failed(io::Error),
}

enum Read {
    /// The server closed the connection.
    Ended,
    /// So many bytes came.
    Bytes(usize, Result<Progress, Fault>),
}

impl Exchange<'_> {
    /// Ready when the answer is whole; whether nothing is left to send and nothing came after it.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<bool, Broken>> {
        match self.poll_send(context) {
            Poll::Ready(Ok(())) => self.sent(),
            Poll::Ready(Err(error)) => self.sending = Sending::Failed(error),
            Poll::Pending => {}
        }
        match self.poll_answer(context) {
            Poll::Pending => self.poll_limits(context).map(|fault| Err(fault.into())),
            outcome => outcome,
        }
    }

    /// The request is sent whole.
    fn sent(&mut self) {
        self.sending = Sending::Done;
        if !self.reader.has_begun() {
            let now_ns = self.timer.now_ns();
            self.watch.turn(Part::Wait, now_ns);
            let first_byte_ns = self.site.network.timeouts().first_byte_ns;
            self.first_byte_at_ns = now_ns.saturating_add(first_byte_ns);
        }
    }

    /// Tells the stopwatch what was sent and what came.
    fn note(&mut self) {
        let leg = &mut self.watch.leg;
        leg.status = self.reader.status();
        leg.sent_bytes = self.traffic.sent as u64;
        leg.received_bytes = self.traffic.received as u64;
    }

    /// Pending also when there is nothing to send any more.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Sending::Going(outgoing) = &self.sending else {
            return Poll::Pending;
        };
        loop {
            let bytes = outgoing.after(self.traffic.sent);
            if bytes.is_empty() {
                return self.wire.poll_flush(context);
            }
            match ready!(self.wire.poll_write(context, bytes))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.traffic.sent += count,
            }
        }
    }

    fn poll_answer(&mut self, context: &mut Context<'_>) -> Poll<Result<bool, Broken>> {
        loop {
            match ready!(self.poll_read(context)) {
                Ok(Read::Bytes(count, progress)) => {
                    self.traffic.received += count;
                    let progress = progress?;
                    if progress.done {
                        let is_sent = matches!(self.sending, Sending::Done);
                        return Poll::Ready(Ok(is_sent && progress.taken == count));
                    }
                }
                Ok(Read::Ended) => return Poll::Ready(self.ended(None)),
                Err(error) => return Poll::Ready(self.ended(Some(&error))),
            }
        }
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Read>> {
        let (wire, reader) = (&mut *self.wire, &mut self.reader);
        let (watch, timer) = (&mut *self.watch, &self.timer);
        with_read_buffer(|buffer| {
            let mut room = ReadBuf::new(buffer);
            ready!(wire.poll_read(context, &mut room))?;
            Poll::Ready(Ok(match room.filled() {
                [] => Read::Ended,
                bytes => {
                    if !reader.has_begun() {
                        watch.turn(Part::Receive, timer.now_ns());
                    }
                    Read::Bytes(bytes.len(), reader.feed(bytes))
                }
            }))
        })
    }

    /// The connection has ended. Where sending failed before, that says how.
    fn ended(&mut self, error: Option<&io::Error>) -> Result<bool, Broken> {
        let error = match (error, &self.sending) {
            (None, Sending::Failed(error)) => Some(error),
            (error, _) => error,
        };
        let class = error.map_or(Class::Closed, lost);
        if let Some(problem) = error.and_then(tls_error) {
            return Err(Fault::new(class, format!("TLS: {problem}")).into());
        }
        let how = match class {
            Class::Closed => StreamEnd::Closed,
            _ => StreamEnd::Reset,
        };
        match self.reader.ended(how) {
            Ok(()) => Ok(false),
            Err(fault) => Err(Broken {
                fault,
                is_unanswered: !self.reader.has_begun(),
            }),
        }
    }

    fn poll_limits(&mut self, context: &mut Context<'_>) -> Poll<Fault> {
        let first_at_ns = if self.reader.has_begun() {
            NEVER_NS
        } else {
            self.first_byte_at_ns
        };
        let at_ns = first_at_ns.min(self.whole_at_ns);
        ready!(self.deadline.poll(at_ns, context));
        if self.whole_at_ns <= first_at_ns {
            return Poll::Ready(too_long(self.site));
        }
        let seconds = to_s(self.site.network.timeouts().first_byte_ns);
        let words = format!("no byte of the answer came in {seconds} s (timeouts_s.first_byte)");
        Poll::Ready(Fault::new(Class::FirstByteTimeout, words))
    }
}

/// The bytes of an exchange; they are counted when it is over, however it ended.
struct Traffic<'e> {
    counters: &'e Counters,
    sent: usize,
    received: usize,
}

impl Drop for Traffic<'_> {
    fn drop(&mut self) {
        add(&self.counters.bytes_sent, self.sent as u64);
        add(&self.counters.bytes_received, self.received as u64);
    }
}
