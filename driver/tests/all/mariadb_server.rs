//! A real MariaDB for tests: a new data folder in a temporary folder, stopped and removed when dropped.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use loadstone_driver::mysql::{Config, Connection};

use crate::daemon::{Account, Daemon};
use crate::host::free_port;
use crate::scratch::{self, Folder};

pub const PASSWORD: &str = "s3cret pass";
/// A server that starts removes the temporary tables it finds, so no two may share a folder for them.
const TEMPORARY: &str = "tmp";
/// The account of the tests, with all rights and no password.
const INIT: &str =
    "CREATE USER IF NOT EXISTS tester;\nGRANT ALL ON *.* TO tester WITH GRANT OPTION;\n";

pub struct Server {
    daemon: Daemon,
    program: PathBuf,
    folder: Folder,
    account: Option<Account>,
    is_durable: bool,
    pub port: u16,
}

static SHARED: OnceLock<Option<Arc<Server>>> = OnceLock::new();

extern "C" fn stop_shared() {
    if let Some(Some(server)) = SHARED.get() {
        server.kill();
    }
}

impl Server {
    /// The server of all tests that change nothing but their own databases and accounts, or a line why there
    /// is none on this machine. With CI=true there must be one.
    pub fn shared() -> Option<Arc<Self>> {
        let start = || {
            let server = Self::launch(false)?;
            scratch::at_exit(stop_shared);
            Some(Arc::new(server))
        };
        SHARED.get_or_init(start).clone()
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
        let folder = Folder::new("ma");
        let temporary = folder.join(TEMPORARY);
        std::fs::create_dir(&temporary).expect("a folder for temporary tables");
        let account = Account::instead_of_root(&["mysql", "nobody"]);
        let mut install = Command::new(install);
        install
            .args(["--no-defaults", "--skip-test-db"])
            .arg("--auth-root-authentication-method=normal")
            .arg(format!("--datadir={}", folder.join("data").display()))
            .env("TMPDIR", &temporary)
            .stdin(Stdio::null());
        if let Some(account) = account {
            account.own(folder.path());
            account.own(&temporary);
            account.take_on(&mut install);
        }
        let installed = install.output().expect("mariadb-install-db");
        let said = String::from_utf8_lossy(&installed.stderr);
        assert!(installed.status.success(), "mariadb-install-db: {said}");
        let init = folder.join("init.sql");
        std::fs::write(&init, INIT).expect("a file");
        if let Some(account) = account {
            account.own(&init);
        }
        let port = free_port();
        Some(Self {
            daemon: start(&program, &folder, account, port, is_durable),
            program,
            folder,
            account,
            is_durable,
            port,
        })
    }

    /// Kills the server, as a crash would.
    pub fn kill(&self) {
        self.daemon.stop();
    }

    /// Starts it again on its data, at its old address.
    pub fn restart(&mut self) {
        let (port, is_durable) = (self.port, self.is_durable);
        self.daemon = start(&self.program, &self.folder, self.account, port, is_durable);
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

/// Starts a server on the data of `folder`, and waits until it takes connections.
fn start(
    program: &Path,
    folder: &Folder,
    account: Option<Account>,
    port: u16,
    is_durable: bool,
) -> Daemon {
    let option = |name: &str, file: &str| format!("--{name}={}", folder.join(file).display());
    let mut command = Command::new(program);
    command
        .env("TMPDIR", folder.join(TEMPORARY))
        .args(["--no-defaults".into(), option("datadir", "data")])
        .args([option("init-file", "init.sql"), option("socket", "socket")])
        .args([option("pid-file", "pid"), "--skip-log-bin".into()])
        .args([format!("--port={port}"), "--bind-address=127.0.0.1".into()])
        .args([
            "--innodb-buffer-pool-size=512M",
            "--innodb-log-file-size=512M",
        ])
        .args([
            format!("--innodb-flush-log-at-trx-commit={}", u8::from(is_durable)),
            "--innodb-lock-wait-timeout=30".into(),
        ])
        .args(["--character-set-server=utf8mb4", "--skip-name-resolve"]);
    let daemon = Daemon::start(command, account, libc::SIGKILL, &folder.join("log"));
    let socket = folder.join("socket");
    daemon.await_start(|| std::os::unix::net::UnixStream::connect(&socket).is_ok());
    daemon
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
