//! `/api/gateway/orchestrator/status`, `logs`, `plan` and `judges`: what a ticket's worktree says.

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

const LINES_DEFAULT: usize = 100;
const MAX_LINES: usize = 10_000;

/// Whether work goes on in a directory
#[utoipa::path(get, path = "/api/gateway/orchestrator/status", operation_id = "directory_status", tag = "orchestrator",
    params(("workDir" = String, Query, description = "Directory that holds `.loopgate/work`")),
    responses(
        (status = 200, body = DirectoryStatus, description = "What its state says"),
        (status = 400, body = ErrorBody, description = "No directory given"),
        (status = 403, body = ErrorBody, description = "Outside the sandbox"),
        (status = 500, body = ErrorBody, description = "The state cannot be read"),
    ))]
async fn directory_status(State(app): State<App>, query: QueryMembers) -> JsonResult<DirectoryStatus> {
    let directory = query.required("workDir", "workDir parameter is required")?.to_owned();
    let latest_loop = match &app.runtime {
        Some(runtime) => loop_of_directory(&runtime.jobs, &runtime.snapshots, &directory).await,
        None => None,
    };
    let read = spawn_blocking(move || {
        let files = TicketFiles::of_directory(&app.sandbox, &directory)?;
        files.directory_status().map_err(|reason| unreadable(reason).with("isRunning", false))
    });
    let status: DirectoryStatus = read.await??;
    Ok(Json(DirectoryStatus { latest_loop, ..status }))
}

/// How a ticket stands
#[utoipa::path(get, path = "/api/gateway/orchestrator/status/{ticketId}", operation_id = "ticket_status", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket, or slug or id of a loop"), RepositoryQuery),
    responses(
        (status = 200, body = TicketStatus, description = "Its status, also when there is no worktree"),
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

/// The end of a ticket's log
#[utoipa::path(get, path = "/api/gateway/orchestrator/logs/{ticketId}", operation_id = "ticket_logs", tag = "orchestrator",
    params(
        ("ticketId" = String, Path, description = "Ticket, or slug or id of a loop"),
        RepositoryQuery,
        ("lines" = Option<u32>, Query, description = "Lines at most, 1 to 10000; 100 when it is missing or something else"),
    ),
    responses(
        (status = 200, body = LogTail, description = "The last lines, also when there are none"),
        TicketErrors,
        (status = 500, body = ErrorBody, description = "The log cannot be read"),
    ))]
async fn logs(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<LogTail> {
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
    params(("ticketId" = String, Path, description = "Ticket, or slug or id of a loop"), RepositoryQuery),
    responses(
        (status = 200, body = TicketPlan, description = "The plan"),
        TicketErrors,
        (status = 404, body = ErrorBody, description = "No worktree, or no plan yet"),
        (status = 500, body = ErrorBody, description = "The plan is malformed"),
    ))]
async fn plan(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<TicketPlan> {
    let repo = query.required("repo", "repo query parameter is required")?.to_owned();
    let missing = |text: &str| HttpError::not_found(text).with("exists", false);
    let plan = read_ticket(app, ticket, repo, move |files| {
        let files = files.ok_or_else(|| missing("Worktree not found"))?;
        let plan = files.plan().map_err(|reason| HttpError::operation("Failed to read plan", &reason))?;
        plan.ok_or_else(|| missing("Plan not found yet").with("planExists", false))
    });
    plan.await.map(Json)
}

/// What the judges of a ticket said
#[utoipa::path(get, path = "/api/gateway/orchestrator/judges/{ticketId}", operation_id = "ticket_judges", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket, or slug or id of a loop"), RepositoryQuery),
    responses(
        (status = 200, body = JudgesReport, description = "Their report, or that there is none yet"),
        TicketErrors,
        (status = 404, body = ErrorBody, description = "No worktree"),
        (status = 500, body = ErrorBody, description = "The report cannot be read, or is no JSON"),
    ))]
async fn judges(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<JudgesReport> {
    let repo = query.required("repo", "repo query parameter is required")?.to_owned();
    let judgement = read_ticket(app, ticket, repo, |files| {
        let missing = || {
            let failure = HttpError::new(StatusCode::NOT_FOUND, "Worktree not found");
            failure.with("exists", false).with("isMock", false)
        };
        files.ok_or_else(missing)?.judges_report().map_err(|unjudged| match unjudged {
            JudgesError::Corrupted(reason) => HttpError::operation("Judges feedback is corrupted", &reason)
                .with("exists", true)
                .with("isMock", false),
            JudgesError::Unreadable(reason) => HttpError::operation("Failed to read judges data", &reason),
        })
    });
    judgement.await.map(Json)
}

/// Where requests name what they are about.
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

fn lines_wanted(text: Option<&str>) -> usize {
    let wanted = text.and_then(|text| text.parse::<u64>().ok()).filter(|lines| *lines > 0);
    wanted.map_or(LINES_DEFAULT, |lines| usize::try_from(lines).unwrap_or(MAX_LINES).min(MAX_LINES))
}

fn unreadable(reason: impl AsRef<str>) -> HttpError {
    let reason = loopgate_api::redact::cause(reason.as_ref());
    HttpError::failed(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_line_count_means_a_hundred() {
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
