//! `/api/gateway/orchestrator/*-learnings*`: what a ticket taught is extracted, processed, counted and used.

use std::path::Path;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use futures_util::future::join_all;
use http::StatusCode;
use jiff::Timestamp;
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::TicketId;
use loopgate_api::names::WORK_DIR;
use loopgate_home::{ReposError, SandboxedPath, expand_home, led_away, untrusted};
use loopgate_learnings::{
    BatchStart, BatchStatus, ChatOfTicket, ExtractionStatus, LearningSource, LearningUse, ProcessingStart,
    ProcessingStatus, WorktreeOfTicket, pending_count, record_uses,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::timeout;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::params::TicketErrors;
use super::runtime::runtime_of;
use crate::app::App;
use crate::approval::{At, Source as Named};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, QueryMembers, TicketPath};
use crate::lenient;
use crate::response::path_text;
use crate::route::Endpoint;
use crate::routes::directory::ticket_worktree;

const EXTRACT: &str = "/api/gateway/orchestrator/extract-learnings";
const PROCESS: &str = "/api/gateway/orchestrator/process-learnings";
const PROCESS_ALL: &str = "/api/gateway/orchestrator/process-all-learnings";
const NEEDED: &str = "ticketId and repoPath are required";
const CHAT_FILE: &str = "chat-history.json";
/// Folder of chats about findings.
const FINDING_CHATS: &str = "finding-chats/";
/// For the worktrees of one repository.
const LISTING_TIME: Duration = Duration::from_secs(10);

/// The ticket's chat that is read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ExtractLearnings {
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_id: Option<String>,
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Given back by the status.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    active_tab: Option<String>,
    /// A name that ends in `.json`, also below `finding-chats/`; `chat-history.json` when it is missing.
    #[serde(default, deserialize_with = "lenient::non_blank")]
    chat_file: Option<String>,
}

/// The ticket whose pending learnings are processed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ProcessLearnings {
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_id: Option<String>,
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    /// Starts when the extraction that goes on has ended.
    #[schema(value_type = bool)]
    #[serde(default)]
    wait_for_extraction: Value,
}

/// Learnings that helped.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RecordLearningUse {
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    ticket_id: Option<String>,
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_blank")]
    repo_path: Option<String>,
    #[serde(default, deserialize_with = "lenient::elements")]
    learnings: Vec<UsedLearning>,
}

/// A learning that helped.
#[derive(Debug, Deserialize, ToSchema)]
struct UsedLearning {
    summary: String,
}

/// Where some work on learnings stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LearningsState {
    /// `none`, `waiting`, `processing`, `completed`, `error`, `skipped`, `already_processing` or `recorded`
    status: String,
    /// Why it was skipped
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Its process; null when there is none
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<Option<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_file: Option<String>,
    /// New learnings, or recorded uses
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    /// Learnings that were processed
    #[serde(skip_serializing_if = "Option::is_none")]
    processed: Option<usize>,
    /// Why it failed
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    active_tab: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_pending: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processed_worktrees: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl LearningsState {
    fn new(status: &str) -> Self {
        Self {
            status: status.to_owned(),
            reason: None,
            pid: None,
            log_file: None,
            count: None,
            processed: None,
            message: None,
            ticket_id: None,
            active_tab: None,
            timestamp: None,
            worktree_count: None,
            total_pending: None,
            processed_worktrees: None,
            started_at: None,
            completed_at: None,
            error: None,
        }
    }

    fn skipped(reason: &'static str) -> Self {
        Self { reason: Some(reason), ..Self::new("skipped") }
    }
}

fn time(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| format!("{at:.3}"))
}

impl From<ExtractionStatus> for LearningsState {
    fn from(status: ExtractionStatus) -> Self {
        Self {
            count: status.count,
            message: status.message,
            ticket_id: status.ticket_id,
            active_tab: status.active_tab,
            timestamp: time(status.timestamp),
            ..Self::new(status.status.as_str())
        }
    }
}

