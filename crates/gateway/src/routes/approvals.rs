//! `GET /api/gateway/approvals`: the requests that are held until the owner approves or denies them.
//!
//! Read-only: decisions are accepted only on the owner-only socket of the command line. The response contains
//! the command to run.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::{OperationId, RiskTier};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::activity::redact_query;
use crate::app::App;
use crate::approval::PendingApproval;
use crate::error::JsonResult;
use crate::extract::LocalRequest;
use crate::route::Endpoint;

/// Requests held for the owner's approval.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"waiting": [{
    "id": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718",
    "createdAt": "2031-04-02T08:15:30.250Z",
    "waitsUntil": "2031-04-02T08:17:30.250Z",
    "operationId": "git_action",
    "riskTier": "medium",
    "method": "POST",
    "path": "/api/gateway/git",
    "action": "action=commit",
    "directories": ["/home/dev/src/shop"],
    "location": "https://loopgate.example.com",
    "reason": "git_action has risk tier medium; requests above low require approval"
}], "command": "loopgate approvals"}))]
pub(crate) struct PendingApprovals {
    /// Held requests, newest first.
    waiting: Vec<WaitingRequest>,
    /// Command on this machine that lists the same requests. Followed by `approve` or `deny` and an id, or by
    /// the last eight characters of an id, it decides a request.
    command: String,
    /// Errors in the owner's approval rules and policies. Absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// A request held for approval.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitingRequest {
    id: Uuid,
    /// Time at which the request arrived, ISO 8601.
    created_at: String,
    /// Time at which the request expires, ISO 8601: the latest deadline of the callers that wait for it.
    waits_until: String,
    operation_id: OperationId,
    risk_tier: RiskTier,
    method: String,
    path: String,
    /// Query string with sensitive values redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    /// Members of the body that describe the action, for example `action=commit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    /// Id of the loop that the request would start.
    #[serde(skip_serializing_if = "Option::is_none")]
    loop_id: Option<String>,
    /// Canonical paths of the directories that the request affects.
    directories: Vec<String>,
    /// Caller: the origin of the page, or `cloud-socket` for the control plane.
    location: String,
    /// User who made the request, with e-mail address; absent when it is the owner of the desktop.
    #[serde(skip_serializing_if = "Option::is_none")]
    requester: Option<String>,
    reason: String,
}

impl From<PendingApproval> for WaitingRequest {
    fn from(request: PendingApproval) -> Self {
        Self {
            id: request.id,
            created_at: request.created_at,
            waits_until: request.waits_until,
            operation_id: request.operation_id,
            risk_tier: request.risk_tier,
            method: request.method,
            path: request.path,
            // Query values can be credentials, and every signed-in page can read this list.
            query: request.query.as_deref().map(redact_query),
            action: request.action,
            loop_id: request.loop_id,
            directories: request.directories,
            location: request.location,
            requester: request.requester,
            reason: request.reason,
        }
    }
}

/// List the requests held for approval
///
/// Only the owner can decide, on the command line of this machine; no HTTP route can. This route is never
/// held for approval, is not recorded as activity, and is not available over the link.
#[utoipa::path(get, path = "/api/gateway/approvals", operation_id = "waiting_approvals", tag = "gateway",
    responses(
        (status = 200, body = PendingApprovals, description = "The held requests"),
        (status = 403, body = ErrorBody, description = "Called over the link", example = json!(ErrorBody::not_available_over_relay())),
    ))]
async fn approvals(State(app): State<App>, _: LocalRequest) -> JsonResult<PendingApprovals> {
    let waiting = app.approvals.pending().into_iter().map(WaitingRequest::from).collect();
    let problems = app.approvals.problems();
    Ok(Json(PendingApprovals { waiting, command: app.approvals_command.text().to_owned(), problems }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(approvals), &[])
}
