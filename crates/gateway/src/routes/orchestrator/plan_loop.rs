//! `/api/gateway/orchestrator/plan-loop/{ticketId}/…`: preparation, confirmation and cancellation of PLAN
//! loops. The page requests the loop itself from the control plane.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::{Method, StatusCode};
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::LoopId;
use loopgate_home::SandboxedPath;
use loopgate_runtime::{CancelError, PlanConfirmation, PlanError, Runtime};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, TicketPath};
use crate::lenient;
use crate::response::path_text;
use crate::route::Endpoint;

use super::runtime::runtime_of;

const PATH: &str = "/api/gateway/orchestrator/plan-loop";
/// Value of `outcome` for a loop that is already running.
const ALREADY_RUNNING: &str = "already-running";

/// The ticket or document to plan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PreparePlan {
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Branch to start from; the checked-out branch when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    base_branch: Option<String>,
}

/// Local facts that the page needs to request the loop.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanPrepared {
    repo_path: String,
    /// Path of the ticket's worktree, which may not exist yet.
    worktree_dir: String,
    repo: PlannedRepo,
}

/// The repository that is planned for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlannedRepo {
    /// `<org>/<repo>` of the remote; empty when unknown.
    #[schema(example = "acme/shop")]
    full_name: String,
    #[schema(example = "main")]
    branch: String,
}

/// A plan that the control plane accepted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ConfirmPlan {
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    #[schema(format = Uuid)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    loop_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::non_blank")]
    artifact_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::non_blank")]
    artifact_slug: Option<String>,
    #[serde(default, deserialize_with = "lenient::non_blank")]
    issue_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_title: Option<String>,
    /// `already-running` if the loop was already running.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    outcome: Option<String>,
}

/// Acknowledgement of a confirmation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanConfirmed {
    ok: bool,
    worktree_dir: String,
}

/// The PLAN loop to cancel.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CancelPlan {
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    #[schema(format = Uuid)]
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    loop_id: Option<String>,
}

/// Result of a cancellation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlanCancelled {
    cancelled: bool,
    /// `process-unknown` or `process-still-running`; absent when the process ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
}

/// Prepare the plan of a ticket
///
/// Returns the repository and worktree of the ticket. Writes nothing.
#[utoipa::path(post, path = "/api/gateway/orchestrator/plan-loop/{ticketId}/prepare", operation_id = "prepare_plan", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Id of the ticket")),
    request_body = PreparePlan,
    responses(
        (status = 200, body = PlanPrepared, description = "The repository and worktree"),
        (status = 400, body = ErrorBody, description = "Repository path missing"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 501, body = ErrorBody, description = "No control plane is configured", example = json!(ErrorBody::not_implemented())),
    ))]
async fn prepare(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    body: Result<JsonBody<PreparePlan>, HttpError>,
) -> JsonResult<PlanPrepared> {
    let runtime = runtime(&app)?;
    // A malformed body is reported only after the runtime check: without a control plane, the answer is
    // always 501.
    let JsonBody(body) = body?;
    let repository = repository(&app, required(body.repo_path, "repoPath")?).await?;
    let context = runtime.plan_loops.context(&repository, &ticket, body.base_branch).await?;
    Ok(Json(PlanPrepared {
        repo_path: path_text(repository.as_path()),
        worktree_dir: path_text(context.worktree),
        repo: PlannedRepo { full_name: context.full_name, branch: context.branch },
    }))
}

/// Prepare the plan of a document
///
/// Same as for a ticket.
#[utoipa::path(post, path = "/api/gateway/orchestrator/plan-loop/{ticketId}/select-artifact/prepare", operation_id = "prepare_plan_of_artifact", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Id of the ticket")),
    request_body = PreparePlan,
    responses(
        (status = 200, body = PlanPrepared, description = "The repository and worktree"),
        (status = 400, body = ErrorBody, description = "Repository path missing"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 501, body = ErrorBody, description = "No control plane is configured", example = json!(ErrorBody::not_implemented())),
    ))]
async fn prepare_artifact(
    app: State<App>,
    ticket: TicketPath,
    body: Result<JsonBody<PreparePlan>, HttpError>,
) -> JsonResult<PlanPrepared> {
    prepare(app, ticket, body).await
}

/// Record a plan that was requested for a ticket
///
/// Idempotent. A loop that is already recorded is unchanged.
#[utoipa::path(post, path = "/api/gateway/orchestrator/plan-loop/{ticketId}/confirm", operation_id = "confirm_plan", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Id of the ticket")),
    request_body = ConfirmPlan,
    responses(
        (status = 200, body = PlanConfirmed, description = "The plan was recorded"),
        (status = 400, body = ErrorBody, description = "Repository path missing, or the loop id is not a UUID"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The plan cannot be recorded"),
        (status = 501, body = ErrorBody, description = "No control plane is configured", example = json!(ErrorBody::not_implemented())),
    ))]
async fn confirm(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    body: Result<JsonBody<ConfirmPlan>, HttpError>,
) -> JsonResult<PlanConfirmed> {
    let runtime = runtime(&app)?;
    let JsonBody(body) = body?;
    let repo = required(body.repo_path, "repoPath")?;
    let loop_id = body.loop_id.as_deref().map(loop_id).transpose()?;
    let confirmation = PlanConfirmation {
        repository: repository(&app, repo).await?,
        ticket,
        loop_id,
        artifact_id: body.artifact_id,
        artifact_slug: body.artifact_slug,
        issue_id: body.issue_id,
        ticket_title: body.ticket_title,
        runs: body.outcome.as_deref() == Some(ALREADY_RUNNING),
    };
    let worktree = runtime.plan_loops.confirm(confirmation).await?;
    Ok(Json(PlanConfirmed { ok: true, worktree_dir: path_text(worktree) }))
}

