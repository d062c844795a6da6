//! Change requests: a document without a source, with everything derived from it.
//!
//! The state of a change request follows from its loops, its plan and its pull requests. It is stored, so that lists can be filtered and
//! counted by it, and derived again in each transaction that changes one of them.

pub mod deletion;
pub mod deployments;
pub mod findings;
pub mod history;
pub mod list;
pub mod pull_requests;
pub mod reviews;
pub mod saved_views;
pub mod standing;
pub mod view;

use std::collections::HashSet;

use loopgate_api::job::LoopStatus;
use loopgate_api::launch::ArtifactType;
use loopgate_api::pull_request::ReportedStanding;
use loopgate_api::review::Verdict;
use sea_orm::prelude::*;
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, IntoActiveModel as _, QueryOrder as _, QuerySelect as _,
    QueryTrait as _,
};
use serde::Deserialize;
use serde_json::Value;

use self::standing::{ChangeState, LoopFacts, LoopProgress, StateDetails, WorkProgress};
use crate::app::ControlPlaneState;
use crate::documents::{self, tree};
use crate::loop_state::status_values;
use crate::loops::view::LoopError;
use crate::loops::{activity, contents};
use crate::store::column::StoredEnum;
use crate::store::entity::{
    agent_loop, change_request, change_request_mark, compute_target, document, pull_request,
};
use crate::store::{Store, now, parse_json};

// Documents whose change requests are derived in one transaction at the start.
const BATCH: u64 = 100;

/// The documents of a change request.
pub struct Family {
    /// The document that the change request begins with.
    pub root: document::Model,
    /// Documents derived from it, in the order of their creation.
    pub derived: Vec<document::Model>,
}

impl Family {
    /// Returns the newest plan.
    pub fn plan(&self) -> Option<&document::Model> {
        let is_plan = |document: &&document::Model| document.kind.0 == ArtifactType::ImplementationPlan;
        self.derived.iter().rev().chain([&self.root]).find(is_plan)
    }

    /// Returns the ids of all documents.
    pub fn ids(&self) -> impl Iterator<Item = Uuid> {
        self.derived.iter().chain([&self.root]).map(|document| document.id)
    }
}

/// Returns the documents of the change request that begins with a document.
pub async fn family(db: &impl ConnectionTrait, root: document::Model) -> Result<Family, DbErr> {
    let derived = tree::derived(db, root.organization_id, [root.id]).await?;
    Ok(Family { root, derived })
}

/// Returns the loops of the documents of a change request, newest first.
pub fn loops_of(family: &Family) -> Select<agent_loop::Entity> {
    use agent_loop::Column;
    agent_loop::Entity::find()
        .filter(Column::DocumentId.is_in(family.ids()))
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Id)
}

/// Derives the state of a loop's change request again, after the loop has changed.
pub async fn refresh_of_loop(tx: &DatabaseTransaction, loop_id: Uuid) -> Result<(), DbErr> {
    let document: Option<Option<Uuid>> = agent_loop::Entity::find_by_id(loop_id)
        .select_only()
        .column(agent_loop::Column::DocumentId)
        .into_tuple()
        .one(tx)
        .await?;
    match document.flatten() {
        Some(document) => refresh(tx, document).await,
        None => Ok(()),
    }
}

