//! The addresses of this host that connections come from. Each of them has a range of ports of its own.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use tokio::net::TcpSocket;

/// Source addresses; without any, the kernel chooses.
#[derive(Debug, Clone)]
pub struct Sources {
    v4: Vec<IpAddr>,
    v6: Vec<IpAddr>,
}

impl Sources {
    /// These addresses.
    pub fn new(addresses: &[IpAddr]) -> Self {
        let (v4, v6) = addresses.iter().partition(|address| address.is_ipv4());
        Self { v4, v6 }
    }

    /// Those of the family of `target`.
    fn family(&self, target: IpAddr) -> &[IpAddr] {
        match target {
            IpAddr::V4(_) => &self.v4,
            IpAddr::V6(_) => &self.v6,
        }
    }

    /// Whether `target` can be reached: some sources, but none of its family, leave it out.
    pub fn reach(&self, target: IpAddr) -> bool {
        (self.v4.is_empty() && self.v6.is_empty()) || !self.family(target).is_empty()
    }

    /// The address that `user` comes from on its way to `target`: its number modulo their count.
    pub fn of(&self, user: u32, target: IpAddr) -> Option<IpAddr> {
        let sources = self.family(target);
        let turn = (user as usize).checked_rem(sources.len())?;
        Some(sources[turn])
    }

    /// The one of `targets` that `user` begins with: its number modulo their count.
    ///
    /// Where the counts of sources and targets have a common divisor, that alone would never use most of
    /// their pairs, and each pair has ports of its own. So the targets move on by one whenever all pairs of
    /// such a round were used.
    ///
    /// # Panics
    /// Without targets.
    pub fn first(&self, user: u32, targets: &[IpAddr]) -> usize {
        let user = user as usize;
        let sources = self.family(targets[0]).len().max(1);
        let common = greatest_common_divisor(sources, targets.len());
        let rounds = match common {
            1 => 0,
            _ => user / (sources / common * targets.len()),
        };
        (user + rounds) % targets.len()
    }

    /// A socket for the way of `user` to `target`, bound to its source. The port is chosen when it connects
    /// (`IP_BIND_ADDRESS_NO_PORT`), so that one port serves connections to several targets.
    ///
    /// # Errors
    /// The operating system's; `AddrNotAvailable` if the source is not an address of this host.
    pub fn socket(&self, user: u32, target: IpAddr) -> io::Result<TcpSocket> {
        let socket = match target {
            IpAddr::V4(_) => TcpSocket::new_v4()?,
            IpAddr::V6(_) => TcpSocket::new_v6()?,
        };
        if let Some(source) = self.of(user, target) {
            choose_port_late(&socket)?;
            socket.bind(SocketAddr::new(source, 0))?;
        }
        Ok(socket)
    }
}

fn greatest_common_divisor(one: usize, other: usize) -> usize {
    match other {
        0 => one,
        _ => greatest_common_divisor(other, one % other),
    }
}

fn choose_port_late(socket: &TcpSocket) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the socket is open, and `on` is valid for reads of its size.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn addresses(count: u8, network: u8) -> Vec<IpAddr> {
        (1..=count)
            .map(|last| IpAddr::from([127, 0, network, last]))
            .collect()
    }

    #[test]
    fn without_sources_the_kernel_chooses() {
        let sources = Sources::new(&[]);
        let targets = addresses(3, 0);
        assert_eq!(sources.of(7, targets[0]), None);
        let begun: Vec<usize> = (0..7).map(|user| sources.first(user, &targets)).collect();
        assert_eq!(begun, [0, 1, 2, 0, 1, 2, 0]);
        assert!(sources.reach(targets[0]) && sources.reach(IpAddr::from([0_u16; 8])));
    }

    #[test]
    fn sources_serve_their_own_family() {
        let sources = Sources::new(&addresses(2, 0));
        let six = IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1_u16]);
        assert!(!sources.reach(six));
        assert_eq!(sources.of(5, six), None);
        let four = IpAddr::from([127, 0, 0, 9]);
        assert_eq!(sources.of(5, four), Some(IpAddr::from([127, 0, 0, 2])));
    }

    #[test]
    fn users_are_spread_over_all_pairs_of_sources_and_targets() {
        for (own, count) in [(1, 4), (2, 2), (2, 3), (4, 6), (6, 4), (3, 3), (3, 1)] {
            let sources = Sources::new(&addresses(own, 0));
            let targets = addresses(count, 1);
            let pairs = u32::from(own) * u32::from(count);
            let mut used = BTreeMap::<_, u32>::new();
            for user in 0..10 * pairs {
                let target = sources.first(user, &targets);
                *used
                    .entry((sources.of(user, targets[0]), target))
                    .or_default() += 1;
            }
            let counts: BTreeSet<u32> = used.values().copied().collect();
            assert_eq!(used.len() as u32, pairs, "{own} sources, {count} targets");
            assert_eq!(
                counts,
                BTreeSet::from([10]),
                "{own} sources, {count} targets"
            );
        }
    }
}
