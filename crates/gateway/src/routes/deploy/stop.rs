//! `POST /api/gateway/deploy/kill` and `teardown`: stop a deployment. Only processes that a deployment
//! started are signaled.

use axum::Json;
use axum::extract::State;
use futures_util::future::BoxFuture;
use loopgate_api::error::ErrorBody;
use loopgate_deploy::{KillOutcome, Teardown, TeardownOutcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::start::worktree_of;
use super::{WorktreeBody, clone_of, deploy_error, number_like, stored_settings};
use crate::app::App;
use crate::approval::{At, RequestValues, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::route::Endpoint;

/// The deployment to kill.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"pid": 4242}))]
#[schema(as = DeployKillBody)]
struct KillBody {
    /// `pid` from the response of `deploy`; a number or a string of digits.
    #[schema(value_type = u32, required)]
    #[serde(default, deserialize_with = "number_like")]
    pid: Option<i64>,
}

/// Result of killing a deployment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeployKilled, example = json!({"success": true, "message": "Process terminated", "pid": 4242}))]
pub(crate) struct KillAnswer {
    success: bool,
    message: &'static str,
    pid: i64,
}

/// The worktree whose deployment is torn down.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "worktreePath": "~/src/worktrees/shop-AB-1", "pid": 4242, "port": 3000}))]
struct TeardownBody {
    #[serde(flatten)]
    paths: WorktreeBody,
    /// `pid` from the response of `deploy`; a number or a string of digits.
    #[schema(value_type = Option<u32>)]
    #[serde(default, deserialize_with = "number_like")]
    pid: Option<i64>,
    /// Port of the server; used when none is stored.
    #[schema(value_type = Option<u16>)]
    #[serde(default, deserialize_with = "number_like")]
    port: Option<i64>,
}

/// Result of tearing down a deployment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TornDown, example = json!({"success": true}))]
pub(crate) struct TeardownAnswer {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Kill a deployment by its pid
///
/// Terminates its process group, and the processes that have left the group. Rejects processes that no deployment
/// started.
#[utoipa::path(post, path = "/api/gateway/deploy/kill", operation_id = "kill_deploy", tag = "deploy",
    request_body = KillBody,
    responses(
        (status = 200, body = KillAnswer, description = "The process is terminated, by this request or earlier"),
        (status = 400, body = ErrorBody, description = "Pid missing", example = json!(ErrorBody::missing_field("pid is required and must be a number"))),
        (status = 403, body = ErrorBody, description = "The process was not started by a deployment", example = json!(ErrorBody::new(403, "process not managed by this gateway").with_code("process_not_managed"))),
        (status = 500, body = ErrorBody, description = "Processes are still running", example = json!(ErrorBody::new(500, "Failed to kill process: process 4243 is still running"))),
    ))]
async fn kill(State(app): State<App>, JsonBody(body): JsonBody<KillBody>) -> JsonResult<KillAnswer> {
    let pid = body.pid.filter(|pid| *pid != 0);
    let pid = pid.ok_or_else(|| HttpError::missing_field("pid is required and must be a number"))?;
    // Negative pids address process groups in kill(2) and are never recorded by a deployment.
    let positive = u64::try_from(pid).map_err(|_| HttpError::process_not_managed())?;
    let killed = app.deploys.kill(positive).await;
    let message = match killed.map_err(|error| HttpError::operation("Failed to kill process", &error))? {
        KillOutcome::Terminated => "Process terminated",
        // Success, so that killing is idempotent: the process may exit before the request arrives.
        KillOutcome::NotAlive => "Process already terminated",
        KillOutcome::NotOurs => return Err(HttpError::process_not_managed()),
        KillOutcome::StillAlive(survivors) => {
            return Err(HttpError::operation("Failed to kill process", &survivors));
        }
    };
    Ok(Json(KillAnswer { success: true, message, pid }))
}

/// Tear down the deployment of a worktree
///
/// Terminates its processes and any process of the worktree that listens on its ports, and runs the teardown
/// command of the settings. Idempotent. The error names the processes that are still running.
#[utoipa::path(post, path = "/api/gateway/deploy/teardown", operation_id = "tear_down_deploy", tag = "deploy",
    request_body = TeardownBody,
    responses(
        (status = 200, body = TeardownAnswer, description = "Whether the server was stopped"),
        (status = 400, body = ErrorBody, description = "Member missing, or nothing to stop", example = json!(ErrorBody::new(400, "No port, PID, or teardown command available to stop the server"))),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox, or the user has not agreed to the teardown command (`command_not_trusted`)", example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The record of the deployment cannot be read", example = json!(ErrorBody::new(500, "Failed to stop the server: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured", example = json!(ErrorBody::not_configured())),
    ))]
async fn teardown(
    State(app): State<App>,
    JsonBody(body): JsonBody<TeardownBody>,
) -> JsonResult<TeardownAnswer> {
    let TeardownBody { paths, pid, port } = body;
    let (repository, worktree, deployment) = worktree_of(&app, paths).await?;
    let this = app.clone();
    let request = Teardown {
        clone: spawn_blocking(move || clone_of(&this, &repository)).await?,
        worktree: worktree.canonical().to_owned(),
        deployment: deployment.unwrap_or_default(),
        pid: pid.and_then(|pid| u64::try_from(pid).ok()).filter(|pid| *pid > 0),
        port: port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0),
    };
    let torn_down = app.deploys.tear_down(request).await;
    match torn_down.map_err(|error| deploy_error("Failed to stop the server", &error))? {
        TeardownOutcome::Stopped => Ok(Json(TeardownAnswer { success: true, error: None })),
        TeardownOutcome::NotStopped => Ok(Json(TeardownAnswer {
            success: false,
            error: Some("Could not stop the server - process may have already exited".to_owned()),
        })),
        TeardownOutcome::StillAlive(survivors) => Ok(Json(TeardownAnswer {
            success: false,
            error: Some(format!("Could not stop the server - {survivors}")),
        })),
        TeardownOutcome::NothingToStop => {
            Err(HttpError::bad_request("No port, PID, or teardown command available to stop the server"))
        }
    }
}

pub(crate) fn kill_endpoint() -> Endpoint {
    Endpoint::new(routes!(kill), &[Source::Process(At::Body("pid"))]).with_action_members(&["pid"])
}

pub(crate) fn teardown_endpoint() -> Endpoint {
    Endpoint::new(
        routes!(teardown),
        &[
            Source::Path(At::Body("repoPath")),
            Source::Path(At::Body("worktreePath")),
            Source::Process(At::Body("pid")),
        ],
    )
    .with_action_preview(preview)
}

/// Returns the teardown command that a request would run, for display in its approval.
fn preview(app: App, values: RequestValues) -> BoxFuture<'static, Option<String>> {
    Box::pin(async move {
        let command = spawn_blocking(move || {
            let path = |name| app.sandbox.check(*values.texts(At::Body(name)).first()?).ok();
            let stored =
                stored_settings(&app, &path("repoPath")?).ok()?.and_then(|stored| stored.teardown_command);
            stored.or_else(|| app.deploys.teardown_command(path("worktreePath")?.canonical()))
        });
        Some(format!("teardownCommand={}", command.await.ok()??))
    })
}
