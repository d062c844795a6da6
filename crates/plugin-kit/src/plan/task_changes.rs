//! Changes since the start of a task or of the loop, in the project and in the further repositories of the loop.
//!
//! At the start the files of each repository are recorded as a git tree; later the files are compared with it, or restored
//! from it. Nothing is committed or staged. Repositories inside of these, such as submodules, are recorded if their files
//! differ from their commit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;

use super::document::PlanLock;
use crate::project_git::{BlockingGit, Trees};
use crate::repositories::{ProjectRepository, loop_repositories};

/// Name under which the files before a restoration are recorded.
const BEFORE_RESTORE: &str = "before-restore";
/// Name under which the files at the start of the loop are recorded.
pub const START: &str = "start";
/// File of the recorded trees, in the state directory of the work directory.
pub const RECORD: &str = "task-trees.json";
/// Directory of the patches, in the work directory.
const PATCHES: &str = "changes";

/// Records the files at the start of the loop, unless they are recorded already.
///
/// # Errors
/// Returns the line to print.
pub fn record_loop_start(workdir: &Path, trees: &Trees) -> Result<(), String> {
    let _lock = PlanLock::take(workdir)?;
    let mut all = read(workdir);
    if all.contains_key(START) {
        return Ok(());
    }
    all.insert(START.to_owned(), trees.clone());
    write_record(workdir, &all)
}

/// Records the current files as the start of a task. A task that is started again keeps its first record.
///
/// # Errors
/// Returns the line to print.
pub fn record_start(workdir: &Path, task: &str) -> Result<(), String> {
    let _lock = PlanLock::take(workdir)?;
    let mut all = read(workdir);
    // An iteration may restart a task; its changes since the first start belong to it.
    if all.contains_key(task) {
        return Ok(());
    }
    let git = BlockingGit::new()?;
    let mut trees = Trees::new();
    for repository in loop_repositories(workdir)? {
        // A repository without a snapshot (no git repository, or git failed) is left out, and counts as changed later.
        let Some(now) = git.snapshots(&repository.path) else { continue };
        let start = all.entry(START.to_owned()).or_default();
        // The driver may not know the repository yet, and a loop without the driver has recorded none.
        let names = if start.contains_key(&repository.path) { vec![task] } else { vec![task, START] };
        for (dir, tree) in now {
            // Without a reference, git's garbage collection would remove the tree.
            if names.iter().any(|name| git.retain(&dir, &tree, name).is_none()) {
                continue;
            }
            if names.contains(&START) {
                all.entry(START.to_owned()).or_default().insert(dir.clone(), tree.clone());
            }
            trees.insert(dir, tree);
        }
    }
    all.entry(START.to_owned()).or_default();
    all.insert(task.to_owned(), trees);
    write_record(workdir, &all)
}

/// Lists the files changed since the start of a task, or of the loop ([`START`]), one line each: status letter, tab, path.
/// Files of a further repository have the path `@{name}:path`. A repository that git cannot compare has one line, with the
/// status `?`. `NO_CHANGES` without any line.
///
/// # Errors
/// Returns the line to print, also when no start is recorded.
pub fn list(workdir: &Path, start: &str) -> Result<String, String> {
    let git = BlockingGit::new()?;
    list_of(&git, &TreeComparison::since(&git, workdir, start)?)
}

/// Writes the changes as a patch into the work directory, and returns the path of the patch, followed by the list of
/// files. Patches are files because agents pass on a path at no cost, and read what they need of a long patch.
///
/// # Errors
/// Returns the line to print, also when no start is recorded.
pub fn write_patch(workdir: &Path, start: &str) -> Result<String, String> {
    let git = BlockingGit::new()?;
    let comparison = TreeComparison::since(&git, workdir, start)?;
    let mut text = String::new();
    for TreePair { repository, from, to } in &comparison.pairs {
        let patch =
            git.patch_between(&repository.path, from, to).ok_or_else(|| cannot_compare(repository))?;
        match &repository.name {
            _ if patch.is_empty() => {}
            Some(name) => text += &format!("# @{{{name}}}\n{patch}\n"),
            None => text += &format!("{patch}\n"),
        }
    }
    for repository in &comparison.unknown {
        text += &format!("# Git cannot compare the files of {}\n", repository.path.display());
    }
    let path = workdir.join(PATCHES).join(format!("{start}.patch"));
    untrusted::write(&path, text.as_bytes())
        .map_err(|error| format!("Error: cannot write {}: {error}", path.display()))?;
    Ok(format!("{}\n{}", path.display(), list_of(&git, &comparison)?))
}

/// Files of one repository, at a recorded start and now.
pub struct TreePair {
    /// The repository.
    pub repository: ProjectRepository,
    /// Tree at the start.
    pub from: String,
    /// Tree of the current files.
    pub to: String,
}

