//! Requests of a loop's runner, authenticated with the runner token: events, heartbeats, token refresh and
//! files.

use axum::extract::{Request, State};
use http::{HeaderMap, StatusCode};
use loopgate_api::job::LoopStatus;
use loopgate_api::names::{API_KEY_PREFIX, EVENT_NONCE_HEADER};
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::runner::{RunnerClaims, claim_token_slot};
use crate::auth::{ApiKeyAuth, Caller, RunnerAuth};
use crate::credentials::header::{bearer, header};
use crate::credentials::runner_token::IssuedToken;
use crate::envelope::Data;
use crate::error::{
    ApiError, ApiResult, ErrorResponses, ResultExt, ValidationIssues, bad_request, not_found,
};
use crate::extract::{Body, Id, body_limit, bytes, parse};
use crate::ingest::runner_event::RunnerEvent;
use crate::ingest::{self, HEARTBEAT_THROTTLE, ReceivedView};
use crate::loop_state::status_values;
use crate::loops::contents::{self, Artifacts, TooLarge};
use crate::loops::refresh::{RefreshRequest, refresh as refresh_token};
use crate::loops::revival;
use crate::storage::is_below;
use crate::store::entity::agent_loop;
use crate::store::{iso, now};

/// Error text of an event that could not be stored.
pub const EVENT_FAILED: &str = "Failed to record loop event";
const KEYS_LIMIT: usize = 500;
const KEY_LENGTH: usize = 1024;

/// Stores an event of the loop: `{"type", …}` or `{"type", "data": {…}}`. The nonce is the idempotency key: a
/// repeated event is acknowledged, but not stored again.
#[utoipa::path(post, path = "/loops/{id}/events", tag = "runner",
    params(("id" = Uuid, Path), ("x-loop-event-nonce" = Uuid, Header, description = "Idempotency key of the event: one UUID per event, the same for all retries")),
    request_body = HashMap<String, Value>,
    responses((status = 200, body = Data<ReceivedView>), ErrorResponses))]
pub async fn event(
    State(app): State<ControlPlaneState>,
    runner: RunnerAuth,
    headers: HeaderMap,
    body: ApiResult<Body<Value>>,
) -> ApiResult<Data<ReceivedView>> {
    let nonce = header(&headers, EVENT_NONCE_HEADER)
        .ok_or_else(|| ApiError::new(StatusCode::UNAUTHORIZED, "Missing runner event nonce"))?;
    // `Uuid` also parses the simple, braced and URN forms. Only the hyphenated form is accepted.
    let nonce = Uuid::try_parse(nonce).ok().filter(|_| nonce.len() == 36);
    let nonce = nonce.ok_or_else(|| bad_request("Invalid runner event nonce"))?;
    let event = RunnerEvent::parse(event_body(body)?, app.config.code_host_url.as_deref())?;
    let received = ingest::receive(&app, &runner, nonce, event).await;
    received.context(EVENT_FAILED).map(|outcome| Data::new(outcome.into()))
}

/// Returns the body of an event. Turns 413 into 400, the status that runners expect.
pub fn event_body(body: ApiResult<Body<Value>>) -> ApiResult<Value> {
    body.map(|Body(body)| body).map_err(|error| match error.status {
        StatusCode::PAYLOAD_TOO_LARGE => bad_request("Event payload too large (max 20MB)"),
        _ => error,
    })
}

/// Response to a runner's heartbeat.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Heartbeat {
    /// `false` when the previous heartbeat is younger than four and a half minutes and was therefore not
    /// updated.
    pub bumped: bool,
    /// `true` when a new token was issued: the loop had timed out, or the desktop authenticated with its API
    /// key. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revived: Option<bool>,
    /// New runner token; present only with `revived`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Expiry of the new token, ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Token slot (`jti`) of the new token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jti: Option<Uuid>,
}

impl Heartbeat {
    const fn without_token(bumped: bool) -> Self {
        Self { bumped, revived: None, token: None, expires_at: None, jti: None }
    }
}

