//! Deserializers for members of bodies that clients send loosely: a member of another type counts as
//! absent, as the contract says.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

/// A member of this type.
pub(crate) fn any<'de, D: Deserializer<'de>, T: DeserializeOwned>(input: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(input)?).ok())
}

/// A string with something in it.
pub(crate) fn non_empty<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Ok(any(input)?.filter(|text: &String| !text.is_empty()))
}

/// A string that is not blank; it is not trimmed.
pub(crate) fn non_blank<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Ok(any(input)?.filter(|text: &String| !text.trim().is_empty()))
}

/// A whole number above 0, or a string of its digits.
pub(crate) fn positive<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    let number = match Value::deserialize(input)? {
        Value::Number(number) => number.as_u64().or_else(|| whole(&number)),
        Value::String(text) => {
            let digits = text.trim();
            let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
            all_digits.then(|| digits.parse().ok()).flatten()
        }
        _ => None,
    };
    Ok(number.filter(|number| *number > 0))
}

/// A number that was written with a fraction of nothing, such as `7.0`.
pub(crate) fn whole(number: &Number) -> Option<u64> {
    let number = number.as_f64()?;
    let exact = number >= 0.0 && number.fract() == 0.0 && number < 9_007_199_254_740_992.0;
    exact.then(|| format!("{number:.0}").parse().ok())?
}

/// The elements of an array that have this type; others are passed over.
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
    fn positive_numbers_are_whole_and_above_zero() {
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
