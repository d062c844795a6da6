//! Roster: the agents of a BOOTSTRAP run for one repository, ingested together.

use loopgate_api::bootstrap::{BootstrapOrder, BootstrapResult, BootstrappedRepo};
use loopgate_api::job::LoopStatus;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::OnConflict;
use sea_orm::{DatabaseTransaction, TransactionTrait};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{ATTEMPTS, AgentChange, AgentError, NewAgent, insert, proposals, role_key, update, with_role};
use crate::audit::{Actor, AuditAction};
use crate::error::ValidationIssues;
use crate::loops::contents;
use crate::store::entity::{agent, agent_loop, repository_config};
use crate::store::{Store, now};

/// Longest agent name, in characters.
pub const NAME_LIMIT: usize = 200;
/// Longest role, in characters.
pub const ROLE_LIMIT: usize = 100;
/// Longest description, in characters.
pub const DESCRIPTION_LIMIT: usize = 500;
/// Longest repository name, in characters.
pub const REPOSITORY_LIMIT: usize = 200;
// Agents of one roster; a loop receives all of them.
// Bytes of the critic gates as JSON: each launch in the repository contains them.
const GATES_LIMIT: usize = 64 * 1024;
const AGENTS_LIMIT: usize = 100;

/// An agent of a roster.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RosterAgent {
    /// Display name, 1 to 200 characters.
    pub name: String,
    /// Area of expertise, 1 to 100 characters.
    pub role: String,
    /// Purpose of the agent, at most 500 characters.
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

/// Validates a role: its length, and that it has a letter or digit for the slug.
pub fn check_role(issues: &mut ValidationIssues, path: &str, role: &str) {
    issues.length(path, role, 1, ROLE_LIMIT);
    let has_key = role.is_empty() || !role_key(role).is_empty();
    issues.require(has_key, path, "must have a letter or a digit");
}

/// Agents for one repository.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Roster {
    /// Agents, 1 to 100; the last one of those with the same role is used.
    pub agents: Vec<RosterAgent>,
    /// Id of the run that created them.
    pub bootstrap_run_id: String,
    /// Repository of the agents, `<org>/<repo>`.
    pub source_repo: String,
    /// Critic gates of the repository.
    #[schema(value_type = Option<Object>)]
    pub critic_gates: Option<Map<String, Value>>,
}

impl Roster {
    /// Adds an issue for each invalid member.
    pub fn check(&self, issues: &mut ValidationIssues) {
        let has_valid_count = (1..=AGENTS_LIMIT).contains(&self.agents.len());
        issues.require(has_valid_count, "agents", "must have 1 to 100 elements");
        issues.length("bootstrapRunId", &self.bootstrap_run_id, 1, REPOSITORY_LIMIT);
        issues.length("sourceRepo", &self.source_repo, 1, REPOSITORY_LIMIT);
        for (index, agent) in self.agents.iter().enumerate() {
            agent.check(issues, &format!("agents.{index}"));
        }
        let gates = self.critic_gates.as_ref().map_or(0, |gates| json!(gates).to_string().len());
        issues.require(gates <= GATES_LIMIT, "criticGates", "must have at most 65536 bytes");
    }

    /// Returns one agent per role: the last one, at the position of the first.
    fn by_role(&self) -> Vec<(String, &RosterAgent)> {
        let mut agents: Vec<(String, &RosterAgent)> = Vec::new();
        for agent in &self.agents {
            let key = role_key(&agent.role);
            match agents.iter_mut().find(|(role, _)| *role == key) {
                Some(entry) => entry.1 = agent,
                None => agents.push((key, agent)),
            }
        }
        agents
    }
}

/// Effect of a roster on an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RosterOutcome {
    /// The agent was created.
    Created,
    /// The agent has a new version.
    Updated,
    /// Name and prompt were identical.
    Unchanged,
}

/// Ingests a roster in one transaction. Idempotent: ingesting the same roster again changes nothing.
pub async fn ingest(
    store: &Store,
    organization_id: Uuid,
    user_id: Uuid,
    roster: &Roster,
    actor: &Actor,
) -> Result<Vec<(agent::Model, RosterOutcome)>, AgentError> {
    for _ in 1..ATTEMPTS {
        let tx = store.begin().await?;
        match ingest_within(&tx, organization_id, user_id, roster, actor).await {
            // A concurrent change took a slug or a role, or updated an agent; the next attempt sees it.
            Err(AgentError::Concurrent | AgentError::RoleTaken) => {}
            Err(error) => return Err(error),
            Ok(agents) => {
                tx.commit().await?;
                return Ok(agents);
            }
        }
    }
    Err(AgentError::Concurrent)
}

/// Records created and updated agents in the audit log.
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

