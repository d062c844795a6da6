//! Keyset pagination of lists that are sorted by the time of a document's last change.

use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{QueryOrder, QuerySelect};

use crate::error::{ApiResult, bad_request};
use crate::store::entity::document::{Column, Entity};

// Rows of a page without `limit`.
const DEFAULT_LIMIT: u64 = 50;
/// Largest number of rows of a page.
pub const MAX_LIMIT: u64 = 200;

/// A page, as a client requests it.
///
/// The position is the pair that the list is sorted by, and not only an id: the row of the id may have
/// changed since, and have moved to the beginning of the list.
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
        let position = match self.before {
            Some(before) => {
                let before: jiff::Timestamp =
                    before.parse().map_err(|_| invalid("before must be an ISO 8601 timestamp"))?;
                // Without an id, the page begins after all rows of this millisecond.
                let id = self.before_id.unwrap_or(Uuid::nil());
                let columns =
                    Expr::tuple([Expr::col((Entity, Column::UpdatedAt)), Expr::col((Entity, Column::Id))]);
                Some(columns.lt(Expr::tuple([Expr::value(before.as_millisecond()), Expr::value(id)])))
            }
            None if self.before_id.is_some() => return Err(invalid("beforeId requires before")),
            None => None,
        };
        let query = match position {
            Some(position) => query.filter(position),
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

fn invalid(text: &str) -> crate::error::ApiError {
    bad_request(format!("Invalid query parameters: {text}"))
}
