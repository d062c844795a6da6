//! Signatures of browser keys. They are forwarded and never stored. Only the desktop verifies them, so that
//! an attacker who controls the control plane cannot forge commands.

use loopgate_api::link::{Fingerprint, canonical_json};
use sea_orm::ConnectionTrait;
use sea_orm::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::command::CommandSignature;
use crate::auth::Caller;
use crate::error::{ApiResult, ValidationIssues, bad_request, browser_key_unregistered, signing_required};
use crate::public_keys;
use crate::store::column::StoredEnum;
use crate::store::entity::api_key::{self, ApiKeySource};
use crate::store::entity::{compute_target, organization, user};

/// A signed intent: the user signs the essential members of a launch or cancellation instead of the whole
/// command.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserIntentSignature {
    /// Id of the command; a UUIDv7 chosen by the browser.
    pub command_id: Uuid,
    /// Ed25519 signature, standard base64.
    pub signature: String,
    /// The exact text that was signed.
    pub signature_payload: String,
    /// Fingerprint of the browser key.
    pub public_key_fingerprint: String,
    /// The signed intent as JSON object.
    #[schema(value_type = std::collections::HashMap<String, Value>)]
    pub body: Value,
}

/// An intent whose key is registered.
#[derive(Debug, Clone)]
pub struct SignedIntent {
    /// Signature of the command.
    pub signature: CommandSignature,
    /// The intent as JSON object.
    pub body: Value,
}

impl UserIntentSignature {
    /// Returns the intent when it equals the expected one and its key is registered for the caller. Returns
    /// 400 with the text `mismatch` otherwise.
    pub async fn check(
        self,
        db: &impl ConnectionTrait,
        caller: &Caller,
        expected: &Value,
        mismatch: &str,
    ) -> ApiResult<SignedIntent> {
        if canonical_json(&self.body) != canonical_json(expected) {
            return Err(bad_request(mismatch));
        }
        let signature = CommandSignature {
            command_id: self.command_id,
            signature: self.signature,
            payload: self.signature_payload,
            fingerprint: self.public_key_fingerprint,
        };
        signature.check(db, caller).await?;
        Ok(SignedIntent { signature, body: self.body })
    }
}

impl CommandSignature {
    /// Returns an error when the signature's key is not registered for the caller, or a member is malformed.
    pub async fn check(&self, db: &impl ConnectionTrait, caller: &Caller) -> ApiResult<()> {
        let mut issues = ValidationIssues::default();
        let is_v7 = self.command_id.get_version_num() == 7;
        issues.require(is_v7, "commandId", "must be a UUID of version 7");
        let fingerprint =
            self.fingerprint.parse::<Fingerprint>().ok().filter(|name| name.as_str().len() == 25);
        issues.require(
            fingerprint.is_some(),
            "publicKeyFingerprint",
            "must be lg: and 22 characters of base64url",
        );
        issues.into_result()?;
        match fingerprint {
            Some(name) if public_keys::of_user(db, caller.user.id, &name).await?.is_some() => Ok(()),
            _ => Err(browser_key_unregistered()),
        }
    }
}

/// Returns whether signatures are forwarded to a desktop: its owner and organization are active, and it has a
/// bound API key.
pub async fn is_supported(db: &impl ConnectionTrait, target: &compute_target::Model) -> Result<bool, DbErr> {
    let Some(gateway_id) = target.gateway_id else { return Ok(false) };
    let owner = user::Entity::find_by_id(target.user_id).filter(user::Column::Active.eq(true));
    let organization = organization::Entity::find_by_id(target.organization_id);
    let organization = organization.filter(organization::Column::Active.eq(true));
    let key = api_key::Entity::find()
        .filter(api_key::Column::UserId.eq(target.user_id))
        .filter(api_key::Column::GatewayId.eq(gateway_id))
        .filter(api_key::Column::Source.eq(StoredEnum(ApiKeySource::DesktopManaged)))
        .filter(api_key::Column::RevokedAt.is_null());
    Ok(owner.count(db).await? > 0 && organization.count(db).await? > 0 && key.count(db).await? > 0)
}

/// Rejects an unsigned command for a desktop whose owner requires signatures.
pub async fn require_signature(
    db: &impl ConnectionTrait,
    target: &compute_target::Model,
    is_signed: bool,
) -> ApiResult<()> {
    let is_required = target.capabilities.get("commandSigningRequired") == Some(&Value::Bool(true));
    if is_signed || !is_required {
        return Ok(());
    }
    // Without a bound key the flag is not enforced, or the desktop would be unreachable.
    match is_supported(db, target).await {
        Ok(true) => Err(signing_required()),
        Ok(false) => Ok(()),
        Err(error) => {
            tracing::error!(target_id = %target.id, %error, "failed to check whether commands must be signed");
            let text = "Command signing eligibility could not be verified for this compute target";
            Err(bad_request(text).code("signing_eligibility_unknown"))
        }
    }
}

/// Returns whether a desktop verifies signed intents, and then fetches the execution credentials itself.
pub async fn verifies_intents(
    db: &impl ConnectionTrait,
    target: &compute_target::Model,
) -> Result<bool, DbErr> {
    let is_offered = target.capabilities.get("commandSigning") == Some(&Value::Bool(true));
    Ok(is_offered && is_supported(db, target).await?)
}
