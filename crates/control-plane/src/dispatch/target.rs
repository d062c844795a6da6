//! Selection of the desktop that runs a loop.

use http::StatusCode;
use loopgate_api::event::code;
use sea_orm::prelude::*;
use sea_orm::{Condition, QueryOrder};

use crate::app::ControlPlaneState;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, not_found, unauthorized};
use crate::store::Store;
use crate::store::column::StoredEnum;
use crate::store::entity::user::ComputeMode;
use crate::store::entity::{api_key, compute_target};

/// Returns the query for desktops that a user may use: their own and those shared with the organization.
pub fn accessible(caller: &Caller) -> Select<compute_target::Entity> {
    use compute_target::Column;
    let mine = Condition::any().add(Column::UserId.eq(caller.user.id)).add(Column::IsSharedWithOrg.eq(true));
    compute_target::Entity::find().filter(Column::OrganizationId.eq(caller.organization_id())).filter(mine)
}

/// Returns a desktop that the caller may use. Returns 404 otherwise.
pub async fn find(store: &Store, caller: &Caller, id: Uuid) -> ApiResult<compute_target::Model> {
    let row = accessible(caller).filter(compute_target::Column::Id.eq(id)).one(store.reader()).await?;
    row.ok_or_else(|| not_found("Compute target"))
}

/// Returns a desktop to which the caller may send commands: an own one, or a shared one whose owner grants
/// commands to members. Sharing alone permits loops only. Returns 404 for a desktop that the caller cannot see,
/// and 403 without the grant.
pub async fn find_operable(store: &Store, caller: &Caller, id: Uuid) -> ApiResult<compute_target::Model> {
    let row = find(store, caller, id).await?;
    if row.user_id == caller.user.id || row.grants_commands {
        return Ok(row);
    }
    let text = "This machine is shared for loops only. Its owner can allow commands in Settings, Machines.";
    Err(ApiError::new(StatusCode::FORBIDDEN, text).code("commands_not_granted"))
}

/// Returns a desktop that the caller owns. Returns 404 otherwise.
pub async fn find_own(store: &Store, caller: &Caller, id: Uuid) -> ApiResult<compute_target::Model> {
    let row = find(store, caller, id).await?;
    if row.user_id == caller.user.id { Ok(row) } else { Err(not_found("Compute target")) }
}

/// Returns the desktop that sent a request with its own key, whose requests prove the possession of the desktop's key.
/// Returns 401 for any other credential, and 404 for another desktop.
pub async fn find_of_desktop(store: &Store, caller: &Caller, id: Uuid) -> ApiResult<compute_target::Model> {
    let gateway_id = caller.key.as_ref().and_then(api_key::Model::bound_gateway).ok_or_else(unauthorized)?;
    let target = compute_target::Entity::find_by_id(id)
        .filter(compute_target::Column::OrganizationId.eq(caller.organization_id()))
        .filter(compute_target::Column::UserId.eq(caller.user.id))
        .filter(compute_target::Column::GatewayId.eq(gateway_id));
    target.one(store.reader()).await?.ok_or_else(|| not_found("Compute target"))
}

/// Selects a desktop. `hint` is the id from the request. `Some(None)`, or a preference for `CLOUD`, requests
/// a cloud runner, which this installation does not have.
#[expect(clippy::option_option, reason = "left out, null and an id are three different requests")]
pub async fn choose(
    app: &ControlPlaneState,
    caller: &Caller,
    hint: Option<Option<Uuid>>,
) -> ApiResult<compute_target::Model> {
    match hint {
        Some(Some(id)) => {
            let target = find(&app.store, caller, id).await?;
            if !target.is_online {
                return Err(offline(&target));
            }
            Ok(target)
        }
        Some(None) => Err(none_online()),
        None if caller.user.preferred_compute_mode == Some(StoredEnum(ComputeMode::Cloud)) => {
            Err(none_online())
        }
        None => best(app, caller).await,
    }
}

/// Returns the preferred desktop when it is online, or else the most recently seen one.
async fn best(app: &ControlPlaneState, caller: &Caller) -> ApiResult<compute_target::Model> {
    let online = accessible(caller)
        .filter(compute_target::Column::IsOnline.eq(true))
        .order_by_desc(compute_target::Column::LastSeenAt)
        .all(app.store.reader())
        .await?;
    let preferred = caller.user.preferred_compute_target_id;
    let index = online.iter().position(|target| Some(target.id) == preferred).unwrap_or(0);
    online.into_iter().nth(index).ok_or_else(none_online)
}

fn offline(target: &compute_target::Model) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "Compute target is offline. Ensure the desktop app is running.")
        .code(code::PRE_RUN_VALIDATION_FAILED)
        .detail("category", "compute_target_offline")
        .detail("computeTargetId", target.id.to_string())
        .detail("machineName", target.machine_name.clone())
}

fn none_online() -> ApiError {
    let text = "No compute targets are online. Ensure the desktop app is running.";
    ApiError::new(StatusCode::BAD_REQUEST, text)
        .code(code::PRE_RUN_VALIDATION_FAILED)
        .detail("category", "compute_target_unavailable")
}
