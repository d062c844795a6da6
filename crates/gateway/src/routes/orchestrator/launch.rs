//! `POST /api/gateway/orchestrator/launch`: starts the loop script of a ticket in its worktree.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_api::names::{LAUNCH_LOG, PRD_MD, WORK_DIR};
use loopgate_home::expand_home;
use loopgate_runtime::{TicketLaunchError, TicketLaunchRequest, TicketText};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonMembers;
use crate::route::Endpoint;

use super::runtime::runtime_of;

const PATH: &str = "/api/gateway/orchestrator/launch";

/// What to launch.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read member by member")]
struct LaunchBody {
    ticket_identifier: String,
    repo_path: String,
    /// Branch to begin at; the remote's default one otherwise.
    base_branch: Option<String>,
    ticket: Option<LaunchTicket>,
}

/// What the page knows of the ticket.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes a member in the OpenAPI document; it is read member by member")]
struct LaunchTicket {
    title: Option<String>,
    identifier: Option<String>,
    url: Option<String>,
    description: Option<String>,
    additional_context: Option<String>,
    issue_id: Option<String>,
    /// Further repositories.
    context_repo_paths: Option<Vec<String>>,
    /// Files that the ticket speaks of.
    mentioned_files: Option<Vec<MentionedFile>>,
}

/// A file that a ticket speaks of.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes a member in the OpenAPI document; it is read member by member")]
struct MentionedFile {
    repo_path: String,
    /// Within that repository.
    file_path: String,
}

/// A ticket that is worked on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LaunchAnswer {
    success: bool,
    ticket_id: String,
    branch_name: String,
    worktree_path: String,
    /// Null when no script is installed.
    #[schema(required)]
    pid: Option<u32>,
    log_file: String,
    /// Where the ticket's text lies, when one was sent.
    prd_file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_ticket_id: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    already_running: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "loop script not installed")]
    warning: Option<&'static str>,
}

/// Work on a ticket
///
/// Makes its worktree where it is missing. The script goes on without the caller, and without
/// Loopgate.
#[utoipa::path(post, path = "/api/gateway/orchestrator/launch", operation_id = "launch", tag = "orchestrator",
    request_body = LaunchBody,
    responses(
        (status = 200, body = LaunchAnswer, description = "It runs, now or before"),
        (status = 400, body = ErrorBody, description = "No ticket or no repository"),
        (status = 403, body = ErrorBody, description = "A path outside the sandbox"),
        (status = 409, body = ErrorBody, description = "It is being launched"),
        (status = 500, body = ErrorBody, description = "It could not be launched"),
    ))]
async fn launch(State(app): State<App>, body: JsonMembers) -> JsonResult<LaunchAnswer> {
    let required = |name: &str| {
        let missing = || HttpError::bad_request(format!("{name} is required and must be a string"));
        body.words(name).map(str::to_owned).ok_or_else(missing)
    };
    let (ticket, repo) = (required("ticketIdentifier")?, required("repoPath")?);
    let about = body.value("ticket").filter(|ticket| ticket.is_object()).cloned();
    // What is no name of a branch is as if missing.
    let base_branch = body.words("baseBranch").and_then(|name| name.trim().parse().ok());
    let ticket = TicketId::new(ticket);
    let request = {
        let (app, ticket) = (app.clone(), ticket.clone());
        spawn_blocking(move || {
            let allowed =
                |path: &str| app.sandbox.check(path).map_err(|_| HttpError::directory_not_allowed());
            let repository = allowed(&repo)?;
            let text = about.as_ref().map(text_of);
            for path in text.iter().flat_map(|text| &text.context) {
                allowed(&path.to_string_lossy())?;
            }
            let issue_id = about.as_ref().and_then(|ticket| words(ticket, "issueId"));
            Ok::<_, HttpError>(TicketLaunchRequest { repository, ticket, base_branch, text, issue_id })
        })
        .await??
    };
    let launched = runtime_of(&app, PATH)?.tickets.launch(request).await?;
    let work_dir = launched.worktree.join(WORK_DIR);
    let shown = |path: PathBuf| path.to_string_lossy().into_owned();
    Ok(Json(LaunchAnswer {
        success: true,
        ticket_id: ticket.as_str().to_owned(),
        branch_name: launched.branch,
        worktree_path: shown(launched.worktree),
        pid: launched.pid,
        log_file: shown(work_dir.join(LAUNCH_LOG)),
        prd_file: shown(work_dir.join(PRD_MD)),
        base_branch: launched.base_branch,
        parent_ticket_id: launched.parent_ticket_id,
        already_running: launched.already_running,
        warning: launched.pid.is_none().then_some("loop script not installed"),
    }))
}

/// A member that is a string with something in it.
fn words(ticket: &Value, name: &str) -> Option<String> {
    ticket[name].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// What a ticket says; members of another type are passed over.
fn text_of(ticket: &Value) -> TicketText {
    let elements = |name: &str| ticket[name].as_array().into_iter().flatten();
    let file = |file: &Value| {
        let (repo, path) = (words(file, "repoPath")?, words(file, "filePath")?);
        Some((expand_home(&repo), PathBuf::from(path)))
    };
    TicketText {
        title: words(ticket, "title"),
        identifier: words(ticket, "identifier"),
        url: words(ticket, "url"),
        description: words(ticket, "description"),
        additional: words(ticket, "additionalContext"),
        context: elements("contextRepoPaths").filter_map(Value::as_str).map(expand_home).collect(),
        files: elements("mentionedFiles").filter_map(file).collect(),
    }
}

impl From<TicketLaunchError> for HttpError {
    fn from(error: TicketLaunchError) -> Self {
        match error {
            TicketLaunchError::NotAllowed => Self::directory_not_allowed(),
            TicketLaunchError::InProgress => Self::new(StatusCode::CONFLICT, error.to_string()),
            TicketLaunchError::NotStarted => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
            TicketLaunchError::Failed(reason) => Self::operation("Failed to launch Orchestrator", &reason),
        }
    }
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(launch),
        &[
            Source::Path(At::Body("repoPath")),
            Source::Path(At::Body("ticket.contextRepoPaths.*")),
            Source::Path(At::Body("ticket.mentionedFiles.*.repoPath")),
            Source::Ticket(At::Body("ticketIdentifier")),
        ],
    )
}
