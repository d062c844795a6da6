//! Browser keys, which sign commands for desktops.

use axum::extract::{RawQuery, State};
use ed25519_dalek::VerifyingKey;
use loopgate_api::link::{BrowserPublicKey, Fingerprint, InvalidBrowserKey};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::app::ControlPlaneState;
use crate::auth::{SessionAuth, UserAuth};
use crate::dispatch::target::find_own;
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, ResultExt, bad_request, not_found};
use crate::extract::{Body, Query};
use crate::public_keys::{self, KeyChange};
use crate::store::entity::{compute_target, user, user_public_key};
use crate::store::iso;

/// A registered browser key.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicKeyRecord {
    /// Id of the key.
    pub id: Uuid,
    /// Id of the owner.
    pub user_id: Uuid,
    /// Organization of the owner.
    pub organization_id: Uuid,
    /// Raw Ed25519 public key, standard base64.
    pub public_key_base64: String,
    /// Fingerprint: `lg:` followed by 22 characters.
    pub fingerprint: String,
    /// Registration time, ISO 8601.
    pub created_at: String,
}

impl From<user_public_key::Model> for PublicKeyRecord {
    fn from(row: user_public_key::Model) -> Self {
        Self {
            id: row.id,
            user_id: row.user_id,
            organization_id: row.organization_id,
            public_key_base64: row.public_key,
            fingerprint: row.fingerprint,
            created_at: iso(row.created_at),
        }
    }
}

/// Desktop that the list was requested for.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyTargetContext {
    /// Id of the desktop.
    pub compute_target_id: Uuid,
    /// Stable id of the Loopgate installation; absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_id: Option<Uuid>,
    /// Always `owned_target`; only owners can list.
    pub access: &'static str,
}

/// A browser key with its owner.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedPublicKey {
    /// The key and its fingerprint.
    #[serde(flatten)]
    pub record: PublicKeyRecord,
    /// Full name of the owner.
    pub owner_name: String,
    /// E-mail address of the owner.
    pub owner_email: String,
    /// Desktop that the list was requested for; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_context: Option<KeyTargetContext>,
}

/// Selects a desktop; each parameter may occur once.
#[derive(Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct PublicKeyQuery {
    /// Id of a desktop that the caller owns.
    #[param(required = false)]
    pub compute_target_id: Option<Uuid>,
    /// Expected installation id of that desktop; only together with `computeTargetId`.
    #[param(required = false)]
    pub gateway_id: Option<Uuid>,
}

impl PublicKeyQuery {
    fn of(query: Option<&str>) -> ApiResult<Self> {
        let malformed = || bad_request("Malformed public key target query");
        let mut parsed = Self::default();
        // Parsed by hand, because repeated parameters must be rejected with the same error as malformed ones.
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let member = match name.as_ref() {
                "computeTargetId" => &mut parsed.compute_target_id,
                "gatewayId" => &mut parsed.gateway_id,
                _ => continue,
            };
            let id = Uuid::try_parse(&value).map_err(|_| malformed())?;
            if member.replace(id).is_some() {
                return Err(malformed());
            }
        }
        if parsed.gateway_id.is_some() && parsed.compute_target_id.is_none() {
            return Err(malformed());
        }
        Ok(parsed)
    }
}

