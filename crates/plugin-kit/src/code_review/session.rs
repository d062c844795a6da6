//! Session directories of reviews, `.loopgate/code-review/<id>/` in the project. A caller determines the id, or the review
//! does and prints it: nothing selects a directory by its time.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::loop_run;

/// Directory of the sessions, in the project's directory of Loopgate.
const SESSIONS: &str = "code-review";
const PREFIX: &str = "cr-";
const MAX_ID: usize = 64;
/// Records of the review that was started last and is not complete, and of that which was completed last.
const UNFINISHED: &str = "unfinished.json";
const COMPLETED: &str = "completed.json";

/// Id of a session: `cr-` and letters, digits and hyphens. Ids of this program sort by the time of their creation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReviewSessionId(String);

impl ReviewSessionId {
    /// Creates an id.
    #[must_use]
    pub fn new() -> Self {
        Self(format!("{PREFIX}{}", Uuid::now_v7()))
    }
}

impl Default for ReviewSessionId {
    fn default() -> Self {
        Self::new()
    }
}

impl FromStr for ReviewSessionId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_valid = text.len() <= MAX_ID
            && text.strip_prefix(PREFIX).is_some_and(|rest| {
                !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            });
        if is_valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!("{text} is not the id of a review: {PREFIX}…"))
        }
    }
}

impl TryFrom<String> for ReviewSessionId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ReviewSessionId> for String {
    fn from(id: ReviewSessionId) -> Self {
        id.0
    }
}

impl fmt::Display for ReviewSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An open session, which no other process uses.
#[derive(Debug)]
pub struct ReviewSession {
    pub id: ReviewSessionId,
    directory: PathBuf,
    sessions: PathBuf,
    _lock: File,
}

#[derive(Debug, Serialize, Deserialize)]
struct UnfinishedReview {
    session: ReviewSessionId,
    /// Identity of the request.
    request: String,
}

/// Returns the session of the review that was completed last.
pub fn last_completed(root: &Path) -> Option<ReviewSessionId> {
    untrusted::read_json(&root.join(STATE_DIR).join(SESSIONS).join(COMPLETED))
}

/// Returns the directory of a session.
pub fn directory(root: &Path, id: &ReviewSessionId) -> PathBuf {
    root.join(STATE_DIR).join(SESSIONS).join(&id.0)
}

impl ReviewSession {
    /// Opens a session: the named one, else that of an interrupted review with the same request, else a new one. `request`:
    /// identity of what is reviewed.
    ///
    /// # Errors
    /// Returns the reason, for example that another process uses the session.
    pub fn open(root: &Path, id: Option<&ReviewSessionId>, request: &str) -> Result<Self, String> {
        let sessions = root.join(STATE_DIR).join(SESSIONS);
        loop_run::exclude_state_dir(root)
            .map_err(|error| format!("cannot prepare the directory: {error}"))?;
        let unfinished: Option<UnfinishedReview> = untrusted::read_json(&sessions.join(UNFINISHED));
        let interrupted = unfinished.filter(|review| review.request == request).map(|review| review.session);
        let id = id.cloned().or(interrupted).unwrap_or_default();
        let session = Self::at(&sessions, id)?;
        let record = UnfinishedReview { session: session.id.clone(), request: request.to_owned() };
        let text = serde_json::to_string(&record).map_err(|error| error.to_string())?;
        write(&sessions.join(UNFINISHED), &text)?;
        Ok(session)
    }

    /// Opens an existing session.
    ///
    /// # Errors
    /// Returns the reason, also if it does not exist.
    pub fn existing(root: &Path, id: &ReviewSessionId) -> Result<Self, String> {
        if !directory(root, id).is_dir() {
            return Err("No code review session found. Run a code review first.".to_owned());
        }
        Self::at(&root.join(STATE_DIR).join(SESSIONS), id.clone())
    }

    fn at(sessions: &Path, id: ReviewSessionId) -> Result<Self, String> {
        let directory = sessions.join(&id.0);
        let cannot = |error: &dyn fmt::Display| format!("cannot open {}: {error}", directory.display());
        untrusted::create_directory(&directory).map_err(|error| cannot(&error))?;
        let lock = untrusted::lock(&directory.join("lock")).map_err(|error| cannot(&error))?;
        Ok(Self { id, directory, sessions: sessions.to_owned(), _lock: lock })
    }

    /// Records that the review of this session is complete.
    ///
    /// # Errors
    /// Returns the message for the user.
    pub fn complete(&self) -> Result<(), String> {
        let id = serde_json::to_string(&self.id).map_err(|error| error.to_string())?;
        write(&self.sessions.join(COMPLETED), &id)?;
        self.finish();
        Ok(())
    }

    /// Records that the review of this session has ended.
    pub fn finish(&self) {
        let path = self.sessions.join(UNFINISHED);
        let is_this = |review: &UnfinishedReview| review.session == self.id;
        if untrusted::read_json(&path).as_ref().is_some_and(is_this) {
            // A remaining record only continues a review that is complete.
            let _ = untrusted::remove(&path);
        }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes a file of the session as JSON.
    ///
    /// # Errors
    /// Returns the message for the user.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), String> {
        let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
        self.write(name, &format!("{text}\n"))
    }

    /// Writes a file of the session.
    ///
    /// # Errors
    /// Returns the message for the user.
    pub fn write(&self, name: &str, text: &str) -> Result<(), String> {
        write(&self.directory.join(name), text)
    }

    /// Reads a file of the session.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        untrusted::read_json(&self.directory.join(name))
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    untrusted::write(path, text.as_bytes())
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_are_no_paths() {
        let ids: Vec<String> = (0..50).map(|_| ReviewSessionId::new().to_string()).collect();
        assert!(ids.is_sorted());
        for text in ["cr-", "cr-../x", "cr-a/b", "x", "", &format!("cr-{}", "a".repeat(80))] {
            assert!(text.parse::<ReviewSessionId>().is_err(), "{text}");
        }
        assert!("cr-00042".parse::<ReviewSessionId>().is_ok());
    }

    #[test]
    fn interrupted_review_of_the_same_request_is_continued() {
        let dir = tempfile::tempdir().unwrap();
        let open = |request: &str| ReviewSession::open(dir.path(), None, request).unwrap();
        let first = open("a");
        let id = first.id.clone();
        drop(first);
        let again = open("a");
        assert_eq!(again.id, id);
        again.finish();
        drop(again);
        let second = open("a");
        assert_ne!(second.id, id);
        drop(second);
        assert_ne!(open("b").id, id);
        let named: ReviewSessionId = "cr-7".parse().unwrap();
        assert_eq!(ReviewSession::open(dir.path(), Some(&named), "b").unwrap().id, named);
        assert!(ReviewSession::existing(dir.path(), &"cr-8".parse().unwrap()).is_err());
    }
}
