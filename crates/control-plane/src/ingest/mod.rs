//! Ingestion of loop events: event row, status transition and all effects of an event are one transaction.
//!
//! The unique index on the nonces of a loop detects replays, including concurrent ones. A failure leaves no
//! row, and the runner retries the event with the same nonce.

mod completion;
mod cost;
mod event_rows;
pub mod runner_event;

use loopgate_api::event::TokenUsage;
use loopgate_api::event_body::{EventBody, MessageDeliveryEvent, ProgressEvent, TaskCounts};
use loopgate_api::ids::BranchName;
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::RepoRef;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{DatabaseTransaction, QuerySelect, UpdateMany};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use self::runner_event::{MESSAGE_DELIVERY, RunnerEvent};
use crate::app::ControlPlaneState;
use crate::audit::{Actor, AuditAction};
use crate::auth::RunnerAuth;
use crate::bus::Topic;
use crate::change_requests::{self, reviews};
use crate::dispatch::{kill, message};
use crate::error::{ApiError, ApiResult, conflict, invalid_transition, not_found};
use crate::loop_state::{self, ACTIVE, NewEvent, TransitionResult};
use crate::loops::{activity, contents, revival};
use crate::spending;
use crate::store::column::StoredEnum;
use crate::store::entity::loop_event::{self, EventSource};
use crate::store::entity::{agent_loop, loop_content};
use crate::store::parse_json;
use crate::store::{is_duplicate, now};

/// Minimum interval between two updates of the stored heartbeat, in milliseconds. Every event counts as a
/// heartbeat, so without it each output event would update the loop's row. The reaper's limits are hours.
pub const HEARTBEAT_THROTTLE: i64 = 270_000;

// Events per loop. Further events are acknowledged but not stored, except terminal ones.
const EVENT_LIMIT: i64 = 200_000;
// Length of an error's code and message in the row of a loop, in characters.
const ERROR_CHARS: usize = 4_000;
// Size of an error's result in the row of a loop, in bytes of JSON.
const ERROR_RESULT_LIMIT: usize = 16_000;

/// Outcome of ingesting an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngestOutcome {
    /// The event was dropped: the loop has a terminal status, or too many events.
    is_ignored: bool,
    /// The loop has ended without its runner, for example because a user cancelled it.
    has_ended: bool,
}

impl IngestOutcome {
    const STORED: Self = Self { is_ignored: false, has_ended: false };
    const IGNORED: Self = Self { is_ignored: true, has_ended: false };
}

/// Acknowledgement of an event.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReceivedView {
    /// Always `true`; failures have an error status.
    pub received: bool,
    /// `true` when the event was dropped, because the loop has finished or has too many events; absent
    /// otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<bool>,
    /// `true` when the loop has ended without its runner: the runner must stop. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<bool>,
}

impl From<IngestOutcome> for ReceivedView {
    fn from(outcome: IngestOutcome) -> Self {
        let IngestOutcome { is_ignored, has_ended } = outcome;
        Self { received: true, ignored: is_ignored.then_some(true), ended: has_ended.then_some(true) }
    }
}

/// Source and idempotency key of an event.
struct EventIdentity {
    source: EventSource,
    event_id: String,
    /// Token slot and nonce; `None` for a manual event.
    runner: Option<(Uuid, Uuid)>,
}

/// Stores an event of a runner. Returns 409 for a replay.
pub async fn receive(
    app: &ControlPlaneState,
    runner: &RunnerAuth,
    nonce: Uuid,
    event: RunnerEvent,
) -> ApiResult<IngestOutcome> {
    let (loop_id, jti) = (runner.row.id, runner.claims.jti);
    let tx = app.store.begin().await?;
    let mut row = locked(&tx, loop_id).await?;
    if is_replay(&tx, loop_id, nonce).await? {
        return Err(replay());
    }
    // An event is proof that the runner is alive, so it resumes a loop that the reaper timed out.
    if revival::revive(&tx, &row, jti, runner.claims.exp * 1000).await? {
        row = agent_loop::Entity::find_by_id(loop_id).one(&tx).await?.ok_or_else(|| not_found("Loop"))?;
    }
    let identity = EventIdentity {
        source: EventSource::Runner,
        event_id: format!("{jti}:{nonce}"),
        runner: Some((jti, nonce)),
    };
    record(app, tx, row, event, identity).await
}

