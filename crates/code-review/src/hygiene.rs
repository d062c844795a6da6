//! Checks of a change that need no model: files and added lines that do not belong into a repository.
//!
//! Names of secrets and forms of keys are those by which deliveries hold files back, so that a review reports what a
//! delivery would refuse. Each check takes time in proportion to the size of the change.

/// Compiles a constant pattern at its first use. Tests compile all of them.
macro_rules! constant_regex {
    ($pattern:expr) => {
        std::sync::LazyLock::new(|| regex::Regex::new($pattern).expect("constant pattern"))
    };
}

mod added_text;
mod allow;
mod paths;
mod secrets;

use std::collections::BTreeSet;

use loopgate_api::held_back::{is_environment_name, is_secret_name, is_sensitive_name};
use loopgate_api::redact;

use crate::diff::FileKind;
use crate::diff_data::{ChangeStatus, DiffData, PatchLines};
use crate::finding::{Finding, IssueSeverity};
use crate::partition::is_test_path;
use added_text::AddedText;
use allow::AllowComments;

const CATEGORY: &str = "Repo Hygiene";
const PRIORITY: u8 = 1;
/// Characters of a line that a finding quotes.
const MAX_SNIPPET: usize = 200;
/// Directories whose files are examples, with paths and passwords that are not real.
const EXAMPLE_DIRECTORIES: [&str; 12] = [
    "__fixtures__",
    "__mocks__",
    "__tests__",
    "benches",
    "docs",
    "e2e",
    "examples",
    "fixtures",
    "spec",
    "test",
    "testdata",
    "tests",
];
/// Extensions of compiled languages, whose source files contain no settings: their names say what the code is about.
const COMPILED_EXTENSIONS: [&str; 16] =
    ["c", "cc", "cpp", "cs", "cxx", "go", "h", "hpp", "java", "kt", "kts", "m", "mm", "rs", "scala", "swift"];
const PROSE_EXTENSIONS: [&str; 2] = ["md", "txt"];
const HIGH_EXTENSIONS: [&str; 9] = ["json", "ts", "tsx", "js", "jsx", "py", "env", "pem", "key"];
/// Ends and beginning of the names of files for one machine.
const LOCAL_ENDS: [&str; 4] = [".local", ".generated", ".pem", ".key"];
const LOCAL_START: &str = ".dev-";

/// A check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HygieneCheck {
    /// A directory of a machine that runs CI jobs.
    CiArtifact,
    /// A directory of a person's machine.
    PathLeakage,
    /// A file for one machine that git does not ignore.
    GitignoreDrift,
    /// A file whose name is usual for secrets.
    SensitiveFile,
    /// A private key, or a token with the form of its vendor.
    KeyMaterial,
    /// A generated value of a password, token or key.
    Secret,
}

impl HygieneCheck {
    /// All checks, in the order of their findings at one line.
    pub const ALL: [Self; 6] = [
        Self::CiArtifact,
        Self::PathLeakage,
        Self::GitignoreDrift,
        Self::SensitiveFile,
        Self::KeyMaterial,
        Self::Secret,
    ];

