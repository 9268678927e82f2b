//! Entry point of `loadstone-driver`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use loadstone_driver::cells;
use loadstone_driver::clock::Epoch;
use loadstone_driver::control::Signals;
use loadstone_driver::launch::{Environment, WORKLOADS, launch};
use loadstone_driver::pacing::Pace;
use loadstone_driver::plan::{PROTOCOL_VERSION, Plan, Refusal, Role};
use loadstone_driver::reporter::Ending;
use loadstone_driver::session::Workload;
use loadstone_driver::statements;
use loadstone_driver::web::Web;

const REFUSED: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => run(),
        ["check"] => check(),
        ["--version" | "-V"] => answer(&version()),
        ["--help" | "-h"] | ["cells", "--help" | "-h"] => answer(&help()),
        ["cells", ref rest @ ..] => encode(rest),
        _ => {
            eprintln!(
                "loadstone-driver: {} is not an option; see --help",
                arguments.join(" ")
            );
            ExitCode::from(REFUSED)
        }
    }
}

fn version() -> String {
    format!(
        "loadstone-driver {} (protocol {PROTOCOL_VERSION})\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn help() -> String {
    format!(
        "{}
The load driver of Loadstone. It reads a plan (the first line of standard input, JSON), then
control lines, and writes frames (standard output, one JSON object a line). The end of standard
input, SIGTERM and SIGINT stop it. Workloads: {}.

Options:
  -V, --version   the version of the program and of the protocol
  -h, --help      this text

Exit code: 0 completed or stopped, 1 failed, 2 plan refused.

  loadstone-driver check
reads a plan in the same way and looks at it, with the scenario of a web application, its people and its
secrets. Nothing is run or asked. Exit code: 0 the plan can be run, 2 plan refused.

Without a plan, a file of cells of a planning cube becomes encoded rows on standard output, and a
line of JSON on standard error tells what was in it. Exit code: 0 done, 1 failed, 2 wrong arguments.
  {}
",
        version(),
        WORKLOADS.join(", "),
        cells::arguments::USAGE
    )
}

fn answer(text: &str) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The subcommand `cells`. Rows are no lines: what is known as standard output would look for some.
fn encode(arguments: &[&str]) -> ExitCode {
    let output = io::stdout().as_fd().try_clone_to_owned();
    let told = output
        .map_err(cells::Error::Output)
        .and_then(|output| cells::run(arguments, File::from(output)));
    let (line, code) = match told {
        Ok(summary) => (summary.to_string(), 0),
        Err(error) => (format!("loadstone-driver: {error}"), error.exit_code()),
    };
    match writeln!(io::stderr(), "{line}") {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::FAILURE,
    }
}

fn run() -> ExitCode {
    let epoch = Epoch::start();
    // A panic of any thread is a fault of the program: the run cannot be trusted any more.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::exit(1);
    }));
    let signals = Signals::block();
    let mut input = BufReader::new(io::stdin());
    let ending = read_plan(&mut input).and_then(|plan| {
        let output = io::stdout();
        launch(
            &plan,
            Environment {
                input,
                output,
                signals,
                epoch,
            },
        )
    });
    match ending {
        Ok(Ending::Completed | Ending::Stopped) => ExitCode::SUCCESS,
        Ok(Ending::Failed(error)) => {
            eprintln!("loadstone-driver: {error}");
            ExitCode::FAILURE
        }
        Err(refusal) => refuse(&refusal),
    }
}

fn refuse(refusal: &Refusal) -> ExitCode {
    eprintln!("loadstone-driver: {refusal}");
    ExitCode::from(REFUSED)
}

/// The subcommand `check`.
fn check() -> ExitCode {
    match read_plan(&mut io::stdin().lock()).and_then(|plan| check_plan(&plan)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => refuse(&refusal),
    }
}

/// Looks at all of a plan that can be known before it is run.
fn check_plan(plan: &Plan) -> Result<(), Refusal> {
    let workload = &plan.workload;
    if workload.name == "http" && workload.role == Role::Run {
        let web = Web::from_plan(plan)?;
        Pace::new(&plan.pacing, web.operations())?;
    }
    if workload.name == "statements" && workload.role == Role::Run {
        statements::check(plan)?;
    }
    Ok(())
}

fn read_plan(input: &mut impl BufRead) -> Result<Plan, Refusal> {
    let mut line = String::new();
    input
        .read_line(&mut line)
        .map_err(|error| Refusal::new(".", format!("standard input cannot be read: {error}")))?;
    if line.trim().is_empty() {
        return Err(Refusal::new(
            ".",
            "no plan: the first line of standard input is empty",
        ));
    }
    Plan::parse(&line)
}
