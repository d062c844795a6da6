//! Views of change requests in responses.

use std::collections::HashMap;

use loopgate_api::command::LoopCommand;
use loopgate_api::deployment::DeploymentState;
use loopgate_api::event_body::TaskCounts;
use sea_orm::ConnectionTrait;
use sea_orm::QuerySelect as _;
use sea_orm::prelude::*;
use serde::Serialize;
use utoipa::ToSchema;

use super::standing::{Attention, ChangeStage, ChangeState, StateDetails, WorkProgress};
use super::{family, loops_of};
use crate::documents::view::{DocumentRecord, LoopPullRequest, pull_requests_of};
use crate::loops::view::{LoopRecord, LoopUser, records, users};
use crate::store::entity::{agent_loop, change_request, change_request_mark, document};
use crate::store::{iso, parse_json};

// Loops in the view of a change request.
const LOOPS_SHOWN: u64 = 100;

/// A change request: what a person asked for, and the state of the work on it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeRequestRecord {
    /// The document that the change request begins with.
    pub document: DocumentRecord,
    /// Stage of the work.
    pub stage: ChangeStage,
    /// Stages that the work has reached, in their order; a review only if there was one.
    pub stages: Vec<ChangeStage>,
    /// Tasks of the execution of the current plan, as its runner last reported them; null without a report.
    pub tasks: Option<TaskCounts>,
    /// State of the deployment of the changes on the machine that made them, as it last reported it; null without one.
    pub deployment: Option<DeploymentState>,
    /// State of the work.
    pub state: ChangeState,
    /// What the state is about.
    pub details: StateDetails,
    /// What a person has to do; null when nothing is required.
    pub attention: Option<Attention>,
    /// Id of the loop that determines the state; null before the first loop.
    pub loop_id: Option<Uuid>,
    /// Command of that loop.
    pub command: Option<LoopCommand>,
    /// User who started that loop, or else the author of the document.
    pub user: Option<LoopUser>,
    /// Cost of all loops in US dollars, as far as it is known; null without a report.
    pub cost: Option<f64>,
    /// Time of the last change of the state, ISO 8601.
    pub changed_at: String,
    /// Time at which it was archived, ISO 8601; null otherwise.
    pub archived_at: Option<String>,
    /// Whether the caller has not seen the current state.
    pub is_unread: bool,
    /// Time until which the caller does not want to be reminded, ISO 8601; null otherwise.
    pub snoozed_until: Option<String>,
}

/// A change request with its documents, loops and pull requests.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeRequestDetail {
    /// The change request without its lists.
    #[serde(flatten)]
    pub record: ChangeRequestRecord,
    /// The newest plan; null without one.
    pub plan: Option<DocumentRecord>,
    /// Documents derived from the first one, oldest first.
    pub documents: Vec<DocumentRecord>,
    /// Newest 100 loops on its documents, newest first.
    pub loops: Vec<LoopRecord>,
    /// Pull requests of the loops, newest first.
    pub pull_requests: Vec<LoopPullRequest>,
}

/// Builds the views of change requests for a user.
pub async fn change_requests(
    db: &impl ConnectionTrait,
    caller: Uuid,
    rows: Vec<(change_request::Model, Option<document::Model>)>,
) -> Result<Vec<ChangeRequestRecord>, DbErr> {
    use change_request_mark::Column;
    let users = users(db, rows.iter().map(|(row, _)| row.user_id)).await?;
    let commands: Vec<(Uuid, crate::store::column::StoredEnum<LoopCommand>)> = agent_loop::Entity::find()
        .select_only()
        .columns([agent_loop::Column::Id, agent_loop::Column::Command])
        .filter(agent_loop::Column::Id.is_in(rows.iter().filter_map(|(row, _)| row.loop_id)))
        .into_tuple()
        .all(db)
        .await?;
    let commands: HashMap<_, _> = commands.into_iter().map(|(id, command)| (id, command.0)).collect();
    let marks = change_request_mark::Entity::find()
        .filter(Column::UserId.eq(caller))
        .filter(Column::DocumentId.is_in(rows.iter().map(|(row, _)| row.document_id)))
        .all(db)
        .await?;
    let marks: HashMap<_, _> = marks.into_iter().map(|mark| (mark.document_id, mark)).collect();
    let view = |(row, document): (change_request::Model, Option<document::Model>)| {
        let mark = marks.get(&row.document_id);
        let command = row.loop_id.and_then(|id| commands.get(&id).copied());
        let WorkProgress { stages, tasks, deployment } =
            parse_json(row.progress.as_ref()).unwrap_or_default();
        Some(ChangeRequestRecord {
            document: document?.into(),
            stage: row.state.0.stage(command),
            stages,
            tasks,
            deployment,
            state: row.state.0,
            details: parse_json(Some(&row.details)).unwrap_or_default(),
            attention: row.attention.map(|attention| attention.0),
            loop_id: row.loop_id,
            command,
            user: users.get(&row.user_id).cloned(),
            cost: row.cost,
            changed_at: iso(row.changed_at),
            archived_at: row.archived_at.map(iso),
            is_unread: mark.and_then(|mark| mark.seen_at).is_none_or(|seen| seen < row.changed_at),
            snoozed_until: mark.and_then(|mark| mark.snoozed_until).map(iso),
        })
    };
    Ok(rows.into_iter().filter_map(view).collect())
}

/// Builds the detailed view of a change request for a user.
pub async fn detail(
    db: &impl ConnectionTrait,
    caller: Uuid,
    row: change_request::Model,
    root: document::Model,
) -> Result<ChangeRequestDetail, DbErr> {
    let family = family(db, root).await?;
    let loops = loops_of(&family).limit(LOOPS_SHOWN).all(db).await?;
    let pull_requests = pull_requests_of(db, family.ids()).await?;
    let plan = family.plan().cloned().map(DocumentRecord::from);
    let mut records_of_row = change_requests(db, caller, vec![(row, Some(family.root))]).await?;
    let record = records_of_row.pop().ok_or_else(|| DbErr::RecordNotFound("change request".to_owned()))?;
    Ok(ChangeRequestDetail {
        record,
        plan,
        documents: family.derived.into_iter().map(DocumentRecord::from).collect(),
        loops: records(db, loops).await?,
        pull_requests,
    })
}
