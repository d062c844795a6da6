//! Starts the BOOTSTRAP loop, which explores repositories and creates the roster of agents for them.

use axum::extract::State;
use http::StatusCode;
use loopgate_api::command::LoopCommand;
use loopgate_api::ids::RepoFullName;
use sea_orm::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::{Caller, UserAuth};
use crate::dispatch::target::{accessible, find};
use crate::dispatch::{launch, signing};
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, ResultExt, ValidationIssues, bad_request, conflict};
use crate::extract::Body;
use crate::idempotency::IdempotencyKey;
use crate::loops::create::{LaunchMode, NewLoop, create, earlier};
use crate::loops::view::LoopStartResponse;
use crate::store::entity::compute_target;

// Repositories of one BOOTSTRAP loop. One loop explores them all, so its running time grows with their
// number.
const REPOSITORY_LIMIT: usize = 50;

/// A repository to explore.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapRepository {
    /// Full name of the repository, `owner/name`.
    #[schema(value_type = String)]
    pub full_name: RepoFullName,
}

/// Depth of the exploration.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExplorationDepth {
    /// Shortest exploration, for a first overview.
    Quick,
    /// Exploration of usual length.
    Medium,
    /// Longest and most thorough exploration.
    Deep,
}

/// Options of the exploration.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExplorationOptions {
    /// Depth of the exploration; absent for the default of the plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<ExplorationDepth>,
}

/// Request to start a BOOTSTRAP loop.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartBootstrap {
    /// Repositories to explore, 1 to 50.
    pub repos: Vec<BootstrapRepository>,
    /// Options of the exploration.
    pub options: Option<ExplorationOptions>,
    /// Id of the desktop that runs the loop. Optional when exactly one desktop is online.
    pub compute_target_id: Option<Uuid>,
}

/// Starts a BOOTSTRAP loop. The launch continues in the background: a launch failure fails the loop, not this
/// request.
#[utoipa::path(post, path = "/agents/bootstrap/start", tag = "bootstrap", request_body = StartBootstrap,
    responses((status = 200, body = Data<LoopStartResponse>), ErrorResponses))]
pub async fn start(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    key: IdempotencyKey,
    Body(body): Body<StartBootstrap>,
) -> ApiResult<Data<LoopStartResponse>> {
    let mut issues = ValidationIssues::default();
    issues.require((1..=REPOSITORY_LIMIT).contains(&body.repos.len()), "repos", "must have 1 to 50 items");
    issues.into_result()?;
    let started = async {
        let request = key.of(&caller, &("bootstrap", &body))?;
        if let Some(row) = earlier(app.store.reader(), request.as_ref()).await? {
            return Ok(row.into());
        }
        let target = target(&app, &caller, body.compute_target_id).await?;
        signing::require_signature(app.store.reader(), &target, false).await?;
        let mut order = json!({"repos": body.repos});
        if let Some(options) = body.options {
            order["options"] = serde_json::to_value(options)?;
        }
        // The desktop parses the prompt as JSON; the metadata is for display.
        let mut metadata = order.clone();
        metadata["launchSource"] = "bootstrap".into();
        let new = NewLoop {
            compute_target_id: Some(target.id),
            harness: target.selected_harness.0,
            prompt: Some(order.to_string()),
            metadata,
            launch: LaunchMode::Command,
            request,
            ..NewLoop::of(LoopCommand::Bootstrap)
        };
        let created = create(&app, &caller, new).await.map_err(|error| {
            if error.status == StatusCode::TOO_MANY_REQUESTS {
                return ApiError::new(
                    error.status,
                    "Too many concurrent loops. Wait for an existing loop to finish.",
                );
            }
            error
        })?;
        Ok(launch::spawn_created(&app, created, None))
    };
    started.await.context("Failed to start bootstrap").map(Data::new)
}

/// Returns the desktop with this id, or the only online desktop. Returns 400 when it is offline or none
/// is online, and 409 when several are.
async fn target(
    app: &ControlPlaneState,
    caller: &Caller,
    id: Option<Uuid>,
) -> ApiResult<compute_target::Model> {
    if let Some(id) = id {
        let unknown = || ApiError::new(StatusCode::NOT_FOUND, "Compute target not found.");
        let target = find(&app.store, caller, id).await;
        let target = target.map_err(|error| if error.is_internal() { error } else { unknown() })?;
        if !target.is_online {
            return Err(bad_request("Compute target is offline. Ensure the desktop app is running."));
        }
        return Ok(target);
    }
    let online = accessible(caller).filter(compute_target::Column::IsOnline.eq(true));
    let mut online = online.all(app.store.reader()).await?;
    match online.len() {
        0 => Err(bad_request("No online compute targets found. Ensure the desktop app is running.")),
        1 => Ok(online.remove(0)),
        _ => Err(conflict("Multiple compute targets are online. Specify a computeTargetId to select one.")),
    }
}
