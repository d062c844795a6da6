//! `GET /api/gateway/deploy/status/{ticketId}` and `POST /api/gateway/deploy/extract-info`: the status and the URL of a run.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_deploy::{DeployStatus, local_url};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{allowed, leading_integer, stored_settings};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, QueryMembers, TicketPath};
use crate::lenient;
use crate::route::Endpoint;
use crate::routes::directory::ticket_worktree;

/// Log of a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "logs": "  Local:   http://localhost:5174/\n"}))]
struct ExtractBody {
    /// Clone of the repository, inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Output of the run.
    #[serde(default, deserialize_with = "lenient::any")]
    logs: Option<String>,
}

/// URL of a run.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeployInfo, example = json!({"url": "http://localhost:5174/"}))]
pub(crate) struct InfoAnswer {
    /// Null when neither the log nor the settings name one.
    #[schema(required)]
    url: Option<String>,
}

/// Report the status of a ticket's deploy
#[utoipa::path(get, path = "/api/gateway/deploy/status/{ticketId}", operation_id = "deploy_status", tag = "deploy",
    params(
        ("ticketId" = String, Path, description = "Ticket", example = "AB-1"),
        ("repo" = String, Query, description = "Path of the repository", example = "~/src/shop"),
        ("pid" = Option<String>, Query, description = "`pid` of the answer of `deploy`", example = "4242"),
    ),
    responses(
        (status = 200, body = DeployStatus, description = "The status, also when it was never started"),
        (status = 400, body = ErrorBody, description = "No repository given", example = json!(ErrorBody::missing_field("repo query param is required"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn status(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<DeployStatus> {
    let repository = query.required("repo", "repo query param is required")?.to_owned();
    let pid = query
        .get("pid")
        .and_then(leading_integer)
        .and_then(|pid| u32::try_from(pid).ok())
        .filter(|pid| *pid > 0);
    let repository = allowed(&app, repository).await?;
    let status = spawn_blocking(move || {
        let worktree = ticket_worktree(&app, &repository, &ticket)?;
        Ok(match worktree {
            Some(worktree) => app.deploys.status(worktree.canonical(), pid),
            None => DeployStatus::not_started(pid),
        })
    });
    status.await?.map(Json)
}

/// Find the URL of a run
#[utoipa::path(post, path = "/api/gateway/deploy/extract-info", operation_id = "extract_deploy_info", tag = "deploy",
    request_body = ExtractBody,
    responses(
        (status = 200, body = InfoAnswer, description = "The last URL of this machine in the log, else that of the stored port"),
        (status = 400, body = ErrorBody, description = "No repository given", example = json!(ErrorBody::missing_field("repoPath is required"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn extract_info(
    State(app): State<App>,
    JsonBody(body): JsonBody<ExtractBody>,
) -> JsonResult<InfoAnswer> {
    let repository = body.repo_path.ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let repository = allowed(&app, repository).await?;
    let logged = body.logs.as_deref().and_then(local_url);
    let known = spawn_blocking(move || stored_settings(&app, &repository)).await??;
    let stored = known.and_then(|known| known.port).map(|port| format!("http://localhost:{port}"));
    Ok(Json(InfoAnswer { url: logged.or(stored) }))
}

pub(crate) fn status_endpoint() -> Endpoint {
    Endpoint::new(
        routes!(status),
        &[
            Source::Path(At::Query("repo")),
            Source::Ticket(At::Segment("ticketId")),
            Source::Process(At::Query("pid")),
        ],
    )
}

pub(crate) fn extract_endpoint() -> Endpoint {
    Endpoint::new(routes!(extract_info), &[Source::Path(At::Body("repoPath"))])
}
