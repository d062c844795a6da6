//! Replaces U+0000 by U+FFFD. PostgreSQL stores U+0000 neither in text nor in JSON, and program output may
//! contain it.

use std::borrow::Cow;

use serde_json::Value;

const REPLACEMENT: char = '\u{fffd}';
// The escaped forms in JSON have the same length, so the replacement can be done in place.
const ESCAPED: &[u8] = b"\\u0000";
const ESCAPED_REPLACEMENT: &[u8] = b"\\ufffd";

/// Replaces U+0000 in JSON text, where it can only occur as an escape sequence.
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
        // An escape sequence has at least two bytes, and its second byte never starts another one. Skipping
        // both keeps `\\u0000`, an escaped backslash followed by digits, unchanged.
        at += if replaced[at] == b'\\' { 2 } else { 1 };
    }
    Cow::Owned(replaced)
}

/// Replaces U+0000 in all strings and member names of a value.
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

/// Replaces U+0000 in a string.
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
    fn escaped_backslash_is_not_an_escape_of_nul() {
        let text = br#"["\u0000","\\u0000","\\\u0000","\"\u0000"]"#;
        let parsed: Value = serde_json::from_slice(&without_nul(text)).unwrap();
        assert_eq!(parsed, json!(["\u{fffd}", "\\u0000", "\\\u{fffd}", "\"\u{fffd}"]));
    }

    proptest! {
        #[test]
        fn text_and_value_replacement_agree(texts in prop::collection::vec("[\u{0}\\\\u0\"a]{0,12}", 0..4)) {
            let mut value = json!({"list": texts, "a\0b": 1});
            let text = value.to_string();
            replace(&mut value);
            let parsed: Value = serde_json::from_slice(&without_nul(text.as_bytes())).unwrap();
            prop_assert_eq!(&parsed, &value);
        }
    }
}
