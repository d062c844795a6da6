//! Saved views: searches of the list that a user has given a name, one set for each organization.

use sea_orm::ActiveValue::Set;
use sea_orm::ConnectionTrait;
use sea_orm::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{ApiResult, ValidationIssues};
use crate::store::entity::saved_views::{ActiveModel, Column, Entity};
use crate::store::parse_json;

const VIEWS_LIMIT: usize = 50;
const NAME_LIMIT: usize = 60;
const SEARCH_LIMIT: usize = 300;

/// A search with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SavedView {
    /// Name, 1 to 60 characters, unique.
    pub name: String,
    /// Search and grouping, as in the address of the page, at most 300 characters.
    pub search: String,
}

/// Returns the views of a user, in the user's order.
pub async fn of_user(db: &impl ConnectionTrait, user: Uuid) -> Result<Vec<SavedView>, DbErr> {
    let row = Entity::find_by_id(user).one(db).await?;
    Ok(row.and_then(|row| parse_json(Some(&row.views))).unwrap_or_default())
}

/// Replaces the views of a user.
pub async fn replace(db: &impl ConnectionTrait, user: Uuid, views: &[SavedView]) -> ApiResult<()> {
    let mut issues = ValidationIssues::default();
    issues.require(views.len() <= VIEWS_LIMIT, "views", &format!("must have at most {VIEWS_LIMIT} items"));
    for (at, view) in views.iter().enumerate() {
        issues.length(&format!("views.{at}.name"), view.name.trim(), 1, NAME_LIMIT);
        issues.length(&format!("views.{at}.search"), &view.search, 0, SEARCH_LIMIT);
        let is_unique = !views[..at].iter().any(|other| other.name == view.name);
        issues.require(is_unique, &format!("views.{at}.name"), "must be unique");
    }
    issues.into_result()?;
    let row = ActiveModel { user_id: Set(user), views: Set(serde_json::to_value(views)?) };
    let replace = OnConflict::column(Column::UserId).update_column(Column::Views).to_owned();
    Entity::insert(row).on_conflict(replace).exec_without_returning(db).await?;
    Ok(())
}
