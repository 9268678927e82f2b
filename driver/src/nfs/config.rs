//! Where an export is and who asks, from an address as libnfs reads it:
//! `nfs://host/path?nfsport=2049&mountport=20048`.

use std::time::Duration;

use crate::plan::{self, Protocol, Refusal};

const FIELD: &str = "connection.url";

/// All that is needed to mount an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Name or address of the server.
    pub host: String,
    /// The folder that is mounted.
    pub path: String,
    /// Of NFS; without it the portmapper is asked.
    pub nfs_port: Option<u16>,
    /// Of the mount protocol; without it the portmapper is asked.
    pub mount_port: Option<u16>,
    /// Of AUTH_SYS; those of this process unless the address has others.
    pub uid: u32,
    /// As `uid`.
    pub gid: u32,
    /// That the server may take to accept a connection, and to answer while an export is mounted.
    pub connect_timeout: Duration,
}

impl Config {
    /// The export that a plan names.
    ///
    /// # Errors
    /// A [`Refusal`] if it names none.
    pub fn from_plan(connection: &plan::Connection) -> Result<Self, Refusal> {
        if connection.protocol != Protocol::Nfs {
            return Err(Refusal::new("connection.protocol", "is not \"nfs\""));
        }
        let timeout = Duration::from_secs_f64(connection.connect_timeout_s);
        Self::parse(&connection.url, timeout).map_err(|problem| Refusal::new(FIELD, problem))
    }

    /// Reads an address; arguments that change only how libnfs works are passed over.
    pub(super) fn parse(url: &str, connect_timeout: Duration) -> Result<Self, String> {
        let wrong = || format!("{url} is no address of NFS; write nfs://host/export");
        let rest = url.strip_prefix("nfs://").ok_or_else(wrong)?;
        let (place, arguments) = rest.split_once('?').unwrap_or((rest, ""));
        let slash = place.find('/').ok_or_else(wrong)?;
        let (host, nfs_port) = host_and_port(&place[..slash]).ok_or_else(wrong)?;
        // SAFETY: these calls have no preconditions, and cannot fail.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        let mut found = Self {
            host,
            path: place[slash..].to_owned(),
            nfs_port,
            mount_port: None,
            uid,
            gid,
            connect_timeout,
        };
        for argument in arguments.split('&').filter(|argument| !argument.is_empty()) {
            found
                .take(argument)
                .map_err(|problem| format!("{url}: {argument}: {problem}"))?;
        }
        Ok(found)
    }

    fn take(&mut self, argument: &str) -> Result<(), &'static str> {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        let number = || value.parse::<u32>().map_err(|_| "is not a number");
        let port = || value.parse::<u16>().map_err(|_| "is not a port");
        match name {
            "nfsport" => self.nfs_port = Some(port()?),
            "mountport" => self.mount_port = Some(port()?),
            "uid" => self.uid = number()?,
            "gid" => self.gid = number()?,
            "version" if value != "3" => return Err("only version 3 is spoken"),
            _ => {}
        }
        Ok(())
    }

    /// As messages name it.
    pub fn shown(&self) -> String {
        format!("{}:{}", self.host, self.path)
    }
}

/// The two parts of `host:port`, `host` or `[::1]:port`.
fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']')?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let port = match rest {
        "" => None,
        _ => Some(rest.strip_prefix(':')?.parse().ok()?),
    };
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Config, String> {
        Config::parse(url, Duration::from_secs(1))
    }

    #[test]
    fn an_address_names_host_folder_and_ports() {
        let found =
            parse("nfs://10.0.0.1/a/b?nfsport=7&mountport=8&uid=5&readahead=9").expect("read");
        assert_eq!(
            (found.host.as_str(), found.path.as_str()),
            ("10.0.0.1", "/a/b")
        );
        assert_eq!((found.nfs_port, found.mount_port), (Some(7), Some(8)));
        assert_eq!((found.uid, found.shown().as_str()), (5, "10.0.0.1:/a/b"));
        let found = parse("nfs://[::1]:2049/x").expect("read");
        assert_eq!((found.host.as_str(), found.nfs_port), ("::1", Some(2049)));
    }

    #[test]
    fn what_is_no_address_is_refused_in_one_line() {
        for url in [
            "http://h/x",
            "nfs://h",
            "nfs:///x",
            "nfs://h:x/y",
            "nfs://[::1/y",
        ] {
            assert!(
                parse(url)
                    .expect_err("refused")
                    .contains("write nfs://host/export")
            );
        }
        let said = parse("nfs://h/x?version=4").expect_err("refused");
        assert!(
            said.ends_with("version=4: only version 3 is spoken"),
            "{said}"
        );
        assert!(
            parse("nfs://h/x?nfsport=99999")
                .expect_err("refused")
                .ends_with("is not a port")
        );
    }
}
