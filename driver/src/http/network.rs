//! How connections are opened: the address of a name, a source address, TCP, TLS. One for all users and threads.

pub mod deadline;
mod refused;

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use self::refused::{connect_class, has_way, out_of_files};
use super::fault::{Class, Fault};
use super::origin::Origin;
use super::resolver::{Addresses, Resolver};
use super::sources::Sources;
use super::trust;
use super::wire::{Wire, tls_error};
use crate::clock::to_s;
use crate::leg::{Part, Stopwatch};
use crate::timer::Timer;

/// What the plan says of the network.
#[derive(Debug, Clone, Default)]
pub struct NetworkPlan {
    /// A file of the authorities that are trusted (PEM); the system's without it.
    pub ca: Option<PathBuf>,
    /// Addresses of this host that connections come from; the kernel chooses without them.
    pub sources: Vec<IpAddr>,
    /// Age at which the addresses of a name are looked up again, in nanoseconds.
    pub resolve_every_ns: u64,
    /// How long each step may take.
    pub timeouts: Timeouts,
}

/// How long each step may take, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timeouts {
    /// To look a name up.
    pub resolve_ns: u64,
    /// To open a TCP connection, whatever the number of addresses.
    pub connect_ns: u64,
    /// For the handshake of TLS.
    pub tls_ns: u64,
    /// From a request that was sent to the first byte of its answer.
    pub first_byte_ns: u64,
    /// For all of a request, from the wait for a connection to the last byte of its answer. A redirect is a
    /// request of its own.
    pub whole_ns: u64,
}

/// The network as all users see it.
#[derive(Debug)]
pub struct Network {
    timeouts: Timeouts,
    resolver: Resolver,
    sources: Sources,
    /// Without trust: why, for the first one that wants TLS.
    trust: Result<Arc<ClientConfig>, String>,
    shares: Mutex<Vec<Share>>,
}

/// Connections that were opened to one address.
#[derive(Debug)]
struct Share {
    origin: Origin,
    address: IpAddr,
    connections: u64,
}

impl Network {
    /// Reads whom to trust; opens nothing.
    ///
    /// # Errors
    /// One line about a `ca` that is given and cannot be used. That the system trusts nobody is told by the
    /// first connection with TLS.
    pub fn new(plan: NetworkPlan) -> Result<Self, String> {
        let trust = trust::client_config(plan.ca.as_deref());
        if let (Some(_), Err(problem)) = (&plan.ca, &trust) {
            return Err(problem.clone());
        }
        Ok(Self {
            timeouts: plan.timeouts,
            resolver: Resolver::new(plan.resolve_every_ns),
            sources: Sources::new(&plan.sources),
            trust,
            shares: Mutex::default(),
        })
    }

    /// How long each step may take.
    pub fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// Remembers the addresses of a name as if they had just been looked up.
    pub fn learn(&self, host: &str, addresses: Vec<IpAddr>) {
        self.resolver.learn(host, addresses);
    }

    /// Opens a connection for `user`; the thread must have a [`Timer`].
    ///
    /// Users are spread over the addresses of the name: user n begins with address n modulo their count, and
    /// goes on to the next one where it is refused or there is no way. `watch` is told each step as it begins.
    ///
    /// # Errors
    /// With the class of the step that failed; of several addresses, what the last one said.
    pub async fn connect(
        &self,
        origin: &Origin,
        user: u32,
        watch: &mut Stopwatch,
    ) -> Result<Wire, Fault> {
        let timer = Timer::current();
        watch.turn(Part::Resolve, timer.now_ns());
        let addresses = self.resolve(origin).await?;
        watch.turn(Part::Connect, timer.now_ns());
        let late = (Class::ConnectTimeout, self.timeouts.connect_ns, "connect");
        let stream = in_time(origin, late, self.dial(origin, &addresses, user)).await?;
        if !origin.tls {
            return Ok(Wire::Plain(stream));
        }
        watch.turn(Part::Tls, timer.now_ns());
        let late = (Class::TlsTimeout, self.timeouts.tls_ns, "tls");
        in_time(origin, late, self.secure(origin, stream)).await
    }

