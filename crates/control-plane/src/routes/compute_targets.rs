//! Compute targets: the desktops that run loops.

use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event;
use http::StatusCode;
use loopgate_api::launch::Harness;
use loopgate_api::link::ServerCapabilities;
use sea_orm::QueryOrder;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Condition, Expr};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::stream::{self, EventBatch, EventReader};
use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::{Caller, UserAuth};
use crate::bus::Topic;
use crate::credentials::api_key::revoke_managed;
use crate::desktops::register::{self, DesktopRegistration, RegisterError};
use crate::dispatch::command;
use crate::dispatch::target::{accessible, find_own};
use crate::envelope::{Data, DeleteResponse};
use crate::error::{ApiError, ApiResult, ErrorResponses, ResultExt, ValidationIssues, bad_request, conflict};
use crate::extract::{Body, Id};
use crate::store::column::StoredEnum;
use crate::store::entity::{api_key, compute_target, desktop_command, user};
use crate::store::parse_json;
use crate::store::{is_duplicate, iso, now};

/// Authentication strength of a desktop.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetSecurity {
    /// `protected` with a bound key, `legacy_manual` otherwise.
    pub status: &'static str,
    /// Reason of the status: `BOUND_DESKTOP_MANAGED_KEY`, `NO_BOUND_MANAGED_KEY` or `MISSING_GATEWAY_ID`.
    pub reason: &'static str,
    /// Whether the control plane can upgrade the desktop; always `false`.
    pub upgrade_supported: bool,
}

/// A desktop as its users see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComputeTarget {
    /// Id of the desktop.
    pub id: Uuid,
    /// Organization of the desktop.
    pub organization_id: Uuid,
    /// Id of the owner.
    pub user_id: Uuid,
    /// Host name of the machine; `name (2)` for the second desktop of the owner with that name.
    pub machine_name: String,
    /// Operating system: `darwin`, `linux` or `win32`.
    pub platform: String,
    /// Stable id of the Loopgate installation; absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_id: Option<Uuid>,
    /// Open object: versions, limits and features of the desktop, and `gatewayPort`, the loopback port of its
    /// gateway for pages on the same machine.
    #[schema(value_type = HashMap<String, Value>)]
    pub capabilities: Value,
    /// Ids of the supported gateway operations.
    pub supported_operations: Vec<String>,
    /// Time of the last message from the desktop, ISO 8601.
    pub last_seen_at: String,
    /// Creation time, ISO 8601.
    pub created_at: String,
    /// Time of the last change, ISO 8601.
    pub updated_at: String,
    /// Whether the desktop is connected.
    pub is_online: bool,
    /// Whether all members of the organization can run loops on it.
    pub is_shared_with_org: bool,
    /// Whether members can also send commands to it, such as reading changes and switching branches.
    pub grants_commands: bool,
    /// Name of the owner; present only for desktops of other users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_name: Option<String>,
    /// Harness that runs its loops.
    pub selected_harness: Harness,
    /// State that the desktop reported: `online`, `degraded` or `paused`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Number of running commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_commands: Option<i64>,
    /// Number of queued commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<i64>,
    /// Authentication strength of the desktop.
    pub security: TargetSecurity,
    /// Features that the control plane offers to this desktop.
    #[serde(skip_serializing_if = "ServerCapabilities::is_empty")]
    pub server_capabilities: ServerCapabilities,
}

/// Builds the views of desktops for a caller.
async fn views(
    app: &ControlPlaneState,
    caller: &Caller,
    rows: Vec<compute_target::Model>,
) -> Result<Vec<ComputeTarget>, DbErr> {
    let db = app.store.reader();
    let owners = user::Entity::find()
        .filter(user::Column::Id.is_in(rows.iter().map(|row| row.user_id)))
        .all(db)
        .await?;
    let bound = api_key::Entity::find()
        .filter(api_key::Column::GatewayId.is_in(rows.iter().filter_map(|row| row.gateway_id)))
        .filter(api_key::Column::BoundPublicKey.is_not_null())
        .filter(api_key::Column::RevokedAt.is_null())
        .all(db)
        .await?;
    let view = |row: compute_target::Model| {
        let owner = owners.iter().find(|owner| owner.id == row.user_id && owner.id != caller.user.id);
        let protected =
            bound.iter().any(|key| key.gateway_id == row.gateway_id && key.user_id == row.user_id);
        target_view(row, owner.map(user::Model::full_name), protected)
    };
    Ok(rows.into_iter().map(view).collect())
}

