//! The history of a change request: what happened, who did it, and when.
//!
//! Read from the rows that record it: versions, loops and their events, pull requests, and the audit log. Nothing is
//! stored for it.

use std::collections::{HashMap, HashSet};

use loopgate_api::command::LoopCommand;
use loopgate_api::event_body::{ApprovalOutcome, EventBody, MessageDeliveryEvent, MessageEvent};
use loopgate_api::job::LoopStatus;
use loopgate_api::pull_request::PullRequestState;
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, DerivePartialModel, QueryOrder as _, QuerySelect as _};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{Family, loops_of};
use crate::audit::AuditAction;
use crate::documents::view::{LoopPullRequest, pull_requests_of};
use crate::loops::view::{LoopDocument, LoopError, LoopUser, users};
use crate::store::column::StoredEnum;
use crate::store::entity::change_review::{self, ReviewKind};
use crate::store::entity::{
    agent_loop, audit_entry, compute_target, document_version, loop_event, review_comment,
};
use crate::store::{iso, parse_json};

// Newest loops, and newest rows of each other kind.
const ROWS: u64 = 200;
// Kinds of loop events that ask a person for something, and of the owner's decisions.
const REQUESTS: [&str; 3] = ["approval", "approval_decision", "question"];
// Kinds of loop events about messages of persons.
const MESSAGES: [&str; 2] = ["message", "message_delivery"];

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Happening {
    /// A text was written: the request, a plan, or a version of one.
    #[serde(rename_all = "camelCase")]
    Version {
        /// The document.
        document: LoopDocument,
        /// Number of the version, from 1.
        version: i64,
        /// Loop that wrote it; null for a person.
        loop_id: Option<Uuid>,
    },
    /// A loop was started. For EXECUTE with the reason `request`, this is the decision for a plan; for REQUEST_CHANGES,
    /// the decision against it.
    #[serde(rename_all = "camelCase")]
    LoopStarted {
        loop_id: Uuid,
        command: LoopCommand,
        reason: StartReason,
        /// Version of the document that the loop works on; null without a document.
        version: Option<i64>,
        /// First 200 characters of the message; null without one.
        message: Option<String>,
    },
    /// A loop has ended.
    #[serde(rename_all = "camelCase")]
    LoopEnded {
        loop_id: Uuid,
        command: LoopCommand,
        status: LoopStatus,
        /// Error code; null without an error.
        code: Option<String>,
    },
    /// A loop was cancelled.
    #[serde(rename_all = "camelCase")]
    LoopCancelled { loop_id: Uuid },
    /// The desktop's owner was asked to approve a loop.
    #[serde(rename_all = "camelCase")]
    ApprovalRequested {
        loop_id: Uuid,
        /// Message with the reason.
        message: Option<String>,
    },
    /// The wait for an approval has ended, with a decision of the desktop's owner or without one.
    #[serde(rename_all = "camelCase")]
    ApprovalDecided { loop_id: Uuid, outcome: ApprovalOutcome },
    /// The assistant asked a question.
    #[serde(rename_all = "camelCase")]
    Question { loop_id: Uuid, message: String },
    /// A person sent a message to a running loop.
    #[serde(rename_all = "camelCase")]
    Message {
        loop_id: Uuid,
        message_id: String,
        text: String,
        delivery: MessageState,
        /// Time at which the assistant received the message, ISO 8601; null if it has not, or if the time is not known.
        delivered_at: Option<String>,
        /// Why the machine refused the message; null if it did not.
        reason: Option<String>,
    },
    /// A person finished a review of the changes.
    #[serde(rename_all = "camelCase")]
    ChangesReviewed {
        /// Result of the review.
        review: ReviewKind,
        /// Number of its comments.
        comments: i64,
        /// What the person says about the change as a whole; null without it.
        summary: Option<String>,
        /// Loop that answers the comments, or opens the pull requests; null without one.
        loop_id: Option<Uuid>,
    },
    /// A pull request was opened.
    #[serde(rename_all = "camelCase")]
    PullRequest {
        /// Full name of the repository, `<org>/<repo>`.
        full_name: String,
        number: i64,
        url: String,
    },
    /// A pull request was merged or closed.
    #[serde(rename_all = "camelCase")]
    PullRequestSettled {
        /// Full name of the repository, `<org>/<repo>`.
        full_name: String,
        number: i64,
        url: String,
        /// `merged` or `closed`.
        state: PullRequestState,
        /// Login of the account that merged it; null otherwise.
        merged_by: Option<String>,
    },
    /// Title, status or repositories of a document were changed.
    Changed,
    /// The change request was archived.
    Archived,
    /// The change request was returned to the lists.
    Unarchived,
    /// The change request was deleted.
    Deleted,
    /// The deletion was undone.
    Restored,
}

