//! Start of a session: who asks, the proof of it, the server's greeting.

use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;

use super::error::from_response;
use super::{Config, Error, Message, has_message, next_message};
use crate::socket::{Incoming, Socket};

const APPLICATION: &str = "loadstone-driver";

/// Kinds of an authentication request (`AUTH_REQ_*` in the server's `protocol.h`).
const AUTH_OK: u32 = 0;
const AUTH_CLEARTEXT: u32 = 3;
const AUTH_MD5: u32 = 5;
const AUTH_SASL: u32 = 10;
const AUTH_SASL_CONTINUE: u32 = 11;
const AUTH_SASL_FINAL: u32 = 12;

/// Logs in and reads up to the first `ReadyForQuery`.
///
/// # Errors
/// The server's refusal, or a protocol error for a method that is not known here.
pub async fn log_in(
    socket: &mut Socket,
    incoming: &mut Incoming,
    write: &mut BytesMut,
    config: &Config,
) -> Result<(), Error> {
    let fixed = [
        ("user", config.user.as_str()),
        ("database", config.database.as_str()),
        ("client_encoding", "UTF8"),
        ("application_name", APPLICATION),
    ];
    let settings = config
        .opening
        .iter()
        .map(|(name, value)| (*name, value.as_str()));
    frontend::startup_message(fixed.into_iter().chain(settings), write)?;
    let mut scram = None;
    loop {
        if !write.is_empty() {
            socket.write_all(write).await?;
            write.clear();
        }
        while !has_message(incoming) {
            socket.fill(incoming).await?;
        }
        let Some(message) = next_message(incoming)? else {
            continue;
        };
        match message.tag {
            b'R' => authenticate(message, &mut scram, write, config)?,
            b'E' => return Err(explain_tls(from_response(message.body))),
            b'S' | b'K' | b'N' => {}
            b'Z' => return Ok(()),
            other => return Err(unexpected(other)),
        }
    }
}

/// Answers one authentication request.
fn authenticate(
    message: Message<'_>,
    scram: &mut Option<ScramSha256>,
    write: &mut BytesMut,
    config: &Config,
) -> Result<(), Error> {
    let (kind, rest) = message
        .body
        .split_first_chunk::<4>()
        .ok_or_else(|| Error::protocol("an authentication request is too short"))?;
    match u32::from_be_bytes(*kind) {
        AUTH_OK => {}
        AUTH_CLEARTEXT => frontend::password_message(password(config)?, write)?,
        AUTH_MD5 => {
            let salt = rest
                .try_into()
                .map_err(|_| Error::protocol("the salt is not 4 bytes"))?;
            let hash = md5_hash(config.user.as_bytes(), password(config)?, salt);
            frontend::password_message(hash.as_bytes(), write)?;
        }
        AUTH_SASL => {
            if !rest
                .split(|byte| *byte == 0)
                .any(|name| name == SCRAM_SHA_256.as_bytes())
            {
                return Err(Error::protocol("the server offers no SCRAM-SHA-256"));
            }
            let exchange = ScramSha256::new(password(config)?, ChannelBinding::unsupported());
            frontend::sasl_initial_response(SCRAM_SHA_256, exchange.message(), write)?;
            *scram = Some(exchange);
        }
        AUTH_SASL_CONTINUE => {
            let exchange = scram.as_mut().ok_or_else(out_of_order)?;
            exchange
                .update(rest)
                .map_err(|error| Error::protocol(error.to_string()))?;
            frontend::sasl_response(exchange.message(), write)?;
        }
        AUTH_SASL_FINAL => {
            let mut exchange = scram.take().ok_or_else(out_of_order)?;
            exchange
                .finish(rest)
                .map_err(|error| Error::protocol(error.to_string()))?;
        }
        other => {
            return Err(Error::protocol(format!(
                "the server asks for authentication method {other}; known are trust, password, md5 and SCRAM-SHA-256"
            )));
        }
    }
    Ok(())
}

fn password(config: &Config) -> Result<&[u8], Error> {
    config
        .password
        .as_deref()
        .map(str::as_bytes)
        .ok_or_else(|| Error::Server {
            sqlstate: "28P01".into(),
            message: format!(
                "the server asks for a password of {}, and none was given",
                config.user
            ),
        })
}

fn out_of_order() -> Error {
    Error::protocol("the server continues a SCRAM exchange that was not begun")
}

fn unexpected(tag: u8) -> Error {
    Error::protocol(format!(
        "unexpected message {:?} at the start",
        char::from(tag)
    ))
}

/// A server that lets only encrypted sessions in says so in words of `pg_hba.conf`.
fn explain_tls(error: Error) -> Error {
    match error {
        Error::Server { sqlstate, message } if message.contains("no encryption") => Error::Server {
            sqlstate,
            message: format!("{message}; this server demands TLS, which the driver does not speak"),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn config() -> Config {
        Config {
            host: "h".into(),
            port: 1,
            user: "u".into(),
            database: "d".into(),
            password: Some("p".into()),
            connect_timeout_ns: 1,
            opening: Vec::new(),
        }
    }

    #[test]
    fn a_password_that_is_missing_is_named() {
        let config = Config {
            password: None,
            ..config()
        };
        let message = Message {
            tag: b'R',
            body: &[0, 0, 0, 3],
        };
        let error = authenticate(message, &mut None, &mut BytesMut::new(), &config).unwrap_err();
        assert_eq!(error.sqlstate(), Some("28P01"));
    }

    proptest! {
        #[test]
        fn any_request_is_answered_or_refused(
            kind in 0_u32..14,
            rest in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let mut body = kind.to_be_bytes().to_vec();
            body.extend(rest);
            let mut scram = Some(ScramSha256::new(b"p", ChannelBinding::unsupported()));
            let message = Message { tag: b'R', body: &body };
            let _ = authenticate(message, &mut scram, &mut BytesMut::new(), &config());
        }
    }
}
