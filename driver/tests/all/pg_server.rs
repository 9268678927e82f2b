//! A real PostgreSQL for tests: a new cluster in a temporary folder, stopped and removed when dropped.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use loadstone_driver::postgres::{Config, Connection};

use crate::host::free_port;

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
    bin: PathBuf,
    folder: PathBuf,
    user: Option<(u32, u32)>,
    pub port: u16,
}

impl Server {
    /// Starts a server, or says why there is none on this machine. With CI=true there must be one.
    pub fn start() -> Option<Self> {
        let Some(bin) = find_bin() else {
            let reason = "no PostgreSQL in $PG_BIN or /usr/lib/postgresql/*/bin";
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{reason}");
            eprintln!("skipped: {reason}");
            return None;
        };
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "lspg-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a folder for the cluster");
        let user = ordinary_user();
        if let Some((uid, gid)) = user {
            std::os::unix::fs::chown(&folder, Some(uid), Some(gid)).expect("chown");
        }
        let server = Self {
            bin,
            folder,
            user,
            port: free_port(),
        };
        server.init();
        Some(server)
    }

    fn init(&self) {
        let data = self.data();
        self.run(
            "initdb",
            &[
                "-D",
                &data,
                "-U",
                "tester",
                "--auth=trust",
                "--no-sync",
                "-E",
                "UTF8",
                "--locale=C",
            ],
        );
        std::fs::write(Path::new(&data).join("pg_hba.conf"), HBA).expect("pg_hba.conf");
        let options = format!(
            "-c port={} -c listen_addresses=127.0.0.1 -c unix_socket_directories={} -c fsync=off \
             -c max_wal_size=4GB -c shared_buffers=256MB",
            self.port,
            self.folder.display()
        );
        let log = self.folder.join("log").display().to_string();
        self.run(
            "pg_ctl",
            &["-D", &data, "-l", &log, "-o", &options, "-w", "start"],
        );
    }

    /// Makes a tablespace in a folder of its own.
    pub async fn make_tablespace(&self, name: &str) {
        let folder = self.folder.join(name);
        std::fs::create_dir(&folder).expect("a folder for the tablespace");
        if let Some((uid, gid)) = self.user {
            std::os::unix::fs::chown(&folder, Some(uid), Some(gid)).expect("chown");
        }
        let sql = format!("CREATE TABLESPACE {name} LOCATION '{}'", folder.display());
        let mut connection = self.connect().await;
        connection.run(&sql).await.expect("a tablespace");
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(self.bin.join(program));
        command
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        let status = command
            .status()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        assert!(status.success(), "{program} {arguments:?}: {status}");
    }

    /// The connection over TCP without a password.
    pub fn config(&self) -> Config {
        Config {
            host: "127.0.0.1".into(),
            port: self.port,
            user: "tester".into(),
            database: "postgres".into(),
            password: None,
            connect_timeout_ns: 10_000_000_000,
            opening: Vec::new(),
        }
    }

    /// The connection through the Unix socket.
    pub fn socket_config(&self) -> Config {
        Config {
            host: self.folder.display().to_string(),
            ..self.config()
        }
    }

    /// The connection to another database.
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
        self.run(
            "pg_ctl",
            &["-D", &self.data(), "-m", "immediate", "-w", "stop"],
        );
        let _ = std::fs::remove_dir_all(&self.folder);
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

/// The server refuses to run as root: then it runs as `postgres` or `nobody`.
fn ordinary_user() -> Option<(u32, u32)> {
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return None;
    }
    let accounts = std::fs::read_to_string("/etc/passwd").expect("/etc/passwd");
    ["postgres", "nobody"].iter().find_map(|name| {
        let line = accounts
            .lines()
            .find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(|field| field.parse().ok());
        Some((fields.next()??, fields.next()??))
    })
}
