//! Names of hosts and their addresses, looked up by the system and remembered for a while.
//!
//! A look-up of the system cannot be given up, and may take minutes where no name server answers. So each has
//! a thread of its own, which nobody waits for longer than he likes: not a request, and not the driver at its
//! end. There is at most one for a name, however many users want it.

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// The addresses of a host, sorted, each once; at least one.
pub type Addresses = Arc<[IpAddr]>;

/// What a look-up found. All who waited for it share the error.
type Found = Result<Addresses, Arc<io::Error>>;

/// Looks a name up, and blocks its thread as long as that takes.
type LookUp = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// The resolver of all threads.
pub struct Resolver {
    keep: Duration,
    look_up: Arc<LookUp>,
    names: Mutex<HashMap<Box<str>, Arc<Name>>>,
}

impl Debug for Resolver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Resolver")
            .field("keep", &self.keep)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Name(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    known: Option<Known>,
    /// The look-up that is under way; `None` is in it until it ends.
    under_way: Option<watch::Receiver<Option<Found>>>,
}

#[derive(Debug)]
struct Known {
    addresses: Addresses,
    until: Option<Instant>,
}

/// What is to be done for a name that is not known, or not any more.
enum Turn {
    /// To wait for this look-up.
    Wait(watch::Receiver<Option<Found>>),
    /// To use what was known before, while another one waits.
    Use(Addresses),
}

impl Resolver {
    /// One that asks the system, and again after `keep_ns`.
    pub fn new(keep_ns: u64) -> Self {
        Self::with(keep_ns, by_the_system)
    }

    /// One that looks names up by `look_up`, and again after `keep_ns`.
    pub fn with(
        keep_ns: u64,
        look_up: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            keep: Duration::from_nanos(keep_ns),
            look_up: Arc::new(look_up),
            names: Mutex::default(),
        }
    }

    /// The addresses of `host`, a name or an address.
    ///
    /// The first one to find a name out of date waits for its look-up. The others use what was known before,
    /// or wait for the same look-up if that is nothing. One that is given up goes on, and serves those who
    /// come later.
    ///
    /// # Errors
    /// The operating system's, also when the name has no address.
    pub async fn addresses(&self, host: &str) -> Found {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(Arc::from([address]));
        }
        let name = self.name(host);
        if let Some(addresses) = name.fresh() {
            return Ok(addresses);
        }
        let mut look_up = match self.turn(&name, host).map_err(Arc::new)? {
            Turn::Use(addresses) => return Ok(addresses),
            Turn::Wait(look_up) => look_up,
        };
        let ended = look_up.wait_for(Option::is_some).await;
        let found = ended.ok().and_then(|found| found.clone());
        found.unwrap_or_else(|| Err(Arc::new(io::Error::other("the look-up has failed"))))
    }

    /// Remembers the addresses of a name as if they had just been looked up.
    pub fn learn(&self, host: &str, addresses: Vec<IpAddr>) {
        self.name(host).lock().learn(sorted(addresses), self.keep);
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

    /// Begins a look-up of `host`, unless one is under way.
    fn turn(&self, name: &Arc<Name>, host: &str) -> io::Result<Turn> {
        let mut state = name.lock();
        if let Some(look_up) = &state.under_way {
            return Ok(match &state.known {
                Some(known) => Turn::Use(Arc::clone(&known.addresses)),
                None => Turn::Wait(look_up.clone()),
            });
        }
        let (sender, receiver) = watch::channel(None);
        let (look_up, keep) = (Arc::clone(&self.look_up), self.keep);
        let (name, host) = (Arc::clone(name), host.to_owned());
        thread::Builder::new()
            .name("look-up".into())
            .spawn(move || {
                let found = look_up(&host).and_then(some).map_err(Arc::new);
                name.end_look_up(&found, keep);
                // Nobody may wait for it any more.
                let _ = sender.send(Some(found));
            })?;
        state.under_way = Some(receiver.clone());
        Ok(Turn::Wait(receiver))
    }
}

impl Name {
    fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.0)
    }

    fn fresh(&self) -> Option<Addresses> {
        let state = self.lock();
        let fresh = state.known.as_ref().filter(|known| known.is_fresh());
        fresh.map(|known| Arc::clone(&known.addresses))
    }

    fn end_look_up(&self, found: &Found, keep: Duration) {
        let mut state = self.lock();
        state.under_way = None;
        if let Ok(addresses) = found {
            state.learn(Arc::clone(addresses), keep);
        }
    }
}

