//! The character U+0000, which PostgreSQL stores nowhere. What comes in has U+FFFD in its place, so that the output of
//! a program that prints one is kept all the same.

use std::borrow::Cow;

use serde_json::Value;

/// What stands in its place.
const REPLACEMENT: char = '\u{fffd}';
/// How JSON writes it, and what takes its place.
const ESCAPED: &[u8] = b"\\u0000";
const ESCAPED_REPLACEMENT: &[u8] = b"\\ufffd";

/// A JSON text without the character. In JSON it is always escaped.
pub fn without_nul(json: &[u8]) -> Cow<'_, [u8]> {
    if !json.windows(ESCAPED.len()).any(|window| window == ESCAPED) {
        return Cow::Borrowed(json);
    }
    let mut replaced = json.to_vec();
    let mut at = 0;
    while at < replaced.len() {
        if replaced[at..].starts_with(ESCAPED) {
            replaced[at..at + ESCAPED.len()].copy_from_slice(ESCAPED_REPLACEMENT);
        }
        // An escape has two bytes at least, and the second one begins no escape.
        at += if replaced[at] == b'\\' { 2 } else { 1 };
    }
    Cow::Owned(replaced)
}

/// Replaces it in every text of a value, and in the names of members.
pub fn replace(value: &mut Value) {
    match value {
        Value::String(text) => replace_in(text),
        Value::Array(items) => items.iter_mut().for_each(replace),
        Value::Object(members) => {
            members.values_mut().for_each(replace);
            if members.keys().any(|name| name.contains('\0')) {
                let renamed = std::mem::take(members).into_iter().map(|(mut name, value)| {
                    replace_in(&mut name);
                    (name, value)
                });
                *members = renamed.collect();
            }
        }
        _ => {}
    }
}

/// Replaces it in a text.
pub fn replace_in(text: &mut String) {
    if text.contains('\0') {
        *text = text.replace('\0', REPLACEMENT.encode_utf8(&mut [0; 3]));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn escaped_backslashes_are_no_escapes() {
        let text = br#"["\u0000","\\u0000","\\\u0000","\"\u0000"]"#;
        let read: Value = serde_json::from_slice(&without_nul(text)).unwrap();
        assert_eq!(read, json!(["\u{fffd}", "\\u0000", "\\\u{fffd}", "\"\u{fffd}"]));
    }

    proptest! {
        #[test]
        fn text_and_value_lose_it_alike(texts in prop::collection::vec("[\u{0}\\\\u0\"a]{0,12}", 0..4)) {
            let mut value = json!({"list": texts, "a\0b": 1});
            let text = value.to_string();
            replace(&mut value);
            let read: Value = serde_json::from_slice(&without_nul(text.as_bytes())).unwrap();
            prop_assert_eq!(&read, &value);
        }
    }
}
