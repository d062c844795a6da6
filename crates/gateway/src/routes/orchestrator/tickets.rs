//! `/api/gateway/orchestrator/status`, `logs`, `plan` and `judges`: the state that loops leave in the
//! worktree of a ticket.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_api::ticket::{DirectoryStatus, JudgesReport, LogTail, TicketPlan, TicketStatus};
use loopgate_runtime::tickets::{JudgesError, TicketFiles, loop_of_directory, loop_of_ticket};
use utoipa_axum::routes;

use super::params::{RepositoryQuery, TicketErrors};
use super::runtime::read_ticket;
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{QueryMembers, TicketPath};
use crate::route::Endpoint;

const DEFAULT_LINES: usize = 100;
const MAX_LINES: usize = 10_000;

/// Report whether a loop is running in a directory
#[utoipa::path(get, path = "/api/gateway/orchestrator/status", operation_id = "directory_status", tag = "orchestrator",
    params(("workDir" = String, Query, description = "Directory that contains `.loopgate/work`")),
    responses(
        (status = 200, body = DirectoryStatus, description = "Status of the directory"),
        (status = 400, body = ErrorBody, description = "Directory missing"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The state cannot be read"),
    ))]
async fn directory_status(State(app): State<App>, query: QueryMembers) -> JsonResult<DirectoryStatus> {
    let directory = query.required("workDir", "workDir parameter is required")?.to_owned();
    // The jobs are read first: a loop that finishes in between is then reported as running with final files,
    // never as finished with stale files.
    let latest_loop = match &app.runtime {
        Some(runtime) => loop_of_directory(&runtime.jobs, &runtime.snapshots, &directory).await,
        None => None,
    };
    let read = spawn_blocking(move || {
        let files = TicketFiles::of_directory(&app.sandbox, &directory)?;
        // Clients read `isRunning` from error bodies as well.
        files.directory_status().map_err(|reason| unreadable(reason).with("isRunning", false))
    });
    let status: DirectoryStatus = read.await??;
    Ok(Json(DirectoryStatus { latest_loop, ..status }))
}

/// Report the status of a ticket
#[utoipa::path(get, path = "/api/gateway/orchestrator/status/{ticketId}", operation_id = "ticket_status", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Id of the ticket, or slug or id of a loop"), RepositoryQuery),
    responses(
        (status = 200, body = TicketStatus, description = "Status of the ticket; also when it has no worktree"),
        TicketErrors,
        (status = 500, body = ErrorBody, description = "The state cannot be read"),
    ))]
async fn status(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<TicketStatus> {
    let repo = query.required("repo", "repo query parameter is required")?.to_owned();
    let latest_loop = match &app.runtime {
        Some(runtime) => loop_of_ticket(&runtime.jobs, &runtime.snapshots, &ticket).await,
        None => None,
    };
    let status = read_ticket(app, ticket, repo, |files| match files {
        None => Ok(TicketStatus::NOT_FOUND),
        Some(files) => {
            files.ticket_status().map_err(|reason| HttpError::operation("Failed to read status", &reason))
        }
    });
    Ok(Json(status.await?.with_loop(latest_loop)))
}

/// Return the end of a ticket's log
#[utoipa::path(get, path = "/api/gateway/orchestrator/logs/{ticketId}", operation_id = "ticket_logs", tag = "orchestrator",
    params(
        ("ticketId" = String, Path, description = "Id of the ticket, or slug or id of a loop"),
        RepositoryQuery,
        ("lines" = Option<u32>, Query, description = "Maximum number of lines, 1 to 10000; 100 when it is missing or invalid"),
    ),
    responses(
        (status = 200, body = LogTail, description = "The last lines, possibly none"),
        TicketErrors,
        (status = 500, body = ErrorBody, description = "The log cannot be read"),
    ))]
