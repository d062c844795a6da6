//! Changes that make tests say less: found in the diff of a loop's work, in what two runs name, and in the command
//! that runs the tests. They are told, not judged: each may be right.

mod diff;
mod language;

use std::collections::BTreeSet;

use loopgate_api::test_evidence::{TestFlag, TestFlagKind};

use crate::comparison::CompletedRun;
use crate::detect::TestCommand;
use diff::FileDiff;
use language::{Language, is_test_file};

/// Characters of a line that is quoted.
const MAX_DETAIL: usize = 120;

fn flag(kind: TestFlagKind, path: &str, detail: impl AsRef<str>) -> TestFlag {
    let detail = detail.as_ref().trim().chars().take(MAX_DETAIL).collect();
    TestFlag { kind, path: (!path.is_empty()).then(|| path.to_owned()), detail }
}

/// What a diff shows, in the unified format of git with the prefixes `a/` and `b/`. A test that is declared in
/// another place again counts as moved.
#[must_use]
pub fn diff_flags(diff: &str) -> Vec<TestFlag> {
    let files = diff::parse(diff);
    let read: Vec<(&FileDiff<'_>, &Language)> =
        files.iter().filter_map(|file| Some((file, Language::of(&file.path)?))).collect();
    let present: BTreeSet<&str> =
        read.iter().flat_map(|(file, language)| language.tests(file.lines_after())).collect();
    let mut flags: Vec<TestFlag> =
        read.into_iter().flat_map(|(file, language)| file_flags(file, language, &present)).collect();
    flags.sort();
    flags.dedup();
    flags
}

/// What is shown in one file. `present` are all tests that the diff shows as they are now.
fn file_flags(file: &FileDiff<'_>, language: &Language, present: &BTreeSet<&str>) -> Vec<TestFlag> {
    let old = language.tests(file.lines_before());
    let gone: Vec<&str> = old.difference(present).copied().collect();
    if !is_test_file(&file.path)
        && !(language.is_inline && (!old.is_empty() || file.added().any(|line| language.skips(line))))
    {
        return Vec::new();
    }
    if file.is_deleted {
        let moved = gone.is_empty() && !old.is_empty();
        let detail = format!("{} tests", gone.len());
        return if moved { Vec::new() } else { vec![flag(TestFlagKind::FileDeleted, &file.path, detail)] };
    }
    let mut flags: Vec<TestFlag> =
        gone.iter().map(|name| flag(TestFlagKind::TestRemoved, &file.path, name)).collect();
    let before: Vec<&str> = file.removed().filter(|line| language.skips(line)).map(str::trim).collect();
    let skips = file.added().filter(|line| language.skips(line) && !before.contains(&line.trim()));
    flags.extend(skips.map(|line| flag(TestFlagKind::TestSkipped, &file.path, line)));
    let removed = file.removed().filter(|line| language.asserts(line)).count();
    let added = file.added().filter(|line| language.asserts(line)).count();
    // The assertions of a test that left the file went with it.
    let stays = old.is_subset(&language.tests(file.lines_after()));
    if stays && removed > added {
        let detail = format!("{removed} removed, {added} added");
        flags.push(flag(TestFlagKind::AssertionsRemoved, &file.path, detail));
    }
    flags
}

/// Tests that passed at the base and are skipped or not there at the head, by the names that the runs print. Only
/// of a head whose run passed: one that failed may have broken off. What `known` flags name is left out.
#[must_use]
pub fn run_flags(base: &CompletedRun, head: &CompletedRun, known: &[TestFlag]) -> Vec<TestFlag> {
    let (Some(before), Some(after)) = (&base.report, &head.report) else { return Vec::new() };
    if !head.run.passed() {
        return Vec::new();
    }
    let is_known =
        |name: &str| known.iter().any(|flag| name.contains(&flag.detail) || flag.detail.contains(last(name)));
    let lost = before.passed.difference(&after.passed).filter(|name| !is_known(name));
    // A runner that names only failures says nothing of what is gone.
    let names_all = !after.passed.is_empty();
    let found = lost.filter_map(|name| {
        if after.skipped.contains(name) {
            Some(flag(TestFlagKind::TestSkipped, "", name))
        } else {
            names_all.then(|| flag(TestFlagKind::TestRemoved, "", name))
        }
    });
    found.collect()
}

/// The last part of a test's name.
fn last(name: &str) -> &str {
    let cuts = ["::", " › ", " > ", " "].iter().filter_map(|cut| Some(name.rfind(cut)? + cut.len()));
    &name[cuts.max().unwrap_or(0)..]
}

/// Whether the command that was agreed to does something else at the head. Speaks only of a command that was
/// detected at the base.
#[must_use]
pub fn command_flag(
    agreed: &str,
    base: Option<&TestCommand>,
    head: Option<&TestCommand>,
) -> Option<TestFlag> {
    let base = base.filter(|base| base.command == agreed)?;
    let definition =
        |command: &TestCommand| command.definition.clone().unwrap_or_else(|| command.command.clone());
    let now = match head {
        Some(head) if (&head.command, &head.definition) == (&base.command, &base.definition) => return None,
        Some(head) => format!("`{}` now", definition(head)),
        None => "not there any more".to_owned(),
    };
    Some(flag(TestFlagKind::CommandChanged, "", format!("`{}` before, {now}", definition(base))))
}

#[cfg(test)]
mod tests;
