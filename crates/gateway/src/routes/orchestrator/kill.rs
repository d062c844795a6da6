//! `POST /api/gateway/orchestrator/kill`: ends a process by its pid, or the one that works on a
//! ticket.
//!
//! A pid is only a question here. The runtime says whether it means a process that Loopgate started;
//! nothing else is ever signalled.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_runtime::tickets::{PidError, TicketFiles};
use loopgate_runtime::{OwnedProcess, ProcessOwner, Runtime};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;

use super::runtime::{read_ticket, runtime_of};

const PATH: &str = "/api/gateway/orchestrator/kill";
/// Pids below are the system's.
const LOWEST: u32 = 2;
const GONE: &str = "Process already terminated";
const NO_PROCESS: &str = "No process to kill (no PID file), state marked as stopped";

/// What to end: a pid, else a ticket with its repository.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KillBody)]
struct KillRequest {
    #[schema(value_type = Option<u32>)]
    #[serde(default, deserialize_with = "lenient::any")]
    pid: Option<Number>,
    #[serde(default, deserialize_with = "lenient::non_empty")]
    ticket_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::non_empty")]
    repo_path: Option<String>,
}

/// What came of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Killed)]
pub(crate) struct KillResponse {
    success: bool,
    #[schema(example = "Process terminated")]
    message: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
}

impl KillResponse {
    fn new(message: &'static str, pid: Option<u32>) -> Self {
        Self { success: true, message, pid }
    }
}

/// End a process and everything that it started
///
/// Only processes that Loopgate started are ended.
#[utoipa::path(post, path = "/api/gateway/orchestrator/kill", operation_id = "kill_process", tag = "orchestrator",
    request_body = KillRequest,
    responses(
        (status = 200, body = KillResponse, description = "It has ended, now or before"),
        (status = 400, body = ErrorBody, description = "Neither a pid nor a ticket"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox, or a process that Loopgate did not start"),
        (status = 500, body = ErrorBody, description = "The recorded pid cannot be read, or the process does not end"),
    ))]
async fn kill(State(app): State<App>, JsonBody(body): JsonBody<KillRequest>) -> JsonResult<KillResponse> {
    let pid = body.pid.filter(|pid| pid.as_f64() != Some(0.0));
    if let Some(pid) = pid {
        return by_pid(&app, &pid).await.map(Json);
    }
    let (Some(ticket), Some(repo)) = (body.ticket_id, body.repo_path) else {
        return Err(HttpError::missing_field("Either pid or (ticketId + repoPath) is required"));
    };
    by_ticket(&app, TicketId::new(ticket), repo).await.map(Json)
}

async fn by_pid(app: &App, pid: &Number) -> Result<KillResponse, HttpError> {
    let possible = pid.as_u64().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid >= LOWEST);
    let pid = possible.ok_or_else(HttpError::process_not_managed)?;
    end(app, pid, async || Ok(())).await
}

async fn by_ticket(app: &App, ticket: TicketId, repo: String) -> Result<KillResponse, HttpError> {
    let at_files = async |work: fn(&TicketFiles)| {
        let (ticket, repo) = (ticket.clone(), repo.clone());
        let worked = read_ticket(app.clone(), ticket, repo, move |files| {
            if let Some(files) = &files {
                work(files);
            }
            Ok(())
        });
        worked.await
    };
    let recorded = read_ticket(app.clone(), ticket.clone(), repo.clone(), |files| {
        let pid = files.map_or(Ok(None), |files| files.recorded_pid());
        pid.map_err(|why| {
            let text = match why {
                PidError::Invalid => "Invalid PID in process.pid file",
                PidError::Unreadable => "Failed to read process.pid file",
            };
            HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, text)
        })
    });
    let ended = match recorded.await? {
        Some(pid) if pid < LOWEST => return Err(HttpError::process_not_managed()),
        Some(pid) => end(app, pid, async || at_files(|files| files.forget_loop()).await).await?,
        None => {
            let working = working_on(app, &ticket, &repo).await?;
            at_files(|files| files.forget_loop()).await?;
            match working {
                Some((pid, process)) => ended(runtime_of(app, PATH)?, pid, process).await?,
                None => KillResponse::new(NO_PROCESS, None),
            }
        }
    };
    at_files(|files| files.mark_stopped()).await?;
    Ok(ended)
}

/// Ends the process that has this pid, when it is ours. `before` is done when it may be ended.
async fn end(
    app: &App,
    pid: u32,
    before: impl AsyncFnOnce() -> Result<(), HttpError>,
) -> Result<KillResponse, HttpError> {
    let runtime = runtime_of(app, PATH)?;
    let owner = runtime.stopper.owner_of(pid).await;
    let owner = owner.map_err(|error| HttpError::operation("Failed to process kill request", &error))?;
    match owner {
        ProcessOwner::Other => Err(HttpError::process_not_managed()),
        ProcessOwner::None => {
            before().await?;
            Ok(KillResponse::new(GONE, Some(pid)))
        }
        ProcessOwner::Loopgate(process) => {
            before().await?;
            ended(runtime, pid, process).await
        }
    }
}

async fn ended(runtime: &Arc<Runtime>, pid: u32, process: OwnedProcess) -> Result<KillResponse, HttpError> {
    let stopped = runtime.stopper.stop(process).await;
    let stopped = stopped.map_err(|error| HttpError::operation("Failed to kill process", &error))?;
    Ok(KillResponse::new(if stopped { "Process terminated" } else { GONE }, Some(pid)))
}

/// What works in a ticket's worktree without a file that says so.
async fn working_on(
    app: &App,
    ticket: &TicketId,
    repo: &str,
) -> Result<Option<(u32, OwnedProcess)>, HttpError> {
    let worktree = read_ticket(app.clone(), ticket.clone(), repo.to_owned(), |files| {
        Ok(files.map(|files| files.worktree().to_owned()))
    });
    let Some(worktree) = worktree.await? else { return Ok(None) };
    let found = runtime_of(app, PATH)?.stopper.working_at(&worktree).await;
    found.map_err(|error| HttpError::operation("Failed to process kill request", &error))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(kill),
        &[
            Source::Path(At::Body("repoPath")),
            Source::Ticket(At::Body("ticketId")),
            Source::Process(At::Body("pid")),
        ],
    )
    .with_action_members(&["pid"])
}
