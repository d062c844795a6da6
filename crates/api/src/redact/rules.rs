//! Secrets that are recognised by their own format, wherever they occur.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

use super::{named, vendors};

/// What a match is replaced by.
enum Replacement {
    /// This text, with the match's groups in it.
    Text(&'static str),
    /// The same, when the match is held to be a secret.
    TextIf(fn(&Captures<'_>) -> bool, &'static str),
    /// The same for matches of this pattern; the rule's own is only a mark of them, which the
    /// automaton of all rules reads faster.
    TextOf(&'static str, &'static str),
    /// Whatever the names in the text say.
    Named,
}

use Replacement::{Named, Text, TextIf, TextOf};

/// Passes over one text; two do for all that programs print.
const MAX_PASSES: usize = 8;

/// A call of curl up to its user: alone, among other short options, or in a list of arguments.
macro_rules! curl_user {
    () => {
        r#"((?-u:\b)curl(?-u:\b)(?:\\\n|[^\n])*?[\s"',](?:-[A-Za-z]*[uU]|--user|--proxy-user)(?:\\*["'],?)?[ \t=]*"#
    };
}

/// Every rule, in the order in which they are applied: what encloses comes before what it holds.
/// The boundaries of words are those of ASCII, because others make the automaton slow.
static RULES: [(&str, Replacement); 25] = [
    // A private key, also one whose end or beginning was cut off.
    (
        concat!(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
            r"(?:(?s:.*?)-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
            r#"|(?:(?:\\[nrt]|[\s>|"'+,])*(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]*|[A-Za-z0-9+/=_-]{20,}))*"#,
            r"(?:(?:\\[nr]|\s)+[A-Za-z0-9+/=]+\z)?)",
        ),
        Text("[REDACTED_PRIVATE_KEY]"),
    ),
    (
        r"(?:[A-Za-z0-9+/=]+(?:\\[nr]|\r?\n)+)+-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
        Text("[REDACTED_PRIVATE_KEY]"),
    ),
    (r"AGE-SECRET-KEY-1[A-Z0-9]{20,}", Text("[REDACTED_PRIVATE_KEY]")),
    // User and password in a URL; the greedy middle takes a password with an @ in it.
    (USER_IN_URL, TextIf(is_secret_user, "${1}[REDACTED]@")),
    (
        r#"(:(?:\\?/){2})[^\s/:@"'<>`\[]*:[^\s/"'<>`]*[^\s/"'<>`0-9\]:][^\s/"'<>`]*/[^\s"'<>`@]*@"#,
        Text("${1}[REDACTED]@"),
    ),
    (r#"(?i)(%3A%2F%2F)(?:[^\s&"'/%]|%(?:2[0-9A-E]|3[0-9A-E]|[57][B-E]))+%40"#, Text("${1}[REDACTED]%40")),
    (vendors::WEBHOOK, Text("${1}[REDACTED]")),
    // What only a URL calls so.
    (
        r#"(?i)([?&](?:X-(?:Amz|Goog)-(?:Signature|Credential)|sig|signature|code|auth|pass)=)[^\s"'&\[][^\s"'&]*"#,
        Text("${1}[REDACTED]"),
    ),
    (named::PATTERN, Named),
    // Files and programs that set a password behind a blank.
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
    // Credentials behind the name of their scheme.
    (r#"(?i)(?-u:\b)(Bearer(?:\s+|%20|:\s*))([^\s"'\\,;<>()\[\]{}`]+)"#, TextIf(is_token, "${1}[REDACTED]")),
    (r"(?i)(?-u:\b)(Basic\s+)([A-Za-z0-9+/=_-]{8,})", TextIf(is_encoded, "${1}[REDACTED]")),
    // Keys with a mark of their maker.
    (
        r"gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|(?-u:\b)v1\.[a-f0-9]{40}(?-u:\b)",
        Text("[REDACTED_GH_TOKEN]"),
    ),
    (r"lgk_live_[A-Za-z0-9]+", Text("[REDACTED_API_KEY]")),
    (vendors::API_KEY, Text("${1}[REDACTED_API_KEY]")),
    (vendors::SLACK, Text("${1}[REDACTED_TOKEN]")),
    (vendors::TOKEN, Text("${1}[REDACTED_TOKEN]")),
    (vendors::INNER_MARK, TextOf(vendors::MARKED_TOKEN, "${1}[REDACTED_TOKEN]")),
    // Last, because their marks are short enough to be in another key by chance.
    (r"(?:AKIA|ASIA|AROA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}", Text("[REDACTED_AWS_KEY]")),
    (r"(^|[^A-Za-z0-9])sk-[A-Za-z0-9_-]{10,}", Text("${1}[REDACTED_SK_KEY]")),
];

/// The user info of a URL: group 1 is `://`, group 2 user and password.
pub(super) const USER_IN_URL: &str = r#"(:(?:\\?/){2})([^\s/"'<>`]+)@"#;

/// All rules in one automaton, so that text without a secret is read once; and each by itself.
static COMPILED: LazyLock<(RegexSet, Vec<Regex>)> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    let set = RegexSet::new(RULES.iter().map(|(pattern, _)| pattern)).expect("constant patterns");
    let whole = |(pattern, replacement): &(&str, Replacement)| match replacement {
        TextOf(whole, _) => compiled(whole),
        _ => compiled(pattern),
    };
    (set, RULES.iter().map(whole).collect())
});

/// A pattern of this program.
pub(super) fn compiled(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    Regex::new(pattern).expect("constant pattern")
}

/// Replaces every secret that a rule knows, until no rule finds one: what takes a secret's place may
/// uncover the one beside it.
pub(super) fn apply(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MAX_PASSES {
        let Some(cleaned) = pass(&text) else { break };
        text = Cow::Owned(cleaned);
    }
    text
}

/// Whether a rule finds a key: what it takes the place of is one by its shape alone, and not the
/// placeholder of one.
pub(super) fn finds_key(text: &str) -> bool {
    let (set, regexes) = &*COMPILED;
    set.matches(text).into_iter().any(|index| {
        let (Text(template) | TextOf(_, template)) = RULES[index].1 else { return false };
        template.contains("[REDACTED_")
            && regexes[index].find_iter(text).any(|found| is_random(found.as_str()))
    })
}

/// Whether a word has the look of a key: long, with digits, and of many different characters.
fn is_random(word: &str) -> bool {
    const SHORTEST: usize = 20;
    const CHARACTERS: usize = 10;
    let characters: std::collections::BTreeSet<char> =
        word.chars().filter(char::is_ascii_alphanumeric).collect();
    word.len() >= SHORTEST
        && characters.len() >= CHARACTERS
        && characters.iter().any(char::is_ascii_digit)
        && !word.to_ascii_uppercase().contains("EXAMPLE")
}

/// Applies the rules that match; `None` when nothing changed.
fn pass(text: &str) -> Option<String> {
    let (set, regexes) = &*COMPILED;
    let mut cleaned = Cow::Borrowed(text);
    for index in set.matches(text) {
        let (regex, (_, replacement)) = (&regexes[index], &RULES[index]);
        let replaced = match replacement {
            Text(template) | TextOf(_, template) => regex.replace_all(&cleaned, *template),
            TextIf(is_secret, template) => regex.replace_all(&cleaned, |found: &Captures<'_>| {
                let mut text = String::new();
                if is_secret(found) {
                    found.expand(template, &mut text);
                } else {
                    text.push_str(&found[0]);
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

/// Whether the user of a URL is more than the name that git's servers share.
fn is_secret_user(found: &Captures<'_>) -> bool {
    !matches!(&found[2], "git" | "***" | "[REDACTED]")
}

/// Words that follow the name of a scheme in sentences about it.
const ABOUT_A_SCHEME: [&str; 20] = [
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

fn is_token(found: &Captures<'_>) -> bool {
    let word = found[2].trim_end_matches(['.', ':', '!', '?']);
    // `realm="…"` belongs to the question for a token, not to the token.
    let word = word.strip_suffix('=').unwrap_or(word);
    !word.is_empty() && !ABOUT_A_SCHEME.contains(&word.to_ascii_lowercase().as_str())
}

/// Whether a word is encoded rather than written: a digit, padding, or a capital inside it.
fn is_encoded(found: &Captures<'_>) -> bool {
    let word = &found[2];
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
