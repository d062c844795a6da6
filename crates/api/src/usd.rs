//! Amounts of US dollars in fixed-point arithmetic.

use std::fmt;
use std::ops::AddAssign;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Exit code of `loopgate judges run` when its spending limit is reached.
pub const SPENDING_LIMIT_EXIT: u8 = 75;

const MICROS: f64 = 1e6;

/// A non-negative amount of US dollars, exact to a millionth.
///
/// Parsed from a decimal number such as `5` or `0.50`. Displayed with the format's precision, by default six
/// digits after the decimal point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Usd {
    micros: u64,
}

/// Error for a text or number that is not a valid amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected an amount of US dollars, for example 5 or 0.50")]
pub struct InvalidUsd;

impl Usd {
    /// Returns whether the amount is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.micros == 0
    }

    /// Creates an amount from millionths of a dollar.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self { micros }
    }

    /// Returns the amount in millionths of a dollar.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.micros
    }

    /// Subtracts another amount, saturating at zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self { micros: self.micros.saturating_sub(other.micros) }
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        self.micros = self.micros.saturating_add(other.micros);
    }
}

impl TryFrom<f64> for Usd {
    type Error = InvalidUsd;

    /// Rounds to the nearest millionth.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "finite and non-negative, and the cast saturates"
    )]
    fn try_from(dollars: f64) -> Result<Self, InvalidUsd> {
        if !dollars.is_finite() || dollars.is_sign_negative() {
            return Err(InvalidUsd);
        }
        Ok(Self { micros: (dollars * MICROS).round() as u64 })
    }
}

impl From<Usd> for f64 {
    #[expect(clippy::cast_precision_loss, reason = "amounts stay below 2^52 millionths of a dollar")]
    fn from(amount: Usd) -> Self {
        amount.micros as Self / MICROS
    }
}

impl FromStr for Usd {
    type Err = InvalidUsd;

    fn from_str(text: &str) -> Result<Self, InvalidUsd> {
        // `f64::from_str` also accepts signs, exponents, "inf" and "NaN".
        if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(InvalidUsd);
        }
        text.parse::<f64>().map_err(|_| InvalidUsd)?.try_into()
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.*}", f.precision().unwrap_or(6), f64::from(*self))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_are_parsed_and_formatted() {
        let amount: Usd = "12.345678".parse().unwrap();
        assert_eq!((amount.to_string(), format!("${amount:.2}")), ("12.345678".into(), "$12.35".into()));
        assert!("0".parse::<Usd>().unwrap().is_zero());
        for text in ["", ".", "-1", "+1", "1e3", "inf", "NaN", "1,5", "$5"] {
            assert_eq!(text.parse::<Usd>(), Err(InvalidUsd), "{text}");
        }
        assert_eq!(amount.saturating_sub("20".parse().unwrap()), Usd::default());
    }

    proptest! {
        #[test]
        fn formatted_amount_is_parsed_back(micros in 0u64..1 << 50) {
            let amount = Usd { micros };
            prop_assert_eq!(amount.to_string().parse(), Ok(amount));
        }
    }
}
