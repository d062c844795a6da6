//! Redaction of secrets in everything that is logged, stored as diagnostics or sent to another machine.
//!
//! The order of the steps matters: ANSI sequences are removed first, then secrets, and text is truncated
//! last, because truncation can leave half of a secret that no pattern matches. `corpus.json` lists notations
//! in which secrets occur, with the expected results.

mod named;
mod names;
mod rules;
mod vendors;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use percent_encoding::percent_decode_str;
use regex::{Captures, Regex};
use serde_json::{Map, Value};

pub use names::is_secret_name;
pub(crate) use names::words;

/// Maximum length of a cleaned message in characters.
const MESSAGE_LIMIT: usize = 500;
/// Mark in place of the middle of a shortened text.
const OMISSION: &str = " […] ";
/// The head of a shortened text is one part in this many.
const HEAD_PART: usize = 4;
/// Length of a commit id in hexadecimal digits.
const COMMIT_ID: usize = 40;
/// Options whose value is text of the user, which does not belong in diagnostics.
const USER_TEXT_OPTIONS: [&str; 3] = ["--message", "--prompt", "-p"];
/// Options whose value is `user:password`.
const USER_OPTIONS: [&str; 3] = ["-u", "--user", "--proxy-user"];
/// Maximum layers of percent-encoding that are decoded; bounds the work on hostile input.
const MAX_ENCODINGS: usize = 4;
/// Maximum length of an argument in characters; a longer one is redacted entirely.
const MAX_ARG: usize = 200;

/// User information in a URL, including user names that are not secret.
static USER: LazyLock<Regex> = LazyLock::new(|| rules::compiled(rules::USER_IN_URL));
// Long words that are more likely a secret than prose. Not applied to structured members, which contain hashes of
// several lengths.
static HEX: LazyLock<Regex> = LazyLock::new(|| rules::compiled(r"(?-u:\b)[0-9a-fA-F]{20,}(?-u:\b)"));
static BASE64: LazyLock<Regex> = LazyLock::new(|| rules::compiled(r"[A-Za-z0-9+/]{40,}={0,2}"));
/// A path component in usual spelling; a random base64 string rarely consists of such components only.
static NAME: LazyLock<Regex> =
    LazyLock::new(|| rules::compiled(r"^(?:(?:[A-Z]?[a-z]+)*[0-9]{0,4}|[A-Z]{1,20})$"));
