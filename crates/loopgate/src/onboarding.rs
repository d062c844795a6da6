//! Onboarding: obtains the API key of this desktop from a control plane, on this machine or remote.

use std::time::Duration;

use anyhow::{Context as _, bail};
use loopgate_home::Credentials;
use loopgate_http_client::ClientError;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::json;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaimedKey {
    api_key: SecretString,
}

#[derive(Deserialize)]
struct ClaimError {
    code: String,
}

/// Ensures that this desktop has a key that the control plane accepts. Claims a new key if it has none.
pub async fn connect(
    api_origin: &str,
    web_origin: &str,
    attempt: &str,
    credentials: &Credentials,
) -> anyhow::Result<()> {
    // Checked by a request: a stored key may have been revoked, or belong to another control plane.
    if is_key_valid(api_origin, credentials).await? {
        return Ok(());
    }
    claim(api_origin, web_origin, attempt, credentials).await
}

fn http_client() -> Result<reqwest::Client, ClientError> {
    loopgate_http_client::build(loopgate_http_client::builder().timeout(REQUEST_TIMEOUT))
}

async fn is_key_valid(api_origin: &str, credentials: &Credentials) -> anyhow::Result<bool> {
    let Some(key) = credentials.api_key() else { return Ok(false) };
    let mut request =
        http_client()?.get(format!("{api_origin}/compute-targets")).bearer_auth(key.secret.expose_secret());
    // The key is bound to this desktop: requests need a proof of possession of its signing key.
    for (name, value) in credentials.pop_headers("GET", "/compute-targets").into_iter().flatten() {
        request = request.header(name, value);
    }
    let response =
        request.send().await.with_context(|| format!("cannot reach the control plane at {api_origin}"))?;
    Ok(response.status().is_success())
}

/// Exchanges a one-time onboarding attempt for an API key bound to this desktop's signing key, and stores it.
pub async fn claim(
    api_origin: &str,
    web_origin: &str,
    attempt: &str,
    credentials: &Credentials,
) -> anyhow::Result<()> {
    let response = http_client()?
        .post(format!("{api_origin}/desktop/bootstrap/claim"))
        .json(&json!({
            "onboardingAttemptId": attempt,
            "webAppOrigin": web_origin,
            "gatewayId": credentials.gateway_id(),
            "gatewayPublicKeyPem": credentials.public_key_pem(),
        }))
        .send()
        .await
        .with_context(|| format!("cannot reach the control plane at {api_origin}"))?;
    if !response.status().is_success() {
        let code =
            response.json::<ClaimError>().await.map_or_else(|_| "no reason given".to_owned(), |r| r.code);
        let hint = match &*code {
            "ONBOARDING_ATTEMPT_INVALID_OR_EXPIRED" => {
                "\nhint: an attempt is valid once and for one hour; create a new one on the page"
            }
            "ONBOARDING_ATTEMPT_ORIGIN_MISMATCH" | "INVALID_BOOTSTRAP_CLAIM_REQUEST" => {
                "\nhint: if the web app has another origin than the control plane, pass it with --web-origin"
            }
            _ => "",
        };
        bail!("the control plane refused to issue a key for this machine ({code}){hint}");
    }
    let key: ClaimedKey =
        response.json().await.context("the response of the control plane contains no key")?;
    credentials.store_managed_key(key.api_key).context("cannot store the key of this desktop")
}
