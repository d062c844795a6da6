//! The server's part of a signed start or end of a loop, for the desktop that has checked the signature.

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
use crate::store::entity::api_key::KeySource;
use crate::store::entity::{
    agent_loop, compute_target, desktop_command, loop_execution_credential_consumption as consumption,
};
use crate::store::{is_duplicate, now};

/// For which command.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionCredentialsRequest {
    /// The signed command that the desktop has received.
    pub command_id: Uuid,
}

/// The body for the desktop's gateway.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionCredentials {
    /// The loop.
    pub loop_id: String,
    /// What a start has beside it, as in a launch that nobody signed.
    #[serde(flatten)]
    #[schema(value_type = HashMap<String, Value>)]
    pub launch: Map<String, Value>,
}

/// The whole body for the desktop's gateway, with the token of the loop. Given out once a command, and only to the
/// desktop itself, by the key that is bound to it.
#[utoipa::path(post, path = "/compute-targets/{id}/loops/{loop_id}/execution-credentials", tag = "execution-credentials",
    params(("id" = Uuid, Path), ("loop_id" = Uuid, Path)), request_body = ExecutionCredentialsRequest,
    responses((status = 200, body = Data<ExecutionCredentials>), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    ApiKeyAuth(caller): ApiKeyAuth,
    Path((target_id, loop_id)): Path<(String, String)>,
    Body(body): Body<ExecutionCredentialsRequest>,
) -> ApiResult<Data<ExecutionCredentials>> {
    // The key's proof of possession was checked with the key.
    let bound = caller
        .key
        .as_ref()
        .filter(|key| key.source.0 == KeySource::DesktopManaged && key.bound_public_key.is_some());
    let gateway_id = bound.and_then(|key| key.gateway_id).ok_or_else(unauthorized)?;
    let (Ok(target_id), Ok(loop_id)) = (Uuid::try_parse(&target_id), Uuid::try_parse(&loop_id)) else {
        return Err(unknown());
    };
    let fetched = async {
        let db = app.store.reader();
        let target = compute_target::Entity::find_by_id(target_id)
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
        consume(&app, command.id).await?;
        launch.remove("loopId");
        Ok(ExecutionCredentials { loop_id: loop_id.to_string(), launch })
    };
    fetched.await.context("Failed to fetch execution credentials").map(Data::new)
}

fn unknown() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "Loop execution credentials not found")
}

/// What a signed command does with a loop: starts or ends it. `None` for every other command.
fn operation_of(command: &desktop_command::Model, loop_id: Uuid) -> Option<OperationId> {
    let request: LinkCommand = serde_json::from_value(command.request_payload.clone()).ok()?;
    let body = request.body?;
    let about = body.get("loopId")?.as_str()?.parse::<Uuid>().ok()?;
    body.get(USER_INTENT)?;
    let operation = OperationId::of_path(&request.path)?;
    let is_of_loops = matches!(operation, OperationId::OrchestratorLoop | OperationId::OrchestratorLoopKill);
    (about == loop_id && is_of_loops).then_some(operation)
}

/// Notes that a command's part is given out; of two at once one is refused.
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