/// Derives the state of a document's change request again, after a document or a loop has changed.
pub async fn refresh(tx: &DatabaseTransaction, document_id: Uuid) -> Result<(), DbErr> {
    let Some(document) = document::Entity::find_by_id(document_id).one(tx).await? else { return Ok(()) };
    let root = tree::root_of(tx, document).await?;
    deletion::lock_root(tx, root.id).await?;
    let family = family(tx, root).await?;
    let loops = loops_of(&family).all(tx).await?;
    let decisive = loops.iter().find(|row| LoopFacts::is_decisive(row.command.0, row.status.0));
    let mut details = StateDetails::default();
    let (mut state, mut attention) = (ChangeState::NotStarted, None);
    let mut has_pull_request = loops.iter().any(|row| row.pr_url.is_some());
    if let Some(row) = decisive {
        let facts = facts(tx, &family, row).await?;
        (state, attention) = (facts.state(), facts.attention());
        has_pull_request |= facts.has_pull_request;
        if state == ChangeState::ChecksFailing {
            details.failing_checks = Some(facts.failing_checks());
        }
        details.findings = (state == ChangeState::FindingsOpen).then_some(facts.open_findings);
        details.unanswered = (state == ChangeState::CommentsUnanswered).then_some(facts.unanswered);
        (details.activity, details.code) = (facts.activity, facts.error_code);
    }
    if let Some(plan) = family.plan().filter(|_| state == ChangeState::PlanReady) {
        details.questions = open_questions(tx, plan).await?;
    }
    let progress = |row: &agent_loop::Model| LoopProgress {
        command: row.command.0,
        tasks: parse_json(row.tasks.as_ref()),
    };
    let progress: Vec<LoopProgress> = loops.iter().map(progress).collect();
    let progress = WorkProgress::of(
        family.plan().is_some(),
        has_pull_request,
        deployments::state(tx, &loops).await?,
        &progress,
    );
    let costs: Vec<f64> = loops.iter().filter_map(|row| row.reported_cost.or(row.estimated_cost)).collect();
    let json = |error: serde_json::Error| DbErr::Json(error.to_string());
    let row = change_request::Model {
        document_id: family.root.id,
        organization_id: family.root.organization_id,
        user_id: decisive.map_or(family.root.user_id, |row| row.user_id),
        state: StoredEnum(state),
        attention: attention.map(StoredEnum),
        loop_id: decisive.map(|row| row.id),
        details: serde_json::to_value(details).map_err(json)?,
        cost: (!costs.is_empty()).then(|| costs.iter().sum()),
        archived_at: None,
        changed_at: now(),
        progress: Some(serde_json::to_value(progress).map_err(json)?),
        updated_at: now(),
    };
    store(tx, row).await
}

