//! Code host tokens for the runner of a loop.

use axum::extract::State;
use futures_util::future::try_join_all;
use http::StatusCode;
use loopgate_api::launch::RepoRef;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::RunnerAuth;
use crate::code_host::{InstallationError, InstalledApp};
use crate::envelope::Data;
use crate::error::{
    ApiError, ApiResult, ErrorResponses, ResultExt, ValidationIssues, bad_request, forbidden,
};
use crate::extract::OptionalBody;
use crate::loops::create::check_inputs;
use crate::loops::revival;
use crate::repositories::unauthorized_repositories;
use crate::store::entity::{agent_loop, organization};
use crate::store::parse_json;
use sea_orm::prelude::*;

/// Selects the peer repositories to create tokens for.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GithubTokenRequest {
    /// Peer repositories of the loop, at most 5; all of them by default.
    pub additional_repos: Option<Vec<RepoRef>>,
}

/// Tokens for the repositories of a loop, each valid for one hour.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GithubTokens {
    /// Token for the primary repository.
    pub token: String,
    /// Tokens for the peer repositories.
    pub additional_repo_tokens: Vec<RepoToken>,
}

/// Token for one repository.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepoToken {
    /// Full name of the repository, `owner/name`.
    pub full_name: String,
    /// Token that gives access to this repository only.
    pub token: String,
}

/// Creates a token for each repository of the loop. Returns 410 when the loop has finished.
#[utoipa::path(post, path = "/loops/{id}/github-token", operation_id = "github_token", tag = "runner",
    params(("id" = Uuid, Path)), request_body = Option<GithubTokenRequest>,
    responses((status = 200, body = Data<GithubTokens>), (status = 410, body = crate::error::FailureBody), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    runner: RunnerAuth,
    OptionalBody(body): OptionalBody<GithubTokenRequest>,
) -> ApiResult<Data<GithubTokens>> {
    let row = runner.row;
    if row.status.0.is_terminal() {
        return Err(revival::terminal_loop_error());
    }
    let primary: Option<RepoRef> = parse_json(row.repo.as_ref());
    let primary = primary.ok_or_else(|| bad_request("Loop has no linked repository"))?;
    let peers = peers(&row, body)?;
    let tokens = async {
        let installation = installation(&app, &row).await?;
        let primary = token(installation, &primary.full_name);
        // Each token is a request to the code host, so they are requested concurrently.
        let peers = try_join_all(peers.iter().map(async |peer| {
            let token = token(installation, &peer.full_name).await?;
            Ok(RepoToken { full_name: peer.full_name.clone(), token: token.expose_secret().to_owned() })
        }));
        let (primary, additional_repo_tokens) = futures_util::try_join!(primary, peers)?;
        Ok(GithubTokens { token: primary.expose_secret().to_owned(), additional_repo_tokens })
    };
    tokens.await.context("Failed to generate GitHub token").map(Data::new)
}

/// Returns the requested peer repositories. Returns 403 for a repository that is not a peer of the loop.
fn peers(row: &agent_loop::Model, body: GithubTokenRequest) -> ApiResult<Vec<RepoRef>> {
    let allowed: Vec<RepoRef> = parse_json(row.additional_repos.as_ref()).unwrap_or_default();
    let Some(requested) = body.additional_repos else { return Ok(allowed) };
    let mut issues = ValidationIssues::default();
    check_inputs(&mut issues, None, None, &requested);
    issues.into_result()?;
    let is_allowed = |repo: &RepoRef| {
        allowed
            .iter()
            .any(|peer| peer.full_name.eq_ignore_ascii_case(&repo.full_name) && peer.branch == repo.branch)
    };
    if requested.iter().all(is_allowed) {
        return Ok(requested);
    }
    Err(ApiError::new(StatusCode::FORBIDDEN, "Additional repos not authorized for this loop"))
}

async fn installation<'a>(
    app: &'a ControlPlaneState,
    row: &agent_loop::Model,
) -> ApiResult<InstalledApp<'a>> {
    let organization = organization::Entity::find_by_id(row.organization_id).one(app.store.reader()).await?;
    let organization = organization.ok_or_else(forbidden)?;
    app.installation(&organization).ok_or_else(|| {
        let text = "The organization has not installed the code host's App";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, text).code("code_host_not_connected")
    })
}

async fn token(installation: InstalledApp<'_>, full_name: &str) -> ApiResult<SecretString> {
    installation.token(full_name).await.map_err(|error| match error {
        // The App's installation has lost access to the repository since the loop was created.
        InstallationError::NoAccess => unauthorized_repositories(&[full_name]),
        InstallationError::Unavailable(_) => ApiError::internal(error),
    })
}
