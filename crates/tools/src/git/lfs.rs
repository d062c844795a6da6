//! Git LFS: a commit contains pointers, and the pre-push hook of git-lfs uploads the content. Loopgate runs no hooks of a
//! repository that the user has not trusted, so it uploads the content itself.

use std::path::Path;

use loopgate_api::ids::BranchName;
use loopgate_home::trust_command;

use super::outgoing::{OutgoingFile, listing};
use super::{DropPolicy, Git, GitError, checked, finish, time};
use crate::process::Stdin;

/// Start of a pointer.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1";
/// Upper bound of the size of a pointer in bytes, by the specification of Git LFS.
const MAX_POINTER: u64 = 1024;
/// The filter that git-lfs configures.
const FILTER: &str = "lfs";
/// Files that a message lists.
const MAX_LISTED: usize = 5;
/// Number of NUL-terminated fields that `git check-attr -z` prints per path.
const ATTRIBUTE_FIELDS: usize = 3;
/// What git and shells print when they do not find the program.
const MISSING: [&str; 4] = [
    "'lfs' is not a git command",
    "git-lfs: not found",
    "git-lfs: command not found",
    "git-lfs: No such file",
];

/// Files of a branch whose content is not in Git LFS although their attributes require it. The text names the files and
/// what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LfsGap {
    /// The commits contain the content instead of pointers. Others can check the branch out.
    #[error("{0}")]
    NoPointers(String),
    /// The commits contain pointers to content that only this machine has.
    #[error("{0}")]
    NotUploaded(String),
}

impl Git {
    /// Uploads the content of files that Git LFS tracks in commits of a branch that are not reachable from `known`.
    /// Returns the files for which this is impossible on this machine. Dropping the future ends the upload; a later one
    /// continues it.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when the upload fails.
    pub async fn upload_large_files(
        &self,
        directory: &Path,
        branch: &BranchName,
        known: &[String],
    ) -> Result<Option<LfsGap>, GitError> {
        let files = self.tracked_by_lfs(directory, self.outgoing_files(directory, known).await?).await?;
        if files.is_empty() {
            return Ok(None);
        }
        let objects: Vec<String> = files.iter().map(|file| file.object.clone()).collect();
        let contents = self.contents(directory, &objects, MAX_POINTER).await?;
        let is_pointer = |content: &Option<Vec<u8>>| {
            content.as_deref().is_some_and(|content| content.is_empty() || content.starts_with(POINTER))
        };
        let whole: Vec<&OutgoingFile> = files
            .iter()
            .zip(&contents)
            .filter(|(_, content)| !is_pointer(content))
            .map(|(file, _)| file)
            .collect();
        if !whole.is_empty() {
            return Ok(Some(LfsGap::NoPointers(format!(
                "{} should be stored in Git LFS, but the commits contain the whole content, because git-lfs is not \
                 installed or not set up. Install git-lfs, run: git lfs install, and commit the files again",
                listed(whole)
            ))));
        }
        let names = listed(files.iter());
        let repository = self.repository(directory).await?;
        let variables = self.effective_config(&repository).await?;
        let is_own = variables.iter().any(|variable| {
            !variable.by_repository
                && variable.is_filter()
                && variable.entry.subsection.as_deref() == Some(FILTER)
        });
        if !is_own && !self.trusts(directory).await {
            return Ok(Some(LfsGap::NotUploaded(format!(
                "the content of {names} was not uploaded to Git LFS, because only this repository configures git-lfs and you \
                 have not trusted it. Review it with: {}",
                trust_command(repository.clone_root())
            ))));
        }
        let remote = self.remotes(directory).await?.push;
        let args = ["lfs", "push", &remote, branch.as_str()];
        let command = self.command(directory).await?.session().args(args);
        match checked(
            &args,
            finish(&command, &args, self.idle_limit(time::LFS_PUSH), DropPolicy::Interrupt).await?,
        ) {
            Ok(_) => Ok(None),
            Err(error) if is_missing(&error) => Ok(Some(LfsGap::NotUploaded(format!(
                "the content of {names} was not uploaded to Git LFS, because git-lfs is not installed or not on Loopgate's \
                 PATH. Install it and run in the worktree: git lfs push {remote} {branch}"
            )))),
            Err(error) => Err(error),
        }
    }

    /// Returns those of the files whose attributes select the filter of Git LFS.
    async fn tracked_by_lfs(
        &self,
        directory: &Path,
        mut files: Vec<OutgoingFile>,
    ) -> Result<Vec<OutgoingFile>, GitError> {
        if files.is_empty() {
            return Ok(files);
        }
        let input = files.iter().flat_map(|file| file.path.iter().copied().chain([0])).collect();
        let args = ["check-attr", "-z", "--stdin", "filter"];
        let command = self.reader(directory).await?.args(args).stdin(Stdin::Bytes(input));
        let printed = listing(command, "check-attr").await?;
        let fields: Vec<&[u8]> = printed.split(|byte| *byte == 0).collect();
        let mut filters = fields.chunks_exact(ATTRIBUTE_FIELDS).map(|fields| fields[2] == b"lfs");
        files.retain(|_| filters.next().unwrap_or(false));
        Ok(files)
    }
}

/// Returns whether a command failed because git-lfs is missing.
pub(super) fn is_missing(error: &GitError) -> bool {
    error.printed().is_some_and(|printed| MISSING.iter().any(|text| printed.contains(text)))
}

fn listed<'a>(files: impl IntoIterator<Item = &'a OutgoingFile>) -> String {
    let mut names: Vec<String> =
        files.into_iter().map(|file| String::from_utf8_lossy(&file.path).into_owned()).collect();
    names.sort();
    names.dedup();
    let more = names.len().saturating_sub(MAX_LISTED);
    names.truncate(MAX_LISTED);
    if more > 0 { format!("{} and {more} more", names.join(", ")) } else { names.join(", ") }
}
