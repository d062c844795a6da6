//! Views of documents in responses.

use loopgate_api::launch::{ArtifactType, RepoRef};
use loopgate_api::pull_request::ReportedStanding;
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, FromQueryResult, QueryOrder, QuerySelect};
use serde::{Serialize, Serializer};
use serde_json::Value;
use utoipa::ToSchema;

use super::attachments::DocumentAttachment;
use crate::loops::view::{LoopDocument, LoopRecord, records};
use crate::page::MAX_LIMIT;
use crate::store::entity::document::DocumentStatus;
use crate::store::entity::{agent_loop, document, document_version, pull_request};
use crate::store::iso;
use crate::store::parse_json;

// Loops in the view of a document.
const LOOPS_SHOWN: u64 = 50;

/// A document without its text.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentRecord {
    /// Id of the document.
    pub id: Uuid,
    /// Slug, for example `plan-7`; unique in the organization.
    pub slug: String,
    /// Kind of the document.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
    pub title: String,
    /// Status of the document.
    pub status: DocumentStatus,
    /// Primary repository of the document.
    pub repo: Option<RepoRef>,
    /// Id of the document that it was derived from.
    pub source_document_id: Option<Uuid>,
    /// Number of the current version, from 1.
    pub current_version: i64,
    /// User who created it.
    pub user_id: Uuid,
    /// Creation time, ISO 8601.
    pub created_at: String,
    /// Time of the last change, ISO 8601.
    pub updated_at: String,
}

impl From<document::Model> for DocumentRecord {
    fn from(row: document::Model) -> Self {
        Self {
            id: row.id,
            slug: row.slug,
            kind: row.kind.0,
            title: row.title,
            status: row.status.0,
            repo: parse_json(row.repo.as_ref()),
            source_document_id: row.source_document_id,
            current_version: row.current_version,
            user_id: row.user_id,
            created_at: iso(row.created_at),
            updated_at: iso(row.updated_at),
        }
    }
}

/// A version of a document without its text.
#[derive(Debug, Clone, Serialize, ToSchema, FromQueryResult)]
#[serde(rename_all = "camelCase")]
pub struct DocumentVersionRecord {
    /// Version number, from 1.
    pub version: i64,
    /// Id of the loop that created the version; null for a user's.
    pub loop_id: Option<Uuid>,
    /// Creation time, ISO 8601.
    #[serde(serialize_with = "iso_time")]
    #[schema(value_type = String)]
    pub created_at: i64,
}

/// Returns a page of the versions of a document that are older than `before`, newest first.
pub async fn version_records(
    db: &impl ConnectionTrait,
    document_id: Uuid,
    before: Option<i64>,
    limit: u64,
) -> Result<Vec<DocumentVersionRecord>, DbErr> {
    use document_version::Column;
    let mut versions = document_version::Entity::find()
        .select_only()
        .columns([Column::Version, Column::LoopId, Column::CreatedAt])
        .filter(Column::DocumentId.eq(document_id));
    if let Some(before) = before {
        versions = versions.filter(Column::Version.lt(before));
    }
    versions.order_by_desc(Column::Version).limit(limit).into_model().all(db).await
}

/// A version of a document's text.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentVersion {
    /// Version number, from 1.
    pub version: i64,
    /// Text of the version in Markdown.
    pub content: String,
    /// Complete plan object, for a text that comes from one.
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub raw: Option<Value>,
    /// Id of the loop that created the version; null for a user's.
    pub loop_id: Option<Uuid>,
    /// Creation time, ISO 8601.
    pub created_at: String,
}

impl From<document_version::Model> for DocumentVersion {
    fn from(row: document_version::Model) -> Self {
        Self {
            version: row.version,
            content: row.content,
            raw: row.raw,
            loop_id: row.loop_id,
            created_at: iso(row.created_at),
        }
    }
}

fn iso_time<S: Serializer>(at: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&iso(*at))
}

