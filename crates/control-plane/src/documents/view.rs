//! Documents as they are shown.

use loopgate_api::launch::{ArtifactType, RepoRef};
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, QueryOrder, QuerySelect};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::loops::view::{LoopDocument, LoopRecord, records};
use crate::store::entity::document::DocumentStatus;
use crate::store::entity::{agent_loop, document, document_version, pull_request};
use crate::store::iso;
use crate::store::parse_json;

/// Loops shown with a document.
const LOOPS_SHOWN: u64 = 50;

/// A document without its text.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentRecord {
    /// Id.
    pub id: Uuid,
    /// Slug, for example `plan-7`; unique in the organization.
    pub slug: String,
    /// Kind.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
    /// Title.
    pub title: String,
    /// Its status.
    pub status: DocumentStatus,
    /// The repository that it is about.
    pub repo: Option<RepoRef>,
    /// The document from which it was made.
    pub source_document_id: Option<Uuid>,
    /// Number of the present version, from 1.
    pub current_version: i64,
    /// Who made it.
    pub user_id: Uuid,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601.
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

/// One state of a document's text.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentVersion {
    /// From 1.
    pub version: i64,
    /// Markdown.
    pub content: String,
    /// The whole plan object, when the text was taken from one.
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub raw: Option<Value>,
    /// The loop that wrote it.
    pub loop_id: Option<Uuid>,
    /// ISO 8601.
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

/// A pull request that a loop opened.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PullRequest)]
pub struct LoopPullRequest {
    /// `<org>/<repo>`.
    pub full_name: String,
    /// Number.
    pub number: i64,
    /// URL.
    pub url: String,
    /// Title.
    pub title: String,
    /// Branch of the work.
    pub branch_name: String,
    /// Branch that it goes into.
    pub base_branch: String,
    /// The loop that opened it.
    pub loop_id: Uuid,
    /// ISO 8601.
    pub created_at: String,
}

impl From<pull_request::Model> for LoopPullRequest {
    fn from(row: pull_request::Model) -> Self {
        Self {
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

/// A document with its text and what has come of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentDetail {
    /// The record.
    #[serde(flatten)]
    pub record: DocumentRecord,
    /// The present text.
    pub content: String,
    /// The whole plan object of the present text, when there is one.
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub raw: Option<Value>,
    /// All versions, newest first.
    pub versions: Vec<DocumentVersion>,
    /// The document from which it was made.
    pub source: Option<LoopDocument>,
    /// The plan made from it.
    pub plan: Option<LoopDocument>,
    /// Loops about it, newest first.
    pub loops: Vec<LoopRecord>,
    /// Pull requests of those loops, newest first.
    pub pull_requests: Vec<LoopPullRequest>,
}

/// Shows one document.
pub async fn detail(db: &impl ConnectionTrait, row: document::Model) -> Result<DocumentDetail, DbErr> {
    let versions = document_version::Entity::find()
        .filter(document_version::Column::DocumentId.eq(row.id))
        .order_by_desc(document_version::Column::Version)
        .all(db)
        .await?;
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
    let versions: Vec<DocumentVersion> = versions.into_iter().map(DocumentVersion::from).collect();
    let newest = versions.first().map(|version| (version.content.clone(), version.raw.clone()));
    let (content, raw) = newest.unwrap_or_default();
    let pull_requests = pull_request::Entity::find()
        .filter(pull_request::Column::DocumentId.eq(row.id))
        .order_by_desc(pull_request::Column::CreatedAt)
        .all(db)
        .await?;
    Ok(DocumentDetail {
        content,
        raw,
        versions,
        source: source.as_ref().map(LoopDocument::from),
        plan: plan.as_ref().map(LoopDocument::from),
        loops: records(db, loops).await?,
        pull_requests: pull_requests.into_iter().map(LoopPullRequest::from).collect(),
        record: row.into(),
    })
}