fn target_view(row: compute_target::Model, owner_name: Option<String>, protected: bool) -> ComputeTarget {
    let (status, reason) = match (row.gateway_id, protected) {
        (None, _) => ("legacy_manual", "MISSING_GATEWAY_ID"),
        (Some(_), false) => ("legacy_manual", "NO_BOUND_MANAGED_KEY"),
        (Some(_), true) => ("protected", "BOUND_DESKTOP_MANAGED_KEY"),
    };
    ComputeTarget {
        id: row.id,
        organization_id: row.organization_id,
        user_id: row.user_id,
        machine_name: row.machine_name,
        platform: row.platform,
        gateway_id: row.gateway_id,
        capabilities: row.capabilities,
        supported_operations: parse_json(Some(&row.supported_operations)).unwrap_or_default(),
        last_seen_at: iso(row.last_seen_at),
        created_at: iso(row.created_at),
        updated_at: iso(row.updated_at),
        is_online: row.is_online,
        is_shared_with_org: row.is_shared_with_org,
        grants_commands: row.grants_commands,
        owner_name,
        selected_harness: row.selected_harness.0,
        state: row.state,
        active_commands: row.active_commands,
        queue_depth: row.queue_depth,
        security: TargetSecurity { status, reason, upgrade_supported: false },
        server_capabilities: ServerCapabilities {
            compute_target_signing: protected,
            agent_session_sync: false,
        },
    }
}

/// Lists the caller's desktops and those shared with the organization: connected ones first, then by time of
/// change.
#[utoipa::path(get, path = "/compute-targets", tag = "compute-targets",
    responses((status = 200, body = Data<Vec<ComputeTarget>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
) -> ApiResult<Data<Vec<ComputeTarget>>> {
    let read = async {
        let rows = accessible(&caller)
            .order_by_desc(compute_target::Column::IsOnline)
            .order_by_desc(compute_target::Column::UpdatedAt)
            .all(app.store.reader())
            .await?;
        Ok(views(&app, &caller, rows).await?)
    };
    read.await.context("Failed to fetch compute targets").map(Data::new)
}

/// Description of a desktop by itself.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterTarget {
    /// Host name, 1 to 120 characters.
    pub machine_name: String,
    /// Operating system, 1 to 80 characters.
    pub platform: String,
    /// Ids of the supported gateway operations.
    pub supported_operations: Vec<String>,
    /// Versions, limits and features; open object.
    #[serde(default)]
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub capabilities: Option<Map<String, Value>>,
    /// Version of the plugins, at most 120 characters; stored in `capabilities`.
    pub plugin_version: Option<String>,
    /// Stable id of the Loopgate installation; distinguishes machines with the same host name. It is displayed
    /// only if the API key is bound to it.
    pub gateway_id: Option<Uuid>,
}

/// Result of registering a desktop.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RegisteredTarget)]
pub struct RegisterTargetResponse {
    /// Id of the desktop.
    pub id: Uuid,
    /// Host name of the machine.
    pub machine_name: String,
    /// Always `true` after a registration.
    pub is_online: bool,
}

/// Registers a desktop that does not use the link. Desktops with a link are registered by their `hello`
/// frame. Returns 409 with `too_many_desktops` when the caller has 100 others.
#[utoipa::path(post, path = "/compute-targets/register", tag = "compute-targets", request_body = RegisterTarget,
    responses((status = 200, body = Data<RegisterTargetResponse>), ErrorResponses))]