/// A pull request that a loop opened.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PullRequest)]
pub struct LoopPullRequest {
    /// Full name of the repository, `<org>/<repo>`.
    pub full_name: String,
    /// Number at the code host.
    pub number: i64,
    /// URL of its page at the code host.
    pub url: String,
    /// Title of the pull request.
    pub title: String,
    /// Name of the branch with the work.
    pub branch_name: String,
    /// Branch to merge into.
    pub base_branch: String,
    /// Id of the loop that opened it.
    pub loop_id: Uuid,
    /// Creation time, ISO 8601.
    pub created_at: String,
    /// Its standing at the code host, as the desktop of the loop has last reported it; null before the first report.
    pub standing: Option<ReportedStanding>,
    /// Time of that report, ISO 8601.
    pub reported_at: Option<String>,
}

impl From<pull_request::Model> for LoopPullRequest {
    fn from(row: pull_request::Model) -> Self {
        Self {
            standing: parse_json(row.standing.as_ref()),
            reported_at: row.reported_at.map(iso),
            full_name: row.full_name,
            number: row.number,
            url: row.url,
            title: row.title,
            branch_name: row.branch_name,
            base_branch: row.base_branch,
            loop_id: row.loop_id,
            created_at: iso(row.created_at),
        }
    }
}

/// A document with its text, loops and pull requests.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentDetail {
    /// The document without its text.
    #[serde(flatten)]
    pub record: DocumentRecord,
    /// Current text in Markdown.
    pub content: String,
    /// Complete plan object of the current text; null without one.
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub raw: Option<Value>,
    /// Files that its user added.
    pub attachments: Vec<DocumentAttachment>,
    /// Newest 200 versions, newest first.
    pub versions: Vec<DocumentVersionRecord>,
    /// Document that it was derived from.
    pub source: Option<LoopDocument>,
    /// Plan derived from it.
    pub plan: Option<LoopDocument>,
    /// Loops on the document, newest first.
    pub loops: Vec<LoopRecord>,
    /// Pull requests of those loops, newest first.
    pub pull_requests: Vec<LoopPullRequest>,
}

/// Builds the detailed view of a document.
pub async fn detail(db: &impl ConnectionTrait, row: document::Model) -> Result<DocumentDetail, DbErr> {
    let versions = version_records(db, row.id, None, MAX_LIMIT).await?;
    let current = super::current(db, &row).await?;
    let source = match row.source_document_id {
        Some(id) => document::Entity::find_by_id(id).one(db).await?,
        None => None,
    };
    let plan = super::plan_of(db, row.id).await?;
    let loops = agent_loop::Entity::find()
        .filter(agent_loop::Column::DocumentId.eq(row.id))
        .order_by_desc(agent_loop::Column::CreatedAt)
        .order_by_desc(agent_loop::Column::Id)
        .limit(LOOPS_SHOWN)
        .all(db)
        .await?;
    let attachments = super::attachments::of_document(db, row.id).await?;
    let (content, raw) = current.map(|version| (version.content, version.raw)).unwrap_or_default();
    let pull_requests = pull_requests_of(db, [row.id]).await?;
    Ok(DocumentDetail {
        content,
        raw,
        attachments: attachments.into_iter().map(DocumentAttachment::from).collect(),
        versions,
        source: source.as_ref().map(LoopDocument::from),
        plan: plan.as_ref().map(LoopDocument::from),
        loops: records(db, loops).await?,
        pull_requests,
        record: row.into(),
    })
}

/// Returns the pull requests of documents, newest first.
pub async fn pull_requests_of(
    db: &impl ConnectionTrait,
    documents: impl IntoIterator<Item = Uuid>,
) -> Result<Vec<LoopPullRequest>, DbErr> {
    let rows = pull_request::Entity::find()
        .filter(pull_request::Column::DocumentId.is_in(documents))
        .order_by_desc(pull_request::Column::CreatedAt)
        .all(db)
        .await?;
    Ok(rows.into_iter().map(LoopPullRequest::from).collect())
}
