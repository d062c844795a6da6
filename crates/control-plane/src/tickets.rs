//! Tickets: a request with its repositories, and the plan, loops and pull requests that belong to it.
//!
//! A ticket is a feature document with a set of repositories and a state. Its slug, for example `ticket-7`,
//! names the worktree and branch of all its loops and is the ticket id in the gateway's routes, which links
//! plan, work, review, deployment and learnings.

use loopgate_api::launch::{ArtifactType, RepoRef};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryOrder, QuerySelect};
use serde::Serialize;
use utoipa::ToSchema;

use crate::documents::view::LoopPullRequest;
use crate::documents::{self, NewDocument, VersionText};
use crate::error::{ApiResult, not_found};
use crate::loops::view::{LoopDocument, LoopRecord, records};
use crate::page::DocumentPage;
use crate::store::column::StoredEnum;
use crate::store::entity::ticket::{self, TicketState};
use crate::store::entity::{agent_loop, document, pull_request};
use crate::store::{iso, parse_json};

// Number of loops in a ticket's detail view; a page shows no more.
const LOOPS_SHOWN: u64 = 50;

/// A ticket without its text.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketRecord {
    /// Id of the ticket and of its document.
    pub id: Uuid,
    /// Slug such as `ticket-7`; unique in the organization, and the ticket id in the gateway's routes.
    pub slug: String,
    /// Title of the ticket's document.
    pub title: String,
    /// Whether the ticket is open or closed.
    pub state: TicketState,
    /// Primary repository; absent when none was selected.
    pub repo: Option<RepoRef>,
    /// Peer repositories of the ticket's loops.
    pub additional_repos: Vec<RepoRef>,
    /// Id of the user who created the ticket.
    pub user_id: Uuid,
    /// Creation time in ISO 8601.
    pub created_at: String,
    /// Time of the last change in ISO 8601.
    pub updated_at: String,
}

/// A ticket with its text, plan, loops and pull requests.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketDetail {
    /// Members of the ticket without its text.
    #[serde(flatten)]
    pub record: TicketRecord,
    /// Text of the ticket, in Markdown.
    pub body: String,
    /// Feature document of the ticket, from which loops are started.
    pub document: LoopDocument,
    /// The plan that a PLAN loop produced from the document.
    pub plan: Option<LoopDocument>,
    /// Latest 50 loops of the ticket's document and its plan, newest first.
    pub loops: Vec<LoopRecord>,
    /// Pull requests of the document and its plan, newest first.
    pub pull_requests: Vec<LoopPullRequest>,
}

/// A ticket and the document that contains its text.
pub type TicketRow = (ticket::Model, document::Model);

impl From<TicketRow> for TicketRecord {
    fn from((ticket, document): TicketRow) -> Self {
        Self {
            id: document.id,
            additional_repos: peers(&ticket),
            slug: ticket.slug,
            title: document.title,
            state: ticket.state.0,
            repo: parse_json(document.repo.as_ref()),
            user_id: document.user_id,
            created_at: iso(document.created_at),
            updated_at: iso(document.updated_at),
        }
    }
}

/// Values of a ticket to create.
pub struct NewTicket {
    pub organization_id: Uuid,
    /// User who creates the ticket.
    pub user_id: Uuid,
    pub title: String,
    pub body: String,
    pub repo: Option<RepoRef>,
    pub additional_repos: Vec<RepoRef>,
}

/// Creates a ticket and its document.
pub async fn create(tx: &DatabaseTransaction, new: NewTicket) -> Result<TicketRow, DbErr> {
    let kind = ArtifactType::Feature;
    // The document's number is also the ticket's, so the slug needs no counter of its own.
    let number = documents::next_number(tx, new.organization_id, kind).await?;
    let additional_repos = to_json(&new.additional_repos)?;
    let document = NewDocument {
        organization_id: new.organization_id,
        user_id: new.user_id,
        kind,
        number,
        title: new.title,
        repo: new.repo,
        source_document_id: None,
    };
    let text = VersionText { content: new.body, raw: None, user_id: new.user_id, loop_id: None };
    let document = documents::create(tx, document, text).await?;
    let row = ticket::ActiveModel {
        document_id: Set(document.id),
        organization_id: Set(document.organization_id),
        slug: Set(format!("ticket-{number}")),
        additional_repos: Set(additional_repos),
        state: Set(StoredEnum(TicketState::Open)),
    };
    Ok((ticket::Entity::insert(row).exec_with_returning(tx).await?, document))
}

