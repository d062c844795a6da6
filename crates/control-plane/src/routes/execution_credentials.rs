//! Execution credentials: the server's part of a signed launch or kill, released to the desktop that verified
//! the signature.

use axum::extract::{Path, State};
use http::StatusCode;
use loopgate_api::link::{LinkCommand, USER_INTENT};
use loopgate_api::operation::OperationId;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::ApiKeyAuth;
use crate::dispatch::launch;
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, ResultExt, bad_request, conflict, unauthorized};
use crate::extract::Body;
use crate::store::entity::api_key::ApiKeySource;
use crate::store::entity::{
    agent_loop, compute_target, desktop_command, loop_execution_credential_consumption as consumption,
};
use crate::store::{is_duplicate, now};

/// Request for the execution credentials of a command.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionCredentialsRequest {
    /// Id of the signed command that the desktop received.
    pub command_id: Uuid,
}

/// Body of the desktop's request to its own gateway.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionCredentials {
    /// Id of the loop.
    pub loop_id: String,
    /// For a launch: the other members of the launch request, as in an unsigned launch. Empty for a kill.
    #[serde(flatten)]
    #[schema(value_type = HashMap<String, Value>)]
    pub launch: Map<String, Value>,
}

/// Returns the request body for the desktop's gateway, including the runner token. It is released once per
/// command, and only to the desktop itself, which authenticates with the API key that is bound to its public
/// key.
#[utoipa::path(post, path = "/compute-targets/{id}/loops/{loop_id}/execution-credentials", tag = "execution-credentials",
    params(("id" = Uuid, Path), ("loop_id" = Uuid, Path)), request_body = ExecutionCredentialsRequest,
    responses((status = 200, body = Data<ExecutionCredentials>), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    ApiKeyAuth(caller): ApiKeyAuth,
    Path((target_id, loop_id)): Path<(String, String)>,
    Body(body): Body<ExecutionCredentialsRequest>,
) -> ApiResult<Data<ExecutionCredentials>> {
    // `ApiKeyAuth` has already verified the proof of possession for a bound key.
    let bound = caller
        .key
        .as_ref()
        .filter(|key| key.source.0 == ApiKeySource::DesktopManaged && key.bound_public_key.is_some());
    let gateway_id = bound.and_then(|key| key.gateway_id).ok_or_else(unauthorized)?;
    let (Ok(target_id), Ok(loop_id)) = (Uuid::try_parse(&target_id), Uuid::try_parse(&loop_id)) else {
        return Err(unknown());
    };
    let credentials = async {
        let db = app.store.reader();
        let target = compute_target::Entity::find_by_id(target_id)
            .filter(compute_target::Column::OrganizationId.eq(caller.organization_id()))
            .filter(compute_target::Column::UserId.eq(caller.user.id))
            .filter(compute_target::Column::GatewayId.eq(gateway_id));
        let command = desktop_command::Entity::find_by_id(body.command_id)
            .filter(desktop_command::Column::ComputeTargetId.eq(target_id));
        let row = agent_loop::Entity::find_by_id(loop_id)
            .filter(agent_loop::Column::OrganizationId.eq(caller.organization_id()));
        let (Some(_), Some(command), Some(row)) =
            (target.one(db).await?, command.one(db).await?, row.one(db).await?)
        else {
            return Err(unknown());
        };
        let mut launch = match operation_of(&command, loop_id) {
            Some(OperationId::OrchestratorLoop) => {
                let body = launch::body_of_signed(&app, &row, &command.request_payload).await?;
                match serde_json::to_value(body.ok_or_else(unknown)?)? {
                    Value::Object(members) => members,
                    _ => Map::new(),
                }
            }
            Some(_) => Map::new(),
            None => return Err(bad_request("Command is not a signed loop intent for this loop")),
        };
        // Consumed last: a failure above must not use up the only release.
        consume(&app, command.id).await?;
        // The response has its own `loopId`; the flattened map would emit the member twice.
        launch.remove("loopId");
        Ok(ExecutionCredentials { loop_id: loop_id.to_string(), launch })
    };
    credentials.await.context("Failed to fetch execution credentials").map(Data::new)
}

fn unknown() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "Loop execution credentials not found")
}

/// Returns the operation of a signed command: launch or kill of this loop. Returns `None` for all other
/// commands.
fn operation_of(command: &desktop_command::Model, loop_id: Uuid) -> Option<OperationId> {
    let request: LinkCommand = serde_json::from_value(command.request_payload.clone()).ok()?;
    let body = request.body?;
    let loop_of_body = body.get("loopId")?.as_str()?.parse::<Uuid>().ok()?;
    // Only commands with a signed intent are stored without their complete body.
    body.get(USER_INTENT)?;
    let operation = OperationId::of_path(&request.path)?;
    let is_of_loops = matches!(operation, OperationId::OrchestratorLoop | OperationId::OrchestratorLoopKill);
    (loop_of_body == loop_id && is_of_loops).then_some(operation)
}

/// Records that the credentials of a command were released. The primary key makes the second of two
/// concurrent requests fail with 409.
async fn consume(app: &ControlPlaneState, command_id: Uuid) -> ApiResult<()> {
    let row = consumption::ActiveModel { command_id: Set(command_id), consumed_at: Set(now()) };
    match consumption::Entity::insert(row).exec_without_returning(app.store.writer()).await {
        Ok(_) => Ok(()),
        Err(error) if is_duplicate(&error) => {
            Err(conflict("Loop execution credentials already consumed").code("credentials_consumed"))
        }
        Err(error) => Err(error.into()),
    }
}
