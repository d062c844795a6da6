//! Flags for changes that may weaken the tests: in the diff of a loop's work, in the tests that two runs
//! name, and in the test command itself. Flags are informative, because each change may be justified.

mod diff;
mod language;

use std::collections::BTreeSet;

use loopgate_api::test_evidence::{MAX_DIFF_BYTES, TestFileDiff, TestFlag, TestFlagKind};

use crate::comparison::CompletedRun;
use crate::detect::TestCommand;
use diff::DiffFile;
use language::Language;

pub use language::is_test_file;

// Upper bound of quoted characters per flag.
const MAX_DETAIL: usize = 120;

fn flag(kind: TestFlagKind, path: &str, detail: impl AsRef<str>) -> TestFlag {
    let detail = detail.as_ref().trim().chars().take(MAX_DETAIL).collect();
    TestFlag { kind, path: (!path.is_empty()).then(|| path.to_owned()), detail }
}

/// Returns the flags of a diff in git's unified format with the prefixes `a/` and `b/`. A test that the diff
/// declares again in another place counts as moved.
#[must_use]
pub fn diff_flags(diff: &str) -> Vec<TestFlag> {
    let files = diff::parse(diff);
    let parsed: Vec<(&DiffFile<'_>, &Language)> =
        files.iter().filter_map(|file| Some((file, Language::of(&file.path)?))).collect();
    let present: BTreeSet<&str> =
        parsed.iter().flat_map(|(file, language)| language.tests(file.lines_after())).collect();
    let mut flags: Vec<TestFlag> =
        parsed.into_iter().flat_map(|(file, language)| file_flags(file, language, &present)).collect();
    flags.sort();
    flags.dedup();
    flags
}

/// Returns the diffs of the files that flags name. Longer ones than [`MAX_DIFF_BYTES`] are left out: a part of a diff would
/// hide what it does not show.
#[must_use]
pub fn flagged_diffs(diff: &str, flags: &[TestFlag]) -> Vec<TestFileDiff> {
    let is_flagged = |path: &str| flags.iter().any(|flag| flag.path.as_deref() == Some(path));
    let files = diff::parse(diff).into_iter();
    let flagged = files.filter(|file| is_flagged(&file.path) && file.text.len() <= MAX_DIFF_BYTES);
    flagged.map(|file| TestFileDiff { path: file.path, diff: file.text.to_owned() }).collect()
}

/// Returns the flags of one file. `present` contains all tests that are declared after the change.
fn file_flags(file: &DiffFile<'_>, language: &Language, present: &BTreeSet<&str>) -> Vec<TestFlag> {
    let old = language.tests(file.lines_before());
    let removed_tests: Vec<&str> = old.difference(present).copied().collect();
    if !is_test_file(&file.path)
        && !(language.is_inline && (!old.is_empty() || file.added().any(|line| language.skips(line))))
    {
        return Vec::new();
    }
    if file.is_deleted {
        // Deleting a file without recognizable tests is flagged too: it may contain fixtures or tests in an
        // unknown style.
        let moved = removed_tests.is_empty() && !old.is_empty();
        let detail = format!("{} tests", removed_tests.len());
        return if moved { Vec::new() } else { vec![flag(TestFlagKind::FileDeleted, &file.path, detail)] };
    }
    let mut flags: Vec<TestFlag> =
        removed_tests.iter().map(|name| flag(TestFlagKind::TestRemoved, &file.path, name)).collect();
    let before: Vec<&str> = file.removed().filter(|line| language.skips(line)).map(str::trim).collect();
    let skips = file.added().filter(|line| language.skips(line) && !before.contains(&line.trim()));
    flags.extend(skips.map(|line| flag(TestFlagKind::TestSkipped, &file.path, line)));
    let removed = file.removed().filter(|line| language.asserts(line)).count();
    let added = file.added().filter(|line| language.asserts(line)).count();
    // A removed or moved test takes its assertions with it. A removal has its own flag; a move does not
    // weaken the tests.
    let keeps_tests = old.is_subset(&language.tests(file.lines_after()));
    if keeps_tests && removed > added {
        let detail = format!("{removed} removed, {added} added");
        flags.push(flag(TestFlagKind::AssertionsRemoved, &file.path, detail));
    }
    flags
}

/// Returns flags for tests that passed at the base and are skipped or missing at the head, by the names that
/// the runs print. Ignores a failed head, whose run may have aborted early, and tests that `reported` flags
/// already name.
#[must_use]
pub fn run_flags(base: &CompletedRun, head: &CompletedRun, reported: &[TestFlag]) -> Vec<TestFlag> {
    let (Some(before), Some(after)) = (&base.report, &head.report) else { return Vec::new() };
    if !head.run.passed() {
        return Vec::new();
    }
    let is_reported =
        // Flags of the diff contain the declared name; runners print it with a suite or module in front, or
        // shortened.
        |name: &str| reported.iter().any(|flag| name.contains(&flag.detail) || flag.detail.contains(short_name(name)));
    let lost = before.passed.difference(&after.passed).filter(|name| !is_reported(name));
    // A runner that names only failures does not show which tests are missing.
    let names_all = !after.passed.is_empty();
    let flags = lost.filter_map(|name| {
        if after.skipped.contains(name) {
            Some(flag(TestFlagKind::TestSkipped, "", name))
        } else {
            names_all.then(|| flag(TestFlagKind::TestRemoved, "", name))
        }
    });
    flags.collect()
}

/// Returns the last component of a test's name.
fn short_name(name: &str) -> &str {
    let cuts = ["::", " › ", " > ", " "].iter().filter_map(|cut| Some(name.rfind(cut)? + cut.len()));
    &name[cuts.max().unwrap_or(0)..]
}

/// Returns a flag when the approved command runs something else at the head. Applies only to commands that
/// were detected at the base; a command that the user entered has no definition to compare.
#[must_use]
pub fn command_flag(
    approved: &str,
    base: Option<&TestCommand>,
    head: Option<&TestCommand>,
) -> Option<TestFlag> {
    let base = base.filter(|base| base.command == approved)?;
    let definition =
        |command: &TestCommand| command.definition.clone().unwrap_or_else(|| command.command.clone());
    let now = match head {
        Some(head) if (&head.command, &head.definition) == (&base.command, &base.definition) => return None,
        Some(head) => format!("`{}` now", definition(head)),
        None => "no longer detected".to_owned(),
    };
    Some(flag(TestFlagKind::CommandChanged, "", format!("`{}` before, {now}", definition(base))))
}

#[cfg(test)]
mod tests;