/// Serializes peer repositories for the column.
pub fn to_json(peers: &[RepoRef]) -> Result<serde_json::Value, DbErr> {
    serde_json::to_value(peers).map_err(|error| DbErr::Json(error.to_string()))
}

/// Returns the peer repositories of a ticket.
pub fn peers(row: &ticket::Model) -> Vec<RepoRef> {
    parse_json(Some(&row.additional_repos)).unwrap_or_default()
}

/// Finds a ticket by id or slug. Text in the form of a UUID is always an id. Returns 404 for a ticket of
/// another organization.
pub async fn find(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    id_or_slug: &str,
) -> ApiResult<TicketRow> {
    let tickets = ticket::Entity::find().filter(ticket::Column::OrganizationId.eq(organization_id));
    let query = match Uuid::try_parse(id_or_slug) {
        Ok(id) => tickets.filter(ticket::Column::DocumentId.eq(id)),
        Err(_) => tickets.filter(ticket::Column::Slug.eq(id_or_slug)),
    };
    let existing = query.find_both_related(document::Entity).filter(document::Column::DeletedAt.is_null());
    existing.one(db).await?.ok_or_else(|| not_found("Ticket"))
}

/// Returns the ticket of a document, or of the document that it was produced from.
pub async fn of_document(
    db: &impl ConnectionTrait,
    row: &document::Model,
) -> Result<Option<ticket::Model>, DbErr> {
    ticket::Entity::find_by_id(row.source_document_id.unwrap_or(row.id)).one(db).await
}

/// Lists a page of the tickets of an organization, most recently changed first.
pub async fn list(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    state: Option<TicketState>,
    page: DocumentPage<'_>,
) -> ApiResult<Vec<TicketRow>> {
    let mut query = ticket::Entity::find().filter(ticket::Column::OrganizationId.eq(organization_id));
    if let Some(state) = state {
        query = query.filter(ticket::Column::State.eq(StoredEnum(state)));
    }
    let existing = query.find_both_related(document::Entity).filter(document::Column::DeletedAt.is_null());
    Ok(page.select(existing)?.all(db).await?)
}

/// Loads a ticket's text, plan, loops and pull requests.
pub async fn detail(db: &impl ConnectionTrait, (row, document): TicketRow) -> Result<TicketDetail, DbErr> {
    let text = documents::current(db, &document).await?;
    let plan = documents::plan_of(db, document.id).await?;
    let document_ids = [Some(document.id), plan.as_ref().map(|plan| plan.id)];
    let document_ids: Vec<Uuid> = document_ids.into_iter().flatten().collect();
    let loops = agent_loop::Entity::find()
        .filter(agent_loop::Column::DocumentId.is_in(document_ids.iter().copied()))
        .order_by_desc(agent_loop::Column::CreatedAt)
        .order_by_desc(agent_loop::Column::Id)
        .limit(LOOPS_SHOWN)
        .all(db)
        .await?;
    let pull_requests = pull_request::Entity::find()
        .filter(pull_request::Column::DocumentId.is_in(document_ids))
        .order_by_desc(pull_request::Column::CreatedAt)
        .all(db)
        .await?;
    Ok(TicketDetail {
        body: text.map(|text| text.content).unwrap_or_default(),
        document: LoopDocument::from(&document),
        plan: plan.as_ref().map(LoopDocument::from),
        loops: records(db, loops).await?,
        pull_requests: pull_requests.into_iter().map(LoopPullRequest::from).collect(),
        record: (row, document).into(),
    })
}
