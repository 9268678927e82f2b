//! Answers as servers send them, right and wrong, to the driver as it is used: each has its own outcome, and
//! the next answer is its own.

use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::support::{Driver, Finished, phase};
use crate::web_plans::{request, scenario, transaction, users, web_plan};
use crate::web_server::{Act, Asked, WebServer, ok};

/// The outcome of a request that ended well.
const WELL: &str = "well";
/// Zeros of a member of gzip, members of a small answer that inflates to 1 GiB, and the limit of the scenario.
const MEMBER_BYTES: usize = 1 << 20;
const MEMBERS: usize = 1 << 10;
const MOST_INFLATED_BYTES: u64 = 1 << 20;
/// More than a driver of one user needs, and less than what it was not to inflate.
const FLAT_BYTES: u64 = 64 << 20;

/// After so many bytes an answer in pieces goes on as a whole: what can be cut wrongly lies before.
const IN_PIECES_BYTES: usize = 700;
/// Between two pieces, so that most of them arrive apart. Nothing depends on it.
const PIECE_PAUSE: Duration = Duration::from_micros(200);

/// A whole answer, and what must become of the request.
struct Case {
    name: &'static str,
    method: &'static str,
    answer: Vec<u8>,
    /// How the server ends the connection after it; `None`: it stays open.
    then: Option<Act>,
    status: u16,
    /// What the body must hold.
    text: &'static [&'static str],
    /// One of them is the outcome: `well`, or the class of the failure.
    outcomes: &'static [&'static str],
    /// Whether the next request comes on the same connection; `None`: either may be.
    reused: Option<bool>,
}

/// An answer with the body `hello`, after which the connection is used again.
fn hello(name: &'static str, answer: &[u8]) -> Case {
    Case {
        name,
        method: "GET",
        answer: answer.to_vec(),
        then: None,
        status: 200,
        text: &["hello"],
        outcomes: &[WELL],
        reused: Some(true),
    }
}

/// An answer without a body.
fn bare(name: &'static str, status: u16, answer: &[u8]) -> Case {
    Case {
        status,
        text: &[],
        ..hello(name, answer)
    }
}

/// An answer that costs the connection, whose request fails with `class`. The text would be found in what
/// came of it.
fn failing(name: &'static str, class: &'static [&'static str], answer: &[u8]) -> Case {
    Case {
        outcomes: class,
        reused: Some(false),
        ..hello(name, answer)
    }
}

/// A member of gzip.
fn packed(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).expect("memory");
    encoder.finish().expect("memory")
}

fn gzip(texts: &[&str]) -> Vec<u8> {
    let members = texts.iter().map(|text| packed(text.as_bytes()));
    members.flatten().collect()
}

/// What inflates to 1 GiB: a megabyte, as no packing of deflate is denser than 1 : 1032.
fn zeros() -> Vec<u8> {
    packed(&vec![0; MEMBER_BYTES]).repeat(MEMBERS)
}

/// The same in some kilobytes, packed a second time.
fn zeros_twice() -> Vec<u8> {
    let twice = packed(&zeros());
    assert!(twice.len() < 20_000, "{} bytes", twice.len());
    twice
}

