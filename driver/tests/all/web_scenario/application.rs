//! A small web application: users log in with a token of a form, look at items, and log out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::web_server::{Act, Asked, WebServer};

/// So long one of two requests at the same time waits for the other.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the application knows.
#[derive(Debug, Default)]
pub struct State {
    /// Tokens of forms, by the cookie that came with each.
    tokens: BTreeMap<String, String>,
    /// Names of users, by the cookie of their session.
    pub sessions: BTreeMap<String, String>,
    /// Requests of each session that must come in pairs.
    pairs: BTreeMap<String, usize>,
    /// All that ever logged in.
    pub names: BTreeSet<String>,
    pub log_ins: usize,
    pub log_outs: usize,
    /// Requests in all.
    pub asked: usize,
}

impl State {
    /// A text that none had before.
    fn new_secret(&self) -> String {
        format!("s{:08}", self.asked)
    }
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    password: String,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The application, on a port of loopback.
pub struct Application {
    server: WebServer,
    shared: Arc<Shared>,
}

/// A cookie of a request; empty if it has none of that name.
fn cookie<'a>(asked: &'a Asked, name: &str) -> &'a str {
    let cookies = asked.header("cookie").unwrap_or_default();
    let pairs = cookies.split("; ").filter_map(|pair| pair.split_once('='));
    let mut found = pairs.filter(|(other, _)| *other == name);
    found.next().map_or("", |(_, value)| value)
}

/// A field of the form that was sent.
fn field(asked: &Asked, name: &str) -> String {
    let pairs = url::form_urlencoded::parse(&asked.body);
    let mut found = pairs.filter(|(other, _)| other == name);
    found
        .next()
        .map_or_else(String::new, |(_, value)| value.into_owned())
}

/// Status and further lines of the header, and the body.
type Answer = (String, String);

impl Application {
    /// Starts it. All users have the same password.
    pub fn start(password: &str) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            password: password.to_owned(),
        });
        let serving = Arc::clone(&shared);
        let server = WebServer::start(move |asked| {
            let (head, body) = answer(&serving, asked);
            let length = body.len();
            let whole = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\n\r\n{body}");
            vec![Act::Send(whole.into())]
        });
        Self { server, shared }
    }

    pub fn url(&self) -> String {
        self.server.url("")
    }

    pub fn port(&self) -> u16 {
        self.server.address.port()
    }

    /// What it knows now.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }
}

fn answer(shared: &Shared, asked: &Asked) -> Answer {
    let mut state = shared.state();
    state.asked += 1;
    match asked.line() {
        "GET /login" => form(&mut state),
        "POST /login" => log_in(&mut state, &shared.password, asked),
        "GET /open" => plain("200 OK", "an error that is told as a page"),
        _ => {
            let session = cookie(asked, "session");
            match state.sessions.get(session).cloned() {
                Some(name) => own(shared, state, asked, session, &name),
                None => plain("401 Unauthorized", ""),
            }
        }
    }
}

fn plain(status: &str, body: &str) -> Answer {
    (
        format!("{status}\r\nContent-Type: text/html"),
        body.to_owned(),
    )
}

fn form(state: &mut State) -> Answer {
    let visit = state.new_secret();
    let token = format!("<t&{visit}>");
    let written = token.replace('&', "&amp;");
    state.tokens.insert(visit.clone(), token);
    let head = format!("200 OK\r\nSet-Cookie: visit={visit}; Path=/");
    let body = format!(
        "<script>'<input name=csrf value=wrong>'</script>\
         <form method=post><input type=hidden name=csrf value=\"{written}\"></form>"
    );
    (head, body)
}

fn log_in(state: &mut State, password: &str, asked: &Asked) -> Answer {
    let token = state.tokens.remove(cookie(asked, "visit"));
    if token.as_deref() != Some(field(asked, "csrf").as_str()) {
        return plain("403 Forbidden", "no such token");
    }
    if field(asked, "password") != password {
        return plain("403 Forbidden", "wrong password");
    }
    let (session, name) = (state.new_secret(), field(asked, "username"));
    state.log_ins += 1;
    state.names.insert(name.clone());
    state.sessions.insert(session.clone(), name);
    let head = format!("302 Found\r\nLocation: /home\r\nSet-Cookie: session={session}; HttpOnly");
    (head, String::new())
}

/// Pages of a user who is logged in.
fn own(
    shared: &Shared,
    mut state: MutexGuard<'_, State>,
    asked: &Asked,
    session: &str,
    name: &str,
) -> Answer {
    let is_token = asked.header("x-session") == Some(session);
    match asked.line() {
        "GET /home" => plain("200 OK", &format!("Welcome {name}")),
        "GET /items?page=1&q=a%20b" => {
            let body = "{\"ok\": true, \"items\": [{\"id\": 7}, {\"id\": \"e/8\"}]}";
            plain("200 OK", body)
        }
        "GET /items/7" | "GET /items/e%2F8" | "GET /pictures/7" | "GET /pictures/e%2F8" => {
            wait_for_pair(shared, state, session)
        }
        "POST /logout" if is_token => {
            state.sessions.remove(session);
            state.log_outs += 1;
            ("204 No Content".into(), String::new())
        }
        _ => plain("404 Not Found", ""),
    }
}

/// Answers when the other request of the pair is there.
fn wait_for_pair(shared: &Shared, mut state: MutexGuard<'_, State>, session: &str) -> Answer {
    let count = state.pairs.entry(session.to_owned()).or_default();
    *count += 1;
    let whole = count.div_ceil(2) * 2;
    shared.changed.notify_all();
    let alone = |state: &mut State| state.pairs[session] < whole;
    let waited = shared.changed.wait_timeout_while(state, PATIENCE, alone);
    let (_state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
    if waited.timed_out() {
        return plain("503 Service Unavailable", "the other request did not come");
    }
    plain("200 OK", "one of two")
}
