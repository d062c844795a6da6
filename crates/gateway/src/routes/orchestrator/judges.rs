//! `GET /api/gateway/orchestrator/judges/{ticketId}`: what the judges of a ticket said.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use utoipa_axum::routes;

use crate::answer::{Answer, Failure};
use crate::app::App;
use crate::approval::{At, Source};
use crate::extract::{QueryMembers, TicketPath};
use crate::router::Route;
use crate::ticket_files::judges::{Judgement, Unjudged};

use super::described::{OfRepository, Unread};
use super::read_ticket;

/// What the judges of a ticket said
#[utoipa::path(get, path = "/api/gateway/orchestrator/judges/{ticketId}", operation_id = "ticket_judges", tag = "orchestrator",
    params(("ticketId" = String, Path, description = "Ticket, or slug or id of a loop"), OfRepository),
    responses(
        (status = 200, body = Judgement, description = "Their report, or that there is none yet"),
        Unread,
        (status = 404, body = ErrorBody, description = "No worktree"),
        (status = 500, body = ErrorBody, description = "The report cannot be read, or is no JSON"),
    ))]
async fn read(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> Answer<Judgement> {
    let repo = query.required("repo", "repo query parameter is required")?.to_owned();
    let judgement = read_ticket(app, ticket, repo, |files| {
        let missing = || {
            let failure = Failure::new(StatusCode::NOT_FOUND, "Worktree not found");
            failure.with("exists", false).with("isMock", false)
        };
        files.ok_or_else(missing)?.judgement().map_err(|unjudged| match unjudged {
            Unjudged::Corrupted(reason) => Failure::operation("Judges feedback is corrupted", &reason)
                .with("exists", true)
                .with("isMock", false),
            Unjudged::Unreadable(reason) => Failure::operation("Failed to read judges data", &reason),
        })
    });
    judgement.await.map(Json)
}

pub(crate) fn route() -> Route {
    Route::new(
        routes!(read),
        OperationId::OrchestratorJudges,
        &[Source::Path(At::Query("repo")), Source::Ticket(At::Segment("ticketId"))],
    )
}
