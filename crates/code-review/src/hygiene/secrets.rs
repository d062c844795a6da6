//! Values of passwords, tokens and keys that look generated.
//!
//! The names and the notations are those that redaction recognizes. Code contains many other values of such names:
//! references, words, placeholders. Only a string of random characters is reported.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use loopgate_api::redact;
use regex::Regex;

use super::added_text::AddedText;
use super::{base_name, extension};

/// Bytes of a line. Longer ones are generated code, and the search for the values of many names in one line would take
/// quadratic time.
const MAX_LINE: usize = 10_000;
/// Lengths of a secret in bytes.
const LENGTHS: Range<usize> = 12..513;
/// Shannon entropy in bits per character of random hexadecimal digits of the smallest length, less some tolerance.
const MIN_ENTROPY: f64 = 2.8;
/// Parts of placeholders, in lower case.
const PLACEHOLDERS: [&str; 11] = [
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "your",
    "xxxx",
    "dummy",
    "sample",
    "redacted",
    "****",
    "1234567890",
];
/// Extensions of files whose values need no quotes.
const CONFIGURATION: [&str; 18] = [
    "bash",
    "cfg",
    "conf",
    "config",
    "env",
    "ini",
    "local",
    "netrc",
    "npmrc",
    "plist",
    "properties",
    "sh",
    "tfvars",
    "toml",
    "xml",
    "yaml",
    "yml",
    "zsh",
];

static UUID: LazyLock<Regex> = constant_regex!(r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$");
// A part of an identifier or of a text: words, a number, or a version.
static WORD: LazyLock<Regex> = constant_regex!(
    r"^(?:(?:[A-Z]?[a-z]{2,}[0-9]{0,2})*[0-9]{0,4}|[A-Za-z][0-9]{0,2}|[A-Z]{1,20}[0-9]{0,4}|[0-9]+)$"
);

/// Returns the byte ranges of the secrets.
pub fn find(path: &str, text: &AddedText) -> Vec<Range<usize>> {
    let is_configuration = is_configuration(path);
    let mut found = Vec::new();
    for part in text.without_long_lines(MAX_LINE) {
        let (start, text) = (part.start, &text.as_str()[part]);
        let is_string = |value: &Range<usize>| text[..value.start].ends_with(['"', '\'', '`']);
        let values = redact::named_values(text)
            .into_iter()
            .filter(|value| (is_configuration || is_string(value)) && looks_generated(&text[value.clone()]));
        found.extend(values.map(|value| start + value.start..start + value.end));
    }
    found
}

fn is_configuration(path: &str) -> bool {
    let name = base_name(path).to_lowercase();
    name.starts_with(".env")
        || name.starts_with("dockerfile")
        || extension(path).is_some_and(|extension| CONFIGURATION.contains(&extension.as_str()))
}

/// Returns whether a value consists of random characters.
fn looks_generated(value: &str) -> bool {
    let value = value.trim();
    let is_code = |char: char| !char.is_ascii_graphic() || "(){}<>[]`\\".contains(char);
    if !LENGTHS.contains(&value.len())
        || value.contains(is_code)
        || value.contains("://")
        || UUID.is_match(value)
    {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !PLACEHOLDERS.iter().any(|part| lower.contains(part))
        && !value.split(|char: char| !char.is_ascii_alphanumeric()).all(|part| WORD.is_match(part))
        && entropy(value.as_bytes()) >= MIN_ENTROPY
}

/// Returns the Shannon entropy in bits per character.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts: BTreeMap<u8, u32> = BTreeMap::new();
    for byte in bytes {
        *counts.entry(*byte).or_default() += 1;
    }
    let length = bytes.len() as f64;
    counts.values().map(|count| f64::from(*count) / length).map(|part| -part * part.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_random_values_look_generated() {
        for value in
            ["Tr0ub4dor&3xyz", "9f86d081884c7d659a2feaa0c55ad015", "aZ3kQ9vLp2Xw7Rt5", "q7-Bx2_Kd9.Lm4Zt"]
        {
            assert!(looks_generated(value), "{value}");
        }
        for value in [
            "0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
            "process.env.API_KEY_2",
            "getSecret(user1234567)",
            "correct horse 9 battery",
            "https://vault.internal/v1/a9",
            "my-service-token-v2",
            "your-t0k3n-a9X8c7V6",
            "base64Encoded2",
            "aaaaaaaaaaaa1111",
            "short1X",
            "202408271530",
            "${DB_PASSWORD_2}",
        ] {
            assert!(!looks_generated(value), "{value}");
        }
    }
}
