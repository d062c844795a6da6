//! Finds files that a delivery must not push: files that look like secrets, and dependencies or build output
//! that the repository does not ignore.
//!
//! Such files stay in the worktree. Unpushed commits that contain them are rewritten without them, so that
//! they never appear in the history of the remote.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use loopgate_api::event::LoopEvent;
use loopgate_api::held_back::{
    HeldBackFile, HeldBackReason, generated_directory, is_secret_name, marked_directory,
};
use loopgate_api::redact;
use loopgate_home::Directory;
use loopgate_tools::git::{GitError, OutgoingFile, time};

use super::outcome::LoopOutcome;
use super::result::DeliveryContext;
use super::retry::DeliveryError;

// 1 MiB. Larger files are not scanned for secrets: keys are stored in small files, and a scan reads whole
// files.
const MAX_READ: u64 = 1024 * 1024;
// Entries listed in messages, to keep them readable. The result contains all of them.
const MAX_LISTED: usize = 10;

/// Files of one repository that are excluded from its delivery.
#[derive(Debug, Default)]
pub(super) struct HeldBack {
    /// Entries to report. A generated directory is one entry.
    pub entries: Vec<HeldBackFile>,
    /// Every path to leave unstaged, including each file of a generated directory.
    pub paths: HashSet<Vec<u8>>,
    /// Whether the working tree has changes that are not held back.
    pub others_changed: bool,
    /// Whether the index or an unpushed commit contains a held-back file.
    recorded: bool,
    /// Commit of the remote-tracking branch, if HEAD is based on it.
    pushed: Option<String>,
}

/// Examines the working tree and all unpushed commits.
pub(super) async fn find(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> Result<HeldBack, GitError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let changes = git.changed_files(directory).await?;
    let mut held = HeldBack { others_changed: !changes.is_empty(), ..HeldBack::default() };
    if !outcome.finalizer.settings.get().hold_back_files {
        return Ok(held);
    }
    held.pushed = pushed(outcome, context).await?;
    // Commits that the base or the remote branch contains are public already; holding them back is pointless.
    let public: Vec<String> =
        std::iter::once(context.base_revision.clone()).chain(held.pushed.clone()).collect();
    let outgoing = git.outgoing_files(directory, &public).await?;
    // Deleted files have no content that could leak.
    let present =
        changes.iter().filter(|change| change.tree != 'D' && !(change.index == 'D' && change.tree == ' '));
    let present: Vec<Vec<u8>> = present.map(|change| change.path.clone()).collect();
    let all_paths: BTreeSet<&[u8]> =
        present.iter().chain(outgoing.iter().map(|file| &file.path)).map(Vec::as_slice).collect();

    let mut reasons = held_by_name(&all_paths);
    // A path that the base branch tracks was committed on purpose.
    if !reasons.is_empty() {
        let tracked = git.tracked_paths(directory, &context.base_revision).await?;
        reasons.retain(|path, entry| !is_tracked(&tracked, path, entry));
    }
    for path in paths_with_keys(outcome, context, &present, &outgoing, &reasons).await? {
        let entry = HeldBackFile { path: text(&path), reason: HeldBackReason::Secret };
        reasons.insert(path, entry);
    }
    held.others_changed = changes.iter().any(|change| !reasons.contains_key(&change.path));
    held.recorded = outgoing.iter().any(|file| reasons.contains_key(&file.path))
        || changes.iter().any(|c| !matches!(c.index, ' ' | '?') && reasons.contains_key(&c.path));
    held.entries = reasons.values().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    held.paths = reasons.into_keys().collect();
    Ok(held)
}

/// Returns the commit of the remote-tracking branch if HEAD is a descendant of it.
async fn pushed(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> Result<Option<String>, GitError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let Some(branch) = git.current_branch(directory).await? else { return Ok(None) };
    let Some(commit) = git.commit_of(directory, &context.remotes.pushed_ref(&branch)).await? else {
        return Ok(None);
    };
    let common = git.merge_base(directory, &commit, "HEAD").await?;
    Ok(common.filter(|common| *common == commit))
}

/// Returns the paths that are held back because of their names, each with the entry to report.
fn held_by_name(all_paths: &BTreeSet<&[u8]>) -> HashMap<Vec<u8>, HeldBackFile> {
    let texts = || all_paths.iter().map(|path| (*path, String::from_utf8_lossy(path)));
    let marked: BTreeSet<String> =
        texts().filter_map(|(_, path)| marked_directory(&path).map(str::to_owned)).collect();
    let entry = |path: &str| {
        let generated = generated_directory(path).or_else(|| {
            let parents = path.match_indices('/').map(|(end, _)| &path[..=end]);
            parents.into_iter().find(|directory| marked.contains(*directory))
        });
        match generated {
            Some(directory) => Some((directory.to_owned(), HeldBackReason::Generated)),
            None => is_secret_name(path).then(|| (path.to_owned(), HeldBackReason::Secret)),
        }
    };
    let held = texts().filter_map(|(path, text)| {
        let (shown_path, reason) = entry(&text)?;
        Some((path.to_owned(), HeldBackFile { path: shown_path, reason }))
    });
    held.collect()
}

/// Returns whether the base branch tracks the path or, for generated files, any file in the directory.
fn is_tracked(tracked: &HashSet<Vec<u8>>, path: &[u8], entry: &HeldBackFile) -> bool {
    match entry.reason {
        HeldBackReason::Secret => tracked.contains(path),
        HeldBackReason::Generated => tracked.iter().any(|path| path.starts_with(entry.path.as_bytes())),
    }
}

