//! Which repositories an organization's loops may touch.
//!
//! Without a connected code host, an administrator may list repositories, with or without their
//! branches. No list at all means that every repository is allowed: the desktops' own sandboxes
//! decide. A branch is refused only when the branches of its repository are known.

use http::StatusCode;
use loopgate_api::event::code;
use loopgate_api::launch::RepoRef;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, QueryOrder};
use serde_json::json;

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
    let lacks_branch = |repo: &&&RepoRef| {
        let branches: Option<Vec<String>> = find(repo).and_then(|row| parse_json(row.branches.as_ref()));
        !repo.branch.is_empty() && branches.is_some_and(|branches| !branches.contains(&repo.branch))
    };
    let missing: Vec<&&RepoRef> = wanted.iter().filter(lacks_branch).collect();
    match missing.as_slice() {
        [] => Ok(()),
        [first, ..] => Err(branch_not_found(first, &missing)),
    }
}

fn unauthorized_repositories(names: &[&str]) -> ApiError {
    let text = format!(
        "GitHub App installation does not have access to the following repositories: {}",
        names.join(", ")
    );
    ApiError::new(StatusCode::FORBIDDEN, text)
        .code(code::REPO_NOT_ALLOWED)
        .detail("name", "UnauthorizedRepoError")
        .detail("repoFullName", names.join(","))
}

fn branch_not_found(first: &RepoRef, all: &[&&RepoRef]) -> ApiError {
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
