//! Histories of conversations, one JSON file each.
//!
//! Several runs, clients and other programs may change a history at the same time; see [`JsonFile`]. Files are
//! opened through the sandbox's handle, so no link leads them away. Everything here blocks on the disk.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::chat::{ChatHistory, ChatRole, SessionMembers};
use loopgate_api::ids::TicketId;
use loopgate_api::names::{REVIEWER_CHAT, REVIEWER_CHAT_REVIEW, WORK_DIR};
use loopgate_api::provider::ProviderId;
use loopgate_home::{AccessDenied, EntryKind, JsonFile, JsonFileError, Sandbox, SandboxedPath};

/// Bytes of a history; one that is larger was not written by a chat.
const MAX_HISTORY: u64 = 64 * 1024 * 1024;
/// Directory of the chats about review comments, in a work directory.
const COMMENT_CHATS: &str = "comment-chats";
/// Directory of the chats about findings, in a work directory.
const FINDING_CHATS: &str = "finding-chats";
/// Directory of the chats that belong to no worktree, in the orchestrator directory.
const CHATS: &str = "chats";

/// The file of one history.
#[derive(Debug, Clone)]
pub struct HistoryFile {
    directory: SandboxedPath,
    file: JsonFile<ChatHistory>,
    session_members: SessionMembers,
}

impl HistoryFile {
    /// The chat about a ticket's worktree, with one provider or with any.
    ///
    /// # Errors
    /// A worktree whose work directory leads out of the sandbox.
    pub fn of_ticket(
        sandbox: &Sandbox,
        worktree: &Path,
        provider: Option<&ProviderId>,
    ) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(worktree.join(WORK_DIR))?;
        Ok(Self::new(directory, ticket_file(provider), SessionMembers::default()))
    }

    /// The chat about a review comment.
    ///
    /// # Errors
    /// As [`HistoryFile::of_ticket`].
    pub fn of_comment(sandbox: &Sandbox, worktree: &Path, comment: &TicketId) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(worktree.join(WORK_DIR).join(COMMENT_CHATS))?;
        Ok(Self::new(directory, format!("{}.json", comment.safe()), SessionMembers::default()))
    }

    /// The chat about a finding of a review.
    ///
    /// # Errors
    /// As [`HistoryFile::of_ticket`].
    pub fn of_finding(sandbox: &Sandbox, worktree: &Path, finding: &TicketId) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(worktree.join(WORK_DIR).join(FINDING_CHATS))?;
        Ok(Self::new(directory, format!("{}.json", finding.safe()), SessionMembers::default()))
    }

    /// A chat that belongs to no worktree, by the name of its directory.
    ///
    /// # Errors
    /// An orchestrator directory outside the sandbox.
    pub fn in_orchestrator_dir(
        sandbox: &Sandbox,
        orchestrator_dir: &Path,
        name: &str,
        session_members: SessionMembers,
    ) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(orchestrator_dir.join(CHATS).join(name))?;
        Ok(Self::new(directory, "chat-history.json", session_members))
    }

    /// The file at a path that [`HistoryFile::path`] returned earlier.
    ///
    /// # Errors
    /// A path outside the sandbox.
    pub fn at(sandbox: &Sandbox, path: &Path, session_members: SessionMembers) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(path.parent().unwrap_or(Path::new("")))?;
        Ok(Self::new(directory, path.file_name().unwrap_or_default(), session_members))
    }

    fn new(directory: SandboxedPath, name: impl Into<OsString>, session_members: SessionMembers) -> Self {
        let file = JsonFile::in_sandbox(directory.clone(), name);
        Self { directory, file: file.max_bytes(MAX_HISTORY).moving_malformed_aside(), session_members }
    }

    /// Which of its members hold sessions.
    #[must_use]
    pub const fn session_members(&self) -> &SessionMembers {
        &self.session_members
    }

    /// Its path.
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
    pub fn remove_reviewer_sessions(&self, provider: Option<&ProviderId>) -> io::Result<()> {
        let names: &[&str] = match provider {
            None => &[REVIEWER_CHAT, REVIEWER_CHAT_REVIEW],
            Some(provider) if *provider == ProviderId::REVIEWER => &[REVIEWER_CHAT_REVIEW],
            Some(_) => &[],
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

fn ticket_file(provider: Option<&ProviderId>) -> String {
    provider.map_or_else(
        || "chat-history.json".to_owned(),
        |provider| format!("chat-history-{}.json", provider.as_str()),
    )
}

/// Whether the newest message of a ticket's chats, with any provider, is an answer that waits for the
/// person. Histories that cannot be read are passed over.
#[must_use]
pub fn awaits_person(sandbox: &Sandbox, worktree: &Path) -> bool {
    let chats = [None, Some(ProviderId::ASSISTANT), Some(ProviderId::REVIEWER)];
    let last = chats.into_iter().filter_map(|provider| {
        let history = HistoryFile::of_ticket(sandbox, worktree, provider.as_ref()).ok()?.read().ok()??;
        history.messages.into_iter().next_back()
    });
    let newest = last.max_by_key(|message| message.timestamp.parse::<jiff::Timestamp>().ok());
    newest.is_some_and(|message| message.role == ChatRole::Assistant)
}