impl State {
    fn learn(&mut self, addresses: Addresses, keep: Duration) {
        self.known = Some(Known {
            addresses,
            until: Instant::now().checked_add(keep),
        });
    }
}

impl Known {
    /// Whether it need not be looked up again. What is kept for longer than the clock can tell always is.
    fn is_fresh(&self) -> bool {
        self.until.is_none_or(|until| Instant::now() < until)
    }
}

fn by_the_system(host: &str) -> io::Result<Vec<IpAddr>> {
    let found = (host, 0).to_socket_addrs()?;
    Ok(found.map(|address| address.ip()).collect())
}

fn some(addresses: Vec<IpAddr>) -> io::Result<Addresses> {
    match &*addresses {
        [] => Err(io::Error::other("the name has no address")),
        _ => Ok(sorted(addresses)),
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
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, Sender, channel};

    use futures_util::future::{join, join_all};

    use super::*;

    const HOUR_NS: u64 = 3_600_000_000_000;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        runtime.block_on(future)
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([127, 0, 0, last])
    }

    /// A look-up that ends when it is told what it finds, and how many were begun.
    fn told(
        answers: Receiver<io::Result<Vec<IpAddr>>>,
    ) -> (
        Arc<AtomicUsize>,
        impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) {
        let (count, answers) = (Arc::<AtomicUsize>::default(), Mutex::new(answers));
        let begun = Arc::clone(&count);
        let look_up = move |_: &str| {
            begun.fetch_add(1, Ordering::SeqCst);
            let answers = locked(&answers);
            let told = answers.recv();
            told.unwrap_or_else(|_| Err(io::Error::other("the test is over")))
        };
        (count, look_up)
    }

    /// A resolver that is told what it finds, by whom, and how many look-ups were begun.
    fn resolver(keep_ns: u64) -> (Resolver, Sender<io::Result<Vec<IpAddr>>>, Arc<AtomicUsize>) {
        let (sender, answers) = channel();
        let (begun, look_up) = told(answers);
        (Resolver::with(keep_ns, look_up), sender, begun)
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
            for keep_ns in [HOUR_NS, u64::MAX] {
                let resolver = Resolver::new(keep_ns);
                let given = vec![address(3), address(1), address(3), address(2)];
                resolver.learn("app.test", given);
                let found = resolver.addresses("app.test").await.expect("known");
                assert_eq!(*found, [address(1), address(2), address(3)]);
            }
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
    fn while_one_waits_for_the_look_up_others_use_what_was_known() {
        let (resolver, sender, begun) = resolver(0);
        resolver.learn("app.test", vec![address(1)]);
        block_on(async {
            let first = resolver.addresses("app.test");
            let others = async {
                for _ in 0..10 {
                    let found = resolver.addresses("app.test").await.expect("known");
                    assert_eq!(*found, [address(1)]);
                }
                sender.send(Ok(vec![address(2)])).expect("it is waited for");
            };
            let (first, ()) = join(first, others).await;
            assert_eq!(*first.expect("found"), [address(2)]);
        });
        assert_eq!(begun.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn all_who_know_nothing_wait_for_the_same_look_up() {
        let (resolver, sender, begun) = resolver(HOUR_NS);
        block_on(async {
            let all = join_all((0..1000).map(|_| resolver.addresses("app.test")));
            let answer = async { sender.send(Ok(vec![address(2), address(1)])) };
            let (found, sent) = join(all, answer).await;
            sent.expect("it is waited for");
            for found in found {
                assert_eq!(*found.expect("found"), [address(1), address(2)]);
            }
        });
        assert_eq!(begun.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn an_error_is_that_of_all_who_waited_and_the_next_one_asks_again() {
        let (resolver, sender, begun) = resolver(HOUR_NS);
        block_on(async {
            for answer in [Err(libc::EMFILE), Ok(Vec::new())] {
                let both = join(
                    resolver.addresses("app.test"),
                    resolver.addresses("app.test"),
                );
                // Told when both of them wait.
                let tell = async { sender.send(answer.map_err(io::Error::from_raw_os_error)) };
                let ((one, two), told) = join(both, tell).await;
                told.expect("a look-up");
                let (one, two) = (one.expect_err("none"), two.expect_err("none"));
                assert_eq!(one.raw_os_error(), two.raw_os_error());
            }
            sender.send(Ok(vec![address(1)])).expect("a look-up");
            let found = resolver.addresses("app.test").await.expect("found");
            assert_eq!(*found, [address(1)]);
        });
        assert_eq!(begun.load(Ordering::SeqCst), 3);
    }
}
