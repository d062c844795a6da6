//! Pending learnings of a worktree: files written by agents and by the extraction, one learning each.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_home::EntryKind;
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::pattern::{MAX_SUMMARY_CHARS, PatternCategory, one_line};

/// Directory of all files about learnings, relative to the work directory.
pub(crate) const LEARNINGS_DIR: &str = ".learnings";
const PENDING_DIR: &str = "pending";
/// Maximum size of a file in bytes; larger ones are malformed.
const MAX_FILE_BYTES: u64 = 256 * 1024;
/// Maximum number of files per run; the others are processed by the next run.
const MAX_FILES: usize = 1000;
/// Maximum length of each text of an account, in characters.
const MAX_ACCOUNT_CHARS: usize = 1000;
/// Maximum length of quoted evidence in characters.
const MAX_EVIDENCE_CHARS: usize = 300;
/// Scope of a learning that may hold in other repositories too.
pub(crate) const EVERYWHERE: &str = "everywhere";
/// Repository of a learning whose repository is not known; no repository has this name.
const UNKNOWN_REPOSITORY: &str = "unknown";
/// Suffix for malformed files: they are not processed again, but the user can inspect them.
const MALFORMED: &str = ".malformed";

/// Origin of a learning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LearningSource {
    /// Unique key, by which a source is merged at most once.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Directory name of the loop's or ticket's worktree.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// Id of the ticket or loop.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ticket: String,
    /// File in the repository that the learning refers to, with `:line` when known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Hash of the checked-out commit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
    /// Owner and name of the repository.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub repo: String,
    /// Chat from which it was extracted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub chat: String,
    /// Words of the loop's records that show what was corrected.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

/// A validated pending learning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingLearning {
    pub(crate) category: String,
    pub(crate) summary: String,
    pub(crate) applies_to: Vec<String>,
    pub(crate) context: Vec<String>,
    pub(crate) repo: String,
    /// Whether the assistant considers it true for other repositories too.
    pub(crate) is_general: bool,
    pub(crate) source: LearningSource,
    /// The agent's description, for a learning that has no category yet.
    pub(crate) account: Option<LearningContext>,
}

/// Circumstances of a learning, as described by its agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LearningContext {
    pub(crate) what_happened: String,
    pub(crate) why: String,
    pub(crate) fix_applied: String,
}

// All members are untyped: a file with one member of the wrong type is still usable.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Document {
    no_learnings: Value,
    what_happened: Value,
    why: Value,
    fix_applied: Value,
    pattern_to_remember: Value,
    applies_to: Value,
    category: Value,
    scope: Value,
    tags: Value,
    context: Context,
    source: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Context {
    file: Value,
    line: Value,
}

/// Result of reading a file of the pending directory.
enum PendingContent {
    Learning(Box<PendingLearning>),
    /// The agent reported that there is nothing to learn.
    Nothing,
    Malformed,
}

/// Pending directory of a work directory.
pub(crate) struct Pending {
    work_dir: PathBuf,
}

impl Pending {
    pub(crate) fn of(work_dir: &Path) -> Self {
        Self { work_dir: work_dir.to_owned() }
    }

    fn directory(&self) -> PathBuf {
        self.work_dir.join(LEARNINGS_DIR).join(PENDING_DIR)
    }

    pub(crate) fn exists(&self) -> bool {
        untrusted::kind(&self.directory()) == Some(EntryKind::Directory)
    }

