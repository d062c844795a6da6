//! Agents and their versions.

use axum::extract::{Path, State};
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{PaginatorTrait, QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use crate::agents::roster::{
    self, DESCRIPTION_LIMIT, NAME_LIMIT, REPOSITORY_LIMIT, Roster, RosterOutcome, check_role,
};
use crate::agents::view::{
    AgentDetail, AgentSummary, AgentVersionDetail, AgentVersionSummary, detail, versions as version_views,
};
use crate::agents::{self, AgentChange, NewAgent};
use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{AdminAuth, UserAuth};
use crate::envelope::{Data, DeleteResponse};
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues, bad_request, not_found};
use crate::extract::{Body, Query};
use crate::store::entity::{agent, agent_version};
use crate::store::{ALL_ROWS, row_count};
use crate::text_search;

// Longest search text, in characters.
const SEARCH_LIMIT: usize = 200;
const NOTE_LIMIT: usize = 500;
const INITIAL_NOTE: &str = "Initial version";
const NOTE_MISSING: &str = "changeNote required when updating prompt or name";

/// Selects a page of agents.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct AgentQuery {
    /// Returns only agents that loops receive (`true`) or do not receive (`false`).
    pub enabled: Option<bool>,
    /// Returns only agents with this text in name or role, case-insensitive; at most 200 characters.
    pub search: Option<String>,
    /// Returns only agents of this repository; an empty value selects those of the whole organization.
    pub source_repo: Option<String>,
    /// Maximum number of agents; unlimited by default.
    #[param(minimum = 1)]
    pub limit: Option<u64>,
    /// Number of agents to skip.
    pub offset: Option<u64>,
}

/// A page of the organization's agents.
#[derive(Debug, Serialize, ToSchema)]
pub struct AgentList {
    /// Agents of this page, newest first.
    pub agents: Vec<AgentSummary>,
    /// Number of matching agents, ignoring `limit` and `offset`.
    pub total: u64,
}

/// Lists the agents of the organization, newest first.
#[utoipa::path(get, path = "/agents", tag = "agents", params(AgentQuery),
    responses((status = 200, body = Data<AgentList>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Query(query): Query<AgentQuery>,
) -> ApiResult<Data<AgentList>> {
    let mut issues = ValidationIssues::default();
    issues.length("search", query.search.as_deref().unwrap_or_default(), 0, SEARCH_LIMIT);
    issues.length("sourceRepo", query.source_repo.as_deref().unwrap_or_default(), 0, REPOSITORY_LIMIT);
    issues.require(query.limit != Some(0), "limit", "must be at least 1");
    issues.into_result()?;
    let mut selection =
        agent::Entity::find().filter(agent::Column::OrganizationId.eq(caller.organization_id()));
    if let Some(enabled) = query.enabled {
        selection = selection.filter(agent::Column::Enabled.eq(enabled));
    }
    if let Some(repo) = query.source_repo {
        selection = selection.filter(agent::Column::SourceRepo.eq(repo));
    }
    if let Some(search) = query.search.filter(|search| !search.is_empty()) {
        let backend = app.store.reader().get_database_backend();
        let columns = [agent::Column::Name, agent::Column::Role].map(Expr::col);
        selection = selection.filter(text_search::any_contains(backend, columns, &search));
    }
    let listed = async {
        let total = selection.clone().count(app.store.reader()).await?;
        let page = selection
            .order_by_desc(agent::Column::CreatedAt)
            .order_by_desc(agent::Column::Id)
            // SQLite has no OFFSET without a LIMIT.
            .limit(query.limit.map_or(ALL_ROWS, row_count))
            .offset(row_count(query.offset.unwrap_or(0)));
        let agents = page.all(app.store.reader()).await?;
        Ok(AgentList { agents: agents.into_iter().map(AgentSummary::from).collect(), total })
    };
    listed.await.context("Failed to fetch agents").map(Data::new)
}

/// Members of an agent to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateAgent {
    /// Display name, 1 to 200 characters.
    pub name: String,
    /// Area of expertise, 1 to 100 characters with at least one letter or digit; unique in its repository.
    pub role: String,
    /// Purpose of the agent, at most 500 characters.
    pub description: Option<String>,
    /// Prompt, at least one character.
    pub prompt: String,
    /// Repository of the agent, `<org>/<repo>`; empty or absent for all repositories of the organization.
    #[serde(default)]
    pub source_repo: String,
    /// Id of the BOOTSTRAP run that created it.
    pub bootstrap_run_id: Option<String>,
    /// Change note of the first version, at most 500 characters.
    pub change_note: Option<String>,
}

impl CreateAgent {
    fn check(&self) -> ApiResult<()> {
        let mut issues = ValidationIssues::default();
        issues.length("name", &self.name, 1, NAME_LIMIT);
        check_role(&mut issues, "role", &self.role);
        issues.length("description", self.description.as_deref().unwrap_or_default(), 0, DESCRIPTION_LIMIT);
        issues.length("prompt", &self.prompt, 1, usize::MAX);
        issues.length("sourceRepo", &self.source_repo, 0, REPOSITORY_LIMIT);
        issues.length(
            "bootstrapRunId",
            self.bootstrap_run_id.as_deref().unwrap_or_default(),
            0,
            REPOSITORY_LIMIT,
        );
        issues.length("changeNote", self.change_note.as_deref().unwrap_or_default(), 0, NOTE_LIMIT);
        issues.into_result()
    }
}

