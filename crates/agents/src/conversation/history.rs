//! Conversation histories, one JSON file each.
//!
//! Runs, clients and other programs may modify a history concurrently; see [`JsonFile`]. Files are opened
//! relative to a sandbox handle, so symlinks cannot redirect them. All functions perform blocking I/O.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::chat::{ChatHistory, ChatRole, SessionMembers};
use loopgate_api::ids::TicketId;
use loopgate_api::names::{REVIEWER_CHAT, REVIEWER_CHAT_REVIEW, WORK_DIR};
use loopgate_api::provider::ProviderId;
use loopgate_home::{AccessDenied, EntryKind, JsonFile, JsonFileError, Sandbox, SandboxedPath};

/// Bytes of a history file that are read at most. Chats do not grow to this size.
const MAX_HISTORY: u64 = 64 * 1024 * 1024;
/// Directory of the chats about review comments, in the work directory.
const COMMENT_CHATS: &str = "comment-chats";
/// Directory of the chats about findings, in the work directory.
const FINDING_CHATS: &str = "finding-chats";
/// Directory of the chats without a worktree, in the orchestrator directory.
const CHATS: &str = "chats";

/// Handle of a history file.
#[derive(Debug, Clone)]
pub struct HistoryFile {
    directory: SandboxedPath,
    file: JsonFile<ChatHistory>,
    session_members: SessionMembers,
}

