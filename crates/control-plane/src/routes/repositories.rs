//! Repositories that the organization's loops may access.

use axum::extract::{Path, State};
use loopgate_api::ids::{BranchName, RepoFullName};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{AdminAuth, UserAuth};
use crate::envelope::{Data, DeleteResponse};
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues, not_found};
use crate::extract::Body;
use crate::repositories::{self, AllowedRepository, RepositorySource};

// Branches of an allowed repository. They are stored in one column and compared one by one.
const BRANCH_LIMIT: usize = 1000;

/// Repositories that loops may access.
#[derive(Debug, Serialize, ToSchema)]
pub struct AllowedRepositories {
    /// Repositories in the order of their names.
    pub repositories: Vec<AllowedRepository>,
}

/// Lists the repositories that loops may access.
#[utoipa::path(get, path = "/repositories", tag = "repositories",
    responses((status = 200, body = Data<AllowedRepositories>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
) -> ApiResult<Data<AllowedRepositories>> {
    let allowed = repositories::allowed(&app, &caller.organization).await;
    let repositories = allowed.context("Failed to fetch repositories")?;
    Ok(Data::new(AllowedRepositories { repositories }))
}

/// Request to allow a repository.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowRepository {
    /// Full name of the repository, `owner/name`.
    #[schema(value_type = String)]
    pub full_name: RepoFullName,
    /// Branches that loops may use, at most 1000; absent for all.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>)]
    pub branches: Option<Vec<BranchName>>,
}

/// Adds a repository to the list of allowed repositories, or replaces its branches. The list is used only
/// while the organization has no installation at the code host.
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
    let allowed = async {
        let tx = app.store.begin().await?;
        let organization = caller.organization_id();
        repositories::allow(&tx, organization, &name, branches.as_deref()).await?;
        let details = json!({"branches": branches});
        let action = AuditAction::RepositoryAllowed;
        caller.actor().record(&tx, organization, action, &name, details).await?;
        tx.commit().await?;
        Ok(())
    };
    allowed.await.context("Failed to allow repository")?;
    let full_name = name.as_str().to_lowercase();
    Ok(Data::new(AllowedRepository { full_name, branches, source: RepositorySource::List }))
}

/// Removes a repository from the list of allowed repositories. Running loops are not affected.
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
