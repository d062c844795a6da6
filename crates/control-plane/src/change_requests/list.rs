//! The list of an organization's change requests: filters, text search, and keyset pagination.

use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{Condition, ConnectionTrait, QueryOrder as _, QuerySelect as _, QueryTrait as _};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::standing::ChangeState;
use super::view::{ChangeRequestRecord, change_requests};
use crate::auth::Caller;
use crate::error::{ApiResult, bad_request};
use crate::extract::separated;
use crate::page::{self, Position};
use crate::store::column::StoredEnum;
use crate::store::entity::{change_request, change_request_mark, document};
use crate::store::{containing, now};

// Longest text to search for, in characters.
const TEXT_LIMIT: usize = 200;

/// Selects a page of change requests.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", default)]
#[into_params(parameter_in = Query)]
pub struct ChangeRequestQuery {
    /// Returns only change requests in one of these states, separated by commas.
    #[serde(deserialize_with = "separated")]
    #[param(style = Form, explode = false)]
    pub state: Vec<ChangeState>,
    /// Returns only change requests that need a person, and that the caller has not snoozed.
    pub attention: bool,
    /// Returns only change requests of the caller.
    pub mine: bool,
    /// Returns archived change requests instead of the others.
    pub archived: bool,
    /// Returns only change requests of this repository, `<org>/<repo>`.
    pub repo: Option<String>,
    /// Returns only change requests whose title, slug or repository contains this text, at most 200 characters.
    /// Not case-sensitive.
    pub text: Option<String>,
    /// Rows per page, 1 to 200; 50 by default.
    pub limit: Option<u64>,
    /// Returns only change requests that changed before this time: `changedAt` of the last row of the previous page.
    pub before: Option<String>,
    /// Id of the document of that row, the tie-break of equal times.
    pub before_id: Option<Uuid>,
    /// Whether to count the change requests of all pages.
    pub count: bool,
}

/// A page of change requests.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangeRequestPage {
    /// Always `true` in a successful response.
    pub success: bool,
    /// The change requests, most recently changed first.
    pub data: Vec<ChangeRequestRecord>,
    /// Number of change requests on all pages; absent unless the query asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// Returns a page of the change requests of the caller's organization, most recently changed first.
pub async fn page(
    db: &impl ConnectionTrait,
    caller: &Caller,
    query: &ChangeRequestQuery,
) -> ApiResult<ChangeRequestPage> {
    use change_request::{Column, Entity};
    let limit = page::limit(query.limit)?;
    let position = Position::parse(query.before.as_deref(), query.before_id)?;
    let matching = matching(caller, query)?;
    let total = if query.count { Some(matching.clone().count(db).await?) } else { None };
    let selection = match position {
        Some(position) => {
            matching.filter(position.after((Entity, Column::ChangedAt), (Entity, Column::DocumentId)))
        }
        None => matching,
    };
    let rows = selection
        .order_by_desc(Column::ChangedAt)
        .order_by_desc(Column::DocumentId)
        .limit(limit)
        .find_also_related(document::Entity)
        .all(db)
        .await?;
    Ok(ChangeRequestPage { success: true, data: change_requests(db, caller.user.id, rows).await?, total })
}

/// Returns the query for the change requests on all pages.
fn matching(caller: &Caller, query: &ChangeRequestQuery) -> ApiResult<Select<change_request::Entity>> {
    use change_request::Column;
    let organization = caller.organization_id();
    let mut selection = change_request::Entity::find().filter(Column::OrganizationId.eq(organization));
    selection = selection.filter(if query.archived {
        Column::ArchivedAt.is_not_null()
    } else {
        Column::ArchivedAt.is_null()
    });
    if !query.state.is_empty() {
        selection = selection.filter(Column::State.is_in(query.state.iter().copied().map(StoredEnum)));
    }
    if query.attention {
        selection = selection.filter(needs_person(caller.user.id));
    }
    if query.mine {
        selection = selection.filter(Column::UserId.eq(caller.user.id));
    }
    let text = query.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    if text.is_some_and(|text| text.chars().count() > TEXT_LIMIT) {
        return Err(bad_request("Invalid query parameters: text must have at most 200 characters"));
    }
    let documents =
        [text.map(mentions), query.repo.as_deref().map(|repo| Condition::all().add(is_of_repository(repo)))];
    for condition in documents.into_iter().flatten() {
        let documents = document::Entity::find()
            .select_only()
            .column(document::Column::Id)
            .filter(document::Column::OrganizationId.eq(organization))
            .filter(condition);
        selection = selection.filter(Column::DocumentId.in_subquery(documents.into_query()));
    }
    Ok(selection)
}

/// Returns the condition for change requests that need a person, unless the user has snoozed them.
fn needs_person(user: Uuid) -> Condition {
    use change_request_mark::Column as Mark;
    let snoozed = change_request_mark::Entity::find()
        .select_only()
        .column(Mark::DocumentId)
        .filter(Mark::UserId.eq(user))
        .filter(Mark::SnoozedUntil.gt(now()));
    Condition::all()
        .add(change_request::Column::Attention.is_not_null())
        .add(change_request::Column::DocumentId.not_in_subquery(snoozed.into_query()))
}

fn lower(expr: impl Into<Expr>) -> Expr {
    Expr::expr(Func::lower(expr.into()))
}

fn mentions(text: &str) -> Condition {
    use document::Column;
    let column = |column: Column| Expr::col((document::Entity, column));
    Condition::any()
        .add(lower(column(Column::Title)).like(containing(text)))
        .add(lower(column(Column::Slug)).like(containing(text)))
        .add(lower(column(Column::Repo).cast_as("text")).like(containing(text)))
}

/// Returns the condition for documents of a repository. The name is compared inside the stored JSON object.
fn is_of_repository(repo: &str) -> Expr {
    let stored = lower(Expr::col((document::Entity, document::Column::Repo)).cast_as("text"));
    stored.like(containing(&format!("\"{repo}\"")))
}
