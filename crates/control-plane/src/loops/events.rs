//! Queries for a loop's events: the first ones, a page, those after a given event, or one event with its complete values.

use loopgate_api::event_body::EventBody;
use sea_orm::prelude::*;
use sea_orm::{Condition, QueryOrder, QuerySelect as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::event_ranges::{self, EventRange, EventSubject};
use crate::error::{ApiResult, ValidationIssues};
use crate::store::entity::{loop_event, loop_event_value};
use crate::store::{self, RowBatch, Store, iso, row_count};

/// Events per read; bounds the memory of a request or stream that reads a long loop.
pub const BATCH: u64 = 500;

/// A stored event in flat form.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredEvent {
    /// What the event reports.
    #[serde(flatten)]
    pub body: EventBody,
    /// Id of the event; also the `id` field on the stream.
    pub id: Uuid,
    /// Position within the loop, from 1, without gaps.
    pub sequence: i64,
    /// Time of the event according to its source, ISO 8601; absent from some events of the control plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Time of receipt, ISO 8601.
    pub stored_at: String,
}

impl From<loop_event::Model> for StoredEvent {
    fn from(row: loop_event::Model) -> Self {
        let members = match row.data {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        Self {
            body: EventBody::read(&row.kind, &members),
            id: row.id,
            sequence: row.sequence,
            timestamp: members.get("timestamp").and_then(Value::as_str).map(str::to_owned),
            stored_at: iso(row.created_at),
        }
    }
}

/// Selects events of a loop.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct EventQuery {
    /// Returns only events of this type.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Maximum number of events, 1 to 500; 100 for a page, else 500. A response ends earlier when its events are
    /// larger than 8 MiB.
    pub limit: Option<u64>,
    /// Number of events to skip; ignored with `after` and `since`.
    pub offset: Option<u64>,
    /// Order by sequence, `asc` (default) or `desc`; ignored with `after` and `since`.
    pub sort: Option<String>,
    /// Returns only events after the one with this sequence number, oldest first.
    pub after: Option<i64>,
    /// Returns only events received after this time, ISO 8601.
    pub since: Option<String>,
    /// Together with `since`: id of the last known event received at exactly that time.
    pub since_id: Option<Uuid>,
    /// Returns a range with the last events, at most this number, 1 to 500.
    pub tail: Option<u64>,
    /// Returns a range with the last events before the one with this sequence number.
    pub before: Option<i64>,
    /// Returns a range with the last events that contain this text, also in complete arguments and results of tool calls.
    /// Case is ignored.
    pub text: Option<String>,
    /// Returns a range with the last events about this subject.
    #[param(inline)]
    pub about: Option<EventSubject>,
}

/// A page of a loop's events.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EventPage {
    /// Events of this page.
    pub data: Vec<StoredEvent>,
    /// Number of matching events on all pages.
    pub total: u64,
}

/// A range when `tail`, `before`, `text` or `about` is given; else a page when `type`, `limit`, `offset` or `sort` is
/// given without `after` and `since`; else a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EventList {
    /// The first events, or those after `after` or `since`, oldest first.
    List(Vec<StoredEvent>),
    /// One page with the total.
    Page(EventPage),
    /// Consecutive or matching events, up to the end or to a position.
    Range(EventRange),
}