/// Compares the repositories of a loop with a recorded start. Repositories without a recorded tree are left out, and so
/// are repositories inside of others.
///
/// # Errors
/// Returns the line to print, also when no start is recorded.
pub fn tree_pairs(git: &BlockingGit, workdir: &Path, start: &str) -> Result<Vec<TreePair>, String> {
    let trees = read(workdir).remove(start).ok_or_else(|| no_start(start))?;
    let repositories = loop_repositories(workdir)?.into_iter();
    let recorded = repositories.filter_map(|repository| Some((trees.get(&repository.path)?, repository)));
    let pair = |(from, repository): (&String, ProjectRepository)| {
        let to = git.snapshot(&repository.path).ok_or_else(|| cannot_compare(&repository))?;
        Ok(TreePair { repository, from: from.clone(), to })
    };
    recorded.map(pair).collect()
}

/// Files of all repositories of a loop, at a recorded start and now.
struct TreeComparison {
    pairs: Vec<TreePair>,
    /// Repositories that git cannot compare.
    unknown: Vec<ProjectRepository>,
}

impl TreeComparison {
    fn since(git: &BlockingGit, workdir: &Path, start: &str) -> Result<Self, String> {
        let trees = read(workdir).remove(start).ok_or_else(|| no_start(start))?;
        let (mut pairs, mut unknown) = (Vec::new(), Vec::new());
        for repository in loop_repositories(workdir)? {
            let Some(from) = trees.get(&repository.path).cloned() else {
                unknown.push(repository);
                continue;
            };
            let mut now = git.snapshots(&repository.path).ok_or_else(|| cannot_compare(&repository))?;
            let to = now.remove(&repository.path).ok_or_else(|| cannot_compare(&repository))?;
            // A repository inside of this one without a recorded tree had the files of its commit.
            for (path, to) in now {
                let nested = nested(&repository, &path);
                match trees.get(&path).cloned().or_else(|| git.tree_of_nested(&repository.path, &from, &path))
                {
                    Some(from) => pairs.push(TreePair { repository: nested, from, to }),
                    None => unknown.push(nested),
                }
            }
            pairs.push(TreePair { repository, from, to });
        }
        // The project first, so that readers see its files before those of the repositories inside of it.
        pairs.sort_by(|one, other| one.repository.name.cmp(&other.repository.name));
        Ok(Self { pairs, unknown })
    }
}

/// Names a repository inside of another one by its path in it.
fn nested(outer: &ProjectRepository, path: &Path) -> ProjectRepository {
    let inside = path.strip_prefix(&outer.path).unwrap_or(path).to_string_lossy();
    let name = outer.name.as_ref().map_or_else(|| inside.to_string(), |name| format!("{name}/{inside}"));
    ProjectRepository { name: Some(name), path: path.to_owned() }
}

/// Returns the trees of the repositories at the start of the loop, by path; none without a record.
#[must_use]
pub fn start_trees(workdir: &Path) -> Trees {
    read(workdir).remove(START).unwrap_or_default()
}

fn list_of(git: &BlockingGit, comparison: &TreeComparison) -> Result<String, String> {
    let mut lines = Vec::new();
    for TreePair { repository, from, to } in &comparison.pairs {
        let changed =
            git.changed_between(&repository.path, from, to).ok_or_else(|| cannot_compare(repository))?;
        lines.extend(changed.into_iter().map(|line| match &repository.name {
            // The notation of plans for files of a further repository.
            Some(name) => line.replacen('\t', &format!("\t@{{{name}}}:"), 1),
            None => line,
        }));
    }
    lines.extend(comparison.unknown.iter().map(|repository| format!("?\t{}", repository.path.display())));
    Ok(if lines.is_empty() { "NO_CHANGES".to_owned() } else { lines.join("\n") })
}

fn no_start(start: &str) -> String {
    match start {
        START => "Error: the start of the loop is not recorded, and no task has been started yet".to_owned(),
        task => {
            format!("Error: no start is recorded for {task}: run `plan set-state` with --task {task} first")
        }
    }
}

fn cannot_compare(repository: &ProjectRepository) -> String {
    format!("Error: git cannot compare {}", repository.path.display())
}

/// Restores files as they were at the start of a task: all files, or those below `paths`. The current files are recorded
/// first as the start of `before-restore`, from which they can be restored in turn. Files that were added since then
/// are not removed.
///
/// # Errors
/// Returns the line to print, also when no start of the task is recorded.
pub fn restore(workdir: &Path, task: &str, paths: &[String]) -> Result<String, String> {
    let mut all = read(workdir);
    let trees = all.get(task).cloned().ok_or_else(|| no_start(task))?;
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

fn read(workdir: &Path) -> BTreeMap<String, Trees> {
    untrusted::read_json(&record(workdir)).unwrap_or_default()
}

fn write_record(workdir: &Path, all: &BTreeMap<String, Trees>) -> Result<(), String> {
    let text = serde_json::to_vec(all).map_err(|error| format!("Error: {error}"))?;
    untrusted::write(&record(workdir), &text)
        .map_err(|error| format!("Error: cannot write the record of the tasks' files: {error}"))
}

/// Returns the path of the record; a new loop deletes it.
#[must_use]
pub fn record(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join(RECORD)
}
