//! Documents, and the loops that are started from them.

use axum::extract::{Path, State};
use loopgate_api::launch::{ArtifactType, RepoRef};
use sea_orm::QueryOrder;
use sea_orm::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::ControlPlaneState;
use crate::auth::PersonAuth;
use crate::dispatch::run_document::{self, RunLoop};
use crate::documents::view::{DocumentDetail, DocumentRecord, DocumentVersion, detail};
use crate::documents::{self, NewDocument, VersionText};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues};
use crate::extract::{Body, Query};
use crate::loops::create::check_inputs;
use crate::loops::view::LoopStartResponse;
use crate::store::column::StoredEnum;
use crate::store::entity::document::{self, DocumentStatus};
use crate::store::entity::document_version;
use crate::store::now;

/// Characters of a title.
pub(super) const TITLE_LIMIT: usize = 200;
/// Characters of a text.
pub(super) const CONTENT_LIMIT: usize = 1_000_000;

/// Kinds of documents that people write; plans come from loops.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DocumentKind {
    /// A feature.
    Feature,
    /// Requirements.
    Prd,
}

impl From<DocumentKind> for ArtifactType {
    fn from(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::Feature => Self::Feature,
            DocumentKind::Prd => Self::Prd,
        }
    }
}

/// A document to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateDocument {
    /// 1 to 200 characters.
    pub title: String,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: DocumentKind,
    /// Markdown, at least one character.
    pub content: String,
    /// The repository that it is about.
    pub repo: Option<RepoRef>,
}

/// Makes a document with its first version.
#[utoipa::path(post, path = "/documents", tag = "documents", request_body = CreateDocument,
    responses((status = 200, body = Data<DocumentDetail>), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
    Body(body): Body<CreateDocument>,
) -> ApiResult<Data<DocumentDetail>> {
    let mut issues = ValidationIssues::default();
    issues.length("title", body.title.trim(), 1, TITLE_LIMIT);
    issues.length("content", &body.content, 1, CONTENT_LIMIT);
    check_inputs(&mut issues, None, body.repo.as_ref(), &[]);
    issues.into_result()?;
    let made = async {
        let tx = app.store.begin().await?;
        let kind = body.kind.into();
        let number = documents::next_number(&tx, caller.organization_id(), kind).await?;
        let new = NewDocument {
            organization_id: caller.organization_id(),
            user_id: caller.user.id,
            kind,
            number,
            title: body.title.trim().to_owned(),
            repo: body.repo,
            source_document_id: None,
        };
        let text = VersionText { content: body.content, raw: None, loop_id: None };
        let row = documents::create(&tx, new, text).await?;
        tx.commit().await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    made.await.context("Failed to create document").map(Data::new)
}

/// Which documents are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DocumentQuery {
    /// Only this kind.
    #[serde(rename = "type")]
    pub kind: Option<ArtifactType>,
}

/// Documents of the organization, the one changed last first.
#[utoipa::path(get, path = "/documents", tag = "documents", params(DocumentQuery),
    responses((status = 200, body = Data<Vec<DocumentRecord>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
    Query(query): Query<DocumentQuery>,
) -> ApiResult<Data<Vec<DocumentRecord>>> {
    let mut found =
        document::Entity::find().filter(document::Column::OrganizationId.eq(caller.organization_id()));
    if let Some(kind) = query.kind {
        found = found.filter(document::Column::Kind.eq(StoredEnum(kind)));
    }
    let rows = found.order_by_desc(document::Column::UpdatedAt).all(app.store.reader()).await;
    let rows = rows.map_err(Into::into).context("Failed to fetch documents")?;
    Ok(Data::new(rows.into_iter().map(DocumentRecord::from).collect()))
}

/// One document with its text, its versions, the plan made from it, its loops and pull requests.
#[utoipa::path(get, path = "/documents/{idOrSlug}", tag = "documents", params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<DocumentDetail>), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<DocumentDetail>> {
    let read = async {
        let row = documents::find(app.store.reader(), caller.organization_id(), &id_or_slug).await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    read.await.context("Failed to fetch document").map(Data::new)
}

/// What is to be changed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateDocument {
    /// 1 to 200 characters.
    pub title: Option<String>,
    /// Status of the document.
    pub status: Option<DocumentStatus>,
}

