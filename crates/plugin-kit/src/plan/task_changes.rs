//! What has changed since a task began: in the project and in the further repositories of the loop.
//!
//! When a task begins, the files of each repository are recorded as a git tree; later the files are held
//! against it. Nothing is committed, staged or written into the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;

use super::document::PlanLock;
use crate::project_git::BlockingGit;
use crate::repositories::loop_repositories;

/// Trees by the path of their repository.
type Trees = BTreeMap<PathBuf, String>;

/// Records the files as they are when a task begins. A task that was begun before keeps its first record.
///
/// # Errors
/// The line to print.
pub fn record_start(workdir: &Path, task: &str) -> Result<(), String> {
    let _lock = PlanLock::take(workdir)?;
    let mut all: BTreeMap<String, Trees> = untrusted::read_json(&record(workdir)).unwrap_or_default();
    if all.contains_key(task) {
        return Ok(());
    }
    let git = BlockingGit::new()?;
    let repositories = loop_repositories(workdir)?.into_iter();
    let trees = repositories.filter_map(|repository| {
        let tree = git.snapshot(&repository.path)?;
        Some((repository.path, tree))
    });
    all.insert(task.to_owned(), trees.collect());
    let text = serde_json::to_vec(&all).map_err(|error| format!("Error: {error}"))?;
    untrusted::write(&record(workdir), &text)
        .map_err(|error| format!("Error: cannot record the beginning of {task}: {error}"))
}

/// The files that have changed since a task began, a line each: status letter, tabulator, path; those of a
/// further repository as `@{name}:path`. With `patch` the patches instead. `NO_CHANGES` when there is none.
///
/// # Errors
/// The line to print, also when the task was never begun.
pub fn since(workdir: &Path, task: &str, patch: bool) -> Result<String, String> {
    let all: BTreeMap<String, Trees> = untrusted::read_json(&record(workdir)).unwrap_or_default();
    let trees = all
        .get(task)
        .ok_or_else(|| format!("Error: {task} was never begun: set the state with --task first"))?;
    let git = BlockingGit::new()?;
    let mut parts = Vec::new();
    for repository in &loop_repositories(workdir)? {
        let dir = &repository.path;
        let Some(from) = trees.get(dir) else { continue };
        let changed = git.snapshot(dir).and_then(|to| match patch {
            true => git.patch_between(dir, from, &to).map(|text| vec![text]),
            false => git.changed_between(dir, from, &to),
        });
        let lines = changed.ok_or_else(|| format!("Error: git cannot compare {}", dir.display()))?;
        parts.extend(lines.into_iter().filter(|line| !line.is_empty()).map(|line| match &repository.name {
            Some(name) if patch => format!("# @{{{name}}}\n{line}"),
            Some(name) => line.replacen('\t', &format!("\t@{{{name}}}:"), 1),
            None => line,
        }));
    }
    Ok(if parts.is_empty() { "NO_CHANGES".to_owned() } else { parts.join("\n") })
}

/// The record of a work directory; a new loop removes it.
#[must_use]
pub fn record(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join("task-trees.json")
}
