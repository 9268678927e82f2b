//! CSV files of one cell a line; consecutive lines of one key make a row.

use std::collections::HashSet;
use std::io::{self, Read, Write};

use csv::{ByteRecord, Position, ReaderBuilder, Terminator};

use super::amount::{amount, is_missing};
use super::encode::{Encoder, Key, Row};
use super::names::{DIMENSIONS, Members, Names, PERIODS};
use super::rejects::Rejects;
use super::{CHUNK_BYTES, Counts, Error, shown};

/// What ends the last line even of a file that does not end with it.
const END: &[u8] = b"\n";

/// Encodes all lines of a file.
///
/// # Errors
/// [`Error::Line`] for a wrong header, and for a quoted field that goes on over the end of its
/// line; [`Error::File`] and [`Error::Output`] if something cannot be read or written.
pub fn read<R: Read, W: Write>(
    path: &str,
    data: R,
    names: &Names,
    mut rejects: Option<&mut Rejects>,
    encoder: &mut Encoder<W>,
) -> Result<Counts, Error> {
    // Carriage returns are cut off below: taken for ends of lines, they would be counted too late.
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .terminator(Terminator::Any(b'\n'))
        .buffer_capacity(CHUNK_BYTES)
        .from_reader(data.chain(END));
    let unreadable = |error: csv::Error| Error::file(path, io::Error::from(error));
    let mut record = ByteRecord::new();
    reader.read_byte_record(&mut record).map_err(unreadable)?;
    let mut columns =
        Columns::of_header(&record, names).map_err(|reason| Error::line(path, 1, reason))?;
    let mut counts = Counts::default();
    let mut row: Option<Row> = None;
    while reader.read_byte_record(&mut record).map_err(unreadable)? {
        if is_blank(&record) {
            continue;
        }
        counts.lines += 1;
        let cell = match columns.cell(&record) {
            Ok(cell) => cell,
            Err(wrong) => {
                if record.as_slice().contains(&b'\n') {
                    let line = record.position().map_or(1, Position::line);
                    return Err(Error::line(path, line, "a quote is not closed"));
                }
                counts.rejected += 1;
                if let Some(rejects) = &mut rejects {
                    // The reader stands at the beginning of the next line.
                    let line = reader.position().line() - 1;
                    rejects.add(line, wrong.field, &wrong.text(&record))?;
                }
                continue;
            }
        };
        if let Some(amount) = cell.amount {
            counts.cells += 1;
            counts.sum += amount;
        }
        match &mut row {
            Some(row) if row.key == cell.key => row.amounts[cell.period] = cell.amount,
            _ => {
                let mut begun = Row::empty(cell.key);
                begun.amounts[cell.period] = cell.amount;
                if let Some(done) = row.replace(begun) {
                    encoder.add(&done)?;
                }
            }
        }
    }
    if let Some(last) = &row {
        encoder.add(last)?;
    }
    Ok(counts)
}

/// Field number `at`, without the carriage return of the end of the line.
#[inline]
fn field(record: &ByteRecord, at: usize) -> &[u8] {
    let text = &record[at];
    if at + 1 == record.len() {
        text.strip_suffix(b"\r").unwrap_or(text)
    } else {
        text
    }
}

fn is_blank(record: &ByteRecord) -> bool {
    record.len() == 1 && field(record, 0).is_empty()
}

/// A cell that was taken.
struct Cell {
    key: Key,
    period: usize,
    /// None: it is missing.
    amount: Option<f64>,
}

/// Why a line is not taken.
struct Wrong {
    /// Name of the first wrong column; empty if their number is wrong.
    field: &'static str,
    at: Option<usize>,
}

impl Wrong {
    /// What stands in the wrong column, or in all of them.
    fn text(&self, record: &ByteRecord) -> Vec<u8> {
        let all = || -> Vec<_> { (0..record.len()).map(|at| field(record, at)).collect() };
        self.at
            .map_or_else(|| all().join(&b','), |at| field(record, at).to_vec())
    }
}

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Column {
    Member(usize),
    Period,
    Data,
}

impl Column {
    fn all() -> impl Iterator<Item = Self> {
        let members = (0..DIMENSIONS.len()).map(Self::Member);
        members.chain([Self::Period, Self::Data])
    }

    fn name(self) -> &'static str {
        match self {
            Self::Member(dimension) => DIMENSIONS[dimension],
            Self::Period => "Period",
            Self::Data => "Data",
        }
    }
}

/// The columns of a file, in their order there.
struct Columns<'n> {
    order: Vec<Column>,
    members: [Remembered<'n>; DIMENSIONS.len()],
    periods: InTurn<'n>,
}

impl<'n> Columns<'n> {
    fn of_header(header: &ByteRecord, names: &'n Names) -> Result<Self, String> {
        let column = |at| {
            let text = field(header, at);
            Column::all()
                .find(|column| column.name().as_bytes() == text)
                .ok_or_else(|| format!("the header names {}, which is no column", shown(text)))
        };
        let order = (0..header.len())
            .map(column)
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(missing) = Column::all().find(|column| !order.contains(column)) {
            return Err(format!("the header has no column {}", missing.name()));
        }
        let mut known = HashSet::new();
        if let Some(again) = order.iter().find(|column| !known.insert(**column)) {
            return Err(format!("the header has {} twice", again.name()));
        }
        Ok(Self {
            order,
            members: names.members.each_ref().map(Remembered::of),
            periods: InTurn {
                names: &names.periods,
                next: 0,
            },
        })
    }

    #[inline]
    fn cell(&mut self, record: &ByteRecord) -> Result<Cell, Wrong> {
        if record.len() != self.order.len() {
            return Err(Wrong {
                field: "",
                at: None,
            });
        }
        let mut cell = Cell {
            key: Key::default(),
            period: 0,
            amount: None,
        };
        for (at, &column) in self.order.iter().enumerate() {
            let text = field(record, at);
            let found = match column {
                Column::Member(dimension) => self.members[dimension]
                    .find(text)
                    .map(|number| cell.key[dimension] = number),
                Column::Period => self.periods.find(text).map(|place| cell.period = place),
                Column::Data if is_missing(text) => Some(()),
                Column::Data => amount(text).map(|amount| cell.amount = Some(amount)),
            };
            found.ok_or(Wrong {
                field: column.name(),
                at: Some(at),
            })?;
        }
        Ok(cell)
    }
}

/// Members of a dimension; most lines name the same one as the line before.
struct Remembered<'n> {
    members: &'n Members,
    last: Option<(&'n [u8], i16)>,
}

impl<'n> Remembered<'n> {
    fn of(members: &'n Members) -> Self {
        Self {
            members,
            last: None,
        }
    }

    #[inline]
    fn find(&mut self, text: &[u8]) -> Option<i16> {
        match self.last {
            Some((name, number)) if name == text => Some(number),
            _ => {
                let (name, &number) = self.members.get_key_value(text)?;
                self.last = Some((name, number));
                Some(number)
            }
        }
    }
}

/// Periods; most lines name the one after that of the line before.
struct InTurn<'n> {
    names: &'n [Box<[u8]>; PERIODS],
    next: usize,
}

impl InTurn<'_> {
    #[inline]
    fn find(&mut self, text: &[u8]) -> Option<usize> {
        let is_next = *self.names[self.next] == *text;
        let place = if is_next {
            self.next
        } else {
            self.names.iter().position(|name| **name == *text)?
        };
        self.next = (place + 1) % PERIODS;
        Some(place)
    }
}
