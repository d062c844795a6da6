//! Launch of a loop: token, context pack, command, delivery.
//!
//! Token slot, command and status are stored in one transaction before the command is sent, so that the first
//! request of the runner is accepted, and a desktop that reconnects after a crash receives the command. A
//! failure before that fails the loop with a reason that users can see.

use std::time::Duration;

use loopgate_api::event::code;
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::LoopLaunchBody;
use loopgate_api::link::{LinkCommand, USER_INTENT};
use loopgate_api::operation::OperationId;
use loopgate_api::usd::Usd;
use sea_orm::UpdateMany;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::command::{self, CommandSignature, NewCommand, UnstoredSecret};
use super::launch_content::LaunchInputs;
use super::launch_queue::LaunchLease;
use super::signing::SignedIntent;
use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::credentials::runner_token::IssuedToken;
use crate::error::{ApiError, ApiResult};
use crate::loop_state::{self, TransitionResult};
use crate::loops::create::CreatedLoop;
use crate::loops::view::LoopStartResponse;
use crate::store::entity::{agent_loop, compute_target, desktop_command};
use crate::store::now;

// Time limit of the launch request on the desktop, in milliseconds. The desktop responds much earlier: it
// clones repositories and runs set-up scripts after the response and reports them as events.
const LAUNCH_TIMEOUT_MS: u64 = 10 * 60 * 1000;

/// A desktop that reconnects later than this does not start the loop.
pub const EXPIRES_AFTER: Duration = Duration::from_secs(5 * 60);

/// Launches a loop in the background, unless an earlier attempt of the request has. Returns the response to the request.
pub fn spawn_created(
    app: &ControlPlaneState,
    created: CreatedLoop,
    intent: Option<SignedIntent>,
) -> LoopStartResponse {
    match created {
        CreatedLoop::New(row) => {
            spawn(app, LaunchLease::first(row.id), intent);
            row.into()
        }
        CreatedLoop::Earlier(row) => row.into(),
    }
}

/// Launches a loop in the background. With a signed intent, the desktop verifies the signature and then
/// fetches the request body.
pub fn spawn(app: &ControlPlaneState, lease: LaunchLease, intent: Option<SignedIntent>) {
    let task = app.clone();
    app.tasks.spawn(async move { run(&task, lease, intent).await });
}

async fn run(app: &ControlPlaneState, lease: LaunchLease, intent: Option<SignedIntent>) {
    let loop_id = lease.loop_id;
    let Err(error) = launch(app, lease, intent).await else { return };
    let failed = match error {
        LaunchError::Rejected { code, message } => fail(app, loop_id, code, &message).await,
        LaunchError::Failed(error) => {
            let is_unavailable = error.body.code == code::PLAN_STATE_UNAVAILABLE;
            let code = if is_unavailable { code::PLAN_STATE_UNAVAILABLE } else { code::SPAWN_FAILED };
            fail(app, loop_id, code, &error.body.error).await
        }
        LaunchError::NotConnected(target_id) => match lease.hand_over(app, target_id).await {
            Ok(true) => return,
            Ok(false) => fail_unconnected(app, loop_id, target_id).await,
            Err(error) => Err(error),
        },
        LaunchError::Superseded => return,
    };
    if let Err(error) = failed {
        tracing::error!(%loop_id, %error, "failed to record a launch failure");
    }
}

/// Fails a loop whose desktop is not connected.
pub async fn fail_unconnected(app: &ControlPlaneState, loop_id: Uuid, target_id: Uuid) -> Result<(), DbErr> {
    let target = compute_target::Entity::find_by_id(target_id).one(app.store.reader()).await?;
    let name = target.map_or_else(|| "The machine".to_owned(), |target| target.machine_name);
    let message = format!("{name} is not connected. Ensure that Loopgate is running there.");
    fail(app, loop_id, code::PRE_RUN_VALIDATION_FAILED, &message).await
}

fn state_key_of(payload: &Value) -> Option<String> {
    payload.pointer("/body/s3StateKey")?.as_str().map(str::to_owned)
}

/// Fails a loop and notifies its streams.
pub async fn fail(app: &ControlPlaneState, loop_id: Uuid, code: &str, message: &str) -> Result<(), DbErr> {
    let tx = app.store.begin().await?;
    loop_state::fail(&tx, loop_id, code, message).await?;
    tx.commit().await?;
    app.bus.publish(Topic::Loop(loop_id));
    Ok(())
}

