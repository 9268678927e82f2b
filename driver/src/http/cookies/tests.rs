use proptest::prelude::*;

use super::*;

const NOW_S: i64 = 1_800_000_000;

fn url(text: &str) -> Url {
    Url::parse(text).expect("an address")
}

/// A jar that got these cookies, one after the other, each from its address.
fn jar(set: &[(&str, &str)]) -> Jar {
    let mut jar = Jar::default();
    for (from, cookie) in set {
        jar.set(&url(from), cookie.as_bytes(), NOW_S);
    }
    jar
}

fn sent(jar: &Jar, to: &str) -> String {
    jar.header(&url(to), NOW_S).unwrap_or_default()
}

#[test]
fn a_cookie_comes_back_as_it_was_set() {
    for (set, expected) in [
        ("a=1", "a=1"),
        ("  a \t=  1 2 ; Path=/", "a=1 2"),
        (
            "a=\"quoted, with comma\"; HttpOnly; SameSite=Lax",
            "a=\"quoted, with comma\"",
        ),
        ("a=", "a="),
        ("a=b=c==", "a=b=c=="),
        ("A=caf\u{e9}", "A=caf\u{e9}"),
        ("a=1;", "a=1"),
        ("a=1; unknown; ;=;Version=1", "a=1"),
    ] {
        assert_eq!(
            sent(&jar(&[("http://app/", set)]), "http://app/"),
            expected,
            "{set:?}"
        );
    }
    let mut jar = Jar::default();
    jar.set(&url("http://app/"), b"a=caf\xe9", NOW_S);
    assert_eq!(sent(&jar, "http://app/"), "a=caf\u{e9}", "Latin-1");
    assert_eq!(jar.get("a"), Some("caf\u{e9}"));
}

#[test]
fn what_is_no_cookie_is_ignored() {
    let long = format!("a={}", "x".repeat(MOST_BYTES));
    for set in [
        "", "a", "=1", " = 1", ";a=1", "a=1\n2", "a=\0", "a=1\x7f", &long,
    ] {
        assert_eq!(
            sent(&jar(&[("http://app/", set)]), "http://app/"),
            "",
            "{set:?}"
        );
    }
    let longest = format!("a={}", "x".repeat(MOST_BYTES - 1));
    assert_eq!(
        sent(&jar(&[("http://app/", &longest)]), "http://app/"),
        longest
    );
}

#[test]
fn without_a_domain_a_cookie_is_for_its_host_alone() {
    let jar = jar(&[("http://app.example/", "a=1")]);
    for (to, expected) in [
        ("http://app.example/", "a=1"),
        ("https://APP.example:8443/x", "a=1"),
        ("http://www.app.example/", ""),
        ("http://example/", ""),
        ("http://xapp.example/", ""),
    ] {
        assert_eq!(sent(&jar, to), expected, "{to}");
    }
}

#[test]
fn a_domain_reaches_the_hosts_below_it() {
    for set in ["a=1; Domain=example.com", "a=1; domain=.EXAMPLE.com"] {
        let jar = jar(&[("http://app.example.com/", set)]);
        for (to, expected) in [
            ("http://app.example.com/", "a=1"),
            ("http://example.com/", "a=1"),
            ("http://www.app.example.com/", "a=1"),
            ("http://badexample.com/", ""),
            ("http://example.com.evil/", ""),
        ] {
            assert_eq!(sent(&jar, to), expected, "{set} to {to}");
        }
    }
}

#[test]
fn a_domain_of_others_is_ignored_with_its_cookie() {
    for (from, domain) in [
        ("http://app.example.com/", "other.com"),
        ("http://app.example.com/", "www.app.example.com"),
        ("http://app.example.com/", "ample.com"),
        ("http://app.example.com/", "com"),
        ("http://app.example.com/", ".com"),
        ("http://app.localhost/", "localhost"),
        ("http://10.0.0.1/", "0.0.1"),
        ("http://10.0.0.1/", "app.example"),
    ] {
        let set = format!("a=1; Domain={domain}");
        assert_eq!(
            sent(&jar(&[(from, &set)]), from),
            "",
            "{domain} from {from}"
        );
    }
}