/// Stores an event of a MANUAL loop, posted by a user.
pub async fn receive_manual(
    app: &ControlPlaneState,
    loop_id: Uuid,
    event: RunnerEvent,
    actor: &Actor,
) -> ApiResult<IngestOutcome> {
    let tx = app.store.begin().await?;
    let row = locked(&tx, loop_id).await?;
    let details = json!({"event": event.kind});
    actor.record(&tx, row.organization_id, AuditAction::ManualLoopRecorded, loop_id, details).await?;
    let event_id = Uuid::now_v7().to_string();
    let identity = EventIdentity { source: EventSource::Person, event_id, runner: None };
    record(app, tx, row, event, identity).await
}

async fn locked(tx: &DatabaseTransaction, loop_id: Uuid) -> ApiResult<agent_loop::Model> {
    let row = agent_loop::Entity::find_by_id(loop_id).lock_exclusive().one(tx).await?;
    row.ok_or_else(|| not_found("Loop"))
}

async fn record(
    app: &ControlPlaneState,
    tx: DatabaseTransaction,
    row: agent_loop::Model,
    event: RunnerEvent,
    identity: EventIdentity,
) -> ApiResult<IngestOutcome> {
    let loop_id = row.id;
    // Recorded even when the event itself is dropped below, because the cost was incurred.
    let spent = cost::total(&event);
    if let Some(total) = spent {
        spending::record(&tx, &row, total).await?;
    }
    let is_late = row.status.0.is_terminal() && !accepted_after_end(&event, row.status.0);
    let is_beyond_limit = row.last_sequence >= EVENT_LIMIT && !event.is_terminal();
    if is_late || is_beyond_limit {
        let has_ended = is_late && identity.runner.is_some() && !was_ended_by_runner(&tx, loop_id).await?;
        tx.commit().await?;
        return Ok(IngestOutcome { is_ignored: true, has_ended });
    }
    let body = EventBody::read(&event.kind, &event.members);
    // Texts and tool calls, of which there are many, change no list.
    let changes_lists = !body.is_part();
    if activity::update(&tx, &row, &body).await? {
        change_requests::refresh_of_loop(&tx, loop_id).await?;
    }
    if event.is_terminal() {
        // Before the status changes: the state of the change request depends on the answers.
        reviews::store_answers(&tx, loop_id, event.members.get("commentAnswers")).await?;
    }
    let event = match apply_event(&tx, &row, body, event).await? {
        EventEffect::Store(event) => event,
        EventEffect::Update => {
            tx.commit().await?;
            app.bus.publish(Topic::Loop(loop_id));
            return Ok(IngestOutcome::STORED);
        }
        EventEffect::Ignore => {
            tx.commit().await?;
            return Ok(IngestOutcome::IGNORED);
        }
    };
    for event in new_events(event, identity) {
        // A concurrent request with the same nonce passed `is_replay` as well; the unique index decides.
        match loop_state::append(&tx, loop_id, event).await {
            Err(error) if is_duplicate(&error) => return Err(replay()),
            other => other?,
        }
    }
    bump_heartbeat(&tx, &row).await?;
    let is_over_budget = spent.is_some() && spending::enforce(&tx, &row).await?;
    let kill = if is_over_budget { kill::store(&tx, &row, None).await? } else { None };
    if is_over_budget {
        let details = json!({"reason": "spending_limit", "computeTargetId": row.compute_target_id});
        Actor::default()
            .record(&tx, row.organization_id, AuditAction::LoopCancelled, row.id, details)
            .await?;
    }
    tx.commit().await?;
    app.bus.publish(Topic::Loop(loop_id));
    if changes_lists {
        app.bus.publish(Topic::Organization(row.organization_id));
    }
    // After the commit: the kill command must not be sent for a transaction that is rolled back.
    let Some(kill) = kill else { return Ok(IngestOutcome::STORED) };
    kill::send(app, kill).await?;
    Ok(IngestOutcome { is_ignored: false, has_ended: true })
}

