//! The repositories that the organization's loops may touch.

use axum::extract::{Path, State};
use loopgate_api::ids::{BranchName, RepoFullName};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{AdminAuth, PersonAuth};
use crate::envelope::{Data, DeleteResponse};
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues, not_found};
use crate::extract::Body;
use crate::repositories::{self, AllowedRepository, RepositorySource};

/// Branches of a listed repository.
const BRANCH_LIMIT: usize = 1000;

/// The repositories.
#[derive(Debug, Serialize, ToSchema)]
pub struct AllowedRepositories {
    /// By name.
    pub repositories: Vec<AllowedRepository>,
}

/// Lists the repositories that loops may touch.
#[utoipa::path(get, path = "/repositories", tag = "repositories",
    responses((status = 200, body = Data<AllowedRepositories>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
) -> ApiResult<Data<AllowedRepositories>> {
    let allowed = repositories::allowed(&app, &caller.organization).await;
    let repositories = allowed.context("Failed to fetch repositories")?;
    Ok(Data::new(AllowedRepositories { repositories }))
}

/// A repository for the list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowRepository {
    /// `owner/name`.
    #[schema(value_type = String)]
    pub full_name: RepoFullName,
    /// All its branches, at most 1000; left out when loops may name any.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>)]
    pub branches: Option<Vec<BranchName>>,
}

/// Puts a repository on the list, or replaces its branches. The list counts only while the organization has no
/// installation at the code host.
#[utoipa::path(post, path = "/repositories", tag = "repositories", request_body = AllowRepository,
    responses((status = 200, body = Data<AllowedRepository>), ErrorResponses))]
pub async fn allow(
    State(app): State<ControlPlaneState>,
    AdminAuth(caller): AdminAuth,
    Body(body): Body<AllowRepository>,
) -> ApiResult<Data<AllowedRepository>> {
    let AllowRepository { full_name: name, branches } = body;
    let mut issues = ValidationIssues::default();
    let count = branches.as_ref().map_or(0, Vec::len);
    issues.require(count <= BRANCH_LIMIT, "branches", "must have at most 1000 item(s)");
    issues.into_result()?;
    let branches = branches.map(|branches| branches.iter().map(ToString::to_string).collect::<Vec<String>>());
    let stored = async {
        let tx = app.store.begin().await?;
        let organization = caller.organization_id();
        repositories::allow(&tx, organization, &name, branches.as_deref()).await?;
        let details = json!({"branches": branches});
        let action = AuditAction::RepositoryAllowed;
        caller.actor().record(&tx, organization, action, &name, details).await?;
        tx.commit().await?;
        Ok(())
    };
    stored.await.context("Failed to allow repository")?;
    let full_name = name.as_str().to_lowercase();
    Ok(Data::new(AllowedRepository { full_name, branches, source: RepositorySource::List }))
}

/// Takes a repository from the list. Loops that run go on.
#[utoipa::path(delete, path = "/repositories/{owner}/{name}", tag = "repositories",
    params(("owner" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = Data<DeleteResponse>), ErrorResponses))]
pub async fn forbid(
    State(app): State<ControlPlaneState>,
    AdminAuth(caller): AdminAuth,
    Path((owner, name)): Path<(String, String)>,
) -> ApiResult<Data<DeleteResponse>> {
    let full_name = format!("{owner}/{name}").parse::<RepoFullName>().map_err(|_| not_found("Repository"))?;
    let removed = async {
        let tx = app.store.begin().await?;
        let organization = caller.organization_id();
        if !repositories::forbid(&tx, organization, &full_name).await? {
            return Err(not_found("Repository"));
        }
        let action = AuditAction::RepositoryForbidden;
        caller.actor().record(&tx, organization, action, &full_name, json!({})).await?;
        tx.commit().await?;
        Ok(())
    };
    removed.await.context("Failed to remove repository")?;
    Ok(DeleteResponse::answer())
}
