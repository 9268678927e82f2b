//! Server processes that end with this process, however it ends.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const LONGEST_START: Duration = Duration::from_secs(60);

/// A server process. It is stopped when dropped.
pub struct Daemon {
    child: Mutex<Child>,
    signal: i32,
    log: PathBuf,
}

impl Daemon {
    /// Starts `command`, which `signal` stops, as `account`. What it says goes to a file.
    pub fn start(mut command: Command, account: Option<Account>, signal: i32, log: &Path) -> Self {
        let output = File::options().create(true).append(true).open(log);
        let output = output.expect("a log");
        let errors = output.try_clone().expect("a log");
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        if let Some(account) = account {
            account.take_on(&mut command);
        }
        // SAFETY: prctl is a system call, and nothing else is done.
        unsafe {
            command.pre_exec(move || match libc::prctl(libc::PR_SET_PDEATHSIG, signal) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            });
        }
        Self {
            child: Mutex::new(spawn(command)),
            signal,
            log: log.to_owned(),
        }
    }

    /// Waits until the server is ready; it ends or is ready within a minute.
    pub fn await_start(&self, is_ready: impl Fn() -> bool) {
        let end = Instant::now() + LONGEST_START;
        while !is_ready() {
            let ended = self.with_child(Child::try_wait).expect("a process");
            let log = || std::fs::read_to_string(&self.log).unwrap_or_default();
            assert!(ended.is_none() && Instant::now() < end, "{}", log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends the server, and waits until it has ended.
    pub fn stop(&self) {
        self.with_child(|child| {
            if let Ok(None) = child.try_wait() {
                // SAFETY: the child has not been waited for, so its number is still its own.
                unsafe { libc::kill(child.id().cast_signed(), self.signal) };
                let _ = child.wait();
            }
        });
    }

    fn with_child<T>(&self, act: impl FnOnce(&mut Child) -> T) -> T {
        act(&mut self.child.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Spawns from a thread that lasts: to the kernel, the parent that dies is a thread, and those of tests end.
fn spawn(command: Command) -> Child {
    type Order = (Command, SyncSender<io::Result<Child>>);
    static SPAWNER: LazyLock<Sender<Order>> = LazyLock::new(|| {
        let (orders, inbox) = channel::<Order>();
        thread::spawn(move || {
            for (mut command, answer) in inbox {
                let _ = answer.send(command.spawn());
            }
        });
        orders
    });
    let program = command.get_program().to_owned();
    let (answer, spawned) = sync_channel(1);
    SPAWNER.send((command, answer)).expect("the thread lasts");
    let child = spawned.recv().expect("the thread lasts");
    child.unwrap_or_else(|error| panic!("{}: {error}", program.display()))
}

/// An account that a server runs as.
#[derive(Clone, Copy)]
pub struct Account {
    uid: u32,
    gid: u32,
}

impl Account {
    /// The first of `names` that there is, when this process runs as root: servers refuse to.
    pub fn instead_of_root(names: &[&str]) -> Option<Self> {
        // SAFETY: geteuid has no preconditions.
        if unsafe { libc::geteuid() } != 0 {
            return None;
        }
        let accounts = std::fs::read_to_string("/etc/passwd").expect("/etc/passwd");
        names.iter().find_map(|name| {
            let mut lines = accounts.lines().map(|line| line.split(':'));
            let mut fields =
                lines.find_map(|mut fields| (fields.next()? == *name).then_some(fields))?;
            let mut number = |at| fields.nth(at)?.parse().ok();
            Some(Self {
                uid: number(1)?,
                gid: number(0)?,
            })
        })
    }

    /// Lets `command` run as this account.
    pub fn take_on(self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }

    /// Makes it the owner of `path`.
    pub fn own(self, path: &Path) {
        std::os::unix::fs::chown(path, Some(self.uid), Some(self.gid)).expect("chown");
    }
}
