//! `POST /api/gateway/deploy`: runs a worktree.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_deploy::{Deployment, Order};
use loopgate_home::SandboxedPath;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{WorktreeBody, belongs, candidates, store, stored};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::response::path_text;
use crate::route::Endpoint;

/// What to run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ticketId": "AB-1", "repoPath": "~/src/shop", "worktreePath": "~/src/worktrees/shop-AB-1"}))]
struct DeployBody {
    /// The ticket that it is for.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_id: Option<String>,
    /// Where it is run: a worktree of the clone, or the clone.
    #[serde(flatten)]
    place: WorktreeBody,
}

/// A run that was started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeployStarted, example = json!({"success": true, "pid": 4242, "logFile": "/home/sam/src/worktrees/shop-AB-1/.loopgate/work/deploy.log", "deployCommand": "pnpm dev", "deployType": "next", "repoName": "shop", "port": 3000}))]
pub(crate) struct StartedAnswer {
    success: bool,
    /// Of its group.
    pid: u32,
    log_file: String,
    deploy_command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    deploy_type: Option<String>,
    repo_name: String,
    /// The port that was chosen for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
}

/// Run a worktree
///
/// Answers at once; the install command and the command itself run in the background, and `deploy/status` tells how
/// they do. An earlier run of the worktree is ended first.
#[utoipa::path(post, path = "/api/gateway/deploy", operation_id = "deploy", tag = "deploy",
    request_body = DeployBody,
    responses(
        (status = 200, body = StartedAnswer, description = "It was started"),
        (status = 400, body = ErrorBody, description = "A member is missing, or nothing tells how it is run", example = json!(ErrorBody::new(400, "No deployment configuration detected for this repository"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "No such worktree", example = json!(ErrorBody::new(404, "Worktree not found: /home/sam/src/worktrees/shop-AB-1"))),
        (status = 500, body = ErrorBody, description = "It was not started", example = json!(ErrorBody::new(500, "Failed to start deployment: no port of this machine is free"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn deploy(State(app): State<App>, JsonBody(body): JsonBody<DeployBody>) -> JsonResult<StartedAnswer> {
    let missing = || HttpError::missing_field("ticketId, repoPath, and worktreePath are required");
    body.ticket_id.ok_or_else(missing)?;
    let (repository, worktree) = body.place.resolve(&app, missing).await?;
    let has_engine = app.deploys.has_engine().await;
    let (looking, repo, tree) = (app.clone(), repository.clone(), worktree.clone());
    let deployment = spawn_blocking(move || settings(&looking, &repo, &tree, has_engine)).await??;
    let command = deployment.command.clone().unwrap_or_default();
    let (kind, repo_name) = (deployment.kind.clone(), repository.base_name());
    let started = app.deploys.start(Order { repository, worktree, deployment }).await;
    let started = started.map_err(|error| HttpError::operation("Failed to start deployment", &error))?;
    Ok(Json(StartedAnswer {
        success: true,
        pid: started.pid,
        log_file: path_text(started.log),
        deploy_command: command,
        deploy_type: kind,
        repo_name,
        port: started.port,
    }))
}

/// How a worktree is run: as it is stored, else as it is detected there or in its clone; stored then.
fn settings(
    app: &App,
    repository: &SandboxedPath,
    worktree: &SandboxedPath,
    has_engine: bool,
) -> Result<Deployment, HttpError> {
    if !worktree.canonical().is_dir() {
        let text = format!("Worktree not found: {}", worktree.as_path().display());
        return Err(HttpError::new(StatusCode::NOT_FOUND, text));
    }
    if !belongs(app, worktree, repository) {
        return Err(HttpError::bad_request("worktreePath is no worktree of repoPath"));
    }
    let known = stored(app, repository)?.filter(|known| known.command.is_some());
    let detected = || {
        let found = candidates(worktree, has_engine).into_iter().chain(candidates(repository, has_engine));
        found.map(|found| found.config).next()
    };
    let deployment = known.or_else(detected).map(Deployment::completed);
    let deployment = deployment
        .ok_or_else(|| HttpError::bad_request("No deployment configuration detected for this repository"))?;
    store(app, repository, |members| deployment.merge_into(members))?;
    Ok(deployment)
}

/// Where its paths are checked, in the one way that all routes about a worktree share.
pub(super) async fn worktree_of(
    app: &App,
    body: WorktreeBody,
) -> Result<(SandboxedPath, SandboxedPath, Option<Deployment>), HttpError> {
    let missing = || HttpError::missing_field("repoPath and worktreePath are required");
    let (repository, worktree) = body.resolve(app, missing).await?;
    let (app, place) = (app.clone(), repository.clone());
    let deployment = spawn_blocking(move || stored(&app, &place)).await??;
    Ok((repository, worktree, deployment))
}

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(
        routes!(deploy),
        &[
            Source::Path(At::Body("repoPath")),
            Source::Path(At::Body("worktreePath")),
            Source::Ticket(At::Body("ticketId")),
        ],
    )
}