impl From<ProcessingStatus> for LearningsState {
    fn from(status: ProcessingStatus) -> Self {
        Self {
            processed: status.processed,
            message: status.message,
            timestamp: time(status.timestamp),
            ..Self::new(status.status.as_str())
        }
    }
}

impl From<BatchStatus> for LearningsState {
    fn from(status: BatchStatus) -> Self {
        Self {
            worktree_count: status.worktree_count,
            total_pending: status.total_pending,
            processed_worktrees: status.processed_worktrees,
            started_at: time(status.started_at),
            completed_at: time(status.completed_at),
            error: status.error,
            ..Self::new(status.status.as_str())
        }
    }
}

/// How much waits to be processed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PendingLearnings {
    total_count: usize,
    /// Worktrees that have any
    worktree_count: usize,
}

/// A ticket's worktree and repository, when both are allowed and there.
async fn place_of(
    app: &App,
    ticket: &str,
    repo: &str,
) -> Result<(SandboxedPath, WorktreeOfTicket), HttpError> {
    let found = find_place(app, ticket, repo).await?;
    found.ok_or_else(|| HttpError::not_found("Work directory not found"))
}

async fn find_place(
    app: &App,
    ticket: &str,
    repo: &str,
) -> Result<Option<(SandboxedPath, WorktreeOfTicket)>, HttpError> {
    let (app, ticket, repo) = (app.clone(), TicketId::new(ticket), repo.to_owned());
    let found = spawn_blocking(move || {
        let repository = app.sandbox.check(&repo)?;
        let worktree = ticket_worktree(&app, &repository, &ticket)?;
        Ok::<_, HttpError>(worktree.map(|worktree| {
            let worktree = worktree.canonical().to_owned();
            let work_dir = worktree.join(WORK_DIR);
            (repository, WorktreeOfTicket { worktree, work_dir })
        }))
    });
    found.await?
}

/// A file of a work directory that a client may name.
fn chat_file(named: Option<String>) -> Result<String, HttpError> {
    let named = named.unwrap_or_else(|| CHAT_FILE.to_owned());
    let base = named.strip_prefix(FINDING_CHATS).unwrap_or(&named);
    let is_name = base.len() > ".json".len() && base.ends_with(".json") && !base.contains(['/', '\\', '\0']);
    if is_name { Ok(named) } else { Err(HttpError::bad_request("invalid chatFile")) }
}

/// Extract learnings from a ticket's chat
///
/// In the background; the status tells when it is done.
#[utoipa::path(post, path = "/api/gateway/orchestrator/extract-learnings", operation_id = "extract_learnings", tag = "learnings",
    request_body = ExtractLearnings,
    responses(
        (status = 200, body = LearningsState, description = "It goes on"),
        TicketErrors,
        (status = 404, body = ErrorBody, description = "No worktree, or no chat"),
        (status = 500, body = ErrorBody, description = "The status cannot be written"),
    ))]
async fn extract(State(app): State<App>, body: JsonBody<ExtractLearnings>) -> JsonResult<LearningsState> {
    let JsonBody(body) = body;
    let (Some(ticket), Some(repo)) = (body.ticket_id, body.repo_path) else {
        return Err(HttpError::missing_field(NEEDED));
    };
    let chat_file = chat_file(body.chat_file)?;
    let (repository, place) = place_of(&app, &ticket, &repo).await?;
    let chat = place.work_dir.join(&chat_file);
    let read = spawn_blocking(move || (untrusted::read_text(&chat), repo_name(&repository)));
    let (text, repo) = read.await?;
    let text = text.map_err(|error| match error {
        error if led_away(&error) => HttpError::directory_not_allowed(),
        _ => HttpError::not_found("No chat history found").with("path", chat_file.as_str()),
    })?;
    runtime_of(&app, EXTRACT)?;
    let commit = app.git.commit_of(&place.worktree, "HEAD").await.ok().flatten().unwrap_or_default();
    let run = place.worktree.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let source = LearningSource { run, ticket, commit, repo, chat: chat_file, ..LearningSource::default() };
    let chat = ChatOfTicket { text, source, active_tab: body.active_tab };
    let started = spawn_blocking(move || app.learnings.extract(place, chat)).await?;
    started.map_err(|error| HttpError::operation("Failed to start the extraction", &error))?;
    Ok(Json(LearningsState::new("processing")))
}

