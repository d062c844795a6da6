//! Tables of reviews of changes, and of their comments.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::plain;
use super::schema::{references, table};

/// Creates the tables of reviews and comments.
pub struct CommentsOnChanges;

impl MigrationName for CommentsOnChanges {
    fn name(&self) -> &'static str {
        "m0026_change_reviews"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CommentsOnChanges {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let name = "change_reviews";
        let mut reviews = table(name, &["id"]);
        reviews.col(uuid("id"));
        reviews.col(uuid("document_id"));
        reviews.col(uuid("user_id"));
        reviews.col(string("kind"));
        reviews.col(text_null("summary"));
        reviews.col(uuid_null("loop_id"));
        reviews.col(json_binary("heads"));
        reviews.col(big_integer("created_at"));
        reviews.foreign_key(&mut references(name, "document_id", "documents", ForeignKeyAction::Cascade));
        manager.create_table(reviews).await?;
        manager.create_index(plain(name, &["document_id", "created_at"])).await?;
        manager.create_index(plain(name, &["loop_id"])).await?;

        let name = "review_comments";
        let mut comments = table(name, &["id"]);
        comments.col(uuid("id"));
        comments.col(uuid("document_id"));
        comments.col(uuid("user_id"));
        comments.col(uuid_null("review_id"));
        comments.col(integer_null("number"));
        comments.col(json_binary("place"));
        comments.col(text("body"));
        comments.col(json_binary_null("answer"));
        comments.col(big_integer("created_at"));
        comments.foreign_key(&mut references(name, "document_id", "documents", ForeignKeyAction::Cascade));
        comments.foreign_key(&mut references(name, "review_id", "change_reviews", ForeignKeyAction::Cascade));
        manager.create_table(comments).await?;
        manager.create_index(plain(name, &["document_id", "user_id"])).await?;
        manager.create_index(plain(name, &["review_id"])).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
