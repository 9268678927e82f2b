//! A web server that does what a test tells it: a thread for each connection, and bytes as they are given.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use loadstone_driver::process::raise_nofile;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use socket2::SockRef;

pub use authority::{Authority, SelfSigned};
pub use script::{Act, Asked, answer, ok};

mod authority;
mod script;

/// How long something may take that a test waits for.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is done with each request.
type Script = dyn Fn(&Asked) -> Vec<Act> + Send + Sync;

#[derive(Debug, Default)]
struct Log {
    asked: Vec<Asked>,
    opened: usize,
    /// Connections that the client closed.
    closed: usize,
}

#[derive(Debug, Default)]
struct Seen {
    log: Mutex<Log>,
    changed: Condvar,
}

impl Seen {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note<T>(&self, change: impl FnOnce(&mut Log) -> T) -> T {
        let value = change(&mut self.log());
        self.changed.notify_all();
        value
    }

    /// Whether it came to be so in time.
    fn wait(&self, is_so: impl Fn(&Log) -> bool) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.log(), PATIENCE, |log| !is_so(log));
        let (_log, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        !timeout.timed_out()
    }
}

/// How a server talks to its clients.
#[derive(Debug, Clone, Default)]
struct Manner {
    tls: Option<Arc<ServerConfig>>,
    /// It closes a connection on which nothing came for so long.
    patience: Option<Duration>,
}

/// A server. Dropped, it accepts no connection any more; those that are open last until the client closes them.
pub struct WebServer {
    pub address: SocketAddr,
    seen: Arc<Seen>,
    ends: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl WebServer {
    /// One on a port of 127.0.0.1.
    pub fn start(act: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", None, act).expect("a server")
    }

    /// One that closes a connection that is idle for `patience`.
    pub fn start_impatient(
        patience: Duration,
        act: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static,
    ) -> Self {
        let manner = Manner {
            tls: None,
            patience: Some(patience),
        };
        Self::listen("127.0.0.1:0", manner, act).expect("a server")
    }

    /// One on a port of 127.0.0.1 that speaks TLS.
    pub fn start_tls(
        config: Arc<ServerConfig>,
        act: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static,
    ) -> Self {
        Self::start_at("127.0.0.1:0", Some(config), act).expect("a server")
    }

    /// One at an address, if this host has it.
    pub fn start_at(
        address: &str,
        tls: Option<Arc<ServerConfig>>,
        act: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let manner = Manner {
            tls,
            patience: None,
        };
        Self::listen(address, manner, act)
    }

    fn listen(
        address: &str,
        manner: Manner,
        act: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        // The tests of this process have some hundred connections each, and run side by side.
        raise_nofile();
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let (seen, ends) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
        let (noted, told) = (Arc::clone(&seen), Arc::clone(&ends));
        let act: Arc<Script> = Arc::new(act);
        let acceptor = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if told.load(Ordering::SeqCst) {
                    return;
                }
                let (act, manner, noted) = (Arc::clone(&act), manner.clone(), Arc::clone(&noted));
                thread::spawn(move || serve(stream, manner, &*act, &noted));
            }
        });
        Ok(Self {
            address,
            seen,
            ends,
            acceptor: Some(acceptor),
        })
    }

    /// The address of a path, by the server's IP address.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests, in the order in which they came.
    pub fn asked(&self) -> Vec<Asked> {
        self.seen.log().asked.clone()
    }

    /// Connections that came.
    pub fn opened(&self) -> usize {
        self.seen.log().opened
    }

    /// Waits until the client has closed so many connections.
    pub fn await_closed(&self, count: usize) {
        let are_closed = self.seen.wait(|log| log.closed >= count);
        assert!(are_closed, "{:?}", self.seen.log().closed);
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        // The acceptor looks when a connection comes.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

fn serve(stream: TcpStream, manner: Manner, act: &Script, seen: &Seen) {
    let connection = seen.note(|log| {
        log.opened += 1;
        log.opened - 1
    });
    stream
        .set_read_timeout(manner.patience)
        .expect("a limit above 0");
    // Errors are the client's: it gave the connection up.
    let served = match manner.tls {
        None => talk(&stream, &stream, connection, act, seen),
        Some(config) => ServerConnection::new(config)
            .map_err(io::Error::other)
            .and_then(|tls| {
                let mut secured = StreamOwned::new(tls, stream.try_clone()?);
                talk(&mut secured, &stream, connection, act, seen)
            }),
    };
    if !matches!(served, Ok(false)) {
        seen.note(|log| log.closed += 1);
    }
}

/// Answers until the server ends it (`false`) or the client does.
fn talk(
    mut stream: impl Read + Write,
    socket: &TcpStream,
    connection: usize,
    act: &Script,
    seen: &Seen,
) -> io::Result<bool> {
    let peer = socket.peer_addr()?.ip();
    socket.set_nodelay(true)?;
    let mut received = Vec::new();
    for before in 0.. {
        let (head, body) = match read(&mut stream, &mut received) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        let asked = seen.note(|log| {
            let number = log.asked.len();
            log.asked.push(Asked {
                connection,
                before,
                number,
                peer,
                at: Instant::now(),
                head,
                body,
            });
            log.asked[number].clone()
        });
        for act in act(&asked) {
            match act {
                Act::Send(bytes) => {
                    stream.write_all(&bytes)?;
                    stream.flush()?;
                }
                Act::Flood(bytes) => loop {
                    stream.write_all(&bytes)?;
                },
                Act::Pause(time) => thread::sleep(time),
                Act::Await(count) => assert!(seen.wait(|log| log.asked.len() >= count)),
                Act::Stall => return stream.read_to_end(&mut received).map(|_| true),
                Act::Close => return Ok(false),
                Act::Reset => {
                    SockRef::from(socket).set_linger(Some(Duration::ZERO))?;
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// The next request, head and body; `None` when the client closed the connection. The body of a request with
/// the header `X-Unread` stays where it is.
fn read(stream: &mut impl Read, received: &mut Vec<u8>) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut room = [0; 64 * 1024];
    loop {
        let end = received.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end.map(|end| end + 4) {
            let head = String::from_utf8_lossy(&received[..end]).into_owned();
            let whole = match head.contains("X-Unread") {
                true => end,
                false => end + length(&head),
            };
            if received.len() >= whole {
                let body = received[end..whole].to_vec();
                received.drain(..whole);
                return Ok(Some((head, body)));
            }
        }
        match stream.read(&mut room)? {
            0 => return Ok(None),
            count => received.extend_from_slice(&room[..count]),
        }
    }
}

fn length(head: &str) -> usize {
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    let field = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    field.map_or(0, |(_, length)| length.parse().expect("a length"))
}
