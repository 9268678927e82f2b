//! `noop`: operations that only take time. It tests the driver, and everything that reads it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::clock::to_s;
use crate::plan::Refusal;
use crate::plan::limits::{LONGEST_S, MOST_SERVICE_TIME_US, MOST_SIGMA};
use crate::random::{Random, Weights};
use crate::session::{ErrorClass, Failure, OperationId, Outcome, Session, Workload};
use crate::timer::Timer;

/// The parameters of `noop`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    service_time_us: ServiceTime,
    operations: Vec<Operation>,
    error_rate: f64,
    error_class: String,
    /// Operations that each session makes before it says that it has no more work.
    work_items: Option<u64>,
    /// Operations of all sessions that are in service at a time, at most; others wait in line.
    servers: Option<u32>,
    /// Seconds after the driver's start from which on service times grow.
    slower_after_s: Option<f64>,
    /// The factor by which they grow in a minute.
    slower_per_min: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            service_time_us: ServiceTime::Constant(0.0),
            operations: vec![Operation {
                name: "noop".into(),
                weight: 1.0,
            }],
            error_rate: 0.0,
            error_class: "40001".into(),
            work_items: None,
            servers: None,
            slower_after_s: None,
            slower_per_min: 1.0,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Operation {
    name: String,
    weight: f64,
}

/// A service time: a number of microseconds, or a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(untagged)]
enum ServiceTime {
    Constant(f64),
    Distributed(Distribution),
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "distribution", rename_all = "kebab-case", deny_unknown_fields)]
enum Distribution {
    Constant { mean_us: f64 },
    Exponential { mean_us: f64 },
    Lognormal { mean_us: f64, sigma: f64 },
}

impl ServiceTime {
    fn distribution(self) -> Distribution {
        match self {
            Self::Constant(mean_us) => Distribution::Constant { mean_us },
            Self::Distributed(distribution) => distribution,
        }
    }
}

impl Distribution {
    fn check(self) -> Result<(), Refusal> {
        let (mean_us, sigma) = match self {
            Self::Constant { mean_us } | Self::Exponential { mean_us } => (mean_us, 0.0),
            Self::Lognormal { mean_us, sigma } => (mean_us, sigma),
        };
        if !(0.0..=MOST_SERVICE_TIME_US).contains(&mean_us) {
            return Err(refuse(
                "service_time_us",
                format!("{mean_us} is not between 0 and {MOST_SERVICE_TIME_US}"),
            ));
        }
        if !(0.0..=MOST_SIGMA).contains(&sigma) {
            return Err(refuse(
                "service_time_us",
                format!("sigma {sigma} is not between 0 and {MOST_SIGMA}"),
            ));
        }
        Ok(())
    }

    /// Draws nanoseconds.
    fn draw_ns(self, random: &mut Random) -> u64 {
        let us = match self {
            Self::Constant { mean_us } => mean_us,
            Self::Exponential { mean_us } => mean_us * random.exponential(),
            // The mean of a lognormal is exp(mu + sigma^2 / 2).
            Self::Lognormal { mean_us, sigma } => {
                mean_us * (sigma * random.normal() - sigma * sigma / 2.0).exp()
            }
        };
        (us * 1e3) as u64
    }
}

/// A slow degradation: from `after_s` on everything takes ever longer.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Degradation {
    after_s: f64,
    /// In a minute.
    factor: f64,
}

impl Degradation {
    fn slow_down(self, service_ns: u64, now_ns: u64) -> u64 {
        let minutes = (to_s(now_ns) - self.after_s).max(0.0) / 60.0;
        (service_ns as f64 * self.factor.powf(minutes)) as u64
    }
}

/// Servers with one line before them: who comes first is served first.
#[derive(Debug)]
struct Servers(Mutex<BinaryHeap<Reverse<u64>>>);

impl Servers {
    fn new(count: u32) -> Self {
        Self(Mutex::new((0..count).map(|_| Reverse(0)).collect()))
    }

    /// When an operation that comes at `now_ns` and needs `service_ns` is done.
    fn serve(&self, now_ns: u64, service_ns: u64) -> u64 {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Reverse(free_ns) = free.pop().unwrap_or(Reverse(0));
        let done_ns = free_ns.max(now_ns) + service_ns;
        free.push(Reverse(done_ns));
        done_ns
    }
}

fn refuse(parameter: &str, problem: impl Into<String>) -> Refusal {
    Refusal::new(format!("workload.parameters.{parameter}"), problem)
}

/// The workload.
#[derive(Debug)]
pub struct Noop {
    names: Vec<&'static str>,
    weights: Weights,
    service_time: Distribution,
    error_rate: f64,
    error_class: ErrorClass,
    work_items: u64,
    servers: Option<Arc<Servers>>,
    degradation: Option<Degradation>,
}

