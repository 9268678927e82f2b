//! A real MariaDB for tests: a new data folder in a temporary folder, stopped and removed when dropped.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use loadstone_driver::mysql::{Config, Connection};

use crate::host::free_port;

pub const PASSWORD: &str = "s3cret pass";
/// Not below a temporary folder of one user: the server runs as another one.
const PARENT: &str = "/var/tmp";
/// A server that starts removes the temporary tables it finds, so no two may share a folder for them.
const TEMPORARY: &str = "tmp";
/// The account of the tests, with all rights and no password.
const INIT: &str =
    "CREATE USER IF NOT EXISTS tester;\nGRANT ALL ON *.* TO tester WITH GRANT OPTION;\n";
const LONGEST_START: Duration = Duration::from_secs(60);

pub struct Server {
    program: PathBuf,
    folder: PathBuf,
    process: Child,
    is_durable: bool,
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
        let server = Arc::new(Self::launch(false)?);
        *current = Arc::downgrade(&server);
        Some(server)
    }

    /// A server for one test alone, which keeps each commit when it is killed.
    pub fn durable() -> Option<Self> {
        Self::launch(true)
    }

    fn launch(is_durable: bool) -> Option<Self> {
        let (Some(program), Some(install)) = (
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
        std::fs::create_dir_all(folder.join(TEMPORARY)).expect("a folder for the server");
        give(&folder);
        let data = format!("--datadir={}", folder.join("data").display());
        let user = format!("--user={}", user());
        let installed = Command::new(install)
            .args(["--no-defaults", &data, &user, "--skip-test-db"])
            .arg("--auth-root-authentication-method=normal")
            .env("TMPDIR", folder.join(TEMPORARY))
            .output()
            .expect("mariadb-install-db");
        let said = String::from_utf8_lossy(&installed.stderr);
        assert!(installed.status.success(), "mariadb-install-db: {said}");
        std::fs::write(folder.join("init.sql"), INIT).expect("a file");
        give(&folder);
        let port = free_port();
        let mut server = Self {
            process: spawn(&program, &folder, port, is_durable),
            program,
            folder,
            is_durable,
            port,
        };
        server.await_start();
        Some(server)
    }

    /// Kills the server, as a crash would.
    pub fn kill(&mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("an end");
    }

    /// Starts it again on its data, at its old address.
    pub fn restart(&mut self) {
        self.process = spawn(&self.program, &self.folder, self.port, self.is_durable);
        self.await_start();
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

    /// Runs the statements of a file of this package, separated by lines of `//`.
    pub async fn apply(&self, database: &str, file: &str) {
        let mut connection = Connection::connect(&self.database(database))
            .await
            .expect(database);
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let script = std::fs::read_to_string(&path).expect(&path);
        for sql in script.split("\n//").filter(|sql| !sql.trim().is_empty()) {
            connection.run(sql).await.expect(sql);
        }
    }

    pub async fn connect(&self) -> Connection {
        Connection::connect(&self.config())
            .await
            .expect("a connection")
    }
}

fn spawn(program: &Path, folder: &Path, port: u16, is_durable: bool) -> Child {
    let option = |name: &str, file: &str| format!("--{name}={}", folder.join(file).display());
    Command::new(program)
        .env("TMPDIR", folder.join(TEMPORARY))
        .args(["--no-defaults".into(), option("datadir", "data")])
        .args([format!("--user={}", user()), "--skip-log-bin".into()])
        .args([option("init-file", "init.sql"), option("socket", "socket")])
        .args([option("log-error", "log"), option("pid-file", "pid")])
        .args([format!("--port={port}"), "--bind-address=127.0.0.1".into()])
        .args([
            "--innodb-buffer-pool-size=512M",
            "--innodb-log-file-size=512M",
        ])
        .args([
            format!("--innodb-flush-log-at-trx-commit={}", u8::from(is_durable)),
            "--innodb-lock-wait-timeout=30".into(),
        ])
        .args(["--character-set-server=utf8mb4", "--skip-name-resolve"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("mariadbd")
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
