//! Commands for a desktop's gateway, delivered over the link.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::{FromRequestParts, Path, State};
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use http::header::ACCEPT;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use loopgate_api::link::{EventType, LinkCommand, QueryValue};
use sea_orm::prelude::*;
use sea_orm::{QueryOrder, QuerySelect};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::stream::{self, EventBatch, EventReader};
use crate::app::ControlPlaneState;
use crate::auth::{Caller, UserAuth};
use crate::bus::Topic;
use crate::credentials::header::header;
use crate::dispatch::command::{self, CommandSignature, CommandSummary, NewCommand, UnstoredSecret};
use crate::dispatch::signing;
use crate::dispatch::target::find_operable;
use crate::envelope::Data;
use crate::error::{
    ApiError, ApiResult, ErrorResponses, ResultExt, ValidationIssues, bad_request, not_found,
};
use crate::extract::{Body, Id, Query};
use crate::store::column::StoredEnum;
use crate::store::entity::desktop_command::{self, CommandStatus};
use crate::store::entity::{compute_target, desktop_command_event};
use crate::store::{self, RowBatch, Store, iso};

// Operations that only the control plane itself may send: they change the desktop's trusted browser keys.
const RESERVED: [&str; 3] = ["browser_key_revoke", "browser_key_approval_request", "github_resync_nudge"];
const RESERVED_PATH: &str = "/api/gateway/internal/";
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const IDEMPOTENCY_KEY_LIMIT: usize = 200;
// A desktop that reconnects after more than 15 minutes does not receive the command: the page that sent it
// has most likely stopped waiting for the result.
const EXPIRES_AFTER: Duration = Duration::from_secs(15 * 60);
// Events per read of a stream. Bounds the memory of a stream that replays a command with a long output.
const BATCH: u64 = 500;

/// A request to send to the desktop's gateway.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateCommand {
    /// Operation of the route, as approval policies and the activity log name it.
    pub operation_id: String,
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: String,
    /// Path at the gateway; must start with `/api/gateway/`.
    pub path: String,
    /// Additional headers for the gateway.
    #[serde(default)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Query parameters of the request.
    #[serde(default)]
    pub query: Option<BTreeMap<String, QueryValue>>,
    /// JSON body of the request.
    #[serde(default)]
    pub body: Option<Value>,
    /// Time limit of the execution on the desktop, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Commands with the same key run one at a time.
    pub lock_key: Option<String>,
    /// Whether the owner of the desktop must approve the command first.
    pub requires_approval: Option<bool>,
    /// Reason that is shown with the approval request.
    pub approval_reason: Option<String>,
    /// Deduplicates retries: a second request with the same key returns the first command. 1 to 200
    /// characters.
    pub idempotency_key: Option<String>,
    /// Whether the response is streamed; informational.
    pub streaming: Option<bool>,
    /// Id chosen by the client; allowed only for a signed command.
    pub command_id: Option<Uuid>,
    /// Signature by the browser key over `signaturePayload`.
    pub signature: Option<String>,
    /// The exact text that was signed.
    pub signature_payload: Option<String>,
    /// Fingerprint of the browser key that signed.
    pub public_key_fingerprint: Option<String>,
}

/// A created or deduplicated command.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandCreated {
    /// Id of the command.
    pub command_id: Uuid,
    /// Current status of the command.
    pub status: CommandStatus,
    /// `true` when an earlier request with the same idempotency key created the command; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deduped: Option<bool>,
}

/// Sends a request to a desktop. An unsigned command for a desktop that is not connected is delivered when it
/// reconnects within 15 minutes. A signed command is delivered immediately or expires.
#[utoipa::path(post, path = "/compute-targets/{id}/commands", tag = "commands", params(("id" = Uuid, Path)), request_body = CreateCommand,
    responses((status = 200, body = Data<CommandCreated>), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
    Body(body): Body<CreateCommand>,
) -> ApiResult<Data<CommandCreated>> {
    let target = find_operable(&app.store, &caller, id.or_unknown("Compute target")?).await?;
    check(&body)?;
    let signature = signature_of(&body)?;
    if let Some(signature) = &signature {
        signature.check(app.store.reader(), &caller).await?;
    }
    signing::require_signature(app.store.reader(), &target, signature.is_some()).await?;
    let new = NewCommand {
        organization_id: caller.organization_id(),
        user_id: caller.user.id,
        target_id: target.id,
        loop_id: None,
        expires_after: Some(EXPIRES_AFTER),
        idempotency_key: body.idempotency_key.clone(),
        actor: Some(caller.actor()),
        signature: signature.clone(),
        request: request(body),
    };
    let is_signed = signature.is_some();
    let mut command = command::store(&app, new).await.context("Failed to create desktop command")?;
    if !command.deduplicated
        && let Err(reason) = command::deliver(&app, &command.row, signature.map(UnstoredSecret::Signature))
    {
        // The signature is not stored, so a signed command cannot be delivered after a reconnect.
        if is_signed {
            command::expire(app.store.writer(), command.row.id, &command::undelivered(reason, true)).await?;
            command.row.status = StoredEnum(CommandStatus::Expired);
        } else {
            tracing::info!(command_id = %command.row.id, "desktop not connected, command queued");
        }
    }
    Ok(Data::new(CommandCreated {
        command_id: command.row.id,
        status: command.row.status.0,
        deduped: command.deduplicated.then_some(true),
    }))
}

