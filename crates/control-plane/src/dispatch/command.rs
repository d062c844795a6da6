//! The table of commands: a request for a desktop's gateway, kept until its end is known.

use std::time::Duration;

use loopgate_api::link::{Cancel, LinkCommand, canonical_json};
use loopgate_api::operation::OperationId;
use loopgate_link::server::SendError;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sha2::{Digest, Sha256};

use crate::app::ControlPlaneState;
use crate::error::{ApiResult, conflict, too_many_commands};
use crate::store::column::StoredEnum;
use crate::store::entity::desktop_command::{self, CommandStatus};
use crate::store::{is_duplicate, iso, now};

/// Commands of one desktop that may wait or run, as many as a desktop queues.
const MAX_OPEN_COMMANDS: u64 = 500;

/// A signature as it goes along with a command.
#[derive(Debug, Clone)]
pub struct CommandSignature {
    /// The command's id, which the browser chose and signed.
    pub command_id: Uuid,
    /// Ed25519, standard base64.
    pub signature: String,
    /// The exact text that was signed.
    pub payload: String,
    /// Names the key.
    pub fingerprint: String,
}

/// A command about to be made.
#[derive(Debug, Clone)]
pub struct NewCommand {
    /// Organization of the desktop.
    pub organization_id: Uuid,
    /// Who asks.
    pub user_id: Uuid,
    /// The desktop.
    pub target_id: Uuid,
    /// The loop that it launches or kills.
    pub loop_id: Option<Uuid>,
    /// How long the desktop may be away: one that comes back later refuses the command. None for what must
    /// happen however late.
    pub expires_after: Option<Duration>,
    /// Makes repeated requests one command.
    pub idempotency_key: Option<String>,
    /// The signature of a browser key. It is not stored, so a signed command reaches its desktop at once or never.
    pub signature: Option<CommandSignature>,
    /// The request; its id is set here.
    pub request: LinkCommand,
}

/// A command that is in the table.
#[derive(Debug, Clone)]
pub struct StoredCommand {
    /// Its row.
    pub row: desktop_command::Model,
    /// Whether it was there before.
    pub deduplicated: bool,
}

