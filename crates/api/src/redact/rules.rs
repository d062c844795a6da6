//! Rules for secrets with a recognizable format, independent of their context.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Match, Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::{named, vendors};

/// Replacement for the matches of a rule.
enum Replacement {
    /// This template, in which groups of the match are expanded.
    Text(&'static str),
    /// This template, if the function considers the match a secret.
    TextIf(fn(&Captures<'_>) -> bool, &'static str),
    /// This template, for matches of this pattern. The rule's own pattern only detects a characteristic part,
    /// because the common automaton matches it faster.
    TextOf(&'static str, &'static str),
    /// Redacts values by the names that precede them; see [`named`].
    Named,
}

use Replacement::{Named, Text, TextIf, TextOf};

/// Maximum number of passes over a text. Texts of real programs need two; the limit bounds the work on
/// hostile input.
const MAX_PASSES: usize = 8;

/// Start of the first line of a private key or certificate.
const BLOCK_START: &str = "-----BEGIN ";

/// Start of a curl command up to the user option: separate, combined with other short options, or in a list
/// of arguments.
macro_rules! curl_user {
    () => {
        r#"((?-u:\b)curl(?-u:\b)(?:\\\n|[^\n])*?[\s"',](?:-[A-Za-z]*[uU]|--user|--proxy-user)(?:\\*["'],?)?[ \t=]*"#
    };
}

// In order of application: rules for enclosing structures come first. Word boundaries are ASCII, because
// Unicode boundaries make the automaton slow.
static RULES: [(&str, Replacement); 25] = [
    // Private key, possibly without its end.
    (
        concat!(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
            r"(?:(?s:.*?)-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
            r#"|(?:(?:\\[nrt]|[\s>|"'+,])*(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]*|[A-Za-z0-9+/=_-]{20,}))*"#,
            r"(?:(?:\\[nr]|\s)+[A-Za-z0-9+/=]+\z)?)",
        ),
        Text("[REDACTED_PRIVATE_KEY]"),
    ),
    // Private key without its beginning.
    (
        r"(?:[A-Za-z0-9+/=]+(?:\\[nr]|\r?\n)+)+-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
        Text("[REDACTED_PRIVATE_KEY]"),
    ),
    (r"AGE-SECRET-KEY-1[A-Z0-9]{20,}", Text("[REDACTED_PRIVATE_KEY]")),
    // User and password in a URL. The match is greedy, because passwords may contain an @.
    (USER_IN_URL, TextIf(is_secret_user, "${1}[REDACTED]@")),
    (
        r#"(:(?:\\?/){2})[^\s/:@"'<>`\[]*:[^\s/"'<>`]*[^\s/"'<>`0-9\]:][^\s/"'<>`]*/[^\s"'<>`@]*@"#,
        Text("${1}[REDACTED]@"),
    ),
    (r#"(?i)(%3A%2F%2F)(?:[^\s&"'/%]|%(?:2[0-9A-E]|3[0-9A-E]|[57][B-E]))+%40"#, Text("${1}[REDACTED]%40")),
    (vendors::WEBHOOK, Text("${1}[REDACTED]")),
    // Query parameters whose names mean a secret only in a URL.
    (
        r#"(?i)([?&](?:X-(?:Amz|Goog)-(?:Signature|Credential)|sig|signature|code|auth|pass)=)[^\s"'&\[][^\s"'&]*"#,
        Text("${1}[REDACTED]"),
    ),
    (named::PATTERN, Named),
    // Programs and file formats that separate the password by a space.
    (r"((?-u:\b)login\s+\S+\s+password\s+)[^\s\[]\S*", Text("${1}[REDACTED]")),
    (r"(?m)(^[ \t]*password[ \t]+)[^\s\[]\S*[ \t]*$", Text("${1}[REDACTED]")),
    (
        r"((?:(?:docker|podman|registry) login(?-u:\b)[^\n]*?\s|sshpass\s+)-p[ \t]*)[^\s\[-]\S*",
        Text("${1}[REDACTED]"),
    ),
    (
        concat!(curl_user!(), r#"\\*["'][^\s"':\\]*:)[^"'\n\[\\](?:[^"'\n\\]|\\[^"'\n])*"#),
        Text("${1}[REDACTED]"),
    ),
    (concat!(curl_user!(), r#"[^\s"':\\,]+:)[^\s"'\[\\](?:[^\s"'\\]|\\[^\s"'])*"#), Text("${1}[REDACTED]")),
    (r"((?-u:\b)[A-Za-z0-9_.-]+:)[^\s@/:\[]+(@(?:tcp|unix)\()", Text("${1}[REDACTED]${2}")),
    // Credentials after the name of an authentication scheme.
    (r#"(?i)(?-u:\b)(Bearer(?:\s+|%20|:\s*))([^\s"'\\,;<>()\[\]{}`]+)"#, TextIf(is_token, "${1}[REDACTED]")),
    (r"(?i)(?-u:\b)(Basic\s+)([A-Za-z0-9+/=_-]{8,})", TextIf(is_encoded, "${1}[REDACTED]")),
    // Keys with a vendor prefix.
    (
        r"gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|(?-u:\b)v1\.[a-f0-9]{40}(?-u:\b)",
        Text("[REDACTED_GH_TOKEN]"),
    ),
    (r"lgk_live_[A-Za-z0-9]+", Text("[REDACTED_API_KEY]")),
    (vendors::API_KEY, Text("${1}[REDACTED_API_KEY]")),
    (vendors::SLACK, Text("${1}[REDACTED_TOKEN]")),
    (vendors::TOKEN, Text("${1}[REDACTED_TOKEN]")),
    (vendors::INNER_MARK, TextOf(vendors::MARKED_TOKEN, "${1}[REDACTED_TOKEN]")),
    // Last, because these prefixes are short enough to occur by chance in other keys.
    (r"(?:AKIA|ASIA|AROA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}", Text("[REDACTED_AWS_KEY]")),
    (r"(^|[^A-Za-z0-9])sk-[A-Za-z0-9_-]{10,}", Text("${1}[REDACTED_SK_KEY]")),
];

/// User information of a URL: group 1 is `://`, group 2 is user and password.
pub(super) const USER_IN_URL: &str = r#"(:(?:\\?/){2})([^\s/"'<>`]+)@"#;

// One automaton of all rules, so that text without a secret is scanned once, and each rule as a regex of its
// own.
static COMPILED: LazyLock<(RegexSet, Vec<Regex>)> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    let set = RegexSet::new(RULES.iter().map(|(pattern, _)| pattern)).expect("constant patterns");
    let whole = |(pattern, replacement): &(&str, Replacement)| match replacement {
        TextOf(whole, _) => compiled(whole),
        _ => compiled(pattern),
    };
    (set, RULES.iter().map(whole).collect())
});

/// Memory in bytes for the states of an automaton that scans many small texts. With the default, different kinds of files
/// replace the states so often that a slow engine takes over: 11 seconds instead of 0.2 for 400,000 lines in 2,300 files.
const STATES: usize = 16 * 1024 * 1024;

// The rules that recognize a key by its format alone.
static KEY_RULES: LazyLock<(RegexSet, Vec<&'static Regex>)> = LazyLock::new(|| {
    let is_key = |replacement: &Replacement| match replacement {
        Text(template) | TextOf(_, template) => template.contains("[REDACTED_"),
        TextIf(..) | Named => false,
    };
    let rules = RULES.iter().zip(&COMPILED.1).filter(|((_, replacement), _)| is_key(replacement));
    let (patterns, regexes): (Vec<&str>, Vec<&'static Regex>) =
        rules.map(|((pattern, _), regex)| (*pattern, regex)).unzip();
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    let set = RegexSetBuilder::new(patterns).dfa_size_limit(STATES).build().expect("constant patterns");
    (set, regexes)
});

static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the pattern is a constant, and a test compiles it")]
    RegexBuilder::new(named::PATTERN).dfa_size_limit(STATES).build().expect("constant pattern")
});

/// Compiles a constant pattern.
pub(super) fn compiled(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    Regex::new(pattern).expect("constant pattern")
}

/// Applies the rules repeatedly until no rule matches: a replacement can expose an adjacent secret.
pub(super) fn apply(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MAX_PASSES {
        let Some(cleaned) = pass(&text) else { break };
        text = Cow::Owned(cleaned);
    }
    text
}

/// Returns whether a rule matches a key that is recognizable by its format alone and is not a placeholder.
pub(super) fn finds_key(text: &str) -> bool {
    key_rules(text).any(|rule| {
        rule.find_iter(text).any(|key| is_random(key.as_str()) && !is_part_of_data(text, &key.range()))
    })
}

/// Returns the byte ranges of the keys that [`finds_key`] detects, in the order of the text.
pub(super) fn keys(text: &str) -> Vec<Range<usize>> {
    let rules: Vec<&Regex> = key_rules(text).collect();
    let mut keys = Vec::new();
    if !rules.is_empty() {
        // The rule for private keys scans from each beginning to the next end, or to the end of the text. A block contains
        // no other beginning, so that parts with one beginning each bound the time for text with many of them.
        for part in parts(text) {
            for rule in &rules {
                let part_text = &text[part.clone()];
                let is_key =
                    |key: &Match<'_>| is_random(key.as_str()) && !is_part_of_data(part_text, &key.range());
                let found = rule.find_iter(part_text).filter(is_key);
                // Some rules match the character before the key, which may be a line break.
                let start = |key: &Match<'_>| key.end() - key.as_str().trim_start().len();
                keys.extend(found.map(|key| part.start + start(&key)..part.start + key.end()));
            }
        }
    }
    keys.sort_by_key(|key| (key.start, Reverse(key.end)));
    // Several formats match one key, for example the end of a private key.
    let mut end = 0;
    keys.retain(|key| {
        let is_new = key.end > end;
        end = end.max(key.end);
        is_new
    });
    keys
}

/// Splits a text before each beginning of a block in the format of private keys and certificates.
fn parts(text: &str) -> Vec<Range<usize>> {
    let starts = text.match_indices(BLOCK_START).map(|(at, _)| at).filter(|at| *at > 0);
    let starts: Vec<usize> = std::iter::once(0).chain(starts).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| *start..end).collect()
}

/// Returns the rules that match a text and recognize a key by its format. The other ones, with the generic replacement
/// `[REDACTED]`, rely on context, such as a URL or a command line.
fn key_rules(text: &str) -> impl Iterator<Item = &'static Regex> {
    let (set, regexes) = &*KEY_RULES;
    set.matches(text).into_iter().map(|index| regexes[index])
}

/// Returns the byte ranges of the values whose names denote a secret.
pub(super) fn named_values(text: &str) -> Vec<Range<usize>> {
    named::values(&NAMED, text).collect()
}

/// Returns whether a word looks like a random key: long, with digits and many different characters.
fn is_random(word: &str) -> bool {
    const MIN_LENGTH: usize = 20;
    const MIN_DISTINCT: usize = 10;
    let characters: std::collections::BTreeSet<char> =
        word.chars().filter(char::is_ascii_alphanumeric).collect();
    word.len() >= MIN_LENGTH
        && characters.len() >= MIN_DISTINCT
        && characters.iter().any(char::is_ascii_digit)
        // AWS documentation uses keys such as AKIAIOSFODNN7EXAMPLE.
        && !word.to_ascii_uppercase().contains("EXAMPLE")
}

/// Returns whether a match is a part of base64-encoded data, in which short formats occur by chance.
fn is_part_of_data(text: &str, key: &Range<usize>) -> bool {
    const MIN_DATA: usize = 100;
    let is_base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let bytes = text.as_bytes();
    bytes[..key.start].iter().rev().take(MIN_DATA).take_while(is_base64).count() == MIN_DATA
        || bytes[key.end..].iter().take(MIN_DATA).take_while(is_base64).count() == MIN_DATA
}

/// Applies all matching rules once; returns `None` when the text is unchanged.
fn pass(text: &str) -> Option<String> {
    let (set, regexes) = &*COMPILED;
    let mut cleaned = Cow::Borrowed(text);
    // The set matched the original text. If an earlier rule replaced the match since, this rule changes
    // nothing; new matches are found in the next pass.
    for index in set.matches(text) {
        let (regex, (_, replacement)) = (&regexes[index], &RULES[index]);
        let replaced = match replacement {
            Text(template) | TextOf(_, template) => regex.replace_all(&cleaned, *template),
            TextIf(is_secret, template) => regex.replace_all(&cleaned, |captures: &Captures<'_>| {
                let mut text = String::new();
                if is_secret(captures) {
                    captures.expand(template, &mut text);
                } else {
                    text.push_str(&captures[0]);
                }
                text
            }),
            Named => named::replace(regex, &cleaned),
        };
        if let Cow::Owned(replaced) = replaced {
            cleaned = Cow::Owned(replaced);
        }
    }
    (cleaned != text).then(|| cleaned.into_owned())
}

