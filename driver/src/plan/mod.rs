//! The plan: what a run is to do, as it arrives on standard input.

pub mod limits;
mod validate;

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::schedule::share;

/// The protocol version that this driver speaks.
pub const PROTOCOL_VERSION: u32 = 4;

/// Why a plan was refused: one line that names the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("plan refused: {field}: {problem}")]
pub struct Refusal {
    /// Path of the wrong field, as `phases[1].load.users.to`.
    pub field: String,
    /// What was given, what is wrong with it and what would be right.
    pub problem: String,
}

impl Refusal {
    /// A refusal of `field` because of `problem`.
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

/// One run: a workload, where it goes and how load arrives.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Must be [`PROTOCOL_VERSION`].
    pub version: u32,
    /// All that is random comes from it.
    #[serde(default)]
    pub seed: u64,
    /// Worker threads.
    #[serde(default = "one")]
    pub threads: u32,
    /// Which of the processes this one is that make the load together.
    #[serde(default)]
    pub process: Process,
    /// When the first phase begins.
    #[serde(default)]
    pub start: Start,
    /// Seconds from one tick to the next.
    #[serde(default = "one_second")]
    pub tick_s: f64,
    /// Longest time, in seconds, that operations in flight are waited for at the end.
    #[serde(default = "ten")]
    pub finish_s: f64,
    /// What is done.
    pub workload: WorkloadPlan,
    /// Where it is done.
    #[serde(default)]
    pub connection: Connection,
    /// What happens to operations that may succeed when tried again.
    #[serde(default)]
    pub retry: Retry,
    /// The waits of closed users.
    #[serde(default)]
    pub pacing: Pacing,
    /// Seconds that each operation takes longer than it would: a planted slowdown.
    #[serde(default)]
    pub delay_s: f64,
    /// File to which each commit that the target acknowledged is appended.
    #[serde(default)]
    pub acknowledgements: Option<String>,
    /// The parts of the run, in order.
    pub phases: Vec<Phase>,
}

/// The part of one process: users, sessions and arrivals are divided over the threads of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// Its number, from 0.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

impl Default for Process {
    /// The only one.
    fn default() -> Self {
        Self { index: 0, of: 1 }
    }
}

/// When the first phase begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// As soon as the sessions are open.
    #[default]
    Now,
    /// At the moment that a control line tells.
    Told,
}

/// The workload, its role and its parameters, which only the workload understands.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadPlan {
    /// Name in the registry of [`crate::launch`].
    pub name: String,
    /// Run the operations, load the data, or log in only.
    #[serde(default)]
    pub role: Role,
    /// Parameters of the workload.
    #[serde(default)]
    pub parameters: Map<String, Value>,
}

/// What a workload is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Make its operations.
    #[default]
    Run,
    /// Write its data.
    Load,
    /// Open its sessions, and ask for nothing.
    LogIn,
}

/// How the target is reached. A password is only ever named by its environment variable.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// The protocol spoken.
    pub protocol: Protocol,
    /// Name or address; when it begins with `/` the folder of a Unix socket, with MySQL the socket itself.
    #[serde(default)]
    pub host: String,
    /// Port, also part of the name of PostgreSQL's Unix socket.
    #[serde(default)]
    pub port: u16,
    /// Role or account to log in as.
    #[serde(default)]
    pub user: String,
    /// Database; with SQLite the path of its file.
    #[serde(default)]
    pub database: String,
    /// With files the folder in which they are.
    #[serde(default)]
    pub folder: String,
    /// With NFS the address of the folder in which they are, with HTTP that of the application.
    #[serde(default)]
    pub url: String,
    /// With HTTP the file of the certificates (PEM) that servers are trusted by, instead of the system's.
    #[serde(default)]
    pub ca: Option<String>,
    /// With HTTP the addresses of this machine that connections go out from; none leaves it to the system.
    #[serde(default)]
    pub sources: Vec<IpAddr>,
    /// Settings of each connection (SQLite's pragmas).
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Environment variable of the driver that holds the password.
    #[serde(default)]
    pub password_env: Option<String>,
    /// Seconds that the target may take to accept a session.
    #[serde(default = "ten")]
    pub connect_timeout_s: f64,
}

impl Default for Connection {
    /// No target.
    fn default() -> Self {
        Self {
            protocol: Protocol::None,
            host: String::new(),
            port: 0,
            user: String::new(),
            database: String::new(),
            folder: String::new(),
            url: String::new(),
            ca: None,
            sources: Vec::new(),
            settings: BTreeMap::new(),
            password_env: None,
            connect_timeout_s: ten(),
        }
    }
}

/// A protocol that sessions can speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// No target at all.
    #[default]
    None,
    /// PostgreSQL's, version 3.
    Postgresql,
    /// MySQL's, as MariaDB speaks it.
    Mysql,
    /// None: the engine is in this process, its data in the file `database`.
    Sqlite,
    /// None: the driver reads and writes files below `folder` itself.
    Files,
    /// NFS, version 3: the driver reads and writes files below `url` itself.
    Nfs,
    /// HTTP/1.1, to the application at `url`.
    Http,
}