// Absolute paths of this machine. A path after a URL's scheme does not match, because it follows a slash.
static LOCAL_PATHS: LazyLock<Regex> =
    LazyLock::new(|| rules::compiled(r#"(^|[\s'"(=:])(?:/[^\s'"/:]+)+/([^\s'"/:]+)"#));

/// Redacts all credentials, after removing ANSI sequences, which may interrupt a secret.
#[must_use]
pub fn credentials(text: &str) -> String {
    rules::apply(&plain(text)).into_owned()
}

/// Cleans an error message: removes ANSI sequences, credentials, user information in URLs and long hex or
/// base64 words other than commit ids, and [shortens](shorten) it to 500 characters.
#[must_use]
pub fn message(text: &str) -> String {
    let text = credentials(text);
    let text = USER.replace_all(&text, "${1}***@");
    let text = hide_long_hex(&text);
    let text = BASE64.replace_all(&text, |captures: &Captures<'_>| {
        if is_path(&captures[0]) { captures[0].to_owned() } else { "[REDACTED]".to_owned() }
    });
    shorten(text.trim(), MESSAGE_LIMIT)
}

/// Shortens a text to at most `max` characters by leaving out its middle, with a mark in its place. The start names
/// the command or the subject; programs, hooks and remotes print the reason of a failure at the end.
///
/// Redact secrets first: the halves of a secret that is cut match no pattern.
#[must_use]
pub fn shorten(text: &str, max: usize) -> String {
    let length = text.chars().count();
    if length <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(OMISSION.chars().count());
    let head: String = text.chars().take(room / HEAD_PART).collect();
    let tail: String = text.chars().skip(length - (room - room / HEAD_PART)).collect();
    format!("{}{OMISSION}{}", head.trim_end(), tail.trim_start())
}

/// Cleans the cause of an error for a response: like [`message`], with absolute paths shortened to their last
/// component.
#[must_use]
pub fn cause(text: &str) -> String {
    message(&LOCAL_PATHS.replace_all(text, "${1}…/${2}"))
}

/// Cleans a path or URL with its query, including percent-encoded secrets.
///
/// A text with a percent-encoded secret is returned decoded, on one line.
#[must_use]
pub fn target(text: &str) -> String {
    let mut cleaned = credentials(text);
    let mut decoded = cleaned.clone();
    // Each iteration decodes one layer of percent-encoding, until the text no longer changes.
    for _ in 0..MAX_ENCODINGS {
        let next = strip_ansi(&percent_decode_str(&decoded).decode_utf8_lossy());
        if next == decoded {
            break;
        }
        decoded = match rules::apply(&next) {
            Cow::Borrowed(_) => next,
            Cow::Owned(redacted) => {
                cleaned = redacted.replace(['\n', '\t'], " ");
                redacted
            }
        };
    }
    cleaned
}

/// Cleans a log line: redacts credentials and long hex words other than commit ids, and preserves colors.
#[must_use]
pub fn log_line(text: &str) -> String {
    let cleaned = rules::apply(text);
    match hide_long_hex(&cleaned) {
        Cow::Borrowed(_) => cleaned.into_owned(),
        // The placeholder can change the surroundings of another secret such that a rule matches it now.
        Cow::Owned(cleaned) => rules::apply(&cleaned).into_owned(),
    }
}

/// Returns whether a text contains a private key or a token with the prefix of its vendor.
///
/// Named passwords are not detected: source code and documentation have many lookalikes.
#[must_use]
pub fn holds_key(text: &str) -> bool {
    rules::finds_key(text)
}

/// Returns the byte ranges of the keys for which [`holds_key`] returns true, ordered by their start. No range
/// contains another.
#[must_use]
pub fn keys(text: &str) -> Vec<Range<usize>> {
    rules::keys(text)
}

/// Returns the byte ranges of values whose names denote a secret, such as that of `password = "…"`, ordered by their
/// start. Code and documentation contain many values that are no secrets; callers decide by the form of the value.
#[must_use]
pub fn named_values(text: &str) -> Vec<Range<usize>> {
    rules::named_values(text)
}

/// Redacts long hexadecimal words other than commit ids. Borrowed if there are none.
fn hide_long_hex(text: &str) -> Cow<'_, str> {
    if !HEX.find_iter(text).any(|word| !is_commit_id(word.as_str())) {
        return Cow::Borrowed(text);
    }
    HEX.replace_all(text, |captures: &Captures<'_>| {
        if is_commit_id(&captures[0]) { captures[0].to_owned() } else { "[REDACTED]".to_owned() }
    })
}

/// Returns whether a word has the form of a commit id as git prints it.
fn is_commit_id(word: &str) -> bool {
    word.len() == COMMIT_ID && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns whether a base64-like word is a path or a commit id, possibly below a path.
fn is_path(word: &str) -> bool {
    is_commit_id(word)
        || word.contains('/') && word.split('/').all(|part| NAME.is_match(part) || is_commit_id(part))
}

/// Removes ANSI escape sequences and all control characters except line breaks and tabs.
#[must_use]
pub fn strip_ansi(text: &str) -> String {
    plain(text).into_owned()
}

fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    // A lone carriage return rewrites the current line, as progress bars do; each state becomes a line.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    // Line by line, because `strip_ansi_escapes` drops everything after an incomplete sequence. It also drops
    // tabs, so these are split off and appended again.
    let parts = text.split_inclusive(['\n', '\t']).map(|part| {
        let stripped = strip_ansi_escapes::strip_str(part);
        let tab = if part.ends_with('\t') { "\t" } else { "" };
        let end = if part.ends_with('\n') && !stripped.ends_with('\n') { "\n" } else { tab };
        stripped + end
    });
    Cow::Owned(parts.collect())
}