fn encoded(encoding: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Interim answers shift all later ones (lalinsky/dusty#159, snoyberg/http-client#521, nginx#1241).
fn interim() -> Vec<Case> {
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n";
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let many = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1000);
    vec![
        hello("two-hints", format!("{hints}{ok}").as_bytes()),
        hello(
            "continue-unasked",
            format!("HTTP/1.1 100 Continue\r\n\r\n{ok}").as_bytes(),
        ),
        failing(
            "switching",
            &["unexpected_upgrade"],
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
        ),
        failing(
            "thousand-hints",
            &["too_many_interim"],
            format!("{many}{ok}").as_bytes(),
        ),
    ]
}

/// Answers that have no body, whatever their header says (llhttp#244, moonbitlang/async#615, hyper#1242,
/// httpcomponents-core#57, ziglang/zig#25254).
fn without_body() -> Vec<Case> {
    vec![
        Case {
            method: "HEAD",
            ..bare(
                "head",
                200,
                b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
            )
        },
        bare(
            "not-modified",
            304,
            b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n",
        ),
        bare("no-content", 204, b"HTTP/1.1 204 No Content\r\n\r\n"),
        Case {
            reused: Some(false),
            ..bare(
                "no-content-with-some",
                204,
                b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
            )
        },
        Case {
            reused: None,
            ..bare("reset-content", 205, b"HTTP/1.1 205 Reset Content\r\n\r\n")
        },
        Case {
            then: Some(Act::Close),
            reused: Some(false),
            ..hello("until-the-close", b"HTTP/1.1 200 OK\r\n\r\nhello")
        },
    ]
}

/// Chunks, lengths and headers (hyper#2171, hyper#228, h11#92, node#6517, boostorg/beast#1880, fasthttp#2294,
/// OISF/libhtp#73, httparse#68).
fn lengths_and_headers() -> Vec<Case> {
    let read_or_refused: &[&str] = &[WELL, "bad_header"];
    vec![
        hello(
            "chunk-extension",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
              5;a=b\r\nhello\r\n0\r\nX-T: 1\r\n\r\n",
        ),
        failing(
            "chunk-beyond",
            &["bad_chunk"],
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nhello",
        ),
        hello(
            "length-twice",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        ),
        failing(
            "two-lengths",
            &["bad_length"],
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        ),
        hello(
            "length-in-a-list",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
        ),
        Case {
            reused: Some(false),
            ..hello(
                "length-and-chunks",
                b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n\
                  5\r\nhello\r\n0\r\n\r\n",
            )
        },
        Case {
            outcomes: read_or_refused,
            reused: None,
            ..hello(
                "folded",
                b"HTTP/1.1 200 OK\r\nContent-Security-Policy: default-src 'self';\r\n \
                  img-src *\r\nContent-Length: 5\r\n\r\nhello",
            )
        },
        Case {
            outcomes: read_or_refused,
            reused: None,
            ..hello("line-feeds", b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello")
        },
        hello(
            "latin-1",
            b"HTTP/1.1 200 OK\r\nX-Name: caf\xe9\r\nContent-Length: 5\r\n\r\nhello",
        ),
        hello(
            "no-reason",
            b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
        ),
    ]
}

/// Half an answer is no success, a reset after the last byte no failure (raven#739, bazel#13918,
/// gravitee-api-management#20038, pydantic-ai#7159, curl#22156, bun#33708).
fn half_and_whole() -> Vec<Case> {
    let half: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello";
    let whole = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello{:95}",
        ""
    );
    let members = gzip(&["hel", "lo"]);
    let cut = gzip(&["hello"]);
    vec![
        Case {
            then: Some(Act::Close),
            ..failing("half", &["short_body"], half)
        },
        Case {
            then: Some(Act::Reset),
            ..failing("half-reset", &["short_body"], half)
        },
        Case {
            then: Some(Act::Reset),
            reused: Some(false),
            ..hello("whole-reset", whole.as_bytes())
        },
        Case {
            then: Some(Act::Close),
            ..failing(
                "chunks-without-an-end",
                &["short_body"],
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            )
        },
        hello("two-members", &encoded("gzip", &members)),
        failing(
            "no-trailer",
            &["bad_encoding"],
            &encoded("gzip", &cut[..cut.len() - 8]),
        ),
        failing(
            "inflates",
            &["inflated_too_large"],
            &encoded("gzip", &zeros()),
        ),
        failing(
            "inflates-twice",
            &["bad_encoding"],
            &encoded("gzip, gzip", &zeros_twice()),
        ),
        failing(
            "brotli-unasked",
            &["bad_encoding"],
            &encoded("br", b"hello"),
        ),
    ]
}

fn cases() -> Vec<Case> {
    [
        interim(),
        without_body(),
        lengths_and_headers(),
        half_and_whole(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn next(name: &str) -> String {
    format!("after-{name}")
}

/// How a server sends the answer of a case: in pieces of so many bytes, or all at once.
fn acts(case: &Case, piece: Option<usize>) -> Vec<Act> {
    let cut = piece.map_or(0, |_| case.answer.len().min(IN_PIECES_BYTES));
    let (first, rest) = case.answer.split_at(cut);
    let pieces = first.chunks(piece.unwrap_or(1));
    pieces
        .flat_map(|piece| [Act::Send(piece.into()), Act::Pause(PIECE_PAUSE)])
        .chain([Act::Send(rest.into())])
        .chain(case.then.clone())
        .collect()
}

/// Answers the path of a case with its bytes, and any other with a body that names its request.
fn server(cases: &[Case], piece: Option<usize>) -> WebServer {
    let answers: HashMap<String, Vec<Act>> = cases
        .iter()
        .map(|case| (format!("/{}", case.name), acts(case, piece)))
        .collect();
    WebServer::start(move |asked| match answers.get(asked.path()) {
        Some(acts) => acts.clone(),
        None => ok(&format!("request {} is {}.", asked.number, asked.path())),
    })
}

/// One user makes the request of each case and after it another one.
fn play(cases: &[Case], server: &WebServer) -> Finished {
    let mut transactions = Vec::new();
    for case in cases {
        let asked = request(
            case.method,
            &format!("/{}", case.name),
            case.status,
            case.text,
        );
        let name = next(case.name);
        let own = format!("is /{name}.");
        transactions.push(transaction(case.name, asked));
        transactions.push(transaction(
            &name,
            request("GET", &format!("/{name}"), 200, &[&own]),
        ));
    }
    let count = transactions.len();
    let mut scenario = scenario(transactions);
    scenario["limits"]["inflated_bytes"] = json!(MOST_INFLATED_BYTES);
    let mut phase = phase("m", "measure", Value::Null, users(1));
    phase["iterations"] = json!(count);
    Driver::start(&web_plan(&server.url(""), scenario, json!([phase]))).finish()
}

/// How the only execution of an operation ended.
fn outcome(total: &Value) -> &str {
    if total["count"] == 1 {
        return WELL;
    }
    let errors = total["errors"].as_object().expect("errors");
    errors.keys().next().map_or("never", String::as_str)
}

fn check(case: &Case, end: &Value, asked: &[Asked]) {
    let Case { name, reused, .. } = case;
    let (own, after) = (&end["operations"][*name], &end["operations"][next(name)]);
    let found = outcome(own);
    assert!(case.outcomes.contains(&found), "{name}: {own}");
    let told = &own["requests"]["answer"];
    match found {
        WELL => assert_eq!(told["count"], 1, "{name}: {told}"),
        class => assert_eq!(told["errors"][class], 1, "{name}: {told}"),
    }
    assert_eq!(outcome(after), WELL, "the answer after {name}: {after}");
    let connection = |path: String| {
        let found = asked.iter().find(|asked| asked.path() == path);
        found.expect("a request").connection
    };
    if let Some(reused) = reused {
        let same = connection(format!("/{name}")) == connection(format!("/{}", next(name)));
        assert_eq!(
            same, *reused,
            "{name}: whether the connection is used again"
        );
    }
}

fn every_case(piece: Option<usize>) {
    let cases = cases();
    let server = server(&cases, piece);
    let run = play(&cases, &server);
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let end = run.frames.last().expect("an end");
    let asked = server.asked();
    for case in &cases {
        check(case, end, &asked);
    }
    let most = end["max_rss_bytes"].as_u64().expect("bytes");
    assert!(most < FLAT_BYTES, "{most} bytes are resident");
}

#[test]
fn every_answer_has_its_own_outcome() {
    every_case(None);
}

#[test]
fn every_answer_in_pieces_of_seven_bytes_has_the_same_outcome() {
    every_case(Some(7));
}
