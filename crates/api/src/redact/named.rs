//! Secrets that only their name gives away: what is called a password, a token or a key, and is
//! given a value, in any of the notations in which programs write that down.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;

use super::names::{NameKind, kind};

const REDACTED: &str = "[REDACTED]";

/// What is behind a colon where there is no secret: nothing, or the name of a type.
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

/// A name that may mean a secret, and the sign behind which its value stands.
pub(super) const PATTERN: &str = concat!(
    r"(?i)(?P<name>[A-Z0-9_.-]*",
    r"(?:pass|pwd|_pw|secret|token|(?:api|access|secret|private|priv|signing|encryption|master|account|shared",
    r"|auth|session|deploy|ssh|license|service)[_.-]?key|credential|creds|cookie|auth|jwt|_pat|connection[_.-]?string)",
    r"[A-Z0-9_.-]*)",
    r"(?P<sign>",
    // {"name": "DB_PASSWORD", "value": …}
    r#"\\*["']?\s*,?\s*\\*["']?value\\*["']?\s*[:=]\s*"#,
    // ["--token", …]
    r#"|\\*["']\s*,\s*"#,
    r#"|\\*["'`]?[ \t]*(?:=>|:=|==|=|:)[ \t]*"#,
    // <password>…
    r"|>",
    // --token …
    r"|[ \t]+)",
);

/// Replaces the values of all secrets that the text names.
pub(super) fn replace<'a>(pattern: &Regex, text: &'a str) -> Cow<'a, str> {
    let mut cleaned = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = pattern.captures_at(text, at) {
        let (Some(whole), Some(name), Some(sign)) = (found.get(0), found.name("name"), found.name("sign"))
        else {
            break;
        };
        at = whole.end();
        let Some(kind) = kind(name.as_str()) else { continue };
        let place = NameOccurrence { text, kind, name: name.range(), sign: sign.as_str(), at: whole.end() };
        let Some(value) = place.secret() else { continue };
        cleaned.push_str(&text[done..value.start]);
        cleaned.push_str(REDACTED);
        (done, at) = (value.end, value.end.max(whole.end()));
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    cleaned.push_str(&text[done..]);
    Cow::Owned(cleaned)
}

/// The value of a member that has such a name, cleaned; `None` when its name says nothing.
pub(super) fn member(name: &str, value: &str) -> Option<String> {
    let kind = kind(name)?;
    let secret = kind.without_scheme(value);
    let known =
        is_placeholder(secret) || is_ordinary(secret) || (kind == NameKind::Vague && !looks_made(secret));
    (!known).then(|| format!("{}{REDACTED}", &value[..value.len() - secret.len()]))
}

/// A name with its sign, where it stands.
struct NameOccurrence<'a> {
    text: &'a str,
    kind: NameKind,
    name: Range<usize>,
    sign: &'a str,
    /// Where the value begins.
    at: usize,
}

