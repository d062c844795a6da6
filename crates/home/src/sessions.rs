//! The sessions that the page keeps of tickets, `sessions.json`, beside the list of repositories.
//!
//! Read from the disk each time. A malformed file counts as empty, and is moved aside by the next change.

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

/// The file as it is stored, with entries and members of others.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SessionsDocument {
    #[serde(default)]
    sessions: Option<Vec<Value>>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// Work on a ticket, as the page remembers it. Members that are not known here are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Ticket; one session each.
    pub ticket_id: String,
    /// What the page last said of it.
    #[serde(flatten)]
    pub note: SessionNote,
    /// When it was first noted, ISO 8601.
    #[serde(default)]
    pub started_at: String,
    /// When it was last noted, ISO 8601.
    #[serde(default)]
    pub last_accessed_at: String,
    /// Members that other programs wrote.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What a page says of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionNote {
    /// The repository.
    #[serde(default)]
    pub repo_path: String,
    /// The ticket's worktree.
    pub worktree_path: String,
    /// A process that works on it. Shown, never signalled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u64>,
    /// Further repositories that it looks at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_repo_paths: Option<Vec<String>>,
    /// Branch that the work began at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// Ticket that this one belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_ticket_id: Option<String>,
    /// Loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_id: Option<String>,
    /// Document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
}

impl SessionNote {
    /// Takes what a newer note says, and keeps what it is silent about.
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

/// The sessions. Everything here blocks on the disk.
#[derive(Debug)]
pub struct Sessions {
    settings: Arc<SettingsStore>,
}

impl Sessions {
    /// The sessions below the settings' sandbox base directory.
    #[must_use]
    pub const fn new(settings: Arc<SettingsStore>) -> Self {
        Self { settings }
    }

    /// Where the file lies; `None` while no sandbox is set.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        self.settings.get().orchestrator_dir().map(|dir| dir.join(SESSIONS_JSON))
    }

    /// Every session, as the file has it. Changes nothing.
    #[must_use]
    pub fn all(&self) -> Vec<Session> {
        let document = self.file().and_then(|file| Ok(file.read()?)).ok().flatten().unwrap_or_default();
        document.sessions.iter().flatten().filter_map(session).collect()
    }

    /// The sessions whose worktree is there; the file forgets the others.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn living(&self) -> io::Result<Vec<Session>> {
        let is_living = |session: &Session| expand_home(&session.note.worktree_path).is_dir();
        let (living, gone): (Vec<_>, Vec<_>) = self.all().into_iter().partition(is_living);
        if !gone.is_empty() {
            self.change(|entries| {
                entries.retain(|entry| session(entry).is_none_or(|session| is_living(&session)));
            })?;
        }
        Ok(living)
    }

    /// Notes a session. One that is known keeps its beginning and what the note does not say.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn note(&self, ticket_id: &str, note: SessionNote) -> io::Result<()> {
        self.change(|entries| {
            let now = now_iso();
            let of_ticket = |entry: &Value| session(entry).filter(|session| session.ticket_id == ticket_id);
            match entries.iter_mut().find_map(|entry| Some((of_ticket(entry)?, entry))) {
                Some((mut known, entry)) => {
                    known.note.update(note);
                    known.last_accessed_at = now;
                    *entry = json!(known);
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

    /// Forgets the session of a ticket, if there is one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn forget(&self, ticket_id: &str) -> io::Result<()> {
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

/// An entry that can be read.
fn session(entry: &Value) -> Option<Session> {
    Session::deserialize(entry).ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::Overrides;
    use crate::untrusted;

    fn place() -> (tempfile::TempDir, Sessions) {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("box");
        std::fs::create_dir(&base).unwrap();
        let overrides = Overrides { sandbox_base_directory: Some(base), ..Overrides::default() };
        let store = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
        (dir, Sessions::new(Arc::new(store)))
    }

    fn note(sessions: &Sessions) -> io::Result<()> {
        sessions.note("SHOP-1", SessionNote { worktree_path: "/x".into(), ..SessionNote::default() })
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
            let (_dir, sessions) = place();
            let path = sessions.path().unwrap();
            untrusted::write(&path, broken.as_bytes()).unwrap();
            assert!(sessions.all().is_empty() && sessions.living().unwrap().is_empty());
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
        let (dir, sessions) = place();
        let state = dir.path().join("box/.loopgate");
        std::fs::create_dir(&state).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, sessions.path().unwrap(), mode).unwrap();
        assert!(sessions.all().is_empty());
        note(&sessions).unwrap();
        assert_eq!(sessions.all().len(), 1);

        let outside = dir.path().join("outside");
        std::fs::rename(&state, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, &state).unwrap();
        assert!(sessions.all().is_empty(), "it lies outside now");
        let before = names(&outside);
        note(&sessions).unwrap_err();
        assert_eq!(names(&outside), before);
    }
}
