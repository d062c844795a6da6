//! Pending learnings of a worktree: files that agents and the extraction leave, one learning each.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_home::EntryKind;
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::pattern::{PatternCategory, SUMMARY_MOST, one_line};

/// Where learnings lie, below a work directory.
pub(crate) const LEARNINGS_DIR: &str = ".learnings";
const PENDING_DIR: &str = "pending";
/// Bytes of one file.
const MOST: u64 = 256 * 1024;
/// Files that are read at once; the rest waits for the next time.
const FILES_MOST: usize = 1000;
/// Characters of each part of an account.
const ACCOUNT_MOST: usize = 1000;
/// Added to the name of a file that is no learning, so that it waits no more and is not lost.
const MALFORMED: &str = ".malformed";

/// Where something was learned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LearningSource {
    /// Tells sources apart, so that one is not counted twice.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Worktree of the loop or ticket: its directory's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// Ticket or loop.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ticket: String,
    /// File in the repository that it is about, with `:line` when known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Commit that was checked out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
    /// Name of the repository.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub repo: String,
    /// Chat that it was extracted from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub chat: String,
}

/// What a pending file says, ready to be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingLearning {
    pub(crate) category: String,
    pub(crate) summary: String,
    pub(crate) applies_to: Vec<String>,
    pub(crate) context: Vec<String>,
    pub(crate) repo: String,
    pub(crate) source: LearningSource,
    /// What its agent says of it, when the file does not say of what kind it is.
    pub(crate) account: Option<Account>,
}

/// How a learning came about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) what_happened: String,
    pub(crate) why: String,
    pub(crate) fix_applied: String,
}

/// A pending file as agents and the extraction write it.
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

/// A file of the folder.
enum PendingContent {
    Learning(Box<PendingLearning>),
    /// It says that there is nothing to learn.
    Nothing,
    Malformed,
}

/// The folder of a work directory.
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

    /// Names of the files, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = untrusted::entries(&self.directory()).into_iter();
        let files = entries.filter(|entry| entry.kind == EntryKind::File);
        let mut names: Vec<String> = files.filter_map(|entry| entry.name.into_string().ok()).collect();
        names.retain(|name| name.ends_with(".json"));
        names.sort_unstable();
        names
    }

    fn read(&self, name: &str, checkout: &LearningSource) -> PendingContent {
        let Ok(bytes) = untrusted::read(&self.directory().join(name), MOST) else {
            return PendingContent::Malformed;
        };
        let Ok(document) = serde_json::from_slice::<Document>(&bytes) else {
            return PendingContent::Malformed;
        };
        if document.no_learnings == Value::Bool(true) {
            return PendingContent::Nothing;
        }
        let run = self.work_dir.parent().and_then(Path::parent).and_then(Path::file_name);
        let run = run.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match candidate(document, name, run, checkout) {
            Some(candidate) => PendingContent::Learning(Box::new(candidate)),
            None => PendingContent::Malformed,
        }
    }

    /// Every learning with the name of its file. What is none is put out of the way. A file that does not say
    /// where it was learned gets the repository and the commit of `checkout`.
    pub(crate) fn take(&self, checkout: &LearningSource) -> Vec<(String, PendingLearning)> {
        let mut candidates = Vec::new();
        for name in self.names().into_iter().take(FILES_MOST) {
            match self.read(&name, checkout) {
                PendingContent::Learning(candidate) => candidates.push((name, *candidate)),
                PendingContent::Nothing => self.remove(&name),
                PendingContent::Malformed => {
                    let set_aside = untrusted::rename(
                        &self.directory().join(&name),
                        format!("{name}{MALFORMED}").as_ref(),
                    );
                    if let Err(error) = set_aside {
                        tracing::warn!(%error, "a pending learning that cannot be read stays");
                    }
                }
            }
        }
        candidates
    }

    pub(crate) fn remove(&self, name: &str) {
        if let Err(error) = untrusted::remove(&self.directory().join(name)) {
            tracing::warn!(%error, "a pending learning that was processed stays");
        }
    }

    /// Leaves one file more.
    pub(crate) fn write(&self, document: &Value) -> io::Result<()> {
        let path = self.directory().join(format!("chat-{}.json", Uuid::now_v7()));
        untrusted::write_private(&path, &serde_json::to_vec_pretty(document)?)
    }
}

/// Files of a work directory that teach something; those that say that there is nothing do not count. Blocks
/// on the disk.
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
    let text = |value: &Value, most: usize| one_line(value.as_str().unwrap_or_default(), most);
    let texts = |value: &Value| -> Vec<String> {
        let texts = value.as_array().into_iter().flatten().take(10).map(|one| text(one, 60));
        texts.filter(|text| !text.is_empty()).collect()
    };
    let summary = Some(text(&document.pattern_to_remember, SUMMARY_MOST)).filter(|text| !text.is_empty())?;
    let category = serde_json::from_value::<PatternCategory>(document.category).ok();
    let account = category.is_none().then(|| Account {
        what_happened: text(&document.what_happened, ACCOUNT_MOST),
        why: text(&document.why, ACCOUNT_MOST),
        fix_applied: text(&document.fix_applied, ACCOUNT_MOST),
    });
    let applies_to = Some(texts(&document.applies_to)).filter(|agents| !agents.is_empty());
    let told: LearningSource = serde_json::from_value(document.source).unwrap_or_default();
    let mut file = text(&document.context.file, 300);
    if let Some(line) = document.context.line.as_u64().filter(|_| !file.is_empty()) {
        file = format!("{file}:{line}");
    }
    let source = LearningSource {
        key: format!("{run}/{name}"),
        run,
        ticket: one_line(&told.ticket, 200),
        file,
        commit: or_else(one_line(&told.commit, 64), &checkout.commit),
        repo: or_else(one_line(&told.repo, 200), &checkout.repo),
        chat: one_line(&told.chat, 200),
    };
    let repo = or_else(source.repo.clone(), "*");
    Some(PendingLearning {
        category: category.unwrap_or(PatternCategory::Insight).as_str().to_owned(),
        summary,
        applies_to: applies_to.unwrap_or_else(|| vec!["*".to_owned()]),
        context: texts(&document.tags),
        repo,
        source,
        account,
    })
}
