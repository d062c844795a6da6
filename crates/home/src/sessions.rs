//! Sessions that the page stores for tickets, in `sessions.json` in the state directory of the sandbox.
//!
//! The file is read on every access. A malformed file counts as empty; the next change moves it aside.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use loopgate_api::names::SESSIONS_JSON;
use loopgate_api::time::now_iso;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::json_file::{JsonFile, JsonFileError};
use crate::path_resolution::expand_home;
use crate::settings::SettingsStore;

/// The file as stored, including entries and members that other programs wrote.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SessionsDocument {
    #[serde(default)]
    sessions: Option<Vec<Value>>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// Work on a ticket, as recorded by the page. Unknown members are preserved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Id of the ticket. A ticket has at most one session.
    pub ticket_id: String,
    /// Members of the latest note.
    #[serde(flatten)]
    pub note: SessionNote,
    /// Time of the first note, ISO 8601.
    #[serde(default)]
    pub started_at: String,
    /// Time of the latest note, ISO 8601.
    #[serde(default)]
    pub last_accessed_at: String,
    /// Members that other programs wrote.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The members of a session that the page supplies.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionNote {
    /// Path of the repository, possibly with a leading `~`.
    #[serde(default)]
    pub repo_path: String,
    /// Path of the ticket's worktree, possibly with a leading `~`.
    pub worktree_path: String,
    /// Id of a process that works on the ticket. Displayed only; never signaled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u64>,
    /// Paths of further repositories that the ticket refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_repo_paths: Option<Vec<String>>,
    /// Branch that the worktree was created from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// Id of the parent ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_ticket_id: Option<String>,
    /// Id of the loop that works on the ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_id: Option<String>,
    /// Id of the document at the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
}

impl SessionNote {
    /// Overwrites the members that a newer note contains and keeps the others.
    fn update(&mut self, newer: Self) {
        *self = Self {
            pid: newer.pid.or(self.pid),
            context_repo_paths: newer.context_repo_paths.or(self.context_repo_paths.take()),
            base_branch: newer.base_branch.or(self.base_branch.take()),
            parent_ticket_id: newer.parent_ticket_id.or(self.parent_ticket_id.take()),
            loop_id: newer.loop_id.or(self.loop_id.take()),
            artifact_id: newer.artifact_id.or(self.artifact_id.take()),
            repo_path: newer.repo_path,
            worktree_path: newer.worktree_path,
        };
    }
}

/// The session store. All methods block on disk I/O.
#[derive(Debug)]
pub struct Sessions {
    settings: Arc<SettingsStore>,
}

impl Sessions {
    /// Creates a store for the sandbox base directory of the settings.
    #[must_use]
    pub const fn new(settings: Arc<SettingsStore>) -> Self {
        Self { settings }
    }