/// Puts a command into the table. The operation id is that of the path when the path is known.
pub async fn store(app: &ControlPlaneState, new: NewCommand) -> ApiResult<StoredCommand> {
    let mut request = new.request;
    if let Some(operation) = OperationId::of_path(&request.path) {
        operation.as_str().clone_into(&mut request.operation_id);
    }
    let fingerprint = fingerprint(&request)?;
    let key = new.idempotency_key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
    if let Some(key) = &key
        && let Some(row) = by_key(app, new.target_id, key).await?
    {
        return deduplicated(row, &fingerprint);
    }
    if new.expires_after.is_some() && open_commands(app, new.target_id).await? >= MAX_OPEN_COMMANDS {
        return Err(too_many_commands());
    }
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
        request_payload: Set(serde_json::to_value(&request)?),
        request_fingerprint: Set(fingerprint.clone()),
        idempotency_key: Set(key.clone()),
        loop_id: Set(new.loop_id),
        last_sequence_acked: Set(0),
        created_at: Set(created_at),
        ..Default::default()
    };
    match desktop_command::Entity::insert(row).exec_with_returning(app.store.writer()).await {
        Ok(row) => Ok(StoredCommand { row, deduplicated: false }),
        Err(error) if is_duplicate(&error) => {
            let key = key.unwrap_or_default();
            match by_key(app, new.target_id, &key).await? {
                Some(row) => deduplicated(row, &fingerprint),
                None if chosen.is_some() => {
                    Err(conflict("Command ID already exists").code("command_id_exists"))
                }
                None => Err(error.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

async fn open_commands(app: &ControlPlaneState, target_id: Uuid) -> Result<u64, DbErr> {
    desktop_command::Entity::find()
        .filter(desktop_command::Column::ComputeTargetId.eq(target_id))
        .filter(desktop_command::Column::Status.is_in(CommandStatus::OPEN.map(StoredEnum)))
        .count(app.store.reader())
        .await
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

async fn by_key(
    app: &ControlPlaneState,
    target_id: Uuid,
    key: &str,
) -> Result<Option<desktop_command::Model>, DbErr> {
    desktop_command::Entity::find()
        .filter(desktop_command::Column::ComputeTargetId.eq(target_id))
        .filter(desktop_command::Column::IdempotencyKey.eq(key))
        .one(app.store.writer())
        .await
}

fn deduplicated(row: desktop_command::Model, fingerprint: &str) -> ApiResult<StoredCommand> {
    if row.request_fingerprint == fingerprint {
        return Ok(StoredCommand { row, deduplicated: true });
    }
    Err(conflict("Idempotency key collision with different payload").code("idempotency_key_collision"))
}

/// The command that launched a loop; one that its desktop never took does not count.
pub async fn launch_command(
    app: &ControlPlaneState,
    loop_id: Uuid,
) -> Result<Option<desktop_command::Model>, DbErr> {
    desktop_command::Entity::find()
        .filter(desktop_command::Column::LoopId.eq(loop_id))
        .filter(desktop_command::Column::Status.ne(StoredEnum(CommandStatus::Expired)))
        .one(app.store.reader())
        .await
}

/// Hands a stored command to its desktop, when that is connected.
pub fn deliver(
    app: &ControlPlaneState,
    row: &desktop_command::Model,
    signature: Option<CommandSignature>,
) -> Result<(), SendError> {
    let mut request: LinkCommand = serde_json::from_value(row.request_payload.clone()).unwrap_or_default();
    if let Some(CommandSignature { signature, payload, fingerprint, .. }) = signature {
        request.signature = Some(signature);
        request.signature_payload = Some(payload);
        request.public_key_fingerprint = Some(fingerprint);
    }
    app.desktops.deliver(row.compute_target_id, &request)
}

/// Why a command was given up that could not be handed over at once, as its record says it.
pub fn undelivered(reason: SendError, is_signed: bool) -> String {
    if is_signed { format!("signed_command_delivery_failed:{reason}") } else { reason.to_string() }
}

/// Asks a desktop to end a command. The wish is stored, and sent again with each hello until the
/// command's last event is here. Answers where the command stands.
pub async fn cancel(app: &ControlPlaneState, row: &desktop_command::Model) -> Result<CommandStatus, DbErr> {
    use desktop_command::Column;
    let wanted = desktop_command::Entity::update_many()
        .col_expr(Column::CancelRequestedAt, Expr::value(now()))
        .filter(Column::Id.eq(row.id))
        .filter(Column::Status.is_in(CommandStatus::OPEN.map(StoredEnum)))
        .exec(app.store.writer())
        .await?;
    let cancel = Cancel { command_id: row.id.to_string(), reason: None };
    if wanted.rows_affected == 1 && app.desktops.cancel(row.compute_target_id, &cancel).is_err() {
        tracing::info!(command_id = %row.id, "desktop is not connected; the cancellation waits for it");
    }
    let row = desktop_command::Entity::find_by_id(row.id).one(app.store.writer()).await?;
    Ok(row.map_or(CommandStatus::Cancelled, |row| row.status.0))
}

/// Gives a command up that its desktop has not taken.
pub async fn expire(app: &ControlPlaneState, id: Uuid, reason: &str) -> Result<(), DbErr> {
    use desktop_command::Column;
    desktop_command::Entity::update_many()
        .col_expr(Column::Status, Expr::value(StoredEnum(CommandStatus::Expired)))
        .col_expr(Column::Error, Expr::value(reason))
        .col_expr(Column::FinishedAt, Expr::value(now()))
        .filter(Column::Id.eq(id))
        .filter(Column::Status.is_in(CommandStatus::OPEN.map(StoredEnum)))
        .exec(app.store.writer())
        .await?;
    Ok(())
}

/// SHA-256 of the canonical JSON of a request without what identifies or signs it.
fn fingerprint(request: &LinkCommand) -> ApiResult<String> {
    let mut json = serde_json::to_value(request)?;
    if let Some(members) = json.as_object_mut() {
        for own in
            ["commandId", "queuedAt", "expiresAt", "signature", "signaturePayload", "publicKeyFingerprint"]
        {
            members.remove(own);
        }
    }
    Ok(hex::encode(Sha256::digest(canonical_json(&json))))
}
