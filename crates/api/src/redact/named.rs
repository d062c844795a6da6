//! Secrets that are recognizable only by name: the value of a password, token or key in the notations of
//! configuration files, command lines, JSON and source code.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;

use super::names::{NameKind, kind};

const REDACTED: &str = "[REDACTED]";

/// Values after a colon that are not secrets: type names, booleans and placeholders.
const ORDINARY: [&str; 26] = [
    "any",
    "basic",
    "bearer",
    "bool",
    "boolean",
    "bytes",
    "empty",
    "false",
    "include",
    "nil",
    "no",
    "none",
    "null",
    "number",
    "oauth",
    "omit",
    "optional",
    "required",
    "same-origin",
    "str",
    "string",
    "true",
    "undefined",
    "unknown",
    "unset",
    "yes",
];

// A name that may denote a secret, and the sign that separates it from its value. `names::kind` decides
// whether it does.
pub(super) const PATTERN: &str = concat!(
    r"(?i)(?P<name>[A-Z0-9_.-]*",
    r"(?:pass|pwd|_pw|secret|token|(?:api|access|secret|private|priv|signing|encryption|master|account|shared",
    r"|auth|session|deploy|ssh|license|service)[_.-]?key|credential|creds|cookie|auth|jwt|_pat|connection[_.-]?string)",
    r"[A-Z0-9_.-]*)",
    r"(?P<sign>",
    // A pair such as {"name": "DB_PASSWORD", "value": …}.
    r#"\\*["']?\s*,?\s*\\*["']?value\\*["']?\s*[:=]\s*"#,
    // An argument list such as ["--token", …].
    r#"|\\*["']\s*,\s*"#,
    r#"|\\*["'`]?[ \t]*(?:=>|:=|==|=|:)[ \t]*"#,
    // An XML element such as <password>…
    r"|>",
    // An option such as --token …
    r"|[ \t]+)",
);

/// Returns the byte ranges of the values of all names in a text that denote a secret.
pub(super) fn values<'a>(pattern: &'a Regex, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(captures) = pattern.captures_at(text, at) {
            let (whole, name, sign) = (captures.get(0)?, captures.name("name")?, captures.name("sign")?);
            at = whole.end();
            let Some(kind) = kind(name.as_str()) else { continue };
            let occurrence =
                NameOccurrence { text, kind, name: name.range(), sign: sign.as_str(), at: whole.end() };
            let Some(value) = occurrence.secret() else { continue };
            // Continue after the value, which may itself look like a name.
            at = value.end.max(whole.end());
            return Some(value);
        }
        None
    })
}

/// Redacts the values of all names in a text that denote a secret.
pub(super) fn replace<'a>(pattern: &Regex, text: &'a str) -> Cow<'a, str> {
    let mut cleaned = String::new();
    let mut done = 0;
    for value in values(pattern, text) {
        cleaned.push_str(&text[done..value.start]);
        cleaned.push_str(REDACTED);
        done = value.end;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    cleaned.push_str(&text[done..]);
    Cow::Owned(cleaned)
}

/// Redacts the value of a member by the member's name; returns `None` when it is not a secret.
pub(super) fn member(name: &str, value: &str) -> Option<String> {
    let kind = kind(name)?;
    let secret = kind.without_scheme(value);
    let is_harmless = is_placeholder(secret)
        || is_ordinary(secret)
        || (kind == NameKind::Vague && !looks_generated(secret));
    (!is_harmless).then(|| format!("{}{REDACTED}", &value[..value.len() - secret.len()]))
}

/// An occurrence of a secret's name in a text.
struct NameOccurrence<'a> {
    text: &'a str,
    kind: NameKind,
    name: Range<usize>,
    sign: &'a str,
    /// Byte offset of the value.
    at: usize,
}

