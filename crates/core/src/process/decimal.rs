//! Exact decimals for shares and minutes: `33.3 + 33.3 + 33.4` is 100, to the last digit.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;
use std::str::FromStr;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;

const PLACES: usize = 9;
const ONE: i128 = 1_000_000_000;

/// A decimal number with up to nine places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal {
    billionths: i128,
}

/// Why a text is not such a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotADecimal {
    #[error("not a plain decimal number")]
    Form,
    #[error("more than nine places after the point, or too large")]
    Size,
}

impl Decimal {
    pub const ZERO: Decimal = Decimal { billionths: 0 };

    pub const fn whole(number: i64) -> Decimal {
        Decimal { billionths: number as i128 * ONE }
    }

    /// For measurements and display, never for comparisons between decimals.
    pub fn to_f64(self) -> f64 {
        self.billionths as f64 / ONE as f64
    }

    /// This many thousandths, rounded towards zero: a number of seconds as milliseconds.
    pub fn thousandths(self) -> i64 {
        i64::try_from(self.billionths / (ONE / 1000)).unwrap_or(if self.billionths < 0 {
            i64::MIN
        } else {
            i64::MAX
        })
    }
}

impl Serialize for Decimal {
    /// As text, so that no digit is lost.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for Decimal {
    type Err = NotADecimal;

    fn from_str(text: &str) -> Result<Decimal, NotADecimal> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
            return Err(NotADecimal::Form);
        }
        let fraction = fraction.trim_end_matches('0');
        if whole.len() > 18 || fraction.len() > PLACES {
            return Err(NotADecimal::Size);
        }
        let number = format!("{whole}{fraction:0<PLACES$}").parse::<i128>().map_err(|_| NotADecimal::Size)?;
        Ok(Decimal { billionths: if negative { -number } else { number } })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.billionths < 0 { "-" } else { "" };
        let all = self.billionths.unsigned_abs();
        let (whole, rest) = (all / ONE.unsigned_abs(), all % ONE.unsigned_abs());
        let fraction = format!("{rest:0PLACES$}");
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{sign}{whole}"),
            fraction => write!(f, "{sign}{whole}.{fraction}"),
        }
    }
}

impl Add for Decimal {
    type Output = Decimal;

    fn add(self, other: Decimal) -> Decimal {
        Decimal { billionths: self.billionths.saturating_add(other.billionths) }
    }
}

impl Sum for Decimal {
    fn sum<I: Iterator<Item = Decimal>>(all: I) -> Decimal {
        all.fold(Decimal::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn e_01_thirds_add_up_exactly() {
        assert_eq!(decimal("33.3") + decimal("33.3") + decimal("33.4"), Decimal::whole(100));
        assert_eq!((decimal("0.1") + decimal("0.2")).to_string(), "0.3");
        assert_eq!(decimal("39.9").to_string(), "39.9");
        assert_eq!(decimal("-50").to_string(), "-50");
        assert_eq!(decimal("70.50"), decimal("70.5"));
        assert_eq!(decimal("1.5").thousandths(), 1500);
    }

    #[test]
    fn what_is_not_exact_is_refused() {
        for text in ["", ".", "-", "1e3", "1.2.3", "ten", "1,5", "0x10"] {
            assert_eq!(text.parse::<Decimal>(), Err(NotADecimal::Form), "{text}");
        }
        assert_eq!("0.1234567891".parse::<Decimal>(), Err(NotADecimal::Size));
        assert_eq!("1".repeat(40).parse::<Decimal>(), Err(NotADecimal::Size));
    }

    proptest! {
        #[test]
        fn text_round_trips(whole in -1_000_000_i64..1_000_000, thousandths in 0_u32..1000) {
            let text = format!("{whole}.{thousandths:03}");
            let number = decimal(&text);
            prop_assert_eq!(decimal(&number.to_string()), number);
        }
    }
}