/// Creates an agent with its first version.
#[utoipa::path(post, path = "/agents", tag = "agents", request_body = CreateAgent,
    responses((status = 200, body = Data<AgentDetail>), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    AdminAuth(caller): AdminAuth,
    Body(body): Body<CreateAgent>,
) -> ApiResult<Data<AgentDetail>> {
    body.check()?;
    let note = body.change_note.filter(|note| !note.trim().is_empty());
    let new = NewAgent {
        organization_id: caller.organization_id(),
        user_id: caller.user.id,
        name: body.name,
        role: body.role,
        description: body.description.filter(|text| !text.is_empty()),
        prompt: body.prompt,
        source_repo: body.source_repo,
        bootstrap_run_id: body.bootstrap_run_id,
        change_note: note.unwrap_or_else(|| INITIAL_NOTE.to_owned()),
    };
    let created = async {
        let row = agents::create(&app.store, &new, &caller.actor()).await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    created.await.context("Failed to create agent").map(Data::new)
}

/// Returns an agent with its prompt.
#[utoipa::path(get, path = "/agents/{idOrSlug}", tag = "agents", params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<AgentDetail>), ErrorResponses))]
pub async fn get(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<AgentDetail>> {
    let read = async {
        let row = agents::find(app.store.reader(), caller.organization_id(), &id_or_slug).await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    read.await.context("Failed to fetch agent").map(Data::new)
}

/// Changes to an agent. Absent members remain unchanged.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdateAgent {
    /// Display name, 1 to 200 characters.
    pub name: Option<String>,
    /// Purpose of the agent, at most 500 characters; an empty text removes it.
    pub description: Option<String>,
    /// Prompt, at least one character.
    pub prompt: Option<String>,
    /// Whether loops receive the agent.
    pub enabled: Option<bool>,
    /// Description of the change, at most 500 characters. Required with `name` or `prompt`.
    pub change_note: Option<String>,
}

impl UpdateAgent {
    fn check(&self) -> ApiResult<()> {
        let mut issues = ValidationIssues::default();
        if let Some(name) = &self.name {
            issues.length("name", name, 1, NAME_LIMIT);
        }
        if let Some(prompt) = &self.prompt {
            issues.length("prompt", prompt, 1, usize::MAX);
        }
        issues.length("description", self.description.as_deref().unwrap_or_default(), 0, DESCRIPTION_LIMIT);
        let note = self.change_note.as_deref().unwrap_or_default();
        issues.length("changeNote", note, 0, NOTE_LIMIT);
        let needs_note = self.name.is_some() || self.prompt.is_some();
        issues.require(!needs_note || !note.trim().is_empty(), "changeNote", NOTE_MISSING);
        issues.into_result()
    }
}

/// Changes an agent. A changed name or prompt creates a new version.
#[utoipa::path(patch, path = "/agents/{idOrSlug}", tag = "agents", params(("idOrSlug" = String, Path)),
    request_body = UpdateAgent, responses((status = 200, body = Data<AgentDetail>), ErrorResponses))]
pub async fn update(
    State(app): State<ControlPlaneState>,
    AdminAuth(caller): AdminAuth,
    Path(id_or_slug): Path<String>,
    Body(body): Body<UpdateAgent>,
) -> ApiResult<Data<AgentDetail>> {
    body.check()?;
    let note = body.change_note.unwrap_or_default();
    let change = AgentChange {
        name: body.name,
        prompt: body.prompt,
        description: body.description,
        enabled: body.enabled,
        bootstrap_run_id: None,
    };
    let changed = async {
        let tx = app.store.begin().await?;
        let row = agents::find(&tx, caller.organization_id(), &id_or_slug).await?;
        let before = row.current_version;
        let row = agents::update(&tx, &row, change, note.trim(), caller.user.id).await?;
        let details = json!({"slug": row.slug, "version": row.current_version, "versionBefore": before});
        let organization = caller.organization_id();
        caller.actor().record(&tx, organization, AuditAction::AgentUpdated, row.id, details).await?;
        tx.commit().await?;
        Ok(detail(app.store.reader(), row).await?)
    };
    changed.await.context("Failed to update agent").map(Data::new)
}

