//! Where a request goes: scheme, host and port.

use std::fmt::{self, Display};

use rustls::pki_types::ServerName;
use url::{Host, Url};

use super::fault::{Class, Fault};

/// An origin (RFC 6454).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Whether it is `https`.
    pub tls: bool,
    /// A name in lower case, with other letters in Punycode, or an address; IPv6 without brackets.
    pub host: Box<str>,
    /// The port.
    pub port: u16,
}

impl Origin {
    /// That of an address.
    ///
    /// # Errors
    /// [`Class::BadUrl`] for another scheme than `http` and `https`.
    pub fn of(url: &Url) -> Result<Self, Fault> {
        let tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return Err(bad("only addresses of http and https can be asked")),
        };
        let host = match url.host() {
            Some(Host::Domain(name)) => name.into(),
            Some(Host::Ipv4(address)) => address.to_string().into(),
            Some(Host::Ipv6(address)) => address.to_string().into(),
            None => return Err(bad("an address without a host cannot be asked")),
        };
        let port = url.port().unwrap_or_else(|| default_port(tls));
        Ok(Self { tls, host, port })
    }

    /// The value of the header `Host`: IPv6 in brackets, without the default port.
    pub fn host_header(&self) -> String {
        let (open, close) = if self.host.contains(':') {
            ("[", "]")
        } else {
            ("", "")
        };
        let host = &self.host;
        match self.port {
            port if port == default_port(self.tls) => format!("{open}{host}{close}"),
            port => format!("{open}{host}{close}:{port}"),
        }
    }

    /// The name that the server's certificate must have, and that the server is told (SNI).
    ///
    /// # Errors
    /// [`Class::BadUrl`] for a name that no certificate can have.
    pub fn server_name(&self) -> Result<ServerName<'static>, Fault> {
        let name = self.host.strip_suffix('.').unwrap_or(&self.host);
        ServerName::try_from(name.to_owned()).map_err(|_| {
            let words = format!("no certificate can be for the name {name}");
            Fault::new(Class::BadUrl, words)
        })
    }
}

/// As it begins an address.
impl Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(formatter, "{scheme}://{}", self.host_header())
    }
}

fn default_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

fn bad(words: &str) -> Fault {
    Fault::new(Class::BadUrl, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Origin, Fault> {
        Origin::of(&Url::parse(text).expect("an address"))
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        for (text, tls, host, port, header) in [
            (
                "http://App.Example/x?y#z",
                false,
                "app.example",
                80,
                "app.example",
            ),
            ("http://app:80/", false, "app", 80, "app"),
            ("http://app:443/", false, "app", 443, "app:443"),
            ("https://app/", true, "app", 443, "app"),
            ("https://app:8443/", true, "app", 8443, "app:8443"),
            (
                "http://10.0.0.1:8080/",
                false,
                "10.0.0.1",
                8080,
                "10.0.0.1:8080",
            ),
            ("http://[::1]/", false, "::1", 80, "[::1]"),
            (
                "https://[2001:DB8::7]:1/",
                true,
                "2001:db8::7",
                1,
                "[2001:db8::7]:1",
            ),
            (
                "http://k\u{e4}se.example/",
                false,
                "xn--kse-qla.example",
                80,
                "xn--kse-qla.example",
            ),
        ] {
            let origin = of(text).expect("an origin");
            let expected = Origin {
                tls,
                host: host.into(),
                port,
            };
            assert_eq!(origin, expected, "{text}");
            assert_eq!(origin.host_header(), header, "{text}");
            let scheme = text.split_once(':').expect("a scheme").0;
            assert_eq!(origin.to_string(), format!("{scheme}://{header}"));
        }
    }

    #[test]
    fn other_schemes_are_refused() {
        for text in [
            "ftp://app/",
            "mailto:me@app",
            "javascript:alert(1)",
            "file:///etc",
        ] {
            assert_eq!(of(text).expect_err(text).class, Class::BadUrl);
        }
    }

    #[test]
    fn certificates_are_for_names_and_addresses() {
        let name = |text: &str| of(text).expect("an origin").server_name();
        for (text, expected) in [
            ("https://app.example/", "app.example"),
            ("https://app.example./", "app.example"),
            ("https://10.0.0.1/", "10.0.0.1"),
            ("https://[::1]/", "::1"),
        ] {
            assert_eq!(name(text).expect("a name").to_str(), expected);
        }
        let long = format!("https://{}.example/", "a".repeat(64));
        assert_eq!(name(&long).expect_err("too long").class, Class::BadUrl);
    }
}
