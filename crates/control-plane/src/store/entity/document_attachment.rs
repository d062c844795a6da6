//! Files of documents. Their bytes are in the storage.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "document_attachments")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub document_id: Uuid,
    /// Place in the list, from 0.
    #[sea_orm(primary_key, auto_increment = false)]
    pub position: i64,
    pub id: Uuid,
    #[sea_orm(column_type = "Text")]
    pub filename: String,
    pub mime_type: String,
    pub size_bytes: i64,
    /// In hexadecimal digits.
    pub sha256: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
