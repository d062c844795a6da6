//! Documents: requirements, features, and the plans that loops derive from them.
//!
//! Versions of the text are append-only. A plan belongs to the document that it was derived from. The slug of
//! a plan also names worktree and branch of the loops that create and implement it.

pub mod attachments;
pub mod ingest;
pub mod tree;
pub mod view;

use loopgate_api::launch::{ArtifactType, RepoRef};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryOrder, QuerySelect};
use serde_json::Value;

use crate::change_requests;
use crate::error::{ApiResult, not_found};
use crate::store::column::StoredEnum;
use crate::store::entity::document::DocumentStatus;
use crate::store::entity::{document, document_counter, document_version};
use crate::store::now;

/// Returns a document by id or slug. A text in the form of a UUID is always treated as id. Returns 404
/// otherwise, also for a deleted one.
pub async fn find(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    id_or_slug: &str,
) -> ApiResult<document::Model> {
    let found = find_deleted(db, organization_id, id_or_slug).await?;
    found.filter(|document| document.deleted_at.is_none()).ok_or_else(|| not_found("Document"))
}

/// Like [`find`], but also returns a document that was deleted.
pub async fn find_deleted(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    id_or_slug: &str,
) -> Result<Option<document::Model>, DbErr> {
    let in_organization =
        document::Entity::find().filter(document::Column::OrganizationId.eq(organization_id));
    let selection = match Uuid::try_parse(id_or_slug) {
        Ok(id) => in_organization.filter(document::Column::Id.eq(id)),
        Err(_) => in_organization.filter(document::Column::Slug.eq(id_or_slug)),
    };
    selection.one(db).await
}

/// Returns the newest plan derived from a document.
pub async fn plan_of(db: &impl ConnectionTrait, source: Uuid) -> Result<Option<document::Model>, DbErr> {
    document::Entity::find()
        .filter(document::Column::SourceDocumentId.eq(source))
        .filter(document::Column::Kind.eq(StoredEnum(ArtifactType::ImplementationPlan)))
        .order_by_desc(document::Column::CreatedAt)
        .one(db)
        .await
}

/// Returns the current version of a document's text.
pub async fn current(
    db: &impl ConnectionTrait,
    row: &document::Model,
) -> Result<Option<document_version::Model>, DbErr> {
    version(db, row.id, row.current_version).await
}

/// Returns a version of a document's text.
pub async fn version(
    db: &impl ConnectionTrait,
    document_id: Uuid,
    version: i64,
) -> Result<Option<document_version::Model>, DbErr> {
    document_version::Entity::find()
        .filter(document_version::Column::DocumentId.eq(document_id))
        .filter(document_version::Column::Version.eq(version))
        .one(db)
        .await
}

/// Returns the prefix of the slugs of a kind.
const fn prefix(kind: ArtifactType) -> &'static str {
    match kind {
        ArtifactType::Prd => "prd",
        ArtifactType::ImplementationPlan => "plan",
        ArtifactType::Feature => "feature",
    }
}

/// Returns the slug of the document of a kind with a number.
pub fn slug(kind: ArtifactType, number: i64) -> String {
    format!("{}-{number}", prefix(kind))
}

/// Reserves the next number of a kind in an organization. Numbers are unique.
pub async fn next_number(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    kind: ArtifactType,
) -> Result<i64, DbErr> {
    use document_counter::Column;
    let first = document_counter::ActiveModel {
        organization_id: Set(organization_id),
        kind: Set(StoredEnum(kind)),
        next: Set(0),
    };
    let keep_existing = OnConflict::columns([Column::OrganizationId, Column::Kind]).do_nothing().to_owned();
    // Creates the counter on first use. The update below locks its row, so concurrent transactions get
    // different numbers.
    document_counter::Entity::insert(first).on_conflict(keep_existing).exec_without_returning(tx).await?;
    document_counter::Entity::update_many()
        .col_expr(Column::Next, Expr::col(Column::Next).add(1))
        .filter(Column::OrganizationId.eq(organization_id))
        .filter(Column::Kind.eq(StoredEnum(kind)))
        .exec(tx)
        .await?;
    let next: Option<i64> = document_counter::Entity::find_by_id((organization_id, StoredEnum(kind)))
        .select_only()
        .column(Column::Next)
        .into_tuple()
        .one(tx)
        .await?;
    next.ok_or_else(|| DbErr::RecordNotFound("document counter".to_owned()))
}