/// Returns whether the user information of a URL is more than the shared user name `git` or a placeholder.
fn is_secret_user(captures: &Captures<'_>) -> bool {
    !matches!(&captures[2], "git" | "***" | "[REDACTED]")
}

/// Words that follow the name of an authentication scheme in prose.
const PROSE_AFTER_SCHEME: [&str; 20] = [
    "and",
    "auth",
    "authentication",
    "authorization",
    "credentials",
    "error",
    "for",
    "from",
    "header",
    "headers",
    "in",
    "is",
    "not",
    "or",
    "realm",
    "scheme",
    "token",
    "tokens",
    "was",
    "with",
];

fn is_token(captures: &Captures<'_>) -> bool {
    let word = captures[2].trim_end_matches(['.', ':', '!', '?']);
    // `realm="…"` belongs to a challenge (`WWW-Authenticate`), not to a credential.
    let word = word.strip_suffix('=').unwrap_or(word);
    !word.is_empty() && !PROSE_AFTER_SCHEME.contains(&word.to_ascii_lowercase().as_str())
}

/// Returns whether a word looks like base64 rather than prose: a digit, padding, or an upper-case letter
/// inside.
fn is_encoded(captures: &Captures<'_>) -> bool {
    let word = &captures[2];
    word.chars().skip(1).any(|c| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles() {
        let (set, regexes) = &*COMPILED;
        assert_eq!((set.len(), regexes.len()), (RULES.len(), RULES.len()));
    }
}