/// Returns the rows of an event. The first one has its nonce, which detects replays of all.
fn new_events(event: RunnerEvent, identity: EventIdentity) -> impl Iterator<Item = NewEvent> {
    event_rows::of(event).into_iter().enumerate().map(move |(at, stored)| NewEvent {
        kind: stored.kind,
        source: identity.source,
        event_id: if at == 0 { identity.event_id.clone() } else { format!("{}:{at}", identity.event_id) },
        data: stored.data,
        complete: stored.complete,
        runner: identity.runner.filter(|_| at == 0),
    })
}

fn replay() -> ApiError {
    conflict("Replay detected").code("replay_detected")
}

async fn is_replay(tx: &DatabaseTransaction, loop_id: Uuid, nonce: Uuid) -> Result<bool, DbErr> {
    let count = loop_event::Entity::find()
        .filter(loop_event::Column::LoopId.eq(loop_id))
        .filter(loop_event::Column::RunnerNonce.eq(nonce))
        .count(tx)
        .await?;
    Ok(count > 0)
}

/// Returns whether the runner has reported the end of the loop. Otherwise it may still be running.
async fn was_ended_by_runner(tx: &DatabaseTransaction, loop_id: Uuid) -> Result<bool, DbErr> {
    let reports = loop_event::Entity::find()
        .filter(loop_event::Column::LoopId.eq(loop_id))
        .filter(loop_event::Column::Source.eq(StoredEnum(EventSource::Runner)))
        .filter(loop_event::Column::Kind.is_in(runner_event::TERMINAL_KINDS))
        .count(tx)
        .await?;
    Ok(reports > 0)
}

fn accepted_after_end(event: &RunnerEvent, status: LoopStatus) -> bool {
    event.is_terminal()
        // The user may have cancelled the loop after the delivery.
        || event.kind == MESSAGE_DELIVERY
        || (event.kind == "support_bundle_uploaded"
            && matches!(status, LoopStatus::Failed | LoopStatus::TimedOut))
}

/// Effect of an event on the event table.
enum EventEffect {
    Store(RunnerEvent),
    /// The loop has finished and was updated; the event itself is not stored.
    Update,
    Ignore,
}

async fn apply_event(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    body: EventBody,
    event: RunnerEvent,
) -> ApiResult<EventEffect> {
    match body {
        EventBody::Started(_) => started(tx, row, event).await,
        EventBody::Output(_) => output(tx, row, event).await,
        EventBody::Completed(_) => completion::completed(tx, row, event)
            .await
            .map(|event| event.map_or(EventEffect::Ignore, EventEffect::Store)),
        EventBody::Error(_) => failed(tx, row, event).await,
        EventBody::Progress(progress) => progressed(tx, row, &progress, event).await,
        EventBody::Cancelled(_) => cancelled(tx, row, event).await,
        EventBody::MessageDelivery(delivery) => delivered(tx, row, &delivery, event).await,
        // Without an effect on the loop.
        EventBody::ToolCall(_)
        | EventBody::Usage(_)
        | EventBody::Question(_)
        | EventBody::Limit(_)
        | EventBody::Approval(_)
        | EventBody::ApprovalDecision(_)
        | EventBody::Queue(_)
        | EventBody::Stall(_)
        | EventBody::Message(_)
        | EventBody::ArtifactCreated(_)
        | EventBody::SupportBundleUploaded(_)
        | EventBody::TokensCleared(_)
        | EventBody::TokenRefreshed(_)
        | EventBody::ReapReversed(_)
        | EventBody::Unreadable(_) => Ok(EventEffect::Store(event)),
    }
}