/// Record a plan that was requested for a document
///
/// Same as for a ticket.
#[utoipa::path(post, path = "/api/gateway/orchestrator/plan-loop/{ticketId}/select-artifact/confirm", operation_id = "confirm_plan_of_artifact", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Id of the ticket")),
    request_body = ConfirmPlan,
    responses(
        (status = 200, body = PlanConfirmed, description = "The plan was recorded"),
        (status = 400, body = ErrorBody, description = "Repository path missing, or the loop id is not a UUID"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The plan cannot be recorded"),
        (status = 501, body = ErrorBody, description = "No control plane is configured", example = json!(ErrorBody::not_implemented())),
    ))]
async fn confirm_artifact(
    app: State<App>,
    ticket: TicketPath,
    body: Result<JsonBody<ConfirmPlan>, HttpError>,
) -> JsonResult<PlanConfirmed> {
    confirm(app, ticket, body).await
}

/// Cancel a plan
///
/// Cancels the loop at the control plane and terminates its process on this machine. A rejection by the
/// control plane is returned with its status.
#[utoipa::path(post, path = "/api/gateway/orchestrator/plan-loop/{ticketId}/cancel", operation_id = "cancel_plan", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Id of the ticket")),
    request_body = CancelPlan,
    responses(
        (status = 200, body = PlanCancelled, description = "The plan was cancelled; `warning` is set if its process may still be running"),
        (status = 400, body = ErrorBody, description = "Repository path or loop id missing, or the loop id is not a UUID"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox, or the process was not started by Loopgate"),
        (status = 500, body = ErrorBody, description = "The control plane failed, or the process cannot be terminated"),
        (status = 501, body = ErrorBody, description = "No control plane is configured", example = json!(ErrorBody::not_implemented())),
        (status = 502, body = ErrorBody, description = "The control plane is unreachable; the local process was terminated"),
        (status = 503, body = ErrorBody, description = "No API key for the control plane"),
    ))]
async fn cancel(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    body: Result<JsonBody<CancelPlan>, HttpError>,
) -> JsonResult<PlanCancelled> {
    let runtime = runtime(&app)?;
    let JsonBody(body) = body?;
    let repo = required(body.repo_path, "repoPath")?;
    let id = loop_id(&required(body.loop_id, "loopId")?)?;
    let repository = repository(&app, repo).await?;
    let outcome = runtime.plan_loops.cancel(&repository, &ticket, id).await?;
    Ok(Json(PlanCancelled { cancelled: true, warning: outcome.warning() }))
}

/// Returns the runtime if it has a control plane.
///
/// # Errors
/// 501 without a control plane: plans are requested there, so these routes do not exist.
fn runtime(app: &App) -> Result<&Arc<Runtime>, HttpError> {
    let runtime = runtime_of(app, PATH)?;
    if runtime.plan_loops.has_control_plane() {
        Ok(runtime)
    } else {
        Err(HttpError::not_implemented(&Method::POST, PATH))
    }
}

fn required(member: Option<String>, name: &str) -> Result<String, HttpError> {
    member.ok_or_else(|| HttpError::missing_field(format!("{name} is required")))
}

fn loop_id(text: &str) -> Result<LoopId, HttpError> {
    text.trim().parse().map_err(|_| HttpError::bad_request("loopId must be a valid UUID"))
}

async fn repository(app: &App, path: String) -> Result<SandboxedPath, HttpError> {
    let app = app.clone();
    spawn_blocking(move || app.sandbox.check(path)).await?.map_err(|_| HttpError::directory_not_allowed())
}

impl From<PlanError> for HttpError {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::NotAllowed => Self::directory_not_allowed(),
            PlanError::Store(_) | PlanError::Io(_) => Self::operation("Failed to record the plan", &error),
        }
    }
}

impl From<CancelError> for HttpError {
    fn from(error: CancelError) -> Self {
        let status = match &error {
            CancelError::NoKey => StatusCode::SERVICE_UNAVAILABLE,
            CancelError::Refused(status, _) => {
                // The status of the control plane determines whether a retry makes sense.
                StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY)
            }
            CancelError::Unreachable(_) => StatusCode::BAD_GATEWAY,
            CancelError::OtherProcess => return Self::process_not_managed(),
            CancelError::Stop(error) => return Self::operation("Failed to kill process", error),
        };
        Self::new(status, error.to_string())
    }
}

/// Parameters that name the directories of a request.
const SOURCES: &[Source] = &[Source::Path(At::Body("repoPath")), Source::Ticket(At::Segment("ticketId"))];

/// Like [`SOURCES`], for requests that can also name a loop.
const LOOP_SOURCES: &[Source] = &[
    Source::Path(At::Body("repoPath")),
    Source::Ticket(At::Segment("ticketId")),
    Source::Loop(At::Body("loopId")),
];

pub(crate) fn prepare_endpoint() -> Endpoint {
    Endpoint::new(routes!(prepare), SOURCES)
}

pub(crate) fn prepare_artifact_endpoint() -> Endpoint {
    Endpoint::new(routes!(prepare_artifact), SOURCES)
}

pub(crate) fn confirm_endpoint() -> Endpoint {
    Endpoint::new(routes!(confirm), LOOP_SOURCES)
}

pub(crate) fn confirm_artifact_endpoint() -> Endpoint {
    Endpoint::new(routes!(confirm_artifact), LOOP_SOURCES)
}

pub(crate) fn cancel_endpoint() -> Endpoint {
    Endpoint::new(routes!(cancel), LOOP_SOURCES)
}