/// Returns the events that a query selects.
pub async fn read(store: &Store, loop_id: Uuid, query: &EventQuery) -> ApiResult<EventList> {
    check(query)?;
    if query.tail.is_some() || query.before.is_some() || query.text.is_some() || query.about.is_some() {
        return Ok(EventList::Range(event_ranges::read(store, loop_id, query).await?));
    }
    let all = of_loop(loop_id);
    if let Some(after) = query.after {
        let (events, _) = batch(store, loop_id, after, query.limit.unwrap_or(BATCH)).await?;
        return Ok(EventList::List(events));
    }
    if let Some(since) = &query.since {
        let since: jiff::Timestamp =
            since.parse().map_err(|_| invalid("since", "must be an ISO 8601 instant"))?;
        let events = all
            .filter(after(since.as_millisecond(), query.since_id))
            .order_by_asc(loop_event::Column::Sequence);
        let (events, _) = page(store, events, query.limit.unwrap_or(BATCH)).await?;
        return Ok(EventList::List(events));
    }
    if query.kind.is_none() && query.limit.is_none() && query.offset.is_none() && query.sort.is_none() {
        return Ok(EventList::List(batch(store, loop_id, 0, BATCH).await?.0));
    }
    let matching = match &query.kind {
        Some(kind) => all.filter(loop_event::Column::Kind.eq(kind)),
        None => all,
    };
    let total = matching.clone().count(store.reader()).await?;
    let ordered = if query.sort.as_deref() == Some("desc") {
        matching.order_by_desc(loop_event::Column::Sequence)
    } else {
        matching.order_by_asc(loop_event::Column::Sequence)
    };
    let ordered = ordered.offset(row_count(query.offset.unwrap_or(0)));
    let (data, _) = page(store, ordered, query.limit.unwrap_or(100)).await?;
    Ok(EventList::Page(EventPage { data, total }))
}

fn check(query: &EventQuery) -> ApiResult<()> {
    let mut issues = ValidationIssues::default();
    issues.require(
        query.limit.is_none_or(|limit| (1..=500).contains(&limit)),
        "limit",
        "must be from 1 to 500",
    );
    issues.require(query.tail.is_none_or(|tail| (1..=500).contains(&tail)), "tail", "must be from 1 to 500");
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
        // Several events can have the same millisecond. Ids are ascending and break the tie.
        Some(id) => later.add(
            Condition::all()
                .add(loop_event::Column::CreatedAt.eq(instant))
                .add(loop_event::Column::Id.gt(id)),
        ),
        None => later,
    }
}

/// Returns the next batch of at most `limit` events after a position, and whether no further ones are stored.
pub async fn batch(
    store: &Store,
    loop_id: Uuid,
    after: i64,
    limit: u64,
) -> Result<(Vec<StoredEvent>, bool), DbErr> {
    let events = of_loop(loop_id)
        .filter(loop_event::Column::Sequence.gt(after))
        .order_by_asc(loop_event::Column::Sequence);
    page(store, events, limit).await
}

pub(super) fn of_loop(loop_id: Uuid) -> Select<loop_event::Entity> {
    loop_event::Entity::find().filter(loop_event::Column::LoopId.eq(loop_id))
}

async fn page(
    store: &Store,
    events: Select<loop_event::Entity>,
    limit: u64,
) -> Result<(Vec<StoredEvent>, bool), DbErr> {
    let RowBatch { rows, is_last } =
        store::read_batch(store.reader(), events, limit, store::BATCH_BYTES, |row| &row.data).await?;
    Ok((views(rows), is_last))
}

/// Converts rows, and reports those that this version cannot read.
pub(super) fn views(rows: Vec<loop_event::Model>) -> Vec<StoredEvent> {
    let loop_id = rows.first().map(|row| row.loop_id);
    let events: Vec<StoredEvent> = rows.into_iter().map(StoredEvent::from).collect();
    let unreadable = events.iter().filter(|event| matches!(event.body, EventBody::Unreadable(_))).count();
    if unreadable > 0 {
        tracing::warn!(?loop_id, unreadable, "some events of a loop cannot be read");
    }
    events
}

/// Returns one event with its complete values.
pub async fn find(store: &Store, loop_id: Uuid, sequence: i64) -> Result<Option<StoredEvent>, DbErr> {
    let row = of_loop(loop_id).filter(loop_event::Column::Sequence.eq(sequence)).one(store.reader()).await?;
    let Some(mut row) = row else { return Ok(None) };
    if let Some(value) = loop_event_value::Entity::find_by_id(row.id).one(store.reader()).await? {
        row.data = value.data;
    }
    Ok(Some(row.into()))
}

/// Returns the position of an event; 0 for an unknown one, so that the stream restarts from the beginning.
pub async fn position(store: &Store, loop_id: Uuid, id: Uuid) -> Result<i64, DbErr> {
    let row = loop_event::Entity::find_by_id(id)
        .filter(loop_event::Column::LoopId.eq(loop_id))
        .one(store.reader())
        .await?;
    Ok(row.map_or(0, |row| row.sequence))
}
