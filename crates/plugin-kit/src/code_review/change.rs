//! Reads a change of a repository with git.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use loopgate_code_review::diff::ReviewedChange;
use loopgate_code_review::diff_data::DiffData;
use loopgate_code_review::hygiene::local_files;

use crate::project_git::{BlockingGit, ChangeSide};

/// The change to read. Without options, the changes of the working tree since the last commit.
#[derive(Debug, clap::Args)]
pub struct ScopeArgs {
    /// Compare the working tree, with untracked files, with the commit at which HEAD left this branch or commit
    #[arg(long, value_name = "REF", conflicts_with = "staged")]
    base: Option<String>,
    /// Compare the index with the last commit, as a pre-commit hook does
    #[arg(long)]
    staged: bool,
    /// Directory in the repository
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    pub workdir: PathBuf,
}

/// Unchanged lines around each change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchContext {
    None,
    OneLine,
    /// What reviewers read.
    Review,
}

/// The two sides of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSides {
    /// Commit or tree before the change.
    pub from: String,
    pub to: ChangeSide,
    /// Files and directories to compare, relative to the root of the repository; all if empty.
    pub paths: Vec<String>,
}

/// A change of a repository.
#[derive(Debug)]
pub struct ReadChange {
    pub data: DiffData,
    /// Added files that rules of git ignore.
    pub ignored: BTreeSet<String>,
}

/// Reads a change.
///
/// # Errors
/// Returns the reason; an incomplete change is never returned.
pub fn read(scope: &ScopeArgs, context: PatchContext) -> Result<ReadChange, String> {
    let git = BlockingGit::new()?;
    let root = root(&git, &scope.workdir)?;
    let from = match &scope.base {
        Some(base) => base_commit(&git, &root, base)?,
        None => git.head_tree(&root).ok_or("git cannot read the last commit")?,
    };
    let to = match scope.staged {
        true => ChangeSide::Index,
        false => working_tree(&git, &root)?,
    };
    read_sides(&git, &root, &ChangeSides { from, to, paths: Vec::new() }, context)
}

/// Returns the root directory of the working tree that contains a directory.
///
/// # Errors
/// Fails outside of a working tree.
pub fn root(git: &BlockingGit, dir: &Path) -> Result<PathBuf, String> {
    let position = git.position(dir);
    let (root, _) = position
        .ok_or_else(|| format!("{} is not in the working tree of a git repository", dir.display()))?;
    Ok(root)
}

/// Returns the commit with which the working tree is compared for a base.
///
/// # Errors
/// Fails for an unknown name.
pub fn base_commit(git: &BlockingGit, root: &Path, base: &str) -> Result<String, String> {
    git.review_base(root, base).ok_or_else(|| {
        format!(
            "{base} is neither a commit nor a branch, locally or at origin; fetch it, or name another base"
        )
    })
}

/// Returns the current files, with untracked ones.
///
/// # Errors
/// Fails when git does.
pub fn working_tree(git: &BlockingGit, root: &Path) -> Result<ChangeSide, String> {
    Ok(ChangeSide::Tree(git.snapshot(root).ok_or("git cannot read the working tree")?))
}

/// Reads the change between two sides.
///
/// # Errors
/// Returns the reason; an incomplete change is never returned.
pub fn read_sides(
    git: &BlockingGit,
    root: &Path,
    sides: &ChangeSides,
    context: PatchContext,
) -> Result<ReadChange, String> {
    let lines = match context {
        PatchContext::None => 0,
        PatchContext::OneLine => 1,
        PatchContext::Review => 10,
    };
    let output = git.change_output(root, &sides.from, &sides.to, lines, &sides.paths).ok_or(
        "git cannot compare the files, for example because the change has more than 64 MiB or files have conflicts",
    )?;
    let change = ReviewedChange::parse(&output)
        .map_err(|error| format!("the output of git is unexpected: {error}"))?;
    let data = DiffData::from(&change);
    let candidates: Vec<&str> = local_files(&data).collect();
    let ignored = git.ignored_among(root, &candidates).ok_or("git cannot read its ignore rules")?;
    Ok(ReadChange { data, ignored })
}