    /// Connections opened so far by host and address, as `app.example:443 10.0.0.1`.
    pub fn shares(&self) -> Vec<(String, u64)> {
        let shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told: Vec<_> = shares
            .iter()
            .map(|share| {
                let to = format!("{} {}", place(&share.origin), share.address);
                (to, share.connections)
            })
            .collect();
        told.sort_unstable();
        told
    }

    async fn resolve(&self, origin: &Origin) -> Result<Addresses, Fault> {
        let late = (Class::ResolveTimeout, self.timeouts.resolve_ns, "resolve");
        let look_up = async {
            let found = self.resolver.addresses(&origin.host).await;
            found.map_err(|error| {
                let class = out_of_files(&error).unwrap_or(Class::Resolve);
                failed(origin, class, &format!("no address: {error}"))
            })
        };
        let addresses = in_time(origin, late, look_up).await?;
        if addresses.iter().all(|address| self.sources.reach(*address)) {
            return Ok(addresses);
        }
        let within_reach: Addresses = addresses
            .iter()
            .copied()
            .filter(|address| self.sources.reach(*address))
            .collect();
        if within_reach.is_empty() {
            let words = "none of the sources is of the family of its addresses";
            return Err(failed(origin, Class::Connect, words));
        }
        Ok(within_reach)
    }

    async fn dial(
        &self,
        origin: &Origin,
        addresses: &[IpAddr],
        user: u32,
    ) -> Result<TcpStream, Fault> {
        let first = self.sources.first(user, addresses);
        let (before, from_first) = addresses.split_at(first);
        let mut last = None;
        for address in from_first.iter().chain(before) {
            match self.dial_one(origin, *address, user).await {
                Ok(stream) => {
                    self.count(origin, *address);
                    return Ok(stream);
                }
                Err(fault) => match fault.class {
                    Class::ConnectRefused | Class::Unreachable => last = Some(fault),
                    _ => return Err(fault),
                },
            }
        }
        Err(last.unwrap_or_else(|| failed(origin, Class::Resolve, "no address")))
    }

    async fn dial_one(
        &self,
        origin: &Origin,
        address: IpAddr,
        user: u32,
    ) -> Result<TcpStream, Fault> {
        let target = SocketAddr::new(address, origin.port);
        let told = |class: Class, from: &str, error: &io::Error| {
            failed(origin, class, &format!("{address}{from}: {error}"))
        };
        let socket = self.sources.socket(user, address).map_err(|error| {
            let source = self.sources.of(user, address);
            let from = source.map(|source| format!(" from {source}"));
            told(connect_class(&error), &from.unwrap_or_default(), &error)
        })?;
        let stream = socket.connect(target).await.map_err(|error| {
            let class = match connect_class(&error) {
                Class::NoPorts if !has_way(target) => Class::Unreachable,
                class => class,
            };
            told(class, "", &error)
        })?;
        let undelayed = stream.set_nodelay(true);
        undelayed.map_err(|error| told(Class::Connect, "", &error))?;
        Ok(stream)
    }

    async fn secure(&self, origin: &Origin, stream: TcpStream) -> Result<Wire, Fault> {
        let trust = self.trust.as_ref();
        let trust = trust.map_err(|problem| failed(origin, Class::Tls, problem))?;
        let connector = TlsConnector::from(Arc::clone(trust));
        match connector.connect(origin.server_name()?, stream).await {
            Ok(stream) => Ok(Wire::Tls(Box::new(stream))),
            Err(error) => {
                let (class, words) = match tls_error(&error) {
                    Some(error) => (trust::class_of(error), trust::words_of(error)),
                    None => (Class::Tls, error.to_string()),
                };
                Err(failed(origin, class, &format!("TLS: {words}")))
            }
        }
    }

    fn count(&self, origin: &Origin, address: IpAddr) {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shares
            .iter_mut()
            .find(|share| share.address == address && share.origin == *origin);
        match known {
            Some(share) => share.connections += 1,
            None => shares.push(Share {
                origin: origin.clone(),
                address,
                connections: 1,
            }),
        }
    }
}

/// What `step` gives, or a fault of the class when it takes longer than it may.
async fn in_time<T>(
    origin: &Origin,
    (class, limit_ns, name): (Class, u64, &str),
    step: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let at_ns = Timer::current().now_ns().saturating_add(limit_ns);
    deadline::within(at_ns, step).await.unwrap_or_else(|| {
        let words = format!("took longer than {} s (timeouts_s.{name})", to_s(limit_ns));
        Err(failed(origin, class, &words))
    })
}

