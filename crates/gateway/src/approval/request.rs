//! Pending requests and their decisions.

use loopgate_api::operation::{OperationId, RiskTier};
use serde::Serialize;
use thiserror::Error;
use uuid::Uuid;

use super::subject::Subject;

/// Final decision about a pending request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The request passes this time.
    Approved,
    /// The request is refused.
    Denied,
    /// The request passes, and identical ones pass until the rule expires.
    AlwaysAllow,
    /// No decision was made in time.
    Expired,
}

/// A request that waits for the owner's approval. Its body is not stored.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingApproval {
    /// Id by which the owner decides.
    pub id: Uuid,
    /// ISO 8601 timestamp of the request.
    pub created_at: String,
    pub operation_id: OperationId,
    /// Risk tier of the operation.
    pub risk_tier: RiskTier,
    /// HTTP method in upper case.
    pub method: String,
    /// Path without the query.
    pub path: String,
    /// Query as received; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The action members of the body and the route's preview, as `name=value` pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Id of the loop that the request launches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_id: Option<String>,
    /// Canonical path of the first directory that the request names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_path: Option<String>,
    /// Canonical paths of all directories that the request concerns, sorted.
    pub directories: Vec<String>,
    /// Source of the request: a declared source, the origin of a page, or the peer address.
    pub location: String,
    /// Name of the user who made the request, when it is not the owner of this desktop. Part of the location,
    /// too, so that a policy for the origin applies to this user only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requester: Option<String>,
    /// Why the request needs an approval.
    pub reason: String,
    /// Hex SHA-256 of method, target and body.
    pub fingerprint: String,
    /// ISO 8601 timestamp: the latest deadline of the waiters.
    pub waits_until: String,
    /// The operation needs an approval each time: rules and policies cannot allow it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub each_time: bool,
    #[serde(skip)]
    pub(crate) subject: Subject,
}

/// Returned for a rule that would allow an operation that needs an approval each time, or a request of another
/// user: rules do not distinguish users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this request requires approval each time; approve or deny it, or remember its origin")]
pub struct ApprovalEachTimeError;

/// A request that was decided or expired.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedApproval {
    #[serde(flatten)]
    pub request: PendingApproval,
    pub decision: Decision,
    /// ISO 8601 timestamp of the decision.
    pub resolved_at: String,
}

impl PendingApproval {
    /// Whether one decision may apply to both requests, because everything that the owner is shown is equal.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
            && self.operation_id == other.operation_id
            && self.action == other.action
            && self.subject == other.subject
            && self.location == other.location
            && self.each_time == other.each_time
    }
}
