//! The patterns file in TOON format: text and comments of the user, one header, and one row per pattern.
//!
//! Lines that are not rows, and unchanged rows, are preserved byte for byte.

use crate::pattern::{Confidence, Pattern, one_line};

const TITLE: &str = "# Organization Patterns (TOON format)";
const FIELDS: &str = "id,category,summary,confidence,seen_count,success_rate,flags,applies_to,context,repo";
/// Minimum number of fields in a row: the repository is optional.
const MIN_FIELDS: usize = 9;

/// A parsed patterns file, line by line.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PatternFile {
    lines: Vec<ToonLine>,
}

#[derive(Debug, Clone, PartialEq)]
enum ToonLine {
    /// A comment, a blank line, or other text of the user.
    Text(String),
    /// The header, which states the number of rows.
    Header,
    Row(Box<Row>),
}

/// A pattern and its source text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) pattern: Pattern,
    source: String,
    parsed: Pattern,
}

impl Row {
    /// Returns the text of the line without indentation: the original source unless the pattern was changed.
    pub(crate) fn text(&self) -> String {
        if self.pattern == self.parsed { self.source.clone() } else { format_row(&self.pattern) }
    }
}

impl PatternFile {
    pub(crate) fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let trimmed = line.trim();
            if is_header(trimmed) {
                return ToonLine::Header;
            }
            match parse_row(trimmed) {
                Some(pattern) => ToonLine::Row(Box::new(Row {
                    parsed: pattern.clone(),
                    pattern,
                    source: trimmed.to_owned(),
                })),
                None => ToonLine::Text(line.to_owned()),
            }
        };
        Self { lines: text.lines().map(line).collect() }
    }

    pub(crate) fn format(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            match line {
                ToonLine::Text(line) => text.push_str(line),
                ToonLine::Header => {
                    text.push_str(&format!("patterns[{}]{{{FIELDS}}}:", self.rows().count()));
                }
                ToonLine::Row(row) => text.push_str(&format!("  {}", row.text())),
            }
            text.push('\n');
        }
        text
    }

    /// Returns whether the file has a header or a row.
    pub(crate) fn is_toon(&self) -> bool {
        self.lines.iter().any(|line| !matches!(line, ToonLine::Text(_)))
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.lines.iter().filter_map(|line| if let ToonLine::Row(row) = line { Some(&**row) } else { None })
    }

    pub(crate) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.rows().map(|row| &row.pattern)
    }

    pub(crate) fn patterns_mut(&mut self) -> impl Iterator<Item = &mut Pattern> {
        self.lines
            .iter_mut()
            .filter_map(|line| if let ToonLine::Row(row) = line { Some(&mut row.pattern) } else { None })
    }

    /// Appends a row, and inserts the header if it is missing.
    pub(crate) fn push(&mut self, pattern: Pattern) {
        if self.lines.is_empty() {
            self.lines.push(ToonLine::Text(TITLE.to_owned()));
        }
        if !self.lines.iter().any(|line| matches!(line, ToonLine::Header)) {
            let before_rows = self.lines.iter().position(|line| matches!(line, ToonLine::Row(_)));
            self.lines.insert(before_rows.unwrap_or(self.lines.len()), ToonLine::Header);
        }
        let source = format_row(&pattern);
        self.lines.push(ToonLine::Row(Box::new(Row { parsed: pattern.clone(), pattern, source })));
    }

    pub(crate) fn remove(&mut self, id: &str) {
        self.lines.retain(|line| !matches!(line, ToonLine::Row(row) if row.pattern.id == id));
    }
}

fn is_header(line: &str) -> bool {
    line.starts_with("patterns[") && line.ends_with(':') && line.contains("]{")
}

fn format_row(pattern: &Pattern) -> String {
    let rate = pattern.success_rate.map(|rate| format!("{rate:.2}")).unwrap_or_default();
    let parts = |parts: &[String]| {
        let parts: Vec<String> = parts.iter().map(|part| part.replace('|', "/")).collect();
        field(&parts.join("|"))
    };
    [
        field(&pattern.id),
        field(&pattern.category),
        quoted(&pattern.summary),
        pattern.confidence.as_str().to_owned(),
        pattern.seen_count.to_string(),
        rate,
        field(&pattern.flags),
        parts(&pattern.applies_to),
        parts(&pattern.context),
        field(&pattern.repo),
    ]
    .join(",")
}

fn field(text: &str) -> String {
    let plain =
        !text.contains([',', '"', '\\']) && !text.chars().any(char::is_control) && text.trim() == text;
    if plain { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text, usize::MAX).replace('\\', "\\\\").replace('"', "\"\""))
}