impl NameOccurrence<'_> {
    /// Returns the byte range of the secret, if there is one.
    fn secret(&self) -> Option<Range<usize>> {
        let value = match self.sign.trim() {
            "" => self.of_option(),
            ">" => self.of_element(),
            "==" => None,
            sign if sign.ends_with(',') => self.next_argument(),
            sign => self.assigned(sign),
        }?;
        let text = &self.text[value.clone()];
        // An assignment in a shell sets the literal value, so `token=none` is redacted as well.
        let is_harmless = is_placeholder(text) || (self.sign != "=" && is_ordinary(text));
        (!is_harmless).then_some(value)
    }

    fn is_option(&self) -> bool {
        self.text[self.name.clone()].starts_with('-')
    }

    /// Value of an option: `--token v`.
    fn of_option(&self) -> Option<Range<usize>> {
        let value = self.quoted().unwrap_or_else(|| self.word());
        (self.is_option() && !self.text[value.clone()].starts_with(['-', '|', '<'])).then_some(value)
    }

    /// Next element of an argument list: `["--token", "v"]`.
    fn next_argument(&self) -> Option<Range<usize>> {
        self.quoted().filter(|_| self.is_option())
    }

    /// Content of an XML element: `<password>v</password>`.
    fn of_element(&self) -> Option<Range<usize>> {
        let is_tag = self.text[..self.name.start].ends_with('<');
        // Searched only for a tag: the text may contain many names and no element.
        let length = is_tag.then(|| self.text[self.at..].find('<'))??;
        Some(self.at..self.at + length)
    }

    fn assigned(&self, sign: &str) -> Option<Range<usize>> {
        let quoted_name = sign.starts_with(['\\', '"', '\'', '`']) || sign.contains("value");
        if let Some(value) = self.quoted() {
            let inner = &self.text[value.clone()];
            // In Markdown prose, backquotes may enclose an ordinary word: "token: `}`".
            let in_prose = self.text[..value.start].ends_with('`') && self.kind == NameKind::Token;
            let vague = (self.kind == NameKind::Vague || in_prose) && !looks_generated(inner);
            return (!vague).then(|| value.end - self.kind.without_scheme(inner).len()..value.end);
        }
        if let Some(block) = self.block() {
            return Some(block);
        }
        match self.kind {
            NameKind::Cookie | NameKind::Authorization if sign == ":" => Some(self.header()),
            _ if quoted_name => self.bare_member(),
            _ => self.unquoted(sign),
        }
    }

    /// Unquoted JSON value: `"password": 12345`. Objects and arrays are redacted by their own members.
    fn bare_member(&self) -> Option<Range<usize>> {
        let value = self.word();
        let text = &self.text[value.clone()];
        let is_structure = text.starts_with(['{', '[']);
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        (!is_structure && (self.kind == NameKind::Password || !is_number)).then_some(value)
    }

    fn unquoted(&self, sign: &str) -> Option<Range<usize>> {
        let value = self.word();
        let word = &self.text[value.clone()];
        let line = self.rest_of_line();
        let is_last_word = value.end >= line.end;
        let begins_line = self.begins_line();
        // Output of `env`: the value extends to the end of the line and may contain spaces.
        let is_variable =
            self.sign == "=" && !self.text[self.name.clone()].contains(|c: char| c.is_lowercase());
        if begins_line && is_variable && self.kind != NameKind::Vague {
            return Some(line);
        }
        let assigned = self.sign == "=";
        let is_secret = match self.kind {
            NameKind::Vague => looks_generated(word),
            _ if assigned => true,
            NameKind::Password if begins_line && sign == ":" => return Some(line),
            NameKind::Password => is_last_word || !is_prose(word),
            _ => (begins_line && is_last_word && !word.contains('(')) || looks_generated(word),
        };
        is_secret.then_some(value)
    }

    /// Value of a header: one word after a known scheme, otherwise the rest of the line or string.
    fn header(&self) -> Range<usize> {
        let line = self.rest_of_line();
        let text = &self.text[line.clone()];
        let rest = self.kind.without_scheme(text);
        if rest.len() == text.len() {
            return line;
        }
        let start = line.end - rest.len();
        NameOccurrence { at: start, sign: self.sign, name: self.name.clone(), ..*self }.word()
    }

    /// Range up to the end of the line, or of the string literal that starts before the name.
    fn rest_of_line(&self) -> Range<usize> {
        let rest = &self.text[self.at..];
        let mut length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        if let Some(quote) =
            self.text[..self.name.start].chars().next_back().filter(|c| matches!(c, '"' | '\''))
        {
            length =
                rest[..length].find(quote).map_or(length, |end| rest[..end].trim_end_matches('\\').len());
        }
        self.at..self.at + rest[..length].trim_end().len()
    }

    /// Returns whether the name is the first on its line, apart from keywords and list markers.
    fn begins_line(&self) -> bool {
        let before = &self.text[..self.name.start];
        let before = before.rsplit('\n').next().unwrap_or_default().trim();
        matches!(before, "" | "-" | "export" | "set" | "setenv" | "declare -x" | "ENV" | "env")
    }

    /// Range of one word. A separator ends it only if another member follows, because a password may contain
    /// separators.
    fn word(&self) -> Range<usize> {
        let rest = &self.text[self.at..];
        if let Some(marker) = marker(rest) {
            return self.at..self.at + marker;
        }
        let mut length = rest.len();
        for (index, letter) in rest.char_indices() {
            let after = &rest[index + letter.len_utf8()..];
            let ends = match letter {
                '"' | '\'' | '`' | '<' => true,
                '&' | ';' | ',' => begins_member(after),
                '\\' => after.starts_with(['n', 'r', 't', '"', '\'', '\\']),
                _ => letter.is_whitespace(),
            };
            if ends {
                length = index;
                break;
            }
        }
        let word = rest[..length].trim_end_matches([')', ']', '}', '>', ',', ';', '.']);
        // A value that consists of trailing punctuation only is the secret itself.
        let length = if word.is_empty() { length } else { word.len() };
        self.at..self.at + length
    }

    /// Content of a string literal, also within other strings, where quotes are escaped with backslashes. An
    /// unterminated string ends with its line.
    fn quoted(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        // Prefixes of string literals in Python, Rust, C# and shells, such as b"…" and $'…'.
        let prefix = rest.bytes().take(2).take_while(|byte| b"bBrRuU$@".contains(byte)).count();
        let slashes = rest[prefix..].bytes().take_while(|byte| *byte == b'\\').count();
        let quote = rest[prefix + slashes..].chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
        let start = prefix + slashes + 1;
        let inside = &rest[start..];
        let line = inside.find('\n').unwrap_or(inside.len());
        let end = closing(inside, quote, slashes);
        let length = match end {
            Some(end) if end <= line || ends_its_line(&inside[end..], quote) => end,
            _ => inside[..line].trim_end().len(),
        };
        Some(self.at + start..self.at + start + length)
    }

    /// Indented lines of a YAML block scalar, `password: |`.
    fn block(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        let (mark, below) = rest.split_once('\n')?;
        if !matches!(mark.trim_end(), "|" | ">" | "|-" | ">-" | "|+" | ">+") {
            return None;
        }
        let above = self.text[..self.name.start].rsplit('\n').next().unwrap_or_default();
        let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
        let inside = |line: &&str| line.trim().is_empty() || indent(line) > indent(above);
        let lines: Vec<&str> = below.split('\n').take_while(inside).collect();
        let length: usize = lines.iter().map(|line| line.len() + 1).sum();
        let first = lines.first()?;
        let start = self.at + mark.len() + 1;
        let end = (start + length - 1).min(self.text.len());
        let value = start + indent(first)..start + self.text[start..end].trim_end().len();
        (value.start < value.end).then_some(value)
    }
}