/// Redacts all strings of a JSON document, also by the names of their members.
#[must_use]
pub fn json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(credentials(&text)),
        Value::Array(items) => Value::Array(elements(items)),
        Value::Object(members) => Value::Object(object(members)),
        other => other,
    }
}

/// Redacts array elements. An element after an option such as `--token` is a secret, one after `-u` when it
/// has the form `user:password`.
fn elements(items: Vec<Value>) -> Vec<Value> {
    let (mut secret_follows, mut user_follows) = (false, false);
    let clean = |item: Value| {
        let text = item.as_str().unwrap_or_default();
        let is_user = USER_OPTIONS.contains(&text);
        let is_secret = std::mem::replace(&mut secret_follows, is_secret_option(text));
        let is_password = std::mem::replace(&mut user_follows, is_user) && text.contains(':');
        if (is_secret || is_password) && item.is_string() { Value::from("[REDACTED]") } else { json(item) }
    };
    items.into_iter().map(clean).collect()
}

fn object(members: Map<String, Value>) -> Map<String, Value> {
    let titles = ["name", "key", "header"];
    let title = titles.iter().find_map(|title| members.get(*title)?.as_str()).map(str::to_owned);
    let clean = |(name, value): (String, Value)| {
        // A pair such as {"name": "DB_PASSWORD", "value": …}.
        let member_name = title.as_deref().filter(|_| name == "value").unwrap_or(&name);
        let redacted = value.as_str().and_then(|text| named::member(member_name, text));
        let value = redacted.map_or_else(|| json(value), Value::String);
        (name, value)
    };
    members.into_iter().map(clean).collect()
}

/// Redacts program arguments, each by its content and by the preceding option.
///
/// User text (the value of `--prompt` and similar options) and arguments of more than 200 characters are
/// replaced entirely.
#[must_use]
pub fn args<'a>(args: impl IntoIterator<Item = Cow<'a, str>>) -> Vec<String> {
    let mut before = String::new();
    let clean = |arg: Cow<'a, str>| {
        let option = std::mem::replace(&mut before, arg.to_string());
        let has_user_text = |option: &str| USER_TEXT_OPTIONS.contains(&option);
        match arg.split_once('=') {
            _ if has_user_text(&option) || is_secret_option(&option) => "[REDACTED]".to_owned(),
            _ if USER_OPTIONS.contains(&option.as_str()) && arg.contains(':') => "[REDACTED]".to_owned(),
            Some((name, _)) if has_user_text(name) => format!("{name}=[REDACTED]"),
            _ if arg.chars().count() > MAX_ARG => "[REDACTED_LONG_ARG]".to_owned(),
            _ => credentials(&arg),
        }
    };
    args.into_iter().map(clean).collect()
}

/// Returns whether the argument after this one is a secret.
fn is_secret_option(arg: &str) -> bool {
    arg.starts_with('-') && !arg.contains(['=', ' ']) && is_secret_name(arg)
}

/// Returns the end of an output for diagnostics: without ANSI sequences and credentials, in whole lines, at
/// most `max_lines` lines and `max_bytes` bytes. Returns `None` when the result is blank.
#[must_use]
pub fn tail(text: &str, max_bytes: usize, max_lines: usize) -> Option<String> {
    let cleaned = credentials(text);
    let mut cut = cleaned.trim_end();
    if cut.len() > max_bytes {
        let mut start = cut.len() - max_bytes;
        // Forward, so that the result does not exceed `max_bytes`.
        while !cut.is_char_boundary(start) {
            start += 1;
        }
        cut = skip_partial_line(&cut[start..]);
    }
    let lines: Vec<&str> = cut.lines().collect();
    let tail = lines[lines.len().saturating_sub(max_lines)..].join("\n");
    (!tail.trim().is_empty()).then_some(tail)
}

/// Skips the incomplete first line of a text whose start was cut off, or the first word if it has only one
/// line. The remains of a secret that was cut in two are thereby dropped.
#[must_use]
pub fn skip_partial_line(text: &str) -> &str {
    text.split_once('\n').or_else(|| text.split_once(char::is_whitespace)).map_or(text, |(_, rest)| rest)
}

#[cfg(test)]
mod tests;
