//! A real PostgreSQL for tests: a new cluster in a folder of its own, stopped and removed at the end.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use loadstone_driver::postgres::{Config, Connection};
use serde_json::{Value, json};

use crate::daemon::{Account, Daemon};
use crate::host::{block_on, free_port};
use crate::scratch::{self, Folder};

pub const PASSWORD: &str = "s3cret pass";

/// A role for each way to log in, and one that may only come with TLS.
const HBA: &str = "\
local   all tester              trust
host    all tester 127.0.0.1/32 trust
host    all scram  127.0.0.1/32 scram-sha-256
host    all md5    127.0.0.1/32 md5
host    all clear  127.0.0.1/32 password
hostssl all tls    127.0.0.1/32 trust
";

pub struct Server {
    daemon: Daemon,
    folder: Folder,
    account: Option<Account>,
    port: u16,
}

static SHARED: OnceLock<Option<Arc<Server>>> = OnceLock::new();

extern "C" fn stop_shared() {
    if let Some(Some(server)) = SHARED.get() {
        server.daemon.stop();
    }
}

impl Server {
    /// The server of all tests that change nothing but their own database.
    fn shared() -> Option<Arc<Self>> {
        let start = || {
            let server = Self::start()?;
            scratch::at_exit(stop_shared);
            Some(Arc::new(server))
        };
        SHARED.get_or_init(start).clone()
    }

    /// Starts a server, or says why there is none on this machine. With CI=true there must be one.
    fn start() -> Option<Self> {
        let Some(bin) = find_bin() else {
            let reason = "no PostgreSQL in $PG_BIN or /usr/lib/postgresql/*/bin";
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{reason}");
            eprintln!("skipped: {reason}");
            return None;
        };
        let folder = Folder::new("pg");
        let account = Account::instead_of_root(&["postgres", "nobody"]);
        if let Some(account) = account {
            account.own(folder.path());
        }
        let data = folder.join("data");
        let mut initdb = Command::new(bin.join("initdb"));
        initdb
            .args(["-U", "tester", "--auth=trust", "--no-sync"])
            .args(["-E", "UTF8", "--locale=C", "-D"])
            .arg(&data)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        if let Some(account) = account {
            account.take_on(&mut initdb);
        }
        let status = initdb.status().expect("initdb");
        assert!(status.success(), "initdb: {status}");
        std::fs::write(data.join("pg_hba.conf"), HBA).expect("pg_hba.conf");

        let port = free_port();
        let mut postgres = Command::new(bin.join("postgres"));
        postgres.arg("-D").arg(&data).current_dir(folder.path());
        for setting in [
            format!("port={port}"),
            "listen_addresses=127.0.0.1".into(),
            format!("unix_socket_directories={}", folder.path().display()),
            "fsync=off".into(),
            // What would only cost the tests time: nothing is written twice, and no query is long.
            "full_page_writes=off".into(),
            "autovacuum=off".into(),
            "jit=off".into(),
            "max_parallel_workers_per_gather=0".into(),
            "max_wal_size=4GB".into(),
            "shared_buffers=256MB".into(),
        ] {
            postgres.args(["-c", &setting]);
        }
        let log = folder.join("log");
        let daemon = Daemon::start(postgres, account, libc::SIGQUIT, &log);
        // The last line of this file is the state of the server.
        let state = data.join("postmaster.pid");
        daemon.await_start(|| {
            let lines = std::fs::read_to_string(&state).unwrap_or_default();
            lines.trim_end().ends_with("ready")
        });
        Some(Self {
            daemon,
            folder,
            account,
            port,
        })
    }

    fn config(&self, database: &str) -> Config {
        Config {
            host: "127.0.0.1".into(),
            port: self.port,
            user: "tester".into(),
            database: database.into(),
            password: None,
            connect_timeout_ns: 10_000_000_000,
            opening: Vec::new(),
        }
    }

    async fn run(&self, sql: &str) {
        let connection = Connection::connect(&self.config("postgres")).await;
        let mut connection = connection.expect("a connection");
        connection.run(sql).await.expect(sql);
    }
}

/// A database for one test.
pub struct Database {
    server: Arc<Server>,
    name: String,
}

impl Database {
    /// An empty database, or none where there is no server.
    pub fn new() -> Option<Self> {
        Some(block_on(Self::make(Server::shared()?)))
    }

    /// An empty database on a server that no other test uses.
    pub fn alone() -> Option<Self> {
        Some(block_on(Self::make(Arc::new(Server::start()?))))
    }

    async fn make(server: Arc<Server>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        server.run(&format!("CREATE DATABASE {name}")).await;
        Self { server, name }
    }

    /// A further empty database on the same server.
    pub async fn another(&self) -> Self {
        Self::make(Arc::clone(&self.server)).await
    }

    /// Makes a tablespace in a folder of its own.
    pub async fn make_tablespace(&self, name: &str) {
        let folder = self.server.folder.join(name);
        std::fs::create_dir(&folder).expect("a folder for the tablespace");
        if let Some(account) = self.server.account {
            account.own(&folder);
        }
        let sql = format!("CREATE TABLESPACE {name} LOCATION '{}'", folder.display());
        self.server.run(&sql).await;
    }

    /// The connection over TCP without a password.
    pub fn config(&self) -> Config {
        self.server.config(&self.name)
    }

    /// The connection through the Unix socket.
    pub fn socket_config(&self) -> Config {
        Config {
            host: self.server.folder.path().display().to_string(),
            ..self.config()
        }
    }

    /// The connection as a plan names it.
    pub fn plan(&self) -> Value {
        json!({"protocol": "postgresql", "host": "127.0.0.1", "port": self.server.port, "user": "tester",
               "database": self.name})
    }

    pub async fn connect(&self) -> Connection {
        let connection = Connection::connect(&self.config()).await;
        connection.expect("a connection")
    }
}

/// The newest version found.
fn find_bin() -> Option<PathBuf> {
    if let Some(bin) = std::env::var_os("PG_BIN").filter(|bin| !bin.is_empty()) {
        return Some(bin.into());
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    versions
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .max()
        .map(|version| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin")))
        .filter(|bin| bin.join("initdb").exists())
}
