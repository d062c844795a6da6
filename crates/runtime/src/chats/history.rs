//! Histories of chats, one JSON file each, in the work directory they are about.
//!
//! Several runs, a page and other programs may change one history at a time; see [`JsonFile`]. Files are
//! opened through the sandbox's handle, so no link leads them away. Everything here blocks on the disk.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::chat::{ChatHistory, ChatProvider, ChatRole};
use loopgate_api::ids::TicketId;
use loopgate_api::names::{REVIEWER_CHAT, REVIEWER_CHAT_REVIEW, WORK_DIR};
use loopgate_home::{AccessDenied, EntryKind, JsonFile, JsonFileError, Sandbox, SandboxedPath};

/// Bytes of a history; one that is larger was not written by a chat.
const MAX_HISTORY: u64 = 64 * 1024 * 1024;
/// Where the chats about review comments lie, in a work directory.
const COMMENT_CHATS: &str = "comment-chats";

/// A place for one history.
#[derive(Debug, Clone)]
pub struct HistoryFile {
    directory: SandboxedPath,
    file: JsonFile<ChatHistory>,
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
    ) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(worktree.join(WORK_DIR))?;
        Ok(Self::new(directory, ticket_file(provider)))
    }

    /// The chat about a review comment.
    ///
    /// # Errors
    /// As [`HistoryFile::of_ticket`].
    pub fn of_comment(sandbox: &Sandbox, worktree: &Path, comment: &TicketId) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(worktree.join(WORK_DIR).join(COMMENT_CHATS))?;
        Ok(Self::new(directory, format!("{}.json", comment.safe())))
    }

    /// One that was found before.
    ///
    /// # Errors
    /// A place outside the sandbox.
    pub fn at(sandbox: &Sandbox, path: &Path) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(path.parent().unwrap_or(Path::new("")))?;
        Ok(Self::new(directory, path.file_name().unwrap_or_default()))
    }

    fn new(directory: SandboxedPath, name: impl Into<OsString>) -> Self {
        let file = JsonFile::in_sandbox(directory.clone(), name);
        Self { directory, file: file.max_bytes(MAX_HISTORY).moving_malformed_aside() }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// The history; `None` when there is none yet.
    ///
    /// # Errors
    /// [`JsonFileError`].
    pub fn read(&self) -> Result<Option<ChatHistory>, JsonFileError> {
        self.file.read()
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
        let changed =
            self.file.update(|history| Ok::<_, JsonFileError>(change(history.get_or_insert_with(new))));
        Ok(changed?)
    }

    /// As [`HistoryFile::change`], only when there is one: `None` otherwise.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn change_known<T, E: From<JsonFileError>>(
        &self,
        change: impl FnOnce(&mut ChatHistory) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        if self.read()?.is_none() {
            return Ok(None);
        }
        self.file.update(|history| history.as_mut().map(change).transpose())
    }

    /// Removes the history; `false` when there was none.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn remove(&self) -> io::Result<bool> {
        Ok(self.file.remove()?)
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
            .is_ok_and(|directory| directory.kind(Path::new(REVIEWER_CHAT_REVIEW)) == Some(EntryKind::File))
    }
}

fn ticket_file(provider: Option<ChatProvider>) -> String {
    provider.map_or_else(
        || "chat-history.json".to_owned(),
        |provider| format!("chat-history-{}.json", provider.as_str()),
    )
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