/// The name of a repository at its host, else that of its directory.
fn repo_name(repository: &SandboxedPath) -> String {
    let origin = loopgate_home::origin_of_chosen(repository.as_path());
    let name = origin.and_then(|name| name.as_str().rsplit('/').next().map(str::to_owned));
    name.unwrap_or_else(|| repository.base_name())
}

/// How an extraction stands
#[utoipa::path(get, path = "/api/gateway/orchestrator/learnings-status/{ticketId}", operation_id = "learnings_status", tag = "learnings",
    params(("ticketId" = String, Path, description = "Ticket"), super::params::RepositoryQuery),
    responses(
        (status = 200, body = LearningsState, description = "How it stands, also when there was none"),
        TicketErrors,
    ))]
async fn extraction_status(
    State(app): State<App>,
    TicketPath(ticket): TicketPath,
    query: QueryMembers,
) -> JsonResult<LearningsState> {
    let repo = query.required("repo", "repo parameter is required")?;
    let Some((_, place)) = find_place(&app, ticket.as_str(), repo).await? else {
        return Ok(Json(ExtractionStatus::none().into()));
    };
    let status = spawn_blocking(move || app.learnings.extraction_status(&place.work_dir)).await?;
    Ok(Json(status.into()))
}

/// How the processing of a ticket's learnings stands
#[utoipa::path(get, path = "/api/gateway/orchestrator/process-learnings", operation_id = "processing_status", tag = "learnings",
    params(
        ("ticketId" = String, Query, description = "Ticket"),
        super::params::RepositoryQuery,
    ),
    responses(
        (status = 200, body = LearningsState, description = "How it stands, also when nothing was processed"),
        TicketErrors,
    ))]
async fn processing_status(State(app): State<App>, query: QueryMembers) -> JsonResult<LearningsState> {
    let needed = "ticketId and repo are required";
    let (ticket, repo) = (query.required("ticketId", needed)?, query.required("repo", needed)?);
    let Some((_, place)) = find_place(&app, ticket, repo).await? else {
        return Ok(Json(ProcessingStatus::default().into()));
    };
    let status = spawn_blocking(move || app.learnings.processing_status(&place.work_dir)).await?;
    Ok(Json(status.into()))
}

/// Process a ticket's pending learnings
///
/// Merges them into the patterns, in the background.
#[utoipa::path(post, path = "/api/gateway/orchestrator/process-learnings", operation_id = "process_learnings", tag = "learnings",
    request_body = ProcessLearnings,
    responses(
        (status = 200, body = LearningsState, description = "It goes on, waits for the extraction, or there is nothing to do"),
        TicketErrors,
        (status = 404, body = ErrorBody, description = "No worktree"),
        (status = 500, body = ErrorBody, description = "The program does not start"),
    ))]
