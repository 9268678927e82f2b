//! Lengths, chunks and packed bodies: whole, cut and beyond their limits.

use super::*;

const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";

/// An answer with these header lines and these chunks.
fn in_chunks(lines: &str, chunks: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{lines}{CHUNKED}\r\n");
    [head.as_bytes(), chunks].concat()
}

/// An answer with these header lines and `hello` after them.
fn hello(lines: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{lines}\r\nhello")
}

#[test]
fn chunks_with_extensions_and_trailers_are_read() {
    for chunks in [
        "5;a=b\r\nhello\r\n0\r\nX-T: 1\r\n\r\n",
        "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        "5\nhello\n0\n\n",
    ] {
        assert_whole(in_chunks("", chunks.as_bytes()), b"hello", true);
    }
    let answer = each(GET, in_chunks("", b"0\r\nX-T: 1\r\n\r\n")).expect("an answer");
    assert_eq!(answer.headers.get("x-t"), None, "trailers are no headers");
}

#[test]
fn chunks_that_make_no_sense_are_refused() {
    for chunks in [
        "FFFFFFFFFFFFFFFFF\r\n",
        "\r\n",
        "g\r\n",
        "5\r\nhelloX",
        "5\r\nhello\r\n-1\r\n",
    ] {
        assert_refused(GET, in_chunks("", chunks.as_bytes()), Class::BadChunk);
    }
}

#[test]
fn equal_lengths_are_taken_and_different_ones_refused() {
    assert_whole(
        hello("Content-Length: 5\r\nContent-Length: 5\r\n"),
        b"hello",
        true,
    );
    assert_whole(hello("Content-Length: 5, 5\r\n"), b"hello", true);
    for lines in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: five\r\n",
        "Content-Length: -5\r\n",
        "Content-Length: 99999999999999999999\r\n",
    ] {
        assert_refused(GET, hello(lines), Class::BadLength);
    }
}

#[test]
fn a_length_and_chunks_are_chunks_and_cost_the_connection() {
    let chunks = b"5\r\nhello\r\n0\r\n\r\n";
    assert_whole(in_chunks("Content-Length: 3\r\n", chunks), b"hello", false);
    assert_whole(in_chunks("Content-Length: x\r\n", chunks), b"hello", false);
}

#[test]
fn other_transfer_encodings_are_refused() {
    for coding in ["gzip, chunked", "gzip", "chunked, chunked"] {
        let lines = format!("Transfer-Encoding: {coding}\r\n");
        assert_refused(GET, hello(&lines), Class::BadEncoding);
    }
}

#[test]
fn half_a_body_is_no_success() {
    for way in [GET, RESET] {
        assert_refused(way, hello("Content-Length: 100\r\n"), Class::ShortBody);
        for chunks in [
            "",
            "5",
            "5\r\nhel",
            "5\r\nhello\r\n",
            "5\r\nhello\r\n0\r\n",
            "0\r\nX: 1\r\n",
        ] {
            assert_refused(way, in_chunks("", chunks.as_bytes()), Class::ShortBody);
        }
        // Packed and cut: the connection tells it first.
        let packed = gzip(b"hello, hello");
        let mut cut = with_body("Content-Encoding: gzip\r\n", &packed);
        cut.truncate(cut.len() - 1);
        assert_refused(way, cut, Class::ShortBody);
    }
    let mut reader = AnswerReader::new(false, &LIMITS);
    reader
        .feed(hello("Content-Length: 100\r\n").as_bytes())
        .expect("a part");
    let fault = reader.ended(StreamEnd::Closed).expect_err("a part");
    let words = "the connection ended after 5 of the 100 bytes of the body";
    assert_eq!(fault.message, words);
}

#[test]
fn a_reset_after_the_last_byte_is_no_failure() {
    let body = vec![b'x'; 100];
    for bytes in [
        with_body("", &body),
        in_chunks(
            "",
            format!("64\r\n{}\r\n0\r\n\r\n", "x".repeat(100)).as_bytes(),
        ),
        with_body("Content-Encoding: gzip\r\n", &gzip(&body)),
    ] {
        assert_read(RESET, &bytes, (200, &body, true), bytes.len());
    }
}

#[test]
fn a_packed_body_is_read_to_its_end() {
    let lines = "Content-Encoding: gzip\r\n";
    let members = [gzip(b"first, "), gzip(b"second")].concat();
    assert_whole(with_body(lines, &members), b"first, second", true);
    let until_close = [b"HTTP/1.1 200 OK\r\n", lines.as_bytes(), b"\r\n", &members].concat();
    assert_whole(until_close, b"first, second", false);
    let (one, two) = members.split_at(9);
    let chunks = [
        format!("{:x}\r\n", one.len()).as_bytes(),
        one,
        format!("\r\n{:X}\r\n", two.len()).as_bytes(),
        two,
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    assert_whole(in_chunks(lines, &chunks), b"first, second", true);
    assert_whole(with_body(lines, b""), b"", true);
}

#[test]
fn a_packed_body_without_its_trailer_is_refused() {
    let lines = "Content-Encoding: gzip\r\n";
    let packed = gzip(b"hello, hello");
    let cut = &packed[..packed.len() - 8];
    assert_refused(GET, with_body(lines, cut), Class::BadEncoding);
    let until_close = [b"HTTP/1.1 200 OK\r\n", lines.as_bytes(), b"\r\n", cut].concat();
    assert_refused(GET, until_close, Class::BadEncoding);
}

#[test]
fn codings_that_were_not_asked_for_are_refused() {
    for coding in ["br", "zstd", "compress", "gzip, br"] {
        let lines = format!("Content-Encoding: {coding}\r\n");
        assert_refused(GET, with_body(&lines, b"hello"), Class::BadEncoding);
        assert_whole(with_body(&lines, b""), b"", true);
    }
}

#[test]
fn bodies_have_limits() {
    let limits = Limits {
        body_bytes: 5,
        ..LIMITS
    };
    let way = Way { limits, ..GET };
    let whole = hello("Content-Length: 5\r\n");
    assert_read(way, &whole, (200, b"hello", true), whole.len());
    assert_refused(way, with_body("", b"hello!"), Class::BodyTooLarge);
    assert_refused(
        way,
        in_chunks("", b"6\r\nhello!\r\n0\r\n\r\n"),
        Class::BodyTooLarge,
    );
    assert_refused(
        way,
        hello("").replace("hello", "hello!"),
        Class::BodyTooLarge,
    );
    // It is refused by its length, before the body comes.
    let announced = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", u64::MAX);
    assert_refused(way, announced, Class::BodyTooLarge);
}

#[test]
fn a_small_body_that_becomes_large_is_refused() {
    let limits = Limits {
        inflated_bytes: 100_000,
        ..LIMITS
    };
    let way = Way { limits, ..GET };
    let bomb = with_body("Content-Encoding: gzip\r\n", &gzip(&vec![0; 1 << 20]));
    assert!(bomb.len() < 3000);
    assert_refused(way, bomb, Class::InflatedTooLarge);
}