/// Why a person started a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartReason {
    /// For its command.
    Request,
    /// To continue the work of an earlier loop with the same command.
    Continuation,
    /// To answer the comments of a review.
    Review,
    /// To open the pull requests of approved changes.
    Approval,
}

/// Whether the assistant has received a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    /// Not yet; the loop runs.
    Pending,
    /// The assistant has received it.
    Delivered,
    /// The machine refused the message, or the loop ended before.
    NotDelivered,
}

/// An entry of the history.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HistoryEntry {
    /// Time, ISO 8601.
    pub at: String,
    /// User who did it, who started the loop that did, or who owns the desktop that did; null if it is not known.
    pub user: Option<LoopUser>,
    /// What happened.
    #[serde(flatten)]
    pub happening: Happening,
}

/// An entry before the lookup of its user.
struct Entry {
    at: i64,
    user: Option<Uuid>,
    happening: Happening,
}

/// Returns the history of a change request, newest first.
pub async fn history(db: &impl ConnectionTrait, family: &Family) -> Result<Vec<HistoryEntry>, DbErr> {
    let loops = loops_of(family).limit(ROWS).all(db).await?;
    let starters: HashMap<Uuid, Uuid> = loops.iter().map(|row| (row.id, row.user_id)).collect();
    let mut entries = versions(db, family, &starters).await?;
    entries.extend(requests(db, &loops).await?);
    let ended = loops.iter().filter(|row| row.status.0.is_terminal()).map(|row| row.id).collect();
    entries.extend(messages(db, &starters, &ended).await?);
    let reviews = reviews(db, family).await?;
    entries.extend(audited(db, family, &starters).await?);
    for pull_request in pull_requests_of(db, family.ids()).await? {
        entries.extend(of_pull_request(&starters, pull_request));
    }
    let by_id: HashMap<Uuid, &agent_loop::Model> = loops.iter().map(|row| (row.id, row)).collect();
    let of_reviews: HashMap<Uuid, StartReason> =
        reviews.iter().filter_map(|entry| start_of_review(entry, &by_id)).collect();
    entries.extend(loops.iter().flat_map(|row| {
        let continues = || {
            row.parent_loop_id
                .and_then(|id| by_id.get(&id))
                .is_some_and(|parent| parent.command == row.command)
        };
        let default = if continues() { StartReason::Continuation } else { StartReason::Request };
        of_loop(of_reviews.get(&row.id).copied().unwrap_or(default), row)
    }));
    entries.extend(reviews);
    // Stable: entries of the same millisecond keep the order in which they were read.
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    let users = users(db, entries.iter().filter_map(|entry| entry.user)).await?;
    let view = |Entry { at, user, happening }| HistoryEntry {
        at: iso(at),
        user: user.and_then(|id| users.get(&id).cloned()),
        happening,
    };
    Ok(entries.into_iter().map(view).collect())
}

/// Returns the loop that was started with a review. Loops that resume it take over the review.
fn start_of_review(review: &Entry, loops: &HashMap<Uuid, &agent_loop::Model>) -> Option<(Uuid, StartReason)> {
    let Happening::ChangesReviewed { review: kind, loop_id, .. } = &review.happening else { return None };
    let mut row = loops.get(&(*loop_id)?)?;
    while row.created_at > review.at {
        row = loops.get(&row.parent_loop_id?)?;
    }
    let is_approval = *kind == ReviewKind::Approve;
    Some((row.id, if is_approval { StartReason::Approval } else { StartReason::Review }))
}

/// Returns that a pull request was opened, and how it ended.
fn of_pull_request(starters: &HashMap<Uuid, Uuid>, pull_request: LoopPullRequest) -> Vec<Entry> {
    let LoopPullRequest { full_name, number, url, loop_id, created_at, standing, .. } = pull_request;
    let time = |text: &str| text.parse().map(jiff::Timestamp::as_millisecond).ok();
    let ended = standing.and_then(|standing| Some((time(standing.settled_at.as_ref()?)?, standing)));
    let ended = ended.map(|(at, standing)| Entry {
        at,
        user: None,
        happening: Happening::PullRequestSettled {
            full_name: full_name.clone(),
            number,
            url: url.clone(),
            state: standing.state,
            merged_by: standing.merged_by,
        },
    });
    let opened = Entry {
        at: time(&created_at).unwrap_or_default(),
        user: starters.get(&loop_id).copied(),
        happening: Happening::PullRequest { full_name, number, url },
    };
    ended.into_iter().chain([opened]).collect()
}