impl HistoryFile {
    /// Returns the history of the chat about a ticket's worktree: with one provider, or the shared one.
    ///
    /// # Errors
    /// Fails when the work directory is outside the sandbox.
    pub fn of_ticket(
        sandbox: &Sandbox,
        worktree: &Path,
        provider: Option<&ProviderId>,
    ) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(worktree.join(WORK_DIR))?;
        Ok(Self::new(directory, ticket_file(provider), SessionMembers::default()))
    }

    /// Returns the history of the chat about a review comment.
    ///
    /// # Errors
    /// Fails when the work directory is outside the sandbox.
    pub fn of_comment(sandbox: &Sandbox, worktree: &Path, comment: &TicketId) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(worktree.join(WORK_DIR).join(COMMENT_CHATS))?;
        Ok(Self::new(directory, format!("{}.json", comment.safe()), SessionMembers::default()))
    }

    /// Returns the history of the chat about a finding of a review.
    ///
    /// # Errors
    /// Fails when the work directory is outside the sandbox.
    pub fn of_finding(sandbox: &Sandbox, worktree: &Path, finding: &TicketId) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(worktree.join(WORK_DIR).join(FINDING_CHATS))?;
        Ok(Self::new(directory, format!("{}.json", finding.safe()), SessionMembers::default()))
    }

    /// Returns the history of a chat without a worktree, by the name of its directory.
    ///
    /// # Errors
    /// Fails when the orchestrator directory is outside the sandbox.
    pub fn in_orchestrator_dir(
        sandbox: &Sandbox,
        orchestrator_dir: &Path,
        name: &str,
        session_members: SessionMembers,
    ) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(orchestrator_dir.join(CHATS).join(name))?;
        Ok(Self::new(directory, "chat-history.json", session_members))
    }

    /// Reopens a history by a path that [`HistoryFile::path`] returned earlier.
    ///
    /// # Errors
    /// Fails when the path is outside the sandbox.
    pub fn at(sandbox: &Sandbox, path: &Path, session_members: SessionMembers) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(path.parent().unwrap_or(Path::new("")))?;
        Ok(Self::new(directory, path.file_name().unwrap_or_default(), session_members))
    }

    fn new(directory: SandboxedPath, name: impl Into<OsString>, session_members: SessionMembers) -> Self {
        let file = JsonFile::in_sandbox(directory.clone(), name);
        // A malformed history is renamed instead of overwritten, so that the user can still recover its text.
        Self { directory, file: file.max_bytes(MAX_HISTORY).moving_malformed_aside(), session_members }
    }

    /// Returns which members of the file store session ids.
    #[must_use]
    pub const fn session_members(&self) -> &SessionMembers {
        &self.session_members
    }

    /// Returns the absolute path of the file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// Reads the history; `None` if the file does not exist.
    ///
    /// # Errors
    /// Fails with [`JsonFileError`] when the file cannot be read or is malformed.
    pub fn read(&self) -> Result<Option<ChatHistory>, JsonFileError> {
        self.file.read()
    }

    /// Modifies the history, creating it if it is missing or malformed.
    ///
    /// # Errors
    /// Fails when it cannot be written; the file is then unchanged.
    pub fn change<T>(
        &self,
        new: impl FnOnce() -> ChatHistory,
        change: impl FnOnce(&mut ChatHistory) -> T,
    ) -> io::Result<T> {
        let result =
            self.file.update(|history| Ok::<_, JsonFileError>(change(history.get_or_insert_with(new))));
        Ok(result?)
    }

    /// Modifies the history if it exists; returns `None` otherwise.
    ///
    /// # Errors
    /// Fails when it cannot be read or written, or when `change` fails.
    pub fn update_existing<T, E: From<JsonFileError>>(
        &self,
        change: impl FnOnce(&mut ChatHistory) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        // `update` creates missing directories, so check whether the file exists first.
        if self.read()?.is_none() {
            return Ok(None);
        }
        self.file.update(|history| history.as_mut().map(change).transpose())
    }

    /// Removes the history. Returns `false` if it did not exist.
    ///
    /// # Errors
    /// Fails on any other I/O error.
    pub fn remove(&self) -> io::Result<bool> {
        Ok(self.file.remove()?)
    }

    /// Removes another file of the same directory, if it exists.
    fn remove_sibling(&self, name: &str) -> io::Result<bool> {
        let result =
            self.directory.open_directory().and_then(|directory| directory.remove_file(OsStr::new(name)));
        match result {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes the reviewer's session files that belong to the chats of this provider.
    ///
    /// # Errors
    /// Fails on any I/O error other than a missing file.
    pub fn remove_reviewer_sessions(&self, provider: Option<&ProviderId>) -> io::Result<()> {
        let names: &[&str] = match provider {
            None => &[REVIEWER_CHAT, REVIEWER_CHAT_REVIEW],
            Some(provider) if *provider == ProviderId::REVIEWER => &[REVIEWER_CHAT_REVIEW],
            Some(_) => &[],
        };
        names.iter().try_for_each(|name| self.remove_sibling(name).map(drop))
    }

    /// Returns whether the reviewer has a session for a review of this ticket.
    #[must_use]
    pub fn reviewer_session_exists(&self) -> bool {
        self.directory
            .open_directory()
            .is_ok_and(|directory| directory.kind(Path::new(REVIEWER_CHAT_REVIEW)) == Some(EntryKind::File))
    }
}

fn ticket_file(provider: Option<&ProviderId>) -> String {
    provider.map_or_else(
        || "chat-history.json".to_owned(),
        |provider| format!("chat-history-{}.json", provider.as_str()),
    )
}

/// Returns whether the newest message in a ticket's chats, across all providers, is an answer, so that the
/// user's reply is awaited. Histories that cannot be read are skipped.
#[must_use]
pub fn awaits_user(sandbox: &Sandbox, worktree: &Path) -> bool {
    let chats = [None, Some(ProviderId::ASSISTANT), Some(ProviderId::REVIEWER)];
    let last = chats.into_iter().filter_map(|provider| {
        let history = HistoryFile::of_ticket(sandbox, worktree, provider.as_ref()).ok()?.read().ok()??;
        history.messages.into_iter().next_back()
    });
    // Messages with an invalid timestamp sort before all others.
    let newest = last.max_by_key(|message| message.timestamp.parse::<jiff::Timestamp>().ok());
    newest.is_some_and(|message| message.role == ChatRole::Assistant)
}