/// Reserves the number of a document's plan. A later call returns the same number.
pub async fn reserve_plan_number(tx: &DatabaseTransaction, source: &document::Model) -> Result<i64, DbErr> {
    let number = next_number(tx, source.organization_id, ArtifactType::ImplementationPlan).await?;
    document::Entity::update_many()
        .col_expr(document::Column::PlannedNumber, Expr::value(number))
        .filter(document::Column::Id.eq(source.id))
        .filter(document::Column::PlannedNumber.is_null())
        .exec(tx)
        .await?;
    let row = document::Entity::find_by_id(source.id).one(tx).await?;
    Ok(row.and_then(|row| row.planned_number).unwrap_or(number))
}

/// A document that is not stored yet.
pub struct NewDocument {
    /// Organization of the document.
    pub organization_id: Uuid,
    /// User who creates it.
    pub user_id: Uuid,
    /// Kind of the document.
    pub kind: ArtifactType,
    /// Number among the documents of its kind.
    pub number: i64,
    pub title: String,
    /// Primary repository of the document.
    pub repo: Option<RepoRef>,
    /// Document that it was derived from.
    pub source_document_id: Option<Uuid>,
}

/// Creates a document with its first version.
pub async fn create(
    tx: &DatabaseTransaction,
    new: NewDocument,
    text: VersionText,
) -> Result<document::Model, DbErr> {
    let repo =
        new.repo.map(serde_json::to_value).transpose().map_err(|error| DbErr::Json(error.to_string()))?;
    let row = document::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(new.organization_id),
        user_id: Set(new.user_id),
        kind: Set(StoredEnum(new.kind)),
        number: Set(new.number),
        slug: Set(slug(new.kind, new.number)),
        title: Set(new.title),
        status: Set(StoredEnum(DocumentStatus::Draft)),
        repo: Set(repo),
        source_document_id: Set(new.source_document_id),
        current_version: Set(0),
        planned_number: Set(None),
        deleted_at: Set(None),
        created_at: Set(now()),
        updated_at: Set(now()),
    };
    let row = document::Entity::insert(row).exec_with_returning(tx).await?;
    add_version(tx, row, text).await
}

/// Text of a version.
pub struct VersionText {
    /// Text of the version in Markdown.
    pub content: String,
    /// Complete plan object, for a text that comes from one.
    pub raw: Option<Value>,
    /// User who wrote the version, or who started the loop that did.
    pub user_id: Uuid,
    /// Loop that created the version.
    pub loop_id: Option<Uuid>,
}

/// Appends a version and makes it the current one. The document becomes a draft again.
pub async fn add_version(
    tx: &DatabaseTransaction,
    mut row: document::Model,
    text: VersionText,
) -> Result<document::Model, DbErr> {
    use document::Column;
    row.current_version += 1;
    row.updated_at = now();
    row.status = StoredEnum(DocumentStatus::Draft);
    let version = document_version::ActiveModel {
        id: Set(Uuid::now_v7()),
        document_id: Set(row.id),
        version: Set(row.current_version),
        content: Set(text.content),
        raw: Set(text.raw),
        user_id: Set(Some(text.user_id)),
        loop_id: Set(text.loop_id),
        created_at: Set(row.updated_at),
    };
    document_version::Entity::insert(version).exec_without_returning(tx).await?;
    document::Entity::update_many()
        .col_expr(Column::CurrentVersion, Expr::value(row.current_version))
        .col_expr(Column::Status, Expr::value(row.status))
        .col_expr(Column::UpdatedAt, Expr::value(row.updated_at))
        .filter(Column::Id.eq(row.id))
        .exec(tx)
        .await?;
    change_requests::refresh(tx, row.id).await?;
    Ok(row)
}