impl NameOccurrence<'_> {
    /// Where the secret is, if there is one.
    fn secret(&self) -> Option<Range<usize>> {
        let value = match self.sign.trim() {
            "" => self.of_option(),
            ">" => self.of_element(),
            "==" => None,
            sign if sign.ends_with(',') => self.next_argument(),
            sign => self.assigned(sign),
        }?;
        let text = &self.text[value.clone()];
        let is_none = is_placeholder(text) || (self.sign != "=" && is_ordinary(text));
        (!is_none).then_some(value)
    }

    fn is_option(&self) -> bool {
        self.text[self.name.clone()].starts_with('-')
    }

    /// `--token v`
    fn of_option(&self) -> Option<Range<usize>> {
        let value = self.quoted().unwrap_or_else(|| self.word());
        (self.is_option() && !self.text[value.clone()].starts_with(['-', '|', '<'])).then_some(value)
    }

    /// `["--token", "v"]`
    fn next_argument(&self) -> Option<Range<usize>> {
        self.quoted().filter(|_| self.is_option())
    }

    /// `<password>v</password>`
    fn of_element(&self) -> Option<Range<usize>> {
        let is_tag = self.text[..self.name.start].ends_with('<');
        let length = self.text[self.at..].find('<').filter(|_| is_tag)?;
        Some(self.at..self.at + length)
    }

    fn assigned(&self, sign: &str) -> Option<Range<usize>> {
        let quoted_name = sign.starts_with(['\\', '"', '\'', '`']) || sign.contains("value");
        if let Some(value) = self.quoted() {
            let inner = &self.text[value.clone()];
            // In a sentence a word may be in such quotes itself.
            let in_prose = self.text[..value.start].ends_with('`') && self.kind == NameKind::Token;
            let vague = (self.kind == NameKind::Vague || in_prose) && !looks_made(inner);
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

    /// `"password": 12345`; an object or array is redacted member by member.
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
        let alone = value.end >= line.end;
        let begins_line = self.begins_line();
        // What a shell or a program prints of its environment.
        let is_variable =
            self.sign == "=" && !self.text[self.name.clone()].contains(|c: char| c.is_lowercase());
        if begins_line && is_variable && self.kind != NameKind::Vague {
            return Some(line);
        }
        let assigned = self.sign == "=";
        let sure = match self.kind {
            NameKind::Vague => looks_made(word),
            _ if assigned => true,
            NameKind::Password if begins_line && sign == ":" => return Some(line),
            NameKind::Password => alone || !is_prose(word),
            _ => (begins_line && alone && !word.contains('(')) || looks_made(word),
        };
        sure.then_some(value)
    }

    /// The value of a header: one word behind a scheme that has one, else the whole line or string.
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

    /// From here to the end of the line, or of the string that the name begins.
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

    /// Whether nothing but what may be before a variable or a key is on the line.
    fn begins_line(&self) -> bool {
        let before = &self.text[..self.name.start];
        let before = before.rsplit('\n').next().unwrap_or_default().trim();
        matches!(before, "" | "-" | "export" | "set" | "setenv" | "declare -x" | "ENV" | "env")
    }

    /// One word. A separator ends it where another member follows, for a password may hold one.
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
        // Were nothing else there, those would be the secret.
        let length = if word.is_empty() { length } else { word.len() };
        self.at..self.at + length
    }

    /// The inside of a string, also of one that is inside other strings, with as many
    /// backslashes before its quotes. One that is cut off goes to the end of its line.
    fn quoted(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
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

    /// The lines below `password: |`, as far as they are indented.
    fn block(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        let (mark, below) = rest.split_once('\n')?;
        let is_block = matches!(mark.trim_end(), "|" | ">" | "|-" | ">-" | "|+" | ">+");
        let above = self.text[..self.name.start].rsplit('\n').next().unwrap_or_default();
        let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
        let inside = |line: &&str| line.trim().is_empty() || indent(line) > indent(above);
        let lines: Vec<&str> = below.split('\n').take_while(inside).collect();
        let length: usize = lines.iter().map(|line| line.len() + 1).sum();
        let first = lines.first().filter(|_| is_block)?;
        let start = self.at + mark.len() + 1;
        let end = (start + length - 1).min(self.text.len());
        let value = start + indent(first)..start + self.text[start..end].trim_end().len();
        (value.start < value.end).then_some(value)
    }
}

/// Where the string ends whose quotes have so many backslashes before them.
fn closing(inside: &str, quote: char, slashes: usize) -> Option<usize> {
    inside.match_indices(quote).find_map(|(index, _)| {
        let before = inside[..index].len() - inside[..index].trim_end_matches('\\').len();
        // A quote inside the string has more of them, one of an outer string has fewer.
        let closes = before < slashes || before % (2 * (slashes + 1)) == slashes;
        closes.then(|| index - before.min(slashes))
    })
}

/// Whether a string that began on another line ends where its line does.
fn ends_its_line(text: &str, quote: char) -> bool {
    let after = text.trim_start_matches('\\').strip_prefix(quote);
    after.is_some_and(|after| after.is_empty() || after.starts_with(['\n', '\r', ',', ';', '}']))
}

/// Whether a separator is followed by something of its own: nothing, a blank, a string, or `name=`.
fn begins_member(after: &str) -> bool {
    let Some(first) = after.chars().next() else { return true };
    if first.is_whitespace() || matches!(first, '"' | '\'' | '{' | '[' | '(' | '\\') {
        return true;
    }
    let name = after.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-'));
    name.is_some_and(|end| end > 0 && after[end..].starts_with(['=', ':']))
}

/// The length of a replacement that is here already.
fn marker(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("[REDACTED")?;
    let end = inside.find(|c: char| !c.is_ascii_uppercase() && c != '_')?;
    let after = inside[end..].strip_prefix(']')?;
    let is_whole = !after.starts_with(|c: char| c.is_alphanumeric());
    is_whole.then(|| text.len() - after.len())
}

/// Whether a value says that there is none, or that it is elsewhere.
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

/// Whether a value is a word that says what kind of value belongs there.
fn is_ordinary(value: &str) -> bool {
    let word = value.trim().trim_end_matches([',', ';']).trim_start_matches('&');
    ORDINARY.contains(&word.to_ascii_lowercase().as_str())
}

/// Whether a word was made by a program: a digit in a word of some length, or a very long word.
fn looks_made(word: &str) -> bool {
    let is_call = word.contains(['(', '{']);
    !is_call && (word.len() >= 20 || (word.len() >= 6 && word.contains(|c: char| c.is_ascii_digit())))
}

/// Whether a word belongs to a sentence rather than being a password.
fn is_prose(word: &str) -> bool {
    word.trim_end_matches([',', '.', ':']).bytes().all(|byte| byte.is_ascii_lowercase())
}
