//! Changes since the start of a task, in the project and in the further repositories of the loop.
//!
//! At the start of a task the files of each repository are recorded as a git tree; later the files are
//! compared with it, or restored from it. Nothing is committed or staged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;

use super::document::PlanLock;
use crate::project_git::BlockingGit;
use crate::repositories::loop_repositories;

/// Name under which the files before a restoration are recorded.
const BEFORE_RESTORE: &str = "before-restore";

/// Tree ids by the path of their repository.
type Trees = BTreeMap<PathBuf, String>;

/// Records the current files as the start of a task. A task that is started again keeps its first record.
///
/// # Errors
/// Returns the line to print.
pub fn record_start(workdir: &Path, task: &str) -> Result<(), String> {
    let _lock = PlanLock::take(workdir)?;
    let mut all: BTreeMap<String, Trees> = untrusted::read_json(&record(workdir)).unwrap_or_default();
    // An iteration may restart a task; its changes since the first start belong to it.
    if all.contains_key(task) {
        return Ok(());
    }
    let git = BlockingGit::new()?;
    let repositories = loop_repositories(workdir)?.into_iter();
    let trees = repositories.filter_map(|repository| {
        // A repository without a snapshot (no git repository, or git failed) is left out and has no changes
        // later.
        let tree = git.snapshot(&repository.path)?;
        // Without a reference, git's garbage collection would remove the tree.
        git.retain(&repository.path, &tree, task)?;
        Some((repository.path, tree))
    });
    all.insert(task.to_owned(), trees.collect());
    write_record(workdir, &all)
}

/// Lists the files changed since the start of a task, one line each: status letter, tab, path. Files of a
/// further repository have the path `@{name}:path`. With `patch`, returns patches instead. `NO_CHANGES`
/// without any.
///
/// # Errors
/// Returns the line to print, also when no start of the task is recorded.
pub fn since(workdir: &Path, task: &str, patch: bool) -> Result<String, String> {
    let all: BTreeMap<String, Trees> = untrusted::read_json(&record(workdir)).unwrap_or_default();
    let trees = all.get(task).ok_or_else(|| {
        format!("Error: no start is recorded for {task}: run `plan set-state` with --task {task} first")
    })?;
    let git = BlockingGit::new()?;
    let mut parts = Vec::new();
    for repository in &loop_repositories(workdir)? {
        let dir = &repository.path;
        let Some(start_tree) = trees.get(dir) else { continue };
        let differences = git.snapshot(dir).and_then(|to| match patch {
            true => git.patch_between(dir, start_tree, &to).map(|text| vec![text]),
            false => git.changed_between(dir, start_tree, &to),
        });
        let lines = differences.ok_or_else(|| format!("Error: git cannot compare {}", dir.display()))?;
        parts.extend(lines.into_iter().filter(|line| !line.is_empty()).map(|line| match &repository.name {
            Some(name) if patch => format!("# @{{{name}}}\n{line}"),
            // The notation of plans for files of a further repository.
            Some(name) => line.replacen('\t', &format!("\t@{{{name}}}:"), 1),
            None => line,
        }));
    }
    Ok(if parts.is_empty() { "NO_CHANGES".to_owned() } else { parts.join("\n") })
}

/// Restores files as they were at the start of a task: all files, or those below `paths`. The current files are recorded
/// first as the start of `before-restore`, from which they can be restored in turn. Files that were added since then
/// are not removed.
///
/// # Errors
/// Returns the line to print, also when no start of the task is recorded.
pub fn restore(workdir: &Path, task: &str, paths: &[String]) -> Result<String, String> {
    let mut all: BTreeMap<String, Trees> = untrusted::read_json(&record(workdir)).unwrap_or_default();
    let trees = all.get(task).cloned().ok_or_else(|| {
        format!("Error: no start is recorded for {task}: run `plan set-state` with --task {task} first")
    })?;
    // The record of an earlier restoration is replaced.
    all.remove(BEFORE_RESTORE);
    write_record(workdir, &all)?;
    record_start(workdir, BEFORE_RESTORE)?;
    let git = BlockingGit::new()?;
    let mut restored = Vec::new();
    for (dir, tree) in &trees {
        git.restore(dir, tree, paths)
            .ok_or_else(|| format!("Error: git cannot restore the files of {}", dir.display()))?;
        restored.push(dir.display().to_string());
    }
    Ok(format!(
        "Restored the files as they were at the start of {task} in {}. `loopgate plan restore {BEFORE_RESTORE}` \
         reverts this.",
        restored.join(", ")
    ))
}

fn write_record(workdir: &Path, all: &BTreeMap<String, Trees>) -> Result<(), String> {
    let text = serde_json::to_vec(all).map_err(|error| format!("Error: {error}"))?;
    untrusted::write(&record(workdir), &text)
        .map_err(|error| format!("Error: cannot write the record of the tasks' files: {error}"))
}

/// Returns the path of the record; a new loop deletes it.
#[must_use]
pub fn record(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join("task-trees.json")
}
