//! Proposed agents: rosters of BOOTSTRAP loops of members, which an administrator accepts or rejects.

use std::collections::HashMap;

use axum::extract::State;
use sea_orm::prelude::*;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::agents::{IngestReport, report};
use crate::agents::proposals::{self, ProposalDecision};
use crate::agents::roster::{Roster, RosterAgent};
use crate::app::ControlPlaneState;
use crate::auth::{AdminAuth, Caller, UserAuth};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt};
use crate::extract::Id;
use crate::store::entity::{agent_proposal, user};
use crate::store::iso;

/// Agents that a loop proposed for a repository.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentProposal {
    /// Id of the proposal.
    pub id: Uuid,
    /// Repository of the agents, `<org>/<repo>`.
    pub source_repo: String,
    /// Loop that created the agents.
    pub loop_id: Uuid,
    /// Name of the user who started the loop.
    pub proposed_by: String,
    /// Agents with their prompts. An agent replaces the one with the same role.
    pub agents: Vec<RosterAgent>,
    /// Critic gates of the repository; null when they stay unchanged.
    #[schema(value_type = Option<Object>)]
    pub critic_gates: Option<Value>,
    /// Creation time, ISO 8601.
    pub created_at: String,
}

/// Proposals without a decision.
#[derive(Debug, Serialize, ToSchema)]
pub struct AgentProposals {
    /// Pending proposals, newest first, at most 100.
    pub proposals: Vec<AgentProposal>,
}

/// Lists the pending proposals.
#[utoipa::path(get, path = "/agent-proposals", tag = "agent-proposals",
    responses((status = 200, body = Data<AgentProposals>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
) -> ApiResult<Data<AgentProposals>> {
    let db = app.store.reader();
    let read = async {
        let rows = proposals::pending(db, caller.organization_id()).await?;
        let users = user::Entity::find()
            .filter(user::Column::Id.is_in(rows.iter().map(|row| row.user_id)))
            .all(db)
            .await?;
        let names = users.into_iter().map(|user| (user.id, user.full_name())).collect();
        rows.into_iter().map(|row| view(row, &names)).collect()
    };
    let proposals: ApiResult<Vec<AgentProposal>> = read.await;
    Ok(Data::new(AgentProposals { proposals: proposals.context("Failed to fetch agent proposals")? }))
}

fn view(row: agent_proposal::Model, names: &HashMap<Uuid, String>) -> ApiResult<AgentProposal> {
    let Roster { agents, critic_gates, .. } = serde_json::from_value(row.roster)?;
    Ok(AgentProposal {
        id: row.id,
        source_repo: row.source_repo,
        loop_id: row.loop_id,
        proposed_by: names.get(&row.user_id).cloned().unwrap_or_default(),
        agents,
        critic_gates: critic_gates.map(Value::Object),
        created_at: iso(row.created_at),
    })
}

fn decision(caller: &Caller) -> ProposalDecision {
    ProposalDecision {
        organization_id: caller.organization_id(),
        user_id: caller.user.id,
        actor: caller.actor(),
    }
}

/// Accepts a proposal: creates and changes its agents. Returns 409 when it was decided before.
#[utoipa::path(post, path = "/agent-proposals/{id}/accept", tag = "agent-proposals", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<IngestReport>), ErrorResponses))]
pub async fn accept(
    State(app): State<ControlPlaneState>,
    AdminAuth(caller): AdminAuth,
    id: Id,
) -> ApiResult<Data<IngestReport>> {
    let id = id.or_unknown("Agent proposal")?;
    let agents = proposals::accept(&app.store, id, &decision(&caller)).await;
    Ok(Data::new(report(agents.context("Failed to accept agent proposal")?)))
}

/// Result of a rejection.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProposalRejected {
    /// Always `true`; failures have an error status.
    pub rejected: bool,
}

/// Rejects a proposal. Returns 409 when it was decided before.
#[utoipa::path(post, path = "/agent-proposals/{id}/reject", tag = "agent-proposals", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<ProposalRejected>), ErrorResponses))]
pub async fn reject(
    State(app): State<ControlPlaneState>,
    AdminAuth(caller): AdminAuth,
    id: Id,
) -> ApiResult<Data<ProposalRejected>> {
    let id = id.or_unknown("Agent proposal")?;
    proposals::reject(&app.store, id, &decision(&caller)).await.context("Failed to reject agent proposal")?;
    Ok(Data::new(ProposalRejected { rejected: true }))
}
