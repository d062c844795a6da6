//! `POST /api/gateway/orchestrator/kill`: terminates a process by pid, or the process of a ticket.
//!
//! A pid in a request is untrusted: the runtime decides whether it is a process that Loopgate started, and
//! signals no other.

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
/// Lowest pid that is accepted: 0 addresses the caller's process group, and 1 is init.
const MIN_PID: u32 = 2;
const ALREADY_TERMINATED: &str = "Process already terminated";
const NO_PROCESS: &str = "No process to kill (no PID file), state marked as stopped";

/// Process to terminate: a pid, or a ticket and its repository. The pid takes precedence.
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

/// Result of the termination.
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

/// Terminate a process and its descendants
///
/// Only processes that Loopgate started are terminated.
#[utoipa::path(post, path = "/api/gateway/orchestrator/kill", operation_id = "kill_process", tag = "orchestrator",
    request_body = KillRequest,
    responses(
        (status = 200, body = KillResponse, description = "The process is terminated, by this request or earlier"),
        (status = 400, body = ErrorBody, description = "Neither a pid nor a ticket with its repository"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox, or the process was not started by Loopgate"),
        (status = 500, body = ErrorBody, description = "The recorded pid cannot be read, or the process is still running"),
    ))]
async fn kill(State(app): State<App>, JsonBody(body): JsonBody<KillRequest>) -> JsonResult<KillResponse> {
    // Clients send 0 for "no pid".
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
    let valid = pid.as_u64().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid >= MIN_PID);
    let pid = valid.ok_or_else(HttpError::process_not_managed)?;
    terminate_pid(app, pid, async || Ok(())).await
}

async fn by_ticket(app: &App, ticket: TicketId, repo: String) -> Result<KillResponse, HttpError> {
    // The files are located again for every access, because the worktree can be removed in between.
    let with_files = async |apply: fn(&TicketFiles)| {
        let (ticket, repo) = (ticket.clone(), repo.clone());
        let applied = read_ticket(app.clone(), ticket, repo, move |files| {
            if let Some(files) = &files {
                apply(files);
            }
            Ok(())
        });
        applied.await
    };
    let recorded = read_ticket(app.clone(), ticket.clone(), repo.clone(), |files| {
        let pid = files.map_or(Ok(None), |files| files.recorded_pid());
        pid.map_err(|error| {
            let text = match error {
                PidError::Invalid => "Invalid PID in process.pid file",
                PidError::Unreadable => "Failed to read process.pid file",
            };
            HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, text)
        })
    });
    let response = match recorded.await? {
        // The pid file is in the worktree, so its content is as untrusted as a pid in the request.
        Some(pid) if pid < MIN_PID => return Err(HttpError::process_not_managed()),
        Some(pid) => terminate_pid(app, pid, async || with_files(|files| files.forget_loop()).await).await?,
        None => {
            let process = process_of(app, &ticket, &repo).await?;
            // Before the process is signaled: the loop script starts its next iteration only while this file
            // exists.
            with_files(|files| files.forget_loop()).await?;
            match process {
                Some((pid, process)) => terminate(runtime_of(app, PATH)?, pid, process).await?,
                None => KillResponse::new(NO_PROCESS, None),
            }
        }
    };
    // Last: while the process is alive, it may still overwrite the state.
    with_files(|files| files.mark_stopped()).await?;
    Ok(response)
}

/// Terminates the process with this pid if Loopgate started it. `before` runs once that is established, and
/// before the signal.
async fn terminate_pid(
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
            // The process has exited; only its files are left to clean up.
            before().await?;
            Ok(KillResponse::new(ALREADY_TERMINATED, Some(pid)))
        }
        ProcessOwner::Loopgate(process) => {
            before().await?;
            terminate(runtime, pid, process).await
        }
    }
}

async fn terminate(
    runtime: &Arc<Runtime>,
    pid: u32,
    process: OwnedProcess,
) -> Result<KillResponse, HttpError> {
    let stopped = runtime.stopper.stop(process).await;
    let stopped = stopped.map_err(|error| HttpError::operation("Failed to kill process", &error))?;
    Ok(KillResponse::new(if stopped { "Process terminated" } else { ALREADY_TERMINATED }, Some(pid)))
}

/// Returns the process that works in a ticket's worktree, for worktrees without a pid file.
async fn process_of(
    app: &App,
    ticket: &TicketId,
    repo: &str,
) -> Result<Option<(u32, OwnedProcess)>, HttpError> {
    let worktree = read_ticket(app.clone(), ticket.clone(), repo.to_owned(), |files| {
        Ok(files.map(|files| files.worktree().to_owned()))
    });
    let Some(worktree) = worktree.await? else { return Ok(None) };
    let process = runtime_of(app, PATH)?.stopper.process_in_worktree(&worktree).await;
    process.map_err(|error| HttpError::operation("Failed to process kill request", &error))
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
