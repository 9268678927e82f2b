//! Amounts as text.

/// Whole numbers of so many digits are exact as f64.
const EXACT_DIGITS: usize = 15;

/// Whether `text` stands for an amount that is not there; Essbase reads it in any case.
#[inline]
pub fn is_missing(text: &[u8]) -> bool {
    text.first() == Some(&b'#')
        && (text.eq_ignore_ascii_case(b"#mi") || text.eq_ignore_ascii_case(b"#missing"))
}

/// A finite number; none if `text` is not one.
#[inline]
pub fn amount(text: &[u8]) -> Option<f64> {
    whole(text).or_else(|| general(text))
}

/// Most amounts are whole numbers, which need no general parser.
#[inline]
fn whole(text: &[u8]) -> Option<f64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || digits.len() > EXACT_DIGITS {
        return None;
    }
    let mut number = 0_u64;
    for letter in digits {
        let digit = letter.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    let number = number as f64;
    Some(if digits.len() < text.len() {
        -number
    } else {
        number
    })
}

fn general(text: &[u8]) -> Option<f64> {
    let number = std::str::from_utf8(text).ok()?.parse::<f64>().ok()?;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_a_finite_number_is_none() {
        for text in [
            "",
            "-",
            "n/a",
            "#Missing",
            "1.234.5",
            "12O",
            "NaN",
            "inf",
            "-infinity",
            "1e400",
            " 5",
            "1_000",
            "0x10",
        ] {
            assert_eq!(amount(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(amount(b"\xff"), None);
    }

    #[test]
    fn a_negative_zero_stays_one() {
        assert!(amount(b"-0").expect("a number").is_sign_negative());
        assert!(amount(b"0").expect("a number").is_sign_positive());
    }

    proptest! {
        #[test]
        fn whole_numbers_are_exact(number in any::<i64>()) {
            prop_assert_eq!(amount(number.to_string().as_bytes()), Some(number as f64));
        }

        #[test]
        fn numbers_are_read_back(number in proptest::num::f64::NORMAL) {
            prop_assert_eq!(amount(number.to_string().as_bytes()), Some(number));
            prop_assert_eq!(amount(format!("{number:e}").as_bytes()), Some(number));
        }
    }
}