impl From<IssuedToken> for Heartbeat {
    fn from(issued: IssuedToken) -> Self {
        Self {
            bumped: true,
            revived: Some(true),
            token: Some(issued.token.expose_secret().to_owned()),
            expires_at: Some(iso(issued.expires_at)),
            jti: Some(issued.jti),
        }
    }
}

/// Records a heartbeat of the loop's runner. A loop that timed out for missing heartbeats returns to RUNNING.
/// When the runner token is no longer accepted, the desktop authenticates with its bound API key and receives
/// a new runner token.
#[utoipa::path(post, path = "/loops/{id}/heartbeat", tag = "runner", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<Heartbeat>), (status = 410, body = crate::error::FailureBody), ErrorResponses))]
pub async fn heartbeat(
    State(app): State<ControlPlaneState>,
    desktop: ApiResult<ApiKeyAuth>,
    runner: ApiResult<RunnerClaims>,
    id: Id,
    headers: HeaderMap,
) -> ApiResult<Data<Heartbeat>> {
    if bearer(&headers).is_some_and(|credential| credential.starts_with(API_KEY_PREFIX)) {
        return desktop_heartbeat(&app, &desktop?.0, id).await;
    }
    let RunnerClaims(claims) = runner?;
    let row = agent_loop::Entity::find_by_id(claims.sub).one(app.store.reader()).await?;
    let row = row.filter(|row| row.organization_id == claims.organization_id);
    let row = row.ok_or_else(unknown_loop)?;
    // A heartbeat disproves the time-out: the loop is resumed with a new token.
    if row.status.0 == LoopStatus::TimedOut {
        claim_token_slot(&app.store, &row, claims.jti).await?;
        return Ok(Data::new(revival::issue_token(&app, row.id).await?.into()));
    }
    if row.status.0.is_terminal() {
        return Err(revival::terminal_loop_error());
    }
    claim_token_slot(&app.store, &row, claims.jti).await?;
    if row.status.0 != LoopStatus::Running {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "Forbidden").code("NOT_RUNNING"));
    }
    // Skips the write while the stored heartbeat is recent; the reaper needs only a coarse time.
    if row.last_runner_heartbeat_at.is_some_and(|at| now() - at < HEARTBEAT_THROTTLE) {
        return Ok(Data::new(Heartbeat::without_token(false)));
    }
    use agent_loop::Column;
    // The condition on the status prevents a heartbeat on a loop that has finished since it was read.
    let bumped = agent_loop::Entity::update_many()
        .col_expr(Column::LastRunnerHeartbeatAt, Expr::value(now()))
        .filter(Column::Id.eq(row.id))
        .filter(Column::Status.is_in(status_values([LoopStatus::Running])))
        .exec(app.store.writer())
        .await?;
    Ok(Data::new(Heartbeat::without_token(bumped.rows_affected == 1)))
}

async fn desktop_heartbeat(app: &ControlPlaneState, caller: &Caller, id: Id) -> ApiResult<Data<Heartbeat>> {
    // Unknown loops and those of other desktops have the same response, so that ids cannot be probed.
    let id = id.or_unknown("Loop").map_err(|_| unknown_loop())?;
    let row = agent_loop::Entity::find_by_id(id).one(app.store.reader()).await?;
    let row = row.filter(|row| row.organization_id == caller.organization_id());
    let (Some(row), Some(key)) = (row, &caller.key) else { return Err(unknown_loop()) };
    if !revival::is_of_desktop(app, &row, key).await? {
        return Err(unknown_loop());
    }
    Ok(Data::new(revival::issue_token(app, row.id).await?.into()))
}

fn unknown_loop() -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "Forbidden").code("LOOP_NOT_FOUND")
}

/// A new runner token.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefreshResponse {
    /// Runner token; replaces the previous one.
    pub token: String,
    /// Expiry of the token, ISO 8601.
    pub expires_at: String,
    /// Token slot (`jti`) of the token.
    pub jti: Uuid,
}

impl From<IssuedToken> for RefreshResponse {
    fn from(issued: IssuedToken) -> Self {
        let token = issued.token.expose_secret().to_owned();
        Self { token, expires_at: iso(issued.expires_at), jti: issued.jti }
    }
}