fn of_loop(reason: StartReason, row: &agent_loop::Model) -> Vec<Entry> {
    let (loop_id, command, user) = (row.id, row.command.0, Some(row.user_id));
    let error: Option<LoopError> = parse_json(row.error.as_ref());
    let ended = row.completed_at.map(|at| Entry {
        at,
        user: None,
        happening: Happening::LoopEnded {
            loop_id,
            command,
            status: row.status.0,
            code: error.map(|error| error.code),
        },
    });
    let started = Happening::LoopStarted {
        loop_id,
        command,
        reason,
        version: row.document_version,
        message: row.prompt_excerpt.clone(),
    };
    ended.into_iter().chain([Entry { at: row.created_at, user, happening: started }]).collect()
}

/// A version without its text.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "document_version::Entity")]
struct WrittenVersion {
    document_id: Uuid,
    version: i64,
    user_id: Option<Uuid>,
    loop_id: Option<Uuid>,
    created_at: i64,
}

async fn versions(
    db: &impl ConnectionTrait,
    family: &Family,
    starters: &HashMap<Uuid, Uuid>,
) -> Result<Vec<Entry>, DbErr> {
    use document_version::Column;
    let rows = document_version::Entity::find()
        .filter(Column::DocumentId.is_in(family.ids()))
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Version)
        .limit(ROWS)
        .into_partial_model::<WrittenVersion>()
        .all(db)
        .await?;
    let documents: HashMap<Uuid, LoopDocument> = family
        .derived
        .iter()
        .chain([&family.root])
        .map(|document| (document.id, LoopDocument::from(document)))
        .collect();
    let entry = |row: WrittenVersion| {
        let (version, loop_id) = (row.version, row.loop_id);
        let user = row.user_id.or_else(|| starters.get(&loop_id?).copied());
        let document = documents.get(&row.document_id)?.clone();
        Some(Entry { at: row.created_at, user, happening: Happening::Version { document, version, loop_id } })
    };
    Ok(rows.into_iter().filter_map(entry).collect())
}

/// Returns the approvals and answers that the loops asked for, and the decisions about them.
async fn requests(db: &impl ConnectionTrait, loops: &[agent_loop::Model]) -> Result<Vec<Entry>, DbErr> {
    let rows = loop_event::Entity::find()
        .filter(loop_event::Column::LoopId.is_in(loops.iter().map(|row| row.id)))
        .filter(loop_event::Column::Kind.is_in(REQUESTS))
        .order_by_desc(loop_event::Column::CreatedAt)
        .limit(ROWS)
        .all(db)
        .await?;
    let owners = desktop_owners(db, loops).await?;
    let mut requested = HashSet::new();
    let entry = |row: loop_event::Model| {
        let members: Map<String, Value> = row.data.as_object().cloned().unwrap_or_default();
        let (loop_id, mut user) = (row.loop_id, None);
        let happening = match EventBody::read(&row.kind, &members) {
            // The desktop repeats the event while the loop waits.
            EventBody::Approval(event) => {
                let is_first = requested.insert(event.approval.id);
                is_first.then_some(Happening::ApprovalRequested { loop_id, message: event.chunk })?
            }
            EventBody::ApprovalDecision(event) => {
                let outcome = event.approval_decision.outcome;
                user = owners.get(&loop_id).filter(|_| outcome != ApprovalOutcome::Expired).copied();
                Happening::ApprovalDecided { loop_id, outcome }
            }
            EventBody::Question(event) => Happening::Question { loop_id, message: event.text },
            _ => return None,
        };
        Some(Entry { at: row.created_at, user, happening })
    };
    // Oldest first, so that the first of repeated events is kept.
    Ok(rows.into_iter().rev().filter_map(entry).collect())
}

/// Returns the owner of each loop's desktop.
async fn desktop_owners(
    db: &impl ConnectionTrait,
    loops: &[agent_loop::Model],
) -> Result<HashMap<Uuid, Uuid>, DbErr> {
    use compute_target::Column;
    let owners: HashMap<Uuid, Uuid> = compute_target::Entity::find()
        .select_only()
        .columns([Column::Id, Column::UserId])
        .filter(Column::Id.is_in(loops.iter().filter_map(|row| row.compute_target_id)))
        .into_tuple::<(Uuid, Uuid)>()
        .all(db)
        .await?
        .into_iter()
        .collect();
    let owner = |row: &agent_loop::Model| Some((row.id, *owners.get(&row.compute_target_id?)?));
    Ok(loops.iter().filter_map(owner).collect())
}

