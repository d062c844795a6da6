//! Agents and repository settings of a loop, in their current versions at its launch.

use loopgate_api::launch::{AgentDefinition, RepoConfig, RepoRef};
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, Func, IntoColumnRef};
use sea_orm::{ConnectionTrait, QueryOrder};
use serde_json::Value;

use crate::store::entity::{agent, repository_config};

/// Returns the lower-case column: repository names of code hosts are case-insensitive.
fn lower(column: impl IntoColumnRef) -> Expr {
    Func::lower(Expr::col(column)).into()
}

fn names(repos: &[RepoRef]) -> impl Iterator<Item = String> {
    repos.iter().map(|repo| repo.full_name.to_lowercase())
}

/// Returns the enabled agents of the repositories and of the whole organization, ordered by slug.
pub async fn agents(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    repos: &[RepoRef],
) -> Result<Vec<AgentDefinition>, DbErr> {
    let scopes = names(repos).chain([String::new()]);
    let rows = agent::Entity::find()
        .filter(agent::Column::OrganizationId.eq(organization_id))
        .filter(agent::Column::Enabled.eq(true))
        .filter(lower(agent::Column::SourceRepo).is_in(scopes))
        .order_by_asc(agent::Column::Slug)
        .all(db)
        .await?;
    let definition =
        |row: agent::Model| AgentDefinition { slug: row.slug, name: row.name, prompt: row.prompt };
    Ok(rows.into_iter().map(definition).collect())
}

/// Returns the critic gates of the repositories that have any.
pub async fn repo_configs(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    repos: &[RepoRef],
) -> Result<Vec<RepoConfig>, DbErr> {
    let rows = repository_config::Entity::find()
        .filter(repository_config::Column::OrganizationId.eq(organization_id))
        .filter(lower(repository_config::Column::RepoFullName).is_in(names(repos)))
        .order_by_asc(repository_config::Column::RepoFullName)
        .all(db)
        .await?;
    let config = |row: repository_config::Model| match row.critic_gates {
        Value::Object(critic_gates) => Some(RepoConfig { repo_full_name: row.repo_full_name, critic_gates }),
        _ => None,
    };
    Ok(rows.into_iter().filter_map(config).collect())
}
