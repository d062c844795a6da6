//! What would apply to a loop that the control plane starts: the decision of the approval policy and the settings.

use std::sync::LazyLock;

use axum::body::Bytes;
use http::{HeaderMap, HeaderValue, Method, Uri};
use loopgate_api::ids::RepoFullName;
use loopgate_api::names::{CLOUD_SOURCE, REQUESTER_HEADER, SOURCE_HEADER};
use loopgate_api::operation::OperationId;
use loopgate_api::usd::Usd;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::loops::{START_PATH, start_endpoint};
use crate::app::App;
use crate::extract::RequestOrigin;
use crate::pipeline::approval::{PolicyDecision, PolicyRequest, evaluate};
use crate::pipeline::auth::Principal;
use crate::pipeline::body::RequestBody;
use crate::route::{Auth, Route};

/// What would apply to a loop that the control plane starts.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoopStartPreview {
    approval: StartApproval,
    /// Why the loop is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Model of the assistant, unless the loop names another one.
    model: String,
    /// Spending limit of this machine in US dollars; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    max_spend_usd: Option<Usd>,
}

/// What the owner's policy decides about a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum StartApproval {
    /// It starts.
    None,
    /// It is held until the owner approves it.
    Required,
    /// It is refused.
    Denied,
}

/// The route that starts loops, with its policy.
static START: LazyLock<Route> = LazyLock::new(|| Route {
    method: Method::POST,
    path: START_PATH,
    auth: Auth::Gateway,
    operation: Some(OperationId::OrchestratorLoop),
    policy: start_endpoint().policy,
});

/// Evaluates the policy for a loop on a repository that the control plane would start for the caller. Holds nothing.
pub(crate) async fn preview(
    app: &App,
    headers: &HeaderMap,
    origin: RequestOrigin,
    name: &RepoFullName,
) -> LoopStartPreview {
    let settings = app.settings.get();
    let mut start = HeaderMap::new();
    start.insert(SOURCE_HEADER, HeaderValue::from_static(CLOUD_SOURCE));
    // Only the executor may name another user.
    if let Some(requester) = headers.get(REQUESTER_HEADER).filter(|_| origin.over_link) {
        start.insert(REQUESTER_HEADER, requester.clone());
    }
    let body = json!({"repo": {"fullName": name.as_str()}}).to_string();
    let request = PolicyRequest {
        method: &START.method,
        target: &Uri::from_static(START_PATH),
        headers: &start,
        body: &RequestBody::Memory(Bytes::from(body)),
        principal: Principal::Internal,
        over_link: true,
        route: Some(&START),
        peer: None,
        // The pipeline has checked it for this request.
        setup_complete: true,
    };
    let (approval, reason) = match evaluate(&request, app, &settings, &app.approvals).await {
        PolicyDecision::Allow => (StartApproval::None, None),
        PolicyDecision::Refuse(_) => (StartApproval::Denied, None),
        PolicyDecision::Wait(held) => (StartApproval::Required, Some(held.reason)),
    };
    LoopStartPreview {
        approval,
        reason,
        model: settings.loop_model.clone(),
        max_spend_usd: settings.max_spend_usd,
    }
}
