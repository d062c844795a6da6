//! Authorization of repositories: loops of an organization may use only the repositories listed here.
//!
//! With a code host installation, exactly the repositories that it can access are allowed. Otherwise the
//! allowed repositories are those that an administrator has added, and those of the machine when the control
//! plane serves only its user. A branch is rejected only when the branches of its repository are known.

use std::fmt::Debug;

use futures_util::future::try_join_all;
use http::StatusCode;
use loopgate_api::event::code;
use loopgate_api::ids::RepoFullName;
use loopgate_api::launch::RepoRef;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, QueryOrder};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::code_host::{InstallationError, InstalledApp};
use crate::error::{ApiError, ApiResult};
use crate::store::entity::{organization, repository};
use crate::store::{now, parse_json};

/// The reason why a repository is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RepositorySource {
    /// Accessible to the installation at the code host.
    Installation,
    /// Added by an administrator of the organization.
    List,
    /// Present on the machine that the control plane runs on.
    Machine,
}

/// A repository that loops may use.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowedRepository {
    /// Full name in the form `owner/name`.
    pub full_name: String,
    /// All branches of the repository; `null` when they are not known.
    pub branches: Option<Vec<String>>,
    /// Reason why the repository is allowed.
    pub source: RepositorySource,
}

impl AllowedRepository {
    fn is(&self, full_name: &str) -> bool {
        self.full_name.eq_ignore_ascii_case(full_name)
    }

    fn lacks_branch(&self, branch: &str) -> bool {
        // An empty branch stands for the default branch, which always exists.
        let branches = self.branches.as_ref();
        !branch.is_empty()
            && branches.is_some_and(|branches| branches.iter().all(|existing| existing != branch))
    }
}

/// Adds a repository to the organization's list, or replaces the branches of an existing entry.
pub async fn allow(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    full_name: &RepoFullName,
    branches: Option<&[String]>,
) -> Result<(), DbErr> {
    let row = repository::ActiveModel {
        organization_id: Set(organization_id),
        full_name: Set(full_name.as_str().to_lowercase()),
        branches: Set(branches.map(|branches| json!(branches))),
        created_at: Set(now()),
    };
    let on_conflict = OnConflict::columns([repository::Column::OrganizationId, repository::Column::FullName])
        .update_column(repository::Column::Branches)
        .to_owned();
    repository::Entity::insert(row).on_conflict(on_conflict).exec_without_returning(db).await?;
    Ok(())
}

/// Removes a repository from the list. Returns whether it was listed.
pub async fn forbid(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    full_name: &RepoFullName,
) -> Result<bool, DbErr> {
    let id = (organization_id, full_name.as_str().to_lowercase());
    let removed = repository::Entity::delete_by_id(id).exec(db).await?;
    Ok(removed.rows_affected > 0)
}

/// Lists all repositories that loops of an organization may use, sorted by name.
pub async fn allowed(
    app: &ControlPlaneState,
    organization: &organization::Model,
) -> ApiResult<Vec<AllowedRepository>> {
    if let Some(installation) = app.installation(organization) {
        let full_names = installation.repositories().await.map_err(code_host_unavailable)?;
        return Ok(without_branches(full_names, RepositorySource::Installation).collect());
    }
    let listed = repository::Entity::find()
        .filter(repository::Column::OrganizationId.eq(organization.id))
        .order_by_asc(repository::Column::FullName)
        .all(app.store.reader())
        .await?;
    let listed = listed.into_iter().map(|row| AllowedRepository {
        branches: parse_json(row.branches.as_ref()),
        full_name: row.full_name,
        source: RepositorySource::List,
    });
    let mut allowed: Vec<AllowedRepository> = listed.collect();
    let machine = without_branches(of_machine(app).await?, RepositorySource::Machine);
    let unlisted: Vec<AllowedRepository> =
        machine.filter(|own| !allowed.iter().any(|listed| listed.is(&own.full_name))).collect();
    allowed.extend(unlisted);
    allowed.sort_by(|one, other| one.full_name.cmp(&other.full_name));
    Ok(allowed)
}

fn without_branches(
    full_names: Vec<String>,
    source: RepositorySource,
) -> impl Iterator<Item = AllowedRepository> {
    full_names.into_iter().map(move |full_name| AllowedRepository { full_name, branches: None, source })
}