pub async fn register(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Body(body): Body<RegisterTarget>,
) -> ApiResult<Data<RegisterTargetResponse>> {
    let mut issues = ValidationIssues::default();
    check_names(&mut issues, Some(&body.machine_name), Some(&body.platform));
    issues.length("pluginVersion", body.plugin_version.as_deref().unwrap_or_default(), 0, 120);
    issues.into_result()?;
    let mut capabilities = body.capabilities.unwrap_or_default();
    if let Some(version) = body.plugin_version {
        capabilities.insert("pluginVersion".to_owned(), version.into());
    }
    let registration = DesktopRegistration {
        organization_id: caller.organization_id(),
        user_id: caller.user.id,
        target_id: None,
        gateway_id: bound_gateway(&caller).filter(|bound| body.gateway_id == Some(*bound)),
        claimed_gateway_id: body.gateway_id,
        machine_name: body.machine_name,
        platform: body.platform,
        capabilities: Value::Object(capabilities),
        supported_operations: body.supported_operations,
    };
    let row = match register::register(&app.store, &registration).await {
        Ok(row) => row,
        Err(error @ RegisterError::Concurrent) => return Err(conflict(error.to_string())),
        Err(error @ RegisterError::TooMany) => {
            return Err(conflict(error.to_string()).code("too_many_desktops"));
        }
        Err(RegisterError::Store(error)) => Err(error.into()).context("Failed to register compute target")?,
    };
    app.bus.publish(Topic::Organization(row.organization_id));
    Ok(Data::new(RegisterTargetResponse { id: row.id, machine_name: row.machine_name, is_online: true }))
}

/// Returns the gateway id that the caller's key is bound to. Any other gateway id is only a claim.
fn bound_gateway(caller: &Caller) -> Option<Uuid> {
    caller.key.as_ref().and_then(api_key::Model::bound_gateway)
}

/// Changes to a desktop; at least one member is required.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateTarget {
    /// Host name, 1 to 120 characters.
    pub machine_name: Option<String>,
    /// Operating system, 1 to 80 characters.
    pub platform: Option<String>,
    /// Versions, limits and features; open object.
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub capabilities: Option<Map<String, Value>>,
    /// Ids of the supported gateway operations.
    pub supported_operations: Option<Vec<String>>,
    /// Stable id of the Loopgate installation.
    pub gateway_id: Option<Uuid>,
    /// Harness that runs its loops.
    pub selected_harness: Option<Harness>,
}

fn check_names(issues: &mut ValidationIssues, machine_name: Option<&str>, platform: Option<&str>) {
    for (field, text, most) in [("machineName", machine_name, 120), ("platform", platform, 80)] {
        if let Some(text) = text {
            issues.length(field, text, 1, most);
        }
    }
}

/// Changes a desktop of the caller.
#[utoipa::path(put, path = "/compute-targets/{id}", tag = "compute-targets", params(("id" = Uuid, Path)), request_body = UpdateTarget,
    responses((status = 200, body = Data<ComputeTarget>), ErrorResponses))]
