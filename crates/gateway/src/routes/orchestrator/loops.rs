//! `/api/gateway/orchestrator/loop`, `loop/kill` and `loop/message`: starting and cancelling loops, and messages to them.
//! The handlers translate HTTP; `loopgate_runtime` runs the loops.

use axum::body::Bytes;
use axum::extract::State;
use axum::{Extension, Json};
use futures_util::future::BoxFuture;
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
use crate::approval::{At, RequestValues, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::RequestOrigin;
use crate::pipeline::approval::ApprovalHold;
use crate::response::path_text;
use crate::route::{BodyLimit, Endpoint};

pub(super) const START_PATH: &str = "/api/gateway/orchestrator/loop";

/// A loop that is running, queued, or held for approval.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LoopStarted)]
pub(crate) struct LaunchResponse {
    success: bool,
    loop_id: String,
    /// Pid of the loop's process; null while the loop is queued or being prepared.
    #[schema(required)]
    pid: Option<u32>,
    /// Path of the loop's worktree; null while `pid` is null, and for a loop without a worktree.
    #[schema(required)]
    worktree_path: Option<String>,
    /// Position in the queue, starting at 1; absent unless the loop is queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_place: Option<usize>,
}

/// Result of cancelling a loop.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LoopEnded {
    success: bool,
    message: &'static str,
}

/// Start a loop
///
/// Responds when the loop's process is running and its job is recorded. When the concurrency limit is
/// reached, the loop is queued and the response contains its position. Cloning and set-up scripts can take
/// minutes: a loop that is not running within 20 seconds is answered as accepted, without a pid, and its
/// events report the outcome. A request from the control plane that needs approval is answered immediately,
/// without a position.
#[utoipa::path(post, path = "/api/gateway/orchestrator/loop", operation_id = "start_loop", tag = "orchestrator",
    request_body = LoopLaunchBody,
    responses(
        (status = 200, body = LaunchResponse, description = "The loop is running, being prepared, queued, or held for approval"),
        (status = 400, body = ErrorBody, description = "The body is invalid"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 404, body = ErrorBody, description = "The repository does not exist locally and could not be cloned"),
        (status = 409, body = ErrorBody, description = "The loop is already running, or another loop uses its worktree"),
        (status = 503, body = ErrorBody, description = "No control-plane origin is configured, or the control plane is unreachable"),
    ))]
async fn start(
    State(app): State<App>,
    Extension(requester): Extension<RequestOrigin>,
    hold: Option<Extension<ApprovalHold>>,
    headers: HeaderMap,
    body: Bytes,
) -> JsonResult<LaunchResponse> {
    let runtime = runtime_of(&app, START_PATH)?;
    let headers = loop_headers(&headers, requester.over_link);
    let started = match hold {
        None => runtime.launcher.start_loop(&body, headers).await?,
        // Accepted before the decision: the control plane's request would time out while the owner decides.
        Some(Extension(hold)) => {
            let until = Timestamp::now().saturating_add(hold.limit()).unwrap_or(Timestamp::MAX);
            let approval = LoopApproval {
                id: hold.id(),
                command: app.approvals_command.approve(hold.id()),
                waits_until: loopgate_api::time::iso(until),
            };
            let decision = hold.decision(app.clone());
            // Boxed: the future that prepares and stores the request is large, and most requests take the
            // other branch.
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

/// The loop to cancel.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; the runtime reads it")]
struct EndLoop {
    /// Id of the loop.
    loop_id: String,
}

/// Cancel a loop and terminate its processes
#[utoipa::path(post, path = "/api/gateway/orchestrator/loop/kill", operation_id = "end_loop", tag = "orchestrator",
    request_body = EndLoop,
    responses(
        (status = 200, body = LoopEnded, description = "Cancellation was requested"),
        (status = 400, body = ErrorBody, description = "Loop id missing"),
        (status = 404, body = ErrorBody, description = "No process of this loop is running"),
        (status = 409, body = ErrorBody, description = "The loop is being recovered, or is about to be queued"),
    ))]
async fn end(State(app): State<App>, body: Bytes) -> JsonResult<LoopEnded> {
    let outcome = runtime_of(&app, "/api/gateway/orchestrator/loop/kill")?.stopper.kill_loop(&body).await?;
    Ok(Json(LoopEnded { success: true, message: outcome.message() }))
}

/// A message to a running loop.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; the runtime reads it")]
struct SendLoopMessage {
    /// Id of the loop.
    loop_id: String,
    /// The message as plain text, 1 to 10,000 bytes.
    text: String,
}

/// Acceptance of a message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LoopMessageAccepted {
    success: bool,
}

/// Send a message to the assistant of a running loop
///
/// Only the control plane sends messages, which records them: the id of its command is the id of the message. An event of
/// the loop reports when the assistant has received it.
#[utoipa::path(post, path = "/api/gateway/orchestrator/loop/message", operation_id = "send_loop_message", tag = "orchestrator",
    request_body = SendLoopMessage,
    responses(
        (status = 200, body = LoopMessageAccepted, description = "The assistant receives the message after its current step"),
        (status = 400, body = ErrorBody, description = "The body is invalid, or the request is not a command of the control plane"),
        (status = 404, body = ErrorBody, description = "The loop is unknown"),
        (status = 409, body = ErrorBody, description = "The assistant of the loop does not run, or receives no messages"),
    ))]
async fn message(State(app): State<App>, headers: HeaderMap, body: Bytes) -> JsonResult<LoopMessageAccepted> {
    let runtime = runtime_of(&app, "/api/gateway/orchestrator/loop/message")?;
    let command_id = loop_headers(&headers, true).command_id;
    runtime.messages.accept(&body, command_id.as_deref()).await?;
    Ok(Json(LoopMessageAccepted { success: true }))
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
    .accepted_before_approval()
}

pub(crate) fn end_endpoint() -> Endpoint {
    Endpoint::new(routes!(end), &[Source::Loop(At::Body("loopId"))])
}

pub(crate) fn message_endpoint() -> Endpoint {
    Endpoint::new(routes!(message), &[Source::Loop(At::Body("loopId"))]).with_action_preview(message_text)
}

/// Returns the message that a request would send, for display in its approval.
fn message_text(_: App, values: RequestValues) -> BoxFuture<'static, Option<String>> {
    let text = values.texts(At::Body("text")).first().map(|text| (*text).to_owned());
    Box::pin(std::future::ready(text.map(|text| format!("text={text}"))))
}

impl From<LoopRequestError> for HttpError {
    fn from(error: LoopRequestError) -> Self {
        let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::with_body(status, error.body())
    }
}
