//! How this desktop gets its own key: the handshake of a first start, the same for a control plane
//! on this machine and for a remote one.

use std::time::Duration;

use anyhow::{Context as _, bail};
use loopgate_home::Credentials;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::json;

const CLAIM_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaimResponse {
    api_key: SecretString,
}

#[derive(Deserialize)]
struct ClaimError {
    code: String,
}

/// Makes sure that this desktop has a key that the control plane knows; claims one if need be.
pub async fn connect(
    api_origin: &str,
    web_origin: &str,
    attempt: &str,
    credentials: &Credentials,
) -> anyhow::Result<()> {
    if key_works(api_origin, credentials).await? {
        return Ok(());
    }
    claim(api_origin, web_origin, attempt, credentials).await
}

async fn key_works(api_origin: &str, credentials: &Credentials) -> anyhow::Result<bool> {
    let Some(key) = credentials.api_key() else { return Ok(false) };
    let mut request = reqwest::Client::new()
        .get(format!("{api_origin}/compute-targets"))
        .timeout(CLAIM_TIMEOUT)
        .bearer_auth(key.secret.expose_secret());
    for (name, value) in credentials.pop_headers("GET", "/compute-targets").into_iter().flatten() {
        request = request.header(name, value);
    }
    let response =
        request.send().await.with_context(|| format!("the control plane at {api_origin} does not answer"))?;
    Ok(response.status().is_success())
}

/// Trades a one-time attempt for the key of this desktop, bound to its signing key, and keeps it.
pub async fn claim(
    api_origin: &str,
    web_origin: &str,
    attempt: &str,
    credentials: &Credentials,
) -> anyhow::Result<()> {
    let response = reqwest::Client::new()
        .post(format!("{api_origin}/desktop/bootstrap/claim"))
        .timeout(CLAIM_TIMEOUT)
        .json(&json!({
            "onboardingAttemptId": attempt,
            "webAppOrigin": web_origin,
            "gatewayId": credentials.gateway_id(),
            "gatewayPublicKeyPem": credentials.public_key_pem(),
        }))
        .send()
        .await
        .with_context(|| format!("the control plane at {api_origin} does not answer"))?;
    if !response.status().is_success() {
        let code =
            response.json::<ClaimError>().await.map_or_else(|_| "no reason given".to_owned(), |r| r.code);
        let hint = match &*code {
            "ONBOARDING_ATTEMPT_INVALID_OR_EXPIRED" => {
                "\nhint: each attempt works once, for an hour; get a new one from the page"
            }
            "ONBOARDING_ATTEMPT_ORIGIN_MISMATCH" | "INVALID_BOOTSTRAP_CLAIM_REQUEST" => {
                "\nhint: name the page's origin with --web-origin when it is not the control plane's"
            }
            _ => "",
        };
        bail!("the control plane refused to issue a key for this desktop ({code}){hint}");
    }
    let claimed: ClaimResponse = response.json().await.context("the control plane's answer has no key")?;
    credentials.store_managed_key(claimed.api_key).context("the key of this desktop cannot be stored")
}
