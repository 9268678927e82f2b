//! The socket under a connection.

use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use super::{Config, Error, ReadBuffer};

/// TCP or a Unix socket.
#[derive(Debug)]
pub enum Stream {
    /// TCP with `TCP_NODELAY`.
    Tcp(TcpStream),
    /// A socket of this host.
    Unix(UnixStream),
}

impl Stream {
    /// Opens the socket that `config` names.
    ///
    /// # Errors
    /// A connection error that names the address.
    pub async fn connect(config: &Config) -> Result<Self, Error> {
        let refused = |error: io::Error| Error::cannot_connect(config, &error.to_string());
        if config.is_local() {
            let stream = UnixStream::connect(config.address()).await;
            return Ok(Self::Unix(stream.map_err(refused)?));
        }
        let stream = match config.host.parse::<IpAddr>() {
            Ok(address) => TcpStream::connect((address, config.port)).await,
            Err(_) => TcpStream::connect((config.host.as_str(), config.port)).await,
        };
        let stream = stream.map_err(refused)?;
        stream.set_nodelay(true)?;
        Ok(Self::Tcp(stream))
    }

    /// Reads what is there into the buffer, waiting for at least one byte.
    ///
    /// Goes through `poll_read` because that knows, after a short read, that the socket is empty and
    /// saves the call that would only answer "try again".
    ///
    /// # Errors
    /// A connection error if it was lost or closed.
    #[inline]
    pub async fn fill(&mut self, buffer: &mut ReadBuffer) -> Result<(), Error> {
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
            return Err(Error::Connection("the server closed the connection".into()));
        }
        buffer.received(count);
        Ok(())
    }

    /// Writes all bytes.
    ///
    /// # Errors
    /// A connection error if it was lost.
    #[inline]
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let count = poll_fn(|context| self.poll_write(context, bytes)).await?;
            if count == 0 {
                return Err(Error::Connection("the server closed the connection".into()));
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