impl Noop {
    /// Reads the parameters of the plan of one of `processes`.
    ///
    /// # Errors
    /// A [`Refusal`] that names the wrong one.
    pub fn new(parameters: &Map<String, Value>, processes: u32) -> Result<Self, Refusal> {
        let Parameters {
            service_time_us,
            operations,
            error_rate,
            error_class,
            work_items,
            servers,
            slower_after_s,
            slower_per_min,
        } = serde_path_to_error::deserialize(Value::Object(parameters.clone()))
            .map_err(|error| refuse(&error.path().to_string(), error.inner().to_string()))?;
        let service_time = service_time_us.distribution();
        service_time.check()?;
        if !(0.0..=1.0).contains(&error_rate) {
            return Err(refuse(
                "error_rate",
                format!("{error_rate} is not between 0 and 1"),
            ));
        }
        if servers == Some(0) || (servers.is_some() && processes > 1) {
            return Err(refuse(
                "servers",
                "must be 1 or more, and only one process may make the load: give fewer processes, or null",
            ));
        }
        let weights: Vec<f64> = operations
            .iter()
            .map(|operation| operation.weight)
            .collect();
        let weights = Weights::new(&weights)
            .ok_or_else(|| refuse("operations", "needs one or more, with weights above 0"))?;
        // Names live as long as the process, as those of every other workload do.
        let names = operations
            .into_iter()
            .map(|operation| &*operation.name.leak())
            .collect();
        let error_class = ErrorClass(error_class.into());
        let work_items = work_items.unwrap_or(u64::MAX);
        Ok(Self {
            names,
            weights,
            service_time,
            error_rate,
            error_class,
            work_items,
            servers: servers.map(|count| Arc::new(Servers::new(count))),
            degradation: degradation(slower_after_s, slower_per_min)?,
        })
    }
}

fn degradation(after_s: Option<f64>, factor: f64) -> Result<Option<Degradation>, Refusal> {
    if !(0.01..=100.0).contains(&factor) {
        let problem = format!("{factor} is not between 0.01 and 100");
        return Err(refuse("slower_per_min", problem));
    }
    match after_s {
        Some(after_s) if !(0.0..=LONGEST_S).contains(&after_s) => {
            let problem = format!("{after_s} is not between 0 and {LONGEST_S}");
            Err(refuse("slower_after_s", problem))
        }
        Some(after_s) => Ok(Some(Degradation { after_s, factor })),
        None => Ok(None),
    }
}

impl Workload for Noop {
    type Session = NoopSession;

    fn operations(&self) -> &[&'static str] {
        &self.names
    }

    async fn open(&self, user: u32, seed: u64) -> Result<NoopSession, Failure> {
        Ok(NoopSession {
            weights: self.weights.clone(),
            service_time: self.service_time,
            error_rate: self.error_rate,
            error_class: self.error_class.clone(),
            work_items: self.work_items,
            servers: self.servers.clone(),
            degradation: self.degradation,
            random: Random::new(seed, u64::from(user)),
            timer: Timer::current(),
        })
    }
}

/// A session of `noop`.
#[derive(Debug)]
pub struct NoopSession {
    weights: Weights,
    service_time: Distribution,
    error_rate: f64,
    error_class: ErrorClass,
    work_items: u64,
    servers: Option<Arc<Servers>>,
    degradation: Option<Degradation>,
    random: Random,
    timer: Rc<Timer>,
}

impl NoopSession {
    /// Waits for the service time, in line where there are few servers.
    async fn take_time(&mut self) {
        let mut service_ns = self.service_time.draw_ns(&mut self.random);
        if service_ns == 0 && self.servers.is_none() {
            return;
        }
        let now_ns = self.timer.now_ns();
        if let Some(degradation) = self.degradation {
            service_ns = degradation.slow_down(service_ns, now_ns);
        }
        let done_ns = match &self.servers {
            Some(servers) => servers.serve(now_ns, service_ns),
            None => now_ns + service_ns,
        };
        self.timer.sleep_until(done_ns).await;
    }
}

impl Session for NoopSession {
    fn choose(&mut self) -> OperationId {
        self.weights.draw(&mut self.random)
    }

    async fn execute(&mut self, _operation: OperationId) -> Outcome {
        if self.work_items == 0 {
            return Outcome::Exhausted;
        }
        self.take_time().await;
        if self.error_rate > 0.0 && self.random.unit() < self.error_rate {
            let message = "an error that the plan asked for".into();
            return Outcome::Failed(Failure {
                class: self.error_class.clone(),
                message,
            });
        }
        if self.work_items != u64::MAX {
            self.work_items -= 1;
        }
        Outcome::Done
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    async fn close(&mut self) {}
}
