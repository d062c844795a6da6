//! Extracts JSON from text written by a model.

use serde_json::{Deserializer, Value};

const FENCE: &str = "```json";

/// Returns the values of all fenced `json` blocks in order. Ignores fences inside JSON strings.
pub(crate) fn fenced_values(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut remaining = text;
    while let Some(start) = remaining.find(FENCE) {
        remaining = &remaining[start + FENCE.len()..];
        let mut stream = Deserializer::from_str(remaining).into_iter();
        if let Some(Ok(value)) = stream.next() {
            // Continue after the parsed value: a fence inside one of its strings does not start a block.
            values.push(value);
            remaining = &remaining[stream.byte_offset()..];
        }
    }
    values
}

/// Parses the text from the first opening to the last closing bracket.
pub(crate) fn bracketed_value(text: &str, opening: char, closing: char) -> Option<Value> {
    let (start, end) = (text.find(opening)?, text.rfind(closing)?);
    serde_json::from_str(text.get(start..=end)?).ok()
}

/// Returns the last fenced object, otherwise the text from the first to the last brace as an object.
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
    fn fences_in_strings_do_not_start_a_block() {
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
        fn readers_accept_any_text(parts in proptest::collection::vec(
            prop_oneof![Just("```json".to_owned()), Just("```".to_owned()), "[\\[\\]{}\",:0-9é]{0,6}", ".{0,6}"], 0..16,
        )) {
            let text = parts.concat();
            fenced_values(&text);
            last_object(&text);
        }

        #[test]
        fn last_block_is_read_back(before in "[^`]*", values in proptest::collection::vec(".*", 1..4)) {
            let blocks = values.iter().map(|value| format!("```json\n{}\n```\n", json!({"v": value})));
            let object = last_object(&format!("{before}{}", blocks.collect::<String>()));
            prop_assert_eq!(object, values.last().map(|value| json!({"v": value})));
        }
    }
}