fn check(body: &CreateCommand) -> ApiResult<()> {
    let mut issues = ValidationIssues::default();
    issues.require(!body.operation_id.is_empty(), "operationId", "is required");
    issues.require(
        METHODS.contains(&body.method.as_str()),
        "method",
        "must be GET, POST, PUT, PATCH or DELETE",
    );
    issues.require(body.path.starts_with("/api/gateway/"), "path", "Path must target /api/gateway/*");
    issues.require(body.timeout_ms.is_none_or(|ms| ms > 0), "timeoutMs", "must be positive");
    if let Some(key) = &body.idempotency_key {
        issues.length("idempotencyKey", key, 1, IDEMPOTENCY_KEY_LIMIT);
    }
    issues.into_result()?;
    if RESERVED.contains(&body.operation_id.as_str()) || body.path.starts_with(RESERVED_PATH) {
        let error = ApiError::new(StatusCode::FORBIDDEN, "Browser key internal commands are internal");
        return Err(error.code("browser_key_revocation_reserved"));
    }
    Ok(())
}

/// Returns the signature of a command, or `None` for an unsigned one. Returns 400 when the signature fields
/// are incomplete.
fn signature_of(body: &CreateCommand) -> ApiResult<Option<CommandSignature>> {
    let CreateCommand { signature, signature_payload, public_key_fingerprint, command_id, .. } = body;
    match (signature, signature_payload, public_key_fingerprint, *command_id) {
        (None, None, None, None) => Ok(None),
        (None, None, None, Some(_)) => {
            Err(bad_request("Client command IDs require browser command signing fields"))
        }
        (Some(_), Some(_), Some(_), None) => {
            Err(bad_request("Signed browser commands require a client command ID"))
        }
        (Some(signature), Some(payload), Some(fingerprint), Some(command_id)) => Ok(Some(CommandSignature {
            command_id,
            signature: signature.clone(),
            payload: payload.clone(),
            fingerprint: fingerprint.clone(),
        })),
        _ => Err(bad_request(
            "signature, signaturePayload, and publicKeyFingerprint must be provided together",
        )),
    }
}

fn request(body: CreateCommand) -> LinkCommand {
    LinkCommand {
        operation_id: body.operation_id,
        method: body.method,
        path: body.path,
        headers: body.headers.unwrap_or_default(),
        query: body.query.unwrap_or_default(),
        body: body.body,
        timeout_ms: body.timeout_ms,
        lock_key: body.lock_key,
        requires_approval: body.requires_approval,
        approval_reason: body.approval_reason,
        streaming: body.streaming,
        ..LinkCommand::default()
    }
}

/// Selects the commands of a desktop that a caller may read and cancel: all for the owner, otherwise the own
/// ones.
fn visible(caller: &Caller, target: &compute_target::Model) -> Select<desktop_command::Entity> {
    use desktop_command::Column;
    let of_target = desktop_command::Entity::find().filter(Column::ComputeTargetId.eq(target.id));
    if target.user_id == caller.user.id {
        return of_target;
    }
    of_target.filter(Column::UserId.eq(caller.user.id))
}

/// Extractor for the command that the path names. Rejects with 404 when the caller has no access to its
/// desktop.
pub struct PathCommand {
    caller: Caller,
    row: CommandSummary,
}

#[derive(Deserialize)]
struct CommandPath {
    id: String,
    command_id: String,
}

