//! Stream of the names of lists that have changed, so that pages do not poll them.

use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event;
use sea_orm::prelude::*;
use sea_orm::{QueryOrder as _, QuerySelect as _};
use serde::Serialize;
use utoipa::ToSchema;

use super::stream::{self, EventBatch, EventReader};
use crate::app::ControlPlaneState;
use crate::auth::{Caller, UserAuth};
use crate::bus::Topic;
use crate::dispatch::target::accessible;
use crate::error::ApiResult;
use crate::store::entity::{agent_loop, change_request, change_request_mark};
use crate::store::now;

// Latest rows that are compared. Several, because rows that change in the same millisecond differ only by their ids.
const LATEST: u64 = 10;

/// A list of the organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListName {
    /// `GET /change-requests` and its details.
    ChangeRequests,
    /// `GET /loops` and its details.
    Loops,
    /// `GET /compute-targets`.
    ComputeTargets,
}

/// Content of an event.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListChanges {
    /// Lists that may have changed since the last event.
    pub lists: Vec<ListName>,
}

/// Streams the names of lists that have changed, as server-sent events: each `data` field is one `ListChanges`. Events are
/// not stored: a client that connects again reads its lists again.
#[utoipa::path(get, path = "/organization/changes", tag = "organization",
    responses((status = 200, body = ListChanges, content_type = "text/event-stream"),
        (status = 401, body = String, content_type = "text/plain")))]
pub async fn list_changes(State(app): State<ControlPlaneState>, caller: ApiResult<UserAuth>) -> Response {
    match caller {
        Ok(UserAuth(caller)) => {
            let wake = app.bus.subscribe(Topic::Organization(caller.organization_id()));
            let source = ListSource { app: app.clone(), caller: caller.clone(), seen: None };
            stream::follow(&app, caller, wake, source, 0)
        }
        Err(error) => stream::plain(&error),
    }
}

/// What identifies the content of the lists.
#[derive(PartialEq, Eq)]
struct Latest {
    change_requests: Vec<(Uuid, i64)>,
    loops: Vec<(Uuid, i64)>,
    /// Number of change requests that the user has seen, and the latest time.
    seen: (i64, Option<i64>),
    /// Change requests that the user does not want to be reminded of, and until when.
    snoozed: Vec<(Uuid, i64)>,
    targets: Vec<(Uuid, bool)>,
}

impl Latest {
    async fn read(app: &ControlPlaneState, caller: &Caller) -> Result<Self, DbErr> {
        let (db, organization) = (app.store.reader(), caller.organization_id());
        let change_requests = change_request::Entity::find()
            .select_only()
            .columns([change_request::Column::DocumentId, change_request::Column::UpdatedAt])
            .filter(change_request::Column::OrganizationId.eq(organization))
            .order_by_desc(change_request::Column::UpdatedAt)
            .order_by_desc(change_request::Column::DocumentId)
            .limit(LATEST);
        let loops = agent_loop::Entity::find()
            .select_only()
            .columns([agent_loop::Column::Id, agent_loop::Column::UpdatedAt])
            .filter(agent_loop::Column::OrganizationId.eq(organization))
            .order_by_desc(agent_loop::Column::UpdatedAt)
            .order_by_desc(agent_loop::Column::Id)
            .limit(LATEST);
        let marks = change_request_mark::Entity::find()
            .select_only()
            .filter(change_request_mark::Column::UserId.eq(caller.user.id));
        let seen = marks
            .clone()
            .column_as(change_request_mark::Column::SeenAt.count(), "count")
            .column_as(change_request_mark::Column::SeenAt.max(), "latest");
        let snoozed = marks
            .columns([change_request_mark::Column::DocumentId, change_request_mark::Column::SnoozedUntil])
            .filter(change_request_mark::Column::SnoozedUntil.gt(now()))
            .order_by_asc(change_request_mark::Column::DocumentId);
        let mut targets: Vec<_> =
            accessible(caller).all(db).await?.into_iter().map(|row| (row.id, row.is_online)).collect();
        targets.sort_unstable();
        Ok(Self {
            change_requests: change_requests.into_tuple().all(db).await?,
            loops: loops.into_tuple().all(db).await?,
            seen: seen.into_tuple().one(db).await?.unwrap_or_default(),
            snoozed: snoozed.into_tuple().all(db).await?,
            targets,
        })
    }

    /// Returns the lists in which this differs from an earlier state.
    fn changes_since(&self, earlier: &Self) -> Vec<ListName> {
        let has_marked = self.seen != earlier.seen || self.snoozed != earlier.snoozed;
        let lists = [
            (ListName::ChangeRequests, self.change_requests != earlier.change_requests || has_marked),
            (ListName::Loops, self.loops != earlier.loops),
            (ListName::ComputeTargets, self.targets != earlier.targets),
        ];
        lists.into_iter().filter(|(_, has_changed)| *has_changed).map(|(list, _)| list).collect()
    }
}

struct ListSource {
    app: ControlPlaneState,
    caller: Caller,
    /// `None` before the first read, whose content the client reads itself.
    seen: Option<Latest>,
}

impl EventReader for ListSource {
    async fn read(&mut self, after: i64) -> Result<EventBatch, DbErr> {
        let latest = Latest::read(&self.app, &self.caller).await?;
        let lists = self.seen.as_ref().map(|seen| latest.changes_since(seen)).unwrap_or_default();
        self.seen = Some(latest);
        let mut events = Vec::new();
        if !lists.is_empty() {
            let data = serde_json::to_string(&ListChanges { lists });
            events.push(Event::default().data(data.map_err(|error| DbErr::Json(error.to_string()))?));
        }
        Ok(EventBatch { events, position: after, ended: false })
    }
}