async fn process(State(app): State<App>, body: JsonBody<ProcessLearnings>) -> JsonResult<LearningsState> {
    let JsonBody(body) = body;
    let (Some(ticket), Some(repo)) = (body.ticket_id, body.repo_path) else {
        return Err(HttpError::missing_field(NEEDED));
    };
    let (_, place) = place_of(&app, &ticket, &repo).await?;
    runtime_of(&app, PROCESS)?;
    let wait = is_truthy(&body.wait_for_extraction);
    let start = app.learnings.process(place, wait).await;
    let start = start.map_err(|error| HttpError::operation("Failed to process learnings", &error))?;
    Ok(Json(match start {
        ProcessingStart::Waiting => LearningsState::new("waiting"),
        ProcessingStart::Skipped(reason) => LearningsState::skipped(reason),
        ProcessingStart::Started(pid, log) => LearningsState {
            pid: Some(Some(pid)),
            log_file: Some(path_text(log)),
            ..LearningsState::new("processing")
        },
        ProcessingStart::NoProgram => LearningsState { pid: Some(None), ..LearningsState::new("processing") },
    }))
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(said) => *said,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Every worktree of every configured repository that the sandbox allows.
async fn all_worktrees(app: &App, failed: &str) -> Result<Vec<WorktreeOfTicket>, HttpError> {
    let repositories = {
        let app = app.clone();
        spawn_blocking(move || {
            let list = app.repos.list()?;
            let allowed = |path: &str| app.sandbox.check(expand_home(path)).ok();
            let there = list.repos.iter().filter_map(|repo| allowed(&repo.path));
            Ok(there.filter(|repository| repository.canonical().is_dir()).collect::<Vec<_>>())
        })
    };
    let repositories = repositories.await?.map_err(|error| match error {
        ReposError::NotConfigured => HttpError::not_configured(),
        error => HttpError::operation(failed, &error),
    })?;
    let listing = |repository: SandboxedPath| async move {
        let listed = timeout(LISTING_TIME, app.git.worktrees(repository.as_path())).await;
        listed.ok().and_then(Result::ok).unwrap_or_default()
    };
    let listed = join_all(repositories.into_iter().map(listing)).await;
    let mut paths: Vec<_> = listed.into_iter().flatten().map(|worktree| worktree.path).collect();
    paths.sort_unstable();
    paths.dedup();
    let sandbox = app.sandbox.clone();
    spawn_blocking(move || {
        let allowed = |path: &Path| sandbox.check(path).ok().map(|place| place.canonical().to_owned());
        let place = |worktree: std::path::PathBuf| {
            let work_dir = worktree.join(WORK_DIR);
            WorktreeOfTicket { worktree, work_dir }
        };
        paths.iter().filter_map(|path| allowed(path)).map(place).collect()
    })
    .await
}

/// How the processing of all worktrees stands
#[utoipa::path(get, path = "/api/gateway/orchestrator/process-all-learnings", operation_id = "batch_status", tag = "learnings",
    responses((status = 200, body = LearningsState, description = "How it stands, also when there was none")))]
async fn batch_status(State(app): State<App>) -> JsonResult<LearningsState> {
    Ok(Json(spawn_blocking(move || app.learnings.batch_status()).await?.into()))
}

/// Process the pending learnings of all worktrees
///
/// One after the other, in the background.
#[utoipa::path(post, path = "/api/gateway/orchestrator/process-all-learnings", operation_id = "process_all_learnings", tag = "learnings",
    responses(
        (status = 200, body = LearningsState, description = "It goes on, went on already, or there is nothing to do"),
        (status = 404, body = ErrorBody, description = "The self-learning plugin is missing"),
        (status = 500, body = ErrorBody, description = "The status cannot be written"),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn process_all(State(app): State<App>) -> JsonResult<LearningsState> {
    runtime_of(&app, PROCESS_ALL)?;
    let failed = "Failed to start batch process";
    let worktrees = all_worktrees(&app, failed).await?;
    let start = spawn_blocking(move || app.learnings.process_all(worktrees)).await?;
    Ok(Json(match start.map_err(|error| HttpError::operation(failed, &error))? {
        BatchStart::AlreadyProcessing(status) => LearningsState {
            total_pending: None,
            ..LearningsState { status: "already_processing".to_owned(), ..status.into() }
        },
        BatchStart::NothingPending => LearningsState::skipped("No pending learnings found"),
        BatchStart::NoProgram => {
            let text = "process-chat-learnings.sh not found in self-learning plugin";
            return Err(HttpError::new(StatusCode::NOT_FOUND, text));
        }
        BatchStart::Started(count) => LearningsState {
            worktree_count: Some(count),
            pid: Some(Some(std::process::id())),
            ..LearningsState::new("processing")
        },
    }))
}

/// Count pending learnings
///
/// In the worktrees of every configured repository.
#[utoipa::path(get, path = "/api/gateway/orchestrator/pending-learnings", operation_id = "pending_learnings", tag = "learnings",
    responses(
        (status = 200, body = PendingLearnings, description = "How many wait"),
        (status = 500, body = ErrorBody, description = "The repositories cannot be read"),
        (status = 503, body = ErrorBody, description = "No sandbox is set", example = json!(ErrorBody::not_configured())),
    ))]