    /// Returns the name in a comment that allows a finding.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CiArtifact => "ci-artifact",
            Self::PathLeakage => "path-leakage",
            Self::GitignoreDrift => "gitignore-drift",
            Self::SensitiveFile => "sensitive-file",
            Self::KeyMaterial => "key-material",
            Self::Secret => "secret",
        }
    }

    /// Returns the check that a finding is from.
    #[must_use]
    pub fn of(finding: &Finding) -> Option<Self> {
        let is_it = |check: &Self| finding.category == CATEGORY && finding.issue == check.issue();
        Self::ALL.into_iter().find(is_it)
    }

    const fn issue(self) -> &'static str {
        match self {
            Self::CiArtifact => "[P1] Path of a CI machine",
            Self::PathLeakage => "[P1] Absolute path of a machine",
            Self::GitignoreDrift => "[P1] Local file is not ignored by git",
            Self::SensitiveFile => "[P1] File with a name for secrets",
            Self::KeyMaterial => "[P1] Private key or access token",
            Self::Secret => "[P1] Hard-coded secret",
        }
    }

    const fn explanation(self) -> &'static str {
        match self {
            Self::CiArtifact => {
                "The line contains a directory of a machine that runs CI jobs. It does not exist elsewhere, and shows \
                 that output of a job was added to the repository."
            }
            Self::PathLeakage => {
                "The line contains an absolute path of one machine. It does not exist on others, and may contain the \
                 name of a user."
            }
            Self::GitignoreDrift => {
                "Files with this name are for one machine, but no rule in .gitignore matches the file, so that it is \
                 added to the repository."
            }
            Self::SensitiveFile => {
                "Files with this name usually contain passwords, tokens or keys. Everyone who can read the repository \
                 can read them, also after they were removed in a later commit."
            }
            Self::KeyMaterial => {
                "The line contains a private key or an access token. Everyone who can read the repository can use it, \
                 also after it was removed in a later commit."
            }
            Self::Secret => {
                "The line assigns a value that looks generated to a password, token or key. Everyone who can read the \
                 repository can use it, also after it was removed in a later commit."
            }
        }
    }

    const fn recommendation(self) -> &'static str {
        match self {
            Self::CiArtifact => {
                "Use a path relative to the repository, or remove the file that the job wrote."
            }
            Self::PathLeakage => {
                "Use a path relative to the repository or to the home directory, or a setting."
            }
            Self::GitignoreDrift => "Add a rule to .gitignore, and remove the file from the change.",
            Self::SensitiveFile => {
                "Remove the file from the change and ignore it; commit a sample without values. Rename the file if it \
                 contains no secrets."
            }
            Self::KeyMaterial => {
                "Remove it, revoke it if it was ever valid, and read it from the environment or a secret store."
            }
            Self::Secret => {
                "Read the value from the environment or a secret store, and replace it if it was ever valid."
            }
        }
    }

    const fn confidence(self) -> f64 {
        match self {
            Self::CiArtifact | Self::PathLeakage | Self::KeyMaterial => 1.0,
            Self::GitignoreDrift | Self::SensitiveFile => 0.9,
            Self::Secret => 0.7,
        }
    }
}

/// Returns the added files that git should ignore. [`check_change`] reports those that it does not ignore.
pub fn local_files(data: &DiffData) -> impl Iterator<Item = &str> {
    let paths = data.files_to_review.iter().map(String::as_str);
    paths.filter(|path| data.file_statuses.get(*path) == Some(&ChangeStatus::Added) && is_local_name(path))
}

/// Checks a change. `ignored`: those of the [`local_files`] that rules of git ignore. Returns the findings in the order
/// of the files and lines.
#[must_use]
pub fn check_change(data: &DiffData, ignored: &BTreeSet<String>) -> Vec<Finding> {
    check(data, ignored, AllowComments::of)
}

/// Checks a change that is reviewed: it must not allow its own findings. One that only a comment in the change allows is
/// reported with severity MEDIUM, so that a person sees the comment; a key or secret keeps its severity.
#[must_use]
pub fn check_reviewed_change(data: &DiffData, ignored: &BTreeSet<String>) -> Vec<Finding> {
    let allowed_anywhere = check_change(data, ignored);
    let mut findings = check(data, ignored, AllowComments::of_unchanged);
    for finding in &mut findings {
        let is_key =
            matches!(HygieneCheck::of(finding), Some(HygieneCheck::KeyMaterial | HygieneCheck::Secret));
        if !is_key && !allowed_anywhere.contains(finding) {
            finding.severity = IssueSeverity::Medium;
            finding.explanation.push_str(" A comment that the change itself adds allows it.");
        }
    }
    findings
}

