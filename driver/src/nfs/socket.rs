//! A TCP connection whose calls block, each for a bounded time.

use std::future::{Future, ready};
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::pin::pin;
use std::sync::atomic::{AtomicU16, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use nfs3_client::io::{AsyncRead, AsyncWrite};
use socket2::{Domain, Protocol, SockAddr, Socket as Raw, Type};

/// Ports that only root may use: many servers answer no other (`secure` in exports(5)).
const PRIVILEGED: std::ops::Range<u16> = 300..1024;

/// A connection to a server.
#[derive(Debug)]
pub struct Socket {
    reader: BufReader<TcpStream>,
}

impl Socket {
    /// Connects, from a privileged port where this process may have one.
    ///
    /// # Errors
    /// That of the system; of the kind [`ErrorKind::TimedOut`] when there was no answer in time.
    pub fn connect(address: SocketAddr, timeout: Duration) -> io::Result<Self> {
        let raw = bound(address)?;
        raw.connect_timeout(&SockAddr::from(address), timeout)?;
        raw.set_tcp_nodelay(true)?;
        let socket = Self {
            reader: BufReader::new(raw.into()),
        };
        socket.answer_within(timeout)?;
        Ok(socket)
    }

    /// How long each call may last from now on.
    ///
    /// # Errors
    /// That of the system.
    pub fn answer_within(&self, timeout: Duration) -> io::Result<()> {
        let stream = self.reader.get_ref();
        stream.set_read_timeout(Some(timeout))?;
        stream.set_write_timeout(Some(timeout))
    }
}

/// A socket with a privileged port, if there is a free one and we may have it.
fn bound(address: SocketAddr) -> io::Result<Raw> {
    /// Where the search goes on, so that it does not begin with ports that are in use.
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let new = || {
        Raw::new(
            Domain::for_address(address),
            Type::STREAM,
            Some(Protocol::TCP),
        )
    };
    let any = match address.ip() {
        IpAddr::V4(_) => IpAddr::from([0; 4]),
        IpAddr::V6(_) => IpAddr::from([0; 16]),
    };
    let raw = new()?;
    for _ in PRIVILEGED {
        let turn = NEXT.fetch_add(1, Ordering::Relaxed) % PRIVILEGED.len() as u16;
        let own = SocketAddr::new(any, PRIVILEGED.start + turn);
        match raw.bind(&own.into()) {
            Ok(()) => return Ok(raw),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(_) => break,
        }
    }
    Ok(raw)
}

/// A timeout of a socket has a kind that depends on the system, and words that name no time.
fn told(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => ErrorKind::TimedOut.into(),
        _ => error,
    }
}

impl AsyncRead for Socket {
    fn async_read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send {
        ready(match self.reader.read(buffer) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            read => read.map_err(told),
        })
    }
}

impl AsyncWrite for Socket {
    fn async_write(&mut self, bytes: &[u8]) -> impl Future<Output = io::Result<usize>> + Send {
        ready(match self.reader.get_mut().write(bytes) {
            Ok(0) => Err(ErrorKind::WriteZero.into()),
            written => written.map_err(told),
        })
    }
}

/// What a call gives, whose socket blocks: it never waits for anybody else.
pub fn wait<T>(call: impl Future<Output = T>) -> T {
    let mut call = pin!(call);
    match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a socket that blocks is always ready"),
    }
}