async fn started(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    event: RunnerEvent,
) -> ApiResult<EventEffect> {
    if row.status.0 == LoopStatus::Running {
        return Ok(EventEffect::Store(event));
    }
    let session = event.session_id();
    let repo = with_branch(row, &event);
    let columns = |mut update: UpdateMany<_>| {
        if let Some(session) = session {
            update = update.col_expr(agent_loop::Column::SessionId, Expr::value(session));
        }
        if let Some(repo) = repo {
            update = update.col_expr(agent_loop::Column::Repo, Expr::value(repo));
        }
        update
    };
    settle(loop_state::apply(tx, row.id, LoopStatus::Running, columns).await?, event)
}

/// Accepts the delivery of a message of this loop.
async fn delivered(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    delivery: &MessageDeliveryEvent,
    event: RunnerEvent,
) -> ApiResult<EventEffect> {
    let is_known = match delivery.message_id.parse() {
        Ok(message_id) => message::exists(tx, row.id, message_id).await?,
        Err(_) => false,
    };
    Ok(if is_known { EventEffect::Store(event) } else { EventEffect::Ignore })
}

/// Returns the loop's repository completed with the default branch that the runner reported; `None` when the
/// loop already has a branch.
fn with_branch(row: &agent_loop::Model, event: &RunnerEvent) -> Option<Value> {
    let repo: RepoRef = parse_json(row.repo.as_ref()).filter(|repo: &RepoRef| repo.branch.is_empty())?;
    let branch = event.text("baseBranch").filter(|branch| branch.parse::<BranchName>().is_ok())?;
    Some(json!(RepoRef { branch: branch.to_owned(), ..repo }))
}

/// Ignores events for a loop with a terminal status; other refused transitions are conflicts.
fn settle(transition: TransitionResult, event: RunnerEvent) -> ApiResult<EventEffect> {
    match transition {
        TransitionResult::Applied => Ok(EventEffect::Store(event)),
        TransitionResult::Refused(from) if from.is_terminal() => Ok(EventEffect::Ignore),
        TransitionResult::Refused(from) => Err(invalid_transition(from)),
    }
}

async fn progressed(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    progress: &ProgressEvent,
    event: RunnerEvent,
) -> ApiResult<EventEffect> {
    let Some(tasks) = &progress.tasks else { return Ok(EventEffect::Store(event)) };
    if parse_json::<TaskCounts>(row.tasks.as_ref()).as_ref() != Some(tasks) {
        agent_loop::Entity::update_many()
            .col_expr(agent_loop::Column::Tasks, Expr::value(serde_json::to_value(tasks)?))
            .filter(agent_loop::Column::Id.eq(row.id))
            .exec(tx)
            .await?;
        change_requests::refresh_of_loop(tx, row.id).await?;
    }
    Ok(EventEffect::Store(event))
}

async fn output(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    event: RunnerEvent,
) -> ApiResult<EventEffect> {
    if let Some(usage) = event.token_usage() {
        raise_tokens(tx, row, usage).await?;
    }
    if let Some(cost) = event.cost()
        && ACTIVE.contains(&row.status.0)
    {
        contents::merge_metadata(tx, row.id, cost::metadata(&cost)).await?;
    }
    Ok(EventEffect::Store(event))
}

/// Raises the token counters. They never decrease, because reports may arrive late or twice.
async fn raise_tokens(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    usage: TokenUsage,
) -> Result<(), DbErr> {
    use agent_loop::Column;
    let count = |reported: u64, current: i64| cost::stored_count(reported).max(current);
    agent_loop::Entity::update_many()
        .col_expr(Column::TokensInput, Expr::value(count(usage.input_tokens, row.tokens_input)))
        .col_expr(Column::TokensOutput, Expr::value(count(usage.output_tokens, row.tokens_output)))
        .filter(Column::Id.eq(row.id))
        .filter(Column::Status.is_in(loop_state::status_values(ACTIVE)))
        .exec(tx)
        .await?;
    Ok(())
}

