//! Tokens of the code host for the runner of a loop.

use axum::extract::State;
use futures_util::future::try_join_all;
use http::StatusCode;
use loopgate_api::launch::RepoRef;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::RunnerAuth;
use crate::code_host::{CodeHostError, InstalledApp};
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

/// Peers for which tokens are wanted.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GithubTokenRequest {
    /// Some of the loop's peers, at most 5; all when left out.
    pub additional_repos: Option<Vec<RepoRef>>,
}

/// A token for each repository, good for an hour.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GithubTokens {
    /// For the primary repository.
    pub token: String,
    /// For the peers.
    pub additional_repo_tokens: Vec<RepoToken>,
}

/// The token for one repository.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepoToken {
    /// `owner/name`.
    pub full_name: String,
    /// Reaches this repository only.
    pub token: String,
}

/// Makes a token for each repository of a loop.
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
        return Err(revival::ended());
    }
    let primary: Option<RepoRef> = parse_json(row.repo.as_ref());
    let primary = primary.ok_or_else(|| bad_request("Loop has no linked repository"))?;
    let peers = peers(&row, body)?;
    let tokens = async {
        let installation = installation(&app, &row).await?;
        let primary = token(installation, &primary.full_name);
        let peers = try_join_all(peers.iter().map(async |peer| {
            let token = token(installation, &peer.full_name).await?;
            Ok(RepoToken { full_name: peer.full_name.clone(), token: token.expose_secret().to_owned() })
        }));
        let (primary, additional_repo_tokens) = futures_util::try_join!(primary, peers)?;
        Ok(GithubTokens { token: primary.expose_secret().to_owned(), additional_repo_tokens })
    };
    tokens.await.context("Failed to generate GitHub token").map(Data::new)
}

/// The peers that are wanted; only those that the loop was made with.
fn peers(row: &agent_loop::Model, body: GithubTokenRequest) -> ApiResult<Vec<RepoRef>> {
    let own: Vec<RepoRef> = parse_json(row.additional_repos.as_ref()).unwrap_or_default();
    let Some(wanted) = body.additional_repos else { return Ok(own) };
    let mut issues = ValidationIssues::default();
    check_inputs(&mut issues, None, None, &wanted);
    issues.into_result()?;
    let is_own = |repo: &RepoRef| {
        own.iter().any(|own| own.full_name.eq_ignore_ascii_case(&repo.full_name) && own.branch == repo.branch)
    };
    if wanted.iter().all(is_own) {
        return Ok(wanted);
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
        let text = "The organization has no installation of the code host's App";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, text).code("code_host_not_connected")
    })
}

async fn token(installation: InstalledApp<'_>, full_name: &str) -> ApiResult<SecretString> {
    installation.token(full_name).await.map_err(|error| match error {
        CodeHostError::NoAccess => unauthorized_repositories(&[full_name]),
        CodeHostError::Unavailable(_) => ApiError::internal(error),
    })
}
