//! Where a person's loops run unless a request says otherwise.

use axum::extract::State;
use loopgate_api::launch::Harness;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::{Caller, PersonAuth};
use crate::dispatch::target::{accessible, find};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt};
use crate::extract::Body;
use crate::store::column::StoredEnum;
use crate::store::entity::user::ComputeMode;
use crate::store::entity::{compute_target, user};

/// The preference.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComputePreference {
    /// On a desktop or in a cloud; this installation has no cloud.
    pub preferred_compute_mode: ComputeMode,
    /// Whether the person has chosen it.
    pub is_explicit: bool,
    /// The preferred desktop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_target_id: Option<Uuid>,
    /// Which provider runs its loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_harness: Option<Harness>,
}

/// The preference of the caller. Without a choice it is a desktop when one is online.
#[utoipa::path(get, path = "/settings/compute-preference", tag = "compute-preference",
    responses((status = 200, body = Data<ComputePreference>), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
) -> ApiResult<Data<ComputePreference>> {
    shown(&app, &caller).await.context("Failed to fetch compute preference").map(Data::new)
}

async fn shown(app: &ControlPlaneState, caller: &Caller) -> ApiResult<ComputePreference> {
    let user = user::Entity::find_by_id(caller.user.id).one(app.store.writer()).await?;
    let chosen = user.as_ref().and_then(|user| user.preferred_compute_mode);
    let preferred = user.and_then(|user| user.preferred_compute_target_id);
    let targets = accessible(caller).all(app.store.reader()).await?;
    // One that was removed, or is shared no longer, is preferred no longer.
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

/// What is preferred from now on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetComputePreference {
    /// On a desktop or in a cloud.
    pub mode: ComputeMode,
    /// The preferred desktop; left out for any.
    pub compute_target_id: Option<Uuid>,
    /// Which provider runs the loops of that desktop; only its owner may say.
    pub selected_harness: Option<Harness>,
}

/// Sets the preference of the caller.
#[utoipa::path(put, path = "/settings/compute-preference", tag = "compute-preference", request_body = SetComputePreference,
    responses((status = 200, body = Data<ComputePreference>), ErrorResponses))]
pub async fn set(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
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
        let own = target.filter(|target| target.user_id == caller.user.id);
        if let (Some(target), Some(harness)) = (own, body.selected_harness) {
            compute_target::Entity::update_many()
                .col_expr(compute_target::Column::SelectedHarness, Expr::value(StoredEnum(harness)))
                .filter(compute_target::Column::Id.eq(target.id))
                .exec(&tx)
                .await?;
        }
        tx.commit().await?;
        shown(&app, &caller).await
    };
    set.await.context("Failed to update compute preference").map(Data::new)
}