fn check(
    data: &DiffData,
    ignored: &BTreeSet<String>,
    allow_comments: impl Fn(&PatchLines) -> AllowComments,
) -> Vec<Finding> {
    let no_lines = PatchLines::default();
    let mut findings = Vec::new();
    for path in &data.files_to_review {
        let status = data.file_statuses.get(path).copied().unwrap_or(ChangeStatus::Modified);
        let kind = data.kind(path);
        if status == ChangeStatus::Removed || kind == FileKind::Submodule {
            continue;
        }
        let lines = data.patch_lines.get(path).unwrap_or(&no_lines);
        let mut file = FileCheck {
            path,
            status,
            kind,
            severity: severity(path),
            text: AddedText::new(&lines.added_lines),
            allowed: allow_comments(lines),
            tests_from: rust_tests(path, lines),
            findings: Vec::new(),
        };
        file.check_name(ignored.contains(path));
        file.check_paths();
        let key_lines = file.check_keys();
        file.check_secrets(&key_lines);
        file.findings.sort_by_key(|(line, check, _)| (*line, *check));
        findings.extend(file.findings.into_iter().map(|(_, _, finding)| finding));
    }
    findings
}

/// The checks of one file.
struct FileCheck<'a> {
    path: &'a str,
    status: ChangeStatus,
    kind: FileKind,
    /// Severity of findings that are no keys; `None` for documentation and tests, which are not checked for them.
    severity: Option<IssueSeverity>,
    text: AddedText,
    allowed: AllowComments,
    /// First line of the tests at the end of the file.
    tests_from: Option<u64>,
    findings: Vec<(u64, HygieneCheck, Finding)>,
}

