//! Reports of desktops about the pull requests of their loops.

use axum::extract::State;
use loopgate_api::pull_request::{PullRequestReport, WatchedPullRequest};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::ApiKeyAuth;
use crate::change_requests::pull_requests;
use crate::dispatch::target;
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, bad_request};
use crate::extract::{Body, Id};

// Reports of one request; a desktop watches fewer pull requests.
const REPORT_LIMIT: usize = 100;

/// What a desktop has read at the code host.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportedPullRequests {
    /// At most 100. Those that no loop of the desktop opened are ignored.
    pub pull_requests: Vec<PullRequestReport>,
}

/// What a desktop has to watch.
#[derive(Debug, Serialize, ToSchema)]
pub struct WatchedPullRequests {
    /// Newest 50 pull requests of the desktop's loops that are not known to be merged or closed.
    pub open: Vec<WatchedPullRequest>,
}

/// Stores the standing of pull requests that loops of a desktop opened, and returns those that are open. Only the desktop
/// itself reports them: it authenticates with the API key that is bound to its public key.
#[utoipa::path(post, path = "/compute-targets/{id}/pull-requests", tag = "pull-requests",
    params(("id" = Uuid, Path)), request_body = ReportedPullRequests,
    responses((status = 200, body = Data<WatchedPullRequests>), ErrorResponses))]
pub async fn report(
    State(app): State<ControlPlaneState>,
    ApiKeyAuth(caller): ApiKeyAuth,
    id: Id,
    Body(body): Body<ReportedPullRequests>,
) -> ApiResult<Data<WatchedPullRequests>> {
    if body.pull_requests.len() > REPORT_LIMIT {
        return Err(bad_request("pullRequests: must have at most 100 items"));
    }
    let stored = async {
        let target = target::find_of_desktop(&app.store, &caller, id.or_unknown("Compute target")?).await?;
        Ok(WatchedPullRequests { open: pull_requests::report(&app, &target, body.pull_requests).await? })
    };
    stored.await.context("Failed to store pull requests").map(Data::new)
}
