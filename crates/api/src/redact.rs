//! The one redactor: everything that leaves the machine or reaches a log passes it.
//!
//! Order matters: ANSI sequences are removed first, then secrets, and only then is a text cut,
//! because cutting first can leave half a secret behind.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

struct Pattern {
    regex: Regex,
    replacement: &'static str,
}

fn pattern(regex: &str, replacement: &'static str) -> Pattern {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    Pattern { regex: Regex::new(regex).expect("constant pattern"), replacement }
}

/// Secrets that have a shape of their own.
static CREDENTIALS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    vec![
        pattern(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
            "[REDACTED_PRIVATE_KEY]",
        ),
        pattern(r"([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/@]+@", "$1[REDACTED]@"),
        pattern(r"\b(?:AKIA|ASIA|AROA)[A-Z0-9]{16}", "[REDACTED_AWS_KEY]"),
        pattern(r"(?i)\b(Bearer)\s+[A-Za-z0-9._~+/=-]+", "$1 [REDACTED]"),
        pattern(r"\bsk-[A-Za-z0-9_-]{10,}", "[REDACTED_SK_KEY]"),
        pattern(r"\b(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})", "[REDACTED_GH_TOKEN]"),
        pattern(r"\blgk_live_[A-Za-z0-9]+", "[REDACTED_API_KEY]"),
        pattern(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+", "[REDACTED_TOKEN]"),
        pattern(
            r#"(?i)((?:password|passwd|client_secret|secret|api_?key|auth_token|access_token|token)["']?\s*[=:]\s*["']?)[^\s"'&,;]+"#,
            "$1[REDACTED]",
        ),
    ]
});

/// Long words that are more likely a secret than prose. Never used on structured members such as
/// a commit's hash.
static WORDS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    vec![pattern(r"\b[0-9a-fA-F]{20,}\b", "[REDACTED]"), pattern(r"[A-Za-z0-9+/]{40,}={0,2}", "[REDACTED]")]
});

/// Absolute paths. What stands behind a scheme is no path of this machine.
static LOCAL_PATHS: LazyLock<[Pattern; 1]> =
    LazyLock::new(|| [pattern(r#"(^|[\s'"(=:])(?:/[^\s'"/:]+)+/([^\s'"/:]+)"#, "$1…/$2")]);

fn apply(patterns: &[Pattern], text: &str) -> String {
    let mut text = text.to_owned();
    for pattern in patterns {
        if let std::borrow::Cow::Owned(replaced) = pattern.regex.replace_all(&text, pattern.replacement) {
            text = replaced;
        }
    }
    text
}

/// Replaces everything that looks like a credential.
#[must_use]
pub fn credentials(text: &str) -> String {
    apply(&CREDENTIALS, text)
}

/// Cleans an error message: no ANSI, no credential, no long hex or base64 word, 500 characters.
#[must_use]
pub fn message(text: &str) -> String {
    let cleaned = apply(&WORDS, &credentials(&strip_ansi(text)));
    cleaned.trim().chars().take(500).collect()
}

/// Cleans the cause of a failure that is answered: as [`message`], and of absolute paths only the
/// last part stays.
#[must_use]
pub fn cause(text: &str) -> String {
    message(&apply(&*LOCAL_PATHS, text))
}

/// Removes ANSI escape sequences.
#[must_use]
pub fn strip_ansi(text: &str) -> String {
    strip_ansi_escapes::strip_str(text)
}

/// Cleans every string of a JSON document.
#[must_use]
pub fn json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(credentials(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(json).collect()),
        Value::Object(members) => Value::Object(members.into_iter().map(|(k, v)| (k, json(v))).collect()),
        other => other,
    }
}

/// The end of an output, for diagnostics: no ANSI, no credential, whole lines, at most `max_lines`
/// lines and `max_bytes` bytes. `None` when nothing is left.
#[must_use]
pub fn tail(text: &str, max_bytes: usize, max_lines: usize) -> Option<String> {
    let cleaned = credentials(&strip_ansi(text));
    let mut cut = cleaned.trim_end();
    if cut.len() > max_bytes {
        let mut start = cut.len() - max_bytes;
        while !cut.is_char_boundary(start) {
            start += 1;
        }
        cut = &cut[start..];
        if let Some((_, rest)) = cut.split_once('\n') {
            cut = rest;
        }
    }
    let lines: Vec<&str> = cut.lines().collect();
    let kept = lines[lines.len().saturating_sub(max_lines)..].join("\n");
    (!kept.trim().is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cause_names_no_place_of_this_machine() {
        for (text, cleaned) in [
            ("couldn't write '/home/sam/src/shop/.git/refs/x.lock'", "couldn't write '…/x.lock'"),
            ("File too large at path \"/tmp/a/b\"", "File too large at path \"…/b\""),
            ("/srv/x: Not a directory", "…/x: Not a directory"),
            (
                "fetch https://github.com/acme/shop.git failed",
                "fetch https://github.com/acme/shop.git failed",
            ),
            ("origin/main and a/b are branches", "origin/main and a/b are branches"),
        ] {
            assert_eq!(cause(text), cleaned);
        }
    }

    #[test]
    fn secrets_of_every_shape_are_replaced() {
        let secrets = [
            "https://user:hunter2secret@host/x",
            "AKIAABCDEFGHIJKLMNOP",
            "Authorization: Bearer abc.def-ghi",
            "sk-ant-api03-aaaaaaaaaaaaaaaa",
            "ghp_aaaaaaaaaaaaaaaaaaaaaaaa",
            "github_pat_11AAAAAAA0aaaaaaaaaaaaaa",
            "password=hunter2secret",
            "lgk_live_0123456789abcdef",
        ];
        for secret in secrets {
            let cleaned = credentials(secret);
            assert!(cleaned.contains("REDACTED"), "{secret} -> {cleaned}");
            assert!(!cleaned.contains("hunter2secret"), "{cleaned}");
        }
    }

    #[test]
    fn a_url_is_cleaned_alone() {
        let text = "clone https://a:b@h/x failed, see https://docs.example.org and mail me@example.org";
        let cleaned = credentials(text);
        assert_eq!(
            cleaned,
            "clone https://[REDACTED]@h/x failed, see https://docs.example.org and mail me@example.org"
        );
    }

    #[test]
    fn messages_lose_hashes_and_colours() {
        let cleaned = message("\u{1b}[31mfailed\u{1b}[0m at 0123456789abcdef0123456789abcdef01234567");
        assert_eq!(cleaned, "failed at [REDACTED]");
    }

    #[test]
    fn a_tail_begins_with_a_whole_line() {
        let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let tail = tail(&text, 64, 50).unwrap();
        assert!(tail.starts_with("line ") && tail.ends_with("line 99") && tail.len() <= 64);
    }

    proptest! {
        #[test]
        fn no_token_survives_its_surroundings(before in "[ -~]{0,40}", after in "[ -~]{0,40}") {
            let secret = "ghp_abcdefghijklmnopqrstuvwx";
            let text = format!("{before} {secret} {after}");
            prop_assert!(!credentials(&text).contains(secret));
            prop_assert!(!message(&text).contains(secret));
        }

        #[test]
        fn a_tail_keeps_its_limits(text in "(?s).{0,400}", bytes in 1usize..200, lines in 1usize..10) {
            if let Some(tail) = tail(&text, bytes, lines) {
                prop_assert!(tail.lines().count() <= lines);
                prop_assert!(tail.len() <= bytes);
            }
        }
    }
}