async fn of_machine(app: &ControlPlaneState) -> ApiResult<Vec<String>> {
    let Some(machine) = app.config.machine_repositories.clone() else { return Ok(Vec::new()) };
    let names =
        tokio::task::spawn_blocking(move || machine.full_names()).await.map_err(ApiError::internal)?;
    let names = names.map_err(|error| {
        let text = format!("The repositories of this machine cannot be read: {error}");
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, text).code("repositories_unavailable")
    })?;
    Ok(names.iter().map(ToString::to_string).collect())
}

/// Rejects a loop whose repositories are not allowed (403) or whose branches do not exist (400). The error
/// lists all of them.
pub async fn authorize(
    app: &ControlPlaneState,
    organization: &organization::Model,
    primary: Option<&RepoRef>,
    peers: &[RepoRef],
) -> ApiResult<()> {
    let repos: Vec<&RepoRef> = primary.into_iter().chain(peers).collect();
    if repos.is_empty() {
        return Ok(());
    }
    if let Some(installation) = app.installation(organization) {
        return authorize_at_code_host(installation, &repos).await;
    }
    let allowed = allowed(app, organization).await?;
    let find = |repo: &RepoRef| allowed.iter().find(|allowed| allowed.is(&repo.full_name));
    let lacks_branch = |repo: &RepoRef| find(repo).is_some_and(|allowed| allowed.lacks_branch(&repo.branch));
    let forbidden: Vec<&str> =
        repos.iter().filter(|repo| find(repo).is_none()).map(|repo| repo.full_name.as_str()).collect();
    if !forbidden.is_empty() {
        // On a user's own machine, a missing clone is more likely than a missing permission.
        let reason = match app.config.machine_repositories {
            Some(_) => {
                "Repositories neither found on this machine nor added by an administrator (Loopgate searches the sandbox \
                 directory for clones, three levels deep)"
            }
            None => "Repositories not allowed for loops (an administrator can add them)",
        };
        return Err(forbidden_repositories(reason, &forbidden));
    }
    refuse_missing_branches(repos.iter().copied().filter(|repo| lacks_branch(repo)).collect())
}

async fn authorize_at_code_host(installation: InstalledApp<'_>, repos: &[&RepoRef]) -> ApiResult<()> {
    let accessible = try_join_all(repos.iter().map(|repo| installation.can_access(&repo.full_name))).await;
    let pairs = repos.iter().zip(accessible.map_err(code_host_unavailable)?);
    let inaccessible: Vec<&str> =
        pairs.filter(|(_, accessible)| !accessible).map(|(repo, _)| repo.full_name.as_str()).collect();
    if !inaccessible.is_empty() {
        return Err(unauthorized_repositories(&inaccessible));
    }
    let with_branch: Vec<&RepoRef> = repos.iter().copied().filter(|repo| !repo.branch.is_empty()).collect();
    let exist = try_join_all(with_branch.iter().map(|repo| installation.has_branch(repo))).await;
    let pairs = with_branch.into_iter().zip(exist.map_err(code_host_unavailable)?);
    refuse_missing_branches(pairs.filter(|(_, exists)| !exists).map(|(repo, _)| repo).collect())
}

fn code_host_unavailable(error: InstallationError) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, format!("The repositories cannot be checked: {error}"))
        .code("code_host_unavailable")
}

fn refuse_missing_branches(missing: Vec<&RepoRef>) -> ApiResult<()> {
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(branch_not_found(first, &missing)),
    }
}

/// Returns the 403 for repositories that the installation cannot access.
pub fn unauthorized_repositories(names: &[&str]) -> ApiError {
    forbidden_repositories(
        "GitHub App installation does not have access to the following repositories",
        names,
    )
}

fn forbidden_repositories(reason: &str, names: &[&str]) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, format!("{reason}: {}", names.join(", ")))
        .code(code::REPO_NOT_ALLOWED)
        .detail("name", "UnauthorizedRepoError")
        .detail("repoFullName", names.join(","))
}

fn branch_not_found(first: &RepoRef, all: &[&RepoRef]) -> ApiError {
    let text = format!("Branch \"{}\" does not exist in repository {}", first.branch, first.full_name);
    let missing: Vec<_> =
        all.iter().map(|repo| json!({"branch": repo.branch, "repoFullName": repo.full_name})).collect();
    ApiError::new(StatusCode::BAD_REQUEST, text)
        .code(code::PRE_RUN_VALIDATION_FAILED)
        .detail("name", "BranchNotFoundError")
        .detail("branch", first.branch.clone())
        .detail("repoFullName", first.full_name.clone())
        .detail("missing", missing)
}
