//! Documents, and the start of loops on them.

use axum::extract::{Path, State};
use loopgate_api::launch::{ArtifactType, RepoRef};
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, DatabaseTransaction};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{Caller, UserAuth};
use crate::dispatch::launch;
use crate::dispatch::run_document::{self, LaunchPreview, RunLoop};
use crate::documents::attachments::{self, NewAttachment};
use crate::documents::view::{
    DocumentDetail, DocumentRecord, DocumentVersion, DocumentVersionRecord, detail, version_records,
};
use crate::documents::{self, NewDocument, VersionText};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues, not_found};
use crate::extract::{Body, Query};
use crate::idempotency::{self, CreatedRows, IdempotencyKey, KeyedRequest};
use crate::loops::create::{self, CreatedLoop, NewLoop, check_inputs};
use crate::loops::view::LoopStartResponse;
use crate::page::{self, DocumentPage};
use crate::store::column::StoredEnum;
use crate::store::entity::document::{self, DocumentStatus};
use crate::store::entity::document_version;
use crate::store::now;

/// Longest title, in characters.
pub(super) const TITLE_LIMIT: usize = 200;
/// Longest text of a version, in characters.
pub(super) const CONTENT_LIMIT: usize = 1_000_000;

/// Kinds of documents that users create. Plans are created by loops only.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DocumentKind {
    /// A change request for a feature.
    Feature,
    /// A product requirements document.
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

/// Request to create a document.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateDocument {
    /// Title, 1 to 200 characters.
    pub title: String,
    /// Kind of the document.
    #[serde(rename = "type")]
    pub kind: DocumentKind,
    /// Text in Markdown, at least one character.
    pub content: String,
    /// Primary repository of the document.
    pub repo: Option<RepoRef>,
    /// Images and texts for its loops: at most 10, with 10 MiB in total.
    #[serde(default)]
    pub attachments: Vec<NewAttachment>,
}

impl CreateDocument {
    fn check(&self) -> ApiResult<()> {
        let mut issues = ValidationIssues::default();
        issues.length("title", self.title.trim(), 1, TITLE_LIMIT);
        issues.length("content", &self.content, 1, CONTENT_LIMIT);
        check_inputs(&mut issues, None, self.repo.as_ref(), &[]);
        attachments::check(&mut issues, &self.attachments);
        issues.into_result()
    }
}

/// Creates a document with its first version. With the header `Idempotency-Key`, a repeated request within 24 hours
/// returns the document of the first one.
#[utoipa::path(post, path = "/documents", tag = "documents", request_body = CreateDocument,
    responses((status = 200, body = Data<DocumentDetail>), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    key: IdempotencyKey,
    Body(body): Body<CreateDocument>,
) -> ApiResult<Data<DocumentDetail>> {
    body.check()?;
    let created = async {
        let request = key.of(&caller, &("document", &body))?;
        let tx = create::begin(&app, &caller).await?;
        if let Some(row) = earlier(&tx, request.as_ref()).await? {
            return Ok(detail(&tx, row).await?);
        }
        let (row, files) = insert(&tx, &caller, body).await?;
        if let Some(request) = request {
            request.store(&tx, CreatedRows { document_id: Some(row.id), loop_id: None }).await?;
        }
        attachments::insert(&tx, &app.storage, &row, files).await?;
        tx.commit().await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    created.await.context("Failed to create document").map(Data::new)
}

/// Request to create a document and to start a loop on it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunNewDocument {
    /// The document to create.
    pub document: CreateDocument,
    /// The loop to start on it.
    pub run: RunLoop,
}

/// Creates a document and starts a loop on it in one transaction, so that a refused start leaves no document behind.
/// Not for desktops that accept only signed commands, because a signature names the document. With the header
/// `Idempotency-Key`, a repeated request within 24 hours returns the loop of the first one.
#[utoipa::path(post, path = "/documents/run-loop", tag = "documents", request_body = RunNewDocument,
    responses((status = 200, body = Data<LoopStartResponse>), ErrorResponses))]
pub async fn run_new(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    key: IdempotencyKey,
    Body(body): Body<RunNewDocument>,
) -> ApiResult<Data<LoopStartResponse>> {
    body.document.check()?;
    // Boxed, because it contains the new loop at several points at which it waits.
    let started = Box::pin(async {
        let request = key.of(&caller, &("run-new-document", &body.document, body.run.unsigned()))?;
        if let Some(row) = create::earlier(app.store.reader(), request.as_ref()).await? {
            return Ok(row.into());
        }
        let RunNewDocument { document, run } = body;
        let without_plan = run.without_plan == Some(true);
        let new = run_document::prepare_new(&app, &caller, document.repo.clone(), run).await?;
        let tx = create::begin(&app, &caller).await?;
        if let Some(row) = create::earlier(&tx, request.as_ref()).await? {
            return Ok(row.into());
        }
        let (document, files) = insert(&tx, &caller, document).await?;
        let new = NewLoop { request, ..new };
        let row = run_document::insert_new(&app, &tx, &caller, &document, new, without_plan).await?;
        attachments::insert(&tx, &app.storage, &document, files).await?;
        tx.commit().await?;
        Ok(launch::spawn_created(&app, CreatedLoop::New(row), None))
    });
    started.await.context("Failed to run loop").map(Data::new)
}

