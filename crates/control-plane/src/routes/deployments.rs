//! Reports of desktops about the deployments of their loops' worktrees.

use axum::extract::State;
use loopgate_api::deployment::DeploymentReport;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::ApiKeyAuth;
use crate::change_requests::deployments;
use crate::dispatch::target;
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, bad_request};
use crate::extract::{Body, Id};

// Deployments of one desktop, each of which is a running server.
const REPORT_LIMIT: usize = 100;

/// All deployments of a desktop.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportedDeployments {
    /// At most 100. Those of loops of other desktops are ignored. Deployments that are not among them have ended.
    pub deployments: Vec<DeploymentReport>,
}

/// Response to a stored report.
#[derive(Debug, Serialize, ToSchema)]
pub struct StoredDeployments {
    /// Number of the reported deployments.
    pub count: usize,
}

/// Replaces the deployments of a desktop, which pages show at the change requests of their loops. Only the desktop itself
/// reports them: it authenticates with the API key that is bound to its public key.
#[utoipa::path(put, path = "/compute-targets/{id}/deployments", operation_id = "report_deployments", tag = "compute-targets",
    params(("id" = Uuid, Path)), request_body = ReportedDeployments,
    responses((status = 200, body = Data<StoredDeployments>), ErrorResponses))]
pub async fn put(
    State(app): State<ControlPlaneState>,
    ApiKeyAuth(caller): ApiKeyAuth,
    id: Id,
    Body(body): Body<ReportedDeployments>,
) -> ApiResult<Data<StoredDeployments>> {
    let count = body.deployments.len();
    if count > REPORT_LIMIT {
        return Err(bad_request("deployments: must have at most 100 items"));
    }
    let stored = async {
        let target = target::find_of_desktop(&app.store, &caller, id.or_unknown("Compute target")?).await?;
        deployments::report(&app, &target, body.deployments).await?;
        Ok(StoredDeployments { count })
    };
    stored.await.context("Failed to store deployments").map(Data::new)
}
