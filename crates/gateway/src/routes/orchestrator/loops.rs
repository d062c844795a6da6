//! `/api/gateway/orchestrator/loop` and `loop/kill`: starting and ending loops. What a loop is, the
//! runtime knows.

use axum::body::Bytes;
use axum::extract::State;
use axum::{Extension, Json};
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use loopgate_api::error::ErrorBody;
use loopgate_api::launch::LoopLaunchBody;
use loopgate_api::names::{COMMAND_ID_HEADER, OPERATION_ID_HEADER};
use loopgate_runtime::jobs::LoopApproval;
use loopgate_runtime::{LoopHeaders, LoopRequestError, LoopStart};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::runtime::runtime_of;
use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::Requester;
use crate::pipeline::approval::ApprovalHold;
use crate::response::path_text;
use crate::route::{BodyLimit, Endpoint};

const LAUNCH: &str = "/api/gateway/orchestrator/loop";

/// A loop that runs, or waits for a place or for approval.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LoopStarted)]
pub(crate) struct LaunchResponse {
    success: bool,
    loop_id: String,
    /// Null while it waits or is being prepared.
    #[schema(required)]
    pid: Option<u32>,
    /// Null for a loop without a worktree, and without a pid.
    #[schema(required)]
    worktree_path: Option<String>,
    /// Its place among those that wait, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_place: Option<usize>,
}

/// A loop that was ended.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LoopEnded {
    success: bool,
    message: &'static str,
}

/// Start a loop
///
/// Answers when its process runs and its job is recorded. Where as many loops run as may, it waits in
/// line, and the answer says its place. A clone and a set-up script can take minutes: what does not run
/// within 20 seconds is answered as accepted, without a pid, and its events tell what becomes of it. An
/// order of the control plane that must be approved is answered at once, without a place.
#[utoipa::path(post, path = "/api/gateway/orchestrator/loop", operation_id = "start_loop", tag = "orchestrator",
    request_body = LoopLaunchBody,
    responses(
        (status = 200, body = LaunchResponse, description = "It runs, is being prepared, or waits in line"),
        (status = 400, body = ErrorBody, description = "The body breaks a rule"),
        (status = 403, body = ErrorBody, description = "A path outside the sandbox"),
        (status = 404, body = ErrorBody, description = "No such repository, and it could not be cloned"),
        (status = 409, body = ErrorBody, description = "It runs already, or another loop has the worktree"),
        (status = 503, body = ErrorBody, description = "No API origin, or the control plane cannot be reached"),
    ))]
async fn start(
    State(app): State<App>,
    Extension(requester): Extension<Requester>,
    hold: Option<Extension<ApprovalHold>>,
    headers: HeaderMap,
    body: Bytes,
) -> JsonResult<LaunchResponse> {
    let runtime = runtime_of(&app, LAUNCH)?;
    let headers = loop_headers(&headers, requester.over_link);
    let started = match hold {
        None => runtime.launcher.start_loop(&body, headers).await?,
        Some(Extension(hold)) => {
            let until = Timestamp::now().saturating_add(hold.limit()).unwrap_or(Timestamp::MAX);
            let approval = LoopApproval {
                id: hold.id(),
                command: app.approvals_command.approve(hold.id()),
                waits_until: loopgate_api::time::iso(until),
            };
            let decision = hold.decision(app.clone());
            // On the heap: the future of the stored request is large.
            Box::pin(runtime.launcher.request_approval(&body, headers, approval, decision)).await?
        }
    };
    Ok(Json(started.into()))
}

fn loop_headers(headers: &HeaderMap, from_cloud: bool) -> LoopHeaders {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(ToOwned::to_owned);
    LoopHeaders { command_id: text(COMMAND_ID_HEADER), operation_id: text(OPERATION_ID_HEADER), from_cloud }
}

impl From<LoopStart> for LaunchResponse {
    fn from(started: LoopStart) -> Self {
        Self {
            success: true,
            loop_id: started.loop_id.to_string(),
            pid: started.pid,
            worktree_path: started.worktree_path.map(path_text),
            queue_place: started.queue_place,
        }
    }
}

/// A loop to end.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; the runtime reads it")]
struct EndLoop {
    /// Id of the loop.
    loop_id: String,
}

/// End a loop and everything that it started
#[utoipa::path(post, path = "/api/gateway/orchestrator/loop/kill", operation_id = "end_loop", tag = "orchestrator",
    request_body = EndLoop,
    responses(
        (status = 200, body = LoopEnded, description = "It was asked to end"),
        (status = 400, body = ErrorBody, description = "No loop named"),
        (status = 404, body = ErrorBody, description = "Nothing of this loop runs"),
        (status = 409, body = ErrorBody, description = "It is being taken up, or is about to wait"),
    ))]
async fn end(State(app): State<App>, body: Bytes) -> JsonResult<LoopEnded> {
    let outcome = runtime_of(&app, "/api/gateway/orchestrator/loop/kill")?.stopper.kill_loop(&body).await?;
    Ok(Json(LoopEnded { success: true, message: outcome.message() }))
}

pub(crate) fn start_endpoint() -> Endpoint {
    Endpoint::new(
        routes!(start),
        &[
            Source::Path(At::Body("localRepoPath")),
            Source::Path(At::Body("additionalRepos.*.localRepoPath")),
            Source::Path(At::Body("codeEvaluationContext.localRepoPath")),
            Source::Name(At::Body("repo.fullName")),
            Source::Name(At::Body("additionalRepos.*.fullName")),
            Source::Name(At::Body("codeEvaluationContext.repo.fullName")),
            Source::Name(At::Body("codeEvaluationContext.pullRequest.repositoryFullName")),
            Source::BootstrapOrder,
            Source::Loop(At::Body("loopId")),
        ],
    )
    .with_action_members(&["command"])
    .with_limit(BodyLimit::LOOP)
    .accepting_while_held()
}

pub(crate) fn end_endpoint() -> Endpoint {
    Endpoint::new(routes!(end), &[Source::Loop(At::Body("loopId"))])
}

impl From<LoopRequestError> for HttpError {
    fn from(error: LoopRequestError) -> Self {
        let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::with_body(status, error.body())
    }
}
