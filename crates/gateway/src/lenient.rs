//! Serde deserializers for loosely typed clients: a member of an unexpected type counts as absent instead of
//! failing the request.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

/// Deserializes any type; `None` when the value does not fit.
pub(crate) fn any<'de, D: Deserializer<'de>, T: DeserializeOwned>(input: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(input)?).ok())
}

/// Deserializes a non-empty string.
pub(crate) fn non_empty<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Ok(any(input)?.filter(|text: &String| !text.is_empty()))
}

/// Deserializes a string with at least one non-whitespace character. The value is not trimmed.
pub(crate) fn non_blank<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Ok(any(input)?.filter(|text: &String| !text.trim().is_empty()))
}

/// Deserializes an integer above 0, given as a number or as a string of digits.
pub(crate) fn positive<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    let number = match Value::deserialize(input)? {
        Value::Number(number) => number.as_u64().or_else(|| whole(&number)),
        Value::String(text) => {
            let digits = text.trim();
            // `parse` alone would accept a leading `+`.
            let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
            all_digits.then(|| digits.parse().ok()).flatten()
        }
        _ => None,
    };
    Ok(number.filter(|number| *number > 0))
}

/// Converts a float with an integral value, such as `7.0`.
pub(crate) fn whole(number: &Number) -> Option<u64> {
    let number = number.as_f64()?;
    // 2^53: above it an f64 no longer represents every integer exactly.
    let exact = number >= 0.0 && number.fract() == 0.0 && number < 9_007_199_254_740_992.0;
    exact.then(|| format!("{number:.0}").parse().ok())?
}

/// Deserializes the elements of an array that fit the type, and skips the others.
pub(crate) fn elements<'de, D: Deserializer<'de>, T: DeserializeOwned>(input: D) -> Result<Vec<T>, D::Error> {
    let Value::Array(elements) = Value::deserialize(input)? else { return Ok(Vec::new()) };
    Ok(elements.into_iter().filter_map(|element| serde_json::from_value(element).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct TestBody {
        #[serde(deserialize_with = "positive")]
        number: Option<u64>,
    }

    #[test]
    fn positive_accepts_integers_above_zero_and_strings_of_digits() {
        let read = |value: &str| {
            let body: Result<TestBody, _> = serde_json::from_str(&format!("{{\"number\":{value}}}"));
            body.ok().and_then(|body| body.number)
        };
        for (value, expected) in
            [("7", 7), ("7.0", 7), ("\"7\"", 7), ("\" 07 \"", 7), ("4294967296", 4_294_967_296)]
        {
            assert_eq!(read(value), Some(expected), "{value}");
        }
        for value in [
            "0",
            "-7",
            "7.5",
            "1e400",
            "\"12abc\"",
            "\"-1\"",
            "\"+1\"",
            "\"\"",
            "\" \"",
            "null",
            "true",
            "[7]",
        ] {
            assert_eq!(read(value), None, "{value}");
        }
    }
}
