//! Answers byte by byte: each is fed whole, in single bytes and in pieces of seven.

mod bodies;
mod cuts;
mod heads;

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

const LIMITS: Limits = Limits {
    header_bytes: 65_536,
    body_bytes: 1 << 20,
    inflated_bytes: 1 << 20,
    interim: 100,
};

/// How an answer is read.
#[derive(Debug, Clone, Copy)]
struct Way {
    head_request: bool,
    limits: Limits,
    /// How the connection ends after the bytes.
    end: StreamEnd,
}

const GET: Way = Way {
    head_request: false,
    limits: LIMITS,
    end: StreamEnd::Closed,
};

const HEAD: Way = Way {
    head_request: true,
    ..GET
};

/// A connection that is reset at its end.
const RESET: Way = Way {
    end: StreamEnd::Reset,
    ..GET
};

/// The answer, or the class of what is wrong with it. `cut` gives the sizes of the pieces.
fn read_by(way: Way, bytes: &[u8], mut cut: impl FnMut() -> usize) -> Result<Answer, Class> {
    let mut reader = AnswerReader::new(way.head_request, &way.limits);
    assert!(!reader.has_begun());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(cut().clamp(1, rest.len()));
        let progress = reader.feed(piece).map_err(|fault| fault.class)?;
        assert!(reader.has_begun());
        if progress.done {
            break;
        }
        assert_eq!(progress.taken, piece.len());
        rest = after;
    }
    reader.ended(way.end).map_err(|fault| fault.class)?;
    Ok(reader.finish())
}

fn read(way: Way, bytes: &[u8], piece: usize) -> Result<Answer, Class> {
    read_by(way, bytes, || piece)
}

/// What comes of it, which must be the same however it is cut.
fn each(way: Way, bytes: impl AsRef<[u8]>) -> Result<Answer, Class> {
    let bytes = bytes.as_ref();
    let whole = read(way, bytes, usize::MAX);
    for piece in [1, 7] {
        assert_eq!(
            read(way, bytes, piece),
            whole,
            "by {piece}: {:?}",
            shown(bytes)
        );
    }
    whole
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(500)]).into_owned()
}

/// Status, body and whether the connection can be used again, of an answer that takes `taken` bytes.
#[track_caller]
fn assert_read(
    way: Way,
    bytes: impl AsRef<[u8]>,
    (status, body, reusable): (u16, &[u8], bool),
    taken: usize,
) {
    let bytes = bytes.as_ref();
    let answer = each(way, bytes).unwrap_or_else(|class| panic!("{class}: {:?}", shown(bytes)));
    let found = (answer.status, &answer.body[..], answer.reusable);
    assert_eq!(found, (status, body, reusable), "{:?}", shown(bytes));
    assert_eq!(answer.wire_bytes, taken as u64, "{:?}", shown(bytes));
}

/// As [`assert_read`] for a whole body of an answer that takes all bytes.
#[track_caller]
fn assert_whole(bytes: impl AsRef<[u8]>, body: &[u8], reusable: bool) {
    let taken = bytes.as_ref().len();
    assert_read(GET, bytes, (200, body, reusable), taken);
}

#[track_caller]
fn assert_refused(way: Way, bytes: impl AsRef<[u8]>, class: Class) {
    let bytes = bytes.as_ref();
    assert_eq!(each(way, bytes), Err(class), "{:?}", shown(bytes));
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("memory");
    encoder.finish().expect("memory")
}

/// An answer with these header lines, its length and this body.
fn with_body(lines: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\n{lines}Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

#[test]
fn an_answer_and_a_reader_show_no_secret() {
    let bytes = with_body("Set-Cookie: session=hidden\r\n", b"hidden");
    let answer = each(GET, &bytes).expect("an answer");
    let mut reader = AnswerReader::new(false, &LIMITS);
    reader.feed(&bytes[..30]).expect("a part");
    for text in [format!("{answer:?}"), format!("{reader:?}")] {
        assert!(!text.contains("hidden"), "{text}");
    }
}

#[test]
fn an_end_before_an_answer_has_the_class_of_the_end() {
    for (way, class) in [(GET, Class::Closed), (RESET, Class::Reset)] {
        for text in [
            "",
            "H",
            "HTTP/1.1 20",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nA: b\r\n",
        ] {
            assert_refused(way, text, class);
        }
        assert_refused(way, "HTTP/1.1 100 Continue\r\n\r\n", class);
    }
}

#[test]
fn an_end_before_the_first_byte_is_told_from_one_after_it() {
    let mut reader = AnswerReader::new(false, &LIMITS);
    let before = reader.ended(StreamEnd::Closed).expect_err("no answer");
    assert_eq!(
        before.message,
        "the server closed the connection before it answered"
    );
    assert!(!reader.has_begun());
    reader.feed(b"HTTP/1.1 20").expect("a part");
    assert!(reader.has_begun());
    let within = reader.ended(StreamEnd::Reset).expect_err("a part");
    assert_eq!(
        within.message,
        "the connection was reset within the header of its answer"
    );
}

#[test]
fn bytes_after_an_answer_stay_with_the_caller() {
    let first = with_body("", b"hello");
    let both = [&first[..], b"HTTP/1.1 404 Not Found\r\n"].concat();
    let mut reader = AnswerReader::new(false, &LIMITS);
    let expected = Progress {
        taken: first.len(),
        done: true,
    };
    assert_eq!(reader.feed(&both), Ok(expected));
    let nothing = Progress {
        taken: 0,
        done: true,
    };
    assert_eq!(reader.feed(&both[first.len()..]), Ok(nothing));
    assert_eq!(reader.finish().body, b"hello");
}
