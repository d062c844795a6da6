//! Events of a loop: as a list and as a stream.

use axum::extract::{Path, State};
use axum::response::Response;
use axum::response::sse::Event;
use http::HeaderMap;
use sea_orm::DbErr;
use uuid::Uuid;

use super::stream::{self, EventBatch, EventReader};
use crate::app::ControlPlaneState;
use crate::auth::SessionAuth;
use crate::bus::Topic;
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, not_found};
use crate::extract::{Id, Query};
use crate::loop_state::ACTIVE;
use crate::loops;
use crate::loops::events::{EventList, EventQuery, StoredEvent};
use crate::store::Store;

/// Lists the events of a loop: the first 500, a page, those after a given event, or a range that ends at a position.
/// Large arguments and results of tool calls are shortened.
#[utoipa::path(get, path = "/loops/{id}/events", operation_id = "events", tag = "loops", params(("id" = Uuid, Path), EventQuery),
    responses((status = 200, body = Data<EventList>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    id: Id,
    Query(query): Query<EventQuery>,
) -> ApiResult<Data<EventList>> {
    let read = async {
        let row = loops::find(app.store.reader(), caller.organization_id(), id.or_unknown("Loop")?).await?;
        loops::events::read(&app.store, row.id, &query).await
    };
    read.await.context("Failed to fetch loop events").map(Data::new)
}

/// Returns one event of a loop, with the complete arguments and result of a tool call: up to 256 KiB for each text.
#[utoipa::path(get, path = "/loops/{id}/events/{sequence}", operation_id = "event", tag = "loops",
    params(("id" = Uuid, Path), ("sequence" = i64, Path, description = "Position of the event within the loop")),
    responses((status = 200, body = Data<StoredEvent>), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    Path((id, sequence)): Path<(String, String)>,
) -> ApiResult<Data<StoredEvent>> {
    let read = async {
        let id = Uuid::try_parse(&id).map_err(|_| not_found("Loop"))?;
        let row = loops::find(app.store.reader(), caller.organization_id(), id).await?;
        let sequence = sequence.parse().map_err(|_| not_found("Event"))?;
        loops::events::find(&app.store, row.id, sequence).await?.ok_or_else(|| not_found("Event"))
    };
    read.await.context("Failed to fetch loop event").map(Data::new)
}

/// Streams the events of a loop as server-sent events, from the beginning or after `Last-Event-ID`. Each
/// `data` field is one stored event. The stream closes when the loop has finished and all events were sent.
#[utoipa::path(get, path = "/loops/{id}/stream", tag = "loops",
    params(("id" = Uuid, Path), ("Last-Event-ID" = Option<Uuid>, Header, description = "Id of the last event that the client received")),
    responses((status = 200, body = String, content_type = "text/event-stream"),
        (status = 401, body = String, content_type = "text/plain"),
        (status = 404, body = String, content_type = "text/plain")))]
pub async fn stream(
    State(app): State<ControlPlaneState>,
    session: ApiResult<SessionAuth>,
    id: Id,
    headers: HeaderMap,
) -> Response {
    let start = async {
        let SessionAuth(caller) = session?;
        let id = id.or_unknown("Loop")?;
        loops::find(app.store.reader(), caller.organization_id(), id).await?;
        let seen = stream::last_event_id(&headers).and_then(|id| Uuid::try_parse(id).ok());
        // Subscribes before the first read, so that an event stored in between still wakes
        // the stream.
        let wake = app.bus.subscribe(Topic::Loop(id));
        let after = match seen {
            Some(seen) => loops::events::position(&app.store, id, seen).await?,
            None => 0,
        };
        Ok((caller, id, wake, after))
    };
    match start.await {
        Ok((caller, loop_id, wake, after)) => {
            stream::follow(&app, caller, wake, LoopSource { store: app.store.clone(), loop_id }, after)
        }
        Err(error) => stream::plain(&error),
    }
}

struct LoopSource {
    store: Store,
    loop_id: Uuid,
}

impl EventReader for LoopSource {
    async fn read(&mut self, after: i64) -> Result<EventBatch, DbErr> {
        // The status is read before the events: if the loop is finished here, the batch below cannot miss an
        // event.
        let ended =
            loops::status(&self.store, self.loop_id).await?.is_none_or(|status| !ACTIVE.contains(&status));
        let (rows, is_last) =
            loops::events::batch(&self.store, self.loop_id, after, loops::events::BATCH).await?;
        let position = rows.last().map_or(after, |event| event.sequence);
        let events = rows
            .iter()
            .map(|event| {
                let json = serde_json::to_string(event).unwrap_or_default();
                Event::default().id(event.id.to_string()).data(json)
            })
            .collect();
        Ok(EventBatch { events, position, ended: ended && is_last })
    }
}
