//! Histories of chats, one JSON file each, in the work directory they are about.
//!
//! Several runs and a page may change one history at a time: each change reads it again, and only
//! one is made at a time. Files are opened through the sandbox's handle, so no link leads them away.
//! Everything here blocks on the disk.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use loopgate_api::chat::{ChatHistory, ChatProvider, ChatRole};
use loopgate_api::ids::TicketId;
use loopgate_api::names::{REVIEWER_CHAT, REVIEWER_CHAT_REVIEW, WORK_DIR};
use loopgate_home::{Denied, Kind, Sandbox, SandboxedPath};
use thiserror::Error;

/// Bytes of a history; one that is larger was not written by a chat.
const MAX_HISTORY: u64 = 64 * 1024 * 1024;
/// Where the chats about review comments lie, in a work directory.
const COMMENT_CHATS: &str = "comment-chats";

/// Histories are changed one at a time, whoever changes them.
static CHANGING: Mutex<()> = Mutex::new(());

/// Why a history cannot be read.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// The file system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is no history.
    #[error("malformed history: {0}")]
    Malformed(#[from] serde_json::Error),
}

/// A place for one history.
#[derive(Debug, Clone)]
pub struct HistoryFile {
    directory: SandboxedPath,
    name: String,
}

impl HistoryFile {
    /// The chat about a ticket with one provider, or with whom it does not matter.
    ///
    /// # Errors
    /// A worktree whose work directory leads out of the sandbox.
    pub fn of_ticket(
        sandbox: &Sandbox,
        worktree: &Path,
        provider: Option<ChatProvider>,
    ) -> Result<Self, Denied> {
        let directory = sandbox.check(worktree.join(WORK_DIR))?;
        Ok(Self { directory, name: ticket_file(provider) })
    }

    /// The chat about a review comment.
    ///
    /// # Errors
    /// As [`HistoryFile::of_ticket`].
    pub fn of_comment(sandbox: &Sandbox, worktree: &Path, comment: &TicketId) -> Result<Self, Denied> {
        let directory = sandbox.check(worktree.join(WORK_DIR).join(COMMENT_CHATS))?;
        Ok(Self { directory, name: format!("{}.json", comment.safe()) })
    }

    /// One that was found before.
    ///
    /// # Errors
    /// A place outside the sandbox.
    pub fn at(sandbox: &Sandbox, path: &Path) -> Result<Self, Denied> {
        let directory = sandbox.check(path.parent().unwrap_or(Path::new("")))?;
        Ok(Self { directory, name: path.file_name().unwrap_or_default().to_string_lossy().into_owned() })
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.as_path().join(&self.name)
    }

    /// The history; `None` when there is none yet.
    ///
    /// # Errors
    /// [`HistoryError`].
    pub fn read(&self) -> Result<Option<ChatHistory>, HistoryError> {
        let directory = match self.directory.open_directory() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let file = match directory.open_file(Path::new(&self.name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        if file.metadata()?.len() > MAX_HISTORY {
            return Err(io::Error::other("the history is too large").into());
        }
        let mut text = Vec::new();
        file.take(MAX_HISTORY).read_to_end(&mut text)?;
        Ok(Some(serde_json::from_slice(&text)?))
    }

    /// Changes the history. One that is missing or malformed begins anew.
    ///
    /// # Errors
    /// When it cannot be written; it is then as it was.
    pub fn change<T>(
        &self,
        new: impl FnOnce() -> ChatHistory,
        change: impl FnOnce(&mut ChatHistory) -> T,
    ) -> io::Result<T> {
        let _alone = alone();
        let known = match self.read() {
            Ok(known) => known,
            Err(HistoryError::Malformed(error)) => {
                tracing::warn!(%error, "a chat's history cannot be read and begins anew");
                None
            }
            Err(HistoryError::Io(error)) => return Err(error),
        };
        let mut history = known.unwrap_or_else(new);
        let result = change(&mut history);
        self.write(&history)?;
        Ok(result)
    }

    /// As [`HistoryFile::change`], only when there is one: `None` otherwise.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn change_known<T, E: From<HistoryError>>(
        &self,
        change: impl FnOnce(&mut ChatHistory) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let _alone = alone();
        let Some(mut history) = self.read()? else { return Ok(None) };
        let result = change(&mut history)?;
        self.write(&history).map_err(HistoryError::Io)?;
        Ok(Some(result))
    }

    /// Removes the history; `false` when there was none.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn remove(&self) -> io::Result<bool> {
        let _alone = alone();
        self.remove_beside(&self.name)
    }

    /// Removes another file beside it, if there is one.
    fn remove_beside(&self, name: &str) -> io::Result<bool> {
        let removed =
            self.directory.open_directory().and_then(|directory| directory.remove_file(OsStr::new(name)));
        match removed {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes what belongs to the reviewer's sessions of these providers' chats.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn remove_reviewer_sessions(&self, provider: Option<ChatProvider>) -> io::Result<()> {
        let names: &[&str] = match provider {
            None => &[REVIEWER_CHAT, REVIEWER_CHAT_REVIEW],
            Some(ChatProvider::Reviewer) => &[REVIEWER_CHAT_REVIEW],
            Some(ChatProvider::Assistant) => &[],
        };
        names.iter().try_for_each(|name| self.remove_beside(name).map(drop))
    }

    /// Whether the reviewer has a session about a review of this ticket.
    #[must_use]
    pub fn reviewer_session_exists(&self) -> bool {
        self.directory
            .open_directory()
            .is_ok_and(|directory| directory.kind(Path::new(REVIEWER_CHAT_REVIEW)) == Some(Kind::File))
    }

    fn write(&self, history: &ChatHistory) -> io::Result<()> {
        let directory = self.directory.make_directory()?;
        directory.replace(OsStr::new(&self.name), &serde_json::to_vec_pretty(history)?)
    }
}

fn ticket_file(provider: Option<ChatProvider>) -> String {
    provider.map_or_else(
        || "chat-history.json".to_owned(),
        |provider| format!("chat-history-{}.json", provider.as_str()),
    )
}

fn alone() -> MutexGuard<'static, ()> {
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the newest message of a ticket's chats, with whomever, is an answer that waits for the
/// person. What cannot be read is passed over.
#[must_use]
pub fn awaits_person(sandbox: &Sandbox, worktree: &Path) -> bool {
    let chats = [None, Some(ChatProvider::Assistant), Some(ChatProvider::Reviewer)];
    let last = chats.into_iter().filter_map(|provider| {
        let history = HistoryFile::of_ticket(sandbox, worktree, provider).ok()?.read().ok()??;
        history.messages.into_iter().next_back()
    });
    let newest = last.max_by_key(|message| message.timestamp.parse::<jiff::Timestamp>().ok());
    newest.is_some_and(|message| message.role == ChatRole::Assistant)
}
