//! The one redactor: everything that leaves the machine or reaches a log passes it.
//!
//! Order matters: ANSI sequences are removed first, then secrets, and only then is a text cut,
//! because cutting first can leave half a secret behind. What a text without its secrets looks like
//! is in `corpus.json`, for every place where one was found to hide.

mod named;
mod names;
mod rules;
mod vendors;

use std::borrow::Cow;
use std::sync::LazyLock;

use percent_encoding::percent_decode_str;
use regex::{Captures, Regex};
use serde_json::{Map, Value};

pub use names::is_secret_name;

/// Characters of a cleaned message.
const MESSAGE_LIMIT: usize = 500;
/// Options whose value is what a person wrote, and no business of diagnostics.
const WRITTEN: [&str; 3] = ["--message", "--prompt", "-p"];
/// Options whose value is a user with a password.
const USERS: [&str; 3] = ["-u", "--user", "--proxy-user"];
/// How often a text may be percent-encoded over.
const MAX_ENCODINGS: usize = 4;
/// Characters of an argument that is shown.
const LONG_ARG: usize = 200;

/// A user in a URL, whoever it is.
static USER: LazyLock<Regex> = LazyLock::new(|| rules::compiled(rules::USER_IN_URL));
/// Long words that are more likely a secret than prose. Never used on structured members such as
/// a commit's hash.
static HEX: LazyLock<Regex> = LazyLock::new(|| rules::compiled(r"(?-u:\b)[0-9a-fA-F]{20,}(?-u:\b)"));
static BASE64: LazyLock<Regex> = LazyLock::new(|| rules::compiled(r"[A-Za-z0-9+/]{40,}={0,2}"));
/// A part of a path as people name them, which chance does not.
static NAME: LazyLock<Regex> =
    LazyLock::new(|| rules::compiled(r"^(?:(?:[A-Z]?[a-z]+)*[0-9]{0,4}|[A-Z]{1,20})$"));
/// Absolute paths. What is behind a scheme is no path of this machine.
static LOCAL_PATHS: LazyLock<Regex> =
    LazyLock::new(|| rules::compiled(r#"(^|[\s'"(=:])(?:/[^\s'"/:]+)+/([^\s'"/:]+)"#));

/// Replaces everything that looks like a credential, and removes ANSI sequences, for a secret may
/// have one inside.
#[must_use]
pub fn credentials(text: &str) -> String {
    rules::apply(&plain(text)).into_owned()
}

/// Cleans an error message: no ANSI, no credential, no user in a URL, no long hex or base64 word,
/// 500 characters.
#[must_use]
pub fn message(text: &str) -> String {
    let text = credentials(text);
    let text = USER.replace_all(&text, "${1}***@");
    let text = HEX.replace_all(&text, "[REDACTED]");
    let text = BASE64.replace_all(&text, |found: &Captures<'_>| {
        if is_path(&found[0]) { found[0].to_owned() } else { "[REDACTED]".to_owned() }
    });
    let cut: String = text.trim().chars().take(MESSAGE_LIMIT).collect();
    cut.trim_end().to_owned()
}

/// Cleans the cause of a failure that is answered: as [`message`], and of absolute paths only the
/// last part stays.
#[must_use]
pub fn cause(text: &str) -> String {
    message(&LOCAL_PATHS.replace_all(text, "${1}…/${2}"))
}

/// Cleans a path or URL with its query, also of what is there percent-encoded. A text in which
/// something was hidden so is answered decoded, on one line.
#[must_use]
pub fn target(text: &str) -> String {
    let mut cleaned = credentials(text);
    let mut decoded = cleaned.clone();
    for _ in 0..MAX_ENCODINGS {
        let next = strip_ansi(&percent_decode_str(&decoded).decode_utf8_lossy());
        if next == decoded {
            break;
        }
        decoded = match rules::apply(&next) {
            Cow::Borrowed(_) => next,
            Cow::Owned(hidden) => {
                cleaned = hidden.replace(['\n', '\t'], " ");
                hidden
            }
        };
    }
    cleaned
}

/// Cleans a line of a log: no credential and no long hex word. Colours stay.
#[must_use]
pub fn log_line(text: &str) -> String {
    let cleaned = rules::apply(text);
    match HEX.replace_all(&cleaned, "[REDACTED]") {
        Cow::Borrowed(_) => cleaned.into_owned(),
        Cow::Owned(cleaned) => rules::apply(&cleaned).into_owned(),
    }
}

/// Whether a text holds a private key, or a token with the mark of its maker. Passwords beside a name
/// are not looked for: code and prose are full of their likes.
#[must_use]
pub fn holds_key(text: &str) -> bool {
    rules::finds_key(text)
}

/// Whether a word that could be base64 is a path.
fn is_path(word: &str) -> bool {
    word.contains('/') && word.split('/').all(|part| NAME.is_match(part))
}

/// Removes ANSI escape sequences and the other control characters but line breaks and tabs.
#[must_use]
pub fn strip_ansi(text: &str) -> String {
    plain(text).into_owned()
}

fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    // By parts, because a sequence that was cut off would take the rest of the text with it, and
    // because a tab is dropped like any other control character.
    let parts = text.split_inclusive(['\n', '\t']).map(|part| {
        let stripped = strip_ansi_escapes::strip_str(part);
        let tab = if part.ends_with('\t') { "\t" } else { "" };
        let end = if part.ends_with('\n') && !stripped.ends_with('\n') { "\n" } else { tab };
        stripped + end
    });
    Cow::Owned(parts.collect())
}