/// How operations that may succeed when tried again are tried again.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retry {
    /// Attempts of one operation in all, the first one included.
    pub max_attempts: u32,
    /// Longest pause, in seconds, after the first failed attempt; it doubles with each.
    pub backoff_base_s: f64,
    /// Longest pause of all, in seconds.
    pub backoff_cap_s: f64,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            max_attempts: 50,
            backoff_base_s: 0.001,
            backoff_cap_s: 0.1,
        }
    }
}

/// The waits of closed users, by operation.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pacing {
    /// Waits of operations that are not named.
    #[serde(default)]
    pub default: Waits,
    /// Waits of named operations.
    #[serde(default)]
    pub operations: BTreeMap<String, Waits>,
}

/// The waits around one operation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waits {
    /// Seconds before it.
    #[serde(default)]
    pub keying_s: f64,
    /// The wait after it.
    #[serde(default)]
    pub think: Think,
    /// Whether a user whose first operation it is makes it at once: who comes by a ramp, and logs in.
    #[serde(default)]
    pub begins_at_once: bool,
    /// Seconds of a grid on which it is due, instead of waits.
    #[serde(default)]
    pub every_s: Option<f64>,
}

/// A think time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(tag = "distribution", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Think {
    /// None at all.
    #[default]
    None,
    /// Always the same.
    Constant {
        /// Seconds.
        mean_s: f64,
    },
    /// Any time between two, each as likely as the others.
    Uniform {
        /// The shortest, in seconds.
        from_s: f64,
        /// The longest, in seconds.
        to_s: f64,
    },
    /// Negative-exponential, truncated at `cap` times the mean.
    NegativeExponential {
        /// Seconds, before the truncation.
        mean_s: f64,
        /// Longest wait, in means.
        #[serde(default = "ten")]
        cap: f64,
    },
}

/// A part of the run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its name in the frames.
    pub name: String,
    /// What it is for.
    pub kind: PhaseKind,
    /// Length in seconds; without it the phase lasts until the work is done.
    #[serde(default)]
    pub duration_s: Option<f64>,
    /// Longest time, in seconds, that it lasts beyond its duration, until each user has logged in and
    /// made a transaction; only where users log in.
    #[serde(default)]
    pub gather_s: f64,
    /// Operations to make in all; without it as many as the duration allows.
    #[serde(default)]
    pub iterations: Option<u64>,
    /// What happens at its end to operations that are due and not begun.
    #[serde(default)]
    pub backlog: Backlog,
    /// How operations arrive.
    pub load: Load,
}

/// What a phase is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum PhaseKind {
    Prepare,
    WarmUp,
    Ramp,
    Measure,
    Drain,
    Check,
}

/// What happens at a phase's end to operations that are due and not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backlog {
    /// They are done, before the next phase begins.
    #[default]
    Drain,
    /// They are thrown away.
    Discard,
}

/// How operations arrive.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Load {
    /// Each user begins the next operation when the last is done.
    Closed {
        /// Users, linear over the phase.
        users: Range<u32>,
    },
    /// Operations become due by a clock, whatever the server does.
    Open {
        /// Arrivals a second, linear over the phase.
        rate_per_s: Range<f64>,
        /// The gaps between arrivals.
        #[serde(default)]
        arrival: Arrival,
        /// Sessions that serve the arrivals.
        sessions: u32,
        /// Arrivals that may wait for a session.
        #[serde(default = "ten_thousand")]
        queue: u32,
    },
}

impl Load {
    /// Sessions that must be open for it.
    pub fn sessions(&self) -> u32 {
        match *self {
            Self::Closed { users } => users.from.max(users.to),
            Self::Open { sessions, .. } => sessions,
        }
    }
}

/// The two ends of a linear change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range<T> {
    /// At the begin of the phase.
    pub from: T,
    /// At its end.
    pub to: T,
}

/// The gaps between arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// All the same.
    #[default]
    Uniform,
    /// Independent and negative-exponential.
    Poisson,
}

impl Plan {
    /// Reads and validates a plan.
    ///
    /// # Errors
    /// A [`Refusal`] that names the first wrong field.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        validate::version(text)?;
        let mut reader = serde_json::Deserializer::from_str(text);
        let plan: Self = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| Refusal::new(error.path().to_string(), error.inner().to_string()))?;
        reader
            .end()
            .map_err(|error| Refusal::new(".", error.to_string()))?;
        validate::plan(&plan)?;
        Ok(plan)
    }

    /// Sessions that the phases need at most.
    pub fn sessions(&self) -> u32 {
        self.phases
            .iter()
            .map(|phase| phase.load.sessions())
            .max()
            .unwrap_or(0)
    }

    /// Number of thread `thread` of this process among the threads of all.
    pub fn thread_of_all(&self, thread: u32) -> u32 {
        self.process.index * self.threads + thread
    }

    /// Threads of all processes.
    pub fn threads_of_all(&self) -> u32 {
        self.process.of * self.threads
    }

    /// The part of `total` users or sessions that this process has.
    pub fn own(&self, total: u32) -> u32 {
        let part = |thread| {
            let index = self.thread_of_all(thread);
            share(total.into(), self.threads_of_all().into(), index.into()) as u32
        };
        (0..self.threads).map(part).sum()
    }
}

fn one() -> u32 {
    1
}

fn one_second() -> f64 {
    1.0
}

fn ten() -> f64 {
    10.0
}

fn ten_thousand() -> u32 {
    10_000
}

#[cfg(test)]
mod tests;
