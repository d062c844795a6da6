//! `/api/gateway/orchestrator/sessions`: the tickets that a page works on, and the number of those with an
//! unread response.

use axum::Json;
use axum::extract::State;
use loopgate_agents::conversation::history;
use loopgate_api::error::ErrorBody;
use loopgate_home::{Session, SessionNote, expand_home};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, QueryMembers};
use crate::lenient;
use crate::route::Endpoint;

/// Sessions whose worktree exists.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionList {
    #[schema(value_type = Vec<SessionEntry>)]
    sessions: Vec<Session>,
}

/// A recorded session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes an entry in the OpenAPI document; the home crate has the type")]
struct SessionEntry {
    #[serde(flatten)]
    note: NoteSession,
    /// Time at which the session was first recorded, ISO 8601.
    started_at: String,
    /// Time of the last update, ISO 8601.
    last_accessed_at: String,
}

/// A session to record. Optional members that are absent keep their stored values.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct NoteSession {
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    ticket_id: Option<String>,
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    repo_path: Option<String>,
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    worktree_path: Option<String>,
    /// Pid of the process that works on the ticket. Displayed only, never signalled.
    #[serde(default, deserialize_with = "lenient::any")]
    pid: Option<u64>,
    #[serde(default, deserialize_with = "lenient::any")]
    context_repo_paths: Option<Vec<String>>,
    #[serde(default, deserialize_with = "lenient::any")]
    base_branch: Option<String>,
    #[serde(default, deserialize_with = "lenient::any")]
    parent_ticket_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::any")]
    loop_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::any")]
    artifact_id: Option<String>,
}

/// Acknowledgement of a request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true}))]
pub(crate) struct SuccessResponse {
    success: bool,
}

impl SuccessResponse {
    pub(in crate::routes) const YES: Json<Self> = Json(Self { success: true });
}

/// Number of tickets with an unread response.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UnreadCount {
    count: usize,
}

/// List the sessions
///
/// Removes sessions whose worktree no longer exists.
#[utoipa::path(get, path = "/api/gateway/orchestrator/sessions", operation_id = "list_sessions", tag = "orchestrator",
    responses(
        (status = 200, body = SessionList, description = "The sessions"),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured"),
    ))]
async fn list(State(app): State<App>) -> JsonResult<SessionList> {
    require_sandbox(&app)?;
    let sessions = spawn_blocking(move || app.sessions.with_existing_worktree())
        .await?
        .map_err(|error| save_failed(&error))?;
    Ok(Json(SessionList { sessions }))
}

/// Record a session
#[utoipa::path(post, path = "/api/gateway/orchestrator/sessions", operation_id = "note_session", tag = "orchestrator",
    request_body = NoteSession,
    responses(
        (status = 200, body = SuccessResponse, description = "The session was recorded"),
        (status = 400, body = ErrorBody, description = "The body is invalid"),
        (status = 403, body = ErrorBody, description = "Path outside the sandbox"),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured"),
    ))]
async fn note(
    State(app): State<App>,
    body: Result<JsonBody<NoteSession>, HttpError>,
) -> JsonResult<SuccessResponse> {
    require_sandbox(&app)?;
    let JsonBody(body) = body?;
    let (Some(ticket), Some(repo_path), Some(worktree_path)) =
        (body.ticket_id, body.repo_path, body.worktree_path)
    else {
        return Err(HttpError::missing_field("ticketId, repoPath, and worktreePath are required"));
    };
    let note = SessionNote {
        repo_path,
        worktree_path,
        pid: body.pid,
        context_repo_paths: body.context_repo_paths,
        base_branch: body.base_branch,
        parent_ticket_id: body.parent_ticket_id,
        loop_id: body.loop_id,
        artifact_id: body.artifact_id,
    };
    let recorded = spawn_blocking(move || {
        let context_paths = note.context_repo_paths.iter().flatten();
        let is_outside = [&note.repo_path, &note.worktree_path]
            .into_iter()
            .chain(context_paths)
            .any(|path| app.sandbox.check(path).is_err());
        if is_outside {
            return Err(HttpError::directory_not_allowed());
        }
        app.sessions.upsert(&ticket, note).map_err(|error| save_failed(&error))
    });
    recorded.await??;
    Ok(SuccessResponse::YES)
}

/// Delete the session of a ticket
#[utoipa::path(delete, path = "/api/gateway/orchestrator/sessions", operation_id = "forget_session", tag = "orchestrator",
    params(("ticketId" = String, Query, description = "Id of the ticket")),
    responses(
        (status = 200, body = SuccessResponse, description = "The session was deleted, or did not exist"),
        (status = 400, body = ErrorBody, description = "Ticket missing"),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured"),
    ))]
async fn forget(State(app): State<App>, query: QueryMembers) -> JsonResult<SuccessResponse> {
    require_sandbox(&app)?;
    let ticket = query.required("ticketId", "ticketId parameter is required")?.to_owned();
    spawn_blocking(move || app.sessions.remove(&ticket)).await?.map_err(|error| save_failed(&error))?;
    Ok(SuccessResponse::YES)
}

/// Count the sessions with an unread response
///
/// Counts sessions whose newest chat message was written by a provider.
#[utoipa::path(get, path = "/api/gateway/orchestrator/sessions/unread-count", operation_id = "count_unread_sessions", tag = "orchestrator",
    responses(
        (status = 200, body = UnreadCount, description = "The number of sessions"),
        (status = 503, body = ErrorBody, description = "No sandbox directory is configured"),
    ))]
async fn unread(State(app): State<App>) -> JsonResult<UnreadCount> {
    require_sandbox(&app)?;
    let count = spawn_blocking(move || {
        let worktrees =
            app.sessions.all().into_iter().map(|session| expand_home(&session.note.worktree_path));
        worktrees
            // Sessions of removed worktrees stay in the file until the next `list`.
            .filter(|worktree| worktree.is_dir() && history::awaits_user(&app.sandbox, worktree))
            .count()
    });
    Ok(Json(UnreadCount { count: count.await? }))
}

fn require_sandbox(app: &App) -> Result<(), HttpError> {
    app.sessions.path().map(drop).ok_or_else(HttpError::not_configured)
}

fn save_failed(error: &std::io::Error) -> HttpError {
    HttpError::operation("Failed to save sessions", error)
}

pub(crate) fn list_endpoint() -> Endpoint {
    Endpoint::new(routes!(list), &[])
}

pub(crate) fn note_endpoint() -> Endpoint {
    Endpoint::new(
        routes!(note),
        &[
            Source::Path(At::Body("repoPath")),
            Source::Path(At::Body("worktreePath")),
            Source::Path(At::Body("contextRepoPaths.*")),
            Source::Session(At::Body("ticketId")),
        ],
    )
}

pub(crate) fn forget_endpoint() -> Endpoint {
    Endpoint::new(routes!(forget), &[Source::Session(At::Query("ticketId"))])
}

pub(crate) fn unread_endpoint() -> Endpoint {
    Endpoint::new(routes!(unread), &[])
}
