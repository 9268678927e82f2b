//! Log-in: the answer to the greeting, and what the server asks after it.

use sha1::{Digest, Sha1};

use super::handshake::{Greeting, capability};
use super::wire::{Fields, begin_packet, end_packet, next_packet, put_bytes};
use super::{Config, Error};
use crate::socket::{Incoming, Socket};

const NATIVE: &str = "mysql_native_password";
/// The server knows the account of the process at the other end of the socket; it needs no proof.
const UNIX_SOCKET: &str = "unix_socket";
const CLEARTEXT: &str = "mysql_clear_password";
/// `utf8mb4_general_ci`
const CHARACTER_SET: u8 = 45;
const MOST_PACKET_BYTES: u32 = 1 << 30;
/// `ER_ACCESS_DENIED_ERROR`
const ACCESS_DENIED: u16 = 1045;

/// Logs in; returns what both sides can do.
///
/// # Errors
/// The server's refusal, or a protocol error for a method that is not known here.
pub async fn log_in(
    socket: &mut Socket,
    incoming: &mut Incoming,
    config: &Config,
) -> Result<u64, Error> {
    let greeting = Greeting::parse(receive(socket, incoming).await?.1)?;
    let capabilities = greeting.common();
    let mut sequence = 1;
    let mut answer = Vec::new();
    respond(&greeting, config, &mut answer)?;
    loop {
        let mut packet = Vec::with_capacity(answer.len() + 4);
        let start = begin_packet(&mut packet, sequence);
        packet.extend_from_slice(&answer);
        end_packet(&mut packet, start)?;
        socket.write_all(&packet).await?;
        let (received, body) = receive(socket, incoming).await?;
        sequence = received.wrapping_add(1);
        match body.first() {
            Some(0x00) => return Ok(capabilities),
            Some(0xff) => return Err(explain(Error::from_packet(body), config)),
            Some(0xfe) => answer = switch(&body[1..], config)?,
            other => {
                return Err(Error::protocol(format!(
                    "unexpected packet {other:?} during log-in"
                )));
            }
        }
    }
}

/// The next packet with its sequence number.
async fn receive<'i>(
    socket: &mut Socket,
    incoming: &'i mut Incoming,
) -> Result<(u8, &'i [u8]), Error> {
    while super::wire::next_length(incoming.pending())?.is_none() {
        socket.fill(incoming).await?;
    }
    let sequence = incoming.pending()[3];
    let body = next_packet(incoming)?.ok_or_else(|| Error::protocol("a packet vanished"))?;
    Ok((sequence, body))
}

/// Writes the body of the answer to the greeting (`HandshakeResponse41`).
fn respond(greeting: &Greeting, config: &Config, buf: &mut Vec<u8>) -> Result<(), Error> {
    let mut capabilities = greeting.common();
    if !config.database.is_empty() {
        capabilities |= capability::CONNECT_WITH_DB;
    }
    let proof = native_proof(config.password.as_deref(), &greeting.scramble);
    buf.extend_from_slice(&(capabilities as u32).to_le_bytes());
    buf.extend_from_slice(&MOST_PACKET_BYTES.to_le_bytes());
    buf.push(CHARACTER_SET);
    buf.extend_from_slice(&[0; 19]);
    buf.extend_from_slice(&((capabilities >> 32) as u32).to_le_bytes());
    put_text(buf, "user", &config.user)?;
    // Below 251 bytes both forms of the length are one byte.
    put_bytes(buf, &proof);
    if !config.database.is_empty() {
        put_text(buf, "database", &config.database)?;
    }
    put_text(buf, "plugin", NATIVE)
}

fn put_text(buf: &mut Vec<u8>, field: &str, text: &str) -> Result<(), Error> {
    if text.contains('\0') {
        return Err(Error::protocol(format!("{field} {text:?} has a zero byte")));
    }
    buf.extend_from_slice(text.as_bytes());
    buf.push(0);
    Ok(())
}

