//! What was done in an organization, for its administrators.

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

/// Which rows are asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only rows older than this one: `nextBefore` of the page before.
    pub before: Option<Uuid>,
    /// 1 to 200; 50 when left out.
    pub limit: Option<u64>,
    /// Only this action.
    pub action: Option<AuditAction>,
}

/// An act.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Id.
    pub id: Uuid,
    /// ISO 8601.
    pub at: String,
    /// What was done.
    pub action: AuditAction,
    /// Who did it; null when nobody was signed in.
    pub user_id: Option<Uuid>,
    /// The API key that was used, if one was.
    pub key_id: Option<Uuid>,
    /// Where the request came from.
    pub address: Option<String>,
    /// Id or name of what it was done to.
    pub subject: String,
    /// More about it.
    #[schema(value_type = Object)]
    pub details: Value,
}

/// A page of the log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    /// Newest first.
    pub entries: Vec<AuditEntry>,
    /// `before` of the next page; null on the last one.
    pub next_before: Option<Uuid>,
}

/// The audit log of the organization, newest first.
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
    let mut found = audit_entry::Entity::find().filter(Column::OrganizationId.eq(caller.organization_id()));
    if let Some(before) = query.before {
        found = found.filter(Column::Id.lt(before));
    }
    if let Some(action) = query.action {
        found = found.filter(Column::Action.eq(StoredEnum(action)));
    }
    // One more than is shown says whether another page follows.
    let rows = found.order_by_desc(Column::Id).limit(limit + 1).all(app.store.reader()).await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    let entries: Vec<AuditEntry> = rows.into_iter().take(limit).map(entry).collect();
    let next_before = entries.last().filter(|_| more).map(|last| last.id);
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
