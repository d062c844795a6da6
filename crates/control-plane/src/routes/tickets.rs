//! Tickets: a change request with its repositories.

use axum::extract::{Path, State};
use loopgate_api::launch::RepoRef;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::documents::{CONTENT_LIMIT, TITLE_LIMIT, record};
use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::UserAuth;
use crate::documents::{VersionText, add_version};
use crate::envelope::Data;
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues};
use crate::extract::{Body, Query};
use crate::loops::create::check_inputs;
use crate::page::DocumentPage;
use crate::store::column::StoredEnum;
use crate::store::entity::document;
use crate::store::entity::ticket::{self, TicketState};
use crate::store::{now, parse_json};
use crate::tickets::{self, NewTicket, TicketDetail, TicketRecord, detail};

/// Request to create a ticket.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateTicket {
    /// Title, 1 to 200 characters.
    pub title: String,
    /// Change request in Markdown, at least one character.
    pub body: String,
    /// Primary repository of the ticket.
    pub repo: Option<RepoRef>,
    /// Peer repositories, at most 5.
    #[serde(default)]
    pub additional_repos: Vec<RepoRef>,
}

/// Creates an open ticket.
#[utoipa::path(post, path = "/tickets", tag = "tickets", request_body = CreateTicket,
    responses((status = 200, body = Data<TicketDetail>), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Body(body): Body<CreateTicket>,
) -> ApiResult<Data<TicketDetail>> {
    let mut issues = ValidationIssues::default();
    issues.length("title", body.title.trim(), 1, TITLE_LIMIT);
    issues.length("body", &body.body, 1, CONTENT_LIMIT);
    check_inputs(&mut issues, None, body.repo.as_ref(), &body.additional_repos);
    issues.into_result()?;
    let created = async {
        let tx = app.store.begin().await?;
        let new = NewTicket {
            organization_id: caller.organization_id(),
            user_id: caller.user.id,
            title: body.title.trim().to_owned(),
            body: body.body,
            repo: body.repo,
            additional_repos: body.additional_repos,
        };
        let row = tickets::create(&tx, new).await?;
        record(&tx, &caller, AuditAction::DocumentCreated, &row.1).await?;
        tx.commit().await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    created.await.context("Failed to create ticket").map(Data::new)
}

/// Selects a page of tickets.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct TicketFilter {
    /// Returns only tickets in this state.
    pub state: Option<TicketState>,
    /// Rows per page, 1 to 200; 50 by default.
    pub limit: Option<u64>,
    /// Returns only tickets that changed before this time: `updatedAt` of the last row of the previous page.
    pub before: Option<String>,
    /// Id of that row, the tie-break of equal times.
    pub before_id: Option<Uuid>,
}

/// Lists the tickets of the organization, most recently changed first.
#[utoipa::path(get, path = "/tickets", tag = "tickets", params(TicketFilter),
    responses((status = 200, body = Data<Vec<TicketRecord>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Query(query): Query<TicketFilter>,
) -> ApiResult<Data<Vec<TicketRecord>>> {
    let page =
        DocumentPage { limit: query.limit, before: query.before.as_deref(), before_id: query.before_id };
    let rows = tickets::list(app.store.reader(), caller.organization_id(), query.state, page).await;
    let rows = rows.context("Failed to fetch tickets")?;
    Ok(Data::new(rows.into_iter().map(TicketRecord::from).collect()))
}

/// Returns a ticket with its text, plan, loops and pull requests.
#[utoipa::path(get, path = "/tickets/{idOrSlug}", tag = "tickets", params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<TicketDetail>), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<TicketDetail>> {
    let read = async {
        let row = tickets::find(app.store.reader(), caller.organization_id(), &id_or_slug).await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    read.await.context("Failed to fetch ticket").map(Data::new)
}

/// Changes to a ticket. Absent members remain unchanged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateTicket {
    /// Title, 1 to 200 characters.
    pub title: Option<String>,
    /// Change request in Markdown; stored as a new version of the document.
    pub body: Option<String>,
    /// New primary repository of the ticket.
    pub repo: Option<RepoRef>,
    /// New peer repositories, at most 5.
    pub additional_repos: Option<Vec<RepoRef>>,
    /// Closes or reopens the ticket.
    pub state: Option<TicketState>,
}

/// Changes a ticket. Running loops keep their inputs.
#[utoipa::path(patch, path = "/tickets/{idOrSlug}", tag = "tickets", params(("idOrSlug" = String, Path)), request_body = UpdateTicket,
    responses((status = 200, body = Data<TicketDetail>), ErrorResponses))]
pub async fn update(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
    Body(body): Body<UpdateTicket>,
) -> ApiResult<Data<TicketDetail>> {
    let mut issues = ValidationIssues::default();
    if let Some(title) = &body.title {
        issues.length("title", title.trim(), 1, TITLE_LIMIT);
    }
    if let Some(text) = &body.body {
        issues.length("body", text, 1, CONTENT_LIMIT);
    }
    let changed = async {
        let tx = app.store.begin().await?;
        let (mut row, mut document) = tickets::find(&tx, caller.organization_id(), &id_or_slug).await?;
        let repo = body.repo.or_else(|| parse_json(document.repo.as_ref()));
        let peers = body.additional_repos.unwrap_or_else(|| tickets::peers(&row));
        // Validates stored and new values together: peers must differ from the primary repository.
        check_inputs(&mut issues, None, repo.as_ref(), &peers);
        issues.into_result()?;
        row.additional_repos = tickets::to_json(&peers)?;
        row.state = body.state.map_or(row.state, StoredEnum);
        if let Some(title) = body.title {
            title.trim().clone_into(&mut document.title);
        }
        document.repo = repo.map(serde_json::to_value).transpose()?;
        document.updated_at = now();
        store(&tx, &row, &document).await?;
        if let Some(content) = body.body {
            let text = VersionText { content, raw: None, user_id: caller.user.id, loop_id: None };
            document = add_version(&tx, document, text).await?;
            record(&tx, &caller, AuditAction::DocumentVersionAdded, &document).await?;
        } else {
            record(&tx, &caller, AuditAction::DocumentUpdated, &document).await?;
        }
        tx.commit().await?;
        Ok(detail(app.store.reader(), (row, document)).await?)
    };
    changed.await.context("Failed to update ticket").map(Data::new)
}

async fn store(
    tx: &sea_orm::DatabaseTransaction,
    row: &ticket::Model,
    document: &document::Model,
) -> Result<(), DbErr> {
    use document::Column;
    ticket::Entity::update_many()
        .col_expr(ticket::Column::State, Expr::value(row.state))
        .col_expr(ticket::Column::AdditionalRepos, Expr::value(row.additional_repos.clone()))
        .filter(ticket::Column::DocumentId.eq(row.document_id))
        .exec(tx)
        .await?;
    document::Entity::update_many()
        .col_expr(Column::Title, Expr::value(document.title.clone()))
        .col_expr(Column::Repo, Expr::value(document.repo.clone()))
        .col_expr(Column::UpdatedAt, Expr::value(document.updated_at))
        .filter(Column::Id.eq(document.id))
        .exec(tx)
        .await?;
    Ok(())
}
