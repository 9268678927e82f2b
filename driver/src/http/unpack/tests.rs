use std::io::Write;

use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use flate2::{Compression, GzBuilder};
use proptest::prelude::*;

use super::*;

const LIMITS: Limits = Limits {
    header_bytes: 1024,
    body_bytes: 1 << 20,
    inflated_bytes: 1 << 20,
    interim: 0,
};

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("memory");
    encoder.finish().expect("memory")
}

fn zlib(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("memory");
    encoder.finish().expect("memory")
}

fn raw_deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("memory");
    encoder.finish().expect("memory")
}

fn headers(coding: &str) -> Headers {
    Headers::of(&[httparse::Header {
        name: "Content-Encoding",
        value: coding.as_bytes(),
    }])
}

fn unpacked(coding: &str, bytes: &[u8], piece: usize) -> Result<Vec<u8>, Class> {
    let mut body = Body::new(&LIMITS);
    let class = |fault: Fault| fault.class;
    body.begin(&headers(coding), None).map_err(class)?;
    for part in bytes.chunks(piece) {
        body.add(part).map_err(class)?;
    }
    body.end().map_err(class)?;
    assert_eq!(body.received(), bytes.len() as u64);
    Ok(body.into_content())
}

/// What comes of it whole, in single bytes and in pieces of seven.
fn each(coding: &str, bytes: &[u8]) -> Result<Vec<u8>, Class> {
    let whole = unpacked(coding, bytes, bytes.len().max(1));
    for piece in [1, 7] {
        assert_eq!(unpacked(coding, bytes, piece), whole, "{coding} by {piece}");
    }
    whole
}

/// Text that is neither all alike nor random.
fn text() -> Vec<u8> {
    let lines = (0..3_000_u32).map(|number| format!("{number}: {}\n", number.wrapping_mul(7919)));
    lines.collect::<String>().into_bytes()
}

#[test]
fn each_coding_is_unpacked() {
    let text = text();
    for (coding, bytes) in [
        ("identity", text.clone()),
        ("", text.clone()),
        ("gzip", gzip(&text)),
        ("X-GZip", gzip(&text)),
        ("identity, gzip", gzip(&text)),
        ("deflate", zlib(&text)),
        ("deflate", raw_deflate(&text)),
    ] {
        assert_eq!(each(coding, &bytes).as_ref(), Ok(&text), "{coding}");
    }
}

#[test]
fn members_of_gzip_follow_each_other() {
    let members = [gzip(b"first, "), gzip(b""), gzip(b"second")].concat();
    assert_eq!(each("gzip", &members), Ok(b"first, second".to_vec()));
    let filled = [&members[..], &[0; 9]].concat();
    assert_eq!(each("gzip", &filled), Ok(b"first, second".to_vec()));
    let stray = [&members[..], b"stray"].concat();
    assert_eq!(each("gzip", &stray), Err(Class::BadEncoding));
    let second_cut = &members[..members.len() - 1];
    assert_eq!(each("gzip", second_cut), Err(Class::BadEncoding));
}

#[test]
fn all_parts_of_a_header_are_passed_over() {
    let builder = GzBuilder::new()
        .filename("name")
        .comment("a comment")
        .extra(&b"extra"[..]);
    let mut encoder = builder.write(Vec::new(), Compression::fast());
    encoder.write_all(b"hello").expect("memory");
    let with_all = encoder.finish().expect("memory");
    assert_eq!(each("gzip", &with_all), Ok(b"hello".to_vec()));

    // With a sum of the header: two bytes more, which are passed over.
    let mut with_sum = gzip(b"hello");
    with_sum[3] |= 1 << 1;
    with_sum.splice(10..10, [1, 2]);
    assert_eq!(each("gzip", &with_sum), Ok(b"hello".to_vec()));
}

#[test]
fn what_is_cut_anywhere_is_refused() {
    for (coding, bytes) in [
        ("gzip", gzip(b"hello, hello, hello")),
        ("deflate", zlib(b"hello, hello, hello")),
        ("deflate", raw_deflate(b"hello, hello, hello")),
    ] {
        for end in 1..bytes.len() {
            let cut = each(coding, &bytes[..end]);
            assert_eq!(cut, Err(Class::BadEncoding), "{coding} to {end}");
        }
        assert_eq!(each(coding, b""), Ok(Vec::new()));
        let more = [&bytes[..], b"more"].concat();
        assert_eq!(each(coding, &more), Err(Class::BadEncoding));
    }
}

