//! `/api/gateway/orchestrator/plan-loop/{ticketId}/…`: what a page asks this machine on its way to a
//! plan. The loop itself it orders from the control plane.

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
/// Error text for a loop that runs already.
const ALREADY_RUNNING: &str = "already-running";

/// What is to be planned.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PreparePlan {
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Branch to start from; what is checked out otherwise.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    base_branch: Option<String>,
}

/// What is known here.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanPrepared {
    repo_path: String,
    /// The ticket's worktree, which may not be there yet.
    worktree_dir: String,
    repo: PlannedRepo,
}

/// The repository that a plan is about.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlannedRepo {
    /// `<org>/<repo>` of its remote; empty when unknown.
    #[schema(example = "acme/shop")]
    full_name: String,
    #[schema(example = "main")]
    branch: String,
}

/// What was agreed on with the control plane.
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
    /// `already-running` for a loop that runs already.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    outcome: Option<String>,
}

/// Noted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanConfirmed {
    ok: bool,
    worktree_dir: String,
}

/// What is not wanted any more.
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

/// It was taken back.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlanCancelled {
    cancelled: bool,
    /// `process-unknown`, or `process-still-running`.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
}

/// Tell what is known before a ticket is planned
#[utoipa::path(post, path = "/api/gateway/orchestrator/plan-loop/{ticketId}/prepare", operation_id = "prepare_plan", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket")),
    request_body = PreparePlan,
    responses(
        (status = 200, body = PlanPrepared, description = "Its repository and its worktree; nothing is written"),
        (status = 400, body = ErrorBody, description = "No repository"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 501, body = ErrorBody, description = "No control plane is configured", example = json!(ErrorBody::not_implemented())),
    ))]
async fn prepare(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    body: Result<JsonBody<PreparePlan>, HttpError>,
) -> JsonResult<PlanPrepared> {
    let runtime = runtime(&app)?;
    let JsonBody(body) = body?;
    let repository = repository(&app, required(body.repo_path, "repoPath")?).await?;
    let facts = runtime.plan_loops.context(&repository, &ticket, body.base_branch).await?;
    Ok(Json(PlanPrepared {
        repo_path: path_text(repository.as_path()),
        worktree_dir: path_text(facts.worktree),
        repo: PlannedRepo { full_name: facts.full_name, branch: facts.branch },
    }))
}

/// Tell what is known before a document is planned
///
/// The same as for a ticket.
#[utoipa::path(post, path = "/api/gateway/orchestrator/plan-loop/{ticketId}/select-artifact/prepare", operation_id = "prepare_plan_of_artifact", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket")),
    request_body = PreparePlan,
    responses(
        (status = 200, body = PlanPrepared, description = "Its repository and its worktree; nothing is written"),
        (status = 400, body = ErrorBody, description = "No repository"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 501, body = ErrorBody, description = "No control plane is configured", example = json!(ErrorBody::not_implemented())),
    ))]
async fn prepare_artifact(
    app: State<App>,
    ticket: TicketPath,
    body: Result<JsonBody<PreparePlan>, HttpError>,
) -> JsonResult<PlanPrepared> {
    prepare(app, ticket, body).await
}

/// Note the plan of a ticket that was ordered
///
/// May be said twice. A loop that is known here is left as it is.
#[utoipa::path(post, path = "/api/gateway/orchestrator/plan-loop/{ticketId}/confirm", operation_id = "confirm_plan", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket")),
    request_body = ConfirmPlan,
    responses(
        (status = 200, body = PlanConfirmed, description = "Noted"),
        (status = 400, body = ErrorBody, description = "No repository, or an id that is none"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 500, body = ErrorBody, description = "It cannot be written"),
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
    let agreed = PlanConfirmation {
        repository: repository(&app, repo).await?,
        ticket,
        loop_id,
        artifact_id: body.artifact_id,
        artifact_slug: body.artifact_slug,
        issue_id: body.issue_id,
        ticket_title: body.ticket_title,
        runs: body.outcome.as_deref() == Some(ALREADY_RUNNING),
    };
    let worktree = runtime.plan_loops.confirm(agreed).await?;
    Ok(Json(PlanConfirmed { ok: true, worktree_dir: path_text(worktree) }))
}

/// Note the plan of a document that was ordered
///
/// The same as for a ticket.
#[utoipa::path(post, path = "/api/gateway/orchestrator/plan-loop/{ticketId}/select-artifact/confirm", operation_id = "confirm_plan_of_artifact", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket")),
    request_body = ConfirmPlan,
    responses(
        (status = 200, body = PlanConfirmed, description = "Noted"),
        (status = 400, body = ErrorBody, description = "No repository, or an id that is none"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 500, body = ErrorBody, description = "It cannot be written"),
        (status = 501, body = ErrorBody, description = "No control plane is configured", example = json!(ErrorBody::not_implemented())),
    ))]
async fn confirm_artifact(
    app: State<App>,
    ticket: TicketPath,
    body: Result<JsonBody<ConfirmPlan>, HttpError>,
) -> JsonResult<PlanConfirmed> {
    confirm(app, ticket, body).await
}

/// Take a plan back
///
/// At the control plane, and whatever works on it here. What the control plane refuses is answered
/// with its status.
#[utoipa::path(post, path = "/api/gateway/orchestrator/plan-loop/{ticketId}/cancel", operation_id = "cancel_plan", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket")),
    request_body = CancelPlan,
    responses(
        (status = 200, body = PlanCancelled, description = "Taken back; a warning says when its process is not known to be gone"),
        (status = 400, body = ErrorBody, description = "No repository or no loop"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox, or a process that Loopgate did not start"),
        (status = 500, body = ErrorBody, description = "The control plane failed, or the process cannot be ended"),
        (status = 501, body = ErrorBody, description = "No control plane is configured", example = json!(ErrorBody::not_implemented())),
        (status = 502, body = ErrorBody, description = "The control plane cannot be reached; what ran here was ended"),
        (status = 503, body = ErrorBody, description = "No key for the control plane"),
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

/// Plans are ordered from a control plane; where there is none, these routes are none either.
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
            PlanError::Store(_) | PlanError::Io(_) => Self::operation("Failed to note the plan", &error),
        }
    }
}

impl From<CancelError> for HttpError {
    fn from(error: CancelError) -> Self {
        let status = match &error {
            CancelError::NoKey => StatusCode::SERVICE_UNAVAILABLE,
            CancelError::Refused(status, _) => {
                StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY)
            }
            CancelError::Unreachable(_) => StatusCode::BAD_GATEWAY,
            CancelError::OtherProcess => return Self::process_not_managed(),
            CancelError::Stop(error) => return Self::operation("Failed to kill process", error),
        };
        Self::new(status, error.to_string())
    }
}

/// Where requests name what they are about.
const SOURCES: &[Source] = &[Source::Path(At::Body("repoPath")), Source::Ticket(At::Segment("ticketId"))];

/// The same, for requests that may name a loop too.
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