/// Returns the document that an earlier attempt of a request created.
async fn earlier(
    db: &impl ConnectionTrait,
    request: Option<&KeyedRequest>,
) -> ApiResult<Option<document::Model>> {
    match idempotency::earlier(db, request).await?.document_id {
        Some(id) => Ok(document::Entity::find_by_id(id).one(db).await?),
        None => Ok(None),
    }
}

/// Inserts a document. Returns it with the files that are to be stored.
async fn insert(
    tx: &DatabaseTransaction,
    caller: &Caller,
    body: CreateDocument,
) -> Result<(document::Model, Vec<NewAttachment>), DbErr> {
    let kind = body.kind.into();
    let new = NewDocument {
        organization_id: caller.organization_id(),
        user_id: caller.user.id,
        kind,
        number: documents::next_number(tx, caller.organization_id(), kind).await?,
        title: body.title.trim().to_owned(),
        repo: body.repo,
        source_document_id: None,
    };
    let text = VersionText { content: body.content, raw: None, user_id: caller.user.id, loop_id: None };
    let row = documents::create(tx, new, text).await?;
    record(tx, caller, AuditAction::DocumentCreated, &row).await?;
    Ok((row, body.attachments))
}

/// Records a change of a document in the audit log.
pub(super) async fn record(
    tx: &DatabaseTransaction,
    caller: &Caller,
    action: AuditAction,
    row: &document::Model,
) -> Result<(), DbErr> {
    let details =
        json!({"slug": row.slug, "version": row.current_version, "status": row.status, "repo": row.repo});
    caller.actor().record(tx, caller.organization_id(), action, row.id, details).await
}

/// Selects a page of documents.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct DocumentQuery {
    /// Returns only documents of this kind.
    #[serde(rename = "type")]
    pub kind: Option<ArtifactType>,
    /// Rows per page, 1 to 200; 50 by default.
    pub limit: Option<u64>,
    /// Returns only documents that changed before this time: `updatedAt` of the last row of the previous page.
    pub before: Option<String>,
    /// Id of that row, the tie-break of equal times.
    pub before_id: Option<Uuid>,
}

/// Lists the documents of the organization, most recently changed first.
#[utoipa::path(get, path = "/documents", tag = "documents", params(DocumentQuery),
    responses((status = 200, body = Data<Vec<DocumentRecord>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Query(query): Query<DocumentQuery>,
) -> ApiResult<Data<Vec<DocumentRecord>>> {
    let mut documents = document::Entity::find()
        .filter(document::Column::OrganizationId.eq(caller.organization_id()))
        .filter(document::Column::DeletedAt.is_null());
    if let Some(kind) = query.kind {
        documents = documents.filter(document::Column::Kind.eq(StoredEnum(kind)));
    }
    let page =
        DocumentPage { limit: query.limit, before: query.before.as_deref(), before_id: query.before_id };
    let rows = page.select(documents)?.all(app.store.reader()).await;
    let rows = rows.map_err(Into::into).context("Failed to fetch documents")?;
    Ok(Data::new(rows.into_iter().map(DocumentRecord::from).collect()))
}

/// Returns a document with its text, versions, plan, loops and pull requests.
#[utoipa::path(get, path = "/documents/{idOrSlug}", tag = "documents", params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<DocumentDetail>), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<DocumentDetail>> {
    let read = async {
        let row = documents::find(app.store.reader(), caller.organization_id(), &id_or_slug).await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    read.await.context("Failed to fetch document").map(Data::new)
}

/// Changes to a document. Absent members remain unchanged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateDocument {
    /// Title, 1 to 200 characters.
    pub title: Option<String>,
    /// New status of the document.
    pub status: Option<DocumentStatus>,
}

/// Changes the title or the status of a document.
#[utoipa::path(patch, path = "/documents/{idOrSlug}", tag = "documents", params(("idOrSlug" = String, Path)), request_body = UpdateDocument,
    responses((status = 200, body = Data<DocumentDetail>), ErrorResponses))]
pub async fn update(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
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
        let tx = app.store.begin().await?;
        update.exec(&tx).await?;
        let row = documents::find(&tx, caller.organization_id(), &row.id.to_string()).await?;
        record(&tx, &caller, AuditAction::DocumentUpdated, &row).await?;
        tx.commit().await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    changed.await.context("Failed to update document").map(Data::new)
}

