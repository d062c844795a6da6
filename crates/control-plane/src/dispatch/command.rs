//! Table of commands: requests for a desktop's gateway, kept until their terminal event.

use std::time::Duration;

use loopgate_api::link::{Cancel, LinkCommand, Requester, USER_INTENT, canonical_json};
use loopgate_api::operation::OperationId;
use loopgate_link::server::SendError;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, IntoCondition};
use sea_orm::{ConnectionTrait, DbBackend, QuerySelect as _};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize as _;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::app::ControlPlaneState;
use crate::audit::{Actor, AuditAction};
use crate::bus::Topic;
use crate::error::{ApiError, ApiResult, conflict, too_many_commands};
use crate::store::column::StoredEnum;
use crate::store::entity::desktop_command::{self, CommandStatus};
use crate::store::entity::{compute_target, user};
use crate::store::{is_duplicate, iso, now};

// Open commands per desktop. Equals the size of a desktop's queue: further commands would be rejected there.
const MAX_OPEN_COMMANDS: i64 = 500;
// Bytes of the open commands per desktop: all of them are read when it connects.
const MAX_OPEN_BYTES: i64 = 32 * 1024 * 1024;

/// Signature that accompanies a command.
#[derive(Debug, Clone)]
pub struct CommandSignature {
    /// Id of the command; chosen by the browser and covered by the signature.
    pub command_id: Uuid,
    /// Ed25519 signature, standard base64.
    pub signature: String,
    /// The exact text that was signed.
    pub payload: String,
    /// Fingerprint of the browser key.
    pub fingerprint: String,
}

/// A command that is not stored yet.
#[derive(Debug, Clone)]
pub struct NewCommand {
    /// Organization of the desktop.
    pub organization_id: Uuid,
    /// User who sends the command.
    pub user_id: Uuid,
    /// Id of the desktop.
    pub target_id: Uuid,
    /// Loop that the command launches; `None` for all other commands.
    pub loop_id: Option<Uuid>,
    /// Validity: a desktop that reconnects later rejects the command. `None` for commands that must be
    /// executed regardless of the delay, such as a kill.
    pub expires_after: Option<Duration>,
    /// Deduplicates retries of the same request.
    pub idempotency_key: Option<String>,
    /// User and address for the audit log; `None` for commands that the control plane sends because of another
    /// act, which has its own entry.
    pub actor: Option<Actor>,
    /// Signature by a browser key. It is not stored, so a signed command is delivered immediately or expires.
    pub signature: Option<CommandSignature>,
    /// Request for the gateway; [`store`] sets its id and times.
    pub request: LinkCommand,
}

/// A command without its request, which may have a megabyte.
#[derive(Debug, Clone, DerivePartialModel)]
#[sea_orm(entity = "desktop_command::Entity")]
pub struct CommandSummary {
    pub id: Uuid,
    pub organization_id: Uuid,
    pub compute_target_id: Uuid,
    pub operation_id: String,
    pub status: StoredEnum<CommandStatus>,
    pub error: Option<String>,
    pub created_at: i64,
    pub started_at: Option<i64>,
    pub finished_at: Option<i64>,
    pub last_sequence_acked: i64,
    pub idempotency_key: Option<String>,
}

/// A command in the table.
#[derive(Debug, Clone)]
pub struct StoredCommand {
    pub row: desktop_command::Model,
    /// Whether an earlier request with the same idempotency key created it.
    pub deduplicated: bool,
}

