//! What reaches the driver while it runs: control lines, signals and reports of its threads.

use std::io::{self, BufRead};
use std::ptr;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use serde::Deserialize;

use crate::phase_recorders::PhaseIndex;
use crate::session::{ErrorClass, Failure, OperationId, WorkloadEvent};

/// A run that was stopped and has not ended after this time is ended by force. It is twice as long
/// as operations in flight are waited for at most, so it is only met when nobody reads the frames.
const GRACE: Duration = Duration::from_secs(20);

/// Anything the main thread acts upon.
#[derive(Debug)]
pub enum Message {
    /// A control line.
    Control(Control),
    /// A reason to stop.
    Stop(String),
    /// An event of the driver itself.
    DriverEvent(DriverEvent),
    /// An event of the workload's own.
    WorkloadEvent(WorkloadEvent),
    /// A thread has opened its sessions, or could not.
    Opened(Result<(), String>),
    /// The standing of a thread in a phase has changed.
    Standing {
        /// Number of the thread.
        thread: u32,
        /// The phase it speaks of.
        phase: PhaseIndex,
        /// How it stands.
        standing: Standing,
    },
    /// An operation did not end well: the first of a thread in a phase.
    Failed {
        /// The phase in which it was due.
        phase: PhaseIndex,
        /// Which it was.
        operation: OperationId,
        /// Why the last attempt failed.
        failure: Failure,
    },
    /// A thread's backlog is gone: how many were done, how many thrown away.
    Drained(Leftovers),
    /// All users of a thread have left.
    Left,
}

/// How a thread stands in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has work to do.
    Working,
    /// It has done all its work.
    Done,
    /// It has no users.
    Vacant,
}

/// What became of the operations that were due and not begun when a phase ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leftovers {
    /// They were done.
    pub drained: u64,
    /// They were thrown away.
    pub discarded: u64,
}

/// An event of the driver itself, which becomes a frame.
#[derive(Debug)]
pub struct DriverEvent {
    /// What happened.
    pub kind: DriverEventKind,
    /// In words.
    pub detail: String,
}

/// Its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DriverEventKind {
    /// A user's connection broke.
    ConnectionLost,
    /// It was replaced.
    Reconnected,
    /// The first failure of a class.
    Error(ErrorClass),
    /// A wish could not be granted.
    Refused,
}

/// A control line.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "control", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Control {
    /// End now.
    Stop,
    /// Begin the first phase, of a run that waits to be told.
    Begin {
        /// When, in seconds of `CLOCK_MONOTONIC`.
        monotonic_s: f64,
    },
    /// Another rate from now on.
    Rate {
        /// Arrivals a second.
        rate_per_s: f64,
    },
    /// Another number of users from now on.
    Users {
        /// Users.
        users: u32,
    },
}

impl Control {
    /// Reads a control line.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(line: &str) -> Result<Self, String> {
        let control = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match control {
            Self::Rate { rate_per_s } if !(0.0..=1e9).contains(&rate_per_s) => {
                Err(format!("rate_per_s: {rate_per_s} is not between 0 and 1e9"))
            }
            Self::Users { users } if users > 1_000_000 => {
                Err(format!("users: {users} is more than 1000000"))
            }
            Self::Begin { monotonic_s } if !(0.0..=1e9).contains(&monotonic_s) => Err(format!(
                "monotonic_s: {monotonic_s} is not between 0 and 1e9"
            )),
            control => Ok(control),
        }
    }
}

/// Reads control lines on a thread of its own until the input ends.
///
/// # Errors
/// When no thread can be made.
pub fn listen(input: impl BufRead + Send + 'static, outbox: Sender<Message>) -> io::Result<()> {
    thread::Builder::new()
        .name("control".into())
        .spawn(move || {
            for line in input.lines() {
                let Ok(line) = line else { break };
                if line.trim().is_empty() {
                    continue;
                }
                let message = match Control::parse(&line) {
                    Ok(Control::Stop) => Message::Stop("asked to".into()),
                    Ok(control) => Message::Control(control),
                    Err(detail) => Message::DriverEvent(DriverEvent {
                        kind: DriverEventKind::Refused,
                        detail,
                    }),
                };
                if outbox.send(message).is_err() {
                    return;
                }
            }
            let _ = outbox.send(Message::Stop("standard input ended".into()));
        })?;
    Ok(())
}

/// SIGTERM and SIGINT, kept from all threads and taken by one.
#[derive(Debug)]
pub struct Signals(libc::sigset_t);

impl Signals {
    /// Blocks them; call it before any thread is made, as threads inherit it.
    pub fn block() -> Self {
        // SAFETY: an all-zero set is valid for `sigemptyset`, which then fills it.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: `set` is valid for reads and writes; the old mask is not asked for.
        unsafe {
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGTERM);
            libc::sigaddset(&raw mut set, libc::SIGINT);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
        }
        Self(set)
    }

    /// Waits for them on a thread of its own. The second one, or too long a time after the first,
    /// ends the process at once.
    ///
    /// # Errors
    /// When no thread can be made.
    pub fn listen(self, outbox: Sender<Message>) -> io::Result<()> {
        thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                let reason = self.wait(None).unwrap_or("a signal");
                let _ = outbox.send(Message::Stop(reason.into()));
                end_by_force(self.wait(Some(GRACE)).unwrap_or(reason));
            })?;
        Ok(())
    }

    /// The signal that came; none in `most`.
    fn wait(&self, most: Option<Duration>) -> Option<&'static str> {
        let most = most.map(|most| libc::timespec {
            tv_sec: most.as_secs() as libc::time_t,
            tv_nsec: most.subsec_nanos().into(),
        });
        let limit = most.as_ref().map_or(ptr::null(), ptr::from_ref);
        loop {
            // SAFETY: the set and the limit are valid, no details of the signal are asked for,
            // and a null limit means none.
            match unsafe { libc::sigtimedwait(&raw const self.0, ptr::null_mut(), limit) } {
                libc::SIGINT => return Some("SIGINT"),
                libc::SIGTERM => return Some("SIGTERM"),
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return None,
            }
        }
    }
}

fn end_by_force(reason: &str) -> ! {
    eprintln!("loadstone-driver: ended by force ({reason})");
    std::process::exit(1);
}
