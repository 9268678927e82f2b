//! Names of hosts and their addresses, looked up by the system and remembered for a while.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::timer::Timer;

/// The addresses of a host, sorted, each once; at least one.
pub type Addresses = Arc<[IpAddr]>;

/// The resolver of all threads.
#[derive(Debug)]
pub struct Resolver {
    keep_ns: u64,
    names: Mutex<HashMap<Box<str>, Arc<Name>>>,
}

#[derive(Debug, Default)]
struct Name {
    known: Mutex<Option<Known>>,
    /// Held by the one that looks the name up.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Known {
    addresses: Addresses,
    until_ns: u64,
}

impl Resolver {
    /// One that looks a name up again after `keep_ns`.
    pub fn new(keep_ns: u64) -> Self {
        Self {
            keep_ns,
            names: Mutex::default(),
        }
    }

    /// The addresses of `host`, a name or an address. The thread must have a [`Timer`].
    ///
    /// One at a time looks a name up. The others use what was known before, or wait if that is nothing.
    ///
    /// # Errors
    /// The operating system's, also when the name has no address.
    pub async fn addresses(&self, host: &str) -> io::Result<Addresses> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(Arc::from([address]));
        }
        let (name, timer) = (self.name(host), Timer::current());
        if let Some(addresses) = name.fresh(timer.now_ns()) {
            return Ok(addresses);
        }
        let _turn = match (name.turn.try_lock(), name.last()) {
            (Ok(turn), _) => turn,
            (Err(_), Some(addresses)) => return Ok(addresses),
            (Err(_), None) => name.turn.lock().await,
        };
        if let Some(addresses) = name.fresh(timer.now_ns()) {
            return Ok(addresses);
        }
        let found = tokio::net::lookup_host((host, 0)).await?;
        let addresses = sorted(found.map(|address| address.ip()).collect());
        if addresses.is_empty() {
            return Err(io::Error::other("the name has no address"));
        }
        name.learn(Arc::clone(&addresses), self.until(timer.now_ns()));
        Ok(addresses)
    }

    /// Remembers the addresses of a name as if they had just been looked up.
    pub fn learn(&self, host: &str, addresses: Vec<IpAddr>) {
        let until_ns = self.until(Timer::current().now_ns());
        self.name(host).learn(sorted(addresses), until_ns);
    }

    fn until(&self, now_ns: u64) -> u64 {
        now_ns.saturating_add(self.keep_ns)
    }

    fn name(&self, host: &str) -> Arc<Name> {
        let mut names = locked(&self.names);
        if let Some(name) = names.get(host) {
            return Arc::clone(name);
        }
        let name = Arc::<Name>::default();
        names.insert(host.into(), Arc::clone(&name));
        name
    }
}

impl Name {
    fn fresh(&self, now_ns: u64) -> Option<Addresses> {
        let known = locked(&self.known);
        let fresh = known.as_ref().filter(|known| now_ns < known.until_ns);
        fresh.map(|known| Arc::clone(&known.addresses))
    }

    fn last(&self) -> Option<Addresses> {
        let known = locked(&self.known);
        known.as_ref().map(|known| Arc::clone(&known.addresses))
    }

    fn learn(&self, addresses: Addresses, until_ns: u64) {
        *locked(&self.known) = Some(Known {
            addresses,
            until_ns,
        });
    }
}

fn sorted(mut addresses: Vec<IpAddr>) -> Addresses {
    addresses.sort_unstable();
    addresses.dedup();
    addresses.into()
}

/// What it guards is whole at any time, also where a thread panicked.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::rc::Rc;

    use tokio::task::{LocalSet, spawn_local};

    use super::*;
    use crate::clock::Epoch;

    const HOUR_NS: u64 = 3_600_000_000_000;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            let _timer = Timer::start(Epoch::start()).expect("a timer");
            future.await
        })
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([127, 0, 0, last])
    }

    #[test]
    fn an_address_is_its_own() {
        block_on(async {
            let resolver = Resolver::new(HOUR_NS);
            for text in ["127.0.0.1", "::1", "2001:db8::7"] {
                let found = resolver.addresses(text).await.expect(text);
                assert_eq!(*found, [text.parse::<IpAddr>().expect(text)]);
            }
        });
    }

    #[test]
    fn addresses_are_sorted_and_remembered() {
        block_on(async {
            let resolver = Resolver::new(HOUR_NS);
            let given = vec![address(3), address(1), address(3), address(2)];
            resolver.learn("app.test", given);
            let found = resolver.addresses("app.test").await.expect("known");
            assert_eq!(*found, [address(1), address(2), address(3)]);
        });
    }

    #[test]
    fn a_name_is_looked_up_by_the_system() {
        block_on(async {
            let resolver = Resolver::new(HOUR_NS);
            let found = resolver.addresses("localhost").await.expect("localhost");
            assert!(found.iter().all(IpAddr::is_loopback), "{found:?}");
            let again = resolver.addresses("localhost").await.expect("localhost");
            assert!(Arc::ptr_eq(&found, &again), "it is remembered");
            // A part of a name has at most 63 letters.
            let impossible = format!("{}.test", "a".repeat(64));
            assert!(resolver.addresses(&impossible).await.is_err());
        });
    }

    #[test]
    fn what_is_out_of_date_is_looked_up_again() {
        block_on(async {
            let resolver = Resolver::new(0);
            resolver.learn("localhost", vec![IpAddr::from([203, 0, 113, 1])]);
            let found = resolver.addresses("localhost").await.expect("localhost");
            assert!(found.iter().all(IpAddr::is_loopback), "{found:?}");
        });
    }

    #[test]
    fn while_one_looks_up_others_use_what_was_known_or_wait() {
        block_on(async {
            let resolver = Rc::new(Resolver::new(0));
            let old = vec![IpAddr::from([203, 0, 113, 1])];
            resolver.learn("old.test", old.clone());
            let name = resolver.name("old.test");
            let turn = name.turn.lock().await;
            let found = resolver.addresses("old.test").await.expect("known");
            assert_eq!(*found, *old);
            drop(turn);

            let name = resolver.name("localhost");
            let turn = name.turn.lock().await;
            let shared = Rc::clone(&resolver);
            let waiting = spawn_local(async move { shared.addresses("localhost").await });
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished());
            name.learn(sorted(old.clone()), HOUR_NS);
            drop(turn);
            let found = waiting.await.expect("no panic").expect("told");
            assert_eq!(*found, *old, "what the first one found serves all");
        });
    }
}
