//! JSON in the text that a model wrote.

use serde_json::{Deserializer, Value};

const FENCE: &str = "```json";

/// The values of all fenced `json` blocks, in their order. A fence inside of a string of another block is none.
pub(crate) fn fenced_values(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(FENCE) {
        rest = &rest[start + FENCE.len()..];
        let mut stream = Deserializer::from_str(rest).into_iter();
        if let Some(Ok(value)) = stream.next() {
            values.push(value);
            rest = &rest[stream.byte_offset()..];
        }
    }
    values
}

/// The value from the first opening to the last closing bracket.
pub(crate) fn bracketed_value(text: &str, opening: char, closing: char) -> Option<Value> {
    let (start, end) = (text.find(opening)?, text.rfind(closing)?);
    serde_json::from_str(text.get(start..=end)?).ok()
}

/// The object that a text holds: the last fenced one, else from the first to the last brace.
pub(crate) fn last_object(text: &str) -> Option<Value> {
    let fenced = fenced_values(text).into_iter().rfind(Value::is_object);
    fenced.or_else(|| bracketed_value(text, '{', '}'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_are_found_and_strings_are_no_blocks() {
        let quoting = json!([{"title": "see ```json [1]``` there"}]);
        let text = format!(
            "Example:\n```json\n[2]\n```\nor ```json\n{quoting:#}\n```\n```json\nbroken\n```\n```json ["
        );
        assert_eq!(fenced_values(&text), [json!([2]), quoting]);
        assert_eq!(last_object("So {\"a\": {}} it is"), Some(json!({"a": {}})));
        assert_eq!(last_object("{\"a\": 1}\n```json\n{\"a\": 2}\n```"), Some(json!({"a": 2})));
        assert_eq!(last_object("} {"), None);
        assert_eq!(bracketed_value("ä[1] ö [2]", '[', ']'), None);
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_readers(parts in proptest::collection::vec(
            prop_oneof![Just("```json".to_owned()), Just("```".to_owned()), "[\\[\\]{}\",:0-9é]{0,6}", ".{0,6}"], 0..16,
        )) {
            let text = parts.concat();
            fenced_values(&text);
            last_object(&text);
        }

        #[test]
        fn last_block_is_read_back(before in "[^`]*", values in proptest::collection::vec(".*", 1..4)) {
            let blocks = values.iter().map(|value| format!("```json\n{}\n```\n", json!({"v": value})));
            let found = last_object(&format!("{before}{}", blocks.collect::<String>()));
            prop_assert_eq!(found, values.last().map(|value| json!({"v": value})));
        }
    }
}
