//! The list of an organization's loops: filters, text search, and keyset pagination.

use loopgate_api::command::LoopCommand;
use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{Condition, ConnectionTrait, DbBackend, QueryOrder, QuerySelect, QueryTrait as _};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::view::{LoopRecord, records};
use crate::documents;
use crate::error::{ApiResult, bad_request, not_found};
use crate::extract::separated;
use crate::loop_state::status_values;
use crate::loops;
use crate::page;
use crate::store::column::StoredEnum;
use crate::store::entity::{agent_loop, document};
use crate::store::row_count;
use crate::text_search;

/// Selects a page of loops.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct LoopQuery {
    /// Returns only loops in one of these statuses, separated by commas.
    #[serde(default, deserialize_with = "separated")]
    #[param(style = Form, explode = false)]
    pub status: Vec<LoopStatus>,
    /// Returns only loops with one of these commands, separated by commas.
    #[serde(default, deserialize_with = "separated")]
    #[param(style = Form, explode = false)]
    pub command: Vec<LoopCommand>,
    /// Returns only loops of this document (id or slug).
    pub document_id: Option<String>,
    /// Returns only loops whose document title, prompt excerpt, repository or branch contains this text, at most
    /// 200 characters. Not case-sensitive.
    pub text: Option<String>,
    /// Loops per page, 1 to 200; 50 by default.
    pub limit: Option<u64>,
    /// Number of loops to skip.
    pub offset: Option<u64>,
    /// Id of a loop: returns only loops after it in the list. Unlike `offset`, the cost does not grow with
    /// the position.
    pub after: Option<Uuid>,
    /// Whether to count the loops of all pages.
    #[serde(default)]
    pub count: bool,
}

/// A page of loops.
#[derive(Debug, Serialize, ToSchema)]
pub struct LoopPage {
    /// Always `true` in a successful response.
    pub success: bool,
    /// The loops, newest first.
    pub data: Vec<LoopRecord>,
    /// Number of loops on all pages; absent unless the query asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// Returns a page of the loops of an organization, newest first.
pub async fn page(db: &impl ConnectionTrait, organization_id: Uuid, query: LoopQuery) -> ApiResult<LoopPage> {
    use agent_loop::Column;
    let limit = page::limit(query.limit)?;
    let matching = matching(db, organization_id, &query).await?;
    let total = if query.count { Some(matching.clone().count(db).await?) } else { None };
    let selection = match query.after {
        Some(after) => matching.filter(older_than(db, organization_id, after).await?),
        None => matching,
    };
    let rows = selection
        .order_by_desc(Column::CreatedAt)
        // Tie-break for loops created in the same millisecond.
        .order_by_desc(Column::Id)
        .limit(limit)
        .offset(row_count(query.offset.unwrap_or(0)))
        .all(db)
        .await?;
    Ok(LoopPage { success: true, data: records(db, rows).await?, total })
}

/// Returns the query for the loops on all pages.
async fn matching(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    query: &LoopQuery,
) -> ApiResult<Select<agent_loop::Entity>> {
    use agent_loop::Column;
    let mut selection = agent_loop::Entity::find().filter(Column::OrganizationId.eq(organization_id));
    if !query.status.is_empty() {
        selection = selection.filter(Column::Status.is_in(status_values(query.status.iter().copied())));
    }
    if !query.command.is_empty() {
        selection = selection.filter(Column::Command.is_in(query.command.iter().copied().map(StoredEnum)));
    }
    if let Some(id) = &query.document_id {
        let document = documents::find(db, organization_id, id)
            .await
            .map_err(|error| if error.is_internal() { error } else { not_found("Artifact") })?;
        selection = selection.filter(Column::DocumentId.eq(document.id));
    }
    if let Some(text) = text_search::requested(query.text.as_deref())? {
        selection = selection.filter(mentions(db.get_database_backend(), organization_id, text));
    }
    Ok(selection)
}

/// Returns the condition for loops whose texts in the list contain `text`.
fn mentions(backend: DbBackend, organization_id: Uuid, text: &str) -> Condition {
    use agent_loop::Column;
    let titled = document::Entity::find()
        .select_only()
        .column(document::Column::Id)
        .filter(document::Column::OrganizationId.eq(organization_id))
        .filter(text_search::contains(backend, Expr::col((document::Entity, document::Column::Title)), text))
        .into_query();
    let column = |column: Column| Expr::col((agent_loop::Entity, column));
    let columns =
        [column(Column::PromptExcerpt), column(Column::BranchName), column(Column::Repo).cast_as("text")];
    text_search::any_contains(backend, columns, text).add(Column::DocumentId.in_subquery(titled))
}

/// Returns the condition for loops after `after` in the list (keyset pagination).
async fn older_than(db: &impl ConnectionTrait, organization_id: Uuid, after: Uuid) -> ApiResult<Expr> {
    use agent_loop::Column;
    let unknown = || bad_request("Invalid query parameters: after is not the id of a loop");
    let last_seen = loops::find(db, organization_id, after).await;
    let last_seen = last_seen.map_err(|error| if error.is_internal() { error } else { unknown() })?;
    let position = Expr::tuple([Expr::col(Column::CreatedAt), Expr::col(Column::Id)]);
    Ok(position.lt(Expr::tuple([Expr::value(last_seen.created_at), Expr::value(last_seen.id)])))
}