    /// Returns the path of the file; `None` while no sandbox is configured.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        self.settings.get().orchestrator_dir().map(|dir| dir.join(SESSIONS_JSON))
    }

    /// Returns all stored sessions. Does not change the file.
    #[must_use]
    pub fn all(&self) -> Vec<Session> {
        let document = self.file().and_then(|file| Ok(file.read()?)).ok().flatten().unwrap_or_default();
        document.sessions.iter().flatten().filter_map(session).collect()
    }

    /// Returns the sessions whose worktree exists, and removes the others from the file.
    ///
    /// # Errors
    /// Fails when the file cannot be written.
    pub fn with_existing_worktree(&self) -> io::Result<Vec<Session>> {
        let has_worktree = |session: &Session| expand_home(&session.note.worktree_path).is_dir();
        let (existing, stale): (Vec<_>, Vec<_>) = self.all().into_iter().partition(has_worktree);
        if !stale.is_empty() {
            self.change(|entries| {
                // Checked again under the lock: another process may have changed the file since it was read.
                // Entries that cannot be parsed stay.
                entries.retain(|entry| session(entry).is_none_or(|session| has_worktree(&session)));
            })?;
        }
        Ok(existing)
    }

    /// Creates or updates the session of a ticket. An existing session keeps its start time and the members
    /// that the note omits.
    ///
    /// # Errors
    /// Fails when the file cannot be written.
    pub fn upsert(&self, ticket_id: &str, note: SessionNote) -> io::Result<()> {
        self.change(|entries| {
            let now = now_iso();
            let of_ticket = |entry: &Value| session(entry).filter(|session| session.ticket_id == ticket_id);
            match entries.iter_mut().find_map(|entry| Some((of_ticket(entry)?, entry))) {
                Some((mut stored, entry)) => {
                    stored.note.update(note);
                    stored.last_accessed_at = now;
                    *entry = json!(stored);
                }
                None => entries.push(json!(Session {
                    ticket_id: ticket_id.to_owned(),
                    note,
                    started_at: now.clone(),
                    last_accessed_at: now,
                    more: Map::new(),
                })),
            }
        })
    }

    /// Removes the session of a ticket, if present.
    ///
    /// # Errors
    /// Fails when the file cannot be written.
    pub fn remove(&self, ticket_id: &str) -> io::Result<()> {
        let is_others = |entry: &Value| session(entry).is_none_or(|session| session.ticket_id != ticket_id);
        self.change(|entries| entries.retain(is_others))
    }

    fn file(&self) -> io::Result<JsonFile<SessionsDocument>> {
        let path = self.path().ok_or(io::ErrorKind::NotFound)?;
        Ok(JsonFile::in_working_tree(path).moving_malformed_aside())
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Value>)) -> io::Result<()> {
        let changed = self.file()?.update(|document| {
            change(document.get_or_insert_default().sessions.get_or_insert_default());
            Ok::<_, JsonFileError>(())
        });
        Ok(changed?)
    }
}

fn session(entry: &Value) -> Option<Session> {
    Session::deserialize(entry).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::Overrides;
    use crate::untrusted;

    fn fixture() -> (tempfile::TempDir, Sessions) {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("box");
        std::fs::create_dir(&base).unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(base), ..Overrides::default() };
        let store = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
        (dir, Sessions::new(Arc::new(store)))
    }

    fn note(sessions: &Sessions) -> io::Result<()> {
        sessions.upsert("SHOP-1", SessionNote { worktree_path: "/x".into(), ..SessionNote::default() })
    }

    fn names(dir: &Path) -> Vec<String> {
        let name = |entry: io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let is_lock = |name: &String| name.ends_with(".lock");
        let mut names: Vec<_> =
            std::fs::read_dir(dir).unwrap().map(name).filter(|name| !is_lock(name)).collect();
        names.sort();
        names
    }

    #[test]
    fn malformed_file_is_moved_aside() {
        for broken in ["{", "[]", r#"{"sessions":1}"#] {
            let (_dir, sessions) = fixture();
            let path = sessions.path().unwrap();
            untrusted::write(&path, broken.as_bytes()).unwrap();
            assert!(sessions.all().is_empty() && sessions.with_existing_worktree().unwrap().is_empty());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), broken, "reading changes nothing");
            note(&sessions).unwrap();
            assert_eq!(sessions.all().len(), 1);
            let names = names(path.parent().unwrap());
            assert!(names.len() == 2 && names[1].starts_with("sessions.json.corrupt-"), "{names:?}");
            assert_eq!(std::fs::read_to_string(path.with_file_name(&names[1])).unwrap(), broken);
        }
    }

    #[cfg(unix)]
    #[test]
    fn pipes_do_not_block_and_links_are_not_followed() {
        let (dir, sessions) = fixture();
        let state = dir.path().join("box/.loopgate");
        std::fs::create_dir(&state).unwrap();
        // Opening a pipe for reading would block forever without a writer.
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, sessions.path().unwrap(), mode).unwrap();
        assert!(sessions.all().is_empty());
        note(&sessions).unwrap();
        assert_eq!(sessions.all().len(), 1);

        // From here on the state directory is a symbolic link to a directory outside of the sandbox.
        let outside = dir.path().join("outside");
        std::fs::rename(&state, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, &state).unwrap();
        assert!(sessions.all().is_empty(), "the file is outside of the sandbox");
        let before = names(&outside);
        note(&sessions).unwrap_err();
        assert_eq!(names(&outside), before);
    }
}
