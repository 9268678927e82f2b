//! A real MariaDB for tests: a new data folder in a temporary folder, stopped and removed when dropped.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use loadstone_driver::clock::Epoch;
use loadstone_driver::mysql::{Config, Connection};
use loadstone_driver::timer::Timer;

pub const PASSWORD: &str = "s3cret pass";
/// Not below a temporary folder of one user: the server runs as another one.
const PARENT: &str = "/var/tmp";
/// The account of the tests, with all rights and no password.
const INIT: &str = "CREATE USER tester;\nGRANT ALL ON *.* TO tester WITH GRANT OPTION;\n";
const LONGEST_START: Duration = Duration::from_secs(60);

pub struct Server {
    folder: PathBuf,
    process: Child,
    pub port: u16,
}

/// The server of the tests that run now.
static CURRENT: Mutex<Weak<Server>> = Mutex::new(Weak::new());

impl Server {
    /// The server that the tests of this binary share while any of them runs, or a line why there is none
    /// on this machine. With CI=true there must be one.
    pub fn start() -> Option<Arc<Self>> {
        let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = current.upgrade() {
            return Some(server);
        }
        let server = Arc::new(Self::launch()?);
        *current = Arc::downgrade(&server);
        Some(server)
    }

    fn launch() -> Option<Self> {
        let (Some(server), Some(install)) = (
            find("MARIADBD", &["mariadbd"]),
            find("MARIADB_INSTALL_DB", &["mariadb-install-db"]),
        ) else {
            let reason = "no mariadbd and mariadb-install-db in $PATH or /usr/sbin";
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{reason}");
            eprintln!("skipped: {reason}");
            return None;
        };
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(PARENT).join(format!("lsma-{}-{count}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder for the server");
        let data = format!("--datadir={}", folder.join("data").display());
        let user = format!("--user={}", user());
        let installed = Command::new(install)
            .args(["--no-defaults", &data, &user, "--skip-test-db"])
            .arg("--auth-root-authentication-method=normal")
            .output()
            .expect("mariadb-install-db");
        let said = String::from_utf8_lossy(&installed.stderr);
        assert!(installed.status.success(), "mariadb-install-db: {said}");
        std::fs::write(folder.join("init.sql"), INIT).expect("a file");
        give(&folder);
        let port = free_port();
        let process = Command::new(server)
            .args(["--no-defaults", &data, &user, "--skip-log-bin"])
            .arg(format!("--init-file={}", folder.join("init.sql").display()))
            .arg(format!("--socket={}", folder.join("socket").display()))
            .arg(format!("--log-error={}", folder.join("log").display()))
            .arg(format!("--pid-file={}", folder.join("pid").display()))
            .args([format!("--port={port}"), "--bind-address=127.0.0.1".into()])
            .args([
                "--innodb-buffer-pool-size=512M",
                "--innodb-log-file-size=512M",
            ])
            .args([
                "--innodb-flush-log-at-trx-commit=0",
                "--innodb-lock-wait-timeout=30",
            ])
            .args(["--character-set-server=utf8mb4", "--skip-name-resolve"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("mariadbd");
        let mut server = Self {
            folder,
            process,
            port,
        };
        server.await_start();
        Some(server)
    }

    /// Waits until the server takes connections; it has ended or says so within a minute.
    fn await_start(&mut self) {
        let end = Instant::now() + LONGEST_START;
        while std::os::unix::net::UnixStream::connect(self.folder.join("socket")).is_err() {
            let ended = self.process.try_wait().expect("a process");
            let log = || std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(ended.is_none() && Instant::now() < end, "{}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The connection through the Unix socket, without a password.
    pub fn config(&self) -> Config {
        Config {
            host: self.folder.join("socket").display().to_string(),
            port: 0,
            user: "tester".into(),
            database: String::new(),
            password: None,
            connect_timeout_ns: 10_000_000_000,
            opening: Vec::new(),
        }
    }

    /// The connection over TCP.
    pub fn tcp_config(&self) -> Config {
        Config {
            host: "127.0.0.1".into(),
            port: self.port,
            ..self.config()
        }
    }

    /// The connection to a database.
    pub fn database(&self, name: &str) -> Config {
        Config {
            database: name.into(),
            ..self.config()
        }
    }

    pub async fn connect(&self) -> Connection {
        Connection::connect(&self.config())
            .await
            .expect("a connection")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The program that `variable` names, or the first of `names` in the usual folders.
fn find(variable: &str, names: &[&str]) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable).filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let folders: Vec<&str> = path.split(':').chain(["/usr/sbin", "/usr/bin"]).collect();
    let found = |name: &&str| {
        folders
            .iter()
            .map(|folder| Path::new(folder).join(name))
            .find(|path| path.exists())
    };
    names.iter().find_map(found)
}

/// The server does not want to run as root: then it runs as the user of its package.
fn user() -> String {
    // SAFETY: geteuid has no preconditions.
    match unsafe { libc::geteuid() } {
        0 => "mysql".into(),
        _ => std::env::var("USER").unwrap_or_default(),
    }
}

fn give(folder: &Path) {
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } == 0 {
        let status = Command::new("chown")
            .args(["-R", &user()])
            .arg(folder)
            .status();
        assert!(status.expect("chown").success());
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// Runs a future as a worker of the driver does.
pub fn block_on<F: std::future::Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let _timer = Timer::start(Epoch::start()).expect("a timer");
        future.await
    })
}