fn parse_row(line: &str) -> Option<Pattern> {
    if line.starts_with('#') || !line.starts_with("P-") {
        return None;
    }
    let fields = split(line)?;
    if fields.len() < MIN_FIELDS {
        return None;
    }
    let get = |at: usize| fields.get(at).map(|text| text.trim()).unwrap_or_default();
    let parts = |at: usize| {
        let parts = get(at).split('|').map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    Some(Pattern {
        id: get(0).to_owned(),
        category: get(1).to_owned(),
        summary: get(2).to_owned(),
        confidence: get(3).to_lowercase().parse().unwrap_or(Confidence::Medium),
        seen_count: get(4).parse().unwrap_or(0),
        success_rate: get(5).parse().ok().filter(|rate: &f64| rate.is_finite()),
        flags: get(6).to_owned(),
        applies_to: parts(7),
        context: parts(8),
        repo: Some(get(9)).filter(|repo| !repo.is_empty()).unwrap_or("*").to_owned(),
    })
}

/// Splits a row into its fields; returns `None` for an unterminated quote.
fn split(line: &str) -> Option<Vec<String>> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            // Rows may also escape quotes with a backslash, as in JSON; `format_row` doubles them.
            '\\' if quoted => {
                let escaped = letters.next_if(|next| matches!(next, '"' | '\\'));
                field.push(escaped.unwrap_or('\\'));
            }
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            letter => field.push(letter),
        }
    }
    fields.push(field);
    (!quoted).then_some(fields)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "# Organization Patterns (TOON format)\n\n\
        patterns[2]{id,category,summary,confidence,seen_count,success_rate,flags,applies_to,context,repo}:\n  \
        P-001,pattern,\"Check the lock, then write\",high,5,0.85,,implementation-subagent,io|locks,*\n  \
        P-002,mistake,\"Say \"\"why\"\" in \\\"the\\\" note\",medium,3,,[UNTESTED],*,docs\n\
        a note of the user\n";

    // DL-26, PR-32
    #[test]
    fn rows_with_quotes_and_commas_are_parsed() {
        let file = PatternFile::parse(FILE);
        let patterns: Vec<&Pattern> = file.patterns().collect();
        assert_eq!(patterns.len(), 2);
        assert_eq!(patterns[0].summary, "Check the lock, then write");
        assert_eq!((patterns[0].success_rate, patterns[0].seen_count), (Some(0.85), 5));
        assert_eq!(patterns[0].context, ["io", "locks"]);
        assert_eq!(patterns[1].summary, "Say \"why\" in \"the\" note");
        assert_eq!((patterns[1].repo.as_str(), patterns[1].success_rate), ("*", None));
        assert_eq!(file.format(), FILE);
    }

    #[test]
    fn short_or_unterminated_row_is_text() {
        let text = "P-001,a,b\nP-002,pattern,\"open,high,5,0.85,,x,y,*\n";
        let file = PatternFile::parse(text);
        assert_eq!(file.rows().count(), 0);
        assert!(!file.is_toon());
        assert_eq!(file.format(), text);
    }

    fn texts() -> impl Strategy<Value = String> {
        "[ -~äß\\\\\",|]{0,60}".prop_map(|text| one_line(&text, 240).trim().to_owned())
    }

    proptest! {
        // PR-32
        #[test]
        fn formatted_row_is_parsed_back(summary in texts(), context in prop::collection::vec("[a-z,\"]{1,8}", 0..3),
            seen in 0u64..1000, rate in prop::option::of(0u8..=100)) {
            let pattern = Pattern {
                id: "P-007".to_owned(), category: "insight".to_owned(), summary,
                confidence: Confidence::Low, seen_count: seen, success_rate: rate.map(|rate| f64::from(rate) / 100.0),
                flags: "[REVIEW]".to_owned(), applies_to: vec!["*".to_owned()], context, repo: "shop".to_owned(),
            };
            let mut file = PatternFile::default();
            file.push(pattern.clone());
            let parsed = PatternFile::parse(&file.format());
            prop_assert_eq!(parsed.patterns().collect::<Vec<_>>(), [&pattern]);
        }

        #[test]
        fn any_text_is_preserved(text in "[ -~\n]{0,200}") {
            let text = if text.is_empty() || text.ends_with('\n') { text } else { format!("{text}\n") };
            let formatted = PatternFile::parse(&text).format();
            for line in text.lines().filter(|line| !is_header(line.trim())) {
                prop_assert!(formatted.contains(line.trim()));
            }
        }
    }
}