/// Exchanges the current runner token for a new one. Repeating the request with the same token and
/// `Idempotency-Key` returns the same response until the next exchange.
#[utoipa::path(post, path = "/loops/{id}/refresh-token", tag = "runner", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<RefreshResponse>), (status = 429, body = crate::error::FailureBody), ErrorResponses))]
pub async fn refresh(
    State(app): State<ControlPlaneState>,
    RunnerClaims(claims): RunnerClaims,
    headers: HeaderMap,
) -> ApiResult<Data<RefreshResponse>> {
    // Both values are stored; the limit bounds the size of the row.
    let text = |name| header(&headers, name).map(|text| text.chars().take(200).collect());
    let requester =
        RefreshRequest { idempotency_key: text("idempotency-key"), user_agent: text("user-agent") };
    let issued = refresh_token(&app, &claims, requester).await.context("Failed to refresh token")?;
    Ok(Data::new(issued.into()))
}

/// Artifacts of a run.
#[derive(Debug, Deserialize, ToSchema)]
pub struct UploadArtifacts {
    /// JSON artifacts by name: `plan`, `prd`, `executionResult`, `verdict`, ….
    #[schema(value_type = HashMap<String, Value>)]
    pub artifacts: Artifacts,
    /// Members to merge into the loop's metadata.
    #[serde(default)]
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub metadata: Option<Map<String, Value>>,
}

/// Result of an upload.
#[derive(Debug, Serialize, ToSchema)]
pub struct UploadResponse {
    /// Always `true`; failures have an error status.
    pub stored: bool,
}

/// Stores artifacts of a run until the loop completes. Members are merged into those of earlier uploads.
/// Returns 413 when the loop exceeds its size limits.
#[utoipa::path(post, path = "/loops/{id}/upload-artifacts", tag = "runner", params(("id" = Uuid, Path)), request_body = UploadArtifacts,
    responses((status = 200, body = Data<UploadResponse>), ErrorResponses))]
pub async fn upload_artifacts(
    State(app): State<ControlPlaneState>,
    runner: RunnerAuth,
    request: Request,
) -> ApiResult<Data<UploadResponse>> {
    // A loop that the reaper timed out resumes with the next heartbeat, which may arrive later.
    runner.refuse_in(&[LoopStatus::Completed, LoopStatus::Cancelled, LoopStatus::Failed])?;
    let limit = body_limit(&request);
    let body = bytes(request).await?;
    // Fails only when the semaphore is closed, which never happens.
    let _permit = app.uploads.acquire().await.ok();
    // On a thread of its own: scanning megabytes would delay the requests that share this one.
    let body =
        tokio::task::spawn_blocking(move || parse(&body, limit)).await.map_err(ApiError::internal)??;
    let stored = store_artifacts(&app, runner.row.id, body);
    stored.await.context("Failed to upload artifacts")?;
    Ok(Data::new(UploadResponse { stored: true }))
}

async fn store_artifacts(app: &ControlPlaneState, loop_id: Uuid, body: UploadArtifacts) -> ApiResult<()> {
    let tx = app.store.begin().await?;
    // The row lock serializes concurrent uploads, which otherwise could exceed the limits together.
    let row = agent_loop::Entity::update_many()
        .col_expr(agent_loop::Column::UpdatedAt, Expr::value(now()))
        .filter(agent_loop::Column::Id.eq(loop_id))
        .exec(&tx)
        .await?;
    if row.rows_affected == 0 {
        return Err(not_found("Loop"));
    }
    let too_large = |_: TooLarge| {
        let text = "The artifacts or the metadata of the loop are too large";
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, text).code("artifacts_too_large")
    };
    let metadata = body.metadata.unwrap_or_default();
    contents::merge_uploaded_metadata(&tx, loop_id, metadata).await?.map_err(too_large)?;
    contents::store_artifacts(&tx, loop_id, body.artifacts).await?.map_err(too_large)?;
    tx.commit().await?;
    Ok(())
}

/// Request for upload URLs of files.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadUrls {
    /// 1 to 500 object keys with the prefix `<orgId>/loops/<loopId>/`.
    pub keys: Vec<String>,
    /// Keys whose content may be gzip-compressed; a subset of `keys`.
    #[serde(default)]
    pub gzip_keys: Vec<String>,
}

