//! The browser of one user against a scripted server: connections that are kept, closed and replaced, redirects,
//! cookies and requests at the same time.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::join_all;
use loadstone_driver::clock::SECOND_NS;
use loadstone_driver::http::{
    Browser, Class, Fault, Fetched, Limits, Method, Network, NetworkPlan, Notes, Origin, Request,
    Site, Timeouts,
};
use url::Url;

use crate::host::block_on;
use crate::web_server::{Act, Asked, WebServer, answer, ok};

/// Limits that are not reached.
pub fn plan() -> NetworkPlan {
    NetworkPlan {
        resolve_every_ns: 60 * SECOND_NS,
        timeouts: Timeouts {
            resolve_ns: 20 * SECOND_NS,
            connect_ns: 20 * SECOND_NS,
            tls_ns: 20 * SECOND_NS,
            first_byte_ns: 20 * SECOND_NS,
            whole_ns: 40 * SECOND_NS,
        },
        ..NetworkPlan::default()
    }
}

/// A site that may ask the origins of these addresses.
pub fn site(plan: NetworkPlan, urls: &[&str]) -> Site {
    let limits = Limits {
        header_bytes: 65_536,
        body_bytes: 1 << 20,
        inflated_bytes: 1 << 20,
        interim: 10,
    };
    let allowed = urls.iter().map(|url| Origin::of(&parsed(url)));
    let allowed = allowed.collect::<Result<_, _>>().expect("origins");
    let network = Network::new(plan).expect("a network");
    Site::new(network, limits, 5, 6, allowed, 60 * SECOND_NS)
}

pub type Outcome = (Result<Fetched, Fault>, Notes);

pub async fn get(browser: &Browser, site: &Site, url: &str) -> Outcome {
    send(browser, site, Method::Get, url, None).await
}

async fn send(
    browser: &Browser,
    site: &Site,
    method: Method,
    url: &str,
    body: Option<&[u8]>,
) -> Outcome {
    let request = Request {
        method,
        url: &parsed(url),
        headers: &[],
        body: body.map(|bytes| ("text/plain", Cow::Borrowed(bytes))),
        follow: true,
    };
    browser.fetch(site, &request).await
}

fn parsed(url: &str) -> Url {
    Url::parse(url).expect("an address")
}

/// The body of an answer that came.
#[track_caller]
pub fn body((fetched, _): Outcome) -> String {
    let fetched = fetched.expect("an answer");
    String::from_utf8(fetched.answer.body).expect("text")
}

/// Why no answer came.
#[track_caller]
pub fn fault((fetched, _): Outcome) -> Fault {
    fetched.expect_err("no answer")
}