impl PathCommand {
    async fn find(app: &ControlPlaneState, caller: Caller, path: &CommandPath) -> ApiResult<Self> {
        let target = Id::of(&path.id).or_unknown("Compute target")?;
        let target = find_operable(&app.store, &caller, target).await?;
        let id = Id::of(&path.command_id).or_unknown("Desktop command")?;
        // Access was checked for the path's desktop only, so the command must belong to it.
        let row = visible(&caller, &target)
            .filter(desktop_command::Column::Id.eq(id))
            .into_partial_model::<CommandSummary>()
            .one(app.store.reader())
            .await?;
        row.map(|row| Self { caller, row }).ok_or_else(|| not_found("Desktop command"))
    }
}

impl FromRequestParts<ControlPlaneState> for PathCommand {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        let UserAuth(caller) = UserAuth::from_request_parts(parts, app).await?;
        let Path(path) = Path::<CommandPath>::from_request_parts(parts, app)
            .await
            .map_err(|_| not_found("Desktop command"))?;
        Self::find(app, caller, &path).await
    }
}

/// State of a command.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandRecord {
    /// Id of the command.
    pub command_id: Uuid,
    /// Id of the desktop.
    pub compute_target_id: Uuid,
    /// Operation that the command requests.
    pub operation_id: String,
    /// Current status of the command.
    pub status: CommandStatus,
    /// Reason of the failure; absent unless the command failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Creation time, ISO 8601.
    pub created_at: String,
    /// Start of the execution, ISO 8601; absent before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// Time of the terminal event, ISO 8601; absent before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    /// Sequence number of the last event that was stored.
    pub last_sequence_acked: i64,
    /// Idempotency key of the request that created it; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl From<CommandSummary> for CommandRecord {
    fn from(row: CommandSummary) -> Self {
        Self {
            command_id: row.id,
            compute_target_id: row.compute_target_id,
            operation_id: row.operation_id,
            status: row.status.0,
            error: row.error,
            created_at: iso(row.created_at),
            started_at: row.started_at.map(iso),
            finished_at: row.finished_at.map(iso),
            last_sequence_acked: row.last_sequence_acked,
            idempotency_key: row.idempotency_key,
        }
    }
}

/// Returns the status of a command.
#[utoipa::path(get, path = "/compute-targets/{id}/commands/{command_id}", tag = "commands",
    params(("id" = Uuid, Path), ("command_id" = Uuid, Path)),
    responses((status = 200, body = Data<CommandRecord>), ErrorResponses))]
pub async fn get(PathCommand { row, .. }: PathCommand) -> Data<CommandRecord> {
    Data::new(row.into())
}

/// Lists the commands of a desktop, newest first, at most 100: all for its owner, the own ones for members to
/// whom the owner grants commands.
#[utoipa::path(get, path = "/compute-targets/{id}/commands", tag = "commands", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<Vec<CommandRecord>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
) -> ApiResult<Data<Vec<CommandRecord>>> {
    let target = find_operable(&app.store, &caller, id.or_unknown("Compute target")?).await?;
    let rows = visible(&caller, &target)
        .order_by_desc(desktop_command::Column::CreatedAt)
        .limit(100)
        .into_partial_model::<CommandSummary>()
        .all(app.store.reader())
        .await?;
    Ok(Data::new(rows.into_iter().map(CommandRecord::from).collect()))
}

/// Result of a cancellation request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelRequested {
    /// `false` when the command had already reached a terminal status.
    pub cancel_requested: bool,
    /// Status of the command. The command has ended only once this is a terminal status.
    pub status: CommandStatus,
}

/// Requests cancellation of a command. The request is persisted and resent when the desktop reconnects. The
/// command has ended when its `done` event arrives.
#[utoipa::path(post, path = "/compute-targets/{id}/commands/{command_id}/cancel", tag = "commands",
    params(("id" = Uuid, Path), ("command_id" = Uuid, Path)),
    responses((status = 200, body = Data<CancelRequested>), ErrorResponses))]
pub async fn cancel(
    State(app): State<ControlPlaneState>,
    PathCommand { row, caller }: PathCommand,
) -> ApiResult<Data<CancelRequested>> {
    let status = command::cancel(&app, &row, &caller.actor()).await?;
    Ok(Data::new(CancelRequested { cancel_requested: !status.is_terminal(), status }))
}

/// Event that the desktop reported for a command.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandEventRecord {
    /// Id of the command.
    pub command_id: Uuid,
    /// Position within the command, from 1, without gaps.
    pub sequence: i64,
    /// Kind of the event.
    pub event_type: EventType,
    /// Content; its members depend on `eventType`.
    pub data: Value,
    /// Time of receipt, ISO 8601.
    pub created_at: String,
}

