//! `/api/gateway/orchestrator/*`: starting and ending loops, and reading what they left on disk.
//! What a loop is, the runtime knows.

pub(crate) mod chat;
pub(crate) mod chat_history;
mod chat_stream;
pub(crate) mod comment_chat;
pub(crate) mod commit_message;
mod described;
pub(crate) mod judges;
pub(crate) mod kill;
pub(crate) mod launch;
pub(crate) mod loop_facts;
pub(crate) mod plan_loop;
pub(crate) mod sessions;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::{Extension, Json};
use http::{HeaderMap, Method, StatusCode};
use jiff::Timestamp;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_api::launch::LoopLaunchBody;
use loopgate_api::names::{COMMAND_ID_HEADER, OPERATION_ID_HEADER};
use loopgate_api::operation::OperationId;
use loopgate_runtime::job::LoopApproval;
use loopgate_runtime::{LoopError, LoopHeaders, Runtime, Started};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;
use uuid::Uuid;

use self::loop_facts::LoopFacts;
use crate::answer::{Answer, Failure, shown};
use crate::app::App;
use crate::approval::{At, Source};
use crate::extract::{QueryMembers, TicketPath};
use crate::pipeline::Requester;
use crate::pipeline::body::BodyLimit;
use crate::router::Route;
use crate::routes::{approvals, on_disk};
use crate::ticket_files::TicketFiles;
use crate::ticket_files::logs::LogTail;
use crate::ticket_files::plan::PlanAnswer;
use crate::ticket_files::state::DirectoryStatus;
use crate::ticket_files::status::TicketStatus;

use described::{OfRepository, Unread};

const LAUNCH: &str = "/api/gateway/orchestrator/loop";
const LINES_DEFAULT: usize = 100;
const LINES_MOST: usize = 10_000;

/// A loop that runs, or waits for a place or for approval.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoopStarted {
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
        (status = 200, body = LoopStarted, description = "It runs, is being prepared, or waits in line"),
        (status = 400, body = ErrorBody, description = "The body breaks a rule"),
        (status = 403, body = ErrorBody, description = "A path outside the sandbox"),
        (status = 404, body = ErrorBody, description = "No such repository, and it could not be cloned"),
        (status = 409, body = ErrorBody, description = "It runs already, or another loop has the worktree"),
        (status = 503, body = ErrorBody, description = "No API origin, or the control plane cannot be reached"),
    ))]
