//! What the kernel says when a connection cannot be opened.

use std::io;
use std::net::{Ipv6Addr, SocketAddr, UdpSocket};

use crate::http::fault::Class;

/// The class of an error that says that no more files may be open.
pub fn out_of_files(error: &io::Error) -> Option<Class> {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => Some(Class::TooManyFiles),
        _ => None,
    }
}

/// The class of a connection that could not be opened.
pub fn connect_class(error: &io::Error) -> Class {
    match error.raw_os_error() {
        Some(libc::ECONNREFUSED) => Class::ConnectRefused,
        Some(
            libc::ENETUNREACH
            | libc::EHOSTUNREACH
            | libc::ENETDOWN
            | libc::EHOSTDOWN
            | libc::EAFNOSUPPORT,
        ) => Class::Unreachable,
        Some(libc::EADDRNOTAVAIL | libc::EADDRINUSE) => Class::NoPorts,
        Some(libc::ETIMEDOUT) => Class::ConnectTimeout,
        _ => out_of_files(error).unwrap_or(Class::Connect),
    }
}

/// Whether this host has an address from which `target` can be reached. Without an address of IPv6 the kernel
/// says `EADDRNOTAVAIL`, as when all ports are used; ports of UDP are others.
pub fn has_way(target: SocketAddr) -> bool {
    if target.is_ipv4() {
        return true;
    }
    let probe = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0));
    let probed = probe.and_then(|socket| socket.connect(target));
    !probed.is_err_and(|error| error.raw_os_error() == Some(libc::EADDRNOTAVAIL))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn what_the_kernel_says_has_a_class() {
        let classes = [
            (libc::ECONNREFUSED, Class::ConnectRefused),
            (libc::EHOSTUNREACH, Class::Unreachable),
            (libc::ENETUNREACH, Class::Unreachable),
            (libc::EADDRNOTAVAIL, Class::NoPorts),
            (libc::EMFILE, Class::TooManyFiles),
            (libc::ENFILE, Class::TooManyFiles),
            (libc::ETIMEDOUT, Class::ConnectTimeout),
            (libc::EACCES, Class::Connect),
        ];
        for (number, class) in classes {
            let error = io::Error::from_raw_os_error(number);
            assert_eq!(connect_class(&error), class, "{error}");
        }
    }

    #[test]
    fn the_way_to_this_host_is_known() {
        let here = SocketAddr::new(IpAddr::from([127, 0, 0, 1]), 1);
        assert!(has_way(here));
    }
}