/// Renames a document, or sets its status.
#[utoipa::path(patch, path = "/documents/{idOrSlug}", tag = "documents", params(("idOrSlug" = String, Path)), request_body = UpdateDocument,
    responses((status = 200, body = Data<DocumentDetail>), ErrorResponses))]
pub async fn update(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
    Path(id_or_slug): Path<String>,
    Body(body): Body<UpdateDocument>,
) -> ApiResult<Data<DocumentDetail>> {
    use document::Column;
    use sea_orm::sea_query::Expr;
    let mut issues = ValidationIssues::default();
    if let Some(title) = &body.title {
        issues.length("title", title.trim(), 1, TITLE_LIMIT);
    }
    issues.into_result()?;
    let changed = async {
        let row = documents::find(app.store.reader(), caller.organization_id(), &id_or_slug).await?;
        let mut update = document::Entity::update_many()
            .col_expr(Column::UpdatedAt, Expr::value(now()))
            .filter(Column::Id.eq(row.id));
        if let Some(title) = body.title {
            update = update.col_expr(Column::Title, Expr::value(title.trim()));
        }
        if let Some(status) = body.status {
            update = update.col_expr(Column::Status, Expr::value(StoredEnum(status)));
        }
        update.exec(app.store.writer()).await?;
        let row = documents::find(app.store.reader(), caller.organization_id(), &row.id.to_string()).await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    changed.await.context("Failed to update document").map(Data::new)
}

/// Versions of a document, newest first.
#[utoipa::path(get, path = "/documents/{idOrSlug}/versions", tag = "documents", params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<Vec<DocumentVersion>>), ErrorResponses))]
pub async fn versions(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<Vec<DocumentVersion>>> {
    let read = async {
        let row = documents::find(app.store.reader(), caller.organization_id(), &id_or_slug).await?;
        let rows = document_version::Entity::find()
            .filter(document_version::Column::DocumentId.eq(row.id))
            .order_by_desc(document_version::Column::Version)
            .all(app.store.reader())
            .await?;
        Ok(rows.into_iter().map(DocumentVersion::from).collect())
    };
    read.await.context("Failed to fetch document versions").map(Data::new)
}

/// The text of a new version.
#[derive(Debug, Deserialize, ToSchema)]
pub struct CreateVersion {
    /// Markdown, at least one character.
    pub content: String,
}

/// Appends a version. A plan that people have changed has no plan object any more.
#[utoipa::path(post, path = "/documents/{idOrSlug}/versions", tag = "documents", params(("idOrSlug" = String, Path)), request_body = CreateVersion,
    responses((status = 200, body = Data<DocumentDetail>), ErrorResponses))]
pub async fn create_version(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
    Path(id_or_slug): Path<String>,
    Body(body): Body<CreateVersion>,
) -> ApiResult<Data<DocumentDetail>> {
    let mut issues = ValidationIssues::default();
    issues.length("content", &body.content, 1, CONTENT_LIMIT);
    issues.into_result()?;
    let made = async {
        let tx = app.store.begin().await?;
        let row = documents::find(&tx, caller.organization_id(), &id_or_slug).await?;
        let text = VersionText { content: body.content, raw: None, loop_id: None };
        let row = documents::add_version(&tx, row, text).await?;
        tx.commit().await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    made.await.context("Failed to create document version").map(Data::new)
}

/// Starts a loop about a document. The dispatch goes on in the background: when it fails, the
/// loop fails, not this answer.
#[utoipa::path(post, path = "/documents/{idOrSlug}/run-loop", tag = "documents", params(("idOrSlug" = String, Path)), request_body = RunLoop,
    responses((status = 200, body = Data<LoopStartResponse>), ErrorResponses))]
pub async fn run_loop(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
    Path(id_or_slug): Path<String>,
    Body(body): Body<RunLoop>,
) -> ApiResult<Data<LoopStartResponse>> {
    run_document::run(&app, &caller, &id_or_slug, body).await.context("Failed to run loop").map(Data::new)
}