async fn failed(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    event: RunnerEvent,
) -> ApiResult<EventEffect> {
    let code = event.text("code").unwrap_or_default().to_owned();
    // A cancellation may also arrive as an error event with this code.
    if code == loopgate_api::event::code::CANCELLED {
        let mut event = event;
        event.kind = "cancelled".to_owned();
        let reason = event.members.remove("message").unwrap_or(Value::Null);
        event.members.remove("code");
        event.members.insert("reason".to_owned(), reason);
        return cancelled(tx, row, event).await;
    }
    if let Some(usage) = event.token_usage() {
        raise_tokens(tx, row, usage).await?;
    }
    let to = match code.as_str() {
        loopgate_api::event::code::TIMED_OUT => LoopStatus::TimedOut,
        loopgate_api::event::code::AWAITING_USER => LoopStatus::AwaitingUser,
        _ => LoopStatus::Failed,
    };
    let error = stored_error(&event, code, to);
    // A failed loop may still have delivered its work to some repositories.
    if row.status.0 != LoopStatus::Completed {
        completion::delivered(tx, row, &event).await?;
    }
    let branch =
        event.text("branchName").filter(|name| name.parse::<BranchName>().is_ok()).map(str::to_owned);
    let session = event.session_id();
    let spent = cost::of_failure(&event);
    let columns = |mut update: UpdateMany<_>| {
        for (column, value) in spent {
            update = update.col_expr(column, value);
        }
        update = update.col_expr(agent_loop::Column::Error, Expr::value(error));
        if let Some(branch) = branch {
            update = update.col_expr(agent_loop::Column::BranchName, Expr::value(branch));
        }
        if let Some(session) = session {
            update = update.col_expr(agent_loop::Column::SessionId, Expr::value(session));
        }
        update
    };
    let transition = loop_state::apply(tx, row.id, to, columns).await?;
    if transition == TransitionResult::Applied {
        let by_model = event.tokens_by_model();
        let by_model =
            by_model.map(|tokens| (loop_content::Column::TokensByModel, Expr::value(json!(tokens))));
        contents::update(tx, row.id, by_model).await?;
        let metadata = event.cost().map(|cost| cost::metadata(&cost)).unwrap_or_default();
        contents::merge_metadata(tx, row.id, metadata).await?;
    }
    settle(transition, event)
}

/// Returns the error for the row of a failed loop. The event contains the complete message.
fn stored_error(event: &RunnerEvent, code: String, to: LoopStatus) -> Value {
    let shortened = |text: &str| text.chars().take(ERROR_CHARS).collect::<String>();
    let mut error = json!({"code": shortened(&code), "message": event.text("message").map(shortened)});
    let result = event.members.get("result").filter(|_| to == LoopStatus::Failed);
    if let Some(result) = result.filter(|result| result.to_string().len() <= ERROR_RESULT_LIMIT) {
        error["result"] = result.clone();
    }
    error
}

async fn cancelled(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    event: RunnerEvent,
) -> ApiResult<EventEffect> {
    // The user has usually cancelled the loop already, but only the runner knows the deliveries.
    let delivered = completion::delivered(tx, row, &event).await?;
    if row.status.0 == LoopStatus::Cancelled {
        return Ok(if delivered { EventEffect::Update } else { EventEffect::Ignore });
    }
    settle(loop_state::apply(tx, row.id, LoopStatus::Cancelled, |update| update).await?, event)
}

async fn bump_heartbeat(tx: &DatabaseTransaction, row: &agent_loop::Model) -> Result<(), DbErr> {
    use agent_loop::Column;
    if row.last_runner_heartbeat_at.is_some_and(|at| now() - at < HEARTBEAT_THROTTLE) {
        return Ok(());
    }
    agent_loop::Entity::update_many()
        .col_expr(Column::LastRunnerHeartbeatAt, Expr::value(now()))
        .filter(Column::Id.eq(row.id))
        .exec(tx)
        .await?;
    Ok(())
}
