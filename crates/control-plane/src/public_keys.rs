//! Browser keys, which sign commands. A desktop does not trust them by registration alone: its user must
//! authorize each key there.

use loopgate_api::link::{BrowserPublicKey, Fingerprint, LinkCommand, REQUEST_KEY_APPROVAL, REVOKE_KEY};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::{Condition, ConnectionTrait, QueryOrder};
use serde_json::json;

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::Caller;
use crate::dispatch::command::{self, NewCommand};
use crate::dispatch::target::accessible;
use crate::error::ApiResult;
use crate::store::entity::{compute_target, user, user_public_key};
use crate::store::{is_duplicate, now};

// How long a notification waits for an offline desktop. Afterwards it is not needed: a desktop fetches the
// list of keys when it connects.
const EXPIRES_AFTER: std::time::Duration = std::time::Duration::from_secs(15 * 60);

/// A change of a browser key that desktops are notified about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyChange {
    /// The key was registered and requests authorization.
    Registered,
    /// The key was removed and must no longer be accepted.
    Removed,
}

/// Registers a key for the caller. Returns the existing row when the key is already registered.
pub async fn register(
    app: &ControlPlaneState,
    caller: &Caller,
    key: &BrowserPublicKey,
) -> ApiResult<user_public_key::Model> {
    let fingerprint = key.fingerprint();
    if let Some(row) = of_user(app.store.writer(), caller.user.id, &fingerprint).await? {
        return Ok(row);
    }
    let tx = app.store.begin().await?;
    let row = user_public_key::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(caller.organization_id()),
        user_id: Set(caller.user.id),
        public_key: Set(key.to_string()),
        fingerprint: Set(fingerprint.to_string()),
        created_at: Set(now()),
    };
    let row = match user_public_key::Entity::insert(row).exec_with_returning(&tx).await {
        Err(error) if is_duplicate(&error) => {
            // A concurrent request registered the same key. PostgreSQL has aborted the transaction, so end it
            // before reading.
            drop(tx);
            let row = of_user(app.store.writer(), caller.user.id, &fingerprint).await?;
            return row.ok_or_else(|| error.into());
        }
        other => other?,
    };
    let action = AuditAction::BrowserKeyRegistered;
    caller.actor().record(&tx, caller.organization_id(), action, &fingerprint, json!({})).await?;
    tx.commit().await?;
    Ok(row)
}

/// Removes a key of the caller. Returns `None` when there is no such key.
pub async fn remove(
    app: &ControlPlaneState,
    caller: &Caller,
    fingerprint: &Fingerprint,
) -> ApiResult<Option<user_public_key::Model>> {
    let tx = app.store.begin().await?;
    let Some(row) = of_user(&tx, caller.user.id, fingerprint).await? else { return Ok(None) };
    user_public_key::Entity::delete_by_id(row.id).exec(&tx).await?;
    let action = AuditAction::BrowserKeyRemoved;
    caller.actor().record(&tx, caller.organization_id(), action, fingerprint, json!({})).await?;
    tx.commit().await?;
    Ok(Some(row))
}

/// Finds a key of a user by its fingerprint.
pub async fn of_user(
    db: &impl ConnectionTrait,
    user_id: Uuid,
    fingerprint: &Fingerprint,
) -> Result<Option<user_public_key::Model>, DbErr> {
    user_public_key::Entity::find()
        .filter(user_public_key::Column::UserId.eq(user_id))
        .filter(user_public_key::Column::Fingerprint.eq(fingerprint.as_str()))
        .one(db)
        .await
}

/// Lists the caller's keys with their owner, oldest first. With a shared desktop, includes the keys of all
/// members of the organization, who may send commands to it. Keys of inactive users are omitted.
pub async fn list(
    db: &impl ConnectionTrait,
    caller: &Caller,
    target: Option<&compute_target::Model>,
) -> Result<Vec<(user_public_key::Model, user::Model)>, DbErr> {
    let mut filter = Condition::any().add(user_public_key::Column::UserId.eq(caller.user.id));
    if target.is_some_and(|target| target.is_shared_with_org) {
        filter = filter.add(user_public_key::Column::OrganizationId.eq(caller.organization_id()));
    }
    let keys = user_public_key::Entity::find()
        .filter(filter)
        .order_by_asc(user_public_key::Column::CreatedAt)
        .order_by_asc(user_public_key::Column::Id)
        .all(db)
        .await?;
    let owners = user::Entity::find()
        .filter(user::Column::Id.is_in(keys.iter().map(|key| key.user_id)))
        .filter(user::Column::Active.eq(true))
        .all(db)
        .await?;
    let owner = |key: &user_public_key::Model| owners.iter().find(|owner| owner.id == key.user_id).cloned();
    Ok(keys.into_iter().filter_map(|key| Some((key.clone(), owner(&key)?))).collect())
}

/// Notifies the connected desktops that the caller can access of a changed key. Runs in the background:
/// registration does not wait for desktops.
pub fn notify_desktops(
    app: &ControlPlaneState,
    caller: &Caller,
    key: &user_public_key::Model,
    change: KeyChange,
) {
    let (task, caller, key) = (app.clone(), caller.clone(), key.clone());
    app.tasks.spawn(async move {
        if let Err(error) = notify(&task, &caller, &key, change).await {
            tracing::warn!(fingerprint = key.fingerprint, error = %error.body.error, "could not notify desktops of a browser key");
        }
    });
}

async fn notify(
    app: &ControlPlaneState,
    caller: &Caller,
    key: &user_public_key::Model,
    change: KeyChange,
) -> ApiResult<()> {
    let operation = match change {
        KeyChange::Registered => REQUEST_KEY_APPROVAL,
        KeyChange::Removed => REVOKE_KEY,
    };
    let targets = accessible(caller).all(app.store.reader()).await?;
    for target in targets.into_iter().filter(|target| app.desktops.is_connected(target.id)) {
        let body = json!({
            "publicKeyId": key.id,
            "userId": key.user_id,
            "fingerprint": key.fingerprint,
            "computeTargetId": target.id,
            "gatewayId": target.gateway_id,
        });
        let command = NewCommand {
            organization_id: target.organization_id,
            user_id: caller.user.id,
            target_id: target.id,
            loop_id: None,
            expires_after: Some(EXPIRES_AFTER),
            idempotency_key: None,
            actor: None,
            signature: None,
            request: LinkCommand {
                operation_id: operation.operation_id.to_owned(),
                method: "POST".to_owned(),
                path: operation.path.to_owned(),
                body: Some(body),
                ..LinkCommand::default()
            },
        };
        // Persisted first, so that a desktop that reconnects in time still receives it.
        let stored_command = command::store(app, command).await?;
        if command::deliver(app, &stored_command.row, None).is_err() {
            tracing::info!(target_id = %target.id, "desktop disconnected; it fetches the key list on reconnect");
        }
    }
    Ok(())
}
