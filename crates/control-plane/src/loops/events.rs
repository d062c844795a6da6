//! Reading a loop's events: all, a page, or what came after a given one.

use sea_orm::prelude::*;
use sea_orm::{Condition, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::error::{ApiResult, ValidationIssues};
use crate::store::entity::loop_event;
use crate::store::{Store, iso, row_count};

/// Events that a stream reads at once.
pub const BATCH: u64 = 500;

/// An event as it is stored, in flat form.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredEvent {
    /// Every other member, among them `timestamp`.
    #[serde(flatten)]
    #[schema(value_type = HashMap<String, Value>)]
    pub members: Map<String, Value>,
    /// `started`, `output`, `progress`, `tool_call`, `artifact_created`, `support_bundle_uploaded`,
    /// `completed`, `error`, `cancelled`; internal ones: `tokens_cleared`, `token_refreshed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Id of the row; the stream sends it as the event's id.
    pub id: Uuid,
    /// Position within the loop, from 1, without gaps.
    pub sequence: i64,
    /// ISO 8601.
    pub stored_at: String,
}

impl From<loop_event::Model> for StoredEvent {
    fn from(row: loop_event::Model) -> Self {
        let mut members = match row.data {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        for own in ["type", "id", "sequence", "storedAt"] {
            members.remove(own);
        }
        Self { members, kind: row.kind, id: row.id, sequence: row.sequence, stored_at: iso(row.created_at) }
    }
}

/// Which events are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct EventQuery {
    /// Only this type.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// 1 to 500; 100 for a page, 500 for an increment.
    pub limit: Option<u64>,
    /// For a page.
    pub offset: Option<u64>,
    /// For a page: `asc` or `desc`.
    pub sort: Option<String>,
    /// ISO 8601; answers what was stored after it.
    pub since: Option<String>,
    /// Id of the last event of that instant that is known.
    pub since_id: Option<Uuid>,
}

/// A page of events.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EventPage {
    /// The events.
    pub data: Vec<StoredEvent>,
    /// Number of events that fit, on all pages.
    pub total: u64,
}

/// All events or an increment as a list, a page as a page.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EventList {
    /// Oldest first.
    All(Vec<StoredEvent>),
    /// With the total.
    Page(EventPage),
}

/// Answers a query.
pub async fn read(store: &Store, loop_id: Uuid, query: &EventQuery) -> ApiResult<EventList> {
    check(query)?;
    let all = loop_event::Entity::find().filter(loop_event::Column::LoopId.eq(loop_id));
    if let Some(since) = &query.since {
        let since: jiff::Timestamp =
            since.parse().map_err(|_| invalid("since", "must be an ISO 8601 instant"))?;
        let rows = all
            .filter(after(since.as_millisecond(), query.since_id))
            .order_by_asc(loop_event::Column::Sequence)
            .limit(query.limit.unwrap_or(BATCH))
            .all(store.reader())
            .await?;
        return Ok(EventList::All(rows.into_iter().map(StoredEvent::from).collect()));
    }
    if query.kind.is_none() && query.limit.is_none() && query.offset.is_none() && query.sort.is_none() {
        let rows = all.order_by_asc(loop_event::Column::Sequence).all(store.reader()).await?;
        return Ok(EventList::All(rows.into_iter().map(StoredEvent::from).collect()));
    }
    let fitting = match &query.kind {
        Some(kind) => all.filter(loop_event::Column::Kind.eq(kind)),
        None => all,
    };
    let total = fitting.clone().count(store.reader()).await?;
    let ordered = if query.sort.as_deref() == Some("desc") {
        fitting.order_by_desc(loop_event::Column::Sequence)
    } else {
        fitting.order_by_asc(loop_event::Column::Sequence)
    };
    let rows = ordered
        .limit(query.limit.unwrap_or(100))
        .offset(row_count(query.offset.unwrap_or(0)))
        .all(store.reader())
        .await?;
    Ok(EventList::Page(EventPage { data: rows.into_iter().map(StoredEvent::from).collect(), total }))
}

fn check(query: &EventQuery) -> ApiResult<()> {
    let mut issues = ValidationIssues::default();
    issues.require(
        query.limit.is_none_or(|limit| (1..=500).contains(&limit)),
        "limit",
        "must be from 1 to 500",
    );
    let sorted = query.sort.as_deref().is_none_or(|sort| matches!(sort, "asc" | "desc"));
    issues.require(sorted, "sort", "must be asc or desc");
    issues.into_result()
}

fn invalid(path: &str, message: &str) -> crate::error::ApiError {
    crate::error::bad_request(format!("{path}: {message}"))
}

fn after(instant: i64, id: Option<Uuid>) -> Condition {
    let later = Condition::any().add(loop_event::Column::CreatedAt.gt(instant));
    match id {
        Some(id) => later.add(
            Condition::all()
                .add(loop_event::Column::CreatedAt.eq(instant))
                .add(loop_event::Column::Id.gt(id)),
        ),
        None => later,
    }
}

/// The next batch after a position.
pub async fn batch(store: &Store, loop_id: Uuid, after: i64) -> Result<Vec<StoredEvent>, DbErr> {
    let rows = loop_event::Entity::find()
        .filter(loop_event::Column::LoopId.eq(loop_id))
        .filter(loop_event::Column::Sequence.gt(after))
        .order_by_asc(loop_event::Column::Sequence)
        .limit(BATCH)
        .all(store.reader())
        .await?;
    Ok(rows.into_iter().map(StoredEvent::from).collect())
}

/// Position of an event that a reader has seen; the beginning for an unknown one.
pub async fn position(store: &Store, loop_id: Uuid, id: Uuid) -> Result<i64, DbErr> {
    let row = loop_event::Entity::find_by_id(id)
        .filter(loop_event::Column::LoopId.eq(loop_id))
        .one(store.reader())
        .await?;
    Ok(row.map_or(0, |row| row.sequence))
}