/// Lists the browser keys of the caller, or, for a desktop of the caller, of all users who may send commands
/// to it.
#[utoipa::path(get, path = "/public-keys", tag = "public-keys", params(PublicKeyQuery),
    responses((status = 200, body = Data<Vec<ListedPublicKey>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    RawQuery(query): RawQuery,
) -> ApiResult<Data<Vec<ListedPublicKey>>> {
    let query = PublicKeyQuery::of(query.as_deref())?;
    let read = async {
        let target = match query.compute_target_id {
            Some(id) => Some(find_own(&app.store, &caller, id).await?),
            None => None,
        };
        let is_other = |target: &compute_target::Model| {
            query.gateway_id.is_some() && target.gateway_id != query.gateway_id
        };
        if target.as_ref().is_some_and(is_other) {
            return Err(not_found("Compute target"));
        }
        let rows = public_keys::list(app.store.reader(), &caller, target.as_ref()).await?;
        let context = target.map(|target| KeyTargetContext {
            compute_target_id: target.id,
            gateway_id: target.gateway_id,
            access: "owned_target",
        });
        Ok(rows.into_iter().map(|(key, owner)| list_entry(key, &owner, context.clone())).collect())
    };
    read.await.context("Failed to fetch public keys").map(Data::new)
}

fn list_entry(
    key: user_public_key::Model,
    owner: &user::Model,
    target_context: Option<KeyTargetContext>,
) -> ListedPublicKey {
    ListedPublicKey {
        record: key.into(),
        owner_name: owner.full_name(),
        owner_email: owner.email.clone(),
        target_context,
    }
}

/// Browser key to register.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterPublicKey {
    /// Raw Ed25519 public key, standard base64.
    pub public_key_base64: String,
    /// Fingerprint of the key: `lg:` followed by 22 characters.
    pub fingerprint: String,
}

/// Registers a browser key of the caller, and has the connected desktops request its authorization by their
/// owners.
#[utoipa::path(post, path = "/public-keys", tag = "public-keys", request_body = RegisterPublicKey,
    responses((status = 200, body = Data<PublicKeyRecord>), ErrorResponses))]
pub async fn register(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    Body(body): Body<RegisterPublicKey>,
) -> ApiResult<Data<PublicKeyRecord>> {
    let key = body.public_key_base64.parse::<BrowserPublicKey>().map_err(invalid_key)?;
    // 32 bytes are not necessarily a point on the curve; such a key could never verify a signature.
    if VerifyingKey::from_bytes(key.as_bytes()).is_err() {
        return Err(invalid_key(InvalidBrowserKey::Length));
    }
    if key.fingerprint().as_str() != body.fingerprint {
        return Err(bad_request("Fingerprint does not match public key").code("fingerprint_mismatch"));
    }
    let row = public_keys::register(&app, &caller, &key).await.context("Failed to register public key")?;
    public_keys::notify_desktops(&app, &caller, &row, KeyChange::Registered);
    Ok(Data::new(row.into()))
}

fn invalid_key(error: InvalidBrowserKey) -> ApiError {
    let text = match error {
        InvalidBrowserKey::Base64 => "Malformed public key",
        InvalidBrowserKey::Length => "Public key must be a raw Ed25519 public key",
    };
    bad_request(text).code("invalid_public_key")
}

/// Selects the browser key to remove.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PublicKeyName {
    /// Fingerprint of the key.
    #[serde(default)]
    pub fingerprint: String,
}

/// Result of removing a browser key.
#[derive(Debug, Serialize, ToSchema)]
pub struct PublicKeyRemoved {
    /// `false` when the caller had no such key.
    pub deleted: bool,
}

/// Removes a browser key of the caller, and has the connected desktops revoke it.
#[utoipa::path(delete, path = "/public-keys", tag = "public-keys", params(PublicKeyName),
    responses((status = 200, body = Data<PublicKeyRemoved>), ErrorResponses))]
pub async fn delete(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    Query(query): Query<PublicKeyName>,
) -> ApiResult<Data<PublicKeyRemoved>> {
    let fingerprint: Fingerprint = query
        .fingerprint
        .parse()
        .map_err(|_| bad_request("Malformed public key fingerprint").code("invalid_fingerprint"))?;
    let removed =
        public_keys::remove(&app, &caller, &fingerprint).await.context("Failed to remove public key")?;
    if let Some(row) = &removed {
        public_keys::notify_desktops(&app, &caller, row, KeyChange::Removed);
    }
    Ok(Data::new(PublicKeyRemoved { deleted: removed.is_some() }))
}
