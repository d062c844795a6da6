//! Which repositories an organization's loops may touch.
//!
//! Where the organization has an installation of the code host's App, that decides. Otherwise an administrator may list repositories, with or without their
//! branches. No list at all means that every repository is allowed: the desktops' own sandboxes
//! decide. A branch is refused only when the branches of its repository are known.

use futures_util::future::try_join_all;
use http::StatusCode;
use loopgate_api::event::code;
use loopgate_api::launch::RepoRef;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, QueryOrder};
use serde_json::json;

use crate::code_host::{CodeHostError, InstalledApp};
use crate::error::{ApiError, ApiResult};
use crate::store::entity::repository;
use crate::store::now;
use crate::store::parse_json;

/// Adds a repository to the list of an organization, or replaces what is known of it.
pub async fn allow(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    full_name: &str,
    branches: Option<&[String]>,
) -> Result<(), DbErr> {
    let row = repository::ActiveModel {
        organization_id: Set(organization_id),
        full_name: Set(full_name.to_lowercase()),
        branches: Set(branches.map(|branches| json!(branches))),
        created_at: Set(now()),
    };
    let known = OnConflict::columns([repository::Column::OrganizationId, repository::Column::FullName])
        .update_column(repository::Column::Branches)
        .to_owned();
    repository::Entity::insert(row).on_conflict(known).exec_without_returning(db).await?;
    Ok(())
}

/// Refuses a loop over repositories that are not on the list, or over branches that do not exist.
/// All offenders are named together.
pub async fn authorize(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    primary: Option<&RepoRef>,
    peers: &[RepoRef],
) -> ApiResult<()> {
    let list = repository::Entity::find()
        .filter(repository::Column::OrganizationId.eq(organization_id))
        .order_by_asc(repository::Column::FullName)
        .all(db)
        .await?;
    if list.is_empty() {
        return Ok(());
    }
    let find = |repo: &RepoRef| list.iter().find(|row| row.full_name.eq_ignore_ascii_case(&repo.full_name));
    let wanted: Vec<&RepoRef> = primary.into_iter().chain(peers).collect();
    let foreign: Vec<&str> =
        wanted.iter().filter(|repo| find(repo).is_none()).map(|repo| repo.full_name.as_str()).collect();
    if !foreign.is_empty() {
        return Err(unauthorized_repositories(&foreign));
    }
    let lacks_branch = |repo: &&RepoRef| {
        let branches: Option<Vec<String>> = find(repo).and_then(|row| parse_json(row.branches.as_ref()));
        !repo.branch.is_empty() && branches.is_some_and(|branches| !branches.contains(&repo.branch))
    };
    let missing: Vec<&RepoRef> = wanted.into_iter().filter(lacks_branch).collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(branch_not_found(first, &missing)),
    }
}

/// Refuses a loop over repositories that the organization's installation does not reach, or over branches that do not
/// exist there. Answers at once for an organization without an installation.
pub async fn authorize_at_code_host(
    installation: Option<InstalledApp<'_>>,
    primary: Option<&RepoRef>,
    peers: &[RepoRef],
) -> ApiResult<()> {
    let Some(installation) = installation else { return Ok(()) };
    let wanted: Vec<&RepoRef> = primary.into_iter().chain(peers).collect();
    let reached = try_join_all(wanted.iter().map(|repo| installation.reaches(&repo.full_name))).await;
    let reached = reached.map_err(code_host_unavailable)?;
    let pairs = wanted.iter().zip(reached);
    let foreign: Vec<&str> =
        pairs.filter(|(_, reached)| !reached).map(|(repo, _)| repo.full_name.as_str()).collect();
    if !foreign.is_empty() {
        return Err(unauthorized_repositories(&foreign));
    }
    let named: Vec<&RepoRef> = wanted.into_iter().filter(|repo| !repo.branch.is_empty()).collect();
    let known = try_join_all(named.iter().map(|repo| installation.has_branch(repo))).await;
    let known = known.map_err(code_host_unavailable)?;
    let missing: Vec<&RepoRef> =
        named.into_iter().zip(known).filter(|(_, known)| !known).map(|(repo, _)| repo).collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(branch_not_found(first, &missing)),
    }
}

fn code_host_unavailable(error: CodeHostError) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, format!("The repositories cannot be checked: {error}"))
        .code("code_host_unavailable")
}

/// The answer for repositories that the organization's loops may not touch.
pub fn unauthorized_repositories(names: &[&str]) -> ApiError {
    let text = format!(
        "GitHub App installation does not have access to the following repositories: {}",
        names.join(", ")
    );
    ApiError::new(StatusCode::FORBIDDEN, text)
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