    /// Returns the names of the pending files in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = untrusted::entries(&self.directory()).into_iter();
        let files = entries.filter(|entry| entry.kind == EntryKind::File);
        let mut names: Vec<String> = files.filter_map(|entry| entry.name.into_string().ok()).collect();
        names.retain(|name| name.ends_with(".json"));
        names.sort_unstable();
        names
    }

    fn read(&self, name: &str, checkout: &LearningSource) -> PendingContent {
        let Ok(bytes) = untrusted::read(&self.directory().join(name), MAX_FILE_BYTES) else {
            return PendingContent::Malformed;
        };
        let Ok(document) = serde_json::from_slice::<Document>(&bytes) else {
            return PendingContent::Malformed;
        };
        if document.no_learnings == Value::Bool(true) {
            return PendingContent::Nothing;
        }
        // <worktree>/.loopgate/work: the worktree is the grandparent.
        let run = self.work_dir.parent().and_then(Path::parent).and_then(Path::file_name);
        let run = run.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match candidate(document, name, run, checkout) {
            Some(candidate) => PendingContent::Learning(Box::new(candidate)),
            None => PendingContent::Malformed,
        }
    }

    /// Returns all learnings with their file names, and renames malformed files.
    ///
    /// Their repository is that of `checkout`, whatever they say: a text in one repository must not teach another. Those
    /// that do not name a commit get that of `checkout`.
    pub(crate) fn take(&self, checkout: &LearningSource) -> Vec<(String, PendingLearning)> {
        let mut candidates = Vec::new();
        for name in self.names().into_iter().take(MAX_FILES) {
            match self.read(&name, checkout) {
                PendingContent::Learning(candidate) => candidates.push((name, *candidate)),
                PendingContent::Nothing => self.remove(&name),
                PendingContent::Malformed => {
                    let renamed = untrusted::rename(
                        &self.directory().join(&name),
                        format!("{name}{MALFORMED}").as_ref(),
                    );
                    if let Err(error) = renamed {
                        tracing::warn!(%error, "failed to rename malformed pending learning");
                    }
                }
            }
        }
        candidates
    }

    pub(crate) fn remove(&self, name: &str) {
        if let Err(error) = untrusted::remove(&self.directory().join(name)) {
            tracing::warn!(%error, "failed to remove processed pending learning");
        }
    }

    /// Adds a pending file, whose name begins with its origin.
    pub(crate) fn write(&self, origin: &str, document: &Value) -> io::Result<()> {
        // UUIDs of version 7 sort by time, so the files are processed in the order of their creation.
        let path = self.directory().join(format!("{origin}-{}.json", Uuid::now_v7()));
        untrusted::write_private(&path, &serde_json::to_vec_pretty(document)?)
    }
}

/// Returns the number of pending learnings, without files that report that there is nothing to learn.
/// Performs blocking I/O.
#[must_use]
pub fn pending_count(work_dir: &Path) -> usize {
    let pending = Pending::of(work_dir);
    pending
        .names()
        .iter()
        .filter(|name| !matches!(pending.read(name, &LearningSource::default()), PendingContent::Nothing))
        .count()
}

fn or_else(text: String, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text }
}

fn candidate(
    document: Document,
    name: &str,
    run: String,
    checkout: &LearningSource,
) -> Option<PendingLearning> {
    let text = |value: &Value, max_chars: usize| one_line(value.as_str().unwrap_or_default(), max_chars);
    let texts = |value: &Value| -> Vec<String> {
        let texts = value.as_array().into_iter().flatten().take(10).map(|item| text(item, 60));
        texts.filter(|text| !text.is_empty()).collect()
    };
    let summary =
        Some(text(&document.pattern_to_remember, MAX_SUMMARY_CHARS)).filter(|text| !text.is_empty())?;
    let category = serde_json::from_value::<PatternCategory>(document.category).ok();
    // Extraction writes the category; a file of an agent without a valid one is classified later.
    let account = category.is_none().then(|| LearningContext {
        what_happened: text(&document.what_happened, MAX_ACCOUNT_CHARS),
        why: text(&document.why, MAX_ACCOUNT_CHARS),
        fix_applied: text(&document.fix_applied, MAX_ACCOUNT_CHARS),
    });
    let applies_to = Some(texts(&document.applies_to)).filter(|agents| !agents.is_empty());
    let stated: LearningSource = serde_json::from_value(document.source).unwrap_or_default();
    let mut file = text(&document.context.file, 300);
    if let Some(line) = document.context.line.as_u64().filter(|_| !file.is_empty()) {
        file = format!("{file}:{line}");
    }
    let source = LearningSource {
        // Stable across retries: a file that was merged but not removed before a crash is not counted again.
        key: format!("{run}/{name}"),
        run,
        ticket: one_line(&stated.ticket, 200),
        file,
        commit: or_else(one_line(&stated.commit, 64), &checkout.commit),
        repo: checkout.repo.clone(),
        chat: one_line(&stated.chat, 200),
        evidence: one_line(&stated.evidence, MAX_EVIDENCE_CHARS),
    };
    let repo = or_else(source.repo.clone(), UNKNOWN_REPOSITORY);
    Some(PendingLearning {
        category: category.unwrap_or(PatternCategory::Insight).as_str().to_owned(),
        summary,
        applies_to: applies_to.unwrap_or_else(|| vec!["*".to_owned()]),
        context: texts(&document.tags),
        repo,
        is_general: document.scope == EVERYWHERE,
        source,
        account,
    })
}
