//! Where the application is, which other hosts may be asked, and how.

use std::path::PathBuf;

use url::Url;

use super::scenario::{LimitsPlan, Scenario, TimeoutsS};
use crate::clock::to_ns;
use crate::http::{Limits, Network, NetworkPlan, Origin, Site, Timeouts};
use crate::parameters::refuse;
use crate::plan::{Connection, Protocol, Refusal};

/// After this time an idle connection beyond the first of a user is closed, as the user next acts.
const IDLE_CLOSE_NS: u64 = 10_000_000_000;
const LONGEST_TIMEOUT_S: f64 = 3600.0;
const SHORTEST_TIMEOUT_S: f64 = 1e-6;
const LONGEST_RESOLVED_S: f64 = 86_400.0;
const MOST_BYTES: u64 = 1 << 40;
const MOST_CONNECTIONS: u32 = 1000;
const MOST_REDIRECTS: u32 = 1000;
const MOST_INTERIM: u32 = 1_000_000;

/// The addresses that may be asked.
#[derive(Debug)]
pub struct Target {
    base: Url,
    /// Its own and those that the scenario names.
    allowed: Vec<Origin>,
}

impl Target {
    /// The application of a plan.
    ///
    /// # Errors
    /// A [`Refusal`] if its address or a host makes no sense. Addresses with a password are not quoted.
    pub fn new(connection: &Connection, hosts: &[String]) -> Result<Self, Refusal> {
        if connection.protocol != Protocol::Http {
            let problem = "the workload http speaks HTTP; write \"http\"";
            return Err(Refusal::new("connection.protocol", problem));
        }
        let read = base(&connection.url);
        let (base, own) = read.map_err(|problem| Refusal::new("connection.url", problem))?;
        let mut allowed = vec![own];
        for (index, host) in hosts.iter().enumerate() {
            allowed.extend(origins(host).ok_or_else(|| {
                let problem = "is no host; write host, host:port or https://host:port";
                refuse(&format!("scenario.hosts[{index}]"), problem)
            })?);
        }
        Ok(Self { base, allowed })
    }

    /// Its address, without a slash at the end.
    pub fn text(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Reads an address; one without a host lies on that of the application.
    pub fn join(&self, address: &str) -> Option<Url> {
        self.base.join(address).ok()
    }

    /// Whether an address may be asked.
    pub fn allows(&self, url: &Url) -> bool {
        Origin::of(url).is_ok_and(|origin| self.allowed.contains(&origin))
    }

    /// What the requests of all users share.
    ///
    /// # Errors
    /// A [`Refusal`] if a limit makes no sense or the file of certificates cannot be used.
    pub fn site(&self, connection: &Connection, scenario: &Scenario) -> Result<Site, Refusal> {
        within("connections", scenario.connections, 1, MOST_CONNECTIONS)?;
        within("redirects", scenario.redirects, 0, MOST_REDIRECTS)?;
        let every_s = scenario.resolve_every_s;
        seconds("resolve_every_s", every_s, 0.0, LONGEST_RESOLVED_S)?;
        let network = Network::new(NetworkPlan {
            ca: connection.ca.as_ref().map(PathBuf::from),
            sources: connection.sources.clone(),
            resolve_every_ns: to_ns(every_s),
            timeouts: timeouts(&scenario.timeouts_s)?,
        });
        Ok(Site::new(
            network.map_err(|problem| Refusal::new("connection.ca", problem))?,
            limits(&scenario.limits)?,
            scenario.redirects,
            scenario.connections as usize,
            self.allowed.clone(),
            IDLE_CLOSE_NS,
        ))
    }
}

/// Whether an address has a user or a password.
pub fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

fn base(text: &str) -> Result<(Url, Origin), &'static str> {
    const NONE: &str = "is no address of HTTP; write http://host:port or https://host";
    let url = Url::parse(text).map_err(|_| NONE)?;
    let origin = Origin::of(&url).map_err(|_| NONE)?;
    if has_user(&url) {
        return Err("has a user or a password; leave them out, and let the scenario log in");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("has a query or a fragment; leave them out");
    }
    Ok((url, origin))
}

/// The origins that a host stands for: without a scheme those of both.
fn origins(host: &str) -> Option<Vec<Origin>> {
    let addresses = if host.contains("://") {
        vec![host.to_owned()]
    } else {
        vec![format!("https://{host}"), format!("http://{host}")]
    };
    let origin = |address: &String| {
        let (url, origin) = base(address).ok()?;
        (url.path() == "/").then_some(origin)
    };
    addresses.iter().map(origin).collect()
}

