//! Default place of execution of a user's loops.

use axum::extract::State;
use loopgate_api::launch::Harness;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{Caller, UserAuth};
use crate::dispatch::target::{accessible, find};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt};
use crate::extract::Body;
use crate::store::column::StoredEnum;
use crate::store::entity::user::ComputeMode;
use crate::store::entity::{compute_target, user};

/// Preferred place of execution.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComputePreference {
    /// `LOCAL` for a desktop, `CLOUD` otherwise. This installation has no cloud runners.
    pub preferred_compute_mode: ComputeMode,
    /// Whether the user chose the mode explicitly.
    pub is_explicit: bool,
    /// Id of the preferred desktop; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_target_id: Option<Uuid>,
    /// Harness of the preferred desktop; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_harness: Option<Harness>,
}

/// Returns the preference of the caller. Without a choice, the mode is `LOCAL` when a desktop is online.
#[utoipa::path(get, path = "/settings/compute-preference", tag = "compute-preference",
    responses((status = 200, body = Data<ComputePreference>), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
) -> ApiResult<Data<ComputePreference>> {
    view(&app, &caller).await.context("Failed to fetch compute preference").map(Data::new)
}

async fn view(app: &ControlPlaneState, caller: &Caller) -> ApiResult<ComputePreference> {
    // Read from the writer: `set` returns the value that it has just written.
    let user = user::Entity::find_by_id(caller.user.id).one(app.store.writer()).await?;
    let chosen = user.as_ref().and_then(|user| user.preferred_compute_mode);
    let preferred = user.and_then(|user| user.preferred_compute_target_id);
    let targets = accessible(caller).all(app.store.reader()).await?;
    // A removed or no longer shared desktop is not in `targets` and is therefore ignored.
    let target = targets.iter().find(|target| Some(target.id) == preferred);
    let by_default =
        if targets.iter().any(|target| target.is_online) { ComputeMode::Local } else { ComputeMode::Cloud };
    Ok(ComputePreference {
        preferred_compute_mode: chosen.map_or(by_default, |mode| mode.0),
        is_explicit: chosen.is_some(),
        compute_target_id: target.map(|target| target.id),
        selected_harness: target.map(|target| target.selected_harness.0),
    })
}

/// New preference of the caller.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetComputePreference {
    /// `LOCAL` for a desktop, `CLOUD` otherwise.
    pub mode: ComputeMode,
    /// Id of the preferred desktop; absent for none in particular.
    pub compute_target_id: Option<Uuid>,
    /// Harness of that desktop; ignored unless the caller owns the desktop.
    pub selected_harness: Option<Harness>,
}

/// Sets the preference of the caller.
#[utoipa::path(put, path = "/settings/compute-preference", tag = "compute-preference", request_body = SetComputePreference,
    responses((status = 200, body = Data<ComputePreference>), ErrorResponses))]
pub async fn set(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Body(body): Body<SetComputePreference>,
) -> ApiResult<Data<ComputePreference>> {
    let set = async {
        let target = match body.compute_target_id {
            Some(id) => Some(find(&app.store, &caller, id).await?),
            None => None,
        };
        let tx = app.store.begin().await?;
        user::Entity::update_many()
            .col_expr(user::Column::PreferredComputeMode, Expr::value(StoredEnum(body.mode)))
            .col_expr(user::Column::PreferredComputeTargetId, Expr::value(body.compute_target_id))
            .filter(user::Column::Id.eq(caller.user.id))
            .exec(&tx)
            .await?;
        // The harness is a property of the desktop, so only its owner may change it.
        let owned = target.filter(|target| target.user_id == caller.user.id);
        if let (Some(target), Some(harness)) = (owned, body.selected_harness) {
            compute_target::Entity::update_many()
                .col_expr(compute_target::Column::SelectedHarness, Expr::value(StoredEnum(harness)))
                .filter(compute_target::Column::Id.eq(target.id))
                .exec(&tx)
                .await?;
        }
        let details = json!({
            "mode": body.mode,
            "computeTargetId": body.compute_target_id,
            "selectedHarness": body.selected_harness,
        });
        let (organization, user) = (caller.organization_id(), caller.user.id);
        caller.actor().record(&tx, organization, AuditAction::ComputePreferenceSet, user, details).await?;
        tx.commit().await?;
        view(&app, &caller).await
    };
    set.await.context("Failed to update compute preference").map(Data::new)
}