/// Selects a page of versions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct VersionQuery {
    /// Rows per page, 1 to 200; 50 by default.
    pub limit: Option<u64>,
    /// Returns only versions older than this one: the last one of the previous page.
    pub before: Option<i64>,
}

/// Lists the versions of a document without their texts, newest first.
#[utoipa::path(get, path = "/documents/{idOrSlug}/versions", tag = "documents", params(("idOrSlug" = String, Path), VersionQuery),
    responses((status = 200, body = Data<Vec<DocumentVersionRecord>>), ErrorResponses))]
pub async fn versions(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
    Query(query): Query<VersionQuery>,
) -> ApiResult<Data<Vec<DocumentVersionRecord>>> {
    let limit = page::limit(query.limit)?;
    let read = async {
        let row = documents::find(app.store.reader(), caller.organization_id(), &id_or_slug).await?;
        Ok(version_records(app.store.reader(), row.id, query.before, limit).await?)
    };
    read.await.context("Failed to fetch document versions").map(Data::new)
}

/// Returns a version of a document with its text.
#[utoipa::path(get, path = "/documents/{idOrSlug}/versions/{version}", tag = "documents",
    params(("idOrSlug" = String, Path), ("version" = i64, Path)),
    responses((status = 200, body = Data<DocumentVersion>), ErrorResponses))]
pub async fn version(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path((id_or_slug, version)): Path<(String, String)>,
) -> ApiResult<Data<DocumentVersion>> {
    let read = async {
        let row = documents::find(app.store.reader(), caller.organization_id(), &id_or_slug).await?;
        let version: i64 = version.parse().map_err(|_| not_found("Document version"))?;
        let version = document_version::Entity::find()
            .filter(document_version::Column::DocumentId.eq(row.id))
            .filter(document_version::Column::Version.eq(version))
            .one(app.store.reader())
            .await?;
        version.map(DocumentVersion::from).ok_or_else(|| not_found("Document version"))
    };
    read.await.context("Failed to fetch document version").map(Data::new)
}

/// Text of a new version.
#[derive(Debug, Deserialize, ToSchema)]
pub struct CreateVersion {
    /// Text in Markdown, at least one character.
    pub content: String,
    /// Version that the text is derived from. The request is refused when another one is current. Without it, the
    /// text replaces any version.
    pub version: Option<i64>,
}

/// Appends a version to a document. A plan edited by a user has no structured plan object, only the text.
#[utoipa::path(post, path = "/documents/{idOrSlug}/versions", tag = "documents", params(("idOrSlug" = String, Path)), request_body = CreateVersion,
    responses((status = 200, body = Data<DocumentDetail>), ErrorResponses))]
pub async fn create_version(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
    Body(body): Body<CreateVersion>,
) -> ApiResult<Data<DocumentDetail>> {
    let mut issues = ValidationIssues::default();
    issues.length("content", &body.content, 1, CONTENT_LIMIT);
    issues.into_result()?;
    let created = async {
        let tx = app.store.begin().await?;
        let row = documents::find(&tx, caller.organization_id(), &id_or_slug).await?;
        if body.version.is_some() {
            run_document::check_version(&tx, &caller, &row, body.version).await?;
        }
        let text = VersionText { content: body.content, raw: None, user_id: caller.user.id, loop_id: None };
        let row = documents::add_version(&tx, row, text).await?;
        record(&tx, &caller, AuditAction::DocumentVersionAdded, &row).await?;
        tx.commit().await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    created.await.context("Failed to create document version").map(Data::new)
}

/// Starts a loop on a document. The launch continues in the background: a launch failure fails the loop, not
/// this request. With the header `Idempotency-Key`, a repeated request within 24 hours returns the loop of the
/// first one.
#[utoipa::path(post, path = "/documents/{idOrSlug}/run-loop", tag = "documents", params(("idOrSlug" = String, Path)), request_body = RunLoop,
    responses((status = 200, body = Data<LoopStartResponse>), ErrorResponses))]
pub async fn run_loop(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
    key: IdempotencyKey,
    Body(body): Body<RunLoop>,
) -> ApiResult<Data<LoopStartResponse>> {
    run_document::run(&app, &caller, &id_or_slug, key, body)
        .await
        .context("Failed to run loop")
        .map(Data::new)
}

/// Returns what a start with this body would run, so that a browser can compare it with what it displays and
/// sign it. Reserves the number of the plan, but starts nothing.
#[utoipa::path(post, path = "/documents/{idOrSlug}/run-loop/preview", tag = "documents", params(("idOrSlug" = String, Path)), request_body = RunLoop,
    responses((status = 200, body = Data<LaunchPreview>), ErrorResponses))]
pub async fn preview_loop(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
    Body(body): Body<RunLoop>,
) -> ApiResult<Data<LaunchPreview>> {
    let preview = run_document::preview(&app, &caller, &id_or_slug, body).await;
    preview.context("Failed to preview the loop").map(Data::new)
}
