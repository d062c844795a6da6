//! `POST /api/gateway/deploy/kill` and `teardown`: the end of a run. Nothing is signalled that was not started here.

use axum::Json;
use axum::extract::State;
use loopgate_api::error::ErrorBody;
use loopgate_deploy::{Killed, Teardown, TornDown};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::start::worktree_of;
use super::{WorktreeBody, number_like};
use crate::app::App;
use crate::approval::{At, Source};
use crate::error::{HttpError, JsonResult};
use crate::extract::JsonBody;
use crate::route::Endpoint;

/// What to end.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"pid": 4242}))]
#[schema(as = DeployKillBody)]
struct KillBody {
    /// As `deploy` answered it.
    #[schema(value_type = u32, required)]
    #[serde(default, deserialize_with = "number_like")]
    pid: Option<i64>,
}

/// What came of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeployKilled, example = json!({"success": true, "message": "Process terminated", "pid": 4242}))]
pub(crate) struct KilledAnswer {
    success: bool,
    message: &'static str,
    pid: i64,
}

/// What to tear down.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repoPath": "~/src/shop", "worktreePath": "~/src/worktrees/shop-AB-1", "pid": 4242, "port": 3000}))]
struct TeardownBody {
    #[serde(flatten)]
    place: WorktreeBody,
    /// As `deploy` answered it.
    #[schema(value_type = Option<u32>)]
    #[serde(default, deserialize_with = "number_like")]
    pid: Option<i64>,
    /// Where it answers.
    #[schema(value_type = Option<u16>)]
    #[serde(default, deserialize_with = "number_like")]
    port: Option<i64>,
}

/// What came of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TornDown, example = json!({"success": true}))]
pub(crate) struct TornDownAnswer {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

/// End a run by its pid
///
/// Only what `deploy` started is ended, with everything that it started.
#[utoipa::path(post, path = "/api/gateway/deploy/kill", operation_id = "kill_deploy", tag = "deploy",
    request_body = KillBody,
    responses(
        (status = 200, body = KilledAnswer, description = "It has ended, now or before"),
        (status = 400, body = ErrorBody, description = "No pid given", example = json!(ErrorBody::missing_field("pid is required and must be a number"))),
        (status = 403, body = ErrorBody, description = "A process that no deploy started", example = json!(ErrorBody::new(403, "process not managed by this gateway").with_code("process_not_managed"))),
        (status = 500, body = ErrorBody, description = "It does not end", example = json!(ErrorBody::new(500, "Failed to kill process: it does not end"))),
    ))]
async fn kill(State(app): State<App>, JsonBody(body): JsonBody<KillBody>) -> JsonResult<KilledAnswer> {
    let pid = body.pid.filter(|pid| *pid != 0);
    let pid = pid.ok_or_else(|| HttpError::missing_field("pid is required and must be a number"))?;
    let positive = u64::try_from(pid).map_err(|_| HttpError::process_not_managed())?;
    let killed = app.deploys.kill(positive).await;
    let message = match killed.map_err(|error| HttpError::operation("Failed to kill process", &error))? {
        Killed::Ended => "Process terminated",
        Killed::Gone => "Process already terminated",
        Killed::NotOurs => return Err(HttpError::process_not_managed()),
        Killed::StillAlive => return Err(HttpError::operation("Failed to kill process", &"it does not end")),
    };
    Ok(Json(KilledAnswer { success: true, message, pid }))
}

/// End whatever runs for a worktree
///
/// Its processes, what listens on its ports out of the worktree, and what the teardown command of its settings ends.
/// Doing it again changes nothing.
#[utoipa::path(post, path = "/api/gateway/deploy/teardown", operation_id = "tear_down_deploy", tag = "deploy",
    request_body = TeardownBody,
    responses(
        (status = 200, body = TornDownAnswer, description = "Whether nothing of it runs any more"),
        (status = 400, body = ErrorBody, description = "A member is missing, or nothing tells what to stop", example = json!(ErrorBody::new(400, "No port, PID, or teardown command available to stop the server"))),
        (status = 403, body = ErrorBody, description = "Outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 500, body = ErrorBody, description = "The record of the run cannot be used", example = json!(ErrorBody::new(500, "Failed to stop the server: permission denied"))),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn teardown(
    State(app): State<App>,
    JsonBody(body): JsonBody<TeardownBody>,
) -> JsonResult<TornDownAnswer> {
    let TeardownBody { place, pid, port } = body;
    let (_, worktree, deployment) = worktree_of(&app, place).await?;
    let what = Teardown {
        worktree: worktree.canonical().to_owned(),
        deployment: deployment.unwrap_or_default(),
        pid: pid.and_then(|pid| u64::try_from(pid).ok()).filter(|pid| *pid > 0),
        port: port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0),
    };
    let torn_down = app.deploys.tear_down(what).await;
    match torn_down.map_err(|error| HttpError::operation("Failed to stop the server", &error))? {
        TornDown::Stopped => Ok(Json(TornDownAnswer { success: true, error: None })),
        TornDown::NotStopped => Ok(Json(TornDownAnswer {
            success: false,
            error: Some("Could not stop the server - process may have already exited"),
        })),
        TornDown::NothingKnown => {
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
}