async fn pending(State(app): State<App>) -> JsonResult<PendingLearnings> {
    let worktrees = all_worktrees(&app, "Failed to scan pending learnings").await?;
    let counts = spawn_blocking(move || {
        let counts = worktrees.iter().map(|place| pending_count(&place.work_dir));
        counts.filter(|count| *count > 0).collect::<Vec<usize>>()
    });
    let counts = counts.await?;
    Ok(Json(PendingLearnings { total_count: counts.iter().sum(), worktree_count: counts.len() }))
}

/// Record that learnings were used
#[utoipa::path(post, path = "/api/gateway/orchestrator/record-learning-use", operation_id = "record_learning_use", tag = "learnings",
    request_body = RecordLearningUse,
    responses(
        (status = 200, body = LearningsState, description = "Recorded"),
        TicketErrors,
        (status = 404, body = ErrorBody, description = "No worktree"),
        (status = 500, body = ErrorBody, description = "The log cannot be written"),
    ))]
async fn record_use(State(app): State<App>, body: JsonBody<RecordLearningUse>) -> JsonResult<LearningsState> {
    let JsonBody(body) = body;
    let (Some(ticket), Some(repo)) = (body.ticket_id, body.repo_path) else {
        return Err(HttpError::missing_field(NEEDED));
    };
    let used = body.learnings.into_iter().filter(|used| !used.summary.trim().is_empty());
    let uses: Vec<_> = used.map(|used| LearningUse { summary: used.summary, verified: true }).collect();
    if uses.is_empty() {
        let text = "learnings array is required and must not be empty";
        return Err(HttpError::missing_field(text));
    }
    let (_, place) = place_of(&app, &ticket, &repo).await?;
    let count = uses.len();
    let recorded = spawn_blocking(move || {
        let now = Timestamp::now();
        record_uses(&place.work_dir, &ticket, &uses, now)?;
        if let Err(error) = app.learnings.patterns().count_uses(&uses, now) {
            tracing::warn!(%error, "uses of learnings are in the log, and not counted yet");
        }
        Ok::<_, std::io::Error>(())
    });
    recorded.await?.map_err(|error| HttpError::operation("Failed to record learning use", &error))?;
    Ok(Json(LearningsState { count: Some(count), ..LearningsState::new("recorded") }))
}

/// Where bodies name what they are about.
const SOURCES: &[Named] = &[Named::Path(At::Body("repoPath")), Named::Ticket(At::Body("ticketId"))];

pub(crate) fn extract_endpoint() -> Endpoint {
    Endpoint::new(routes!(extract), SOURCES)
}

pub(crate) fn extraction_status_endpoint() -> Endpoint {
    let sources = &[Named::Path(At::Query("repo")), Named::Ticket(At::Segment("ticketId"))];
    Endpoint::new(routes!(extraction_status), sources)
}

pub(crate) fn process_endpoint() -> Endpoint {
    Endpoint::new(routes!(process), SOURCES)
}

pub(crate) fn processing_status_endpoint() -> Endpoint {
    let sources = &[Named::Path(At::Query("repo")), Named::Ticket(At::Query("ticketId"))];
    Endpoint::new(routes!(processing_status), sources)
}

pub(crate) fn process_all_endpoint() -> Endpoint {
    Endpoint::new(routes!(process_all), &[Named::ManagedRepositories])
}

pub(crate) fn batch_status_endpoint() -> Endpoint {
    Endpoint::new(routes!(batch_status), &[])
}

pub(crate) fn pending_endpoint() -> Endpoint {
    Endpoint::new(routes!(pending), &[Named::ManagedRepositories])
}

pub(crate) fn record_use_endpoint() -> Endpoint {
    Endpoint::new(routes!(record_use), SOURCES)
}
