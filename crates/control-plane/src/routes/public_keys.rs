//! Keys in people's browsers that sign commands.

use axum::extract::{RawQuery, State};
use ed25519_dalek::VerifyingKey;
use loopgate_api::link::{BrowserPublicKey, Fingerprint, InvalidBrowserKey};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::app::ControlPlaneState;
use crate::auth::{PersonAuth, SessionAuth};
use crate::dispatch::target::find_own;
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, ResultExt, bad_request, not_found};
use crate::extract::{Body, Query};
use crate::public_keys::{self, KeyChange};
use crate::store::entity::{compute_target, user, user_public_key};
use crate::store::iso;

/// A key.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicKeyRecord {
    /// Id.
    pub id: Uuid,
    /// Its owner.
    pub user_id: Uuid,
    /// Their organization.
    pub organization_id: Uuid,
    /// Raw Ed25519 key, standard base64.
    pub public_key_base64: String,
    /// `lg:` and 22 characters.
    pub fingerprint: String,
    /// ISO 8601.
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

/// The desktop that a list is about.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyTargetContext {
    /// Its id.
    pub compute_target_id: Uuid,
    /// Stable id of its installation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_id: Option<Uuid>,
    /// `owned_target`.
    pub access: &'static str,
}

/// A key with its owner.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedPublicKey {
    /// The key.
    #[serde(flatten)]
    pub record: PublicKeyRecord,
    /// Name of its owner.
    pub owner_name: String,
    /// E-mail address of its owner.
    pub owner_email: String,
    /// The desktop that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_context: Option<KeyTargetContext>,
}

/// For which desktop keys are wanted; each at most once.
#[derive(Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct PublicKeyQuery {
    /// A desktop of one's own.
    #[param(required = false)]
    pub compute_target_id: Option<Uuid>,
    /// Stable id of its installation.
    #[param(required = false)]
    pub gateway_id: Option<Uuid>,
}

impl PublicKeyQuery {
    fn of(query: Option<&str>) -> ApiResult<Self> {
        let malformed = || bad_request("Malformed public key target query");
        let mut read = Self::default();
        for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let member = match name.as_ref() {
                "computeTargetId" => &mut read.compute_target_id,
                "gatewayId" => &mut read.gateway_id,
                _ => continue,
            };
            let id = Uuid::try_parse(&value).map_err(|_| malformed())?;
            if member.replace(id).is_some() {
                return Err(malformed());
            }
        }
        if read.gateway_id.is_some() && read.compute_target_id.is_none() {
            return Err(malformed());
        }
        Ok(read)
    }
}

/// One's own keys; for a desktop of one's own, those of everybody who may send commands to it.
#[utoipa::path(get, path = "/public-keys", tag = "public-keys", params(PublicKeyQuery),
    responses((status = 200, body = Data<Vec<ListedPublicKey>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    PersonAuth(caller): PersonAuth,
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
        Ok(rows.into_iter().map(|(key, owner)| listed(key, &owner, context.clone())).collect())
    };
    read.await.context("Failed to fetch public keys").map(Data::new)
}

fn listed(
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

/// A key to be registered.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisterPublicKey {
    /// Raw Ed25519 key, standard base64.
    pub public_key_base64: String,
    /// `lg:` and 22 characters.
    pub fingerprint: String,
}

/// Registers a key of one's own, and asks the connected desktops to have it authorized.
#[utoipa::path(post, path = "/public-keys", tag = "public-keys", request_body = RegisterPublicKey,
    responses((status = 200, body = Data<PublicKeyRecord>), ErrorResponses))]
pub async fn register(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    Body(body): Body<RegisterPublicKey>,
) -> ApiResult<Data<PublicKeyRecord>> {
    let key = body.public_key_base64.parse::<BrowserPublicKey>().map_err(refused)?;
    if VerifyingKey::from_bytes(key.as_bytes()).is_err() {
        return Err(refused(InvalidBrowserKey::Length));
    }
    if key.fingerprint().as_str() != body.fingerprint {
        return Err(bad_request("Fingerprint does not match public key").code("fingerprint_mismatch"));
    }
    let row = public_keys::register(&app, &caller, &key).await.context("Failed to register public key")?;
    public_keys::notify_desktops(&app, &caller, &row, KeyChange::Registered);
    Ok(Data::new(row.into()))
}

fn refused(error: InvalidBrowserKey) -> ApiError {
    let text = match error {
        InvalidBrowserKey::Base64 => "Malformed public key",
        InvalidBrowserKey::Length => "Public key must be a raw Ed25519 public key",
    };
    bad_request(text).code("invalid_public_key")
}

/// Which key is to go.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PublicKeyName {
    /// Its fingerprint.
    #[serde(default)]
    pub fingerprint: String,
}

/// Whether a key was removed.
#[derive(Debug, Serialize, ToSchema)]
pub struct PublicKeyRemoved {
    /// `false` when there was no such key.
    pub deleted: bool,
}

/// Removes a key of one's own, and has the connected desktops forget it.
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
