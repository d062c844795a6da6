//! `GET /api/gateway/orchestrator/commit-message/{ticketId}`: what a commit of a ticket's work may
//! be called.

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

/// What a commit may be called.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CommitMessage {
    title: String,
    description: String,
    source: MessageSource,
}

/// Who wrote it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum MessageSource {
    /// The assistant, from the changes.
    Assistant,
    /// Nobody: there are no changes, or no answer.
    Default,
}

impl From<CommitText> for CommitMessage {
    fn from(CommitText { title, description, written }: CommitText) -> Self {
        let source = if written { MessageSource::Assistant } else { MessageSource::Default };
        Self { title, description, source }
    }
}

/// Have a commit message written
///
/// For the uncommitted changes in the ticket's worktree.
#[utoipa::path(get, path = "/api/gateway/orchestrator/commit-message/{ticketId}", operation_id = "commit_message", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket"), RepositoryQuery),
    responses(
        (status = 200, body = CommitMessage, description = "A message, a plain one when nothing better is known"),
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
        None => CommitText::plain(ticket),
    };
    Ok(Json(text.into()))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(routes!(write), &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))])
}