/// Answers a request for another method: its name, a zero byte, its data.
fn switch(body: &[u8], config: &Config) -> Result<Vec<u8>, Error> {
    let mut fields = Fields::new(body);
    let plugin = String::from_utf8_lossy(fields.until_zero());
    let password = config.password.as_deref();
    match &*plugin {
        NATIVE => {
            let scramble = fields.rest();
            let scramble = scramble.strip_suffix(&[0]).unwrap_or(scramble);
            Ok(native_proof(password, scramble))
        }
        UNIX_SOCKET => Ok(Vec::new()),
        CLEARTEXT if config.is_local() => {
            Ok([password.unwrap_or_default().as_bytes(), b"\0"].concat())
        }
        other => Err(Error::Server {
            number: ACCESS_DENIED,
            sqlstate: "28000".into(),
            message: format!(
                "the account {} logs in by {}; the driver knows {NATIVE} and {UNIX_SOCKET}: give it an account \
                 of one of these (ALTER USER ... IDENTIFIED VIA mysql_native_password USING PASSWORD('...'))",
                config.user,
                if other.is_empty() {
                    "mysql_old_password"
                } else {
                    other
                },
            ),
        }),
    }
}

/// SHA1(password) xor SHA1(scramble, SHA1(SHA1(password))); nothing for no password (the server's `password.c`).
fn native_proof(password: Option<&str>, scramble: &[u8]) -> Vec<u8> {
    let Some(password) = password.filter(|password| !password.is_empty()) else {
        return Vec::new();
    };
    let once = Sha1::digest(password.as_bytes());
    let twice = Sha1::digest(once);
    let mask = Sha1::new()
        .chain_update(scramble)
        .chain_update(twice)
        .finalize();
    once.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// A refused password says so; that none was given is worth a word.
fn explain(error: Error, config: &Config) -> Error {
    match error {
        Error::Server {
            number: ACCESS_DENIED,
            sqlstate,
            message,
        } if config.password.is_none() => Error::Server {
            number: ACCESS_DENIED,
            sqlstate,
            message: format!("{message}; no password was given"),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn config(host: &str, password: Option<&str>) -> Config {
        Config {
            host: host.into(),
            port: 1,
            user: "u".into(),
            database: "d".into(),
            password: password.map(str::to_owned),
            connect_timeout_ns: 1,
            opening: Vec::new(),
        }
    }

    /// The server's side: the proof's mask undone must hash to the stored double hash.
    #[test]
    fn a_proof_convinces_a_server_that_knows_the_double_hash() {
        let scramble = b"abcdefghijklmnopqrst";
        let stored = Sha1::digest(Sha1::digest(b"secret"));
        let mask = Sha1::digest([&scramble[..], &stored[..]].concat());
        let proof = native_proof(Some("secret"), scramble);
        let once: Vec<u8> = proof.iter().zip(mask).map(|(a, b)| a ^ b).collect();
        assert_eq!(Sha1::digest(once), stored);
        assert!(native_proof(Some(""), scramble).is_empty());
    }

    #[test]
    fn a_method_that_is_not_known_is_named() {
        for plugin in ["client_ed25519", "caching_sha2_password", "dialog"] {
            let body = format!("{plugin}\0data");
            let error = switch(body.as_bytes(), &config("h", Some("p"))).unwrap_err();
            assert!(error.to_string().contains(plugin), "{error}");
            assert_eq!(error.sqlstate(), Some("28000"));
        }
    }

    #[test]
    fn a_password_goes_in_clear_only_through_a_local_socket() {
        let body = b"mysql_clear_password\0";
        assert!(switch(body, &config("10.0.0.1", Some("p"))).is_err());
        assert_eq!(switch(body, &config("/s", Some("p"))).unwrap(), b"p\0");
    }

    proptest! {
        #[test]
        fn any_request_is_answered_or_refused(body in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = switch(&body, &config("h", Some("p")));
        }
    }
}
