//! How a browser reaches a server: addresses, source addresses, TLS, and what each step says when it fails or
//! takes too long.

use std::fs::File;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use futures_util::future::join;
use loadstone_driver::http::{Browser, Class, NetworkPlan, Site, Timeouts};
use socket2::{Domain, Socket, Type};

use crate::host::{block_on, free_port};
use crate::web_browser::{body, fault, get, plan, site};
use crate::web_server::{Act, Authority, SelfSigned, WebServer, ok};

/// A limit that is reached, as nothing comes.
const SHORT_NS: u64 = 50_000_000;

fn address(last: u8) -> IpAddr {
    IpAddr::from([127, 0, 0, last])
}

/// A plan whose limits are changed.
fn limited(change: impl FnOnce(&mut Timeouts)) -> NetworkPlan {
    let mut plan = plan();
    change(&mut plan.timeouts);
    plan
}

/// The class of the failure of one request, with the words that it is told by.
fn failure(plan: NetworkPlan, url: &str) -> (Class, String) {
    let site = site(plan, &[url]);
    let browser = Browser::new(0);
    let fault = block_on(async { fault(get(&browser, &site, url).await) });
    (fault.class, fault.message)
}

/// The address `app.test` at the port of a server, and a site that trusts the file `ca`.
fn trusting(ca: PathBuf, server: &WebServer) -> (String, Site) {
    let url = format!("https://app.test:{}/", server.address.port());
    let plan = NetworkPlan {
        ca: Some(ca),
        ..plan()
    };
    let site = site(plan, &[&url]);
    (url, site)
}

#[test]
fn a_certificate_is_checked_before_anything_is_asked() {
    let (known, unknown) = (Authority::new("known"), Authority::new("unknown"));
    let of_nobody = |name, last_year| SelfSigned::new(name, last_year, false);
    let of_itself = |name, last_year| SelfSigned::new(name, last_year, true);
    let issued = |by: &Authority, name, last_year| (by.server(name, last_year), known.file());
    let (app, other) = ("app.test", "other.test");
    let named = |own: &SelfSigned| (Arc::clone(&own.config), own.file());
    let stranger = |own: &SelfSigned| (Arc::clone(&own.config), known.file());
    for (case, (config, ca), class) in [
        ("issued", issued(&known, app, 2999), None),
        (
            "issued, expired",
            issued(&known, app, 2021),
            Some(Class::TlsExpired),
        ),
        (
            "issued to another",
            issued(&known, other, 2999),
            Some(Class::TlsName),
        ),
        (
            "issued by a stranger",
            issued(&unknown, app, 2999),
            Some(Class::TlsAuthority),
        ),
        // Self-signed: rustls says `UnknownIssuer` where it is not named.
        ("own", named(&of_nobody(app, 2999)), None),
        (
            "own, not named",
            stranger(&of_nobody(app, 2999)),
            Some(Class::TlsAuthority),
        ),
        (
            "own, expired",
            stranger(&of_nobody(app, 2021)),
            Some(Class::TlsExpired),
        ),
        // Self-signed and of an authority: webpki says `CaUsedAsEndEntity`.
        (
            "an authority's, not named",
            stranger(&of_itself(app, 2999)),
            Some(Class::TlsAuthority),
        ),
        ("an authority's", named(&of_itself(app, 2999)), None),
        (
            "an authority's, expired",
            named(&of_itself(app, 2021)),
            Some(Class::TlsExpired),
        ),
        (
            "an authority's, of another",
            named(&of_itself(other, 2999)),
            Some(Class::TlsName),
        ),
    ] {
        let server = WebServer::start_tls(config, |asked| ok(&asked.number.to_string()));
        let ((url, site), browser) = (trusting(ca, &server), Browser::new(0));
        block_on(async {
            site.network.learn("app.test", vec![address(1)]);
            for number in 0..3 {
                let made = get(&browser, &site, &url).await;
                match class {
                    None => assert_eq!(body(made), number.to_string(), "{case}"),
                    Some(class) => {
                        let fault = fault(made);
                        assert_eq!(fault.class, class, "{case}: {}", fault.message);
                    }
                }
            }
        });
        let (requests, connections) = if class.is_none() { (3, 1) } else { (0, 3) };
        assert_eq!(server.asked().len(), requests, "{case}");
        assert_eq!(server.opened(), connections, "{case}");
    }
}