/// Signed URL of an object.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignedUrl {
    /// Key of the object.
    pub key: String,
    /// Signed URL, valid for two hours.
    pub url: String,
}

/// Signed URLs of several objects.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignedUrls {
    /// One entry for each key.
    pub urls: Vec<SignedUrl>,
}

/// Returns a signed upload URL (PUT) for each key.
#[utoipa::path(post, path = "/loops/{id}/upload-urls", tag = "runner", params(("id" = Uuid, Path)), request_body = UploadUrls,
    responses((status = 200, body = Data<SignedUrls>), ErrorResponses))]
pub async fn upload_urls(
    State(app): State<ControlPlaneState>,
    runner: RunnerAuth,
    Body(body): Body<UploadUrls>,
) -> ApiResult<Data<SignedUrls>> {
    // Failed loops upload a support bundle.
    runner.refuse_in(&[LoopStatus::Completed, LoopStatus::Cancelled])?;
    let mut issues = ValidationIssues::default();
    issues.require((1..=KEYS_LIMIT).contains(&body.keys.len()), "keys", "must have 1 to 500 items");
    issues.require(
        body.gzip_keys.iter().all(|key| body.keys.contains(key)),
        "gzipKeys",
        "must be among keys",
    );
    let sized = body.keys.iter().all(|key| (1..=KEY_LENGTH).contains(&key.chars().count()));
    issues.require(sized, "keys", "must have 1 to 1024 characters each");
    issues.into_result()?;
    let scope = scope(runner.row.organization_id, runner.row.id);
    if let Some(key) = body.keys.iter().find(|key| !is_below(key, &scope)) {
        return Err(ApiError::new(StatusCode::FORBIDDEN, format!("Key \"{key}\" is outside loop scope")));
    }
    sign(&app, "PUT", body.keys).context("Failed to generate upload URLs")
}

fn scope(organization_id: Uuid, loop_id: Uuid) -> String {
    format!("{organization_id}/loops/{loop_id}/")
}

fn sign(app: &ControlPlaneState, method: &str, keys: Vec<String>) -> ApiResult<Data<SignedUrls>> {
    let sign = |key: String| {
        let url = app.storage.signed_url(method, &key, now())?;
        Ok(SignedUrl { key, url })
    };
    let urls: ApiResult<Vec<SignedUrl>> = keys.into_iter().map(sign).collect();
    Ok(Data::new(SignedUrls { urls: urls? }))
}

/// Request for download URLs of files.
#[derive(Debug, Deserialize, ToSchema)]
pub struct DownloadUrls {
    /// Key prefix; must be within the prefix of the loop or of its parent.
    pub prefix: String,
}

/// Lists the objects with a prefix, and returns a signed download URL (GET) for each.
#[utoipa::path(post, path = "/loops/{id}/download-urls", tag = "runner", params(("id" = Uuid, Path)), request_body = DownloadUrls,
    responses((status = 200, body = Data<SignedUrls>), ErrorResponses))]
pub async fn download_urls(
    State(app): State<ControlPlaneState>,
    runner: RunnerAuth,
    Body(body): Body<DownloadUrls>,
) -> ApiResult<Data<SignedUrls>> {
    runner.refuse_in(&[LoopStatus::Completed, LoopStatus::Cancelled, LoopStatus::Failed])?;
    let mut issues = ValidationIssues::default();
    issues.length("prefix", &body.prefix, 1, KEY_LENGTH);
    issues.into_result()?;
    // A child loop reads the files of its parent, for example the plan to implement.
    let readable = [Some(runner.row.id), runner.row.parent_loop_id].into_iter().flatten();
    let allowed =
        readable.into_iter().any(|id| is_below(&body.prefix, &scope(runner.row.organization_id, id)));
    if !allowed {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "Prefix is outside loop scope"));
    }
    let keys = app.storage.list(&body.prefix).await.context("Failed to generate download URLs")?;
    sign(&app, "GET", keys).context("Failed to generate download URLs")
}