fn timeouts(given: &TimeoutsS) -> Result<Timeouts, Refusal> {
    let ns = |name: &str, value| {
        let field = format!("timeouts_s.{name}");
        seconds(&field, value, SHORTEST_TIMEOUT_S, LONGEST_TIMEOUT_S).map(to_ns)
    };
    Ok(Timeouts {
        resolve_ns: ns("resolve", given.resolve)?,
        connect_ns: ns("connect", given.connect)?,
        tls_ns: ns("tls", given.tls)?,
        first_byte_ns: ns("first_byte", given.first_byte)?,
        whole_ns: ns("whole", given.whole)?,
    })
}

fn limits(given: &LimitsPlan) -> Result<Limits, Refusal> {
    within("limits.interim", given.interim, 0, MOST_INTERIM)?;
    Ok(Limits {
        header_bytes: bytes("limits.header_bytes", given.header_bytes, 1)? as usize,
        body_bytes: bytes("limits.body_bytes", given.body_bytes, 0)?,
        inflated_bytes: bytes("limits.inflated_bytes", given.inflated_bytes, 0)?,
        interim: given.interim,
    })
}

fn within(field: &str, value: u32, least: u32, most: u32) -> Result<(), Refusal> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let problem = format!("{value} is not between {least} and {most}");
    Err(refuse(&format!("scenario.{field}"), problem))
}

fn bytes(field: &str, value: u64, least: u64) -> Result<u64, Refusal> {
    if (least..=MOST_BYTES).contains(&value) {
        return Ok(value);
    }
    let problem = format!("{value} is not between {least} and {MOST_BYTES} bytes");
    Err(refuse(&format!("scenario.{field}"), problem))
}

fn seconds(field: &str, value: f64, least: f64, most: f64) -> Result<f64, Refusal> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let problem = format!("{value} is not between {least} and {most} seconds");
    Err(refuse(&format!("scenario.{field}"), problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str, hosts: &[&str]) -> Result<Target, Refusal> {
        let connection = Connection {
            protocol: Protocol::Http,
            url: url.to_owned(),
            ..Connection::default()
        };
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        Target::new(&connection, &hosts)
    }

    #[test]
    fn hosts_are_allowed_by_scheme_name_and_port() {
        let hosts = ["static.example:8443", "plain", "http://[::1]:81"];
        let target = target("https://app.example", &hosts).expect("a target");
        for (address, expected) in [
            ("https://app.example/x?y", true),
            ("https://APP.example:443/", true),
            ("http://app.example/", false),
            ("https://app.example:8443/", false),
            ("https://static.example:8443/a", true),
            ("http://static.example:8443/a", true),
            ("https://static.example/a", false),
            ("http://plain/", true),
            ("https://plain/", true),
            ("http://[::1]:81/", true),
            ("https://[::1]:81/", false),
            ("ftp://app.example/", false),
        ] {
            let url = Url::parse(address).expect("an address");
            assert_eq!(target.allows(&url), expected, "{address}");
        }
    }

    #[test]
    fn an_address_of_the_application_has_host_and_path_only() {
        let shown = |url| target(url, &[]).expect("a target").text().to_owned();
        assert_eq!(shown("http://app:80/"), "http://app");
        assert_eq!(shown("https://app:8443/base/"), "https://app:8443/base");
        for url in [
            "",
            "app",
            "ftp://app",
            "http://",
            "http://app/?q",
            "http://app/#f",
        ] {
            assert_eq!(
                target(url, &[]).expect_err("refused").field,
                "connection.url"
            );
        }
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_shown() {
        for url in ["http://me:hidden@app/", "http://hidden@app/"] {
            let refusal = target(url, &[]).expect_err("refused").to_string();
            assert!(!refusal.contains("hidden"), "{refusal}");
        }
    }

    #[test]
    fn a_host_that_is_none_is_refused() {
        for host in [
            "",
            "a/b",
            "https://",
            "user@host",
            "host:port",
            "ftp://host",
        ] {
            let refusal = target("http://app", &["fine", host]).expect_err(host);
            assert_eq!(refusal.field, "workload.parameters.scenario.hosts[1]");
        }
    }
}