/// Stores a command. The path determines the operation id where it is known. Returns 409 when the idempotency
/// key was used for a different request, and 429 when the desktop has too many open commands.
pub async fn store(app: &ControlPlaneState, mut new: NewCommand) -> ApiResult<StoredCommand> {
    complete(app.store.reader(), &mut new).await?;
    let (target_id, key, fingerprint) =
        (new.target_id, new.idempotency_key.clone(), fingerprint(&new.request)?);
    // Fast path for retries; the unique index decides between concurrent requests.
    if let Some(key) = &key
        && let Some(row) = by_key(app.store.writer(), target_id, key).await?
    {
        return deduplicated(row, &fingerprint);
    }
    // Commands without expiry are exempt from the limit, so that a full queue can still be stopped.
    if new.expires_after.is_some() {
        check_capacity(app.store.reader(), target_id).await?;
    }
    let tx = app.store.begin().await?;
    let inserted = insert_completed(&tx, new).await;
    // Ends the transaction, which otherwise would block the query below on SQLite.
    if inserted.is_ok() {
        tx.commit().await?;
    } else {
        tx.rollback().await?;
    }
    match inserted {
        Ok(row) => Ok(StoredCommand { row, deduplicated: false }),
        // A concurrent request with the same idempotency key, or a command id that is already in use.
        Err(error) if is_duplicate(&error) => {
            match by_key(app.store.writer(), target_id, &key.unwrap_or_default()).await? {
                Some(row) => deduplicated(row, &fingerprint),
                None => Err(insert_error(error)),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the error of [`insert`] for a caller that did not look for an earlier command.
pub fn insert_error(error: DbErr) -> ApiError {
    if is_duplicate(&error) {
        return conflict("Command ID already exists").code("command_id_exists");
    }
    error.into()
}

/// Sets the members of a command that are determined by others: operation, requester and idempotency key.
async fn complete(db: &impl ConnectionTrait, new: &mut NewCommand) -> Result<(), DbErr> {
    // The approval policy of the desktop applies to the operation id, so a client must not choose it freely.
    if let Some(operation) = OperationId::of_path(&new.request.path) {
        operation.as_str().clone_into(&mut new.request.operation_id);
    }
    new.request.requester = requester(db, new).await?;
    let key = new.idempotency_key.take().map(|key| key.trim().to_owned());
    new.idempotency_key = key.filter(|key| !key.is_empty());
    Ok(())
}

/// Inserts a command without looking for an earlier one. Callers that insert it in the transaction of its
/// cause cannot recover from a duplicate, because PostgreSQL aborts the transaction.
pub async fn insert(db: &impl ConnectionTrait, mut new: NewCommand) -> Result<desktop_command::Model, DbErr> {
    complete(db, &mut new).await?;
    insert_completed(db, new).await
}

async fn insert_completed(
    db: &impl ConnectionTrait,
    new: NewCommand,
) -> Result<desktop_command::Model, DbErr> {
    let mut request = new.request;
    let fingerprint = fingerprint(&request)?;
    let is_signed = new.signature.is_some();
    let chosen = new.signature.map(|signature| signature.command_id);
    let (id, created_at) = (chosen.unwrap_or_else(Uuid::now_v7), now());
    request.command_id = id.to_string();
    request.queued_at = Some(iso(created_at));
    request.expires_at = new.expires_after.map(|after| iso(created_at + millis(after)));
    let row = desktop_command::ActiveModel {
        id: Set(id),
        organization_id: Set(new.organization_id),
        compute_target_id: Set(new.target_id),
        user_id: Set(new.user_id),
        operation_id: Set(request.operation_id.clone()),
        status: Set(StoredEnum(CommandStatus::Queued)),
        request_payload: Set(serde_json::to_value(&request).map_err(json_error)?),
        request_fingerprint: Set(fingerprint),
        idempotency_key: Set(new.idempotency_key),
        loop_id: Set(new.loop_id),
        last_sequence_acked: Set(0),
        created_at: Set(created_at),
        ..Default::default()
    };
    let row = desktop_command::Entity::insert(row).exec_with_returning(db).await?;
    if let Some(actor) = &new.actor {
        let action = AuditAction::CommandSent;
        actor.record(db, row.organization_id, action, row.id, details(&row, &request, is_signed)).await?;
    }
    Ok(row)
}

fn json_error(error: serde_json::Error) -> DbErr {
    DbErr::Json(error.to_string())
}

/// Returns the user of a command when it is not the owner of the desktop, which then asks its owner.
async fn requester(db: &impl ConnectionTrait, new: &NewCommand) -> Result<Option<Requester>, DbErr> {
    let target = compute_target::Entity::find_by_id(new.target_id).one(db).await?;
    if target.is_some_and(|target| target.user_id == new.user_id) {
        return Ok(None);
    }
    let user = user::Entity::find_by_id(new.user_id).one(db).await?;
    Ok(user.map(|user| Requester { user_id: user.id.to_string(), name: user.full_name(), email: user.email }))
}

/// Returns the details of a command for the audit log. Not the body: it may contain file contents.
fn details(row: &desktop_command::Model, request: &LinkCommand, is_signed: bool) -> Value {
    json!({
        "computeTargetId": row.compute_target_id,
        "operationId": row.operation_id,
        "method": request.method,
        "path": request.path,
        "action": request.body.as_ref().and_then(|body| body.get("action")),
        "requester": request.requester,
        "signed": is_signed,
    })
}

/// Returns 429 when a desktop has too many open commands.
pub async fn check_capacity(db: &impl ConnectionTrait, target_id: Uuid) -> ApiResult<()> {
    // Not the column's type, which is JSON: both databases return its text.
    let bytes = match db.get_database_backend() {
        DbBackend::Postgres => {
            Expr::cust("CAST(coalesce(sum(octet_length(request_payload::text)), 0) AS bigint)")
        }
        _ => Expr::cust("coalesce(sum(length(request_payload)), 0)"),
    };
    let open = desktop_command::Entity::find()
        .select_only()
        .column_as(desktop_command::Column::Id.count(), "commands")
        .column_as(bytes, "bytes")
        .filter(desktop_command::Column::ComputeTargetId.eq(target_id))
        .filter(desktop_command::Column::Status.is_in(CommandStatus::OPEN.map(StoredEnum)));
    let (commands, bytes) = open.into_tuple::<(i64, i64)>().one(db).await?.unwrap_or_default();
    if commands < MAX_OPEN_COMMANDS && bytes < MAX_OPEN_BYTES { Ok(()) } else { Err(too_many_commands()) }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Returns the command that an earlier request with the same idempotency key has stored. Returns 409 when the key was used
/// for a different request.
pub async fn earlier(
    db: &impl ConnectionTrait,
    new: &NewCommand,
) -> ApiResult<Option<desktop_command::Model>> {
    let mut new = new.clone();
    complete(db, &mut new).await?;
    let Some(key) = &new.idempotency_key else { return Ok(None) };
    let Some(row) = by_key(db, new.target_id, key).await? else { return Ok(None) };
    deduplicated(row, &fingerprint(&new.request)?).map(|stored| Some(stored.row))
}

/// Finds a command by its idempotency key. Not with the reader: a concurrent request may just have inserted the row.
async fn by_key(
    db: &impl ConnectionTrait,
    target_id: Uuid,
    key: &str,
) -> Result<Option<desktop_command::Model>, DbErr> {
    desktop_command::Entity::find()
        .filter(desktop_command::Column::ComputeTargetId.eq(target_id))
        .filter(desktop_command::Column::IdempotencyKey.eq(key))
        .one(db)
        .await
}

fn deduplicated(row: desktop_command::Model, fingerprint: &str) -> ApiResult<StoredCommand> {
    if row.request_fingerprint == fingerprint {
        return Ok(StoredCommand { row, deduplicated: true });
    }
    Err(conflict("Idempotency key collision with different payload").code("idempotency_key_collision"))
}

/// Returns the command that launched a loop. Expired commands are ignored, because the desktop never received
/// them.
pub async fn launch_command(
    db: &impl ConnectionTrait,
    loop_id: Uuid,
) -> Result<Option<desktop_command::Model>, DbErr> {
    desktop_command::Entity::find()
        .filter(desktop_command::Column::LoopId.eq(loop_id))
        .filter(desktop_command::Column::Status.ne(StoredEnum(CommandStatus::Expired)))
        .one(db)
        .await
}

/// What a command is delivered with, but never stored with: backups must not contain it.
#[derive(Debug, Clone)]
pub enum UnstoredSecret {
    /// Signature by a browser key, for this delivery only.
    Signature(CommandSignature),
    /// Token of the loop that the command launches; it can be issued again, see `RunnerTokens::in_force`.
    RunnerToken(SecretString),
}

const TOKEN: &str = "loopgateAuthToken";

/// Removes the runner token from the body of a launch.
pub fn without_token(mut body: Value) -> Value {
    if let Some(members) = body.as_object_mut() {
        members.remove(TOKEN);
    }
    body
}

/// Adds the runner token to a stored launch.
pub fn add_token(request: &mut LinkCommand, token: &SecretString) {
    if let Some(members) = request.body.as_mut().and_then(Value::as_object_mut) {
        members.insert(TOKEN.to_owned(), token.expose_secret().into());
    }
}

/// Returns whether a stored command is a launch that needs its runner token. The desktop fetches that of a
/// signed launch.
pub fn needs_token(request: &LinkCommand) -> bool {
    OperationId::of_path(&request.path) == Some(OperationId::OrchestratorLoop)
        && request.body.as_ref().is_some_and(|body| body.get(USER_INTENT).is_none())
}

/// Sends a stored command to its desktop. Fails when the desktop is not connected.
pub fn deliver(
    app: &ControlPlaneState,
    row: &desktop_command::Model,
    secret: Option<UnstoredSecret>,
) -> Result<(), SendError> {
    // Borrows, because the body of a command can have a megabyte.
    let mut request = LinkCommand::deserialize(&row.request_payload).unwrap_or_default();
    match secret {
        Some(UnstoredSecret::Signature(CommandSignature { signature, payload, fingerprint, .. })) => {
            request.signature = Some(signature);
            request.signature_payload = Some(payload);
            request.public_key_fingerprint = Some(fingerprint);
        }
        Some(UnstoredSecret::RunnerToken(token)) => add_token(&mut request, &token),
        None => {}
    }
    let delivered = app.desktops.deliver(row.compute_target_id, &request);
    if delivered == Err(SendError::NotConnected) {
        // It may be connected to another instance.
        app.bus.publish(Topic::Desktop(row.compute_target_id));
    }
    delivered
}

/// Returns the error text of a command that could not be delivered.
pub fn undelivered(reason: SendError, is_signed: bool) -> String {
    if is_signed { format!("signed_command_delivery_failed:{reason}") } else { reason.to_string() }
}

/// Requests cancellation of a command. The request is persisted, and resent on every reconnect until the
/// terminal event arrives. Returns the current status.
pub async fn cancel(
    app: &ControlPlaneState,
    row: &CommandSummary,
    actor: &Actor,
) -> Result<CommandStatus, DbErr> {
    use desktop_command::Column;
    let tx = app.store.begin().await?;
    let update = desktop_command::Entity::update_many()
        .col_expr(Column::CancelRequestedAt, Expr::value(now()))
        .filter(Column::Id.eq(row.id))
        .filter(Column::Status.is_in(CommandStatus::OPEN.map(StoredEnum)))
        .exec(&tx)
        .await?;
    if update.rows_affected == 1 {
        let details = json!({"computeTargetId": row.compute_target_id, "operationId": row.operation_id});
        actor.record(&tx, row.organization_id, AuditAction::CommandCancelled, row.id, details).await?;
    }
    tx.commit().await?;
    let cancel = Cancel { command_id: row.id.to_string(), reason: None };
    if update.rows_affected == 1 && app.desktops.cancel(row.compute_target_id, &cancel).is_err() {
        app.bus.publish(Topic::Desktop(row.compute_target_id));
        tracing::info!(command_id = %row.id, "desktop not connected, cancellation queued");
    }
    let row = desktop_command::Entity::find_by_id(row.id).one(app.store.writer()).await?;
    Ok(row.map_or(CommandStatus::Cancelled, |row| row.status.0))
}

/// Expires the commands of a member, or of all users but the owner, that a desktop has not received: the permission
/// to send them was withdrawn. Launches and kills are not affected.
pub async fn withdraw(db: &impl ConnectionTrait, of: impl IntoCondition) -> Result<(), DbErr> {
    use desktop_command::Column;
    desktop_command::Entity::update_many()
        .col_expr(Column::Status, Expr::value(StoredEnum(CommandStatus::Expired)))
        .col_expr(
            Column::Error,
            Expr::value("The permission to send commands to this machine was withdrawn."),
        )
        .col_expr(Column::FinishedAt, Expr::value(now()))
        .filter(of.into_condition())
        .filter(Column::Status.eq(StoredEnum(CommandStatus::Queued)))
        .filter(Column::LoopId.is_null())
        .filter(Column::OperationId.ne(OperationId::OrchestratorLoopKill.as_str()))
        .exec(db)
        .await
        .map(drop)
}

/// Marks a command that its desktop has not received as expired. Returns whether it was open.
pub async fn expire(db: &impl ConnectionTrait, id: Uuid, reason: &str) -> Result<bool, DbErr> {
    use desktop_command::Column;
    let update = desktop_command::Entity::update_many()
        .col_expr(Column::Status, Expr::value(StoredEnum(CommandStatus::Expired)))
        .col_expr(Column::Error, Expr::value(reason))
        .col_expr(Column::FinishedAt, Expr::value(now()))
        .filter(Column::Id.eq(id))
        // The condition keeps a terminal status that the desktop may have reported in the meantime.
        .filter(Column::Status.is_in(CommandStatus::OPEN.map(StoredEnum)))
        .exec(db)
        .await?;
    Ok(update.rows_affected == 1)
}

/// Returns the SHA-256 of the canonical JSON of a request, without members that differ between retries of it.
fn fingerprint(request: &LinkCommand) -> Result<String, DbErr> {
    let mut json = serde_json::to_value(request).map_err(json_error)?;
    if let Some(members) = json.as_object_mut() {
        for member in
            ["commandId", "queuedAt", "expiresAt", "signature", "signaturePayload", "publicKeyFingerprint"]
        {
            members.remove(member);
        }
    }
    Ok(hex::encode(Sha256::digest(canonical_json(&json))))
}
