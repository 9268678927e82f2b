//! How an export is mounted: MOUNT3, and the portmapper where no ports are told.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use nfs3_client::nfs3_types::mount::{self, dirpath, mountstat3};
use nfs3_client::nfs3_types::nfs3;
use nfs3_client::nfs3_types::portmap::{IPPROTO_TCP, PMAP_PORT};
use nfs3_client::nfs3_types::rpc::{auth_unix, opaque_auth};
use nfs3_client::nfs3_types::xdr_codec::Opaque;
use nfs3_client::{MountClient, MountError, PortmapError, PortmapperClient};

use super::socket::{Socket, wait};
use super::{Config, Handle};
use crate::plan::{self, Refusal};

/// Of AUTH_SYS (RFC 5531, appendix A).
const MOST_GROUPS: usize = 16;

/// A mounted export: where calls go, and the handle of its folder.
#[derive(Debug, Clone)]
pub struct Export {
    /// Where it was asked for.
    pub config: Config,
    /// Of NFS.
    pub address: SocketAddr,
    /// Of the mounted folder.
    pub root: Handle,
}

impl Export {
    /// Mounts the export that a plan names.
    ///
    /// # Errors
    /// A [`Refusal`] if it names none, or its server does not let us mount it.
    pub fn from_plan(connection: &plan::Connection) -> Result<Self, Refusal> {
        let config = Config::from_plan(connection)?;
        mount(&config).map_err(|problem| Refusal::new("connection.url", problem))
    }
}

/// Mounts an export.
///
/// # Errors
/// One line with the address: no such host, nobody listens, no answer in time, no leave.
fn mount(config: &Config) -> Result<Export, String> {
    let named = |problem: String| format!("{}: {problem}", config.shown());
    let host = resolved(&config.host).map_err(named)?;
    let mount_port = port(
        config,
        host,
        config.mount_port,
        mount::PROGRAM,
        mount::VERSION,
    );
    let mount_port = mount_port.map_err(named)?;
    let nfs_port = port(config, host, config.nfs_port, nfs3::PROGRAM, nfs3::VERSION);
    let address = SocketAddr::new(host, nfs_port.map_err(named)?);
    let root = root(config, SocketAddr::new(host, mount_port)).map_err(named)?;
    Ok(Export {
        config: config.clone(),
        address,
        root,
    })
}

/// Who asks: AUTH_SYS, with the further groups of this process.
pub fn credential(config: &Config) -> opaque_auth<'static> {
    opaque_auth::auth_unix(&auth_unix {
        stamp: 0,
        machinename: Opaque::borrowed(b"loadstone"),
        uid: config.uid,
        gid: config.gid,
        gids: groups(),
    })
}

fn groups() -> Vec<u32> {
    // SAFETY: a size of 0 asks for the count only, and nothing is written.
    let count = unsafe { libc::getgroups(0, std::ptr::null_mut()) };
    let mut found = vec![0; count.max(0) as usize];
    // SAFETY: `found` has room for as many as its length says.
    let count = unsafe { libc::getgroups(found.len() as i32, found.as_mut_ptr()) };
    found.truncate((count.max(0) as usize).min(MOST_GROUPS));
    found
}

fn resolved(host: &str) -> Result<IpAddr, String> {
    let mut found = (host, 0)
        .to_socket_addrs()
        .map_err(|error| format!("{host} is not known: {error}"))?;
    let first = found
        .next()
        .ok_or_else(|| format!("{host} has no address"))?;
    Ok(first.ip())
}

/// The port that was told, or that the portmapper knows.
fn port(
    config: &Config,
    host: IpAddr,
    told: Option<u16>,
    program: u32,
    version: u32,
) -> Result<u16, String> {
    if let Some(port) = told {
        return Ok(port);
    }
    let socket = connected(config, SocketAddr::new(host, PMAP_PORT))
        .map_err(|problem| format!("{problem}, the portmapper; name nfsport and mountport"))?;
    let mut client = PortmapperClient::new(socket);
    wait(client.getport(program, version, IPPROTO_TCP)).map_err(|error| match error {
        PortmapError::ProgramUnavailable => {
            format!("the portmapper knows no NFSv3 (program {program}) over TCP")
        }
        other => format!("the portmapper: {other}"),
    })
}

fn root(config: &Config, address: SocketAddr) -> Result<Handle, String> {
    let socket = connected(config, address)?;
    let mut client = MountClient::new_with_auth(socket, credential(config), opaque_auth::default());
    let folder = dirpath(Opaque::borrowed(config.path.as_bytes()));
    let mounted = wait(client.mnt(folder)).map_err(|error| match error {
        MountError::Denied(mountstat3::MNT3ERR_ACCES | mountstat3::MNT3ERR_PERM) => {
            "the server does not let us mount it".into()
        }
        MountError::Denied(mountstat3::MNT3ERR_NOENT | mountstat3::MNT3ERR_NOTDIR) => {
            "the server has no such folder to mount".into()
        }
        MountError::Denied(other) => format!("mounting it failed: {other}"),
        MountError::Rpc(error) => format!("mounting it failed: {error}"),
    })?;
    Ok(Handle {
        data: mounted.fhandle.0,
    })
}

fn connected(config: &Config, address: SocketAddr) -> Result<Socket, String> {
    Socket::connect(address, config.connect_timeout)
        .map_err(|error: io::Error| format!("no connection to {address}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    fn said(port: u16, timeout: Duration) -> String {
        let url = format!("nfs://127.0.0.1/x?nfsport={port}&mountport={port}");
        let config = Config::parse(&url, timeout).expect("an address");
        mount(&config).expect_err("no export")
    }

    #[test]
    fn a_server_that_is_silent_or_gone_is_named_in_bounded_time() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let begin = Instant::now();
        let silent = said(port, Duration::from_millis(50));
        assert!(begin.elapsed() < Duration::from_secs(5));
        assert_eq!(silent, "127.0.0.1:/x: mounting it failed: timed out");
        drop(listener);
        let gone = said(port, Duration::from_secs(5));
        assert!(
            gone.contains(&format!("no connection to 127.0.0.1:{port}: ")),
            "{gone}"
        );
    }
}
