//! Proposals: rosters of BOOTSTRAP loops that were started, or ran, under a user who may not change agents.
//!
//! A proposal changes nothing until an administrator accepts it. It is immutable, so that the agents that are
//! stored are those that the administrator read.

use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{DatabaseConnection, DatabaseTransaction, QueryOrder};
use serde_json::json;

use super::roster::{self, Roster, RosterOutcome};
use super::{ATTEMPTS, AgentError};
use crate::audit::{Actor, AuditAction};
use crate::error::{ApiError, ApiResult, ValidationIssues, conflict, not_found};
use crate::store::column::StoredEnum;
use crate::store::entity::agent_proposal::{self, ProposalStatus};
use crate::store::entity::user::Role;
use crate::store::entity::{agent, agent_loop, compute_target, user};
use crate::store::{self, RowBatch, Store, now};

// Proposals per list. Older ones become visible when newer ones are decided.
const LIST_LIMIT: u64 = 100;

/// Returns whether the uploads of a loop may change agents: the user who started it, and the owner of the
/// desktop that ran it, are administrators. The owner controls what a runner uploads, so a loop of an
/// administrator on the desktop of a member does not suffice.
pub async fn may_change_agents(
    db: &impl sea_orm::ConnectionTrait,
    row: &agent_loop::Model,
) -> Result<bool, DbErr> {
    let mut principals = vec![row.user_id];
    match row.compute_target_id {
        Some(id) => match compute_target::Entity::find_by_id(id).one(db).await? {
            Some(target) => principals.push(target.user_id),
            None => return Ok(false),
        },
        // The desktop was removed after it received the loop: its owner is not known any more.
        None if row.container_id.is_some() => return Ok(false),
        None => {}
    }
    principals.dedup();
    let administrators = user::Entity::find()
        .filter(user::Column::Id.is_in(principals.iter().copied()))
        .filter(user::Column::OrganizationId.eq(row.organization_id))
        .filter(user::Column::Active.eq(true))
        .filter(user::Column::Role.eq(StoredEnum(Role::Admin)))
        .count(db)
        .await?;
    Ok(usize::try_from(administrators).is_ok_and(|count| count == principals.len()))
}

/// Stores a roster as proposal of the loop's user.
pub async fn propose(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    roster: &Roster,
) -> Result<(), DbErr> {
    let id = Uuid::now_v7();
    let proposal = agent_proposal::ActiveModel {
        id: Set(id),
        organization_id: Set(row.organization_id),
        user_id: Set(row.user_id),
        loop_id: Set(row.id),
        source_repo: Set(roster.source_repo.clone()),
        roster: Set(serde_json::to_value(roster).map_err(|error| DbErr::Json(error.to_string()))?),
        status: Set(StoredEnum(ProposalStatus::Pending)),
        decided_by: Set(None),
        decided_at: Set(None),
        created_at: Set(now()),
    };
    agent_proposal::Entity::insert(proposal).exec_without_returning(tx).await?;
    let details = json!({"sourceRepo": roster.source_repo, "loopId": row.id});
    Actor::user(row.user_id).record(tx, row.organization_id, AuditAction::AgentsProposed, id, details).await
}

/// Lists the pending proposals of an organization, newest first.
pub async fn pending(
    db: &DatabaseConnection,
    organization_id: Uuid,
) -> Result<Vec<agent_proposal::Model>, DbErr> {
    use agent_proposal::Column;
    let pending = agent_proposal::Entity::find()
        .filter(Column::OrganizationId.eq(organization_id))
        .filter(Column::Status.eq(StoredEnum(ProposalStatus::Pending)))
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Id);
    let RowBatch { rows, .. } =
        store::read_batch(db, pending, LIST_LIMIT, store::BATCH_BYTES, |row| &row.roster).await?;
    Ok(rows)
}

/// An administrator's decision on a proposal.
#[derive(Debug, Clone)]
pub struct ProposalDecision {
    /// Organization of the administrator.
    pub organization_id: Uuid,
    /// Administrator who decides it.
    pub user_id: Uuid,
    pub actor: Actor,
}

/// Accepts a pending proposal: creates and changes its agents in the name of the administrator. Returns 404
/// for an unknown proposal, and 409 for a decided one.
pub async fn accept(
    store: &Store,
    id: Uuid,
    decision: &ProposalDecision,
) -> ApiResult<Vec<(agent::Model, RosterOutcome)>> {
    for _ in 1..ATTEMPTS {
        let tx = store.begin().await?;
        let proposal = decide(&tx, id, decision, ProposalStatus::Accepted).await?;
        let roster: Roster = serde_json::from_value(proposal.roster)?;
        // Limits may have become stricter since the proposal was stored.
        let mut issues = ValidationIssues::default();
        roster.check(&mut issues);
        issues.into_result()?;
        let (organization_id, user_id) = (decision.organization_id, decision.user_id);
        match roster::ingest_within(&tx, organization_id, user_id, &roster, &decision.actor).await {
            // A concurrent change of the same agents; the next attempt sees it.
            Err(AgentError::Concurrent | AgentError::RoleTaken) => {}
            Err(error) => return Err(error.into()),
            Ok(agents) => {
                record(&tx, id, decision, AuditAction::AgentProposalAccepted).await?;
                tx.commit().await?;
                return Ok(agents);
            }
        }
    }
    Err(AgentError::Concurrent.into())
}

/// Rejects a pending proposal. Returns 404 for an unknown proposal, and 409 for a decided one.
pub async fn reject(store: &Store, id: Uuid, decision: &ProposalDecision) -> ApiResult<()> {
    let tx = store.begin().await?;
    decide(&tx, id, decision, ProposalStatus::Rejected).await?;
    record(&tx, id, decision, AuditAction::AgentProposalRejected).await?;
    Ok(tx.commit().await?)
}

async fn record(
    tx: &DatabaseTransaction,
    id: Uuid,
    decision: &ProposalDecision,
    action: AuditAction,
) -> Result<(), DbErr> {
    decision.actor.record(tx, decision.organization_id, action, id, json!({})).await
}

/// Changes the status of a pending proposal. The conditional update decides between two administrators.
async fn decide(
    tx: &DatabaseTransaction,
    id: Uuid,
    decision: &ProposalDecision,
    status: ProposalStatus,
) -> Result<agent_proposal::Model, ApiError> {
    use agent_proposal::Column;
    let row = agent_proposal::Entity::find_by_id(id)
        .filter(Column::OrganizationId.eq(decision.organization_id))
        .one(tx)
        .await?
        .ok_or_else(|| not_found("Agent proposal"))?;
    let decided = agent_proposal::Entity::update_many()
        .col_expr(Column::Status, Expr::value(StoredEnum(status)))
        .col_expr(Column::DecidedBy, Expr::value(decision.user_id))
        .col_expr(Column::DecidedAt, Expr::value(now()))
        .filter(Column::Id.eq(id))
        .filter(Column::Status.eq(StoredEnum(ProposalStatus::Pending)))
        .exec(tx)
        .await?;
    if decided.rows_affected == 0 {
        return Err(conflict("This proposal was already accepted or rejected.").code("proposal_decided"));
    }
    Ok(row)
}
