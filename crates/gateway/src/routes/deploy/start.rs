//! `POST /api/gateway/deploy`: starts the server of a worktree.

use axum::Json;
use axum::extract::State;
use futures_util::future::BoxFuture;
use http::StatusCode;
use loopgate_api::error::ErrorBody;
use loopgate_deploy::{Candidate, DeployRequest, Deployment, PLACES};
use loopgate_home::SandboxedPath;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::detection::CandidateAnswer;
use super::{
    WorktreeBody, candidates, check_worktree_of, clone_of, deploy_error, stored_settings, update_settings,
};
use crate::app::App;
use crate::approval::{At, RequestValues, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::lenient;
use crate::response::path_text;
use crate::route::Endpoint;

/// The worktree to deploy.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"ticketId": "AB-1", "repoPath": "~/src/shop", "worktreePath": "~/src/worktrees/shop-AB-1"}))]
struct DeployBody {
    /// Id of the worktree's ticket.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_id: Option<String>,
    /// The repository, and one of its worktrees or the clone itself.
    #[serde(flatten)]
    paths: WorktreeBody,
}

/// A deployment that was started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeployStarted, example = json!({"success": true, "pid": 4242, "logFile": "/home/sam/src/worktrees/shop-AB-1/.loopgate/work/deploy.log", "deployCommand": "pnpm dev", "deployType": "next", "repoName": "shop", "port": 3000}))]
pub(crate) struct DeployAnswer {
    success: bool,
    /// Pid of the server's process, which leads its process group.
    pid: u32,
    /// Absolute path of the log file.
    log_file: String,
    /// Start command that is run.
    deploy_command: String,
    /// `type` of the deployment settings; absent when unset.
    #[serde(skip_serializing_if = "Option::is_none")]
    deploy_type: Option<String>,
    /// Directory name of the clone.
    repo_name: String,
    /// Allocated port; absent when the server has none. The server may listen on another one, which
    /// `deploy/status` reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    /// Directory of the commands, relative to the worktree; absent when it is the worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
    /// Other ways to run the worktree that this request has detected; absent when the settings are stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    alternatives: Vec<CandidateAnswer>,
}

/// Deploy a worktree
///
/// Returns without waiting for the server. The install command and the start command run in the background;
/// `deploy/status` reports their progress. A previous deployment of the same worktree is stopped first.
#[utoipa::path(post, path = "/api/gateway/deploy", operation_id = "deploy", tag = "deploy",
    request_body = DeployBody,
    responses(
        (status = 200, body = DeployAnswer, description = "The deployment was started"),
        (status = 400, body = ErrorBody, description = "Member missing, not a worktree of the repository, or no start command stored or detected", example = json!(ErrorBody::new(400, "No deployment configuration detected for this repository: looked at its root, in the packages of its workspaces, and in apps/*, packages/*, frontend, web, client, backend, server for package.json, Procfile, manage.py, main.py, app.py, server.py, Cargo.toml, Makefile or index.html, and at the root for a Compose file or a Dockerfile. Set `command` of its `deployment` in ~/src/.loopgate/config/repos.json, and `directory` if the command does not run at the root; see \"Start command\" in docs/deployments.md"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox, or the user has not agreed to the commands (`command_not_trusted`)", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The worktree does not exist", example = json!(ErrorBody::new(404, "Worktree not found: /home/sam/src/worktrees/shop-AB-1"))),
        (status = 500, body = ErrorBody, description = "The deployment could not be started", example = json!(ErrorBody::new(500, "Failed to start deployment: no port of this machine is free"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn deploy(State(app): State<App>, JsonBody(body): JsonBody<DeployBody>) -> JsonResult<DeployAnswer> {
    // Only validated here: the worktree identifies the deployment, and the approval reads the id from the
    // body.
    let missing = || HttpError::missing_field("ticketId, repoPath, and worktreePath are required");
    body.ticket_id.ok_or_else(missing)?;
    let (repository, worktree) = body.paths.resolve(&app, missing).await?;
    let has_engine = app.deploys.has_engine().await;
    let (this, repo, tree) = (app.clone(), repository.clone(), worktree.clone());
    let settings = spawn_blocking(move || {
        let (deployment, alternatives) = find_settings(&this, &repo, &tree, has_engine)?;
        // Stored before the start: `teardown` needs the settings even if the start fails.
        update_settings(&this, &repo, |members| deployment.merge_into(members))?;
        Ok::<_, HttpError>((deployment, alternatives, clone_of(&this, &repo)))
    });
    let (deployment, alternatives, clone) = settings.await??;
    let command = deployment.command.clone().unwrap_or_default();
    let (kind, repo_name) = (deployment.kind.clone(), repository.base_name());
    let directory = deployment.directory.clone();
    let started = app.deploys.start(DeployRequest { clone, repository, worktree, deployment }).await;
    let handle = started.map_err(|error| deploy_error("Failed to start deployment", &error))?;
    Ok(Json(DeployAnswer {
        success: true,
        pid: handle.pid,
        log_file: path_text(handle.log),
        deploy_command: command,
        deploy_type: kind,
        repo_name,
        port: handle.port,
        directory,
        alternatives: alternatives.into_iter().map(CandidateAnswer::from).collect(),
    }))
}

/// Returns the deployment settings: those that are stored, or those detected in the worktree, or those
/// detected in the clone. Also returns the other candidates of the detection.
///
/// # Errors
/// 404 when the worktree does not exist; 400 when no start command is known.
fn find_settings(
    app: &App,
    repository: &SandboxedPath,
    worktree: &SandboxedPath,
    has_engine: bool,
) -> Result<(Deployment, Vec<Candidate>), HttpError> {
    if !worktree.canonical().is_dir() {
        let text = format!("Worktree not found: {}", worktree.as_path().display());
        return Err(HttpError::new(StatusCode::NOT_FOUND, text));
    }
    check_worktree_of(app, worktree, repository)?;
    let stored = stored_settings(app, repository)?.unwrap_or_default();
    if stored.command.is_some() {
        return Ok((stored.completed(), Vec::new()));
    }
    // Stored settings without a start command cannot be run and must not prevent detection.
    let directory = stored.directory.as_deref();
    let mut detected = candidates(worktree, directory, has_engine);
    if detected.is_empty() {
        detected = candidates(repository, directory, has_engine);
    }
    let mut detected = detected.into_iter();
    let Some(first) = detected.next() else { return Err(nothing_detected(app, directory)) };
    Ok((first.config.with_stored(stored).completed(), detected.collect()))
}

/// 400 for a repository without settings, with what the user can do about it.
fn nothing_detected(app: &App, directory: Option<&str>) -> HttpError {
    const FILES: &str = "package.json, Procfile, manage.py, main.py, app.py, server.py, Cargo.toml, Makefile or \
        index.html";
    let places = match directory {
        Some(directory) => format!("looked in its directory `{directory}` for {FILES}"),
        None => format!(
            "looked at its root, in the packages of its workspaces, and in {} for {FILES}, and at the root for a \
             Compose file or a Dockerfile",
            PLACES.join(", ")
        ),
    };
    let file = app.repos.path().map(path_text).unwrap_or_default();
    HttpError::bad_request(format!(
        "No deployment configuration detected for this repository: {places}. Set `command` of its `deployment` in \
         {file}, and `directory` if the command does not run at the root; see \"Start command\" in \
         docs/deployments.md"
    ))
}

/// Returns the commands that a request would run, for display in its approval.
fn preview(app: App, values: RequestValues) -> BoxFuture<'static, Option<String>> {
    Box::pin(async move {
        let has_engine = app.deploys.has_engine().await;
        let settings = spawn_blocking(move || {
            // Best-effort: an invalid request is approved without a preview and then fails with its own
            // error.
            let path = |name| app.sandbox.check(*values.texts(At::Body(name)).first()?).ok();
            find_settings(&app, &path("repoPath")?, &path("worktreePath")?, has_engine).ok()
        });
        let (deployment, _) = settings.await.ok()??;
        let directory = deployment.directory.map(|directory| format!("directory={directory}"));
        let install = deployment.install_command.map(|command| format!("installCommand={command}"));
        let start = deployment.command.map(|command| format!("command={command}"));
        Some(directory.into_iter().chain(install).chain(start).collect::<Vec<_>>().join(", "))
    })
}

/// Checks the paths of a request against the sandbox and loads the stored settings of the repository. Accepts
/// a worktree that no longer exists, because its server may still be running.
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
