//! `GET /api/gateway/deploy/status/{ticketId}` and `POST /api/gateway/deploy/extract-info`: status and URL of
//! a deployment.

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

/// Output of a deployment, to search for its URL.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "logs": "  Local:   http://localhost:5174/\n"}))]
struct ExtractBody {
    /// Clone of the repository, inside the sandbox.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Output of the start command; absent to use the stored port only.
    #[serde(default, deserialize_with = "lenient::any")]
    logs: Option<String>,
}

/// URL of a deployment, if known.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeployInfo, example = json!({"url": "http://localhost:5174/"}))]
pub(crate) struct InfoAnswer {
    /// URL of the server; null when neither the output nor the stored settings contain one.
    #[schema(required)]
    url: Option<String>,
}

/// Report the status of a ticket's deployment
#[utoipa::path(get, path = "/api/gateway/deploy/status/{ticketId}", operation_id = "deploy_status", tag = "deploy",
    params(
        ("ticketId" = String, Path, description = "Id of the ticket", example = "AB-1"),
        ("repo" = String, Query, description = "Path of the repository", example = "~/src/shop"),
        ("worktree" = Option<String>, Query, description = "Path of the deployed worktree; by default that of the ticket below the directories for worktrees", example = "~/src/worktrees/shop-AB-1"),
        ("pid" = Option<String>, Query, description = "`pid` from the response of `deploy`", example = "4242"),
    ),
    responses(
        (status = 200, body = DeployStatus, description = "Status of the deployment; also when it was never started"),
        (status = 400, body = ErrorBody, description = "Repository path missing", example = json!(ErrorBody::missing_field("repo query param is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
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
    let named = match query.get("worktree").filter(|path| !path.is_empty()) {
        Some(path) => Some(allowed(&app, path.to_owned()).await?),
        None => None,
    };
    let status = spawn_blocking(move || {
        let worktree = match named {
            Some(worktree) => Some(worktree),
            None => ticket_worktree(&app, &repository, &ticket)?,
        };
        Ok(match worktree {
            Some(worktree) => app.deploys.status(worktree.canonical(), pid),
            // A ticket without a worktree has no deployment; for clients that is a status, not an error.
            None => DeployStatus::not_started(pid),
        })
    });
    status.await?.map(Json)
}

/// Find the URL of a deployment
#[utoipa::path(post, path = "/api/gateway/deploy/extract-info", operation_id = "extract_deploy_info", tag = "deploy",
    request_body = ExtractBody,
    responses(
        (status = 200, body = InfoAnswer, description = "The URL at which the deployment with this output responds; else the last loopback URL in the output, or the URL of the stored port"),
        (status = 400, body = ErrorBody, description = "Repository path missing", example = json!(ErrorBody::missing_field("repoPath is required"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn extract_info(
    State(app): State<App>,
    JsonBody(body): JsonBody<ExtractBody>,
) -> JsonResult<InfoAnswer> {
    let repository = body.repo_path.ok_or_else(|| HttpError::missing_field("repoPath is required"))?;
    let repository = allowed(&app, repository).await?;
    let url = spawn_blocking(move || {
        let logs = body.logs.unwrap_or_default();
        // The output may contain several URLs, or none. The output takes precedence over the stored port: servers
        // choose another port when theirs is in use.
        let known = app.deploys.url_of_output(repository.canonical(), &logs).or_else(|| local_url(&logs));
        let settings = stored_settings(&app, &repository)?;
        let port = settings.and_then(|settings| settings.port);
        Ok::<_, HttpError>(known.or_else(|| port.map(|port| format!("http://localhost:{port}"))))
    });
    Ok(Json(InfoAnswer { url: url.await?? }))
}

pub(crate) fn status_endpoint() -> Endpoint {
    Endpoint::new(
        routes!(status),
        &[
            Source::Path(At::Query("repo")),
            Source::Path(At::Query("worktree")),
            Source::Ticket(At::Segment("ticketId")),
            Source::Process(At::Query("pid")),
        ],
    )
}

pub(crate) fn extract_endpoint() -> Endpoint {
    Endpoint::new(routes!(extract_info), &[Source::Path(At::Body("repoPath"))])
}
