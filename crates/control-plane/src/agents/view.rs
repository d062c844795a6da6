//! Views of agents in responses.

use std::collections::HashMap;

use sea_orm::ConnectionTrait;
use sea_orm::prelude::*;
use serde::Serialize;
use utoipa::ToSchema;

use crate::store::entity::{agent, agent_version, user};
use crate::store::iso;

/// An agent without its prompt.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSummary {
    /// Id of the agent.
    pub id: Uuid,
    pub name: String,
    /// Unique name in the organization; also the name of the agent's file on a desktop.
    pub slug: String,
    /// Area of expertise of the agent.
    pub role: String,
    /// Purpose of the agent.
    pub description: Option<String>,
    /// Whether loops receive the agent.
    pub enabled: bool,
    /// Repository of the agent, `<org>/<repo>`; empty for all repositories of the organization.
    pub source_repo: String,
    /// Number of the current version, from 1.
    pub current_version: i64,
    /// Creation time, ISO 8601.
    pub created_at: String,
    /// Time of the last change, ISO 8601.
    pub updated_at: String,
}

impl From<agent::Model> for AgentSummary {
    fn from(row: agent::Model) -> Self {
        Self {
            id: row.id,
            name: row.name,
            slug: row.slug,
            role: row.role,
            description: row.description,
            enabled: row.enabled,
            source_repo: row.source_repo,
            current_version: row.current_version,
            created_at: iso(row.created_at),
            updated_at: iso(row.updated_at),
        }
    }
}

/// User who performed a change.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserName {
    /// Id of the user.
    pub id: Uuid,
    /// First name; null when unknown.
    pub first_name: Option<String>,
    /// Last name; null when unknown.
    pub last_name: Option<String>,
}

/// An agent with its prompt.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDetail {
    /// The agent without its prompt.
    #[serde(flatten)]
    pub summary: AgentSummary,
    /// Prompt of the current version.
    pub prompt: String,
    /// Id of the BOOTSTRAP run that created or last changed it.
    pub bootstrap_run_id: Option<String>,
    /// User who created the agent.
    pub created_by: UserName,
}

/// A version of an agent without its prompt.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentVersionSummary {
    /// Id of the version.
    pub id: Uuid,
    /// Version number, from 1.
    pub version: i64,
    /// Name of the agent in this version.
    pub name: String,
    /// Description of the change.
    pub change_note: Option<String>,
    /// User who made the change.
    pub changed_by: UserName,
    /// Creation time, ISO 8601.
    pub created_at: String,
}

/// A version of an agent with its prompt.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AgentVersionDetail {
    /// The version without its prompt.
    #[serde(flatten)]
    pub summary: AgentVersionSummary,
    /// Prompt of the agent in this version.
    pub prompt: String,
}

/// Builds the detailed view of an agent.
pub async fn detail(db: &impl ConnectionTrait, row: agent::Model) -> Result<AgentDetail, DbErr> {
    let names = names(db, [row.created_by]).await?;
    Ok(AgentDetail {
        prompt: row.prompt.clone(),
        bootstrap_run_id: row.bootstrap_run_id.clone(),
        created_by: name_of(&names, row.created_by),
        summary: row.into(),
    })
}

/// Builds the views of versions, in the order of the rows.
pub async fn versions(
    db: &impl ConnectionTrait,
    rows: Vec<agent_version::Model>,
) -> Result<Vec<AgentVersionDetail>, DbErr> {
    let names = names(db, rows.iter().map(|row| row.changed_by)).await?;
    let version = |row: agent_version::Model| AgentVersionDetail {
        summary: AgentVersionSummary {
            id: row.id,
            version: row.version,
            name: row.name,
            change_note: row.change_note,
            changed_by: name_of(&names, row.changed_by),
            created_at: iso(row.created_at),
        },
        prompt: row.prompt,
    };
    Ok(rows.into_iter().map(version).collect())
}

type Names = HashMap<Uuid, user::Model>;

async fn names(db: &impl ConnectionTrait, ids: impl IntoIterator<Item = Uuid>) -> Result<Names, DbErr> {
    let users = user::Entity::find().filter(user::Column::Id.is_in(ids)).all(db).await?;
    Ok(users.into_iter().map(|user| (user.id, user)).collect())
}

fn name_of(names: &Names, id: Uuid) -> UserName {
    let user = names.get(&id);
    UserName {
        id,
        first_name: user.and_then(|user| user.first_name.clone()),
        last_name: user.and_then(|user| user.last_name.clone()),
    }
}
