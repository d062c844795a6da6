//! Agents as they are shown.

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
    /// Id.
    pub id: Uuid,
    /// Name for people.
    pub name: String,
    /// Names the agent in its organization, and its file on a desktop.
    pub slug: String,
    /// What it is an expert in.
    pub role: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether loops get it.
    pub enabled: bool,
    /// Its repository, `<org>/<repo>`; empty for all of the organization.
    pub source_repo: String,
    /// Number of its newest version, from 1.
    pub current_version: i64,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601.
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

/// Who did something.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonName {
    /// Id.
    pub id: Uuid,
    /// Null when not known.
    pub first_name: Option<String>,
    /// Null when not known.
    pub last_name: Option<String>,
}

/// An agent with its prompt.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDetail {
    /// The agent.
    #[serde(flatten)]
    pub summary: AgentSummary,
    /// Its prompt.
    pub prompt: String,
    /// The bootstrap that wrote it.
    pub bootstrap_run_id: Option<String>,
    /// Who made it.
    pub created_by: PersonName,
}

/// A version of an agent without its prompt.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentVersionSummary {
    /// Id.
    pub id: Uuid,
    /// Its number, from 1.
    pub version: i64,
    /// The agent's name at that time.
    pub name: String,
    /// What was changed, and why.
    pub change_note: Option<String>,
    /// Who changed it.
    pub changed_by: PersonName,
    /// ISO 8601.
    pub created_at: String,
}

/// A version of an agent.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AgentVersionDetail {
    /// The version.
    #[serde(flatten)]
    pub summary: AgentVersionSummary,
    /// The prompt at that time.
    pub prompt: String,
}

/// An agent with its prompt and its maker.
pub async fn detail(db: &impl ConnectionTrait, row: agent::Model) -> Result<AgentDetail, DbErr> {
    let names = names(db, [row.created_by]).await?;
    Ok(AgentDetail {
        prompt: row.prompt.clone(),
        bootstrap_run_id: row.bootstrap_run_id.clone(),
        created_by: name_of(&names, row.created_by),
        summary: row.into(),
    })
}

/// Versions with those who made them, in the order of the rows.
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

fn name_of(names: &Names, id: Uuid) -> PersonName {
    let user = names.get(&id);
    PersonName {
        id,
        first_name: user.and_then(|user| user.first_name.clone()),
        last_name: user.and_then(|user| user.last_name.clone()),
    }
}