/// Returns the offset of the closing quote, which is preceded by `slashes` backslashes.
fn closing(inside: &str, quote: char, slashes: usize) -> Option<usize> {
    inside.match_indices(quote).find_map(|(index, _)| {
        let before = inside[..index].len() - inside[..index].trim_end_matches('\\').len();
        // A quote inside the string has more backslashes, a quote of an enclosing string has fewer.
        let closes = before < slashes || before % (2 * (slashes + 1)) == slashes;
        closes.then(|| index - before.min(slashes))
    })
}

/// Returns whether the quote at the start of `text` is the end of a statement or line.
///
/// Otherwise the quote more likely starts another string, and the multi-line match is not one literal.
fn ends_its_line(text: &str, quote: char) -> bool {
    let after = text.trim_start_matches('\\').strip_prefix(quote);
    after.is_some_and(|after| after.is_empty() || after.starts_with(['\n', '\r', ',', ';', '}']))
}

/// Returns whether a new member follows a separator: the end, whitespace, a string or `name=`.
fn begins_member(after: &str) -> bool {
    let Some(first) = after.chars().next() else { return true };
    if first.is_whitespace() || matches!(first, '"' | '\'' | '{' | '[' | '(' | '\\') {
        return true;
    }
    let name = after.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-'));
    name.is_some_and(|end| end > 0 && after[end..].starts_with(['=', ':']))
}

/// Returns the length of an existing placeholder at the start of a text.
fn marker(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("[REDACTED")?;
    let end = inside.find(|c: char| !c.is_ascii_uppercase() && c != '_')?;
    let after = inside[end..].strip_prefix(']')?;
    let is_whole = !after.starts_with(|c: char| c.is_alphanumeric());
    is_whole.then(|| text.len() - after.len())
}

/// Returns whether a value is a placeholder or a reference to a variable.
fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let variable = value.strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    !value.contains(char::is_alphanumeric)
        || marker(value) == Some(value.len())
        || variable.is_some_and(is_name)
        || (value.starts_with("${{") || value.starts_with("{{")) && value.ends_with("}}")
        || (value.starts_with('<') && value.ends_with('>'))
}

/// Returns whether a value is a word of [`ORDINARY`].
fn is_ordinary(value: &str) -> bool {
    let word = value.trim().trim_end_matches([',', ';']).trim_start_matches('&');
    ORDINARY.contains(&word.to_ascii_lowercase().as_str())
}

/// Returns whether a word looks generated: at least 6 characters with a digit, or at least 20 characters.
fn looks_generated(word: &str) -> bool {
    let is_call = word.contains(['(', '{']);
    !is_call && (word.len() >= 20 || (word.len() >= 6 && word.contains(|c: char| c.is_ascii_digit())))
}

/// Returns whether a word looks like prose: lower-case letters only.
fn is_prose(word: &str) -> bool {
    word.trim_end_matches([',', '.', ':']).bytes().all(|byte| byte.is_ascii_lowercase())
}