impl From<desktop_command_event::Model> for CommandEventRecord {
    fn from(row: desktop_command_event::Model) -> Self {
        // A newer version may have stored a type that this one does not know; `status` events are
        // informational.
        let kind = serde_json::from_value(Value::String(row.event_type));
        Self {
            command_id: row.command_id,
            sequence: row.sequence,
            event_type: kind.unwrap_or(EventType::Status),
            data: row.data,
            created_at: iso(row.created_at),
        }
    }
}

/// Selects the events, and their representation.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct CommandEventQuery {
    /// Returns only events with a higher sequence number.
    pub after_sequence: Option<i64>,
    /// Answers with server-sent events instead of a list.
    pub stream: Option<bool>,
}

/// Returns the events of a command in order: as a list, or as server-sent events until the terminal event.
#[utoipa::path(get, path = "/compute-targets/{id}/commands/{command_id}/events", tag = "commands",
    params(("id" = Uuid, Path), ("command_id" = Uuid, Path), CommandEventQuery),
    responses(ErrorResponses,
        (status = 200, content((Data<Vec<CommandEventRecord>> = "application/json"), (String = "text/event-stream"))),
        (status = 401, description = "Missing or invalid credential.",
            content((crate::error::FailureBody = "application/json"), (String = "text/plain"))),
        (status = 404, description = "Unknown, or of another organization.",
            content((crate::error::FailureBody = "application/json"), (String = "text/plain")))))]
pub async fn events(
    State(app): State<ControlPlaneState>,
    command: ApiResult<PathCommand>,
    headers: HeaderMap,
    Query(query): Query<CommandEventQuery>,
) -> Response {
    // `EventSource` sends the Accept header; the parameter is for clients that cannot set headers.
    let wants_stream = query.stream == Some(true)
        || header(&headers, ACCEPT.as_str()).is_some_and(|accept| accept.contains("text/event-stream"));
    let after = query.after_sequence.unwrap_or(0);
    let PathCommand { caller, row } = match command {
        Ok(command) => command,
        Err(error) if wants_stream => return plain(&error),
        Err(error) => return error.into_response(),
    };
    if wants_stream {
        let resume_after = stream::last_event_id(&headers).and_then(|id| id.parse().ok());
        // Subscribes before the first read, so that an event stored in between still wakes the stream.
        let wake = app.bus.subscribe(Topic::Command(row.id));
        let source = CommandSource { store: app.store.clone(), command_id: row.id };
        return stream::follow(&app, caller, wake, source, resume_after.unwrap_or(after));
    }
    match after_sequence(row.id, after).all(app.store.reader()).await {
        Ok(rows) => {
            Data::new(rows.into_iter().map(CommandEventRecord::from).collect::<Vec<_>>()).into_response()
        }
        Err(error) => ApiError::from(error).into_response(),
    }
}

fn plain(error: &ApiError) -> Response {
    if error.status == StatusCode::NOT_FOUND {
        return (StatusCode::NOT_FOUND, "Not Found").into_response();
    }
    stream::plain(error)
}

fn after_sequence(command_id: Uuid, after: i64) -> Select<desktop_command_event::Entity> {
    use desktop_command_event::Column;
    desktop_command_event::Entity::find()
        .filter(Column::CommandId.eq(command_id))
        .filter(Column::Sequence.gt(after))
        .order_by_asc(Column::Sequence)
}

struct CommandSource {
    store: Store,
    command_id: Uuid,
}

impl EventReader for CommandSource {
    async fn read(&mut self, after: i64) -> Result<EventBatch, DbErr> {
        // The status is read before the events: if it is terminal here, the batch below cannot miss an event.
        let row = desktop_command::Entity::find_by_id(self.command_id)
            .into_partial_model::<CommandSummary>()
            .one(self.store.reader())
            .await?;
        let ended = row.is_none_or(|row| row.status.0.is_terminal());
        let events = after_sequence(self.command_id, after);
        let RowBatch { rows, is_last } =
            store::read_batch(self.store.reader(), events, BATCH, store::BATCH_BYTES, |row| &row.data)
                .await?;
        let position = rows.last().map_or(after, |row| row.sequence);
        let events = rows
            .into_iter()
            .map(|row| {
                let sequence = row.sequence;
                let json = serde_json::to_string(&CommandEventRecord::from(row)).unwrap_or_default();
                Event::default().id(sequence.to_string()).data(json)
            })
            .collect();
        Ok(EventBatch { events, position, ended: ended && is_last })
    }
}
