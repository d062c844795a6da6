//! The agents that a bootstrap wrote for a repository, taken over together.

use loopgate_api::bootstrap::{BootstrapOrder, BootstrapResult, BootstrappedRepo};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::OnConflict;
use sea_orm::{DatabaseTransaction, TransactionTrait};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{AgentChange, AgentError, NewAgent, TRIES, insert, role_key, update, with_role};
use crate::audit::{Actor, AuditAction};
use crate::error::ValidationIssues;
use crate::store::entity::{agent, agent_loop, repository_config};
use crate::store::{Store, now, parse_json};

/// Characters of a name.
pub const NAME_LIMIT: usize = 200;
/// Characters of a role.
pub const ROLE_LIMIT: usize = 100;
/// Characters of a description.
pub const DESCRIPTION_LIMIT: usize = 500;
/// Characters of a repository's name.
pub const REPOSITORY_LIMIT: usize = 200;
/// Agents of one roster.
const AGENTS_LIMIT: usize = 100;

/// One agent of a roster.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct RosterAgent {
    /// Name for people, 1 to 200 characters.
    pub name: String,
    /// Role, 1 to 100 characters.
    pub role: String,
    /// What it is for, at most 500 characters.
    pub description: Option<String>,
    /// Prompt, at least one character.
    pub prompt: String,
}

impl RosterAgent {
    fn check(&self, issues: &mut ValidationIssues, path: &str) {
        issues.length(&format!("{path}.name"), &self.name, 1, NAME_LIMIT);
        check_role(issues, &format!("{path}.role"), &self.role);
        let description = self.description.as_deref().unwrap_or_default();
        issues.length(&format!("{path}.description"), description, 0, DESCRIPTION_LIMIT);
        issues.length(&format!("{path}.prompt"), &self.prompt, 1, usize::MAX);
    }
}

/// Adds an issue unless a role has the right length, and a letter or digit for the slug.
pub fn check_role(issues: &mut ValidationIssues, path: &str, role: &str) {
    issues.length(path, role, 1, ROLE_LIMIT);
    let has_key = role.is_empty() || !role_key(role).is_empty();
    issues.require(has_key, path, "must have a letter or a digit");
}

/// The agents of one repository.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Roster {
    /// 1 to 100; of two with the same role the last one counts.
    pub agents: Vec<RosterAgent>,
    /// The run that wrote them.
    pub bootstrap_run_id: String,
    /// Their repository, `<org>/<repo>`.
    pub source_repo: String,
    /// Its critic gates.
    #[schema(value_type = Option<Object>)]
    pub critic_gates: Option<Map<String, Value>>,
}

impl Roster {
    /// Adds an issue for each part that does not fit.
    pub fn check(&self, issues: &mut ValidationIssues) {
        let holds = (1..=AGENTS_LIMIT).contains(&self.agents.len());
        issues.require(holds, "agents", "must have 1 to 100 elements");
        issues.length("bootstrapRunId", &self.bootstrap_run_id, 1, REPOSITORY_LIMIT);
        issues.length("sourceRepo", &self.source_repo, 1, REPOSITORY_LIMIT);
        for (index, agent) in self.agents.iter().enumerate() {
            agent.check(issues, &format!("agents.{index}"));
        }
    }

    /// One agent a role: the last one, in the place of the first.
    fn by_role(&self) -> Vec<(String, &RosterAgent)> {
        let mut agents: Vec<(String, &RosterAgent)> = Vec::new();
        for agent in &self.agents {
            let key = role_key(&agent.role);
            match agents.iter_mut().find(|(known, _)| *known == key) {
                Some(known) => known.1 = agent,
                None => agents.push((key, agent)),
            }
        }
        agents
    }
}

/// What a roster did to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RosterOutcome {
    /// It was made.
    Created,
    /// It has a new version.
    Updated,
    /// Its name and prompt were the same.
    Unchanged,
}

/// Takes a roster over: all of it, or nothing. The same roster again changes nothing.
pub async fn ingest(
    store: &Store,
    organization_id: Uuid,
    user_id: Uuid,
    roster: &Roster,
    actor: &Actor,
) -> Result<Vec<(agent::Model, RosterOutcome)>, AgentError> {
    for _ in 1..TRIES {
        let tx = store.begin().await?;
        match ingest_within(&tx, organization_id, user_id, roster).await {
            Err(AgentError::Concurrent | AgentError::RoleTaken) => {}
            Err(error) => return Err(error),
            Ok(agents) => {
                record(&tx, actor, &agents).await?;
                tx.commit().await?;
                return Ok(agents);
            }
        }
    }
    Err(AgentError::Concurrent)
}

/// Notes the agents that a roster made or changed.
async fn record(
    tx: &DatabaseTransaction,
    actor: &Actor,
    agents: &[(agent::Model, RosterOutcome)],
) -> Result<(), DbErr> {
    for (row, outcome) in agents {
        let action = match outcome {
            RosterOutcome::Created => AuditAction::AgentCreated,
            RosterOutcome::Updated => AuditAction::AgentUpdated,
            RosterOutcome::Unchanged => continue,
        };
        let details = json!({"slug": row.slug, "bootstrapRunId": row.bootstrap_run_id});
        actor.record(tx, row.organization_id, action, row.id, details).await?;
    }
    Ok(())
}

