//! How a call fails: by the server's status, or by the way to it.

use std::io::ErrorKind;
use std::time::Duration;

use nfs3_client::RpcError;
use nfs3_client::nfs3_types::nfs3::nfsstat3 as Status;

use crate::session::{ErrorClass, Failure};

/// Why a call did not do what was asked.
#[derive(Debug)]
pub enum Error {
    /// The server says so.
    Refused(Status),
    /// The connection is lost, or no use any more.
    Lost(Failure),
}

impl Error {
    /// Of a call that had to be answered `within` a time.
    pub(super) fn of_rpc(error: &RpcError, server: &str, within: Duration) -> Self {
        let (class, problem) = match error {
            RpcError::Io(error) if error.kind() == ErrorKind::TimedOut => (
                "connection",
                format!("gave no answer within {} s", within.as_secs_f64()),
            ),
            RpcError::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
                ("connection", "closed the connection".into())
            }
            RpcError::Io(error) => ("connection", format!("is lost: {error}")),
            other => ("protocol", format!("is not understood: {other}")),
        };
        Self::lost(class, server, &problem)
    }

    /// The server does not keep to the protocol.
    pub(super) fn protocol(server: &str, problem: &str) -> Self {
        Self::lost("protocol", server, problem)
    }

    fn lost(class: &str, server: &str, problem: &str) -> Self {
        Self::Lost(Failure {
            class: ErrorClass(class.into()),
            message: format!("the NFS server {server} {problem}"),
        })
    }
}

/// The error of a file call that means the same; `None` if there is none.
pub fn errno_of(status: Status) -> Option<i32> {
    Some(match status {
        Status::NFS3ERR_PERM => libc::EPERM,
        Status::NFS3ERR_NOENT => libc::ENOENT,
        Status::NFS3ERR_IO => libc::EIO,
        Status::NFS3ERR_ACCES => libc::EACCES,
        Status::NFS3ERR_EXIST => libc::EEXIST,
        Status::NFS3ERR_NOTDIR => libc::ENOTDIR,
        Status::NFS3ERR_ISDIR => libc::EISDIR,
        Status::NFS3ERR_NOSPC => libc::ENOSPC,
        Status::NFS3ERR_ROFS => libc::EROFS,
        Status::NFS3ERR_MLINK => libc::EMLINK,
        Status::NFS3ERR_NAMETOOLONG => libc::ENAMETOOLONG,
        Status::NFS3ERR_NOTEMPTY => libc::ENOTEMPTY,
        Status::NFS3ERR_DQUOT => libc::EDQUOT,
        Status::NFS3ERR_STALE | Status::NFS3ERR_BADHANDLE => libc::ESTALE,
        _ => return None,
    })
}
