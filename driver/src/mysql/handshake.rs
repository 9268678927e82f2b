//! The server's greeting (`Protocol::HandshakeV10`) and what both sides can do.

use super::Error;
use super::wire::Fields;

/// Abilities that are asked for (`CLIENT_*` in the server's `mysql_com.h`). `CLIENT_MYSQL` (bit 0) is left
/// out: without it the last four reserved bytes of the greeting and of its answer carry MariaDB's own.
pub mod capability {
    /// MySQL's servers set it, MariaDB's do not.
    pub const MYSQL: u64 = 1;
    /// UPDATE counts the rows that it found, also those that it left as they were.
    pub const FOUND_ROWS: u64 = 1 << 1;
    /// The answer names a database.
    pub const CONNECT_WITH_DB: u64 = 1 << 3;
    /// LOAD DATA LOCAL
    pub const LOCAL_FILES: u64 = 1 << 7;
    /// The protocol since 4.1.
    pub const PROTOCOL_41: u64 = 1 << 9;
    /// The server knows transactions.
    pub const TRANSACTIONS: u64 = 1 << 13;
    /// Log-in by a scramble of 20 bytes.
    pub const SECURE_CONNECTION: u64 = 1 << 15;
    /// Several results of one command (CALL).
    pub const MULTI_RESULTS: u64 = 1 << 17;
    /// The same for prepared statements.
    pub const PS_MULTI_RESULTS: u64 = 1 << 18;
    /// Methods of log-in have names.
    pub const PLUGIN_AUTH: u64 = 1 << 19;
    /// The proof of a log-in has a length-encoded length.
    pub const PLUGIN_AUTH_LENENC: u64 = 1 << 21;
    /// Rows end with an OK packet, and nothing ends the descriptions of columns.
    pub const DEPRECATE_EOF: u64 = 1 << 24;
    /// MariaDB: one execution with many sets of parameters.
    pub const BULK: u64 = 1 << 34;
    /// MariaDB: columns are described again only when they changed.
    pub const CACHE_METADATA: u64 = 1 << 36;

    /// Without these there is no conversation.
    pub const NEEDED: u64 = PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH | DEPRECATE_EOF;
    /// All that this client uses.
    pub const KNOWN: u64 = NEEDED
        | FOUND_ROWS
        | LOCAL_FILES
        | TRANSACTIONS
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | PLUGIN_AUTH_LENENC
        | BULK
        | CACHE_METADATA;
}

const VERSION_10: u8 = 10;
const SCRAMBLE_BYTES: usize = 20;

/// What the server says first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// Version of the server.
    pub version: String,
    /// What it can do.
    pub capabilities: u64,
    /// What the proof of the log-in is made with.
    pub scramble: Vec<u8>,
}

impl Greeting {
    /// Reads the server's first packet.
    ///
    /// # Errors
    /// The server's refusal (too many connections, a blocked host), or a protocol error.
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        match body.first() {
            Some(&VERSION_10) => {}
            Some(0xff) => return Err(Error::from_packet(body)),
            other => {
                return Err(Error::protocol(format!(
                    "the server greets with {other:?} instead of protocol version 10: this is neither \
                     MariaDB nor MySQL"
                )));
            }
        }
        let mut fields = Fields::new(&body[1..]);
        let version = String::from_utf8_lossy(fields.until_zero()).into_owned();
        fields.u32()?;
        let mut scramble = fields.fixed::<8>()?.to_vec();
        fields.fixed::<1>()?;
        let lower = fields.u16()?;
        fields.fixed::<3>()?;
        let upper = fields.u16()?;
        let [length] = fields.fixed()?;
        fields.fixed::<6>()?;
        let extended = fields.u32()?;
        let mut capabilities = u64::from(lower) | u64::from(upper) << 16;
        if capabilities & capability::MYSQL == 0 {
            capabilities |= u64::from(extended) << 32;
        }
        let rest = usize::from(length).saturating_sub(8).max(13);
        scramble.extend_from_slice(fields.take(rest)?);
        scramble.truncate(SCRAMBLE_BYTES);
        let greeting = Self {
            version,
            capabilities,
            scramble,
        };
        greeting.check()?;
        Ok(greeting)
    }

    fn check(&self) -> Result<(), Error> {
        let missing = capability::NEEDED & !self.capabilities;
        if missing == 0 {
            return Ok(());
        }
        Err(Error::protocol(format!(
            "the server {} lacks abilities {missing:#x} of the protocol; MariaDB 10.2 and MySQL 5.7.5 have them",
            self.version
        )))
    }

    /// What both sides can do.
    pub fn common(&self) -> u64 {
        self.capabilities & capability::KNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn greeting(capabilities: u64) -> Vec<u8> {
        let [a, b, c, d, e, f, g, h] = capabilities.to_le_bytes();
        let mut body = b"\x0a5.5.5-10.11.19-MariaDB\0\x01\0\0\0abcdefgh\0".to_vec();
        body.extend([a, b, 45, 2, 0, c, d, 21, 0, 0, 0, 0, 0, 0, e, f, g, h]);
        body.extend(b"ijklmnopqrst\0mysql_native_password\0");
        body
    }

    #[test]
    fn reads_the_scramble_and_the_abilities() {
        let read = Greeting::parse(&greeting(capability::KNOWN)).unwrap();
        assert_eq!(read.scramble, b"abcdefghijklmnopqrst");
        assert_eq!(read.common(), capability::KNOWN);
        assert_eq!(read.version, "5.5.5-10.11.19-MariaDB");
    }

    #[test]
    fn abilities_of_mariadb_are_not_read_from_mysql() {
        let read = Greeting::parse(&greeting(capability::KNOWN | capability::MYSQL)).unwrap();
        assert_eq!(read.common() >> 32, 0);
    }

    #[test]
    fn an_old_server_and_a_refusal_are_told() {
        let old = Greeting::parse(&greeting(capability::PROTOCOL_41)).unwrap_err();
        assert!(old.to_string().contains("MariaDB 10.2"), "{old}");
        let full = Greeting::parse(b"\xff\x10\x04Too many connections").unwrap_err();
        assert_eq!(full.number(), Some(1040));
        let other = Greeting::parse(b"SSH-2.0").unwrap_err();
        assert!(other.to_string().contains("neither"), "{other}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(mut body in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = Greeting::parse(&body);
            body.insert(0, VERSION_10);
            let _ = Greeting::parse(&body);
        }
    }
}
