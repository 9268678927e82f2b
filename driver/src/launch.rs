//! The registry of workloads, and the way from a plan to a run.

use std::io::{BufReader, Stdin, Stdout};
use std::sync::mpsc::channel;

use crate::acknowledgements::Acknowledgements;
use crate::archive::engine::Engine as ArchiveEngine;
use crate::archive::parameters::Parameters as ArchiveParameters;
use crate::archive::{self, Archive};
use crate::catalogue::{Catalogue, CatalogueLoad, CatalogueRun};
use crate::clock::Epoch;
use crate::control::{Signals, listen};
use crate::log_in::LogIn;
use crate::mysql;
use crate::noop::Noop;
use crate::oltp::engine::Engine;
use crate::oltp::mariadb::MariaDb;
use crate::oltp::parameters::RunParameters;
use crate::oltp::postgres::Postgres;
use crate::oltp::sqlite::Sqlite;
use crate::oltp::{OltpLoad, OltpRun};
use crate::plan::{Plan, Protocol, Refusal, Role};
use crate::point_select::{Accounts, PointSelect, Rows};
use crate::postgres::Config;
use crate::reporter::Ending;
use crate::run::Run;
use crate::session::Workload;
use crate::sqlite;
use crate::statements::{self, Statements};
use crate::web::Web;

/// Names of the workloads that this driver knows.
pub const WORKLOADS: [&str; 7] = [
    "archive",
    "http",
    "noop",
    "oltp",
    "point-select",
    "statements",
    "storage",
];

/// The streams and the time of a process that is to make a run. They have one type each: with types of the
/// caller's choice, every program would compile the runs of all workloads again.
pub struct Environment {
    /// Where control lines come from.
    pub input: BufReader<Stdin>,
    /// Where frames go.
    pub output: Stdout,
    /// The signals that stop the run.
    pub signals: Signals,
    /// The origin of time.
    pub epoch: Epoch,
}

/// Runs `plan` with the workload that it names.
///
/// # Errors
/// A [`Refusal`] that names the wrong field; nothing was written then.
pub fn launch(plan: &Plan, environment: Environment) -> Result<Ending, Refusal> {
    match (plan.workload.name.as_str(), plan.workload.role) {
        (name, Role::LogIn) if WORKLOADS.contains(&name) => {
            start(plan, LogIn::new(&plan.connection)?, environment)
        }
        ("oltp", _) => order_entry(plan, environment),
        ("archive", Role::Run) => event_archive(plan, environment),
        ("archive", Role::Load) => Err(Refusal::new(
            "workload.role",
            "an archive begins empty: there is nothing to load",
        )),
        (name, _) if plan.acknowledgements.is_some() => Err(Refusal::new(
            "acknowledgements",
            format!("the workload `{name}` writes none; leave it out"),
        )),
        ("noop", Role::Run | Role::Load) => {
            let noop = Noop::new(&plan.workload.parameters, plan.process.of)?;
            start(plan, noop, environment)
        }
        ("http", Role::Run) => start(plan, Web::from_plan(plan)?.keeping()?, environment),
        ("http", Role::Load) => Err(Refusal::new(
            "workload.role",
            "an application's data are its own: there is nothing to load",
        )),
        ("statements", Role::Run) => statements_of_users(plan, environment),
        ("statements", Role::Load) => Err(Refusal::new(
            "workload.role",
            "statements have no data of their own: there is nothing to load",
        )),
        ("storage", Role::Run | Role::Load) => catalogue(plan, environment),
        ("point-select", Role::Run) => point_select(plan, environment),
        ("point-select", Role::Load) => Err(Refusal::new(
            "workload.role",
            "pgbench -i or sysbench prepare loads the data of point-select",
        )),
        (name, _) => Err(Refusal::new(
            "workload.name",
            format!(
                "`{name}` is not known; this driver has {}",
                WORKLOADS.join(", ")
            ),
        )),
    }
}

/// Makes the small files of users, or works with them.
fn catalogue(plan: &Plan, environment: Environment) -> Result<Ending, Refusal> {
    let catalogue = Catalogue::from_plan(plan)?;
    match plan.workload.role {
        Role::Load => start(plan, CatalogueLoad::new(catalogue), environment),
        _ => start(plan, CatalogueRun::new(catalogue, plan)?, environment),
    }
}

/// Makes the statements of a plan by the protocol.
fn statements_of_users(plan: &Plan, environment: Environment) -> Result<Ending, Refusal> {
    match plan.connection.protocol {
        Protocol::Postgresql => {
            let engine = statements::Postgres(Config::from_plan(&plan.connection)?);
            start(plan, Statements::new(engine, plan)?.keeping()?, environment)
        }
        Protocol::Mysql => {
            let engine = statements::MariaDb(mysql::Config::from_plan(&plan.connection)?);
            start(plan, Statements::new(engine, plan)?.keeping()?, environment)
        }
        Protocol::Sqlite => {
            let config = sqlite::Config::from_plan(&plan.connection)?;
            let engine = statements::Sqlite::new(config)?;
            start(plan, Statements::new(engine, plan)?.keeping()?, environment)
        }
        Protocol::Files | Protocol::Nfs | Protocol::Http | Protocol::None => {
            Err(needs_engine("statements"))
        }
    }
}

