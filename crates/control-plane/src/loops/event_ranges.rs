//! Ranges of a loop's events that end at a position: the tail of the log, the events before it, and searches.
//!
//! A response is limited in bytes, so that the tail of the longest log is small, and a search reads a limited number of
//! rows for each request.

use std::collections::HashSet;

use futures_util::TryStreamExt as _;
use loopgate_api::event_body::{EventBody, OutputRole, ToolCallEvent, ToolCategory};
use sea_orm::prelude::*;
use sea_orm::{QueryOrder, QuerySelect as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::events::{EventQuery, StoredEvent, of_loop, views};
use crate::store::entity::{loop_event, loop_event_value};
use crate::store::{self, Store};

/// Bytes of JSON in a range.
const RANGE_BYTES: usize = 200_000;
/// Default number of events in a range.
const RANGE_EVENTS: u64 = 100;
/// Rows that one request searches.
const SEARCH_ROWS: usize = 20_000;
/// Rows that a search reads at once.
const SEARCH_BATCH: u64 = 1_000;

/// Consecutive events, or those that match a search.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventRange {
    /// The events, oldest first.
    pub events: Vec<StoredEvent>,
    /// Sequence number of the loop's last event; 0 without events.
    pub last_sequence: i64,
    /// Value of `before` for the preceding range; absent if there are no earlier events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
}

/// Subject of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventSubject {
    /// Failures, and tool calls that failed.
    Errors,
    /// Command lines.
    Commands,
    /// Files that are read, searched or changed.
    Files,
}

/// Returns the range that a query selects.
pub async fn read(store: &Store, loop_id: Uuid, query: &EventQuery) -> Result<EventRange, DbErr> {
    let newest = of_loop(loop_id)
        .select_only()
        .column(loop_event::Column::Sequence)
        .order_by_desc(loop_event::Column::Sequence)
        .into_tuple::<i64>()
        .one(store.reader())
        .await?;
    let last_sequence = newest.unwrap_or(0);
    let before = query.before.unwrap_or(i64::MAX);
    let limit = query.tail.or(query.limit).unwrap_or(RANGE_EVENTS);
    let text = query.text.as_deref().map(str::to_lowercase).filter(|text| !text.is_empty());
    let (mut rows, before) = if text.is_none() && query.about.is_none() {
        consecutive(store, loop_id, before, limit).await?
    } else {
        EventSearch { store, text, about: query.about }.run(loop_id, before, limit).await?
    };
    rows.reverse();
    Ok(EventRange { events: views(rows), last_sequence, before })
}

type Rows = (Vec<loop_event::Model>, Option<i64>);

/// Reads the events before a position, newest first. Returns the position of the preceding ones as well.
async fn consecutive(store: &Store, loop_id: Uuid, before: i64, limit: u64) -> Result<Rows, DbErr> {
    let rows =
        store::read_batch(store.reader(), preceding(loop_id, before), limit, RANGE_BYTES, |row| &row.data);
    let rows = rows.await?.rows;
    let first = rows.last().map(|row| row.sequence).filter(|first| *first > 1);
    Ok((rows, first))
}

fn preceding(loop_id: Uuid, before: i64) -> Select<loop_event::Entity> {
    of_loop(loop_id)
        .filter(loop_event::Column::Sequence.lt(before))
        .order_by_desc(loop_event::Column::Sequence)
}

struct EventSearch<'a> {
    store: &'a Store,
    /// Lower case.
    text: Option<String>,
    about: Option<EventSubject>,
}