async fn logs(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<LogTail> {
    let repo = query.required("repo", "repo parameter is required")?.to_owned();
    let lines = line_count(query.get("lines"));
    let counts = app.line_counts.clone();
    let tail = read_ticket(app, ticket, repo, move |files| match files {
        None => Ok(LogTail::NOTHING),
        Some(files) => files.log_tail(lines, &counts).map_err(|error| unreadable(error.to_string())),
    });
    tail.await.map(Json)
}

/// Return the plan of a ticket
#[utoipa::path(get, path = "/api/gateway/orchestrator/plan/{ticketId}", operation_id = "ticket_plan", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Id of the ticket, or slug or id of a loop"), RepositoryQuery),
    responses(
        (status = 200, body = TicketPlan, description = "The plan"),
        TicketErrors,
        (status = 404, body = ErrorBody, description = "The ticket has no worktree, or no plan yet"),
        (status = 500, body = ErrorBody, description = "The plan is malformed"),
    ))]
async fn plan(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<TicketPlan> {
    let repo = query.required("repo", "repo query parameter is required")?.to_owned();
    // `exists` and `planExists` distinguish a missing worktree from a missing plan.
    let missing = |text: &str| HttpError::not_found(text).with("exists", false);
    let plan = read_ticket(app, ticket, repo, move |files| {
        let files = files.ok_or_else(|| missing("Worktree not found"))?;
        let plan = files.plan().map_err(|reason| HttpError::operation("Failed to read plan", &reason))?;
        plan.ok_or_else(|| missing("Plan not found yet").with("planExists", false))
    });
    plan.await.map(Json)
}

/// Return the judges' report of a ticket
#[utoipa::path(get, path = "/api/gateway/orchestrator/judges/{ticketId}", operation_id = "ticket_judges", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Id of the ticket, or slug or id of a loop"), RepositoryQuery),
    responses(
        (status = 200, body = JudgesReport, description = "The report, or that there is none yet"),
        TicketErrors,
        (status = 404, body = ErrorBody, description = "The ticket has no worktree"),
        (status = 500, body = ErrorBody, description = "The report cannot be read, or is not JSON"),
    ))]
async fn judges(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<JudgesReport> {
    let repo = query.required("repo", "repo query parameter is required")?.to_owned();
    let report = read_ticket(app, ticket, repo, |files| {
        let missing = || {
            let failure = HttpError::new(StatusCode::NOT_FOUND, "Worktree not found");
            failure.with("exists", false).with("isMock", false)
        };
        files.ok_or_else(missing)?.judges_report().map_err(|error| match error {
            JudgesError::Corrupted(reason) => HttpError::operation("Judges feedback is corrupted", &reason)
                .with("exists", true)
                .with("isMock", false),
            JudgesError::Unreadable(reason) => HttpError::operation("Failed to read judges data", &reason),
        })
    });
    report.await.map(Json)
}

/// Parameters that name the directories of a request.
const SOURCES: &[Source] = &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))];

pub(crate) fn directory_status_endpoint() -> Endpoint {
    Endpoint::new(routes!(directory_status), &[Source::Path(At::Query("workDir"))])
}

pub(crate) fn status_endpoint() -> Endpoint {
    Endpoint::new(routes!(status), SOURCES)
}

pub(crate) fn logs_endpoint() -> Endpoint {
    Endpoint::new(routes!(logs), SOURCES)
}

pub(crate) fn plan_endpoint() -> Endpoint {
    Endpoint::new(routes!(plan), SOURCES)
}

pub(crate) fn judges_endpoint() -> Endpoint {
    Endpoint::new(routes!(judges), SOURCES)
}

fn line_count(text: Option<&str>) -> usize {
    let lines = text.and_then(|text| text.parse::<u64>().ok()).filter(|lines| *lines > 0);
    lines.map_or(DEFAULT_LINES, |lines| usize::try_from(lines).unwrap_or(MAX_LINES).min(MAX_LINES))
}

fn unreadable(reason: impl AsRef<str>) -> HttpError {
    // The reason can contain paths and file contents.
    let reason = loopgate_api::redact::cause(reason.as_ref());
    HttpError::failed(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_count_defaults_to_a_hundred_when_invalid() {
        for (text, lines) in [
            ("7", 7),
            ("10000", 10_000),
            ("99999999999", 10_000),
            ("0", 100),
            ("-3", 100),
            ("x", 100),
            ("1.5", 100),
        ] {
            assert_eq!(line_count(Some(text)), lines, "{text}");
        }
        assert_eq!(line_count(None), 100);
    }
}