/// Creates and updates the agents of a roster, and records the changes in the audit log. The caller has checked
/// that `user_id` may change agents.
pub(super) async fn ingest_within(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    user_id: Uuid,
    roster: &Roster,
    actor: &Actor,
) -> Result<Vec<(agent::Model, RosterOutcome)>, AgentError> {
    let mut agents = Vec::new();
    for (key, member) in roster.by_role() {
        let existing = with_role(tx, organization_id, &roster.source_repo, &key).await?;
        agents.push(match existing {
            Some(existing) => refresh(tx, existing, member, roster, user_id).await?,
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
    record(tx, actor, &agents).await?;
    if let Some(gates) = &roster.critic_gates {
        store_critic_gates(tx, organization_id, roster, gates, actor).await?;
    }
    Ok(agents)
}

async fn refresh(
    tx: &DatabaseTransaction,
    existing: agent::Model,
    member: &RosterAgent,
    roster: &Roster,
    user_id: Uuid,
) -> Result<(agent::Model, RosterOutcome), AgentError> {
    let is_same = (&existing.name, &existing.prompt) == (&member.name, &member.prompt);
    let change = AgentChange {
        name: Some(member.name.clone()),
        prompt: Some(member.prompt.clone()),
        description: member.description.clone(),
        enabled: None,
        bootstrap_run_id: Some(roster.bootstrap_run_id.clone()).filter(|_| !is_same),
    };
    let agent = update(tx, &existing, change, "Re-generated by bootstrap", user_id).await?;
    Ok((agent, if is_same { RosterOutcome::Unchanged } else { RosterOutcome::Updated }))
}

async fn store_critic_gates(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    roster: &Roster,
    gates: &Map<String, Value>,
    actor: &Actor,
) -> Result<(), DbErr> {
    use repository_config::Column;
    let stored = repository_config::Entity::find()
        .filter(Column::OrganizationId.eq(organization_id))
        .filter(Column::RepoFullName.eq(&roster.source_repo))
        .one(tx)
        .await?;
    if stored.is_none_or(|stored| stored.critic_gates.as_object() != Some(gates)) {
        let details = json!({"bootstrapRunId": roster.bootstrap_run_id});
        let action = AuditAction::CriticGatesSet;
        actor.record(tx, organization_id, action, &roster.source_repo, details).await?;
    }
    let row = repository_config::ActiveModel {
        organization_id: Set(organization_id),
        repo_full_name: Set(roster.source_repo.clone()),
        critic_gates: Set(Value::Object(gates.clone())),
        bootstrap_run_id: Set(roster.bootstrap_run_id.clone()),
        updated_at: Set(now()),
    };
    let replace = OnConflict::columns([Column::OrganizationId, Column::RepoFullName])
        .update_columns([Column::CriticGates, Column::BootstrapRunId, Column::UpdatedAt])
        .to_owned();
    repository_config::Entity::insert(row).on_conflict(replace).exec_without_returning(tx).await?;
    Ok(())
}

/// Ingests the uploads of a BOOTSTRAP loop as part of its completion. Without the permission to change agents, and
/// after a cancellation, the rosters become proposals. A repository whose agents are invalid is logged and skipped, because the loop
/// itself has completed.
pub async fn ingest_uploaded(tx: &DatabaseTransaction, row: &agent_loop::Model) -> Result<(), DbErr> {
    let Some(result) = contents::artifact::<BootstrapResult>(tx, row.id, "bootstrapResult").await? else {
        tracing::warn!(loop_id = %row.id, "bootstrap completed without a readable result");
        return Ok(());
    };
    // Agents become prompts of later loops: a run may only write those of repositories that it was started
    // for.
    let prompt = contents::prompt(tx, row.id).await?;
    let order = prompt.as_deref().and_then(|prompt| serde_json::from_str::<BootstrapOrder>(prompt).ok());
    let is_requested = |name: &str| {
        let mut requested = order.iter().flat_map(|order| &order.repos);
        requested.any(|repo| repo.full_name.eq_ignore_ascii_case(name))
    };
    // A person who cancelled the loop may have done so because of these agents.
    let is_permitted = row.status.0 != LoopStatus::Cancelled && proposals::may_change_agents(tx, row).await?;
    for repo in result.repos.into_iter().filter(|repo| repo.success && !repo.agents.is_empty()) {
        let name = repo.full_name.clone();
        if !is_requested(&name) {
            tracing::warn!(loop_id = %row.id, repository = name, "bootstrap reported an unrequested repository");
            continue;
        }
        let roster = roster_of(repo, row.id);
        let mut issues = ValidationIssues::default();
        roster.check(&mut issues);
        if let Err(refusal) = issues.into_result() {
            tracing::warn!(loop_id = %row.id, repository = name, reason = refusal.body.error, "bootstrap agents are invalid");
            continue;
        }
        if !is_permitted {
            proposals::propose(tx, row, &roster).await?;
            continue;
        }
        // Savepoint: on PostgreSQL a failed statement would otherwise abort the transaction of the
        // completion.
        let savepoint = tx.begin().await?;
        let actor = Actor::user(row.user_id);
        match ingest_within(&savepoint, row.organization_id, row.user_id, &roster, &actor).await {
            Ok(_) => savepoint.commit().await?,
            Err(error) => {
                savepoint.rollback().await?;
                tracing::warn!(loop_id = %row.id, repository = name, ?error, "failed to store bootstrap agents");
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
