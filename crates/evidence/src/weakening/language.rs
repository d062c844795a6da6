//! Syntax of tests per programming language: declarations, skip markers and assertions, as regular
//! expressions.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// The patterns of one language.
pub(super) struct Language {
    /// Extensions of its source files.
    extensions: &'static [&'static str],
    /// An attribute that marks the next declaration as a test, in languages that have one.
    attribute: Option<Regex>,
    /// The declaration of a test, or of any function when the language has an attribute. The first group that
    /// matches is the name.
    declaration: Regex,
    skip: Regex,
    assertion: Regex,
    /// Whether tests may be in any file, next to the code that they test.
    pub is_inline: bool,
}

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let language = |extensions, attribute: &str, declaration: &str, skip: &str, assertion: &str| {
        let attribute = (!attribute.is_empty()).then(|| Regex::new(attribute).ok()).flatten();
        Some(Language {
            extensions,
            attribute,
            declaration: Regex::new(declaration).ok()?,
            skip: Regex::new(skip).ok()?,
            assertion: Regex::new(assertion).ok()?,
            is_inline: false,
        })
    };
    let rust = language(
        &["rs"],
        r"^\s*#\[(?:\w+::)*(?:test|rstest|test_case|proptest|quickcheck)\b",
        r"\bfn\s+(\w+)",
        r"#\[ignore\b|#\[cfg_attr\(.*\bignore\b",
        r"\b(?:\w+_)?assert(?:_\w+)?!|\bensure!|\.(?:expect|unwrap)_err\(",
    );
    let languages = [
        rust.map(|rust| Language { is_inline: true, ..rust }),
        language(
            &["py"],
            "",
            r"^\s*(?:async\s+)?def\s+(test\w*)",
            r"\bmark\.(?:skip|skipif|xfail)\b|\bunittest\.(?:skip|expectedFailure)|\bpytest\.(?:skip|xfail)\(|\.skipTest\(|\bSkipTest\b",
            r"^\s*assert\b|\.assert\w+\(|\bpytest\.(?:raises|warns|fail)\b|\bself\.fail\(",
        ),
        language(
            &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"],
            "",
            r#"\b[xf]?(?:it|test|specify)(?:\.\w+)*\(\s*(?:'([^']+)'|"([^"]+)"|`([^`]+)`)"#,
            r"\b(?:it|test|describe|suite|context|specify)\.(?:skip|only|todo|fixme|failing)\b|\bx(?:it|test|describe|context|specify)\(|\bf(?:it|describe)\(|\bthis\.skip\(|\bt\.(?:skip|todo)\(|\{\s*(?:skip|todo|only)\s*:",
            r"\bexpect\(|\bassert(?:\.\w+)*\(|\.should\b|\bt\.(?:is|not|deepEqual|true|false|equal|ok|throws)\(",
        ),
        language(
            &["go"],
            "",
            r"^func\s+((?:Test|Fuzz|Example)\w*)\s*\(",
            r"\b[tbf]\.Skip(?:f|Now)?\(",
            r"\b[tbf]\.(?:Error|Fatal|Fail)(?:f|Now)?\(|\b(?:assert|require)\.\w+\(",
        ),
        language(
            &["java", "kt", "cs", "scala"],
            r"^\s*(?:@(?:Test|ParameterizedTest|RepeatedTest|Property)\b|\[(?:Test|TestCase|Fact|Theory|TestMethod)\b)",
            r"\b(\w+|`[^`]+`)\s*\(",
            r"@(?:Disabled|Ignore)\b|\[Ignore\b|\bSkip\s*=|\bassume(?:True|False|That)\(",
            r"\b[Aa]ssert\w*[.(]|\bverify\(|\.Should\(",
        ),
        language(
            &["rb"],
            "",
            r#"^\s*(?:x?it|test|x?specify)\s*\(?\s*(?:'([^']+)'|"([^"]+)")|^\s*def\s+(test_\w+)"#,
            r"^\s*(?:skip|pending)\b|^\s*x(?:it|describe|context|specify)\b",
            r"\bexpect[ ({]|\bassert\w*\b|\brefute\w*\b|\.should\b",
        ),
    ];
    languages.into_iter().flatten().collect()
});

impl Language {
    /// Returns the language of a file by its extension.
    pub fn of(path: &str) -> Option<&'static Self> {
        let extension = path.rsplit_once('.')?.1;
        LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
    }

    /// Returns the names of the tests that these lines declare.
    pub fn tests<'a>(&self, lines: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let mut tests = BTreeSet::new();
        let mut is_marked = false;
        for line in lines {
            if let Some(attribute) = &self.attribute {
                let marks = attribute.is_match(line);
                is_marked |= marks;
                // The declaration may be on the same line as its attribute.
                let text = if marks { line.split_once(']').map_or("", |(_, rest)| rest) } else { line };
                // Further attributes may be between the test attribute and the declaration.
                if !is_marked || text.trim_start().starts_with(['#', '@', '[']) {
                    continue;
                }
                if let Some(name) = self.declared_name(text) {
                    tests.insert(name);
                    is_marked = false;
                }
            } else if let Some(name) = self.declared_name(line) {
                tests.insert(name);
            }
        }
        tests
    }

    fn declared_name<'a>(&self, line: &'a str) -> Option<&'a str> {
        let captures = self.declaration.captures(line)?;
        captures.iter().skip(1).flatten().next().map(|name| name.as_str())
    }

    pub fn skips(&self, line: &str) -> bool {
        self.skip.is_match(line)
    }

    pub fn asserts(&self, line: &str) -> bool {
        self.assertion.is_match(line)
    }
}

/// Returns whether the file's name or directory marks it as a test file.
pub fn is_test_file(path: &str) -> bool {
    let directories = ["test", "tests", "__tests__", "spec", "specs", "e2e"];
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    parts.iter().any(|part| directories.contains(part))
        || stem == "tests"
        || stem.starts_with("test_")
        || ["_test", "_spec", ".test", ".spec", "Test", "Tests", "Spec"].iter().any(|end| stem.ends_with(end))
}
