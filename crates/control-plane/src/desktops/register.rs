//! Registration of a desktop: finds its row by gateway id, target id or machine name, or creates one.

use loopgate_api::launch::Harness;
use sea_orm::ActiveValue::Set;
use sea_orm::DatabaseTransaction;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::{Map, Value, json};

use crate::audit::{Actor, AuditAction};
use crate::store::column::StoredEnum;
use crate::store::entity::{compute_target, target_health_check};
use crate::store::{Store, is_duplicate, now};

/// Registration data of a desktop.
#[derive(Debug, Clone)]
pub struct DesktopRegistration {
    /// Organization of the owner.
    pub organization_id: Uuid,
    /// Id of the owner.
    pub user_id: Uuid,
    /// Id from an earlier registration.
    pub target_id: Option<Uuid>,
    /// Stable id of the Loopgate installation, if the key of the connection is bound to it.
    pub gateway_id: Option<Uuid>,
    /// Host name of the machine.
    pub machine_name: String,
    /// Operating system: `darwin`, `linux` or `win32`.
    pub platform: String,
    /// Versions, limits and features; open object.
    pub capabilities: Map<String, Value>,
    /// Ids of the supported gateway operations.
    pub supported_operations: Vec<String>,
}

/// Reason why a desktop could not be registered.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// The owner has another desktop with the same machine name.
    #[error("A compute target with that machine name already exists")]
    NameTaken,
    /// A database query has failed.
    #[error(transparent)]
    Store(DbErr),
}

impl From<DbErr> for RegisterError {
    fn from(error: DbErr) -> Self {
        if is_duplicate(&error) { Self::NameTaken } else { Self::Store(error) }
    }
}

/// Registers a desktop, marks it as online, and returns its row.
pub async fn register(
    store: &Store,
    new: DesktopRegistration,
) -> Result<compute_target::Model, RegisterError> {
    match find_or_insert(store, new.clone()).await {
        // A concurrent registration inserted the gateway id or the name first. The retry finds its row.
        Err(RegisterError::NameTaken) => find_or_insert(store, new).await,
        registered => registered,
    }
}

async fn find_or_insert(
    store: &Store,
    new: DesktopRegistration,
) -> Result<compute_target::Model, RegisterError> {
    let tx = store.begin().await?;
    // The gateway id identifies the installation, so it takes precedence over a changed host name.
    if let Some(gateway) = new.gateway_id {
        let holder = compute_target::Entity::find()
            .filter(compute_target::Column::OrganizationId.eq(new.organization_id))
            .filter(compute_target::Column::UserId.eq(new.user_id))
            .filter(compute_target::Column::GatewayId.eq(gateway))
            .one(&tx)
            .await?;
        if let Some(holder) = holder {
            delete_stale_check(&tx, &holder, &new).await?;
            return finish(tx, update(holder, new)).await;
        }
    }
    let row = find_own(&tx, &new).await?;
    match row {
        Some(row) => {
            delete_stale_check(&tx, &row, &new).await?;
            finish(tx, update(row, new)).await
        }
        None => finish_insert(tx, new).await,
    }
}

/// Deletes the health check when platform, gateway or capabilities have changed: it may no longer apply.
async fn delete_stale_check(
    tx: &DatabaseTransaction,
    row: &compute_target::Model,
    new: &DesktopRegistration,
) -> Result<(), DbErr> {
    let is_same = row.platform == new.platform
        && new.gateway_id.is_none_or(|gateway| row.gateway_id == Some(gateway))
        && row.capabilities == Value::Object(new.capabilities.clone())
        && row.supported_operations == json!(new.supported_operations);
    if !is_same {
        target_health_check::Entity::delete_many()
            .filter(target_health_check::Column::ComputeTargetId.eq(row.id))
            .exec(tx)
            .await?;
    }
    Ok(())
}

async fn find_own(
    tx: &DatabaseTransaction,
    new: &DesktopRegistration,
) -> Result<Option<compute_target::Model>, DbErr> {
    use compute_target::Column;
    let owned = compute_target::Entity::find()
        .filter(Column::OrganizationId.eq(new.organization_id))
        .filter(Column::UserId.eq(new.user_id));
    if let Some(id) = new.target_id
        && let Some(row) = owned.clone().filter(Column::Id.eq(id)).one(tx).await?
    {
        return Ok(Some(row));
    }
    owned.filter(Column::MachineName.eq(&new.machine_name)).one(tx).await
}

fn update(row: compute_target::Model, new: DesktopRegistration) -> compute_target::ActiveModel {
    // A registration without a gateway id must not remove the stored one.
    let gateway_id = new.gateway_id.or(row.gateway_id);
    compute_target::ActiveModel {
        id: Set(row.id),
        machine_name: Set(new.machine_name),
        platform: Set(new.platform),
        gateway_id: Set(gateway_id),
        capabilities: Set(Value::Object(new.capabilities)),
        supported_operations: Set(json!(new.supported_operations)),
        is_online: Set(true),
        last_seen_at: Set(now()),
        updated_at: Set(now()),
        ..Default::default()
    }
}

async fn finish(
    tx: DatabaseTransaction,
    row: compute_target::ActiveModel,
) -> Result<compute_target::Model, RegisterError> {
    let row = compute_target::Entity::update(row).exec(&tx).await?;
    tx.commit().await?;
    Ok(row)
}

async fn finish_insert(
    tx: DatabaseTransaction,
    new: DesktopRegistration,
) -> Result<compute_target::Model, RegisterError> {
    let row = compute_target::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(new.organization_id),
        user_id: Set(new.user_id),
        machine_name: Set(new.machine_name),
        platform: Set(new.platform),
        gateway_id: Set(new.gateway_id),
        capabilities: Set(Value::Object(new.capabilities)),
        supported_operations: Set(json!(new.supported_operations)),
        selected_harness: Set(StoredEnum(Harness::Assistant)),
        is_online: Set(true),
        is_shared_with_org: Set(false),
        grants_commands: Set(false),
        last_seen_at: Set(now()),
        created_at: Set(now()),
        updated_at: Set(now()),
        ..Default::default()
    };
    let row = compute_target::Entity::insert(row).exec_with_returning(&tx).await?;
    let (actor, details) = (Actor::user(row.user_id), json!({"machineName": row.machine_name}));
    actor.record(&tx, row.organization_id, AuditAction::TargetRegistered, row.id, details).await?;
    tx.commit().await?;
    Ok(row)
}

/// Marks a desktop as online or offline. Returns whether the status changed.
pub async fn set_online(store: &Store, id: Uuid, online: bool) -> Result<bool, DbErr> {
    use compute_target::Column;
    let mut update = compute_target::Entity::update_many().filter(Column::Id.eq(id));
    if online {
        update = update.col_expr(Column::LastSeenAt, Expr::value(now()));
    }
    let tx = store.begin().await?;
    let before = compute_target::Entity::find_by_id(id).one(&tx).await?;
    update.col_expr(Column::IsOnline, Expr::value(online)).exec(&tx).await?;
    tx.commit().await?;
    Ok(before.is_some_and(|row| row.is_online != online))
}
