//! How a request fails, and the class that the failure is counted in.

use std::fmt::{self, Display};

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What it is counted in.
    pub class: Class,
    /// One line. It holds no body, no value of the request's header and no secret.
    pub message: String,
}

impl Fault {
    /// A failure of `class` with these words.
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
        }
    }
}

/// The classes of failures, in the order of what happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The name of the host has no address.
    Resolve,
    /// The name of the host was not looked up in time.
    ResolveTimeout,
    /// All addresses of the host refused the connection.
    ConnectRefused,
    /// There is no way to the host or its network.
    Unreachable,
    /// The connection was not open in time.
    ConnectTimeout,
    /// The connection could not be opened for another reason.
    Connect,
    /// This machine has no port left for the connection: the generator's own failure.
    NoPorts,
    /// This process may open no more files: the generator's own failure.
    TooManyFiles,
    /// The TLS handshake failed for another reason than those below.
    Tls,
    /// The server's certificate has expired or is not valid yet.
    TlsExpired,
    /// The server's certificate is for another name.
    TlsName,
    /// The server's certificate was issued by nobody who is trusted.
    TlsAuthority,
    /// The TLS handshake was not over in time.
    TlsTimeout,
    /// No byte of the answer came in time.
    FirstByteTimeout,
    /// The whole answer did not come in time.
    Timeout,
    /// The connection was reset before a whole header came.
    Reset,
    /// The server closed the connection before a whole header came.
    Closed,
    /// The connection ended within the body of the answer.
    ShortBody,
    /// The header of the answer is not HTTP/1.0 or HTTP/1.1.
    BadHeader,
    /// Content-Length is not a number, or says different numbers.
    BadLength,
    /// The chunks of the body are malformed.
    BadChunk,
    /// The body is packed in a way that was not asked for, or cannot be unpacked.
    BadEncoding,
    /// The header of the answer is larger than the limit.
    HeaderTooLarge,
    /// The body of the answer is larger than the limit.
    BodyTooLarge,
    /// The unpacked body of the answer is larger than the limit.
    InflatedTooLarge,
    /// More interim answers (1xx) came than the limit allows.
    TooManyInterim,
    /// The server switched to another protocol (101).
    UnexpectedUpgrade,
    /// More redirects followed each other than the limit allows.
    TooManyRedirects,
    /// A redirect without an address, or with one that cannot be read.
    BadRedirect,
    /// An address of a host that the scenario does not name.
    ForeignHost,
    /// An address that cannot be asked.
    BadUrl,
}

impl Class {
    /// Its name in frames and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::ResolveTimeout => "resolve_timeout",
            Self::ConnectRefused => "connect_refused",
            Self::Unreachable => "unreachable",
            Self::ConnectTimeout => "connect_timeout",
            Self::Connect => "connect",
            Self::NoPorts => "no_ports",
            Self::TooManyFiles => "too_many_files",
            Self::Tls => "tls",
            Self::TlsExpired => "tls_expired",
            Self::TlsName => "tls_name",
            Self::TlsAuthority => "tls_authority",
            Self::TlsTimeout => "tls_timeout",
            Self::FirstByteTimeout => "first_byte_timeout",
            Self::Timeout => "timeout",
            Self::Reset => "reset",
            Self::Closed => "closed",
            Self::ShortBody => "short_body",
            Self::BadHeader => "bad_header",
            Self::BadLength => "bad_length",
            Self::BadChunk => "bad_chunk",
            Self::BadEncoding => "bad_encoding",
            Self::HeaderTooLarge => "header_too_large",
            Self::BodyTooLarge => "body_too_large",
            Self::InflatedTooLarge => "inflated_too_large",
            Self::TooManyInterim => "too_many_interim",
            Self::UnexpectedUpgrade => "unexpected_upgrade",
            Self::TooManyRedirects => "too_many_redirects",
            Self::BadRedirect => "bad_redirect",
            Self::ForeignHost => "foreign_host",
            Self::BadUrl => "bad_url",
        }
    }
}

impl Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: [Class; 31] = [
        Class::Resolve,
        Class::ResolveTimeout,
        Class::ConnectRefused,
        Class::Unreachable,
        Class::ConnectTimeout,
        Class::Connect,
        Class::NoPorts,
        Class::TooManyFiles,
        Class::Tls,
        Class::TlsExpired,
        Class::TlsName,
        Class::TlsAuthority,
        Class::TlsTimeout,
        Class::FirstByteTimeout,
        Class::Timeout,
        Class::Reset,
        Class::Closed,
        Class::ShortBody,
        Class::BadHeader,
        Class::BadLength,
        Class::BadChunk,
        Class::BadEncoding,
        Class::HeaderTooLarge,
        Class::BodyTooLarge,
        Class::InflatedTooLarge,
        Class::TooManyInterim,
        Class::UnexpectedUpgrade,
        Class::TooManyRedirects,
        Class::BadRedirect,
        Class::ForeignHost,
        Class::BadUrl,
    ];

    #[test]
    fn a_class_is_named_as_it_is_written_here() {
        for class in CLASSES {
            let mut name = String::new();
            for letter in format!("{class:?}").chars() {
                if letter.is_ascii_uppercase() && !name.is_empty() {
                    name.push('_');
                }
                name.push(letter.to_ascii_lowercase());
            }
            assert_eq!(class.name(), name);
            assert_eq!(class.to_string(), name);
        }
    }

    #[test]
    fn a_failure_is_told_in_its_own_words() {
        let fault = Fault::new(Class::ShortBody, "5 bytes of 100 came");
        assert_eq!(fault.to_string(), "5 bytes of 100 came");
    }
}
