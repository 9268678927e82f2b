//! The socket under a request: TCP, or TLS over it.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::fault::Class;
use super::trust;

/// A connection to a server. It holds no buffer of the driver's.
#[derive(Debug)]
pub enum Wire {
    /// TCP with `TCP_NODELAY`.
    Plain(TcpStream),
    /// TLS after its handshake.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Wire {
    /// Reads what is there. Nothing is read when the server closed the connection; many close TLS without
    /// `close_notify`, and whether an answer is whole is known by its length.
    ///
    /// # Errors
    /// The operating system's, or rustls's within one.
    #[inline]
    pub fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, room),
            Self::Tls(stream) => match Pin::new(stream).poll_read(context, room) {
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::UnexpectedEof => {
                    Poll::Ready(Ok(()))
                }
                read => read,
            },
        }
    }

    /// Writes some of the bytes.
    ///
    /// # Errors
    /// The operating system's.
    #[inline]
    pub fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    /// Sends what TLS still keeps.
    ///
    /// # Errors
    /// The operating system's.
    #[inline]
    pub fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(_) => Poll::Ready(Ok(())),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    /// Whether the connection is still open and no byte came that nobody asked for. It asks the system only
    /// when something happened on the connection since the last read.
    pub fn is_quiet(&mut self) -> bool {
        let mut byte = [0];
        let mut context = Context::from_waker(Waker::noop());
        self.poll_read(&mut context, &mut ReadBuf::new(&mut byte))
            .is_pending()
    }

    /// Closes the connection; says so first if it is TLS.
    pub fn close(mut self) {
        if let Self::Tls(stream) = &mut self {
            let mut context = Context::from_waker(Waker::noop());
            // What cannot be sent at once is not worth a wait.
            let _ = Pin::new(stream).poll_shutdown(&mut context);
        }
    }
}

/// What rustls says within an error of its stream.
pub fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// The class of a connection that was open and failed.
pub fn lost(error: &io::Error) -> Class {
    if let Some(error) = tls_error(error) {
        return trust::class_of(error);
    }
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::WriteZero => Class::Closed,
        _ => Class::Reset,
    }
}
