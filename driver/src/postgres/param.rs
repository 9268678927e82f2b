//! Parameters of prepared statements, in binary.

use std::error::Error as StdError;

use bytes::{BufMut, BytesMut};
use postgres_protocol::IsNull;
use postgres_protocol::types::{ArrayDimension, array_to_sql};

use super::decimal::decimal_to_sql;
use crate::decimal::Decimal;

const OID_INT2: u32 = 21;
const OID_INT4: u32 = 23;
const OID_BPCHAR: u32 = 1042;
const OID_NUMERIC: u32 = 1700;

/// A value for `$n`. The variant must be the type that the server inferred for it.
#[derive(Debug, Clone, Copy)]
pub enum Param<'a> {
    /// `smallint`
    Int2(i16),
    /// `integer`
    Int4(i32),
    /// NULL of any type
    Null,
    /// `text`, `varchar`, `char(n)`
    Text(&'a str),
    /// `numeric`
    Numeric(Decimal),
    /// `smallint[]`
    Int2Array(&'a [i16]),
    /// `integer[]`
    Int4Array(&'a [i32]),
    /// `char(n)[]`
    CharArray(&'a [[u8; 24]]),
    /// `numeric[]`
    NumericArray(&'a [Decimal]),
}

type Encoded = Result<IsNull, Box<dyn StdError + Sync + Send>>;

impl Param<'_> {
    /// Writes the value (without its length) and says whether it is NULL.
    pub(crate) fn encode(&self, buf: &mut BytesMut) -> Encoded {
        match *self {
            Self::Int2(value) => buf.put_i16(value),
            Self::Int4(value) => buf.put_i32(value),
            Self::Null => return Ok(IsNull::Yes),
            Self::Text(value) => buf.put_slice(value.as_bytes()),
            Self::Numeric(value) => value.encode(buf),
            Self::Int2Array(values) => array(OID_INT2, values, |v, buf| buf.put_i16(v), buf)?,
            Self::Int4Array(values) => array(OID_INT4, values, |v, buf| buf.put_i32(v), buf)?,
            Self::CharArray(values) => array(OID_BPCHAR, values, |v, buf| buf.put_slice(&v), buf)?,
            Self::NumericArray(values) => array(OID_NUMERIC, values, decimal_to_sql, buf)?,
        }
        Ok(IsNull::No)
    }
}

fn array<T: Copy>(
    element: u32,
    values: &[T],
    mut write: impl FnMut(T, &mut BytesMut),
    buf: &mut BytesMut,
) -> Result<(), Box<dyn StdError + Sync + Send>> {
    let dimension = ArrayDimension {
        len: i32::try_from(values.len())?,
        lower_bound: 1,
    };
    let serialize = |value: &T, buf: &mut BytesMut| {
        write(*value, buf);
        Ok(IsNull::No)
    };
    array_to_sql([dimension], element, values, serialize, buf)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fallible_iterator::FallibleIterator;
    use postgres_protocol::types::array_from_sql;

    #[test]
    fn an_array_is_read_by_the_protocol_crate() {
        let mut buf = BytesMut::new();
        assert!(matches!(
            Param::Int4Array(&[7, -1]).encode(&mut buf),
            Ok(IsNull::No)
        ));
        let array = array_from_sql(&buf).unwrap();
        assert_eq!((array.element_type(), array.has_nulls()), (OID_INT4, false));
        let values: Vec<_> = array
            .values()
            .map(|v| Ok(v.map(<[u8]>::to_vec)))
            .collect()
            .unwrap();
        assert_eq!(values, [Some(vec![0, 0, 0, 7]), Some(vec![255; 4])]);
    }

    #[test]
    fn null_writes_nothing() {
        let mut buf = BytesMut::new();
        assert!(matches!(Param::Null.encode(&mut buf), Ok(IsNull::Yes)));
        assert!(buf.is_empty());
    }
}