#[test]
fn names_of_one_label_and_addresses_have_cookies_of_their_own() {
    for (from, domain) in [
        ("http://localhost:8088/", "localhost"),
        ("http://localhost/", ".localhost"),
        ("http://127.0.0.1:8088/", "127.0.0.1"),
        ("http://app/", ""),
        ("http://[::1]/", ""),
    ] {
        let jar = jar(&[(from, &format!("a=1; Domain={domain}"))]);
        assert_eq!(sent(&jar, from), "a=1", "{domain} from {from}");
    }
    let local = jar(&[("http://localhost/", "a=1; Domain=localhost")]);
    assert_eq!(sent(&local, "http://app.localhost/"), "");
    let ports = jar(&[("http://localhost:8088/", "a=1")]);
    assert_eq!(
        sent(&ports, "http://localhost:9000/"),
        "a=1",
        "ports do not part cookies"
    );
}

#[test]
fn a_path_is_that_of_the_cookie_or_of_the_request() {
    for (from, set, to, is_sent) in [
        ("/", "a=1", "/any/where", true),
        ("/shop/list", "a=1", "/shop/item", true),
        ("/shop/list", "a=1", "/shop", true),
        ("/shop/list", "a=1", "/shopping", false),
        ("/shop/list", "a=1", "/", false),
        ("/shop/list/", "a=1", "/shop/list", true),
        ("/shop/list/", "a=1", "/shop/other", false),
        ("/shop", "a=1; Path=/api", "/api/v1?q=/x", true),
        ("/shop", "a=1; Path=/api", "/apis", false),
        ("/shop", "a=1; Path=/api/", "/api", false),
        ("/shop", "a=1; Path=/api/", "/api/v1", true),
        ("/shop/list", "a=1; Path=api", "/shop/x", true),
        ("/shop/list", "a=1; Path=/api; Path=", "/shop/x", true),
    ] {
        let jar = jar(&[(&format!("http://app{from}"), set)]);
        let is_there = !sent(&jar, &format!("http://app{to}")).is_empty();
        assert_eq!(is_there, is_sent, "{set} from {from} to {to}");
    }
}

#[test]
fn a_secure_cookie_needs_tls() {
    let jar = jar(&[("https://app/", "a=1; SECURE"), ("https://app/", "b=2")]);
    assert_eq!(sent(&jar, "https://app/"), "a=1; b=2");
    assert_eq!(sent(&jar, "http://app/"), "b=2");
}

#[test]
fn cookies_expire() {
    for (set, lasts) in [
        ("a=1", true),
        ("a=1; Max-Age=1", true),
        ("a=1; Max-Age=0", false),
        ("a=1; Max-Age=-1", false),
        ("a=1; Max-Age=99999999999999999999", true),
        ("a=1; Max-Age=-99999999999999999999", false),
        ("a=1; Max-Age=soon", true),
        ("a=1; Max-Age=", true),
        ("a=1; Max-Age=+1", true),
        ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false),
        ("a=1; Expires=Wed, 31 Dec 2098 23:59:59 GMT", true),
        ("a=1; Expires=never", true),
        (
            "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60",
            true,
        ),
        (
            "a=1; Max-Age=0; Expires=Wed, 31 Dec 2098 23:59:59 GMT",
            false,
        ),
        ("a=1; Max-Age=0; Max-Age=60", true),
    ] {
        let jar = jar(&[("http://app/", set)]);
        assert_eq!(!sent(&jar, "http://app/").is_empty(), lasts, "{set}");
        assert_eq!(jar.get("a").is_some(), lasts, "{set}");
    }
    let jar = jar(&[("http://app/", "a=1; Max-Age=60")]);
    let at = |now_s| jar.header(&url("http://app/"), now_s);
    assert_eq!(at(NOW_S + 59), Some("a=1".to_owned()));
    assert_eq!(at(NOW_S + 60), None);
}