fn failed(origin: &Origin, class: Class, words: &str) -> Fault {
    Fault::new(class, format!("{}: {words}", place(origin)))
}

/// Host and port.
fn place(origin: &Origin) -> String {
    let (host, port) = (&origin.host, origin.port);
    match host.parse::<Ipv6Addr>() {
        Ok(_) => format!("[{host}]:{port}"),
        Err(_) => format!("{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::channel;

    use futures_util::future::join_all;
    use tokio::task::LocalSet;

    use super::*;
    use crate::clock::Epoch;
    use crate::leg::Cause;

    /// Runs what needs a timer, and ends its runtime.
    fn on_a_runtime<T>(work: impl AsyncFnOnce() -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            let _timer = Timer::start(Epoch::start()).expect("a timer");
            work().await
        })
    }

    async fn open(network: &Network, origin: &Origin, user: u32) -> Result<Wire, Fault> {
        let mut watch = Stopwatch::start(Cause::Asked, 0);
        network.connect(origin, user, &mut watch).await
    }

    fn origin(host: &str) -> Origin {
        Origin {
            tls: false,
            host: host.into(),
            port: 8080,
        }
    }

    #[test]
    fn connections_are_counted_by_address() {
        let network = Network::new(NetworkPlan::default()).expect("a network");
        let (one, two) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        for address in [two, one, two] {
            network.count(&origin("app.example"), address);
        }
        network.count(&origin("::1"), IpAddr::from(Ipv6Addr::LOCALHOST));
        let expected = [
            ("[::1]:8080 ::1", 1),
            ("app.example:8080 10.0.0.1", 1),
            ("app.example:8080 10.0.0.2", 2),
        ];
        assert_eq!(
            network.shares(),
            expected.map(|(to, count)| (to.to_owned(), count))
        );
    }

    /// As where no name server answers. Who wants the name gives up after its time, one after the other and
    /// together; the look-up is still one, and holds nobody up, nor the end of the runtime. What it finds in
    /// the end serves who comes then.
    #[test]
    fn a_look_up_that_hangs_is_given_up_and_goes_on_alone() {
        let plan = NetworkPlan {
            resolve_every_ns: 60_000_000_000,
            timeouts: Timeouts {
                resolve_ns: 20_000_000,
                connect_ns: 20_000_000_000,
                ..Timeouts::default()
            },
            ..NetworkPlan::default()
        };
        let mut network = Network::new(plan).expect("a network");
        let (release, hang) = channel();
        let (begun, hang) = (Arc::<AtomicU32>::default(), Mutex::new(hang));
        let count = Arc::clone(&begun);
        network.resolver = Resolver::with(60_000_000_000, move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            hang.lock().expect("one look-up").recv().expect("an end");
            Ok(vec![IpAddr::from([127, 0, 0, 1])])
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut origin = origin("app.test");
        origin.port = listener.local_addr().expect("its address").port();
        on_a_runtime(async || {
            for users in [1, 1, 200] {
                let all = (0..users).map(|user| open(&network, &origin, user));
                for made in join_all(all).await {
                    let fault = made.expect_err("no address yet");
                    assert_eq!(fault.class, Class::ResolveTimeout);
                    let words = format!(
                        "app.test:{}: took longer than 0.02 s (timeouts_s.resolve)",
                        origin.port
                    );
                    assert_eq!(fault.message, words);
                }
            }
        });
        assert_eq!(begun.load(Ordering::SeqCst), 1);
        release.send(()).expect("it still hangs");
        network.timeouts.resolve_ns = 20_000_000_000;
        on_a_runtime(async || open(&network, &origin, 0).await.expect("a connection"));
        assert_eq!(begun.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_file_of_authorities_that_is_missing_is_told_at_once() {
        let plan = NetworkPlan {
            ca: Some("no-such-folder/ca.pem".into()),
            ..NetworkPlan::default()
        };
        let problem = Network::new(plan).expect_err("no file");
        assert!(problem.contains("no-such-folder/ca.pem"), "{problem}");
    }
}
