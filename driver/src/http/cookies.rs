//! The cookies of one user, as browsers keep them (RFC 6265).
//!
//! There is no list of public suffixes here: a `Domain` of one label, as `com`, is ignored together with its
//! cookie, but one as `co.uk` is taken. A load test names the hosts that it asks, so nobody gains by it.

pub(super) mod date;

use std::borrow::Cow;
use std::fmt::{self, Debug};

use url::{Host, Url};

/// Bytes of name and value; a cookie with more is ignored, as by browsers.
const MOST_BYTES: usize = 4096;
/// Cookies of a user; the one that was set longest ago gives way.
const MOST_COOKIES: usize = 200;
/// A cookie that lasts as long as its user.
const NEVER_S: i64 = i64::MAX;
/// A cookie that is to be deleted.
const PAST_S: i64 = i64::MIN;

/// The cookies of one user. An empty jar takes no memory besides itself, a cookie not much more than
/// its text.
#[derive(Clone, Default)]
pub struct Jar {
    /// In the order in which they are sent: those of longer paths first, then those that were made earlier.
    cookies: Vec<Cookie>,
    /// Cookies that were set so far.
    count: u32,
}

#[derive(Clone)]
struct Cookie {
    /// Name, value, domain and path, one after the other.
    text: Box<str>,
    name_end: u16,
    value_end: u16,
    domain_end: u32,
    /// The value of [`Jar::count`] when it was last set.
    number: u32,
    /// Unix time.
    expires_s: i64,
    is_secure: bool,
    /// Whether it is sent to hosts below its domain too.
    has_subdomains: bool,
}

/// What a `Set-Cookie` says, in its own words.
struct Said<'a> {
    name: &'a str,
    value: &'a str,
    domain: Option<&'a str>,
    path: Option<&'a str>,
    expires_s: Option<i64>,
    /// Seconds from now; [`PAST_S`] for none.
    max_age_s: Option<i64>,
    is_secure: bool,
}

impl Jar {
    /// Takes the value of one `Set-Cookie` that came from `url` at `now_unix_s`. What a browser ignores is
    /// ignored: no name, a domain that is not that of the host, control characters. Bytes that are not UTF-8
    /// are read as Latin-1.
    pub fn set(&mut self, url: &Url, set_cookie: &[u8], now_unix_s: i64) {
        let text = match str::from_utf8(set_cookie) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => set_cookie.iter().map(|byte| char::from(*byte)).collect(),
        };
        let Some(said) = said(&text) else {
            return;
        };
        let Some((domain, has_subdomains)) = domain(url, said.domain) else {
            return;
        };
        let path = said.path.unwrap_or_else(|| default_path(url.path()));
        let expires_s = match said.max_age_s {
            Some(max_age_s) => now_unix_s.saturating_add(max_age_s),
            None => said.expires_s.unwrap_or(NEVER_S),
        };
        self.count = self.count.wrapping_add(1);
        let cookie = Cookie {
            text: [said.name, said.value, &domain, path].concat().into(),
            name_end: said.name.len() as u16,
            value_end: (said.name.len() + said.value.len()) as u16,
            domain_end: (said.name.len() + said.value.len() + domain.len()) as u32,
            number: self.count,
            expires_s,
            is_secure: said.is_secure,
            has_subdomains,
        };
        self.keep(cookie, now_unix_s);
    }

    /// The value of the header `Cookie` for a request to `url` at `now_unix_s`; `None` without cookies.
    pub fn header(&self, url: &Url, now_unix_s: i64) -> Option<String> {
        let host = url.host_str()?;
        let (path, is_tls) = (url.path(), url.scheme() == "https");
        let mut text = String::new();
        for cookie in &self.cookies {
            if cookie.goes_to(host, path, is_tls) && now_unix_s < cookie.expires_s {
                if text.is_empty() {
                    let room = self
                        .cookies
                        .iter()
                        .map(|cookie| cookie.value_end as usize + 3);
                    text.reserve_exact(room.sum());
                } else {
                    text.push_str("; ");
                }
                text.push_str(cookie.name());
                text.push('=');
                text.push_str(cookie.value());
            }
        }
        (!text.is_empty()).then_some(text)
    }

    /// The value of a cookie, of whatever host: of several the one with the longest path.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.cookies.iter().find(|cookie| cookie.name() == name);
        found.map(Cookie::value)
    }

    fn keep(&mut self, cookie: Cookie, now_unix_s: i64) {
        let known = self.cookies.iter().position(|known| known.is_same(&cookie));
        match known {
            Some(at) if now_unix_s < cookie.expires_s => self.cookies[at] = cookie,
            Some(at) => drop(self.cookies.remove(at)),
            None if now_unix_s < cookie.expires_s => self.add(cookie, now_unix_s),
            None => {}
        }
    }

    fn add(&mut self, cookie: Cookie, now_unix_s: i64) {
        self.cookies.retain(|known| now_unix_s < known.expires_s);
        if self.cookies.len() >= MOST_COOKIES {
            let numbers = self.cookies.iter().map(|known| known.number).enumerate();
            if let Some((oldest, _)) = numbers.min_by_key(|(_, number)| *number) {
                self.cookies.remove(oldest);
            }
        }
        let length = cookie.path().len();
        let at = self
            .cookies
            .partition_point(|known| known.path().len() >= length);
        self.cookies.reserve_exact(1);
        self.cookies.insert(at, cookie);
    }
}