/// Cleans every string of a JSON document, also by the name of the member that holds it.
#[must_use]
pub fn json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(credentials(&text)),
        Value::Array(items) => Value::Array(elements(items)),
        Value::Object(members) => Value::Object(object(members)),
        other => other,
    }
}

/// What is behind an option that asks for a secret is one, and so is a user with a password.
fn elements(items: Vec<Value>) -> Vec<Value> {
    let (mut hidden, mut user) = (false, false);
    let clean = |item: Value| {
        let text = item.as_str().unwrap_or_default();
        let is_user = USERS.contains(&text);
        let before = std::mem::replace(&mut hidden, is_secret_option(text));
        let user = std::mem::replace(&mut user, is_user) && text.contains(':');
        if (before || user) && item.is_string() { Value::from("[REDACTED]") } else { json(item) }
    };
    items.into_iter().map(clean).collect()
}

fn object(members: Map<String, Value>) -> Map<String, Value> {
    let titles = ["name", "key", "header"];
    let title = titles.iter().find_map(|title| members.get(*title)?.as_str()).map(str::to_owned);
    let clean = |(name, value): (String, Value)| {
        // {"name": "DB_PASSWORD", "value": …}
        let called = title.as_deref().filter(|_| name == "value").unwrap_or(&name);
        let hidden = value.as_str().and_then(|text| named::member(called, text));
        let value = hidden.map_or_else(|| json(value), Value::String);
        (name, value)
    };
    members.into_iter().map(clean).collect()
}

/// Cleans a program's arguments, each by itself and by the option before it. What a person wrote,
/// and what is longer than 200 characters, is left out as a whole.
#[must_use]
pub fn args<'a>(args: impl IntoIterator<Item = Cow<'a, str>>) -> Vec<String> {
    let mut before = String::new();
    let clean = |arg: Cow<'a, str>| {
        let option = std::mem::replace(&mut before, arg.to_string());
        let written = |option: &str| WRITTEN.contains(&option);
        match arg.split_once('=') {
            _ if written(&option) || is_secret_option(&option) => "[REDACTED]".to_owned(),
            _ if USERS.contains(&option.as_str()) && arg.contains(':') => "[REDACTED]".to_owned(),
            Some((name, _)) if written(name) => format!("{name}=[REDACTED]"),
            _ if arg.chars().count() > LONG_ARG => "[REDACTED_LONG_ARG]".to_owned(),
            _ => credentials(&arg),
        }
    };
    args.into_iter().map(clean).collect()
}

/// Whether the argument behind this one is a secret.
fn is_secret_option(arg: &str) -> bool {
    arg.starts_with('-') && !arg.contains(['=', ' ']) && is_secret_name(arg)
}

/// The end of an output, for diagnostics: no ANSI, no credential, whole lines, at most `max_lines`
/// lines and `max_bytes` bytes. `None` when nothing is left.
#[must_use]
pub fn tail(text: &str, max_bytes: usize, max_lines: usize) -> Option<String> {
    let cleaned = credentials(text);
    let mut cut = cleaned.trim_end();
    if cut.len() > max_bytes {
        let mut start = cut.len() - max_bytes;
        while !cut.is_char_boundary(start) {
            start += 1;
        }
        cut = after_the_cut(&cut[start..]);
    }
    let lines: Vec<&str> = cut.lines().collect();
    let kept = lines[lines.len().saturating_sub(max_lines)..].join("\n");
    (!kept.trim().is_empty()).then_some(kept)
}

/// A text whose beginning was cut off, from its first whole line on; when it is one line, from its
/// first whole word on. A secret that was cut in two is not in it.
#[must_use]
pub fn after_the_cut(text: &str) -> &str {
    text.split_once('\n').or_else(|| text.split_once(char::is_whitespace)).map_or(text, |(_, rest)| rest)
}

#[cfg(test)]
mod tests;