pub async fn update(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
    Body(body): Body<UpdateTarget>,
) -> ApiResult<Data<ComputeTarget>> {
    use compute_target::Column;
    let details = serde_json::to_value(&body)?;
    if body == UpdateTarget::default() {
        return Err(bad_request("At least one field must be provided"));
    }
    let mut issues = ValidationIssues::default();
    check_names(&mut issues, body.machine_name.as_deref(), body.platform.as_deref());
    issues.into_result()?;
    let row = find_own(&app.store, &caller, id.or_unknown("Compute target")?).await?;
    let mut update = compute_target::Entity::update_many()
        .col_expr(Column::UpdatedAt, Expr::value(now()))
        .filter(Column::Id.eq(row.id));
    for (column, text) in [(Column::MachineName, body.machine_name), (Column::Platform, body.platform)] {
        if let Some(text) = text {
            update = update.col_expr(column, Expr::value(text));
        }
    }
    if let Some(capabilities) = body.capabilities {
        update = update.col_expr(Column::Capabilities, Expr::value(Value::Object(capabilities)));
    }
    if let Some(operations) = body.supported_operations {
        update = update.col_expr(Column::SupportedOperations, Expr::value(json!(operations)));
    }
    if let Some(gateway) = body.gateway_id {
        if bound_gateway(&caller) != Some(gateway) {
            return Err(ApiError::new(StatusCode::FORBIDDEN, "The API key is not bound to this gateway id")
                .code("gateway_not_bound"));
        }
        update = update.col_expr(Column::GatewayId, Expr::value(gateway));
    }
    if let Some(harness) = body.selected_harness {
        update = update.col_expr(Column::SelectedHarness, Expr::value(StoredEnum(harness)));
    }
    let tx = app.store.begin().await?;
    match update.exec(&tx).await {
        Err(error) if is_duplicate(&error) && body.gateway_id.is_some() => {
            return Err(conflict("That Desktop gateway is already registered to another compute target"));
        }
        Err(error) if is_duplicate(&error) => {
            return Err(conflict("A compute target with that machine name already exists"));
        }
        other => other.map_err(Into::into).context("Failed to update compute target")?,
    };
    let organization = caller.organization_id();
    caller.actor().record(&tx, organization, AuditAction::TargetUpdated, row.id, details).await?;
    tx.commit().await?;
    view_of(&app, &caller, row.id).await.context("Failed to update compute target").map(Data::new)
}

async fn view_of(app: &ControlPlaneState, caller: &Caller, id: Uuid) -> ApiResult<ComputeTarget> {
    let row = find_own(&app.store, caller, id).await?;
    let mut targets = views(app, caller, vec![row]).await?;
    targets.pop().ok_or_else(|| crate::error::not_found("Compute target"))
}

/// Removes a desktop of the caller, revokes its bound API key, and closes its connection. Its loops are kept.
#[utoipa::path(delete, path = "/compute-targets/{id}", tag = "compute-targets", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<DeleteResponse>), ErrorResponses))]
pub async fn delete(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
) -> ApiResult<Data<DeleteResponse>> {
    let row = find_own(&app.store, &caller, id.or_unknown("Compute target")?).await?;
    let deleted = async {
        let tx = app.store.begin().await?;
        compute_target::Entity::delete_by_id(row.id).exec(&tx).await?;
        if let Some(gateway_id) = row.gateway_id {
            revoke_managed(&tx, row.organization_id, row.user_id, gateway_id).await?;
        }
        let details = json!({"machineName": row.machine_name});
        let organization = caller.organization_id();
        caller.actor().record(&tx, organization, AuditAction::TargetRemoved, row.id, details).await?;
        Ok(tx.commit().await?)
    };
    deleted.await.context("Failed to delete compute target")?;
    // Closed after the commit: the desktop reconnects immediately, and must then be rejected.
    app.desktops.close_target(row.id);
    app.bus.publish(Topic::Desktop(row.id));
    app.bus.publish(Topic::Credentials);
    app.bus.publish(Topic::Organization(row.organization_id));
    Ok(DeleteResponse::answer())
}

/// Response to a desktop's heartbeat.
#[derive(Debug, Serialize, ToSchema)]
pub struct HeartbeatResponse {
    /// Always `true`; failures have an error status.
    pub ok: bool,
}

/// Marks a desktop of the caller as online. For desktops without a link.
#[utoipa::path(post, path = "/compute-targets/{id}/heartbeat", tag = "compute-targets", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<HeartbeatResponse>), ErrorResponses))]
pub async fn heartbeat(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
) -> ApiResult<Data<HeartbeatResponse>> {
    let row = find_own(&app.store, &caller, id.or_unknown("Compute target")?).await?;
    if register::set_online(&app.store, row.id, true).await? {
        app.bus.publish(Topic::Organization(row.organization_id));
    }
    Ok(Data::new(HeartbeatResponse { ok: true }))
}

