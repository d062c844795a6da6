//! Languages by file extension, and their shares of a repository.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::scan::RepositoryScan;

/// Percentage of the files from which a language is secondary.
const SECONDARY_PERCENT: f64 = 10.0;

/// How definitions and imports of a language are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LanguageSyntax {
    Rust,
    Script,
    Python,
    Go,
    Classes,
    Ruby,
    /// Neither is read.
    None,
}

/// A language.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceLanguage {
    pub name: &'static str,
    pub extensions: &'static [&'static str],
    pub syntax: LanguageSyntax,
    /// Whether programs are written in it, so that it can be the primary language.
    pub is_general: bool,
}

const fn language(
    name: &'static str,
    extensions: &'static [&'static str],
    syntax: LanguageSyntax,
    is_general: bool,
) -> SourceLanguage {
    SourceLanguage { name, extensions, syntax, is_general }
}

const LANGUAGES: [SourceLanguage; 28] = [
    language("Rust", &["rs"], LanguageSyntax::Rust, true),
    language("TypeScript", &["ts", "tsx", "mts", "cts"], LanguageSyntax::Script, true),
    language("JavaScript", &["js", "jsx", "mjs", "cjs"], LanguageSyntax::Script, true),
    language("Python", &["py", "pyi"], LanguageSyntax::Python, true),
    language("Go", &["go"], LanguageSyntax::Go, true),
    language("Java", &["java"], LanguageSyntax::Classes, true),
    language("Kotlin", &["kt", "kts"], LanguageSyntax::Classes, true),
    language("C#", &["cs"], LanguageSyntax::Classes, true),
    language("F#", &["fs"], LanguageSyntax::None, true),
    language("Swift", &["swift"], LanguageSyntax::Classes, true),
    language("Scala", &["scala"], LanguageSyntax::Classes, true),
    language("Dart", &["dart"], LanguageSyntax::Classes, true),
    language("PHP", &["php"], LanguageSyntax::Classes, true),
    language("Ruby", &["rb"], LanguageSyntax::Ruby, true),
    language("C++", &["cc", "cpp", "cxx", "hpp", "hh"], LanguageSyntax::Classes, true),
    language("C", &["c", "h"], LanguageSyntax::None, true),
    language("Objective-C", &["m", "mm"], LanguageSyntax::None, true),
    language("Elixir", &["ex", "exs"], LanguageSyntax::None, true),
    language("Haskell", &["hs"], LanguageSyntax::None, true),
    language("Lua", &["lua"], LanguageSyntax::None, true),
    language("Zig", &["zig"], LanguageSyntax::None, true),
    language("Vue", &["vue"], LanguageSyntax::Script, true),
    language("Svelte", &["svelte"], LanguageSyntax::Script, true),
    language("Shell", &["sh", "bash"], LanguageSyntax::None, false),
    language("SQL", &["sql"], LanguageSyntax::None, false),
    language("HTML", &["html", "htm"], LanguageSyntax::None, false),
    language("CSS", &["css", "scss", "sass", "less"], LanguageSyntax::None, false),
    language("Terraform", &["tf"], LanguageSyntax::None, false),
];

impl SourceLanguage {
    /// Returns the language of a file.
    pub fn of(path: &str) -> Option<&'static Self> {
        let extension = extension(path)?;
        LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
    }

    /// Returns the language with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        LANGUAGES.iter().find(|language| language.name == name)
    }

    /// Returns the name in agents' names, for example `c-plus-plus`.
    pub fn slug(&self) -> String {
        self.name.to_lowercase().replace("++", "-plus-plus").replace('#', "-sharp")
    }
}

/// Returns the extension of a path, in the letter case of the path.
pub fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension)
}

/// Content of `languages.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LanguageReport {
    /// Time of the detection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Number of files in a known language.
    pub total_files: usize,
    /// Languages, those with most files first.
    pub languages: Vec<LanguageEntry>,
    /// Name of the language in which most files are written; empty without one.
    pub primary_language: String,
    /// Names of the secondary languages.
    pub secondary_languages: Vec<String>,
    /// Shares by language, between 0 and 1.
    pub distribution_summary: BTreeMap<String, f64>,
    /// Directories and files that are not counted, shortened.
    pub excluded_paths: Vec<String>,
    /// What could not be detected.
    pub warnings: Vec<String>,
}

/// A language of a repository.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LanguageEntry {
    /// Name.
    pub language: String,
    /// Extensions that occur.
    pub extensions: Vec<String>,
    /// Number of files.
    pub file_count: usize,
    /// Percentage of the files, between 0 and 100.
    pub percentage: f64,
    /// Importance in the repository.
    pub classification: LanguageClass,
}