impl EventSearch<'_> {
    async fn run(&self, loop_id: Uuid, mut before: i64, limit: u64) -> Result<Rows, DbErr> {
        let (mut found, mut bytes, mut searched) = (Vec::new(), 0, 0);
        while searched < SEARCH_ROWS {
            let rows = preceding(loop_id, before);
            let rows =
                store::read_batch(self.store.reader(), rows, SEARCH_BATCH, store::BATCH_BYTES, |row| {
                    &row.data
                })
                .await?
                .rows;
            if rows.is_empty() {
                return Ok((found, None));
            }
            searched += rows.len();
            let complete = self.matching_values(&rows).await?;
            for row in rows {
                before = row.sequence;
                if self.matches(&row, &complete) {
                    bytes += row.data.to_string().len();
                    found.push(row);
                    if found.len() as u64 >= limit || bytes >= RANGE_BYTES {
                        return Ok((found, Some(before).filter(|before| *before > 1)));
                    }
                }
            }
        }
        Ok((found, Some(before).filter(|before| *before > 1)))
    }

    fn matches(&self, row: &loop_event::Model, complete: &HashSet<Uuid>) -> bool {
        let body = EventBody::read(&row.kind, row.data.as_object().unwrap_or(&serde_json::Map::new()));
        self.about.is_none_or(|subject| is_about(&body, subject))
            && self.text.as_ref().is_none_or(|text| complete.contains(&row.id) || contains(&body, text))
    }

    /// Returns the events whose complete values contain the text.
    async fn matching_values(&self, rows: &[loop_event::Model]) -> Result<HashSet<Uuid>, DbErr> {
        let mut matching = HashSet::new();
        let Some(text) = &self.text else { return Ok(matching) };
        let shortened = rows.iter().filter(|row| row.data.get("isShortened").is_some()).map(|row| row.id);
        let values =
            loop_event_value::Entity::find().filter(loop_event_value::Column::EventId.is_in(shortened));
        // One by one: together they can have hundreds of megabytes.
        let mut values = values.stream(self.store.reader()).await?;
        while let Some(value) = values.try_next().await? {
            let body = value.data.as_object().map(|members| EventBody::read("tool_call", members));
            if body.is_some_and(|body| contains(&body, text)) {
                matching.insert(value.event_id);
            }
        }
        Ok(matching)
    }
}

fn is_about(body: &EventBody, subject: EventSubject) -> bool {
    match (body, subject) {
        (EventBody::Error(_) | EventBody::Unreadable(_), EventSubject::Errors) => true,
        (EventBody::Output(output), EventSubject::Errors) => output.role == Some(OutputRole::Error),
        (EventBody::ToolCall(ToolCallEvent::End(end)), EventSubject::Errors) => {
            end.is_error || end.exit_code.is_some_and(|code| code != 0)
        }
        (EventBody::ToolCall(call), subject) => {
            let category = match call {
                ToolCallEvent::Start(start) => start.category,
                ToolCallEvent::End(end) => end.category,
            };
            match subject {
                EventSubject::Commands => category == Some(ToolCategory::Command),
                EventSubject::Files => category == Some(ToolCategory::File),
                EventSubject::Errors => false,
            }
        }
        _ => false,
    }
}

/// Returns whether a text that users see contains another one, which is in lower case.
fn contains(body: &EventBody, text: &str) -> bool {
    let has = |own: &str| own.to_lowercase().contains(text);
    let has_any = |own: &Option<String>| own.as_deref().is_some_and(has);
    match body {
        EventBody::Output(output) => has(&output.chunk),
        EventBody::ToolCall(ToolCallEvent::Start(start)) => {
            has(&start.tool) || value_contains(&start.input, text)
        }
        EventBody::ToolCall(ToolCallEvent::End(end)) => has(&end.tool) || value_contains(&end.output, text),
        EventBody::Progress(progress) => has_any(&progress.stage),
        EventBody::Question(question) => has(&question.text),
        EventBody::Limit(limit) => has(&limit.text),
        EventBody::Approval(approval) => has_any(&approval.chunk),
        EventBody::ApprovalDecision(decision) => has_any(&decision.chunk),
        EventBody::Queue(queue) => has_any(&queue.chunk),
        EventBody::Stall(stall) => has_any(&stall.chunk),
        EventBody::Message(message) => has(&message.text),
        EventBody::MessageDelivery(delivery) => has_any(&delivery.reason),
        EventBody::ArtifactCreated(artifact) => has_any(&artifact.artifact_type),
        EventBody::Error(error) => has(&error.message) || has(&error.code),
        EventBody::Cancelled(cancelled) => has_any(&cancelled.reason),
        EventBody::Started(_)
        | EventBody::Usage(_)
        | EventBody::SupportBundleUploaded(_)
        | EventBody::Completed(_)
        | EventBody::TokensCleared(_)
        | EventBody::TokenRefreshed(_)
        | EventBody::ReapReversed(_)
        | EventBody::Unreadable(_) => false,
    }
}

fn value_contains(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own.to_lowercase().contains(text),
        Value::Array(values) => values.iter().any(|value| value_contains(value, text)),
        Value::Object(members) => members.values().any(|value| value_contains(value, text)),
        _ => false,
    }
}
