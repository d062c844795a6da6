//! Which repositories an organization's loops may touch: none but those that are known here.
//!
//! An installation of the code host's App knows them, and then nothing else counts. Without one they are those that an
//! administrator listed, with or without their branches, and those of the machine when the control plane runs on its
//! user's own. A branch is refused only when the branches of its repository are known.

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
use crate::code_host::{CodeHostError, InstalledApp};
use crate::error::{ApiError, ApiResult};
use crate::store::entity::{organization, repository};
use crate::store::{now, parse_json};

/// What makes a repository known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RepositorySource {
    /// The installation at the code host.
    Installation,
    /// An administrator.
    List,
    /// The machine that the control plane runs on.
    Machine,
}

/// A repository that loops may touch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowedRepository {
    /// `owner/name`.
    pub full_name: String,
    /// All its branches; `null` when they are not known.
    pub branches: Option<Vec<String>>,
    /// What makes it known.
    pub source: RepositorySource,
}

impl AllowedRepository {
    fn is(&self, full_name: &str) -> bool {
        self.full_name.eq_ignore_ascii_case(full_name)
    }

    fn lacks_branch(&self, branch: &str) -> bool {
        let known = self.branches.as_ref();
        !branch.is_empty() && known.is_some_and(|branches| branches.iter().all(|known| known != branch))
    }
}

/// Adds a repository to the list of an organization, or replaces what is known of it.
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
    let known = OnConflict::columns([repository::Column::OrganizationId, repository::Column::FullName])
        .update_column(repository::Column::Branches)
        .to_owned();
    repository::Entity::insert(row).on_conflict(known).exec_without_returning(db).await?;
    Ok(())
}

/// Takes a repository from the list; answers whether it was there.
pub async fn forbid(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    full_name: &RepoFullName,
) -> Result<bool, DbErr> {
    let id = (organization_id, full_name.as_str().to_lowercase());
    let removed = repository::Entity::delete_by_id(id).exec(db).await?;
    Ok(removed.rows_affected > 0)
}

/// Every repository that an organization's loops may touch, by name.
pub async fn allowed(
    app: &ControlPlaneState,
    organization: &organization::Model,
) -> ApiResult<Vec<AllowedRepository>> {
    if let Some(installation) = app.installation(organization) {
        let reached = installation.repositories().await.map_err(code_host_unavailable)?;
        return Ok(without_branches(reached, RepositorySource::Installation).collect());
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

/// Refuses a loop over repositories that are not known, or over branches that do not exist. All offenders are named
/// together.
pub async fn authorize(
    app: &ControlPlaneState,
    organization: &organization::Model,
    primary: Option<&RepoRef>,
    peers: &[RepoRef],
) -> ApiResult<()> {
    let wanted: Vec<&RepoRef> = primary.into_iter().chain(peers).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    if let Some(installation) = app.installation(organization) {
        return authorize_at_code_host(installation, &wanted).await;
    }
    let allowed = allowed(app, organization).await?;
    let find = |repo: &RepoRef| allowed.iter().find(|allowed| allowed.is(&repo.full_name));
    let lacks_branch = |repo: &RepoRef| find(repo).is_some_and(|allowed| allowed.lacks_branch(&repo.branch));
    let closed: Vec<&str> =
        wanted.iter().filter(|repo| find(repo).is_none()).map(|repo| repo.full_name.as_str()).collect();
    if !closed.is_empty() {
        return Err(closed_repositories("These repositories are not open to loops", &closed));
    }
    refuse_missing_branches(wanted.iter().copied().filter(|repo| lacks_branch(repo)).collect())
}

async fn authorize_at_code_host(installation: InstalledApp<'_>, wanted: &[&RepoRef]) -> ApiResult<()> {
    let reached = try_join_all(wanted.iter().map(|repo| installation.reaches(&repo.full_name))).await;
    let pairs = wanted.iter().zip(reached.map_err(code_host_unavailable)?);
    let foreign: Vec<&str> =
        pairs.filter(|(_, reached)| !reached).map(|(repo, _)| repo.full_name.as_str()).collect();
    if !foreign.is_empty() {
        return Err(unauthorized_repositories(&foreign));
    }
    let named: Vec<&RepoRef> = wanted.iter().copied().filter(|repo| !repo.branch.is_empty()).collect();
    let known = try_join_all(named.iter().map(|repo| installation.has_branch(repo))).await;
    let pairs = named.into_iter().zip(known.map_err(code_host_unavailable)?);
    refuse_missing_branches(pairs.filter(|(_, known)| !known).map(|(repo, _)| repo).collect())
}

fn code_host_unavailable(error: CodeHostError) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, format!("The repositories cannot be checked: {error}"))
        .code("code_host_unavailable")
}

fn refuse_missing_branches(missing: Vec<&RepoRef>) -> ApiResult<()> {
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(branch_not_found(first, &missing)),
    }
}

/// The answer for repositories that the installation does not reach.
pub fn unauthorized_repositories(names: &[&str]) -> ApiError {
    closed_repositories("GitHub App installation does not have access to the following repositories", names)
}

fn closed_repositories(reason: &str, names: &[&str]) -> ApiError {
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