/// Derives the states of the change requests whose loops wait for a desktop, after it went online or offline.
pub async fn refresh_waiting(store: &Store, target_id: Uuid) -> Result<(), DbErr> {
    let waiting: Vec<Option<Uuid>> = agent_loop::Entity::find()
        .select_only()
        .column(agent_loop::Column::DocumentId)
        .distinct()
        .filter(agent_loop::Column::ComputeTargetId.eq(target_id))
        .filter(agent_loop::Column::DocumentId.is_not_null())
        .filter(agent_loop::Column::Status.is_in(status_values([LoopStatus::Pending, LoopStatus::Claimed])))
        .into_tuple()
        .all(store.reader())
        .await?;
    for document in waiting.into_iter().flatten() {
        let tx = store.begin().await?;
        refresh(&tx, document).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Derives the states of documents from before the table of change requests, in the background: there may be many.
pub async fn run_backfill(app: ControlPlaneState) {
    let result = tokio::select! {
        () = app.shutdown.cancelled() => return,
        result = backfill(&app.store) => result,
    };
    if let Err(error) = result {
        tracing::error!(%error, "failed to derive the change requests of earlier documents");
    }
}

/// Derives the states of documents from before the table of change requests, or from before its last column.
pub async fn backfill(store: &Store) -> Result<(), DbErr> {
    let known = change_request::Entity::find()
        .select_only()
        .column(change_request::Column::DocumentId)
        .filter(change_request::Column::UpdatedAt.gt(0));
    let missing = document::Entity::find()
        .filter(document::Column::SourceDocumentId.is_null())
        .filter(document::Column::Id.not_in_subquery(known.into_query()))
        .limit(BATCH);
    loop {
        let documents = missing.clone().all(store.reader()).await?;
        if documents.is_empty() {
            return Ok(());
        }
        let tx = store.begin().await?;
        for document in documents {
            refresh(&tx, document.id).await?;
        }
        tx.commit().await?;
    }
}

async fn facts(
    db: &impl ConnectionTrait,
    family: &Family,
    row: &agent_loop::Model,
) -> Result<LoopFacts, DbErr> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Metadata {
        warnings: Vec<String>,
        verdict: Option<Verdict>,
    }
    let metadata = contents::find(db, row.id).await?.metadata;
    let metadata: Metadata = parse_json(Some(&metadata)).unwrap_or_default();
    let target = match row.compute_target_id {
        Some(id) => compute_target::Entity::find_by_id(id).one(db).await?,
        None => None,
    };
    let opened = pull_request::Entity::find().filter(pull_request::Column::LoopId.eq(row.id));
    let mark = change_request_mark::Entity::find_by_id((row.user_id, family.root.id)).one(db).await?;
    let error: Option<LoopError> = parse_json(row.error.as_ref());
    Ok(LoopFacts {
        command: row.command.0,
        status: row.status.0,
        is_offline: target.is_some_and(|target| !target.is_online),
        activity: activity::of(row),
        error_subcode: error.as_ref().and_then(LoopError::subcode).map(str::to_owned),
        error_code: error.map(|error| error.code),
        has_pull_request: row.pr_url.is_some() || opened.count(db).await? > 0,
        warnings: metadata.warnings,
        verdict: metadata.verdict.map(|verdict| verdict.verdict),
        ended_at: row.completed_at,
        pulls: newest_pulls(db, family).await?,
        seen_at: mark.and_then(|mark| mark.seen_at),
        unanswered: reviews::unanswered(db, row.id).await?,
        open_findings: findings::count(db, row.id).await?,
    })
}

/// Returns what is reported about the newest pull request of each repository; `None` for one without a report.
async fn newest_pulls(
    db: &impl ConnectionTrait,
    family: &Family,
) -> Result<Vec<Option<ReportedStanding>>, DbErr> {
    let rows = pull_request::Entity::find()
        .filter(pull_request::Column::DocumentId.is_in(family.ids()))
        .order_by_desc(pull_request::Column::CreatedAt)
        .order_by_desc(pull_request::Column::Number)
        .all(db)
        .await?;
    let mut repositories = HashSet::new();
    let newest = rows.iter().filter(|row| repositories.insert(row.full_name.to_lowercase()));
    Ok(newest.map(|row| parse_json(row.standing.as_ref())).collect())
}

/// Returns the number of open questions of a plan; `None` without any.
async fn open_questions(db: &impl ConnectionTrait, plan: &document::Model) -> Result<Option<usize>, DbErr> {
    let version = documents::current(db, plan).await?;
    let raw = version.and_then(|version| version.raw);
    let questions = raw.as_ref().and_then(|raw| raw.get("openQuestions")).and_then(Value::as_array);
    Ok(questions.map(Vec::len).filter(|count| *count > 0))
}

/// Stores a derived state. Keeps what users have set, and the time of the last change of the state if only the cost or
/// the progress has changed, or if a person no longer has to do something: that is not news to anyone.
async fn store(tx: &DatabaseTransaction, derived: change_request::Model) -> Result<(), DbErr> {
    let stored = change_request::Entity::find_by_id(derived.document_id).one(tx).await?;
    let Some(stored) = stored else {
        let new = derived.into_active_model().reset_all();
        change_request::Entity::insert(new).exec_without_returning(tx).await?;
        return Ok(());
    };
    let archived_at = stored.archived_at;
    let same_state = change_request::Model {
        archived_at,
        cost: stored.cost,
        progress: stored.progress.clone(),
        changed_at: stored.changed_at,
        updated_at: stored.updated_at,
        attention: derived.attention.or(stored.attention),
        ..derived.clone()
    };
    let changed_at = if same_state == stored { stored.changed_at } else { derived.changed_at };
    let row = change_request::Model { archived_at, changed_at, ..derived };
    let is_same = change_request::Model { updated_at: stored.updated_at, ..row.clone() } == stored;
    if !is_same || stored.updated_at == 0 {
        row.into_active_model().reset_all().update(tx).await?;
    }
    Ok(())
}
