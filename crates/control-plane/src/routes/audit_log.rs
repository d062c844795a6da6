//! Audit log of an organization, readable by its administrators.

use axum::extract::State;
use sea_orm::prelude::*;
use sea_orm::{QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::AdminAuth;
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ValidationIssues};
use crate::extract::Query;
use crate::store::column::StoredEnum;
use crate::store::entity::audit_entry::{self, Column};
use crate::store::iso;

const DEFAULT_LIMIT: u64 = 50;
const MAX_LIMIT: u64 = 200;

/// Selects a page of the log.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Returns only entries older than this one: `nextBefore` of the previous page.
    pub before: Option<Uuid>,
    /// Entries per page, 1 to 200; 50 by default.
    pub limit: Option<u64>,
    /// Returns only entries with this action.
    pub action: Option<AuditAction>,
}

/// An entry of the audit log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Id of the entry; ascending in time.
    pub id: Uuid,
    /// Time of the action, ISO 8601.
    pub at: String,
    /// The action that was performed.
    pub action: AuditAction,
    /// User who performed it; null for an action without a signed-in user, for example a failed sign-in.
    pub user_id: Option<Uuid>,
    /// API key that authenticated the request; null for a session.
    pub key_id: Option<Uuid>,
    /// IP address of the client.
    pub address: Option<String>,
    /// Id or name of the affected object.
    pub subject: String,
    /// Further values; their names depend on `action`.
    #[schema(value_type = Object)]
    pub details: Value,
}

/// A page of the log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    /// Entries of this page, newest first.
    pub entries: Vec<AuditEntry>,
    /// Value for `before` to get the next page; null on the last page.
    pub next_before: Option<Uuid>,
}

/// Lists the audit log of the organization, newest first.
#[utoipa::path(get, path = "/audit-log", tag = "audit-log", params(AuditQuery),
    responses((status = 200, body = Data<AuditPage>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    AdminAuth(caller): AdminAuth,
    Query(query): Query<AuditQuery>,
) -> ApiResult<Data<AuditPage>> {
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    let mut issues = ValidationIssues::default();
    issues.require((1..=MAX_LIMIT).contains(&limit), "limit", "must be between 1 and 200");
    issues.into_result()?;
    let mut entries_query =
        audit_entry::Entity::find().filter(Column::OrganizationId.eq(caller.organization_id()));
    if let Some(before) = query.before {
        entries_query = entries_query.filter(Column::Id.lt(before));
    }
    if let Some(action) = query.action {
        entries_query = entries_query.filter(Column::Action.eq(StoredEnum(action)));
    }
    // Ids are UUIDv7, so their order is the order of time. One extra row shows whether there is a next page.
    let rows = entries_query.order_by_desc(Column::Id).limit(limit + 1).all(app.store.reader()).await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = rows.len() > limit;
    let entries: Vec<AuditEntry> = rows.into_iter().take(limit).map(entry).collect();
    let next_before = entries.last().filter(|_| has_more).map(|last| last.id);
    Ok(Data::new(AuditPage { entries, next_before }))
}

fn entry(row: audit_entry::Model) -> AuditEntry {
    AuditEntry {
        id: row.id,
        at: iso(row.at),
        action: row.action.0,
        user_id: row.user_id,
        key_id: row.key_id,
        address: row.address,
        subject: row.subject,
        details: row.details,
    }
}
