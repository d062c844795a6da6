//! Keyset pagination of lists that are sorted by the time of the last change.

use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, IntoColumnRef};
use sea_orm::{QueryOrder, QuerySelect};

use crate::error::{ApiError, ApiResult, bad_request};
use crate::store::entity::document::{Column, Entity};

// Rows of a page without `limit`.
const DEFAULT_LIMIT: u64 = 50;
/// Largest number of rows of a page.
pub const MAX_LIMIT: u64 = 200;

/// Position of the last row of the previous page.
///
/// It is the pair that the list is sorted by, and not only an id: the row of the id may have changed since, and have
/// moved to the beginning of the list.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    at: i64,
    id: Uuid,
}

impl Position {
    /// Parses the query parameters `before`, the time of the row, and `beforeId`, its id. Without an id, the page
    /// begins after all rows of this millisecond.
    pub fn parse(before: Option<&str>, before_id: Option<Uuid>) -> ApiResult<Option<Self>> {
        let Some(before) = before else {
            return if before_id.is_some() { Err(invalid("beforeId requires before")) } else { Ok(None) };
        };
        let before: jiff::Timestamp =
            before.parse().map_err(|_| invalid("before must be an ISO 8601 timestamp"))?;
        Ok(Some(Self { at: before.as_millisecond(), id: before_id.unwrap_or(Uuid::nil()) }))
    }

    /// Returns the condition for rows after this one, in descending order of the columns.
    pub fn after(self, time: impl IntoColumnRef, id: impl IntoColumnRef) -> Expr {
        Expr::tuple([Expr::col(time), Expr::col(id)])
            .lt(Expr::tuple([Expr::value(self.at), Expr::value(self.id)]))
    }
}

/// A page of documents, as a client requests it.
#[derive(Debug, Clone, Copy)]
pub struct DocumentPage<'a> {
    /// Rows of the page.
    pub limit: Option<u64>,
    /// `updatedAt` of the last row of the previous page.
    pub before: Option<&'a str>,
    /// Id of that row.
    pub before_id: Option<Uuid>,
}

impl DocumentPage<'_> {
    /// Restricts a query of documents to the page, most recently changed first.
    pub fn select<Q>(self, query: Q) -> ApiResult<Q>
    where
        Q: QueryFilter + QueryOrder + QuerySelect,
    {
        let limit = limit(self.limit)?;
        let query = match Position::parse(self.before, self.before_id)? {
            Some(position) => query.filter(position.after((Entity, Column::UpdatedAt), (Entity, Column::Id))),
            None => query,
        };
        Ok(query.order_by_desc(Column::UpdatedAt).order_by_desc(Column::Id).limit(limit))
    }
}

/// Returns the number of rows of a page.
pub fn limit(requested: Option<u64>) -> ApiResult<u64> {
    let limit = requested.unwrap_or(DEFAULT_LIMIT);
    if (1..=MAX_LIMIT).contains(&limit) { Ok(limit) } else { Err(invalid("limit must be from 1 to 200")) }
}

fn invalid(text: &str) -> ApiError {
    bad_request(format!("Invalid query parameters: {text}"))
}