async fn start(
    State(app): State<App>,
    Extension(requester): Extension<Requester>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer<LoopStarted> {
    let about = loop_headers(&headers, requester.over_link);
    Ok(Json(runtime_of(&app, LAUNCH)?.start_loop(&body, about).await?.into()))
}

/// Answers an order over the link that waits for approval: it is accepted, and started when the decision
/// says so.
pub(crate) async fn hold(
    app: &App,
    headers: &HeaderMap,
    body: &[u8],
    id: Uuid,
    limit: Duration,
    decision: impl Future<Output = Result<(), String>> + Send + 'static,
) -> Answer<LoopStarted> {
    let until = Timestamp::now().saturating_add(limit).unwrap_or(Timestamp::MAX);
    let approval = LoopApproval {
        id,
        command: approvals::command_that_approves(app, id),
        waits_until: loopgate_api::time::iso(until),
    };
    let about = loop_headers(headers, true);
    Ok(Json(runtime_of(app, LAUNCH)?.hold_loop(body, about, approval, decision).await?.into()))
}

fn loop_headers(headers: &HeaderMap, from_cloud: bool) -> LoopHeaders {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(ToOwned::to_owned);
    LoopHeaders { command_id: text(COMMAND_ID_HEADER), operation_id: text(OPERATION_ID_HEADER), from_cloud }
}

impl From<Started> for LoopStarted {
    fn from(started: Started) -> Self {
        Self {
            success: true,
            loop_id: started.loop_id.to_string(),
            pid: started.pid,
            worktree_path: started.worktree_path.map(shown),
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
async fn end(State(app): State<App>, body: Bytes) -> Answer<LoopEnded> {
    let outcome = runtime_of(&app, "/api/gateway/orchestrator/loop/kill")?.kill_loop(&body).await?;
    Ok(Json(LoopEnded { success: true, message: outcome.message() }))
}

/// Whether work goes on in a directory
#[utoipa::path(get, path = "/api/gateway/orchestrator/status", operation_id = "directory_status", tag = "orchestrator",
    params(("workDir" = String, Query, description = "Directory that holds `.loopgate/work`")),
    responses(
        (status = 200, body = DirectoryStatus, description = "What its state says"),
        (status = 400, body = ErrorBody, description = "No directory given"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The state cannot be read"),
    ))]
async fn directory_status(State(app): State<App>, query: QueryMembers) -> Answer<DirectoryStatus> {
    let directory = query.required("workDir", "workDir parameter is required")?.to_owned();
    let facts = LoopFacts::of_directory(&app, &directory).await;
    let read = on_disk(move || {
        let files = TicketFiles::of_directory(&app.sandbox, &directory)?;
        files.directory_status().map_err(|reason| unreadable(reason).with("isRunning", false))
    });
    let status: DirectoryStatus = read.await??;
    Ok(Json(status.with(facts)))
}

/// How a ticket stands
#[utoipa::path(get, path = "/api/gateway/orchestrator/status/{ticketId}", operation_id = "ticket_status", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket, or slug or id of a loop"), OfRepository),
    responses(
        (status = 200, body = TicketStatus, description = "How it stands, also when there is no worktree"),
        Unread,
        (status = 500, body = ErrorBody, description = "The state cannot be read"),
    ))]
async fn ticket_status(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> Answer<TicketStatus> {
    let repo = query.required("repo", "repo query parameter is required")?.to_owned();
    let facts = LoopFacts::of_ticket(&app, &ticket).await;
    let status = read_ticket(app, ticket, repo, |files| match files {
        None => Ok(TicketStatus::NOT_FOUND),
        Some(files) => {
            files.ticket_status().map_err(|reason| Failure::operation("Failed to read status", &reason))
        }
    });
    Ok(Json(status.await?.with(facts)))
}

/// The end of a ticket's log
#[utoipa::path(get, path = "/api/gateway/orchestrator/logs/{ticketId}", operation_id = "ticket_logs", tag = "orchestrator",
    params(
        ("ticketId" = String, Path, description = "Ticket, or slug or id of a loop"),
        OfRepository,
        ("lines" = Option<u32>, Query, description = "Lines at most, 1 to 10000; 100 when it is missing or something else"),
    ),
    responses(
        (status = 200, body = LogTail, description = "The last lines, also when there are none"),
        Unread,
        (status = 500, body = ErrorBody, description = "The log cannot be read"),
    ))]
async fn ticket_logs(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> Answer<LogTail> {
    let repo = query.required("repo", "repo parameter is required")?.to_owned();
    let lines = lines_wanted(query.get("lines"));
    let tail = read_ticket(app, ticket, repo, move |files| match files {
        None => Ok(LogTail::NOTHING),
        Some(files) => files.log_tail(lines).map_err(|error| unreadable(error.to_string())),
    });
    tail.await.map(Json)
}

/// A ticket's plan
#[utoipa::path(get, path = "/api/gateway/orchestrator/plan/{ticketId}", operation_id = "ticket_plan", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket, or slug or id of a loop"), OfRepository),
    responses(
        (status = 200, body = PlanAnswer, description = "The plan"),
        Unread,
        (status = 404, body = ErrorBody, description = "No worktree, or no plan yet"),
        (status = 500, body = ErrorBody, description = "The plan is malformed"),
    ))]
