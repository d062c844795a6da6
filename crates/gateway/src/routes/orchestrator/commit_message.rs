//! `GET /api/gateway/orchestrator/commit-message/{ticketId}`: generates a commit message for the work on a
//! ticket.

use axum::Json;
use axum::extract::State;
use loopgate_runtime::CommitText;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::error::JsonResult;
use crate::extract::{QueryMembers, TicketPath};
use crate::route::Endpoint;
use crate::routes::directory::TicketReference;

use super::params::{RepositoryQuery, TicketErrors};
use super::runtime::runtime_of;

const PATH: &str = "/api/gateway/orchestrator/commit-message/{ticketId}";

/// A generated commit message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CommitMessage {
    title: String,
    description: String,
    source: MessageSource,
}

/// Origin of a commit message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum MessageSource {
    /// Written by the assistant from the changes.
    Assistant,
    /// A default: there are no changes, or the assistant did not respond.
    Default,
}

impl From<CommitText> for CommitMessage {
    fn from(CommitText { title, description, written }: CommitText) -> Self {
        let source = if written { MessageSource::Assistant } else { MessageSource::Default };
        Self { title, description, source }
    }
}

/// Generate a commit message
///
/// Covers the uncommitted changes in the ticket's worktree.
#[utoipa::path(get, path = "/api/gateway/orchestrator/commit-message/{ticketId}", operation_id = "commit_message", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Id of the ticket"), RepositoryQuery),
    responses(
        (status = 200, body = CommitMessage, description = "The generated message, or a default one"),
        TicketErrors,
    ))]
async fn write(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<CommitMessage> {
    let repo = query.required("repo", "repo query parameter is required")?.to_owned();
    let reference = TicketReference { ticket, repo };
    let (_, worktree) = reference.resolve(&app).await?;
    let ticket = &reference.ticket;
    let text = match worktree {
        Some(worktree) => runtime_of(&app, PATH)?.commit_texts.write(worktree.canonical(), ticket).await,
        // Without a worktree there are no changes for the assistant to describe.
        None => CommitText::plain(ticket),
    };
    Ok(Json(text.into()))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(write), &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))])
}