/// Returns the messages of persons to the loops.
async fn messages(
    db: &impl ConnectionTrait,
    starters: &HashMap<Uuid, Uuid>,
    ended: &HashSet<Uuid>,
) -> Result<Vec<Entry>, DbErr> {
    let rows = loop_event::Entity::find()
        .filter(loop_event::Column::LoopId.is_in(starters.keys().copied()))
        .filter(loop_event::Column::Kind.is_in(MESSAGES))
        .order_by_desc(loop_event::Column::CreatedAt)
        .limit(2 * ROWS)
        .all(db)
        .await?;
    let (mut deliveries, mut sent) = (HashMap::<String, MessageDeliveryEvent>::new(), Vec::new());
    for row in rows {
        let members: Map<String, Value> = row.data.as_object().cloned().unwrap_or_default();
        match EventBody::read(&row.kind, &members) {
            EventBody::Message(message) => sent.push((row, message)),
            // The assistant may receive a message whose command failed, for instance because of a timeout.
            EventBody::MessageDelivery(delivery) => {
                let known = deliveries.entry(delivery.message_id.clone()).or_insert_with(|| delivery.clone());
                if delivery.is_delivered {
                    *known = delivery;
                }
            }
            _ => {}
        }
    }
    let entry = |(row, message): (loop_event::Model, MessageEvent)| {
        let found = deliveries.remove(&message.message_id);
        let delivery = match &found {
            Some(found) if found.is_delivered => MessageState::Delivered,
            None if !ended.contains(&row.loop_id) => MessageState::Pending,
            _ => MessageState::NotDelivered,
        };
        let (delivered_at, reason) =
            found.map(|found| (found.delivered_at, found.reason)).unwrap_or_default();
        let happening = Happening::Message {
            loop_id: row.loop_id,
            message_id: message.message_id,
            text: message.text,
            delivery,
            delivered_at,
            reason,
        };
        Entry { at: row.created_at, user: message.user_id.parse().ok(), happening }
    };
    Ok(sent.into_iter().map(entry).collect())
}

/// Returns the reviews of the changes.
async fn reviews(db: &impl ConnectionTrait, family: &Family) -> Result<Vec<Entry>, DbErr> {
    let rows = change_review::Entity::find()
        .filter(change_review::Column::DocumentId.eq(family.root.id))
        .order_by_desc(change_review::Column::CreatedAt)
        .limit(ROWS)
        .all(db)
        .await?;
    let comments: HashMap<Uuid, i64> = review_comment::Entity::find()
        .select_only()
        .column(review_comment::Column::ReviewId)
        .column_as(review_comment::Column::Id.count(), "comments")
        .filter(review_comment::Column::ReviewId.is_in(rows.iter().map(|row| row.id)))
        .group_by(review_comment::Column::ReviewId)
        .into_tuple::<(Uuid, i64)>()
        .all(db)
        .await?
        .into_iter()
        .collect();
    let entry = |row: change_review::Model| {
        let happening = Happening::ChangesReviewed {
            review: row.kind.0,
            comments: comments.get(&row.id).copied().unwrap_or_default(),
            summary: row.summary,
            loop_id: row.loop_id,
        };
        Entry { at: row.created_at, user: Some(row.user_id), happening }
    };
    Ok(rows.into_iter().map(entry).collect())
}

/// Returns what the audit log contains about the documents and loops.
async fn audited(
    db: &impl ConnectionTrait,
    family: &Family,
    starters: &HashMap<Uuid, Uuid>,
) -> Result<Vec<Entry>, DbErr> {
    use audit_entry::Column;
    const ACTIONS: [AuditAction; 4] = [
        AuditAction::DocumentUpdated,
        AuditAction::DocumentDeleted,
        AuditAction::DocumentRestored,
        AuditAction::LoopCancelled,
    ];
    let subjects = family.ids().chain(starters.keys().copied()).map(|id| id.to_string());
    let rows = audit_entry::Entity::find()
        .filter(Column::OrganizationId.eq(family.root.organization_id))
        .filter(Column::Subject.is_in(subjects))
        .filter(Column::Action.is_in(ACTIONS.map(StoredEnum)))
        .order_by_desc(Column::Id)
        .limit(ROWS)
        .all(db)
        .await?;
    let entry = |row: audit_entry::Model| {
        let happening = match row.action.0 {
            AuditAction::LoopCancelled => Happening::LoopCancelled { loop_id: row.subject.parse().ok()? },
            AuditAction::DocumentDeleted => Happening::Deleted,
            AuditAction::DocumentRestored => Happening::Restored,
            _ => match row.details.get("archived").and_then(Value::as_bool) {
                Some(true) => Happening::Archived,
                Some(false) => Happening::Unarchived,
                // By the end of a loop, which is an entry of its own.
                None if row.details.get("loopId").is_some() => return None,
                None => Happening::Changed,
            },
        };
        Some(Entry { at: row.at, user: row.user_id, happening })
    };
    Ok(rows.into_iter().filter_map(entry).collect())
}
