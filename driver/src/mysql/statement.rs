//! Prepared statements and how their execution is written.

use super::wire::{begin_packet, end_packet};
use super::{Error, Param};

const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const BULK_EXECUTE: u8 = 0xfa;
/// `STMT_BULK_FLAG_CLIENT_SEND_TYPES`
const BULK_WITH_TYPES: u16 = 128;
/// What a NULL is announced as when no value of that parameter was sent yet.
const UNKNOWN_KIND: u8 = super::param::kind::VAR_STRING;

/// A statement with its place among those that are prepared together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// Position in the list given to [`super::Connection::prepare`].
    pub slot: usize,
    /// Its name in messages.
    pub name: &'static str,
    /// Its text.
    pub sql: &'static str,
}

/// What a session knows of a prepared statement.
#[derive(Debug)]
pub(super) struct Prepared {
    pub id: u32,
    pub params: usize,
    /// Types of the parameters as they were announced last; empty before the first execution.
    kinds: Vec<u8>,
    /// The same for bulk execution, which announces its own.
    bulk_kinds: Vec<u8>,
    /// Types of the columns, as they were described last.
    pub columns: Vec<u8>,
}

impl Prepared {
    pub fn new(id: u32, params: usize) -> Self {
        Self {
            id,
            params,
            kinds: Vec::new(),
            bulk_kinds: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// Writes one execution. Types go with it when they are not those of the last one.
    #[inline]
    pub fn execute(&mut self, params: &[Param<'_>], buf: &mut Vec<u8>) -> Result<(), Error> {
        self.check(params)?;
        let start = begin_packet(buf, 0);
        buf.push(EXECUTE);
        buf.extend_from_slice(&self.id.to_le_bytes());
        // No cursor, one execution.
        buf.extend_from_slice(&[0, 1, 0, 0, 0]);
        if !params.is_empty() {
            put_nulls(params, buf);
            let announce = update_kinds(&mut self.kinds, params);
            buf.push(u8::from(announce));
            if announce {
                put_kinds(&self.kinds, buf);
            }
            for param in params {
                param.encode(buf);
            }
        }
        end_packet(buf, start)
    }

    /// Writes an execution for each of the rows, all of which have the same types.
    pub fn execute_bulk<'p, const N: usize>(
        &mut self,
        rows: impl IntoIterator<Item = [Param<'p>; N]>,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut rows = rows.into_iter().peekable();
        let first = rows
            .peek()
            .ok_or_else(|| Error::protocol("an execution of no rows"))?;
        self.check(first)?;
        let announce = update_kinds(&mut self.bulk_kinds, first);
        let start = begin_packet(buf, 0);
        buf.push(BULK_EXECUTE);
        buf.extend_from_slice(&self.id.to_le_bytes());
        let flags = if announce { BULK_WITH_TYPES } else { 0 };
        buf.extend_from_slice(&flags.to_le_bytes());
        if announce {
            put_kinds(&self.bulk_kinds, buf);
        }
        for row in rows {
            for (param, known) in row.iter().zip(&self.bulk_kinds) {
                if param.kind().is_some_and(|kind| kind != *known) {
                    return Err(Error::protocol("rows of a bulk differ in their types"));
                }
                buf.push(u8::from(param.kind().is_none()));
                param.encode(buf);
            }
        }
        end_packet(buf, start)
    }

    fn check(&self, params: &[Param<'_>]) -> Result<(), Error> {
        if params.len() == self.params {
            return Ok(());
        }
        Err(Error::protocol(format!(
            "{} parameters for a statement of {}",
            params.len(),
            self.params
        )))
    }
}

/// Writes the command that prepares `sql`.
pub(super) fn put_prepare(sql: &str, buf: &mut Vec<u8>) -> Result<(), Error> {
    let start = begin_packet(buf, 0);
    buf.push(PREPARE);
    buf.extend_from_slice(sql.as_bytes());
    end_packet(buf, start)
}

/// One bit a parameter: whether it is NULL.
#[inline]
fn put_nulls(params: &[Param<'_>], buf: &mut Vec<u8>) {
    for eight in params.chunks(8) {
        let bits = eight.iter().enumerate().fold(0, |bits, (at, param)| {
            bits | u8::from(param.kind().is_none()) << at
        });
        buf.push(bits);
    }
}

/// Notes the types of `params`; returns whether they are others than before.
#[inline]
fn update_kinds(kinds: &mut Vec<u8>, params: &[Param<'_>]) -> bool {
    let mut changed = kinds.len() != params.len();
    kinds.resize(params.len(), UNKNOWN_KIND);
    for (known, param) in kinds.iter_mut().zip(params) {
        if let Some(kind) = param.kind()
            && kind != *known
        {
            *known = kind;
            changed = true;
        }
    }
    changed
}

/// The types, each with its flags (none: integers are signed).
fn put_kinds(kinds: &[u8], buf: &mut Vec<u8>) {
    for kind in kinds {
        buf.extend_from_slice(&[*kind, 0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(prepared: &mut Prepared, params: &[Param<'_>]) -> Vec<u8> {
        let mut buf = Vec::new();
        prepared.execute(params, &mut buf).unwrap();
        buf
    }

    #[test]
    fn types_are_announced_once() {
        let mut prepared = Prepared::new(7, 1);
        let first = written(&mut prepared, &[Param::Int4(1)]);
        assert_eq!(
            first,
            [
                18, 0, 0, 0, 0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 0, 1, 0, 0, 0
            ]
        );
        let second = written(&mut prepared, &[Param::Int4(2)]);
        assert_eq!(
            second,
            [
                16, 0, 0, 0, 0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0
            ]
        );
        let null = written(&mut prepared, &[Param::Null]);
        assert_eq!(null[14..], [1, 0], "a NULL changes no type");
        let other = written(&mut prepared, &[Param::Int2(3)]);
        assert_eq!(other[14..], [0, 1, 2, 0, 3, 0], "another type is announced");
    }

    #[test]
    fn bulk_rows_follow_each_other() {
        let mut prepared = Prepared::new(1, 2);
        let mut buf = Vec::new();
        let rows = [
            [Param::Int2(1), Param::Int2(3)],
            [Param::Int2(2), Param::Null],
        ];
        prepared.execute_bulk(rows, &mut buf).unwrap();
        assert_eq!(buf[4..11], [0xfa, 1, 0, 0, 0, 128, 0]);
        assert_eq!(buf[11..], [2, 0, 2, 0, 0, 1, 0, 0, 3, 0, 0, 2, 0, 1]);
        let mixed = [
            [Param::Int2(1), Param::Int2(3)],
            [Param::Int2(1), Param::Int4(3)],
        ];
        assert!(prepared.execute_bulk(mixed, &mut buf).is_err());
    }

    #[test]
    fn a_wrong_number_of_parameters_is_refused() {
        let mut prepared = Prepared::new(1, 2);
        assert!(prepared.execute(&[Param::Null], &mut Vec::new()).is_err());
    }
}