#[test]
fn what_is_corrupt_is_refused() {
    let right = gzip(b"hello");
    let last = right.len() - 1;
    // Magic, method, reserved flag, sum and length.
    for (at, value) in [
        (0, 0),
        (1, 0),
        (2, 7),
        (3, 0x20),
        (last - 4, 0xaa),
        (last, 1),
    ] {
        let mut bytes = right.clone();
        bytes[at] = value;
        assert_eq!(each("gzip", &bytes), Err(Class::BadEncoding), "{at}");
    }
    let mut bytes = zlib(b"hello");
    *bytes.last_mut().expect("a byte") ^= 1;
    assert_eq!(each("deflate", &bytes), Err(Class::BadEncoding));
    assert_eq!(each("gzip", b"hello"), Err(Class::BadEncoding));
    assert_eq!(
        each("deflate", b"\xff\xff\xff\xff"),
        Err(Class::BadEncoding)
    );
}

#[test]
fn what_was_not_asked_for_is_refused_by_name() {
    for (coding, name) in [
        ("br", "br (Brotli)"),
        ("ZSTD", "zstd"),
        ("gzip, gzip", "several codings"),
        ("s3cret", "an unknown coding"),
    ] {
        assert_eq!(
            each(coding, b"\x0b\x02\x80hello\x03"),
            Err(Class::BadEncoding)
        );
        assert_eq!(each(coding, b""), Ok(Vec::new()));
        let mut body = Body::new(&LIMITS);
        body.begin(&headers(coding), None).expect("no body yet");
        let fault = body.add(b"x").unwrap_err();
        assert!(fault.message.contains(name), "{fault}");
    }
}

#[test]
fn a_small_body_that_becomes_large_ends_at_the_limit_with_flat_memory() {
    let bomb = gzip(&vec![0; 16 << 20]);
    assert!(bomb.len() < 50_000);
    let deflate_bomb = zlib(&vec![0; 16 << 20]);
    for (coding, bytes) in [("gzip", bomb), ("deflate", deflate_bomb)] {
        for piece in [bytes.len(), 7] {
            let mut body = Body::new(&LIMITS);
            body.begin(&headers(coding), None).expect("no limit yet");
            let fault = bytes.chunks(piece).find_map(|part| body.add(part).err());
            assert_eq!(
                fault.map(|fault| fault.class),
                Some(Class::InflatedTooLarge)
            );
            let most = LIMITS.inflated_bytes as usize + 1;
            assert!(
                body.content.capacity() <= most,
                "{}",
                body.content.capacity()
            );
        }
    }
}

#[test]
fn the_limits_are_exact() {
    let limit = LIMITS.inflated_bytes as usize;
    let (within, beyond) = (vec![7; limit], vec![7; limit + 1]);
    assert_eq!(each("gzip", &gzip(&within)), Ok(within.clone()));
    assert_eq!(each("gzip", &gzip(&beyond)), Err(Class::InflatedTooLarge));
    let whole = |bytes: &[u8]| unpacked("identity", bytes, 65_536);
    assert_eq!(whole(&within), Ok(within.clone()));
    assert_eq!(whole(&beyond), Err(Class::BodyTooLarge));
}

#[test]
fn a_length_beyond_the_limit_is_refused_at_once_and_reserves_little() {
    let mut body = Body::new(&LIMITS);
    let fault = body.begin(&headers("gzip"), Some(LIMITS.body_bytes + 1));
    assert_eq!(fault.unwrap_err().class, Class::BodyTooLarge);
    body.begin(&headers(""), Some(LIMITS.body_bytes))
        .expect("within");
    assert!(body.content.capacity() as u64 <= MOST_TOLD_BYTES);
}

proptest! {
    #[test]
    fn what_was_packed_comes_back(
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..4),
        piece in 1_usize..400,
    ) {
        let content = parts.concat();
        let members: Vec<u8> = parts.iter().flat_map(|part| gzip(part)).collect();
        let (packed, raw) = (zlib(&content), raw_deflate(&content));
        for (coding, bytes) in [("gzip", members), ("deflate", packed), ("deflate", raw)] {
            prop_assert_eq!(unpacked(coding, &bytes, piece), Ok(content.clone()));
        }
    }

    #[test]
    fn any_bytes_are_unpacked_or_refused(
        coding in prop::sample::select(&["gzip", "deflate"][..]),
        packed in prop::collection::vec(any::<u8>(), 0..200),
        piece in 1_usize..50,
    ) {
        let magic = [&[0x1f, 0x8b, 8][..], &packed].concat();
        for bytes in [&packed, &magic] {
            let whole = unpacked(coding, bytes, bytes.len().max(1));
            prop_assert_eq!(unpacked(coding, bytes, piece), whole);
        }
    }
}
