//! What a delivery holds back: files that look like secrets, and dependencies and build output that no
//! rule of the repository ignores. They stay in the worktree, and what is pushed has never held them:
//! commits that did are made anew without them.

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
use serde_json::json;

use super::outcome::LoopOutcome;
use super::result::DeliveryContext;
use super::retry::DeliveryError;

/// Bytes of a file that is looked into.
const MAX_READ: u64 = 1024 * 1024;
/// Entries that are named to a person.
const MAX_NAMED: usize = 10;

/// What is held back in one repository.
#[derive(Debug, Default)]
pub(super) struct HeldBack {
    /// For people: files, and directories as a whole.
    pub entries: Vec<HeldBackFile>,
    /// Every path.
    pub paths: HashSet<Vec<u8>>,
    /// Whether something else has changed since the last commit.
    pub others_changed: bool,
    /// Whether commits that are not pushed hold some of it, or the index does.
    recorded: bool,
    /// The branch as `origin` has it, when HEAD goes on from there.
    pushed: Option<String>,
}

/// Looks at everything that a delivery would send.
pub(super) async fn find(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> Result<HeldBack, GitError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let changes = git.changed_files(directory).await?;
    let mut held = HeldBack { others_changed: !changes.is_empty(), ..HeldBack::default() };
    if !outcome.finalizer.settings.get().hold_back_files {
        return Ok(held);
    }
    held.pushed = pushed(outcome, context).await?;
    let known: Vec<String> =
        std::iter::once(context.base_revision.clone()).chain(held.pushed.clone()).collect();
    let outgoing = git.outgoing_files(directory, &known).await?;
    let present =
        changes.iter().filter(|change| change.tree != 'D' && !(change.index == 'D' && change.tree == ' '));
    let present: Vec<Vec<u8>> = present.map(|change| change.path.clone()).collect();
    let every: BTreeSet<&[u8]> =
        present.iter().chain(outgoing.iter().map(|file| &file.path)).map(Vec::as_slice).collect();

    let mut reasons = by_name(&every);
    if !reasons.is_empty() {
        let tracked = git.tracked_paths(directory, &context.base_revision).await?;
        reasons.retain(|path, entry| !is_tracked(&tracked, path, entry));
    }
    for path in keys_in(outcome, context, &present, &outgoing, &reasons).await? {
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

/// The branch of `origin` that HEAD goes on from.
async fn pushed(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> Result<Option<String>, GitError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let Some(branch) = git.current_branch(directory).await? else { return Ok(None) };
    let Some(commit) = git.commit_of(directory, &format!("refs/remotes/origin/{branch}")).await? else {
        return Ok(None);
    };
    let common = git.merge_base(directory, &commit, "HEAD").await?;
    Ok(common.filter(|common| *common == commit))
}

/// The paths that are held back by their names, and the entry that each is reported in.
fn by_name(every: &BTreeSet<&[u8]>) -> HashMap<Vec<u8>, HeldBackFile> {
    let texts = || every.iter().map(|path| (*path, String::from_utf8_lossy(path)));
    let marked: BTreeSet<String> =
        texts().filter_map(|(_, path)| marked_directory(&path).map(str::to_owned)).collect();
    let entry = |path: &str| {
        let generated = generated_directory(path).or_else(|| {
            let within = path.match_indices('/').map(|(end, _)| &path[..=end]);
            within.into_iter().find(|directory| marked.contains(*directory))
        });
        match generated {
            Some(directory) => Some((directory.to_owned(), HeldBackReason::Generated)),
            None => is_secret_name(path).then(|| (path.to_owned(), HeldBackReason::Secret)),
        }
    };
    let found = texts().filter_map(|(path, text)| {
        let (named, reason) = entry(&text)?;
        Some((path.to_owned(), HeldBackFile { path: named, reason }))
    });
    found.collect()
}

/// What the base holds is no secret any more, and meant to be there.
fn is_tracked(tracked: &HashSet<Vec<u8>>, path: &[u8], entry: &HeldBackFile) -> bool {
    match entry.reason {
        HeldBackReason::Secret => tracked.contains(path),
        HeldBackReason::Generated => tracked.iter().any(|known| known.starts_with(entry.path.as_bytes())),
    }
}

/// Paths with a key or a token in them that the base has not.
async fn keys_in(
    outcome: &LoopOutcome<'_>,
    context: &DeliveryContext,
    present: &[Vec<u8>],
    outgoing: &[OutgoingFile],
    known: &HashMap<Vec<u8>, HeldBackFile>,
) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let unknown = |path: &Vec<u8>| !known.contains_key(path);
    let on_disk: Vec<Vec<u8>> = present.iter().filter(|path| unknown(path)).cloned().collect();
    let committed: Vec<&OutgoingFile> = outgoing.iter().filter(|file| unknown(&file.path)).collect();
    let root = directory.to_owned();
    let read = tokio::task::spawn_blocking(move || {
        let Ok(root) = Directory::of(&root) else { return BTreeSet::new() };
        let holds = |path: &Vec<u8>| {
            let read = root.read(Path::new(OsStr::from_bytes(path)), MAX_READ);
            read.is_ok_and(|bytes| holds_key(&bytes))
        };
        on_disk.into_iter().filter(holds).collect()
    });
    let mut found: BTreeSet<Vec<u8>> = read.await.unwrap_or_default();
    let objects: Vec<String> = committed.iter().map(|file| file.object.clone()).collect();
    let contents = git.contents(directory, &objects, MAX_READ).await?;
    let with_key =
        committed.iter().zip(contents).filter(|(_, bytes)| bytes.as_deref().is_some_and(holds_key));
    found.extend(with_key.map(|(file, _)| file.path.clone()));
    if found.is_empty() {
        return Ok(found);
    }
    // Keys that the base branch has in the same file are not held back.
    let paths: Vec<Vec<u8>> = found.iter().cloned().collect();
    let names =
        paths.iter().map(|path| format!("{}:{}", context.base_revision, text(path))).collect::<Vec<_>>();
    let before = git.contents(directory, &names, MAX_READ).await?;
    for (path, before) in paths.iter().zip(before) {
        if before.is_some_and(|bytes| holds_key(&bytes)) {
            found.remove(path);
        }
    }
    Ok(found)
}

fn holds_key(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(redact::holds_key)
}

fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

impl HeldBack {
    /// For a person: what, and why.
    pub fn describe(&self) -> String {
        let named = self.entries.iter().take(MAX_NAMED);
        let mut named: Vec<String> =
            named.map(|entry| format!("{} ({})", entry.path, entry.reason.as_text())).collect();
        if self.entries.len() > MAX_NAMED {
            named.push(format!("{} more", self.entries.len() - MAX_NAMED));
        }
        named.join(", ")
    }

    /// Tells it on the loop's page and in the log.
    pub async fn announce(
        &self,
        outcome: &LoopOutcome<'_>,
        context: &DeliveryContext,
    ) -> Result<(), DeliveryError> {
        if self.entries.is_empty() {
            return Ok(());
        }
        let what = self.describe();
        tracing::warn!(loop_id = %outcome.id, repository = context.full_name, what, "files are held back from a delivery");
        let text = format!(
            "Held back from the delivery: {what}. The worktree keeps it. To deliver such files, ignore or track \
             them yourself, or set hold_back_files = false in the settings."
        );
        outcome
            .finalizer
            .jobs
            .enqueue_event(outcome.id, &LoopEvent::new("output", &json!({"data": {"chunk": text}})))
            .await?;
        Ok(())
    }

    /// Takes it out of the commits that are not pushed: what they hold besides is uncommitted again.
    /// Returns the messages of those commits.
    pub async fn take_out(
        &self,
        outcome: &LoopOutcome<'_>,
        context: &DeliveryContext,
    ) -> Result<Option<String>, DeliveryError> {
        if !self.recorded {
            return Ok(None);
        }
        let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
        let onto = match &self.pushed {
            Some(pushed) => Some(pushed.clone()),
            None => git.merge_base(directory, &context.base_revision, "HEAD").await?,
        };
        let onto = onto.ok_or_else(|| {
            let what = self.describe();
            std::io::Error::other(format!(
                "the commits hold what is not delivered, and share none with the base: {what}"
            ))
        })?;
        let range = format!("{onto}..HEAD");
        let args = ["log", "--reverse", "--format=%B", "--end-of-options", &range];
        let words = git.text(directory, &args, time::LOCAL).await?;
        git.change(directory, &["reset", "--quiet", &onto], time::COMMIT).await?;
        Ok((!words.is_empty()).then(|| redact::credentials(&words)))
    }
}
