//! Interim answers, answers without a body, and headers as real servers send them.

use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[test]
fn interim_answers_are_passed_over() {
    for before in [
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 102 Processing\n\n",
        "HTTP/1.1 199 Whatever\r\nContent-Length: 7\r\nTransfer-Encoding: gzip\r\n\r\n",
    ] {
        assert_whole(format!("{before}{OK}"), b"hello", true);
        let next = format!("{before}{OK}HTTP/1.1 404 Not Found\r\n");
        assert_read(GET, next, (200, b"hello", true), before.len() + OK.len());
    }
    let hinted = format!("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n{OK}");
    let answer = each(GET, hinted).expect("an answer");
    assert_eq!(answer.headers.get("link"), None, "of the last answer alone");
}

#[test]
fn interim_answers_have_a_limit() {
    let interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
    assert_whole(interim.repeat(100) + OK, b"hello", true);
    assert_refused(GET, interim.repeat(101) + OK, Class::TooManyInterim);
    assert_refused(GET, interim.repeat(1000) + OK, Class::TooManyInterim);
}

#[test]
fn another_protocol_is_an_error_of_its_own() {
    let upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
    assert_refused(GET, upgrade, Class::UnexpectedUpgrade);
    let late = format!("HTTP/1.1 100 Continue\r\n\r\n{upgrade}");
    assert_refused(GET, late, Class::UnexpectedUpgrade);
}

#[test]
fn a_body_that_is_only_announced_is_not_waited_for() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    assert_read(HEAD, head, (200, b"", true), head.len());
    let packed = "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_read(HEAD, packed, (200, b"", true), packed.len());
    let fresh = "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n";
    assert_read(GET, fresh, (304, b"", true), fresh.len());
    let nothing = "HTTP/1.1 204 No Content\r\n\r\n";
    assert_read(GET, nothing, (204, b"", true), nothing.len());
    let reset = "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n";
    assert_read(GET, reset, (205, b"", true), reset.len());
}

#[test]
fn a_body_that_must_not_be_is_stray_and_costs_the_connection() {
    for status in ["204 No Content", "205 Reset Content"] {
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\n");
        let code = head[9..12].parse().expect("a status");
        assert_read(GET, format!("{head}hello"), (code, b"", false), head.len());
        // Also while it is still on its way.
        assert_read(GET, &head, (code, b"", false), head.len());
    }
    let chunked = "HTTP/1.1 205 Reset Content\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_read(
        GET,
        format!("{chunked}0\r\n\r\n"),
        (205, b"", false),
        chunked.len(),
    );
}

#[test]
fn without_length_and_chunks_the_body_lasts_until_the_end() {
    assert_whole("HTTP/1.1 200 OK\r\n\r\nhello", b"hello", false);
    assert_whole(
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n",
        b"",
        false,
    );
    assert_whole("HTTP/1.0 200 OK\r\n\r\nhello", b"hello", false);
    let cut = "HTTP/1.1 200 OK\r\n\r\nhello";
    assert_refused(RESET, cut, Class::ShortBody);
}

#[test]
fn a_folded_value_is_one_line() {
    let lines =
        "Content-Security-Policy: default-src 'self';\r\n    img-src *;\r\n\tfont-src *\r\n";
    let answer = each(GET, with_body(lines, b"hello")).expect("an answer");
    let policy = answer.headers.get("content-security-policy");
    assert_eq!(
        policy,
        Some(&b"default-src 'self'; img-src *; font-src *"[..])
    );
    assert_eq!(answer.body, b"hello");
}

#[test]
fn heads_of_old_servers_are_read() {
    assert_whole(
        "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
        b"hello",
        true,
    );
    assert_whole(
        "HTTP/1.1 200 OK\nContent-Length: 5\n\r\nhello",
        b"hello",
        true,
    );
    assert_whole(
        "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
        b"hello",
        true,
    );
    assert_whole(
        "HTTP/1.1 200 \r\nContent-Length : 5\r\n\r\nhello",
        b"hello",
        true,
    );
    assert_whole(format!("\r\n{OK}"), b"hello", true);
    let latin = b"HTTP/1.1 200 Tr\xe8s bien\r\nX-Name: caf\xe9\r\nContent-Length: 5\r\n\r\nhello";
    let answer = each(GET, latin).expect("an answer");
    assert_eq!(answer.headers.get("x-name"), Some(&b"caf\xe9"[..]));
}

#[test]
fn a_connection_is_kept_as_the_server_says() {
    for (lines, reusable) in [
        ("HTTP/1.1 200 OK\r\nConnection: close\r\n", false),
        ("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n", true),
        ("HTTP/1.0 200 OK\r\n", false),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", true),
    ] {
        let text = format!("{lines}Content-Length: 5\r\n\r\nhello");
        assert_whole(text, b"hello", reusable);
    }
}

#[test]
fn what_is_no_head_is_refused_as_soon_as_it_is_seen() {
    for text in [
        "SSH-2.0-OpenSSH_9.6\r\n",
        "\x15\x03\x01\x00\x02\x02\x28",
        "<html>",
        "HTTP/2 200\r\n\r\n",
        "\r\n\r\nhello",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nNo colon here\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n",
    ] {
        assert_refused(GET, text, Class::BadHeader);
    }
}

#[test]
fn a_head_has_a_limit_and_so_has_what_is_kept_of_it() {
    let limits = Limits {
        header_bytes: 100,
        ..LIMITS
    };
    let way = Way { limits, ..GET };
    let filled = |count: usize| {
        let head = "HTTP/1.1 204 No Content\r\nX-Fill: \r\n\r\n";
        head.replace(
            "\r\n\r\n",
            &format!("{}\r\n\r\n", "x".repeat(count - head.len())),
        )
    };
    assert_read(way, filled(100), (204, b"", true), 100);
    assert_refused(way, filled(101), Class::HeaderTooLarge);
    assert_refused(way, "\r\n".repeat(60), Class::HeaderTooLarge);
    let endless = format!("HTTP/1.1 200 OK\r\n{}", "A: b\r\n".repeat(100_000));
    assert_refused(way, &endless, Class::HeaderTooLarge);

    let mut reader = AnswerReader::new(false, &limits);
    let fault = endless
        .as_bytes()
        .iter()
        .find_map(|byte| reader.feed(&[*byte]).err());
    assert!(fault.is_some());
    assert!(reader.head.capacity() <= 200, "{}", reader.head.capacity());
}

#[test]
fn interim_heads_have_the_limit_one_by_one() {
    let limits = Limits {
        header_bytes: 64,
        ..LIMITS
    };
    let interim = format!(
        "HTTP/1.1 103 Early Hints\r\nLink: {}\r\n\r\n",
        "a".repeat(20)
    );
    let bytes = interim.repeat(10) + OK;
    let way = Way { limits, ..GET };
    assert_read(way, &bytes, (200, b"hello", true), bytes.len());
}