#[test]
fn tls_that_is_closed_without_a_word_is_opened_again() {
    let authority = Authority::new("known");
    let server = WebServer::start_tls(authority.server("localhost", 2999), |asked| {
        let mut acts = ok(&asked.number.to_string());
        acts.push(Act::Close);
        acts
    });
    let url = format!("https://localhost:{}/", server.address.port());
    let trusting = NetworkPlan {
        ca: Some(authority.file()),
        ..plan()
    };
    let (site, browser) = (site(trusting, &[&url]), Browser::new(0));
    block_on(async {
        for number in 0..3 {
            let made = get(&browser, &site, &url).await;
            assert_eq!(body(made), number.to_string());
        }
        browser.close();
    });
}

#[test]
fn each_step_has_a_limit_of_time() {
    let server = WebServer::start(|asked| match asked.line() {
        "GET /half" => {
            let half = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello";
            vec![Act::Send(half.into()), Act::Stall]
        }
        _ => vec![Act::Stall],
    });
    let (class, words) = failure(
        limited(|timeouts| timeouts.first_byte_ns = SHORT_NS),
        &server.url("/silence"),
    );
    assert_eq!(class, Class::FirstByteTimeout);
    assert!(words.ends_with("0.05 s (timeouts_s.first_byte)"), "{words}");
    let (class, words) = failure(
        limited(|timeouts| timeouts.whole_ns = SHORT_NS),
        &server.url("/half"),
    );
    assert_eq!(class, Class::Timeout);
    assert!(words.ends_with("0.05 s (timeouts_s.whole)"), "{words}");

    // The kernel accepts the connection; nobody ever reads from it.
    let deaf = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = deaf.local_addr().expect("its address").port();
    let (class, words) = failure(
        limited(|timeouts| timeouts.tls_ns = SHORT_NS),
        &format!("https://127.0.0.1:{port}/"),
    );
    let has_roots = !words.contains("trusts no authority");
    let expected = if has_roots {
        Class::TlsTimeout
    } else {
        Class::Tls
    };
    assert_eq!(class, expected, "{words}");
}

#[test]
fn a_connection_that_is_not_accepted_is_given_up() {
    let full = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    full.bind(&SocketAddr::new(address(1), 0).into())
        .expect("a port");
    full.listen(0).expect("a listener");
    let own = full.local_addr().expect("its address").as_socket();
    let own = own.expect("an address of IPv4");
    // The only place in the queue is taken.
    let _first = TcpStream::connect(own).expect("a connection");
    let (class, words) = failure(
        limited(|timeouts| timeouts.connect_ns = SHORT_NS),
        &format!("http://{own}/"),
    );
    assert_eq!(class, Class::ConnectTimeout, "{words}");
    assert!(words.ends_with("0.05 s (timeouts_s.connect)"), "{words}");
}

/// The wait for a connection is part of a request, and a request that is given up leaves its place.
#[test]
fn what_waits_for_a_connection_is_given_up_too() {
    let server = WebServer::start(|asked| match asked.number {
        0 => vec![Act::Stall],
        _ => ok("well"),
    });
    let url = server.url("/");
    let mut site = site(
        limited(|timeouts| timeouts.whole_ns = 4 * SHORT_NS),
        &[&url],
    );
    site.connections = 1;
    let browser = Browser::new(0);
    block_on(async {
        let both = join(get(&browser, &site, &url), get(&browser, &site, &url));
        let (first, second) = both.await;
        assert_eq!(fault(first).class, Class::Timeout);
        // It is given up at the same time as the first, or comes just after it.
        if let Err(fault) = second.0 {
            assert_eq!(fault.class, Class::Timeout);
        }
    });
    site.network = patient();
    block_on(async { assert_eq!(body(get(&browser, &site, &url).await), "well") });
    server.await_closed(1);
}

/// A network without limits that are reached.
fn patient() -> loadstone_driver::http::Network {
    loadstone_driver::http::Network::new(plan()).expect("a network")
}

#[test]
fn users_are_spread_over_the_addresses_of_a_name() {
    let one = WebServer::start(|_| ok("one"));
    let port = one.address.port();
    let second = format!("127.0.0.2:{port}");
    let Ok(two) = WebServer::start_at(&second, None, |_| ok("two")) else {
        return;
    };
    let url = format!("http://app.test:{port}/");
    let site = site(plan(), &[&url]);
    block_on(async {
        site.network.learn("app.test", vec![address(2), address(1)]);
        let ask = async |user: u32| get(&Browser::new(user), &site, &url).await;
        for (user, expected) in (0..4).zip(["one", "two", "one", "two"]) {
            assert_eq!(body(ask(user).await), expected);
        }
        let shares = site.network.shares();
        let to = |last: u8| (format!("app.test:{port} 127.0.0.{last}"), 2);
        assert_eq!(shares, [to(1), to(2)]);
        drop(two);
        assert_eq!(
            body(ask(5).await),
            "one",
            "the next one where it is refused"
        );
        drop(one);
        for user in [0, 1] {
            let fault = fault(ask(user).await);
            assert_eq!(fault.class, Class::ConnectRefused);
            let start = format!("app.test:{port}: 127.0.0.{}: ", 2 - user);
            assert!(
                fault.message.starts_with(&start),
                "the last one: {}",
                fault.message
            );
        }
    });
}

