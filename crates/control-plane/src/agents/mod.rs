//! Agents of an organization, provided to its loops.
//!
//! Versions of name and prompt are append-only. An agent belongs to one repository, or to all of them. Its
//! role is unique there, compared by ASCII letters and digits only; its slug is unique in the organization
//! and immutable.

pub mod for_loop;
pub mod proposals;
pub mod roster;
pub mod view;

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{ConnectionTrait, DatabaseTransaction, QuerySelect};
use serde_json::json;

use crate::audit::{Actor, AuditAction};
use crate::error::{ApiError, ApiResult, conflict, not_found};
use crate::store::entity::{agent, agent_version};
use crate::store::{Store, is_duplicate, now};

// Agents per organization with the same role, in different repositories. Bounds the search for a free slug.
const SLUGS_PER_ROLE: u32 = 100;
// Attempts of a change that conflicts with a concurrent one.
const ATTEMPTS: u32 = 5;

/// Reason why an agent was not stored.
#[derive(Debug)]
pub enum AgentError {
    /// Another agent of the repository has the role.
    RoleTaken,
    /// A concurrent change of the same agent was committed first.
    Concurrent,
    /// A database query has failed.
    Database(DbErr),
}

impl From<DbErr> for AgentError {
    fn from(error: DbErr) -> Self {
        if is_duplicate(&error) { Self::Concurrent } else { Self::Database(error) }
    }
}

impl From<AgentError> for ApiError {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::RoleTaken => conflict("An agent with this role already exists in this scope"),
            AgentError::Concurrent => conflict("Concurrent update conflict — please retry"),
            AgentError::Database(error) => Self::internal(error),
        }
    }
}

/// Returns the normalized role, which is compared and used as slug: its runs of ASCII letters and digits in
/// lower case, joined by hyphens. Empty when the role contains none.
pub fn role_key(role: &str) -> String {
    let lower = role.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// Returns an agent by id or slug. A text in the form of a UUID is always treated as id. Returns 404
/// otherwise.
pub async fn find(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    id_or_slug: &str,
) -> ApiResult<agent::Model> {
    let in_organization = agent::Entity::find().filter(agent::Column::OrganizationId.eq(organization_id));
    let selection = match Uuid::try_parse(id_or_slug) {
        Ok(id) => in_organization.filter(agent::Column::Id.eq(id)),
        Err(_) => in_organization.filter(agent::Column::Slug.eq(id_or_slug)),
    };
    selection.one(db).await?.ok_or_else(|| not_found("Agent"))
}

/// An agent that is not stored yet.
#[derive(Debug, Clone)]
pub struct NewAgent {
    /// Organization of the agent.
    pub organization_id: Uuid,
    /// User who creates it.
    pub user_id: Uuid,
    pub name: String,
    /// Area of expertise; must have a non-empty [`role_key`].
    pub role: String,
    /// Purpose of the agent.
    pub description: Option<String>,
    pub prompt: String,
    /// Repository of the agent; empty for all.
    pub source_repo: String,
    /// Id of the BOOTSTRAP run that created it.
    pub bootstrap_run_id: Option<String>,
    /// Change note of the first version.
    pub change_note: String,
}

/// Creates an agent with its first version.
pub async fn create(store: &Store, new: &NewAgent, actor: &Actor) -> Result<agent::Model, AgentError> {
    for _ in 1..ATTEMPTS {
        let tx = store.begin().await?;
        match insert(&tx, new).await {
            // A concurrent insert took the slug or the role; the next attempt sees it.
            Err(AgentError::Concurrent) => {}
            Err(error) => return Err(error),
            Ok(row) => {
                let details = json!({"slug": row.slug});
                actor.record(&tx, row.organization_id, AuditAction::AgentCreated, row.id, details).await?;
                tx.commit().await?;
                return Ok(row);
            }
        }
    }
    Err(AgentError::Concurrent)
}

async fn insert(tx: &DatabaseTransaction, new: &NewAgent) -> Result<agent::Model, AgentError> {
    let key = role_key(&new.role);
    if with_role(tx, new.organization_id, &new.source_repo, &key).await?.is_some() {
        return Err(AgentError::RoleTaken);
    }
    let at = now();
    let row = agent::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(new.organization_id),
        slug: Set(free_slug(tx, new.organization_id, &key).await?),
        role: Set(new.role.clone()),
        role_key: Set(key),
        name: Set(new.name.clone()),
        description: Set(new.description.clone()),
        prompt: Set(new.prompt.clone()),
        enabled: Set(true),
        source_repo: Set(new.source_repo.clone()),
        bootstrap_run_id: Set(new.bootstrap_run_id.clone()),
        current_version: Set(1),
        created_by: Set(new.user_id),
        created_at: Set(at),
        updated_at: Set(at),
    };
    let row = agent::Entity::insert(row).exec_with_returning(tx).await?;
    append_version(tx, &row, &new.change_note, new.user_id).await?;
    Ok(row)
}