/// Reads rows of pgbench's table, or of sysbench's, by the protocol.
fn point_select(plan: &Plan, environment: Environment) -> Result<Ending, Refusal> {
    let parameters = &plan.workload.parameters;
    if plan.connection.protocol == Protocol::Mysql {
        let config = mysql::Config::from_plan(&plan.connection)?;
        return start(
            plan,
            PointSelect::<Rows>::new(config, parameters)?,
            environment,
        );
    }
    let config = Config::from_plan(&plan.connection)?;
    start(
        plan,
        PointSelect::<Accounts>::new(config, parameters)?,
        environment,
    )
}

/// Chooses the engine of the archive by the protocol.
fn event_archive(plan: &Plan, environment: Environment) -> Result<Ending, Refusal> {
    let parameters = ArchiveParameters::parse(&plan.workload.parameters)?;
    match plan.connection.protocol {
        Protocol::Postgresql => {
            let config = Config::from_plan(&plan.connection)?;
            let engine = archive::postgres::Postgres::new(config, &parameters)?;
            event_archive_on(engine, plan, parameters, environment)
        }
        Protocol::Mysql => {
            let config = mysql::Config::from_plan(&plan.connection)?;
            let engine = archive::mariadb::MariaDb::new(config, &parameters)?;
            event_archive_on(engine, plan, parameters, environment)
        }
        Protocol::Sqlite => {
            let config = sqlite::Config::from_plan(&plan.connection)?;
            let engine = archive::sqlite::Sqlite::new(config, &parameters)?;
            event_archive_on(engine, plan, parameters, environment)
        }
        Protocol::Files | Protocol::Nfs | Protocol::Http | Protocol::None => {
            Err(needs_engine("archive"))
        }
    }
}

fn event_archive_on<E>(
    engine: E,
    plan: &Plan,
    parameters: ArchiveParameters,
    environment: Environment,
) -> Result<Ending, Refusal>
where
    E: ArchiveEngine,
{
    let open = |path: &String| Acknowledgements::open(path, environment.epoch);
    let list = plan.acknowledgements.as_ref().map(open).transpose()?;
    let archive = Archive::new(engine, parameters, environment.epoch, list)?;
    start(plan, archive, environment)
}

fn needs_engine(name: &str) -> Refusal {
    Refusal::new(
        "connection.protocol",
        format!("{name} needs an engine; write \"postgresql\", \"mysql\" or \"sqlite\""),
    )
}

/// Chooses the engine of order entry by the protocol.
fn order_entry(plan: &Plan, environment: Environment) -> Result<Ending, Refusal> {
    let parameters = RunParameters::parse(&plan.workload.parameters)?;
    match plan.connection.protocol {
        Protocol::Postgresql => {
            let config = Config::from_plan(&plan.connection)?;
            order_entry_on(
                Postgres::new(config, &parameters),
                plan,
                &parameters,
                environment,
            )
        }
        Protocol::Mysql => {
            let config = mysql::Config::from_plan(&plan.connection)?;
            order_entry_on(
                MariaDb::new(config, &parameters),
                plan,
                &parameters,
                environment,
            )
        }
        Protocol::Sqlite => {
            let config = sqlite::Config::from_plan(&plan.connection)?;
            order_entry_on(
                Sqlite::new(&config, &parameters)?,
                plan,
                &parameters,
                environment,
            )
        }
        Protocol::Files | Protocol::Nfs | Protocol::Http | Protocol::None => {
            Err(needs_engine("oltp"))
        }
    }
}

fn order_entry_on<E>(
    engine: E,
    plan: &Plan,
    parameters: &RunParameters,
    environment: Environment,
) -> Result<Ending, Refusal>
where
    E: Engine,
{
    match (plan.workload.role, &plan.acknowledgements) {
        (Role::Run, path) => {
            let open = |path: &String| Acknowledgements::open(path, environment.epoch);
            let list = path.as_ref().map(open).transpose()?;
            let run = OltpRun::new(engine, parameters, plan.seed)?;
            start(plan, run.acknowledging(list), environment)
        }
        (Role::Load, None) => start(
            plan,
            OltpLoad::new(engine, parameters.warehouses),
            environment,
        ),
        (Role::Load | Role::LogIn, _) => Err(Refusal::new(
            "acknowledgements",
            "only the role run writes any; leave it out",
        )),
    }
}

fn start<L>(plan: &Plan, workload: L, environment: Environment) -> Result<Ending, Refusal>
where
    L: Workload,
{
    let (outbox, inbox) = channel();
    let run = Run::new(
        plan,
        workload,
        environment.epoch,
        (outbox.clone(), inbox),
        environment.output,
    )?;
    let listening = environment
        .signals
        .listen(outbox.clone())
        .and_then(|()| listen(environment.input, outbox));
    listening.map_err(|error| Refusal::new("threads", format!("cannot start: {error}")))?;
    Ok(run.conduct())
}
