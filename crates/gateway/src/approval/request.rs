//! A request that waits for a person, and how it ended.

use loopgate_api::operation::{OperationId, RiskTier};
use serde::Serialize;
use thiserror::Error;
use uuid::Uuid;

use super::subject::Subject;

/// How a held request ended. All of them are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// This one may pass.
    Approved,
    /// This one may not.
    Denied,
    /// This one and its like may pass for a while.
    AlwaysAllow,
    /// Nobody decided in time.
    Expired,
}

/// A request that waits. Its body is not kept.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingApproval {
    /// Id to decide by.
    pub id: Uuid,
    /// ISO 8601.
    pub created_at: String,
    /// Operation.
    pub operation_id: OperationId,
    /// Its tier.
    pub risk_tier: RiskTier,
    /// Upper case.
    pub method: String,
    /// Path without query.
    pub path: String,
    /// The query, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// What the request does, in the words of its body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The loop that the request is to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_id: Option<String>,
    /// First directory that the request names, where it really is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_path: Option<String>,
    /// Every directory that the request is about, where it really is; in order.
    pub directories: Vec<String>,
    /// Who asks.
    pub location: String,
    /// Why a person is asked.
    pub reason: String,
    /// Hex SHA-256 over method, target and body.
    pub fingerprint: String,
    /// ISO 8601: when the last of those who ask gives up.
    pub waits_until: String,
    /// A person is asked each time: no rule and no policy lets it pass.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub each_time: bool,
    #[serde(skip)]
    pub(crate) subject: Subject,
}

/// A request that may not pass without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this is asked each time; approve or deny it")]
pub struct AskEachTimeError;

/// A decided request.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedApproval {
    /// The request.
    #[serde(flatten)]
    pub request: PendingApproval,
    /// What was decided.
    pub decision: Decision,
    /// ISO 8601.
    pub resolved_at: String,
}

impl PendingApproval {
    /// Whether one decision may count for both: a person is shown the same of them.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
            && self.operation_id == other.operation_id
            && self.action == other.action
            && self.subject == other.subject
            && self.location == other.location
            && self.each_time == other.each_time
    }
}