async fn ingest_within(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    user_id: Uuid,
    roster: &Roster,
) -> Result<Vec<(agent::Model, RosterOutcome)>, AgentError> {
    let mut agents = Vec::new();
    for (key, member) in roster.by_role() {
        let known = with_role(tx, organization_id, &roster.source_repo, &key).await?;
        agents.push(match known {
            Some(known) => refresh(tx, known, member, roster, user_id).await?,
            None => {
                let new = NewAgent {
                    organization_id,
                    user_id,
                    name: member.name.clone(),
                    role: member.role.clone(),
                    description: member.description.clone(),
                    prompt: member.prompt.clone(),
                    source_repo: roster.source_repo.clone(),
                    bootstrap_run_id: Some(roster.bootstrap_run_id.clone()),
                    change_note: "Initial version from bootstrap".to_owned(),
                };
                (insert(tx, &new).await?, RosterOutcome::Created)
            }
        });
    }
    if let Some(gates) = &roster.critic_gates {
        store_critic_gates(tx, organization_id, roster, gates).await?;
    }
    Ok(agents)
}

async fn refresh(
    tx: &DatabaseTransaction,
    known: agent::Model,
    member: &RosterAgent,
    roster: &Roster,
    user_id: Uuid,
) -> Result<(agent::Model, RosterOutcome), AgentError> {
    let is_same = (&known.name, &known.prompt) == (&member.name, &member.prompt);
    let change = AgentChange {
        name: Some(member.name.clone()),
        prompt: Some(member.prompt.clone()),
        description: member.description.clone(),
        enabled: None,
        bootstrap_run_id: Some(roster.bootstrap_run_id.clone()).filter(|_| !is_same),
    };
    let agent = update(tx, &known, change, "Re-generated by bootstrap", user_id).await?;
    Ok((agent, if is_same { RosterOutcome::Unchanged } else { RosterOutcome::Updated }))
}

async fn store_critic_gates(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    roster: &Roster,
    gates: &Map<String, Value>,
) -> Result<(), DbErr> {
    use repository_config::Column;
    let row = repository_config::ActiveModel {
        organization_id: Set(organization_id),
        repo_full_name: Set(roster.source_repo.clone()),
        critic_gates: Set(Value::Object(gates.clone())),
        bootstrap_run_id: Set(roster.bootstrap_run_id.clone()),
        updated_at: Set(now()),
    };
    let known = OnConflict::columns([Column::OrganizationId, Column::RepoFullName])
        .update_columns([Column::CriticGates, Column::BootstrapRunId, Column::UpdatedAt])
        .to_owned();
    repository_config::Entity::insert(row).on_conflict(known).exec_without_returning(tx).await?;
    Ok(())
}

/// Takes over what a BOOTSTRAP has uploaded, as part of its completion. A repository that cannot be taken
/// over is logged and left out: the loop itself has done its work.
pub async fn ingest_uploaded(tx: &DatabaseTransaction, row: &agent_loop::Model) -> Result<(), DbErr> {
    let uploaded = row.uploaded_artifacts.as_ref().and_then(|artifacts| artifacts.get("bootstrapResult"));
    let Some(result) = parse_json::<BootstrapResult>(uploaded) else {
        tracing::warn!(loop_id = %row.id, "bootstrap completed without a result that can be read");
        return Ok(());
    };
    let order = row.prompt.as_deref().and_then(|prompt| serde_json::from_str::<BootstrapOrder>(prompt).ok());
    let is_ordered = |name: &str| {
        order
            .as_ref()
            .is_none_or(|order| order.repos.iter().any(|repo| repo.full_name.eq_ignore_ascii_case(name)))
    };
    for repo in result.repos.into_iter().filter(|repo| repo.success && !repo.agents.is_empty()) {
        let name = repo.full_name.clone();
        if !is_ordered(&name) {
            tracing::warn!(loop_id = %row.id, repository = name, "bootstrap reported a repository that was not ordered");
            continue;
        }
        let roster = roster_of(repo, row.id);
        let mut issues = ValidationIssues::default();
        roster.check(&mut issues);
        if let Err(refusal) = issues.into_result() {
            tracing::warn!(loop_id = %row.id, repository = name, reason = refusal.body.error, "agents of a bootstrap do not fit");
            continue;
        }
        // A savepoint: what fails here must not undo the completion.
        let savepoint = tx.begin().await?;
        match ingest_within(&savepoint, row.organization_id, row.user_id, &roster).await {
            Ok(agents) => {
                record(&savepoint, &Actor::user(row.user_id), &agents).await?;
                savepoint.commit().await?;
            }
            Err(error) => {
                savepoint.rollback().await?;
                tracing::warn!(loop_id = %row.id, repository = name, ?error, "agents of a bootstrap were not stored");
            }
        }
    }
    Ok(())
}

fn roster_of(repo: BootstrappedRepo, loop_id: Uuid) -> Roster {
    let agents = repo.agents.into_iter().map(|agent| RosterAgent {
        name: agent.name,
        role: agent.role,
        description: Some(agent.description.chars().take(DESCRIPTION_LIMIT).collect()),
        prompt: agent.prompt,
    });
    Roster {
        agents: agents.collect(),
        bootstrap_run_id: loop_id.to_string(),
        source_repo: repo.full_name,
        critic_gates: repo.critic_gates.and_then(|gates| gates.as_object().cloned()),
    }
}