fn count(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[test]
fn requests_share_a_connection_and_are_counted() {
    let server = WebServer::start(|asked| ok(&asked.number.to_string()));
    let (url, browser) = (server.url("/page?a=b"), Browser::new(0));
    let site = site(plan(), &[&url]);
    let counters = &site.counters;
    block_on(async {
        let mut received = 0;
        for number in 0..3 {
            let (fetched, notes) = get(&browser, &site, &url).await;
            let fetched = fetched.expect("an answer");
            assert_eq!(fetched.answer.body, number.to_string().as_bytes());
            let seen = (notes.resent, notes.connections_opened);
            assert_eq!(seen, (None, u32::from(number == 0)));
            received += fetched.answer.wire_bytes;
        }
        assert_eq!(count(&counters.bytes_received), received);
        assert_eq!(count(&counters.connections_open), 1);
        browser.close();
        assert_eq!(count(&counters.connections_open), 0);
    });
    server.await_closed(1);
    assert_eq!(count(&counters.connections_opened), 1);
    assert_eq!(count(&counters.connections_reused), 2);
    let asked = server.asked();
    let sent = asked
        .iter()
        .map(|asked| asked.head.len() + asked.body.len());
    assert_eq!(count(&counters.bytes_sent), sent.sum::<usize>() as u64);
    let host = server.address.to_string();
    for asked in asked {
        assert_eq!(asked.line(), "GET /page?a=b");
        assert_eq!(asked.header("host"), Some(&*host));
    }
}

#[test]
fn a_connection_that_ends_as_it_is_used_again_is_replaced() {
    for (end, class) in [(Act::Close, Class::Closed), (Act::Reset, Class::Reset)] {
        for (method, content) in [(Method::Get, None), (Method::Post, Some(&b"a=1"[..]))] {
            let end = end.clone();
            let server = WebServer::start(move |asked| match (asked.connection, asked.before) {
                (0, 1) => vec![end.clone()],
                _ => ok(&asked.number.to_string()),
            });
            let (url, browser) = (server.url("/"), Browser::new(0));
            let site = site(plan(), &[&url]);
            block_on(async {
                assert_eq!(body(get(&browser, &site, &url).await), "0");
                let (fetched, notes) = send(&browser, &site, method, &url, content).await;
                assert_eq!(fetched.expect("an answer").answer.body, b"2");
                let seen = (notes.resent, notes.connections_opened);
                assert_eq!(seen, (Some(class), 1));
            });
            assert_eq!(count(&site.counters.resent), 1);
            let asked = server.asked();
            assert_eq!((asked[2].connection, asked[2].before), (1, 0));
            assert_eq!(asked[2].head, asked[1].head);
            assert_eq!(asked[2].body, content.unwrap_or_default());
        }
    }
}

#[test]
fn a_connection_that_was_closed_while_idle_costs_nothing() {
    let server = WebServer::start(|asked| {
        let mut acts = ok(&asked.number.to_string());
        acts.push(Act::Close);
        acts
    });
    let (url, browser) = (server.url("/"), Browser::new(0));
    let site = site(plan(), &[&url]);
    block_on(async {
        for number in 0..5 {
            let made = get(&browser, &site, &url).await;
            assert_eq!(body(made), number.to_string());
        }
    });
    assert_eq!((server.asked().len(), server.opened()), (5, 5));
}

/// What is not sent again: after a byte of the answer, on a fresh connection, and a second time.
#[test]
fn only_what_may_be_sent_again_is() {
    // Good answers, what is sent before each later close, requests that come in all, why one was sent again.
    let servers = [
        (1, &b"HTTP/1.1 20"[..], 2, None),
        (0, b"", 1, None),
        (1, b"", 3, Some(Class::Closed)),
    ];
    for (answers, last_bytes, requests, resent) in servers {
        let server = WebServer::start(move |asked| match asked.number < answers {
            true => ok("well"),
            false => vec![Act::Send(last_bytes.into()), Act::Close],
        });
        let (url, browser) = (server.url("/"), Browser::new(0));
        let site = site(plan(), &[&url]);
        block_on(async {
            let mut last = get(&browser, &site, &url).await;
            if requests > 1 {
                assert_eq!(body(last), "well");
                last = get(&browser, &site, &url).await;
            }
            assert_eq!(last.1.resent, resent);
            assert_eq!(fault(last).class, Class::Closed);
        });
        assert_eq!(server.asked().len(), requests);
        assert_eq!(count(&site.counters.connections_open), 0);
    }
}

fn redirecting(asked: &Asked) -> Vec<Act> {
    let to = |status: &str, place: &str| answer(status, &[&format!("Location: {place}")], "");
    match asked.line() {
        "GET /in/relative" => answer(
            "302 Found",
            &["Location: next?x=1", "Set-Cookie: seen=yes; Path=/in"],
            "",
        ),
        "GET /in/next?x=1" => ok(asked.header("cookie").unwrap_or("no cookie")),
        "POST /keep" => to("307 Temporary Redirect", "/kept"),
        "POST /kept" => ok(&String::from_utf8_lossy(&asked.body)),
        "POST /form" => to("303 See Other", "/done"),
        "GET /done" => ok(asked.header("content-length").unwrap_or("no body")),
        "GET /round" => to("301 Moved Permanently", "/round"),
        "GET /away" => to("302 Found", "http://203.0.113.7/"),
        "GET /nowhere" => answer("302 Found", &[], ""),
        _ => answer("404 Not Found", &[], ""),
    }
}

#[test]
fn redirects_are_followed_to_hosts_that_may_be_asked() {
    let server = WebServer::start(redirecting);
    let browser = Browser::new(0);
    let site = site(plan(), &[&server.url("/")]);
    let content = Some(&b"kept"[..]);
    block_on(async {
        let (fetched, _) = get(&browser, &site, &server.url("/in/relative")).await;
        let fetched = fetched.expect("an answer");
        assert_eq!(fetched.answer.body, b"seen=yes");
        assert_eq!((fetched.url.path(), fetched.redirects), ("/in/next", 1));
        assert_eq!(browser.cookie("seen").as_deref(), Some("yes"));

        let kept = send(&browser, &site, Method::Post, &server.url("/keep"), content).await;
        assert_eq!(body(kept), "kept");
        let done = send(&browser, &site, Method::Post, &server.url("/form"), content).await;
        assert_eq!(body(done), "no body");
        for (path, class) in [
            ("/round", Class::TooManyRedirects),
            ("/away", Class::ForeignHost),
            ("/nowhere", Class::BadRedirect),
        ] {
            let made = get(&browser, &site, &server.url(path)).await;
            assert_eq!(fault(made).class, class, "{path}");
        }
        let request = Request {
            method: Method::Get,
            url: &parsed(&server.url("/away")),
            headers: &[],
            body: None,
            follow: false,
        };
        let (fetched, _) = browser.fetch(&site, &request).await;
        assert_eq!(fetched.expect("an answer").answer.status, 302);
    });
    let asked = server.asked();
    let rounds = asked.iter().filter(|asked| asked.line() == "GET /round");
    assert_eq!(rounds.count(), 6, "five redirects");
    assert_eq!(count(&site.counters.redirects_followed), 3 + 5);
    assert_eq!(server.opened(), 1);
}

/// Answers the first six requests when all of them have come.
fn together(asked: &Asked) -> Vec<Act> {
    let mut acts = vec![Act::Await(6)];
    acts.extend(ok(&asked.number.to_string()));
    acts
}

#[test]
fn requests_at_the_same_time_open_as_many_connections_as_they_may() {
    for (requests, opened) in [(6, 6), (20, 6)] {
        let server = WebServer::start(together);
        let (url, browser) = (server.url("/"), Browser::new(0));
        let site = site(plan(), &[&url]);
        block_on(async {
            let all = (0..requests).map(|_| get(&browser, &site, &url));
            let mut bodies: Vec<usize> = join_all(all)
                .await
                .into_iter()
                .map(|made| body(made).parse().expect("a number"))
                .collect();
            bodies.sort_unstable();
            assert_eq!(bodies, (0..requests).collect::<Vec<_>>());
            let (_, notes) = get(&browser, &site, &url).await;
            assert_eq!(notes.connections_opened, 0);
        });
        assert_eq!(server.opened(), opened);
    }
}

#[test]
fn with_one_connection_requests_wait_for_each_other() {
    let server = WebServer::start(|asked| ok(asked.line()));
    let (url, browser) = (server.url("/"), Browser::new(0));
    let mut site = site(plan(), &[&url]);
    site.connections = 1;
    block_on(async {
        let urls: Vec<String> = (0..10).map(|number| format!("{url}{number}")).collect();
        let all = urls.iter().map(|url| get(&browser, &site, url));
        for (number, made) in join_all(all).await.into_iter().enumerate() {
            assert_eq!(body(made), format!("GET /{number}"));
        }
    });
    assert_eq!(server.opened(), 1);
}

#[test]
fn connections_beyond_the_first_are_closed_when_they_are_idle() {
    let server = WebServer::start(together);
    let (url, browser) = (server.url("/"), Browser::new(0));
    let mut site = site(plan(), &[&url]);
    site.idle_close_ns = 0;
    block_on(async {
        join_all((0..6).map(|_| get(&browser, &site, &url))).await;
        let open = count(&site.counters.connections_open);
        let (fetched, notes) = get(&browser, &site, &url).await;
        assert!(fetched.is_ok() && notes.connections_opened == 0);
        assert_eq!((open, count(&site.counters.connections_open)), (6, 1));
        server.await_closed(5);
    });
}

/// An answer that comes before the request was sent whole is read, whether the server then takes no more or
/// closes the connection.
#[test]
fn an_early_refusal_is_an_answer() {
    let large = vec![0; 32 << 20];
    for then in [Act::Await(2), Act::Close] {
        let server = WebServer::start(move |asked| {
            if asked.header("x-unread").is_none() {
                return ok("next");
            }
            let mut acts = answer("413 Content Too Large", &[], "too large");
            acts.extend([then.clone(), Act::Close]);
            acts
        });
        let (url, browser) = (server.url("/"), Browser::new(0));
        let site = site(plan(), &[&url]);
        let request = Request {
            method: Method::Put,
            url: &parsed(&url),
            headers: &[("X-Unread".into(), "1".into())],
            body: Some(("text/plain", Cow::Borrowed(&large))),
            follow: true,
        };
        block_on(async {
            let (fetched, notes) = browser.fetch(&site, &request).await;
            let answer = fetched.expect("an answer").answer;
            assert_eq!((answer.status, &*answer.body), (413, &b"too large"[..]));
            assert_eq!(notes.resent, None);
            let next = get(&browser, &site, &url).await;
            assert_eq!(
                next.1.connections_opened, 1,
                "what is not sent costs the connection"
            );
            assert_eq!(body(next), "next");
        });
        assert!(count(&site.counters.bytes_sent) < large.len() as u64);
    }
}