async fn ticket_plan(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> Answer<PlanAnswer> {
    let repo = query.required("repo", "repo query parameter is required")?.to_owned();
    let missing = |text: &str| Failure::not_found(text).with("exists", false);
    let plan = read_ticket(app, ticket, repo, move |files| {
        let files = files.ok_or_else(|| missing("Worktree not found"))?;
        let plan = files.plan().map_err(|reason| Failure::operation("Failed to read plan", &reason))?;
        plan.ok_or_else(|| missing("Plan not found yet").with("planExists", false))
    });
    plan.await.map(Json)
}

/// Where requests name what they are about.
const SOURCES: &[Source] = &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))];

pub(crate) fn start_route() -> Route {
    Route::new(
        routes!(start),
        OperationId::OrchestratorLoop,
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
    .with_action(&["command"])
    .with_limit(BodyLimit::LOOP)
    .accepting_held()
}

pub(crate) fn end_route() -> Route {
    Route::new(routes!(end), OperationId::OrchestratorLoopKill, &[Source::Loop(At::Body("loopId"))])
}

pub(crate) fn directory_status_route() -> Route {
    Route::new(
        routes!(directory_status),
        OperationId::OrchestratorStatus,
        &[Source::Path(At::Query("workDir"))],
    )
}

pub(crate) fn ticket_status_route() -> Route {
    Route::new(routes!(ticket_status), OperationId::OrchestratorStatus, SOURCES)
}

pub(crate) fn ticket_logs_route() -> Route {
    Route::new(routes!(ticket_logs), OperationId::OrchestratorLogs, SOURCES)
}

pub(crate) fn ticket_plan_route() -> Route {
    Route::new(routes!(ticket_plan), OperationId::OrchestratorPlan, SOURCES)
}

/// A gateway may run without a runtime; it then starts nothing.
fn runtime_of<'a>(app: &'a App, path: &str) -> Result<&'a Arc<Runtime>, Failure> {
    app.runtime.as_ref().ok_or_else(|| Failure::not_implemented(&Method::POST, path))
}

/// Finds the files of a ticket and reads from them, away from the request threads.
async fn read_ticket<T: Send + 'static>(
    app: App,
    ticket: TicketId,
    repo: String,
    read: impl FnOnce(Option<TicketFiles>) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let of_jobs = worktrees_of_jobs(&app, &ticket).await;
    let reading =
        on_disk(move || read(TicketFiles::find(&app.sandbox, &app.places, &repo, &ticket, &of_jobs)?));
    reading.await?
}

/// The worktrees that the ticket's jobs name: those of living jobs first, then the newest.
async fn worktrees_of_jobs(app: &App, ticket: &TicketId) -> Vec<PathBuf> {
    let Some(runtime) = &app.runtime else { return Vec::new() };
    let mut jobs = runtime.jobs_of_ticket(ticket).await.unwrap_or_default();
    jobs.sort_by_key(|job| job.status().is_terminal());
    jobs.into_iter().filter_map(|job| job.facts.worktree_dir.map(PathBuf::from)).collect()
}

fn lines_wanted(text: Option<&str>) -> usize {
    let wanted = text.and_then(|text| text.parse::<u64>().ok()).filter(|lines| *lines > 0);
    wanted.map_or(LINES_DEFAULT, |lines| usize::try_from(lines).unwrap_or(LINES_MOST).min(LINES_MOST))
}

fn unreadable(reason: impl AsRef<str>) -> Failure {
    let reason = loopgate_api::redact::cause(reason.as_ref());
    Failure::failed(reason)
}

impl From<LoopError> for Failure {
    fn from(error: LoopError) -> Self {
        let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut failure = Self::new(status, "");
        *failure.body = error.body();
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_numbers_of_lines_are_a_hundred() {
        for (text, lines) in [
            ("7", 7),
            ("10000", 10_000),
            ("99999999999", 10_000),
            ("0", 100),
            ("-3", 100),
            ("x", 100),
            ("1.5", 100),
        ] {
            assert_eq!(lines_wanted(Some(text)), lines, "{text}");
        }
        assert_eq!(lines_wanted(None), 100);
    }
}