/// Returns the paths whose content contains a key or token that the base branch does not contain.
async fn paths_with_keys(
    outcome: &LoopOutcome<'_>,
    context: &DeliveryContext,
    present: &[Vec<u8>],
    outgoing: &[OutgoingFile],
    held_by_name: &HashMap<Vec<u8>, HeldBackFile>,
) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let is_candidate = |path: &Vec<u8>| !held_by_name.contains_key(path);
    let on_disk: Vec<Vec<u8>> = present.iter().filter(|path| is_candidate(path)).cloned().collect();
    let committed: Vec<&OutgoingFile> = outgoing.iter().filter(|file| is_candidate(&file.path)).collect();
    let root = directory.to_owned();
    // Read through a directory handle: the working tree is untrusted and may contain links and pipes.
    let scan = tokio::task::spawn_blocking(move || {
        let Ok(root) = Directory::of(&root) else { return BTreeSet::new() };
        let has_key = |path: &Vec<u8>| {
            let read = root.read(Path::new(OsStr::from_bytes(path)), MAX_READ);
            read.is_ok_and(|bytes| holds_key(&bytes))
        };
        on_disk.into_iter().filter(has_key).collect()
    });
    let mut matches: BTreeSet<Vec<u8>> = scan.await.unwrap_or_default();
    // Commits are scanned as well. A file that was committed and deleted later is still in the history.
    let objects: Vec<String> = committed.iter().map(|file| file.object.clone()).collect();
    let contents = git.contents(directory, &objects, MAX_READ).await?;
    let with_key =
        committed.iter().zip(contents).filter(|(_, bytes)| bytes.as_deref().is_some_and(holds_key));
    matches.extend(with_key.map(|(file, _)| file.path.clone()));
    if matches.is_empty() {
        return Ok(matches);
    }
    // Files that contain a key on the base branch, such as test fixtures, are not held back.
    // Objects are requested by line, so that one at a path with a line break would be another one.
    let paths: Vec<Vec<u8>> = matches.iter().filter(|path| !path.contains(&b'\n')).cloned().collect();
    // In bytes: the base may have another file at the lossy path, with a key of its own.
    let revision = context.base_revision.as_bytes();
    let names: Vec<Vec<u8>> = paths.iter().map(|path| [revision, b":", path].concat()).collect();
    let base_contents = git.contents(directory, &names, MAX_READ).await?;
    for (path, content) in paths.iter().zip(base_contents) {
        if content.is_some_and(|bytes| holds_key(&bytes)) {
            matches.remove(path);
        }
    }
    Ok(matches)
}

fn holds_key(bytes: &[u8]) -> bool {
    // A single byte that is not UTF-8 does not make a key unreadable for those who fetch it.
    redact::holds_key(&String::from_utf8_lossy(bytes))
}

fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

impl HeldBack {
    /// Describes the entries for messages, for example `.env (looks like a secret)`.
    pub fn describe(&self) -> String {
        let listed = self.entries.iter().take(MAX_LISTED);
        let mut listed: Vec<String> =
            listed.map(|entry| format!("{} ({})", entry.path, entry.reason.as_text())).collect();
        if self.entries.len() > MAX_LISTED {
            listed.push(format!("{} more", self.entries.len() - MAX_LISTED));
        }
        listed.join(", ")
    }

    /// Reports the held-back files in the log and in the loop's output.
    pub async fn announce(
        &self,
        outcome: &LoopOutcome<'_>,
        context: &DeliveryContext,
    ) -> Result<(), DeliveryError> {
        if self.entries.is_empty() {
            return Ok(());
        }
        let files = self.describe();
        tracing::warn!(loop_id = %outcome.id, repository = context.full_name, files, "files held back from the delivery");
        let text = format!(
            "Held back from the delivery: {files}. They remain in the worktree. To deliver them, commit them to the \
             base branch or set hold_back_files = false in the settings; to silence this warning, add them to \
             .gitignore."
        );
        outcome.finalizer.jobs.enqueue_event(outcome.id, &LoopEvent::note(&text)).await?;
        Ok(())
    }

    /// Removes the held-back files from unpushed commits by resetting the branch to the last pushed commit;
    /// all changes remain in the working tree. Returns the messages of the removed commits, joined into one.
    pub async fn remove_from_commits(
        &self,
        outcome: &LoopOutcome<'_>,
        context: &DeliveryContext,
    ) -> Result<Option<String>, DeliveryError> {
        if !self.recorded {
            return Ok(None);
        }
        let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
        // Nothing before this commit is rewritten: pushed history must stay as it is.
        let onto = match &self.pushed {
            Some(pushed) => Some(pushed.clone()),
            None => git.merge_base(directory, &context.base_revision, "HEAD").await?,
        };
        let onto = onto.ok_or_else(|| {
            let files = self.describe();
            std::io::Error::other(format!(
                "unpushed commits contain files that must be held back, and share no ancestor with the base: {files}"
            ))
        })?;
        let range = format!("{onto}..HEAD");
        let args = ["log", "--reverse", "--format=%B", "--end-of-options", &range];
        let messages = git.text(directory, &args, time::LOCAL).await?;
        // A mixed reset keeps the working tree, so the caller can commit everything except the held-back
        // files.
        git.change(directory, &["reset", "--quiet", &onto], time::COMMIT).await?;
        // The messages were written by a model and may quote a secret.
        Ok((!messages.is_empty()).then(|| redact::credentials(&messages)))
    }
}
