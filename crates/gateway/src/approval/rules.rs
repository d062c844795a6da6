//! Always-allow rules: approvals that remain valid for seven days, for one combination of operation, method,
//! target, action and directories. Stored in one private file.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::request::PendingApproval;
use super::stored::StoredFile;

/// Lifetime of a rule: seven days, after which the owner is asked again.
const LIFE: Duration = Duration::from_hours(7 * 24);

/// A rule that allows requests equal to an approved one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AlwaysAllowRule {
    /// UUIDv7 of the rule.
    pub id: Uuid,
    /// Operation id, such as `git_action`.
    pub operation_id: String,
    /// HTTP method in upper case.
    pub method: String,
    /// Path without the query.
    pub path: String,
    /// Query as received; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Action members and preview of the approved request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// First directory that the approved request named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_path: Option<String>,
    /// Canonical paths of all directories that the approved request concerned. Rules of earlier versions lack
    /// them and are dropped when the file is read.
    #[serde(default)]
    pub directories: Option<Vec<String>>,
    /// ISO 8601 timestamp of the creation.
    pub created_at: String,
    /// ISO 8601 timestamp. A malformed value invalidates the rule.
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
    /// Loads the rules. An unreadable file results in no rules, so requests need an approval again.
    pub(super) fn open(path: &Path) -> Self {
        let (file, content) = StoredFile::<RulesFile>::read(path);
        let mut rules = content.map_or_else(Vec::new, |content| content.rules);
        rules.retain(|rule| rule.directories.is_some());
        Self { file, rules: Mutex::new(rules) }
    }

    /// Returns why the file could not be read.
    pub(super) fn problem(&self) -> Option<String> {
        self.file.problem()
    }

    pub(super) fn list(&self, now: Timestamp) -> Vec<AlwaysAllowRule> {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        rules.retain(|rule| rule.is_alive(now));
        rules.clone()
    }

    /// Whether a rule allows the request. Expired rules are removed from memory; the file keeps them until
    /// the next change.
    pub(super) fn allow(&self, request: &PendingApproval, now: Timestamp) -> bool {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        rules.retain(|rule| rule.is_alive(now));
        rules.iter().any(|rule| rule.covers(request))
    }

    /// Adds a rule for the request, or extends an existing one, and writes the file.
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

    /// Removes a rule and writes the file. Returns whether the rule existed.
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

    /// Writes the file. Best-effort: an unwritten rule stays in effect until the process ends.
    fn write(&self, rules: &[AlwaysAllowRule]) {
        if let Err(error) = self.file.write(RulesFile { rules: rules.to_vec() }) {
            tracing::warn!(%error, "failed to write always-allow rules; changes are lost at the next start");
        }
    }
}
