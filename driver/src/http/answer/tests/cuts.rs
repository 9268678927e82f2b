//! Any bytes, however they are cut, give what they give as a whole. `LOADSTONE_TEST_FUZZ` is the number of
//! changed answers that are tried.

use proptest::prelude::*;

use super::*;
use crate::random::Random;

const ROUNDS: u32 = 20_000;
/// Small ones, so that they are met. What such small bodies can become is below that of the unpacked form:
/// whether that limit or corrupt data is met first depends on how far the unpacking looks ahead.
const SMALL: Limits = Limits {
    header_bytes: 300,
    body_bytes: 600,
    inflated_bytes: 1 << 20,
    interim: 2,
};
/// Pieces that mean something somewhere in an answer.
const PIECES: [&[u8]; 14] = [
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"\xff",
    b"0\r\n\r\n",
    b"5\r\nhello\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Connection: close\r\n",
    b"\r\n folded",
];

fn below(random: &mut Random, count: usize) -> usize {
    (random.unit() * count as f64) as usize
}

fn seeds() -> Vec<Vec<u8>> {
    let text = "HTTP/1.1 200 OK\r\nDate: today\r\nContent-Length: 11\r\n\r\nhello world";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                   5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nX-T: 1\r\n\r\n";
    let interim = format!("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n{text}");
    let packed = gzip(b"hello, hello, hello world");
    let members = [gzip(b"first "), gzip(b"second")].concat();
    let (one, two) = members.split_at(members.len() / 2);
    let packed_chunks = [
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
        format!("{:x}\r\n", one.len()).as_bytes(),
        one,
        format!("\r\n{:x}\r\n", two.len()).as_bytes(),
        two,
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    vec![
        text.into(),
        chunked.into(),
        interim.into(),
        packed_chunks,
        with_body("Content-Encoding: gzip\r\n", &packed),
        b"HTTP/1.0 302 Found\nLocation: /\nSet-Cookie: a=1\n\nuntil the end".into(),
        b"HTTP/1.1 204 No Content\r\n\r\n".into(),
        b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 5, 5\r\n\r\nhello".into(),
    ]
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = below(random, bytes.len() + 1);
    match below(random, 5) {
        0 => bytes.truncate(at),
        1 => {
            let piece = PIECES[below(random, PIECES.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
        2 => {
            let end = bytes.len().min(at + 1 + below(random, 8));
            bytes.drain(at.min(end)..end);
        }
        3 => {
            let end = bytes.len().min(at + below(random, 40));
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = (random.unit() * 256.0) as u8;
            }
        }
    }
}

#[test]
fn changed_answers_are_read_alike_however_they_are_cut() {
    let told = std::env::var("LOADSTONE_TEST_FUZZ").ok();
    let rounds = told.and_then(|told| told.parse().ok()).unwrap_or(ROUNDS);
    let (seeds, mut random) = (seeds(), Random::new(7, 0));
    let mut read_well = 0;
    for round in 0..rounds {
        let mut bytes = seeds[below(&mut random, seeds.len())].clone();
        for _ in 0..below(&mut random, 4) {
            change(&mut bytes, &mut random);
        }
        let way = Way {
            head_request: below(&mut random, 10) == 0,
            limits: SMALL,
            end: [StreamEnd::Closed, StreamEnd::Reset][below(&mut random, 2)],
        };
        let whole = read(way, &bytes, usize::MAX);
        let most = 1 + below(&mut random, 20);
        let cut = read_by(way, &bytes, || 1 + below(&mut random, most));
        assert_eq!(cut, whole, "round {round}: {bytes:?}");
        assert_eq!(read(way, &bytes, 1), whole, "round {round}: {bytes:?}");
        read_well += u32::from(whole.is_ok());
    }
    // Neither all nor none: the changes are of use.
    assert!(
        rounds < 100 || (read_well > rounds / 20 && read_well < rounds),
        "{read_well}"
    );
}

fn any_answer() -> impl Strategy<Value = Vec<u8>> {
    let starts: &[&[u8]] = &[
        b"",
        b"HTTP/1.1 ",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n",
    ];
    let piece = prop_oneof![
        prop::sample::select(&PIECES[..]).prop_map(<[u8]>::to_vec),
        prop::collection::vec(any::<u8>(), 0..10),
    ];
    let rest = prop::collection::vec(piece, 0..20);
    let start = prop::sample::select(starts);
    (start, rest).prop_map(|(start, rest)| [start, &rest.concat()].concat())
}

proptest! {
    #[test]
    fn any_bytes_are_read_alike_however_they_are_cut(
        bytes in any_answer(),
        cuts in prop::collection::vec(1_usize..30, 1..10),
        head_request: bool,
        is_reset: bool,
    ) {
        let end = if is_reset { StreamEnd::Reset } else { StreamEnd::Closed };
        let way = Way { head_request, limits: SMALL, end };
        let whole = read(way, &bytes, usize::MAX);
        let mut sizes = cuts.into_iter().cycle();
        let cut = read_by(way, &bytes, || sizes.next().unwrap_or(1));
        prop_assert_eq!(&cut, &whole);
        prop_assert_eq!(&read(way, &bytes, 1), &whole);
        if let Ok(answer) = whole {
            prop_assert!((200..=999).contains(&answer.status));
            prop_assert!(answer.wire_bytes <= bytes.len() as u64);
            prop_assert!(answer.body.len() as u64 <= SMALL.inflated_bytes);
        }
    }

    /// A valid answer is what went into it.
    #[test]
    fn what_was_sent_comes_back(
        status in 200_u16..600,
        fields in prop::collection::vec(("[A-Za-z][A-Za-z-]{0,9}", "[!-~]([ -~]{0,20}[!-~])?"), 0..8),
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..100), 0..6),
        form in 0_u8..4,
        piece in 1_usize..200,
    ) {
        prop_assume!(status != 204 && status != 205 && status != 304);
        let fields = fields.into_iter().map(|(name, value)| (format!("x-{name}"), value));
        let fields: Vec<(String, String)> = fields.collect();
        let lines: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let body = parts.concat();
        let head = format!("HTTP/1.1 {status} Whatever\r\n{lines}");
        let bytes = match form {
            0 => [format!("{head}Content-Length: {}\r\n\r\n", body.len()).as_bytes(), &body].concat(),
            1 => {
                let mut bytes = format!("{head}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
                for part in &parts {
                    bytes.extend_from_slice(format!("{:X};x\r\n", part.len()).as_bytes());
                    bytes.extend_from_slice(part);
                    bytes.extend_from_slice(b"\r\n");
                }
                bytes.extend_from_slice(b"0\r\n\r\n");
                bytes
            }
            2 => [format!("{head}\r\n").as_bytes(), &body].concat(),
            _ => {
                let packed = gzip(&body);
                let length = packed.len();
                let told = format!("{head}Content-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n");
                [told.as_bytes(), &packed].concat()
            }
        };
        let answer = read(GET, &bytes, piece).expect("an answer");
        prop_assert_eq!(answer.status, status);
        prop_assert_eq!(&answer.body, &body);
        prop_assert_eq!(answer.reusable, form != 2);
        prop_assert_eq!(answer.wire_bytes, bytes.len() as u64);
        for (number, (name, value)) in answer.headers.iter().take(fields.len()).enumerate() {
            prop_assert_eq!(name, fields[number].0.to_ascii_lowercase());
            prop_assert_eq!(value, fields[number].1.as_bytes());
        }
    }
}
