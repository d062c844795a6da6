//! `POST /api/gateway/orchestrator/launch`: starts the loop script for a ticket in its worktree.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_api::names::{LAUNCH_LOG, PRD_MD, WORK_DIR};
use loopgate_home::expand_home;
use loopgate_runtime::{TicketLaunchError, TicketLaunchRequest, TicketText};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::route::Endpoint;

use super::runtime::runtime_of;

const PATH: &str = "/api/gateway/orchestrator/launch";

/// The ticket to launch.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct LaunchBody {
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_identifier: Option<String>,
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Branch to start from; the remote's default branch when it is missing or not a valid branch name.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    base_branch: Option<String>,
    #[serde(default, deserialize_with = "lenient::any")]
    ticket: Option<LaunchTicket>,
}

/// Content of the ticket, written to the file from which the loop script works.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct LaunchTicket {
    #[serde(default, deserialize_with = "lenient::non_blank")]
    title: Option<String>,
    #[serde(default, deserialize_with = "lenient::non_blank")]
    identifier: Option<String>,
    #[serde(default, deserialize_with = "lenient::non_blank")]
    url: Option<String>,
    #[serde(default, deserialize_with = "lenient::non_blank")]
    description: Option<String>,
    #[serde(default, deserialize_with = "lenient::non_blank")]
    additional_context: Option<String>,
    #[serde(default, deserialize_with = "lenient::non_blank")]
    issue_id: Option<String>,
    /// Paths of further repositories, named in the ticket's text.
    #[schema(value_type = Option<Vec<String>>)]
    #[serde(default, deserialize_with = "lenient::elements")]
    context_repo_paths: Vec<String>,
    /// Files that the ticket mentions.
    #[schema(value_type = Option<Vec<MentionedFile>>)]
    #[serde(default, deserialize_with = "lenient::elements")]
    mentioned_files: Vec<MentionedFile>,
}

/// A file that the ticket mentions.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MentionedFile {
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Path relative to that repository.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    file_path: Option<String>,
}

/// The launched ticket.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LaunchAnswer {
    success: bool,
    ticket_id: String,
    branch_name: String,
    worktree_path: String,
    /// Pid of the loop script; null when the script is not installed.
    #[schema(required)]
    pid: Option<u32>,
    log_file: String,
    /// Path of the file with the ticket's text. Written only if a text was sent.
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

/// Launch a ticket
///
/// Creates the worktree if it does not exist. The loop script keeps running when the client disconnects and
/// when Loopgate exits.
#[utoipa::path(post, path = "/api/gateway/orchestrator/launch", operation_id = "launch", tag = "orchestrator",
    request_body = LaunchBody,
    responses(
        (status = 200, body = LaunchAnswer, description = "The script is running, or no script is installed"),
        (status = 400, body = ErrorBody, description = "Ticket or repository path missing"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 409, body = ErrorBody, description = "Another request is launching the ticket"),
        (status = 500, body = ErrorBody, description = "The ticket could not be launched"),
    ))]
async fn launch(State(app): State<App>, JsonBody(body): JsonBody<LaunchBody>) -> JsonResult<LaunchAnswer> {
    let missing = |name| HttpError::missing_field(format!("{name} is required and must be a string"));
    let ticket = TicketId::new(body.ticket_identifier.ok_or_else(|| missing("ticketIdentifier"))?);
    let repo = body.repo_path.ok_or_else(|| missing("repoPath"))?;
    // An invalid branch name counts as absent, like every member of the wrong form.
    let base_branch = body.base_branch.and_then(|name| name.trim().parse().ok());
    let mut content = body.ticket;
    let request = {
        let (app, ticket) = (app.clone(), ticket.clone());
        spawn_blocking(move || {
            let allowed =
                |path: &str| app.sandbox.check(path).map_err(|_| HttpError::directory_not_allowed());
            let repository = allowed(&repo)?;
            let issue_id = content.as_mut().and_then(|ticket| ticket.issue_id.take());
            let text = content.map(TicketText::from);
            // The assistant is pointed to these repositories, so each must be inside the sandbox.
            for path in text.iter().flat_map(|text| &text.context) {
                allowed(&path.to_string_lossy())?;
            }
            // Mentioned files are not checked here: rendering the text omits paths that leave their
            // repository.
            Ok::<_, HttpError>(TicketLaunchRequest { repository, ticket, base_branch, text, issue_id })
        })
        .await??
    };
    let launched = runtime_of(&app, PATH)?.tickets.launch(request).await?;
    let work_dir = launched.worktree.join(WORK_DIR);
    let path_text = |path: PathBuf| path.to_string_lossy().into_owned();
    Ok(Json(LaunchAnswer {
        success: true,
        ticket_id: ticket.as_str().to_owned(),
        branch_name: launched.branch,
        worktree_path: path_text(launched.worktree),
        pid: launched.pid,
        log_file: path_text(work_dir.join(LAUNCH_LOG)),
        // Reported even without a text: the file can exist from an earlier launch.
        prd_file: path_text(work_dir.join(PRD_MD)),
        base_branch: launched.base_branch,
        parent_ticket_id: launched.parent_ticket_id,
        already_running: launched.already_running,
        warning: launched.pid.is_none().then_some("loop script not installed"),
    }))
}

impl From<LaunchTicket> for TicketText {
    fn from(ticket: LaunchTicket) -> Self {
        let file =
            |file: MentionedFile| Some((expand_home(&file.repo_path?), PathBuf::from(file.file_path?)));
        Self {
            title: ticket.title,
            identifier: ticket.identifier,
            url: ticket.url,
            description: ticket.description,
            additional: ticket.additional_context,
            context: ticket.context_repo_paths.iter().map(expand_home).collect(),
            files: ticket.mentioned_files.into_iter().filter_map(file).collect(),
        }
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