#[test]
fn a_name_that_the_system_knows_is_reached_at_whichever_address_answers() {
    let server = WebServer::start(|_| ok("well"));
    let url = format!("http://localhost:{}/", server.address.port());
    let site = site(plan(), &[&url]);
    block_on(async {
        for user in 0..2 {
            let made = get(&Browser::new(user), &site, &url).await;
            assert_eq!(body(made), "well");
        }
    });
    let unknown = format!("http://{}.test/", "a".repeat(64));
    assert_eq!(failure(plan(), &unknown).0, Class::Resolve);
}

#[test]
fn an_address_of_ipv6_is_written_in_brackets() {
    let Ok(server) = WebServer::start_at("[::1]:0", None, |_| ok("six")) else {
        return;
    };
    let (url, browser) = (server.url("/"), Browser::new(0));
    let site = site(plan(), &[&url]);
    let made = block_on(async { get(&browser, &site, &url).await });
    assert_eq!(body(made), "six");
    let expected = format!("[::1]:{}", server.address.port());
    assert_eq!(server.asked()[0].header("host"), Some(&*expected));
}

#[test]
fn users_come_from_the_sources_of_the_plan() {
    let server = WebServer::start(|asked| ok(&asked.peer.to_string()));
    let url = server.url("/");
    let from = |sources: &[IpAddr]| NetworkPlan {
        sources: sources.to_vec(),
        ..plan()
    };
    let site = site(from(&[address(5), address(6)]), &[&url]);
    block_on(async {
        for (user, last) in (0..4).zip([5, 6, 5, 6]) {
            let made = get(&Browser::new(user), &site, &url).await;
            assert_eq!(body(made), address(last).to_string());
        }
    });
    let (class, words) = failure(from(&[IpAddr::from([203, 0, 113, 1])]), &url);
    assert_eq!(class, Class::NoPorts);
    assert!(words.contains(" from 203.0.113.1: "), "{words}");
    let six = IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1_u16]);
    assert_eq!(failure(from(&[six]), &url).0, Class::Connect);
}

#[test]
fn what_cannot_be_asked_is_told() {
    let refused = format!("http://127.0.0.1:{}/", free_port());
    assert_eq!(failure(plan(), &refused).0, Class::ConnectRefused);
    let site = site(plan(), &["http://app.test/"]);
    let browser = Browser::new(0);
    block_on(async {
        for (url, class) in [
            ("http://other.test/", Class::ForeignHost),
            ("https://app.test/", Class::ForeignHost),
            ("http://app.test:81/", Class::ForeignHost),
            ("ftp://app.test/", Class::BadUrl),
        ] {
            let made = get(&browser, &site, url).await;
            assert_eq!(made.1.connections_opened, 0);
            assert_eq!(fault(made).class, class, "{url}");
        }
    });
}

/// In a process of its own, as the limit is that of a process.
#[test]
fn files_that_run_out_are_the_generators_own_failure() {
    const OWN: &str = "LOADSTONE_TEST_FEW_FILES";
    if std::env::var_os(OWN).is_none() {
        let name = "web_connect::files_that_run_out_are_the_generators_own_failure";
        let this = std::env::current_exe().expect("this program");
        let run = Command::new(this)
            .args(["--exact", name])
            .env(OWN, "1")
            .output()
            .expect("a run");
        let told = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && told.contains("1 passed"), "{told}");
        return;
    }
    let server = WebServer::start(|_| ok("well"));
    let (url, browser) = (server.url("/"), Browser::new(0));
    let site = site(plan(), &[&url]);
    block_on(async {
        let limit = libc::rlimit {
            rlim_cur: 100,
            rlim_max: 100,
        };
        // SAFETY: `limit` is valid for reads.
        let set = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
        assert_eq!(set, 0);
        let mut files = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            files.push(file);
        }
        let fault = fault(get(&browser, &site, &url).await);
        assert_eq!(fault.class, Class::TooManyFiles, "{}", fault.message);
        drop(files);
        assert_eq!(body(get(&browser, &site, &url).await), "well");
    });
}
