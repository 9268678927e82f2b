//! A user of the database: it logs in, makes its transactions, and logs out as it leaves.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Shared;
use super::engine::{Answer, Desk, Engine};
use super::program::Statement;
use crate::leg::{Cause, Connection, Leg, Part, Stopwatch};
use crate::session::{
    Course, ErrorClass, Failure, Haste, OperationId, Outcome, RequestEnd, RequestNotes, Session,
};
use crate::timer::Timer;
use crate::web::person::Person;
use crate::web::sample::Kept;
use crate::web::visit::Visit;

/// A user with its connection.
#[derive(Debug)]
pub struct StatementSession<E: Engine> {
    shared: Arc<Shared<E>>,
    desk: E::Desk,
    person: Person,
    /// Those of the last attempt.
    requests: Vec<RequestEnd>,
    visit: Visit,
}

impl<E: Engine> StatementSession<E> {
    pub(super) fn new(shared: Arc<Shared<E>>, desk: E::Desk, user: u32, seed: u64) -> Self {
        Self {
            person: shared.program.person(user, seed),
            desk,
            requests: Vec::new(),
            visit: Visit::default(),
            shared,
        }
    }

    /// Makes the statements of a transaction in order, up to the first that fails.
    async fn attempt(&mut self, operation: OperationId) -> Result<(), Failure> {
        let shared = Arc::clone(&self.shared);
        let mut number = 0;
        for part in &shared.program.transaction(operation).parts {
            for statement in part.steps(&self.person) {
                number += 1;
                self.make(&shared, operation, (number, statement)).await?;
            }
        }
        Ok(())
    }

    async fn make(
        &mut self,
        shared: &Shared<E>,
        operation: OperationId,
        (step, statement): (u32, &Statement),
    ) -> Result<(), Failure> {
        let timer = Timer::current();
        let program = &shared.program;
        let people = program.people.as_ref();
        let (sample, kept) = (statement.sample.as_ref(), &program.kept);
        let drawn = sample.and_then(|sample| Some((sample, sample.draw(kept, &mut self.person)?)));
        let begun_ns = timer.now_ns();
        let mut legs = Vec::new();
        let asked = match statement.sql.write(&mut self.person, people) {
            Ok(sql) => {
                let asked = self.desk.ask(&sql, drawn.is_some()).await;
                legs.push(leg(begun_ns, timer.now_ns()));
                asked
            }
            Err(problem) => Err(failure("no_value", problem)),
        };
        let done_ns = timer.now_ns();
        let judged = asked.and_then(|answer| judge(shared, statement, answer));
        let outcome = judged.and_then(|answer| match (drawn, answer.table) {
            (Some((sample, draw)), Some(table)) => {
                let (text, bytes) = table.finish();
                let answer = Kept {
                    names: (program.operations[operation], statement.name),
                    done_ns,
                    answer: text.as_bytes(),
                    bytes,
                };
                sample.keep(kept, draw, &answer, &mut self.person, people)
            }
            _ => Ok(()),
        });
        self.requests.push(RequestEnd {
            request: statement.id,
            begun_ns,
            done_ns,
            outcome: outcome
                .as_ref()
                .copied()
                .map_err(|failure| failure.class.clone()),
            resent: None,
            notes: RequestNotes::default(),
            course: Course {
                step,
                lane: None,
                legs,
            },
        });
        outcome.map_err(|failure| Failure {
            message: format!("{}: {}", statement.name, failure.message),
            ..failure
        })
    }

    /// Takes note of how a transaction ended.
    fn settle(&mut self, operation: OperationId, well: bool) {
        let (way, random) = (&self.shared.program.way, self.person.random());
        let ended = (operation, well);
        self.shared
            .account
            .ended(&mut self.visit, way, ended, random);
    }
}

impl<E: Engine> Session for StatementSession<E> {
    fn choose(&mut self) -> OperationId {
        let program = &self.shared.program;
        let chosen = self.visit.next(&program.way, self.person.random());
        program.transaction(chosen).begin(&mut self.person);
        chosen
    }

    async fn execute(&mut self, operation: OperationId) -> Outcome {
        self.visit.begin();
        self.requests.clear();
        let outcome = self.attempt(operation).await;
        self.settle(operation, outcome.is_ok());
        match outcome {
            Ok(()) => Outcome::Done,
            Err(failure) => Outcome::Failed(failure),
        }
    }

    fn haste(&self) -> Haste {
        self.visit.haste()
    }

    fn requests(&mut self) -> Vec<RequestEnd> {
        std::mem::take(&mut self.requests)
    }

    fn farewell(&mut self) -> Option<OperationId> {
        self.visit.farewell(&self.shared.program.way)
    }

    /// The user stays logged in: its name is no session of the server's.
    async fn reconnect(&mut self) -> Result<(), Failure> {
        self.desk = self.shared.engine.connect().await?;
        Ok(())
    }

    async fn close(&mut self) {
        self.shared.account.observe(&mut self.visit, Visit::close);
        self.desk.close().await;
    }
}

/// Counts the rows of an answer, and looks whether there are as many as there must be.
fn judge<E>(shared: &Shared<E>, statement: &Statement, answer: Answer) -> Result<Answer, Failure> {
    shared.rows.fetch_add(answer.rows, Ordering::Relaxed);
    let (least, most) = statement.rows;
    if (least..=most).contains(&answer.rows) {
        return Ok(answer);
    }
    let wanted = match most {
        u64::MAX => format!("{least} or more"),
        most => format!("{least} to {most}"),
    };
    let came = answer.rows;
    Err(failure(
        "rows",
        format!("{came} rows came where {wanted} are expected"),
    ))
}

/// A statement on the connection of its user. When its first row came is not looked at.
fn leg(begun_ns: u64, done_ns: u64) -> Leg {
    let mut watch = Stopwatch::start(Cause::Asked, begun_ns);
    watch.leg.connection = Some(Connection::Reused);
    watch.turn(Part::Wait, begun_ns);
    watch.stop(done_ns)
}

fn failure(class: &str, message: impl Into<String>) -> Failure {
    Failure {
        class: ErrorClass(class.into()),
        message: message.into(),
    }
}
