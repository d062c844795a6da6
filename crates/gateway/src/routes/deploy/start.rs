//! `POST /api/gateway/deploy`: starts a worktree's server.

use axum::Json;
use axum::extract::State;
use futures_util::future::BoxFuture;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_deploy::{DeployRequest, Deployment};
use loopgate_home::SandboxedPath;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{WorktreeBody, candidates, check_worktree_of, stored_settings, update_settings};
use crate::app::App;
use crate::approval::{At, RequestValues, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::response::path_text;
use crate::route::Endpoint;

/// Worktree to run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ticketId": "AB-1", "repoPath": "~/src/shop", "worktreePath": "~/src/worktrees/shop-AB-1"}))]
struct DeployBody {
    /// Ticket of the worktree.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_id: Option<String>,
    /// A worktree of the clone, or the clone.
    #[serde(flatten)]
    paths: WorktreeBody,
}

/// A run that was started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeployStarted, example = json!({"success": true, "pid": 4242, "logFile": "/home/sam/src/worktrees/shop-AB-1/.loopgate/work/deploy.log", "deployCommand": "pnpm dev", "deployType": "next", "repoName": "shop", "port": 3000}))]
pub(crate) struct DeployAnswer {
    success: bool,
    /// Leader of its process group.
    pid: u32,
    /// Absolute path of the log.
    log_file: String,
    /// Start command.
    deploy_command: String,
    /// `type` of its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    deploy_type: Option<String>,
    /// Name of the clone's directory.
    repo_name: String,
    /// The port that was allocated for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
}

/// Run a worktree
///
/// Answers at once. The install command and the start command run in the background; `deploy/status` reports their
/// progress. An earlier run of the worktree is ended first.
#[utoipa::path(post, path = "/api/gateway/deploy", operation_id = "deploy", tag = "deploy",
    request_body = DeployBody,
    responses(
        (status = 200, body = DeployAnswer, description = "It was started"),
        (status = 400, body = ErrorBody, description = "A member is missing, or no start command is stored or detected", example = json!(ErrorBody::new(400, "No deployment configuration detected for this repository"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "No such worktree", example = json!(ErrorBody::new(404, "Worktree not found: /home/sam/src/worktrees/shop-AB-1"))),
        (status = 500, body = ErrorBody, description = "It was not started", example = json!(ErrorBody::new(500, "Failed to start deployment: no port of this machine is free"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn deploy(State(app): State<App>, JsonBody(body): JsonBody<DeployBody>) -> JsonResult<DeployAnswer> {
    let missing = || HttpError::missing_field("ticketId, repoPath, and worktreePath are required");
    body.ticket_id.ok_or_else(missing)?;
    let (repository, worktree) = body.paths.resolve(&app, missing).await?;
    let has_engine = app.deploys.has_engine().await;
    let (this, repo, tree) = (app.clone(), repository.clone(), worktree.clone());
    let found = spawn_blocking(move || {
        let deployment = find_settings(&this, &repo, &tree, has_engine)?;
        update_settings(&this, &repo, |members| deployment.merge_into(members))?;
        Ok::<_, HttpError>(deployment)
    });
    let deployment = found.await??;
    let command = deployment.command.clone().unwrap_or_default();
    let (kind, repo_name) = (deployment.kind.clone(), repository.base_name());
    let started = app.deploys.start(DeployRequest { repository, worktree, deployment }).await;
    let handle = started.map_err(|error| HttpError::operation("Failed to start deployment", &error))?;
    Ok(Json(DeployAnswer {
        success: true,
        pid: handle.pid,
        log_file: path_text(handle.log),
        deploy_command: command,
        deploy_type: kind,
        repo_name,
        port: handle.port,
    }))
}

/// The settings of a run: the stored ones, else those that are detected in the worktree, else in its clone.
fn find_settings(
    app: &App,
    repository: &SandboxedPath,
    worktree: &SandboxedPath,
    has_engine: bool,
) -> Result<Deployment, HttpError> {
    if !worktree.canonical().is_dir() {
        let text = format!("Worktree not found: {}", worktree.as_path().display());
        return Err(HttpError::new(StatusCode::NOT_FOUND, text));
    }
    check_worktree_of(app, worktree, repository)?;
    let known = stored_settings(app, repository)?.filter(|known| known.command.is_some());
    let detected = || {
        let found = candidates(worktree, has_engine).into_iter().chain(candidates(repository, has_engine));
        found.map(|found| found.config).next()
    };
    let deployment = known.or_else(detected).map(Deployment::completed);
    deployment
        .ok_or_else(|| HttpError::bad_request("No deployment configuration detected for this repository"))
}

/// The commands that a request would run, shown for its approval.
fn preview(app: App, values: RequestValues) -> BoxFuture<'static, Option<String>> {
    Box::pin(async move {
        let has_engine = app.deploys.has_engine().await;
        let found = spawn_blocking(move || {
            let path = |name| app.sandbox.check(*values.texts(At::Body(name)).first()?).ok();
            find_settings(&app, &path("repoPath")?, &path("worktreePath")?, has_engine).ok()
        });
        let deployment = found.await.ok()??;
        let install = deployment.install_command.map(|command| format!("installCommand={command}"));
        let start = deployment.command.map(|command| format!("command={command}"));
        Some(install.into_iter().chain(start).collect::<Vec<_>>().join(", "))
    })
}

/// The checked paths of a request about a worktree, and the stored settings of the repository. A worktree that was
/// removed is accepted, since its run may be left.
pub(super) async fn worktree_of(
    app: &App,
    body: WorktreeBody,
) -> Result<(SandboxedPath, SandboxedPath, Option<Deployment>), HttpError> {
    let missing = || HttpError::missing_field("repoPath and worktreePath are required");
    let (repository, worktree) = body.resolve(app, missing).await?;
    let (app, repo, tree) = (app.clone(), repository.clone(), worktree.clone());
    let deployment = spawn_blocking(move || {
        if tree.canonical().is_dir() {
            check_worktree_of(&app, &tree, &repo)?;
        }
        stored_settings(&app, &repo)
    });
    Ok((repository, worktree, deployment.await??))
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
    .with_action_preview(preview)
}
