//! Estimates of the memory that JSON text occupies once it is parsed.

/// Upper estimate of the memory of a parsed value in bytes, besides its text: an object of one member, which are
/// two values, occupies about 650.
pub const VALUE_BYTES: usize = 325;

/// Counts the values in JSON text without parsing it. Exact for valid JSON, except that an empty array or
/// object counts as two.
#[must_use]
pub fn count_values(json: &[u8]) -> usize {
    let (mut values, mut in_string) = (1, false);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            // The escaped character cannot end the string.
            b'\\' if in_string => _ = bytes.next(),
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        assert_eq!(count_values(br#"{"a,[":"\",[","b":[1,2,{"c":null}]}"#), 7);
        assert_eq!(count_values(b"null"), 1);
    }
}