/// Request to share a desktop or to stop sharing it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShareTarget {
    /// Whether all members of the organization can run loops on it.
    pub is_shared_with_org: bool,
    /// Whether members can also send commands to it; `false` when absent. Requires `isSharedWithOrg`.
    #[serde(default)]
    pub grants_commands: bool,
}

/// Sharing of a desktop.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharedTarget {
    /// Id of the desktop.
    pub id: Uuid,
    /// Whether all members of the organization can run loops on it.
    pub is_shared_with_org: bool,
    /// Whether members can also send commands to it.
    pub grants_commands: bool,
}

/// Shares a desktop of the caller with the organization, or stops sharing it.
#[utoipa::path(patch, path = "/compute-targets/{id}/sharing", tag = "compute-targets", params(("id" = Uuid, Path)), request_body = ShareTarget,
    responses((status = 200, body = Data<SharedTarget>), ErrorResponses))]
pub async fn share(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    id: Id,
    Body(body): Body<ShareTarget>,
) -> ApiResult<Data<SharedTarget>> {
    use compute_target::Column;
    let ShareTarget { is_shared_with_org, grants_commands } = body;
    let row = find_own(&app.store, &caller, id.or_unknown("Compute target")?).await?;
    if grants_commands && !is_shared_with_org {
        return Err(bad_request("grantsCommands requires isSharedWithOrg"));
    }
    let tx = app.store.begin().await?;
    compute_target::Entity::update_many()
        .col_expr(Column::IsSharedWithOrg, Expr::value(is_shared_with_org))
        .col_expr(Column::GrantsCommands, Expr::value(grants_commands))
        .filter(Column::Id.eq(row.id))
        .exec(&tx)
        .await?;
    if !grants_commands {
        use desktop_command::Column;
        let of_others =
            Condition::all().add(Column::ComputeTargetId.eq(row.id)).add(Column::UserId.ne(row.user_id));
        command::withdraw(&tx, of_others).await?;
    }
    let details = json!({"isSharedWithOrg": is_shared_with_org, "grantsCommands": grants_commands});
    let organization = caller.organization_id();
    caller.actor().record(&tx, organization, AuditAction::TargetSharingChanged, row.id, details).await?;
    tx.commit().await?;
    app.bus.publish(Topic::Organization(row.organization_id));
    Ok(Data::new(SharedTarget { id: row.id, is_shared_with_org, grants_commands }))
}

/// Streams the online status of desktops as server-sent events `{"targetId", "isOnline"}`: the current status
/// of each desktop first, then every change.
#[utoipa::path(get, path = "/compute-targets/status-stream", tag = "compute-targets",
    responses((status = 200, body = String, content_type = "text/event-stream")))]
pub async fn status_stream(State(app): State<ControlPlaneState>, caller: ApiResult<UserAuth>) -> Response {
    match caller {
        Ok(UserAuth(caller)) => {
            let wake = app.bus.subscribe(Topic::Organization(caller.organization_id()));
            let source =
                TargetSource { app: app.clone(), caller: caller.clone(), last_status: HashMap::new() };
            stream::follow(&app, caller, wake, source, 0)
        }
        Err(error) if error.status == StatusCode::INTERNAL_SERVER_ERROR => {
            stream::plain(&crate::error::ApiError::new(error.status, "Failed to load initial status"))
        }
        Err(error) => stream::plain(&error),
    }
}

struct TargetSource {
    app: ControlPlaneState,
    caller: Caller,
    last_status: HashMap<Uuid, bool>,
}

impl EventReader for TargetSource {
    async fn read(&mut self, after: i64) -> Result<EventBatch, DbErr> {
        let rows = accessible(&self.caller).all(self.app.store.reader()).await?;
        // Status changes have no event table: they are derived from the last status sent on this stream.
        let mut events = Vec::new();
        for row in rows {
            if self.last_status.insert(row.id, row.is_online) != Some(row.is_online) {
                let change = json!({"targetId": row.id, "isOnline": row.is_online});
                events.push(Event::default().data(change.to_string()));
            }
        }
        Ok(EventBatch { events, position: after, ended: false })
    }
}
