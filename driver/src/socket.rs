//! The socket under a session with a server, and the bytes that came from it.

mod incoming;

use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

pub use incoming::Incoming;

/// TCP or a Unix socket.
#[derive(Debug)]
pub enum Socket {
    /// TCP with `TCP_NODELAY`.
    Tcp(TcpStream),
    /// A socket of this host.
    Unix(UnixStream),
}

impl Socket {
    /// Connects to a name or an address.
    ///
    /// # Errors
    /// The operating system's.
    pub async fn tcp(host: &str, port: u16) -> io::Result<Self> {
        let stream = match host.parse::<IpAddr>() {
            Ok(address) => TcpStream::connect((address, port)).await?,
            Err(_) => TcpStream::connect((host, port)).await?,
        };
        stream.set_nodelay(true)?;
        Ok(Self::Tcp(stream))
    }

    /// Connects to a socket of this host.
    ///
    /// # Errors
    /// The operating system's.
    pub async fn unix(path: &str) -> io::Result<Self> {
        UnixStream::connect(path).await.map(Self::Unix)
    }

    /// Reads what is there into the buffer, waiting for at least one byte.
    ///
    /// Goes through `poll_read` because that knows, after a short read, that the socket is empty and
    /// saves the call that would only answer "try again".
    ///
    /// # Errors
    /// The operating system's; `UnexpectedEof` when the server closed the connection.
    #[inline]
    pub async fn fill(&mut self, buffer: &mut Incoming) -> io::Result<()> {
        let count = poll_fn(|context| {
            let mut room = ReadBuf::new(buffer.room());
            match self.poll_read(context, &mut room) {
                Poll::Ready(Ok(())) => Poll::Ready(Ok(room.filled().len())),
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                Poll::Pending => Poll::Pending,
            }
        })
        .await?;
        if count == 0 {
            return Err(closed());
        }
        buffer.received(count);
        Ok(())
    }

    /// Writes all bytes.
    ///
    /// # Errors
    /// The operating system's.
    #[inline]
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = poll_fn(|context| self.poll_write(context, bytes)).await?;
            if count == 0 {
                return Err(closed());
            }
            bytes = &bytes[count..];
        }
        Ok(())
    }

    #[inline]
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, room),
            Self::Unix(stream) => Pin::new(stream).poll_read(context, room),
        }
    }

    #[inline]
    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }
}

fn closed() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the server closed the connection",
    )
}
