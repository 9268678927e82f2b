//! Native files, as an Essbase server exports and loads them.
//!
//! Line 1 names the periods, which are the columns. A line of sparse members is the point of view of
//! the lines below it; each of these has an account and an amount a column. Columns at the end of a line
//! that have none are missing.

use std::io::{BufRead, BufReader, Read, Write};

use super::amount::{amount, is_missing};
use super::encode::{Encoder, Key, Row};
use super::names::{ACCOUNT, DIMENSIONS, Names};
use super::{CHUNK_BYTES, Counts, Error, shown};

/// UTF-8's, which editors write before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Encodes all lines with amounts of a file, each is a row.
///
/// # Errors
/// [`Error::Line`] for the first line that is wrong; [`Error::File`] and [`Error::Output`] if
/// something cannot be read or written.
pub fn read<R: Read, W: Write>(
    path: &str,
    data: R,
    names: &Names,
    encoder: &mut Encoder<W>,
) -> Result<Counts, Error> {
    let mut reader = BufReader::with_capacity(CHUNK_BYTES, data);
    let mut line = Vec::new();
    let mut number = 0;
    let mut counts = Counts::default();
    let mut block: Option<Block> = None;
    while next_line(&mut reader, &mut line).map_err(|error| Error::file(path, error))? {
        number += 1;
        if number == 1 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        let wrong = |reason| Error::line(path, number, reason);
        let Some(block) = &mut block else {
            block = Some(Block::of_header(&line, names).map_err(wrong)?);
            continue;
        };
        if let Some(row) = block.take(&line).map_err(wrong)? {
            counts.lines += 1;
            for amount in row.amounts.iter().flatten() {
                counts.cells += 1;
                counts.sum += amount;
            }
            encoder.add(&row)?;
        }
    }
    if block.is_none() {
        return Err(Error::line(path, 1, "the file is empty: no periods"));
    }
    Ok(counts)
}

/// Reads a line without its end; false if there is none.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    if reader.read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    let end = line.trim_ascii_end().len();
    line.truncate(end);
    Ok(true)
}

/// Where the lines below belong.
struct Block<'n> {
    names: &'n Names,
    /// Place of each column's period in a row.
    columns: Vec<usize>,
    /// The point of view, without an account; none before the first.
    view: Option<Key>,
}

impl<'n> Block<'n> {
    fn of_header(line: &[u8], names: &'n Names) -> Result<Self, String> {
        let (mut rest, mut columns) = (line, Vec::new());
        while let Some(name) = member(&mut rest)? {
            let mut periods = names.periods.iter();
            let place = periods.position(|period| **period == *name);
            let place = place.ok_or_else(|| format!("{} is no period", shown(name)))?;
            if columns.contains(&place) {
                return Err(format!("{} is there twice", shown(name)));
            }
            columns.push(place);
        }
        if columns.is_empty() {
            return Err("there are no periods".into());
        }
        Ok(Self {
            names,
            columns,
            view: None,
        })
    }

    /// The row of a line with amounts; other lines have none.
    fn take(&mut self, line: &[u8]) -> Result<Option<Row>, String> {
        let mut rest = line;
        let Some(first) = member(&mut rest)? else {
            return Ok(None);
        };
        if rest.is_empty() || rest.starts_with(b"\"") {
            self.view = Some(self.point_of_view(line)?);
            return Ok(None);
        }
        let account = self.names.members[ACCOUNT].get(first);
        let account = account.ok_or_else(|| format!("{} is no account", shown(first)))?;
        let mut row = Row::empty(self.view.ok_or("no point of view stands before it")?);
        row.key[ACCOUNT] = *account;
        self.fill(&mut row, rest)?;
        Ok(Some(row))
    }

    fn fill(&self, row: &mut Row, mut rest: &[u8]) -> Result<(), String> {
        for &place in &self.columns {
            let text = word(&mut rest);
            if text.is_empty() {
                break;
            }
            if !is_missing(text) {
                let amount = amount(text).ok_or_else(|| format!("{} is no number", shown(text)))?;
                row.amounts[place] = Some(amount);
            }
        }
        if rest.is_empty() {
            Ok(())
        } else {
            let many = self.columns.len();
            Err(format!(
                "it has more amounts than columns, which are {many}"
            ))
        }
    }

    fn point_of_view(&self, line: &[u8]) -> Result<Key, String> {
        let mut found = [None; ACCOUNT];
        let mut rest = line;
        while let Some(name) = member(&mut rest)? {
            let (dimension, number) = self.sparse(name)?;
            if found[dimension].replace(number).is_some() {
                return Err(format!("it has two members of {}", DIMENSIONS[dimension]));
            }
        }
        let mut key = Key::default();
        for (dimension, number) in found.into_iter().enumerate() {
            key[dimension] = number.ok_or_else(|| {
                let lacking = DIMENSIONS[dimension];
                format!("the point of view has no member of {lacking}")
            })?;
        }
        Ok(key)
    }

    /// Dimension and number of a sparse member.
    fn sparse(&self, name: &[u8]) -> Result<(usize, i16), String> {
        let sparse = self.names.members[..ACCOUNT].iter().enumerate();
        let mut found =
            sparse.filter_map(|(dimension, members)| Some((dimension, *members.get(name)?)));
        let first = found.next();
        let first = first.ok_or_else(|| format!("{} is no sparse member", shown(name)))?;
        match found.next() {
            None => Ok(first),
            Some((second, _)) => Err(format!(
                "{} is a member of {} and of {}",
                shown(name),
                DIMENSIONS[first.0],
                DIMENSIONS[second]
            )),
        }
    }
}

/// Takes a quoted member and the blanks behind it off; none at the end.
fn member<'l>(rest: &mut &'l [u8]) -> Result<Option<&'l [u8]>, String> {
    let text = rest.trim_ascii_start();
    if text.is_empty() {
        return Ok(None);
    }
    let Some(name) = text.strip_prefix(b"\"") else {
        let found = shown(word(&mut &*text));
        return Err(format!("{found} stands where a quoted member should"));
    };
    let end = name.iter().position(|letter| *letter == b'"');
    let end = end.ok_or("a quote is not closed")?;
    *rest = name[end + 1..].trim_ascii_start();
    Ok(Some(&name[..end]))
}

/// Takes what stands before the next blank off, and the blanks behind it; empty at the end.
fn word<'l>(rest: &mut &'l [u8]) -> &'l [u8] {
    let end = rest.iter().position(u8::is_ascii_whitespace);
    let (text, behind) = rest.split_at(end.unwrap_or(rest.len()));
    *rest = behind.trim_ascii_start();
    text
}