#[test]
fn a_cookie_takes_the_place_of_its_namesake_and_can_be_deleted() {
    let mut jar = jar(&[
        ("http://app/", "a=1"),
        ("http://app/", "b=2"),
        ("http://app/", "a=3"),
    ]);
    assert_eq!(sent(&jar, "http://app/"), "a=3; b=2", "it keeps its place");
    jar.set(&url("http://app/"), b"a=; Max-Age=0", NOW_S);
    assert_eq!(sent(&jar, "http://app/"), "b=2");
    jar.set(&url("http://app/"), b"b=; Max-Age=0; Path=/other", NOW_S);
    assert_eq!(
        sent(&jar, "http://app/"),
        "b=2",
        "another path is another cookie"
    );
}

#[test]
fn longer_paths_come_first_and_then_what_was_set_first() {
    let jar = jar(&[
        ("http://app/", "a=short; Path=/"),
        ("http://app/", "b=long; Path=/shop/list"),
        ("http://app/", "c=middle; Path=/shop"),
        ("http://app/", "d=later; Path=/"),
        ("http://app/", "a=own; Path=/shop"),
    ]);
    let all = "b=long; c=middle; a=own; a=short; d=later";
    assert_eq!(sent(&jar, "http://app/shop/list/1"), all);
    assert_eq!(sent(&jar, "http://app/x"), "a=short; d=later");
    assert_eq!(jar.get("a"), Some("own"));
    assert_eq!(jar.get("A"), None, "names have their case");
}

#[test]
fn a_jar_holds_so_many_and_what_has_expired_gives_way_first() {
    let mut jar = Jar::default();
    let app = url("http://app/");
    for number in 0..MOST_COOKIES {
        let age_s = if number == 7 { "; Max-Age=5" } else { "" };
        jar.set(&app, format!("c{number}=1{age_s}").as_bytes(), NOW_S);
    }
    jar.set(&app, b"c0=2", NOW_S + 5);
    jar.set(&app, b"one=1", NOW_S + 5);
    assert_eq!((jar.get("c7"), jar.get("c1")), (None, Some("1")));
    jar.set(&app, b"two=1", NOW_S + 5);
    assert_eq!(jar.cookies.len(), MOST_COOKIES);
    assert_eq!((jar.get("c0"), jar.get("c1")), (Some("2"), None));
}

#[test]
fn a_cookie_takes_little_more_memory_than_its_text() {
    let value = "x".repeat(1024);
    let jar = jar(&[("http://app.example/", &format!("session={value}; Path=/"))]);
    let texts: usize = jar.cookies.iter().map(|cookie| cookie.text.len()).sum();
    let bytes = texts + jar.cookies.capacity() * size_of::<Cookie>() + size_of::<Jar>();
    assert!(bytes < 1140, "{bytes} bytes");
    assert!(size_of::<Jar>() <= 32);
}

#[test]
fn no_value_is_shown_where_it_is_debugged() {
    let jar = jar(&[("http://app/", "session=secret")]);
    assert_eq!(format!("{jar:?}"), r#"["session"]"#);
}

proptest! {
    #[test]
    fn any_bytes_are_a_cookie_or_none(
        set in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..20),
                prop::sample::select(&[
                    "a=1", ";", "=", " Max-Age=", "Expires=", "Domain=", "Path=/", ".", "9", "app.example",
                ][..]).prop_map(|text| text.as_bytes().to_vec()),
            ],
            0..12,
        ),
    ) {
        let mut jar = Jar::default();
        let from = url("http://www.app.example/shop/");
        jar.set(&from, b"kept=1", NOW_S);
        jar.set(&from, &set.concat(), NOW_S);
        for to in ["http://www.app.example/shop/", "https://app.example/", "http://10.0.0.1/"] {
            let header = jar.header(&url(to), NOW_S).unwrap_or_default();
            prop_assert!(!header.chars().any(|letter| letter != '\t' && letter.is_ascii_control()));
        }
        let header = sent(&jar, "http://www.app.example/shop/");
        let was_named_kept = set.concat().windows(4).any(|part| part == b"kept");
        prop_assert!(header.contains("kept=1") || was_named_kept);
    }
}
