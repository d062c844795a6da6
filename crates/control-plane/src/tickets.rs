//! Tickets: a wish with its repositories, and everything that comes of it.
//!
//! A ticket is a feature document with a set of repositories and a state. Its slug, `ticket-7`, names worktree and
//! branch of all its loops, and is the ticket id of the gateway's routes, so that plan, work, review, deployment and
//! learnings of one wish hang together.

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
use crate::store::column::StoredEnum;
use crate::store::entity::ticket::{self, TicketState};
use crate::store::entity::{agent_loop, document, pull_request};
use crate::store::{iso, parse_json};

/// Loops shown with a ticket.
const LOOPS_SHOWN: u64 = 50;

/// A ticket without its text.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketRecord {
    /// Id; also that of its document.
    pub id: Uuid,
    /// `ticket-7`; unique in the organization, and the ticket id of the gateway's routes.
    pub slug: String,
    /// Title.
    pub title: String,
    /// Whether its work is still wanted.
    pub state: TicketState,
    /// The primary repository.
    pub repo: Option<RepoRef>,
    /// The peers.
    pub additional_repos: Vec<RepoRef>,
    /// Who made it.
    pub user_id: Uuid,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601.
    pub updated_at: String,
}

/// A ticket with its text and what has come of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketDetail {
    /// The record.
    #[serde(flatten)]
    pub record: TicketRecord,
    /// Markdown.
    pub body: String,
    /// Its document; loops are started from it.
    pub document: LoopDocument,
    /// The plan made from it.
    pub plan: Option<LoopDocument>,
    /// Loops about it or its plan, newest first.
    pub loops: Vec<LoopRecord>,
    /// Pull requests of those loops, newest first.
    pub pull_requests: Vec<LoopPullRequest>,
}

/// A ticket and the document that holds its text.
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

/// A ticket about to be made.
pub struct NewTicket {
    /// Its organization.
    pub organization_id: Uuid,
    /// Who makes it.
    pub user_id: Uuid,
    /// Its title.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// The primary repository.
    pub repo: Option<RepoRef>,
    /// The peers.
    pub additional_repos: Vec<RepoRef>,
}

/// Makes a ticket with its document.
pub async fn create(tx: &DatabaseTransaction, new: NewTicket) -> Result<TicketRow, DbErr> {
    let kind = ArtifactType::Feature;
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
    let text = VersionText { content: new.body, raw: None, loop_id: None };
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

/// A set of peers as it is stored.
pub fn to_json(peers: &[RepoRef]) -> Result<serde_json::Value, DbErr> {
    serde_json::to_value(peers).map_err(|error| DbErr::Json(error.to_string()))
}

/// The peers of a ticket.
pub fn peers(row: &ticket::Model) -> Vec<RepoRef> {
    parse_json(Some(&row.additional_repos)).unwrap_or_default()
}

/// The ticket of an organization; a text in the form of a UUID is always an id.
pub async fn find(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    id_or_slug: &str,
) -> ApiResult<TicketRow> {
    let own = ticket::Entity::find().filter(ticket::Column::OrganizationId.eq(organization_id));
    let named = match Uuid::try_parse(id_or_slug) {
        Ok(id) => own.filter(ticket::Column::DocumentId.eq(id)),
        Err(_) => own.filter(ticket::Column::Slug.eq(id_or_slug)),
    };
    named.find_both_related(document::Entity).one(db).await?.ok_or_else(|| not_found("Ticket"))
}

/// The ticket that a document, or the document it was made from, belongs to.
pub async fn of_document(
    db: &impl ConnectionTrait,
    row: &document::Model,
) -> Result<Option<ticket::Model>, DbErr> {
    ticket::Entity::find_by_id(row.source_document_id.unwrap_or(row.id)).one(db).await
}

/// Tickets of an organization, the one changed last first.
pub async fn list(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    state: Option<TicketState>,
) -> Result<Vec<TicketRow>, DbErr> {
    let mut found = ticket::Entity::find().filter(ticket::Column::OrganizationId.eq(organization_id));
    if let Some(state) = state {
        found = found.filter(ticket::Column::State.eq(StoredEnum(state)));
    }
    found
        .find_both_related(document::Entity)
        .order_by_desc(document::Column::UpdatedAt)
        .order_by_desc(document::Column::Id)
        .all(db)
        .await
}

/// Shows one ticket.
pub async fn detail(db: &impl ConnectionTrait, (row, document): TicketRow) -> Result<TicketDetail, DbErr> {
    let text = documents::current(db, &document).await?;
    let plan = documents::plan_of(db, document.id).await?;
    let chain = [Some(document.id), plan.as_ref().map(|plan| plan.id)];
    let chain: Vec<Uuid> = chain.into_iter().flatten().collect();
    let loops = agent_loop::Entity::find()
        .filter(agent_loop::Column::DocumentId.is_in(chain.iter().copied()))
        .order_by_desc(agent_loop::Column::CreatedAt)
        .order_by_desc(agent_loop::Column::Id)
        .limit(LOOPS_SHOWN)
        .all(db)
        .await?;
    let pull_requests = pull_request::Entity::find()
        .filter(pull_request::Column::DocumentId.is_in(chain))
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
