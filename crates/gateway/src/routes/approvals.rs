//! `GET /api/gateway/approvals`: what waits for the owner of this machine, for pages to show.
//!
//! Decides nothing and holds no way to decide: that is for the owner's command line alone, whose
//! words are answered here.

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

/// What waits for the owner.
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
    "reason": "git_action is of the medium tier, and requests above low ask first"
}], "command": "loopgate approvals"}))]
pub(crate) struct WaitingRequests {
    /// Newest first.
    waiting: Vec<WaitingRequest>,
    /// Command on this machine that lists them too; followed by `approve` or `deny` and an id, or the
    /// last eight characters of one, it decides.
    command: String,
    /// What is wrong with the rules and policies that the owner has set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// A request that is held.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitingRequest {
    id: Uuid,
    /// ISO 8601.
    created_at: String,
    /// ISO 8601: when the last of those who ask gives up.
    waits_until: String,
    operation_id: OperationId,
    risk_tier: RiskTier,
    method: String,
    path: String,
    /// Without the values of sensitive members.
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    /// What it does, in the words of its body.
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    /// Id of the loop that it is to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    loop_id: Option<String>,
    /// Directories that it is about, where they really are.
    directories: Vec<String>,
    /// Who asks: the origin of a page, or `cloud-socket`.
    location: String,
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
            query: request.query.as_deref().map(redact_query),
            action: request.action,
            loop_id: request.loop_id,
            directories: request.directories,
            location: request.location,
            reason: request.reason,
        }
    }
}

/// List what waits for the owner's decision
///
/// Only the owner decides, on the command line of this machine; no route does. Not held for approval
/// itself, not recorded as activity, and not served over the link.
#[utoipa::path(get, path = "/api/gateway/approvals", operation_id = "waiting_approvals", tag = "gateway",
    responses(
        (status = 200, body = WaitingRequests, description = "The requests that are held"),
        (status = 403, body = ErrorBody, description = "Asked over the link", example = json!(ErrorBody::not_available_over_relay())),
    ))]
async fn approvals(State(app): State<App>, _: LocalRequest) -> JsonResult<WaitingRequests> {
    let waiting = app.approvals.pending().into_iter().map(WaitingRequest::from).collect();
    let problems = app.approvals.problems();
    Ok(Json(WaitingRequests { waiting, command: app.approvals_command.text().to_owned(), problems }))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(approvals), &[])
}