/// Importance of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LanguageClass {
    /// The language of most files.
    Primary,
    /// Another language of at least a tenth of the files.
    Secondary,
    /// Fewer files.
    Minor,
}

/// Number of excluded paths that the report names.
const MAX_EXCLUDED: usize = 50;

/// Counts the languages of a repository.
#[must_use]
pub fn language_report(scan: &RepositoryScan, timestamp: Option<String>) -> LanguageReport {
    let mut counts: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for file in scan.files() {
        let Some(language) = file.language() else { continue };
        let (count, extensions) = counts.entry(language.name).or_default();
        *count += 1;
        extensions.extend(extension(&file.path));
    }
    let total: usize = counts.values().map(|(count, _)| count).sum();
    let percentage = |count: usize| (count as f64 * 1000.0 / total.max(1) as f64).round() / 10.0;
    let is_general = |name: &str| SourceLanguage::named(name).is_some_and(|language| language.is_general);
    let primary = counts
        .iter()
        .filter(|(name, _)| is_general(name))
        .max_by(|(one, (few, _)), (other, (many, _))| few.cmp(many).then(other.cmp(one)))
        .map(|(name, _)| *name);
    let mut languages: Vec<LanguageEntry> = counts
        .iter()
        .map(|(name, (count, extensions))| LanguageEntry {
            language: (*name).to_owned(),
            extensions: extensions.iter().map(|extension| format!(".{extension}")).collect(),
            file_count: *count,
            percentage: percentage(*count),
            classification: if Some(*name) == primary {
                LanguageClass::Primary
            } else if is_general(name) && percentage(*count) >= SECONDARY_PERCENT {
                LanguageClass::Secondary
            } else {
                LanguageClass::Minor
            },
        })
        .collect();
    languages.sort_by(|one, other| {
        other.file_count.cmp(&one.file_count).then_with(|| one.language.cmp(&other.language))
    });
    let secondary = languages.iter().filter(|entry| entry.classification == LanguageClass::Secondary);
    let mut warnings = scan.warnings().to_vec();
    if primary.is_none() {
        warnings.push("no file in a known programming language".to_owned());
    }
    LanguageReport {
        timestamp,
        total_files: total,
        secondary_languages: secondary.map(|entry| entry.language.clone()).collect(),
        primary_language: primary.unwrap_or_default().to_owned(),
        distribution_summary: languages
            .iter()
            .map(|entry| (entry.language.clone(), entry.file_count as f64 / total.max(1) as f64))
            .collect(),
        languages,
        excluded_paths: scan
            .excluded()
            .iter()
            .take(MAX_EXCLUDED)
            .map(|file| format!("{} ({})", file.path, file.reason))
            .collect(),
        warnings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::tests::scan;

    #[test]
    fn languages_are_classified_by_their_share() {
        let mut files: Vec<(String, String)> =
            (0..8).map(|at| (format!("src/m{at}.rs"), String::new())).collect();
        files.extend(
            ["web/a.ts", "web/b.tsx", "tool.py", "style.css"].map(|name| (name.into(), String::new())),
        );
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let fixture = scan(&files);
        let report = language_report(&fixture.scan, None);
        assert_eq!((report.total_files, report.primary_language.as_str()), (12, "Rust"));
        assert_eq!(report.secondary_languages, ["TypeScript"]);
        let classes: Vec<(&str, usize, LanguageClass)> = report
            .languages
            .iter()
            .map(|entry| (entry.language.as_str(), entry.file_count, entry.classification))
            .collect();
        let expected = [
            ("Rust", 8, LanguageClass::Primary),
            ("TypeScript", 2, LanguageClass::Secondary),
            ("CSS", 1, LanguageClass::Minor),
            ("Python", 1, LanguageClass::Minor),
        ];
        assert_eq!(classes, expected);
        assert_eq!(report.languages[1].extensions, [".ts", ".tsx"]);
        assert_eq!(report.languages[0].percentage, 66.7);
        let shares: f64 = report.distribution_summary.values().sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }

    #[test]
    fn repository_without_programs_has_no_primary_language() {
        let fixture = scan(&[("README.md", "# Text"), ("page.html", "<p>")]);
        let report = language_report(&fixture.scan, None);
        assert_eq!(report.primary_language, "");
        assert_eq!(report.warnings, ["no file in a known programming language"]);
    }
}
