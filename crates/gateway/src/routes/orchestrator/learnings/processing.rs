//! `process-learnings`: merges the pending learnings of a ticket into the patterns.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_learnings::{ProcessingStart, ProcessingStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{DISABLED, StartStatus, TICKET_MEMBERS, is_enabled, worktree};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, QueryMembers};
use crate::response::path_text;
use crate::route::Endpoint;
use crate::routes::directory::{TicketMembers, TicketReference};
use crate::routes::orchestrator::params::{RepositoryQuery, TicketErrors};
use crate::routes::orchestrator::runtime::runtime_of;

const PATH: &str = "/api/gateway/orchestrator/process-learnings";

/// The ticket whose pending learnings are processed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ticketId": "AB-1", "repoPath": "~/src/shop", "waitForExtraction": true}))]
struct ProcessLearnings {
    #[serde(flatten)]
    ticket: TicketMembers,
    /// Whether to start only after the running extraction finishes. Any truthy JSON value is accepted.
    #[schema(value_type = bool)]
    #[serde(default)]
    wait_for_extraction: Value,
}

/// Outcome of a request to process learnings.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LearningsProcessingStart, example = json!({"status": "processing", "pid": 4242, "logFile": "/home/sam/src/worktrees/shop-AB-1/.loopgate/work/process-learnings.log"}))]
pub(crate) struct ProcessingStarted {
    status: StartStatus,
    /// Reason for which the processing was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Pid of the script; null when the plugin is not installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u32>)]
    pid: Option<Option<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_file: Option<String>,
}

impl ProcessingStarted {
    const fn new(status: StartStatus) -> Self {
        Self { status, reason: None, pid: None, log_file: None }
    }
}

impl From<ProcessingStart> for ProcessingStarted {
    fn from(start: ProcessingStart) -> Self {
        match start {
            ProcessingStart::Skipped(reason) => {
                Self { reason: Some(reason), ..Self::new(StartStatus::Skipped) }
            }
            ProcessingStart::Started { pid, log } => Self {
                pid: Some(Some(pid)),
                log_file: Some(path_text(log)),
                ..Self::new(StartStatus::Processing)
            },
            ProcessingStart::NoScript => Self { pid: Some(None), ..Self::new(StartStatus::Processing) },
        }
    }
}

/// Process the pending learnings of a ticket
///
/// Merges them into the patterns, in the background.
#[utoipa::path(post, path = "/api/gateway/orchestrator/process-learnings", operation_id = "process_learnings", tag = "learnings",
    request_body = ProcessLearnings,
    responses(
        (status = 200, body = ProcessingStarted, description = "Processing was started, waits for the extraction, or is not necessary"),
        TicketErrors,
        (status = 404, body = ErrorBody, description = "The ticket has no worktree"),
        (status = 500, body = ErrorBody, description = "The script cannot be started"),
    ))]
async fn start(
    State(app): State<App>,
    JsonBody(body): JsonBody<ProcessLearnings>,
) -> JsonResult<ProcessingStarted> {
    let (_, place) = body.ticket.required()?.existing(&app).await?;
    if !is_enabled(&app) {
        return Ok(Json(ProcessingStart::Skipped(DISABLED).into()));
    }
    runtime_of(&app, PATH)?;
    let worktree = worktree(&place);
    if is_truthy(&body.wait_for_extraction) {
        let (extractions, work_dir) = (app.learnings.extractions.clone(), worktree.work_dir.clone());
        let extracted = async move { extractions.wait_finished(&work_dir).await };
        // Waits in a background task: an extraction takes minutes, longer than clients wait for a response.
        app.learnings.processing.start_after(worktree, extracted).await;
        return Ok(Json(ProcessingStarted::new(StartStatus::Waiting)));
    }
    let start = app.learnings.processing.start(worktree).await;
    let start = start.map_err(|error| HttpError::operation("Failed to process learnings", &error))?;
    Ok(Json(start.into()))
}

// JavaScript truthiness: clients send this member as a boolean, number or string.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Return the status of processing a ticket's learnings
#[utoipa::path(get, path = "/api/gateway/orchestrator/process-learnings", operation_id = "processing_status", tag = "learnings",
    params(("ticketId" = String, Query, description = "Id of the ticket", example = "AB-1"), RepositoryQuery),
    responses(
        (status = 200, body = ProcessingStatus, description = "Status of the last processing; also when there was none"),
        TicketErrors,
    ))]
async fn status(State(app): State<App>, query: QueryMembers) -> JsonResult<ProcessingStatus> {
    let text = "ticketId and repo are required";
    let ticket = TicketId::new(query.required("ticketId", text)?);
    let repo = query.required("repo", text)?.to_owned();
    let Some(place) = TicketReference { ticket, repo }.resolve(&app).await?.1 else {
        return Ok(Json(ProcessingStatus::default()));
    };
    let status = spawn_blocking(move || app.learnings.processing.status(&worktree(&place).work_dir));
    Ok(Json(status.await?))
}

pub(crate) fn start_endpoint() -> Endpoint {
    Endpoint::new(routes!(start), TICKET_MEMBERS)
}

pub(crate) fn status_endpoint() -> Endpoint {
    let sources = &[Source::Path(At::Query("repo")), Source::Ticket(At::Query("ticketId"))];
    Endpoint::new(routes!(status), sources)
}