/// Shows names alone.
impl Debug for Jar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.cookies.iter().map(Cookie::name);
        formatter.debug_list().entries(names).finish()
    }
}

impl Cookie {
    fn name(&self) -> &str {
        &self.text[..usize::from(self.name_end)]
    }

    fn value(&self) -> &str {
        &self.text[usize::from(self.name_end)..usize::from(self.value_end)]
    }

    fn domain(&self) -> &str {
        &self.text[usize::from(self.value_end)..self.domain_end as usize]
    }

    fn path(&self) -> &str {
        &self.text[self.domain_end as usize..]
    }

    /// Whether one takes the place of the other (section 5.3, step 11).
    fn is_same(&self, other: &Self) -> bool {
        self.name() == other.name()
            && self.domain() == other.domain()
            && self.path() == other.path()
    }

    /// Whether a request takes it along (section 5.4).
    fn goes_to(&self, host: &str, path: &str, is_tls: bool) -> bool {
        let is_its_host =
            host == self.domain() || (self.has_subdomains && is_below(host, self.domain()));
        is_its_host && (is_tls || !self.is_secure) && is_within(path, self.path())
    }
}

/// Takes a `Set-Cookie` to pieces (section 5.2).
fn said(text: &str) -> Option<Said<'_>> {
    if text
        .chars()
        .any(|letter| letter.is_ascii_control() && letter != '\t')
    {
        return None;
    }
    let mut parts = text.split(';').map(pair);
    let (name, value) = parts.next()?;
    let value = value?;
    if name.is_empty() || name.len() + value.len() > MOST_BYTES {
        return None;
    }
    let mut said = Said {
        name,
        value,
        domain: None,
        path: None,
        expires_s: None,
        max_age_s: None,
        is_secure: false,
    };
    // Of an attribute that comes again, the last one counts.
    for (attribute, value) in parts {
        let is = |name: &str| attribute.eq_ignore_ascii_case(name);
        let value = value.unwrap_or_default();
        if is("expires") {
            said.expires_s = date::parse(value).or(said.expires_s);
        } else if is("max-age") {
            said.max_age_s = seconds(value).or(said.max_age_s);
        } else if is("domain") {
            said.domain = Some(value);
        } else if is("path") {
            said.path = Some(value).filter(|path| path.starts_with('/'));
        } else if is("secure") {
            said.is_secure = true;
        }
    }
    Some(said)
}

/// What is before and after `=`, without the spaces around it.
fn pair(part: &str) -> (&str, Option<&str>) {
    match part.split_once('=') {
        Some((name, value)) => (trimmed(name), Some(trimmed(value))),
        None => (trimmed(part), None),
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// Seconds of a `Max-Age`: more than there are become as many as there are, none or fewer the past.
fn seconds(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match digits.parse().unwrap_or(NEVER_S) {
        0 => Some(PAST_S),
        _ if digits.len() < text.len() => Some(PAST_S),
        seconds => Some(seconds),
    }
}

/// The domain of a cookie from `url`, and whether hosts below it have the cookie too; `None` if `given`
/// is not that of the host (section 5.3, steps 4 to 6).
fn domain<'u>(url: &'u Url, given: Option<&str>) -> Option<(Cow<'u, str>, bool)> {
    let host = url.host_str()?;
    let given = given.map(|given| given.strip_prefix('.').unwrap_or(given));
    let Some(given) = given.filter(|given| !given.is_empty()) else {
        return Some((host.into(), false));
    };
    let given = given.to_ascii_lowercase();
    let has_hosts_below = given.contains('.') && matches!(url.host(), Some(Host::Domain(_)));
    if given == host {
        return Some((host.into(), has_hosts_below));
    }
    (has_hosts_below && is_below(host, &given)).then_some((given.into(), true))
}

/// Whether a host is one below a domain (section 5.1.3).
fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain)
        .is_some_and(|rest| rest.ends_with('.') && rest.len() > 1)
}

/// The path of a cookie that names none (section 5.1.4): that of the request up to its last slash.
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

/// Whether a path is `folder` or in it (section 5.1.4).
fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder.ends_with('/'))
}

#[cfg(test)]
mod tests;
