//! Settings of the caller's organization.

use axum::extract::State;
use serde_json::json;

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{AdminAuth, UserAuth};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues};
use crate::extract::Body;
use crate::organizations::{OrganizationSettings, settings, store_settings};

/// Returns the settings of the organization.
#[utoipa::path(get, path = "/organization/settings", operation_id = "organization_settings", tag = "organization",
    responses((status = 200, body = Data<OrganizationSettings>), ErrorResponses))]
pub async fn get(UserAuth(caller): UserAuth) -> Data<OrganizationSettings> {
    Data::new(settings(&caller.organization))
}

/// Replaces the settings; absent members are reset to their defaults.
#[utoipa::path(put, path = "/organization/settings", operation_id = "set_organization_settings", tag = "organization",
    request_body = OrganizationSettings, responses((status = 200, body = Data<OrganizationSettings>), ErrorResponses))]
pub async fn set(
    State(app): State<ControlPlaneState>,
    AdminAuth(caller): AdminAuth,
    Body(body): Body<OrganizationSettings>,
) -> ApiResult<Data<OrganizationSettings>> {
    let mut issues = ValidationIssues::default();
    issues.require(body.max_concurrent_loops != Some(0), "maxConcurrentLoops", "must be at least 1");
    issues.into_result()?;
    let updated = async {
        let tx = app.store.begin().await?;
        store_settings(&tx, caller.organization_id(), &body).await?;
        let organization = caller.organization_id();
        let details = json!({"before": settings(&caller.organization), "after": body});
        let action = AuditAction::OrganizationSettingsSet;
        caller.actor().record(&tx, organization, action, organization, details).await?;
        tx.commit().await?;
        Ok(body)
    };
    updated.await.context("Failed to update organization settings").map(Data::new)
}