/// Reason why a launch was aborted.
enum LaunchError {
    /// The loop has finished in the meantime, or another instance launches it.
    Superseded,
    /// The desktop with this id is not connected to this instance.
    NotConnected(Uuid),
    /// The loop cannot be launched; users see the message.
    Rejected { code: &'static str, message: String },
    /// Internal error of the control plane.
    Failed(ApiError),
}

impl<E: Into<ApiError>> From<E> for LaunchError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

fn rejected(code: &'static str, message: &str) -> LaunchError {
    LaunchError::Rejected { code, message: message.to_owned() }
}

async fn launch(
    app: &ControlPlaneState,
    lease: LaunchLease,
    intent: Option<SignedIntent>,
) -> Result<(), LaunchError> {
    let row = agent_loop::Entity::find_by_id(lease.loop_id).one(app.store.reader()).await?;
    let Some(row) = row.filter(|row| row.status.0 == LoopStatus::Pending) else { return Ok(()) };
    let target = target(app, &row).await?;
    if !app.desktops.is_connected(target.id) {
        return Err(LaunchError::NotConnected(target.id));
    }
    let issued = app.runner_tokens.issue(row.id, row.organization_id, now())?;
    let state_key = format!("{}/loops/{}/{}", row.organization_id, row.id, Uuid::now_v7());
    let body = body(app, &row, &issued, &state_key).await?;
    if body.content.max_spend_usd.is_some_and(Usd::is_zero) {
        return Err(rejected(
            code::SPENDING_LIMIT,
            "The organization's spending limit is reached. Raise the limit or wait for the next period.",
        ));
    }
    // A signed command contains only the signed members. The desktop fetches the complete body after it has
    // verified the signature.
    let (body, signature) = match intent {
        Some(SignedIntent { signature, body }) => {
            (json!({"loopId": row.id, "s3StateKey": state_key, USER_INTENT: body}), Some(signature))
        }
        None => (command::without_token(serde_json::to_value(&body)?), None),
    };
    let is_signed = signature.is_some();
    command::check_capacity(app.store.reader(), target.id).await?;
    let new = command_for(&row, &target, body, signature.clone());
    let command = claim(app, lease, &target, &issued, &state_key, new).await?;
    let secret = signature.map_or(UnstoredSecret::RunnerToken(issued.token), UnstoredSecret::Signature);
    if let Err(reason) = command::deliver(app, &command, Some(secret)) {
        let writer = app.store.writer();
        command::expire(writer, command.id, &command::undelivered(reason, is_signed)).await?;
        fail_unconnected(app, row.id, target.id).await?;
    }
    Ok(())
}

async fn target(
    app: &ControlPlaneState,
    row: &agent_loop::Model,
) -> Result<compute_target::Model, LaunchError> {
    let id = row.compute_target_id.ok_or_else(|| {
        rejected(code::PRE_RUN_VALIDATION_FAILED, "No compute target was chosen for this loop.")
    })?;
    let target = compute_target::Entity::find_by_id(id).one(app.store.reader()).await?;
    target.ok_or_else(|| rejected(code::PRE_RUN_VALIDATION_FAILED, "The compute target no longer exists."))
}

/// Returns the launch request of a signed launch, whose command is stored without it, for the desktop that
/// has verified the signature. Re-creates the token of the slot that the launch stored; `None` when the loop
/// has no slot.
pub async fn body_of_signed(
    app: &ControlPlaneState,
    row: &agent_loop::Model,
    payload: &Value,
) -> ApiResult<Option<LoopLaunchBody>> {
    let Some(issued) = app.runner_tokens.in_force(row)? else { return Ok(None) };
    let state_key = state_key_of(payload).unwrap_or_default();
    body(app, row, &issued, &state_key).await.map(Some)
}

async fn body(
    app: &ControlPlaneState,
    row: &agent_loop::Model,
    issued: &IssuedToken,
    state_key: &str,
) -> ApiResult<LoopLaunchBody> {
    Ok(LoopLaunchBody {
        loop_id: row.id.to_string(),
        loopgate_auth_token: issued.token.expose_secret().to_owned(),
        api_base_url: app.config.api_origin.clone(),
        s3_state_key: Some(state_key.to_owned()),
        content: LaunchInputs::of(app.store.reader(), row).await?.content(app).await?,
    })
}

/// Stores the command, and the loop as claimed by its runner, in one transaction.
async fn claim(
    app: &ControlPlaneState,
    lease: LaunchLease,
    target: &compute_target::Model,
    issued: &IssuedToken,
    state_key: &str,
    new: NewCommand,
) -> Result<desktop_command::Model, LaunchError> {
    use agent_loop::Column;
    let supports = |name: &str| target.capabilities.get(name).and_then(Value::as_bool).unwrap_or(false);
    let capabilities = json!({
        "loopRunnerRefreshSupported": supports("loopRunnerRefreshSupported"),
        "loopRunnerHeartbeatSupported": supports("loopRunnerHeartbeatSupported"),
    });
    let columns = |update: UpdateMany<_>| {
        update
            .col_expr(Column::ActiveTokenJti, Expr::value(issued.jti))
            .col_expr(Column::LastTokenJti, Expr::value(issued.jti))
            .col_expr(Column::TokenExpiresAt, Expr::value(issued.expires_at))
            .col_expr(Column::RunnerCapabilities, Expr::value(capabilities))
            .col_expr(Column::S3StateKey, Expr::value(state_key))
    };
    let tx = app.store.begin().await?;
    let transition = loop_state::apply(&tx, lease.loop_id, LoopStatus::Claimed, columns).await?;
    if transition != TransitionResult::Applied || !lease.complete(&tx).await? {
        return Err(LaunchError::Superseded);
    }
    let command = command::insert(&tx, new).await.map_err(command::insert_error)?;
    agent_loop::Entity::update_many()
        .col_expr(Column::ContainerId, Expr::value(command.id.to_string()))
        .filter(Column::Id.eq(lease.loop_id))
        .exec(&tx)
        .await?;
    tx.commit().await?;
    app.bus.publish(Topic::Loop(lease.loop_id));
    Ok(command)
}

fn command_for(
    row: &agent_loop::Model,
    target: &compute_target::Model,
    body: Value,
    signature: Option<CommandSignature>,
) -> NewCommand {
    let request = LinkCommand {
        operation_id: OperationId::OrchestratorLoop.as_str().to_owned(),
        method: "POST".to_owned(),
        path: "/api/gateway/orchestrator/loop".to_owned(),
        body: Some(body),
        timeout_ms: Some(LAUNCH_TIMEOUT_MS),
        ..LinkCommand::default()
    };
    NewCommand {
        organization_id: row.organization_id,
        user_id: row.user_id,
        target_id: target.id,
        loop_id: Some(row.id),
        expires_after: Some(EXPIRES_AFTER),
        // Unique: a loop is launched once.
        idempotency_key: Some(format!("loop-launch:{}", row.id)),
        actor: None,
        signature,
        request,
    }
}
