//! Comments on lines of changes: drafts of their authors until a review contains them.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "review_comments")]
pub struct Model {
    // Chosen by the client, so that a repeated request creates no second comment.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    // The document that the change request begins with.
    pub document_id: Uuid,
    pub user_id: Uuid,
    // `None` for a draft.
    pub review_id: Option<Uuid>,
    // Number in the review.
    pub number: Option<i32>,
    #[sea_orm(column_type = "JsonBinary")]
    pub place: Json,
    pub body: String,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub answer: Option<Json>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