/// Deletes an agent with its versions. Loops that already received it are not affected.
#[utoipa::path(delete, path = "/agents/{idOrSlug}", tag = "agents", params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<DeleteResponse>), ErrorResponses))]
pub async fn delete(
    State(app): State<ControlPlaneState>,
    AdminAuth(caller): AdminAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<DeleteResponse>> {
    let deleted = async {
        let row = agents::find(app.store.reader(), caller.organization_id(), &id_or_slug).await?;
        let tx = app.store.begin().await?;
        if agent::Entity::delete_by_id(row.id).exec(&tx).await?.rows_affected == 0 {
            // A concurrent request has deleted the agent since it was read.
            return Err(not_found("Agent"));
        }
        let (organization, details) = (caller.organization_id(), json!({"slug": row.slug}));
        caller.actor().record(&tx, organization, AuditAction::AgentDeleted, row.id, details).await?;
        tx.commit().await?;
        Ok(DeleteResponse::answer())
    };
    deleted.await.context("Failed to delete agent")
}

/// All versions of an agent.
#[derive(Debug, Serialize, ToSchema)]
pub struct AgentVersions {
    /// All versions, newest first.
    pub versions: Vec<AgentVersionSummary>,
}

/// Lists the versions of an agent, newest first.
#[utoipa::path(get, path = "/agents/{idOrSlug}/versions", tag = "agents", params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<AgentVersions>), ErrorResponses))]
pub async fn versions(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<AgentVersions>> {
    let db = app.store.reader();
    let read = async {
        let row = agents::find(db, caller.organization_id(), &id_or_slug).await?;
        let rows = agent_version::Entity::find()
            .filter(agent_version::Column::AgentId.eq(row.id))
            .order_by_desc(agent_version::Column::Version)
            .all(db)
            .await?;
        Ok(version_views(db, rows).await?)
    };
    let versions = read.await.context("Failed to fetch agent versions")?;
    Ok(Data::new(AgentVersions { versions: versions.into_iter().map(|version| version.summary).collect() }))
}

/// Returns one version of an agent with its prompt.
#[utoipa::path(get, path = "/agents/{idOrSlug}/versions/{version}", tag = "agents",
    params(("idOrSlug" = String, Path), ("version" = i64, Path, minimum = 1)),
    responses((status = 200, body = Data<AgentVersionDetail>), ErrorResponses))]
pub async fn version(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path((id_or_slug, version)): Path<(String, String)>,
) -> ApiResult<Data<AgentVersionDetail>> {
    // Checked explicitly, because `str::parse` also accepts a leading sign.
    let is_number =
        version.bytes().all(|byte| byte.is_ascii_digit()) && version.bytes().any(|byte| byte != b'0');
    if !is_number {
        return Err(bad_request("Version must be a positive integer"));
    }
    let unknown = || not_found("Agent version");
    // All digits, but larger than i64: a valid number of a version that cannot exist, so 404 instead of 400.
    let number: i64 = version.parse().map_err(|_| unknown())?;
    let db = app.store.reader();
    let read = async {
        let row = agents::find(db, caller.organization_id(), &id_or_slug).await?;
        let rows = agent_version::Entity::find()
            .filter(agent_version::Column::AgentId.eq(row.id))
            .filter(agent_version::Column::Version.eq(number))
            .all(db)
            .await?;
        version_views(db, rows).await?.pop().ok_or_else(unknown)
    };
    read.await.context("Failed to fetch agent version").map(Data::new)
}

/// An agent with the outcome of the ingestion.
#[derive(Debug, Serialize, ToSchema)]
pub struct IngestedAgent {
    /// Summary of the agent.
    #[serde(flatten)]
    pub summary: AgentSummary,
    /// Outcome for this agent.
    pub status: RosterOutcome,
}

/// Result of ingesting a roster.
#[derive(Debug, Serialize, ToSchema)]
pub struct IngestReport {
    /// Number of created agents.
    pub created: usize,
    /// Number of agents with a new version.
    pub updated: usize,
    /// Number of unchanged agents.
    pub unchanged: usize,
    /// One entry for each role of the request.
    pub agents: Vec<IngestedAgent>,
}

/// Creates or updates the agents of a BOOTSTRAP run for a repository in one transaction. Idempotent:
/// repeating the request changes nothing.
#[utoipa::path(post, path = "/agents/bulk-ingest", tag = "agents", request_body = Roster,
    responses((status = 200, body = Data<IngestReport>), ErrorResponses))]
pub async fn bulk_ingest(
    State(app): State<ControlPlaneState>,
    AdminAuth(caller): AdminAuth,
    Body(body): Body<Roster>,
) -> ApiResult<Data<IngestReport>> {
    let mut issues = ValidationIssues::default();
    body.check(&mut issues);
    issues.into_result()?;
    let ingested =
        roster::ingest(&app.store, caller.organization_id(), caller.user.id, &body, &caller.actor()).await;
    let ingested = ingested.map_err(Into::into).context("Failed to bulk ingest agents")?;
    Ok(Data::new(report(ingested)))
}

/// Summarizes the effects of a roster.
pub(super) fn report(ingested: Vec<(agent::Model, RosterOutcome)>) -> IngestReport {
    let count = |outcome| ingested.iter().filter(|(_, status)| *status == outcome).count();
    IngestReport {
        created: count(RosterOutcome::Created),
        updated: count(RosterOutcome::Updated),
        unchanged: count(RosterOutcome::Unchanged),
        agents: ingested
            .into_iter()
            .map(|(row, status)| IngestedAgent { summary: row.into(), status })
            .collect(),
    }
}