/// Returns the agent with a role in a repository.
async fn with_role(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    source_repo: &str,
    role_key: &str,
) -> Result<Option<agent::Model>, DbErr> {
    agent::Entity::find()
        .filter(agent::Column::OrganizationId.eq(organization_id))
        .filter(agent::Column::SourceRepo.eq(source_repo))
        .filter(agent::Column::RoleKey.eq(role_key))
        .one(db)
        .await
}

/// Returns the first unused slug among `key`, `key-2`, `key-3` and so on.
async fn free_slug(db: &impl ConnectionTrait, organization_id: Uuid, key: &str) -> Result<String, DbErr> {
    let numbered = (2..=SLUGS_PER_ROLE).map(|number| format!("{key}-{number}"));
    let slugs: Vec<String> = std::iter::once(key.to_owned()).chain(numbered).collect();
    let taken: Vec<String> = agent::Entity::find()
        .filter(agent::Column::OrganizationId.eq(organization_id))
        .filter(agent::Column::Slug.is_in(slugs.iter().map(String::as_str)))
        .select_only()
        .column(agent::Column::Slug)
        .into_tuple()
        .all(db)
        .await?;
    let free = slugs.into_iter().find(|slug| !taken.contains(slug));
    free.ok_or_else(|| DbErr::Custom(format!("{SLUGS_PER_ROLE} agents have the role {key}")))
}

/// Stores the current name and prompt of an agent as a version.
async fn append_version(
    tx: &DatabaseTransaction,
    row: &agent::Model,
    change_note: &str,
    user_id: Uuid,
) -> Result<(), DbErr> {
    let version = agent_version::ActiveModel {
        id: Set(Uuid::now_v7()),
        agent_id: Set(row.id),
        version: Set(row.current_version),
        name: Set(row.name.clone()),
        prompt: Set(row.prompt.clone()),
        change_note: Set(Some(change_note.to_owned())),
        changed_by: Set(user_id),
        created_at: Set(row.updated_at),
    };
    agent_version::Entity::insert(version).exec_without_returning(tx).await?;
    Ok(())
}

/// Changes to an agent; `None` keeps the current value.
#[derive(Debug, Clone, Default)]
pub struct AgentChange {
    pub name: Option<String>,
    pub prompt: Option<String>,
    /// Purpose of the agent; an empty text removes it.
    pub description: Option<String>,
    /// Whether loops receive the agent.
    pub enabled: Option<bool>,
    /// Id of the BOOTSTRAP run that changed it.
    pub bootstrap_run_id: Option<String>,
}

/// Changes an agent. A changed name or prompt creates a version with the note.
///
/// # Errors
/// Fails with [`AgentError::Concurrent`] when the agent has changed since `row` was read.
pub async fn update(
    tx: &DatabaseTransaction,
    row: &agent::Model,
    change: AgentChange,
    change_note: &str,
    user_id: Uuid,
) -> Result<agent::Model, AgentError> {
    use agent::Column;
    let mut new = row.clone();
    new.name = change.name.unwrap_or(new.name);
    new.prompt = change.prompt.unwrap_or(new.prompt);
    new.description =
        change.description.map_or(new.description, |text| Some(text).filter(|text| !text.is_empty()));
    new.enabled = change.enabled.unwrap_or(new.enabled);
    new.bootstrap_run_id = change.bootstrap_run_id.or(new.bootstrap_run_id);
    if new == *row {
        return Ok(new);
    }
    let is_new_version = (&new.name, &new.prompt) != (&row.name, &row.prompt);
    new.current_version += i64::from(is_new_version);
    new.updated_at = now();
    let updated = agent::Entity::update_many()
        .col_expr(Column::Name, Expr::value(new.name.as_str()))
        .col_expr(Column::Prompt, Expr::value(new.prompt.as_str()))
        .col_expr(Column::Description, Expr::value(new.description.as_deref()))
        .col_expr(Column::Enabled, Expr::value(new.enabled))
        .col_expr(Column::BootstrapRunId, Expr::value(new.bootstrap_run_id.as_deref()))
        .col_expr(Column::CurrentVersion, Expr::value(new.current_version))
        .col_expr(Column::UpdatedAt, Expr::value(new.updated_at))
        .filter(Column::Id.eq(row.id))
        // Optimistic locking: a concurrent change has incremented the version.
        .filter(Column::CurrentVersion.eq(row.current_version))
        .exec(tx)
        .await?;
    if updated.rows_affected == 0 {
        return Err(AgentError::Concurrent);
    }
    if is_new_version {
        append_version(tx, &new, change_note, user_id).await?;
    }
    Ok(new)
}
