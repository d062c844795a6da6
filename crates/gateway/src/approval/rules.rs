//! Always-allow rules: a person's "yes" that holds for a while, for one operation, method, target and
//! action, in the same directories. Kept in one private file.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::request::PendingApproval;
use super::stored::StoredFile;

/// Life of a rule.
const LIFE: Duration = Duration::from_hours(7 * 24);

/// A rule that lets requests of one kind pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AlwaysAllowRule {
    /// Id of the rule.
    pub id: Uuid,
    /// Operation id.
    pub operation_id: String,
    /// Upper case.
    pub method: String,
    /// Path without query.
    pub path: String,
    /// The query, as it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// What the request does, in the words of its body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// First directory that the request named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_path: Option<String>,
    /// Every directory that the request was about, where it really is. A rule of an earlier version
    /// names none and holds no more.
    #[serde(default)]
    pub directories: Option<Vec<String>>,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601; an unreadable one voids the rule.
    pub expires_at: String,
}

impl AlwaysAllowRule {
    fn is_alive(&self, now: Timestamp) -> bool {
        self.expires_at.parse::<Timestamp>().is_ok_and(|end| now < end)
    }

    fn covers(&self, request: &PendingApproval) -> bool {
        self.operation_id == request.operation_id.as_str()
            && self.method.eq_ignore_ascii_case(&request.method)
            && self.path == request.path
            && self.query == request.query
            && self.action == request.action
            && self.directories.as_ref() == Some(&request.directories)
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct RulesFile {
    rules: Vec<AlwaysAllowRule>,
}

/// The rules and their file.
#[derive(Debug)]
pub(super) struct AlwaysAllowRules {
    file: StoredFile<RulesFile>,
    rules: Mutex<Vec<AlwaysAllowRule>>,
}

impl AlwaysAllowRules {
    /// Reads the file; one that cannot be read gives no rules.
    pub(super) fn open(path: &Path) -> Self {
        let (file, content) = StoredFile::<RulesFile>::read(path);
        let mut rules = content.map_or_else(Vec::new, |content| content.rules);
        rules.retain(|rule| rule.directories.is_some());
        Self { file, rules: Mutex::new(rules) }
    }

    /// Why the file was not read.
    pub(super) fn problem(&self) -> Option<String> {
        self.file.problem()
    }

    pub(super) fn list(&self, now: Timestamp) -> Vec<AlwaysAllowRule> {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        rules.retain(|rule| rule.is_alive(now));
        rules.clone()
    }

    /// Whether a living rule lets the request pass. Dead rules are forgotten on the way; their
    /// file is rewritten with the next change.
    pub(super) fn allow(&self, request: &PendingApproval, now: Timestamp) -> bool {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        rules.retain(|rule| rule.is_alive(now));
        rules.iter().any(|rule| rule.covers(request))
    }

    /// Adds a rule for requests like this one, or prolongs the one that is there. Writes the file.
    pub(super) fn add(&self, request: &PendingApproval, now: Timestamp) -> AlwaysAllowRule {
        let expires_at = loopgate_api::time::iso(now.saturating_add(LIFE).unwrap_or(Timestamp::MAX));
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let rule = match rules.iter_mut().find(|rule| rule.covers(request)) {
            Some(rule) => {
                rule.expires_at = expires_at;
                rule.clone()
            }
            None => {
                let rule = AlwaysAllowRule {
                    id: Uuid::now_v7(),
                    operation_id: request.operation_id.as_str().to_owned(),
                    method: request.method.clone(),
                    path: request.path.clone(),
                    query: request.query.clone(),
                    action: request.action.clone(),
                    scope_path: request.scope_path.clone(),
                    directories: Some(request.directories.clone()),
                    created_at: loopgate_api::time::iso(now),
                    expires_at,
                };
                rules.push(rule.clone());
                rule
            }
        };
        self.write(&rules);
        rule
    }

    /// Removes a rule; answers whether it was there. Writes the file.
    pub(super) fn remove(&self, id: Uuid) -> bool {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let before = rules.len();
        rules.retain(|rule| rule.id != id);
        let removed = rules.len() != before;
        if removed {
            self.write(&rules);
        }
        removed
    }

    /// A rule that cannot be written still holds for the life of the process.
    fn write(&self, rules: &[AlwaysAllowRule]) {
        if let Err(error) = self.file.write(RulesFile { rules: rules.to_vec() }) {
            tracing::warn!(%error, "always-allow rules could not be written and are lost at the next start");
        }
    }
}