impl FileCheck<'_> {
    fn check_name(&mut self, is_ignored: bool) {
        let line = match self.status {
            ChangeStatus::Added => 1,
            _ => self.text.first_line().unwrap_or(1),
        };
        let is_added = self.status == ChangeStatus::Added;
        let is_drift = is_added && is_local_name(self.path) && !is_ignored;
        if let Some(severity) = self.severity.clone().filter(|_| is_drift) {
            self.report_file(HygieneCheck::GitignoreDrift, severity, line);
        }
        // Deliveries hold files with these names back everywhere.
        let held_back = is_secret_name(self.path).then_some(IssueSeverity::Medium);
        let has_settings =
            !extension(self.path).is_some_and(|name| COMPILED_EXTENSIONS.contains(&name.as_str()));
        let is_sensitive = is_sensitive_name(self.path) && (has_settings || held_back.is_some());
        if let Some(severity) = self.severity.clone().or(held_back).filter(|_| is_sensitive) {
            self.report_file(HygieneCheck::SensitiveFile, severity, line);
        }
    }

    fn check_paths(&mut self) {
        let Some(severity) = self.severity.clone() else { return };
        for (at, check) in paths::find(&self.text) {
            if self.is_test(at) {
                break;
            }
            self.report_line(check, severity.clone(), at, None);
        }
    }

    /// Returns the lines with keys, also with allowed ones.
    fn check_keys(&mut self) -> BTreeSet<u64> {
        let mut lines = BTreeSet::new();
        for key in redact::keys(self.text.as_str()) {
            lines.insert(self.text.line_number(key.start));
            let is_example = self.severity.is_none() || self.is_test(key.start);
            let severity = if is_example { IssueSeverity::Medium } else { IssueSeverity::High };
            self.report_line(HygieneCheck::KeyMaterial, severity, key.start, None);
        }
        lines
    }

    fn check_secrets(&mut self, key_lines: &BTreeSet<u64>) {
        let is_written = matches!(self.kind, FileKind::Source | FileKind::Link | FileKind::Binary);
        let Some(severity) = self.severity.clone().filter(|_| is_written) else { return };
        for value in secrets::find(self.path, &self.text) {
            if !key_lines.contains(&self.text.line_number(value.start)) && !self.is_test(value.start) {
                self.report_line(HygieneCheck::Secret, severity.clone(), value.start, Some(value.end));
            }
        }
    }

    /// Returns whether the line at a byte offset belongs to the tests at the end of the file.
    fn is_test(&self, at: usize) -> bool {
        self.tests_from.is_some_and(|first| self.text.line_number(at) >= first)
    }

    fn report_file(&mut self, check: HygieneCheck, severity: IssueSeverity, line: u64) {
        if !self.allowed.allows_file(check) {
            self.add(check, severity, line, String::new());
        }
    }

    /// Reports the line at a byte offset, once for each check. `secret_end`: end of a secret that starts there.
    fn report_line(
        &mut self,
        check: HygieneCheck,
        severity: IssueSeverity,
        at: usize,
        secret_end: Option<usize>,
    ) {
        let line = self.text.line_number(at);
        let is_known = self.findings.last().is_some_and(|(other, last, _)| (*other, *last) == (line, check));
        if is_known || self.allowed.allows_line(check, line) {
            return;
        }
        let range = self.text.line_range(at);
        let text = self.text.as_str();
        let quoted = match secret_end {
            Some(end) => {
                format!("{}[REDACTED]{}", &text[range.start..at], &text[end.min(range.end)..range.end])
            }
            None => text[range].to_owned(),
        };
        let snippet = redact::shorten(redact::credentials(&quoted).trim(), MAX_SNIPPET);
        self.add(check, severity, line, snippet);
    }

    fn add(&mut self, check: HygieneCheck, severity: IssueSeverity, line: u64, code_snippet: String) {
        let finding = Finding {
            file: self.path.to_owned(),
            line: Some(line),
            severity,
            category: CATEGORY.to_owned(),
            issue: check.issue().to_owned(),
            explanation: check.explanation().to_owned(),
            recommendation: check.recommendation().to_owned(),
            code_snippet,
            priority: Some(PRIORITY),
            confidence: Some(check.confidence()),
            ..Finding::default()
        };
        self.findings.push((line, check, finding));
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the extension in lower case; that of `.env` is `env`.
fn extension(path: &str) -> Option<String> {
    base_name(path).rsplit_once('.').map(|(_, extension)| extension.to_lowercase())
}

/// Returns the severity of findings in a file, or `None` for documentation and tests.
fn severity(path: &str) -> Option<IssueSeverity> {
    let extension = extension(path);
    let has =
        |extensions: &[&str]| extension.as_deref().is_some_and(|extension| extensions.contains(&extension));
    if path.split('/').any(|name| EXAMPLE_DIRECTORIES.contains(&name))
        || has(&PROSE_EXTENSIONS)
        || is_test_name(path)
    {
        return None;
    }
    let is_high = has(&HIGH_EXTENSIONS) || base_name(path).starts_with(".env") || !path.contains('/');
    Some(if is_high { IssueSeverity::High } else { IssueSeverity::Medium })
}

/// Returns whether a file has a name for tests, as the languages' tools require it: `a.test.ts`, `a_test.go`, `test_a.py`,
/// `tests.rs`.
fn is_test_name(path: &str) -> bool {
    let stem = base_name(path).split('.').next().unwrap_or_default();
    is_test_path(path)
        || ["conftest", "test", "tests"].contains(&stem)
        || stem.starts_with("test_")
        || ["_test", "_tests", "_spec"].iter().any(|end| stem.ends_with(end))
}

/// Returns the first line of the module with the tests of a Rust file, which by convention is its end. Known only if the
/// change contains the line.
fn rust_tests(path: &str, lines: &PatchLines) -> Option<u64> {
    if !path.ends_with(".rs") {
        return None;
    }
    let line = |number| lines.added_lines.get(&number).or_else(|| lines.context_lines.get(&number));
    let is_start = |number: &u64| {
        let next = number.checked_add(1).and_then(line);
        next.is_some_and(|next| next.starts_with("mod ") && next.contains('{'))
    };
    let numbers = lines.added_lines.iter().chain(&lines.context_lines);
    let attributes = numbers.filter(|(_, text)| text.trim_end() == "#[cfg(test)]").map(|(number, _)| *number);
    attributes.filter(is_start).min()
}

/// Returns whether a file with this name is for one machine, so that git should ignore it.
fn is_local_name(path: &str) -> bool {
    let name = base_name(path);
    LOCAL_ENDS.iter().any(|end| name.ends_with(end))
        || name.starts_with(LOCAL_START)
        || is_environment_name(&name.to_lowercase())
}

#[cfg(test)]
mod tests;
