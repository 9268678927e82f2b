//! The steps of a user of a web application: requests and pauses.

use std::collections::BTreeMap;

use url::Url;

use super::flow;
use super::names::requests;
use super::reader::{Place, Register, StepReader};
use super::request::{Request, Wrong};
use super::scenario::{RequestPlan, StepPlan};
use super::target::Target;
use crate::clock::to_ns;
use crate::plan::Refusal;
use crate::plan::limits::LONGEST_S;

/// A step of a transaction.
#[derive(Debug)]
pub enum Step {
    /// A request.
    Request(Box<Request>),
    /// Requests at the same time.
    Parallel(Vec<Request>),
    /// A wait.
    Pause {
        /// Nanoseconds.
        ns: u64,
    },
}

impl Step {
    /// The requests of the step.
    pub fn requests(&self) -> &[Request] {
        match self {
            Self::Request(request) => std::slice::from_ref(&**request),
            Self::Parallel(requests) => requests,
            Self::Pause { .. } => &[],
        }
    }
}

impl flow::Step for Step {
    fn lacks(&self, known: &[bool]) -> Option<(&str, &str)> {
        self.requests().iter().find_map(|request| {
            let lacking = request.needs().find(|(_, slot)| !known[*slot]);
            lacking.map(|(value, _)| (request.name, value))
        })
    }

    fn give(&self, known: &mut [bool]) {
        let requests = self.requests().iter();
        for extraction in requests.flat_map(|request| &request.extractions) {
            known[extraction.slot()] = true;
        }
    }
}

/// Reads them.
pub struct Steps<'s> {
    /// Headers of all requests.
    headers: &'s BTreeMap<String, String>,
    target: &'s Target,
    /// The addresses whose answers a browser keeps.
    pub cached: Vec<Url>,
}

impl<'s> Steps<'s> {
    /// Of an application to which requests go with `headers`.
    pub fn new(headers: &'s BTreeMap<String, String>, target: &'s Target) -> Self {
        Self {
            headers,
            target,
            cached: Vec::new(),
        }
    }

    fn request(
        &mut self,
        plan: &RequestPlan,
        place: Place<'_>,
        register: &mut Register<'_>,
    ) -> Result<Request, Refusal> {
        let named = register.add_request(&plan.name, place, "request")?;
        let wrong = |(field, problem): Wrong| place.refuse(&field, problem);
        let request = Request::new(plan, named, self.headers, register.names, self.target);
        let mut request = request.map_err(wrong)?;
        if plan.cache {
            let url = request.kept_url(plan).map_err(wrong)?;
            request.cached = Some(self.place_of(url));
        }
        if let Some(keep) = plan.keep {
            let number = register.add_sample(keep, place)?;
            let kept = request.keep(number, plan, register.names, register.people);
            kept.map_err(wrong)?;
        }
        Ok(request)
    }

    /// The place of an address among those whose answers are kept.
    fn place_of(&mut self, url: Url) -> usize {
        let known = self.cached.iter().position(|known| *known == url);
        known.unwrap_or_else(|| {
            self.cached.push(url);
            self.cached.len() - 1
        })
    }
}

impl StepReader for Steps<'_> {
    type Plan = StepPlan;
    type Step = Step;

    const NOTHING: &'static str = "has no request; give at least one";

    fn read(
        &mut self,
        plan: &StepPlan,
        place: Place<'_>,
        register: &mut Register<'_>,
    ) -> Result<Step, Refusal> {
        match plan {
            StepPlan::PauseS(pause_s) => pause(*pause_s, place),
            StepPlan::OneOf(_) => Err(place.nested()),
            StepPlan::Request(request) => {
                let request = self.request(request, place, register)?;
                Ok(Step::Request(Box::new(request)))
            }
            StepPlan::Parallel(plans) if plans.is_empty() => {
                Err(place.refuse("parallel", Self::NOTHING))
            }
            StepPlan::Parallel(_) => {
                let read = |(at, request): (String, &RequestPlan)| {
                    let path = &*format!("{}{at}", place.path);
                    self.request(request, Place { path, ..place }, register)
                };
                let read: Result<Vec<_>, _> = requests(plan).into_iter().map(read).collect();
                read.map(Step::Parallel)
            }
        }
    }

    fn asks(step: &Step) -> bool {
        !step.requests().is_empty()
    }
}

fn pause(pause_s: f64, place: Place<'_>) -> Result<Step, Refusal> {
    if (0.0..=LONGEST_S).contains(&pause_s) {
        return Ok(Step::Pause { ns: to_ns(pause_s) });
    }
    let problem = format!("{pause_s} is not between 0 and {LONGEST_S} seconds");
    Err(place.refuse("pause_s", problem))
}
