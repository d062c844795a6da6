//! HTTP client for the control plane: URLs, credentials and interpretation of responses.
//!
//! Makes one attempt per call, with a timeout. Retries and token renewal are up to the callers.

use std::sync::Arc;
use std::time::Duration;

use loopgate_api::deployment::DeploymentReport;
use loopgate_api::ids::LoopId;
use loopgate_api::link::BrowserPublicKey;
use loopgate_api::names::EVENT_NONCE_HEADER;
use loopgate_api::pull_request::{PullRequestReport, WatchedPullRequest};
use loopgate_api::redact;
use loopgate_home::{ApiKey, BrowserKey, Credentials, KeySource, Provenance, SettingsStore};
use loopgate_http_client::LazyClient;
use reqwest::{Method, RequestBuilder, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;
use uuid::Uuid;

/// Timeout of posting one event.
pub(crate) const EVENT_TIME: Duration = Duration::from_secs(30);
/// Timeout of an event that delays the response to a refused launch.
pub(crate) const SHORT_EVENT_TIME: Duration = Duration::from_millis(1000);
/// Longer than other timeouts because the body contains whole artifacts.
const UPLOAD_TIME: Duration = Duration::from_secs(120);
/// Largest number of findings in a report. A review with more is hostile or broken.
const MAX_FINDINGS: usize = 10_000;
const REFRESH_TIME: Duration = Duration::from_secs(10);
const HEARTBEAT_TIME: Duration = Duration::from_secs(30);
const CANCEL_TIME: Duration = Duration::from_secs(10);
const STATUS_TIME: Duration = Duration::from_secs(5);
const CREDENTIALS_TIME: Duration = Duration::from_secs(30);
const KEYS_TIME: Duration = Duration::from_secs(10);
const LIST_TIME: Duration = Duration::from_secs(10);
const REPORT_TIME: Duration = Duration::from_secs(10);
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// Limit of a response body in bytes; responses are small documents.
const MAX_RESPONSE: usize = 1024 * 1024;

/// Error of a call to the control plane.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CallError {
    /// The control plane responded with a status other than 2xx.
    #[error("HTTP {status} {text}")]
    Http {
        status: u16,
        /// `code` of the response body.
        code: Option<String>,
        /// `error` of the response body, redacted.
        text: String,
    },
    /// The control plane could not be reached.
    #[error("network: {0}")]
    Network(String),
    /// No response arrived within the timeout.
    #[error("timeout")]
    Timeout,
    /// The loop has no token.
    #[error("auth: missing_token")]
    MissingToken,
    /// No control plane is configured.
    #[error("API origin not configured")]
    NoOrigin,
    /// Another server responded, for example a proxy or the sign-in page of a network.
    #[error(
        "HTTP {0} from a server that is not the control plane; check for a proxy or a network sign-in page"
    )]
    NotControlPlane(u16),
    /// A 2xx response lacks a required member.
    #[error("the response of the control plane is malformed")]
    Malformed,
}

impl CallError {
    /// Returns the status, when there was a response.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Http { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Returns whether the control plane already has this event. Servers that send no error code are
    /// recognized by their text.
    fn is_replay(&self) -> bool {
        match self {
            Self::Http { status: 409, code: Some(code), .. } => code == "replay_detected",
            Self::Http { status: 409, code: None, text } => text == "Replay detected",
            _ => false,
        }
    }

    /// Returns whether the control plane has ended the loop. A 410 without this code may come from a proxy.
    #[must_use]
    pub fn is_ended_loop(&self) -> bool {
        matches!(self, Self::Http { status: 410, code: Some(code), .. } if code == "TERMINAL_LOOP")
    }

    /// Returns whether the same call may succeed later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Http { status, .. } => matches!(*status, 401 | 408 | 429) || *status >= 500,
            Self::Network(_)
            | Self::Timeout
            | Self::NotControlPlane(_)
            | Self::MissingToken
            | Self::NoOrigin => true,
            Self::Malformed => false,
        }
    }

    /// Returns whether the control plane rejects the content itself, so that no retry can succeed. Other
    /// failures (unreachable, overloaded, not authorized) are independent of the content.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::Http { status, .. } => {
                // 401 and 403 concern the credentials, 409 a conflicting state, and 408, 425 and 429 the
                // moment of the call.
                *status >= 400 && *status < 500 && !matches!(*status, 401 | 403 | 408 | 409 | 425 | 429)
            }
            _ => false,
        }
    }
}

/// A token that replaces an earlier one.
#[derive(Debug, Clone)]
pub struct FreshToken {
    pub token: SecretString,
    /// Expiry, milliseconds since the epoch.
    pub expires_at: Option<i64>,
    /// Token id, the `jti` claim.
    pub jti: Option<String>,
}

/// Client of the control plane at the configured origin.
#[derive(Debug, Clone)]
pub struct ControlPlaneClient {
    http: Arc<LazyClient>,
    settings: Arc<SettingsStore>,
    /// Overrides the settings when the control plane is embedded in this process.
    origin: Option<String>,
    credentials: Arc<Credentials>,
}

impl ControlPlaneClient {
    pub(crate) fn new(
        settings: Arc<SettingsStore>,
        origin: Option<String>,
        credentials: Arc<Credentials>,
    ) -> Self {
        let http = LazyClient::new(|builder| {
            builder
                .connect_timeout(CONNECT_TIME)
                // A redirect could send the bearer token to another host.
                .redirect(reqwest::redirect::Policy::none())
                .user_agent(concat!("loopgate/", env!("CARGO_PKG_VERSION")))
        });
        Self { http: Arc::new(http), settings, origin, credentials }
    }

    /// Returns the configured origin, if any.
    #[must_use]
    pub fn origin(&self) -> Option<String> {
        self.origin.clone().or_else(|| self.settings.get().api_origin.clone())
    }

    /// Posts an event. A replayed event counts as delivered. Returns whether the control plane has ended the
    /// loop, so that its processes must be stopped.
    pub(crate) async fn post_event(
        &self,
        id: LoopId,
        token: &SecretString,
        nonce: Uuid,
        body: String,
        within: Duration,
    ) -> Result<bool, CallError> {
        let request = self
            .request(Method::POST, &format!("/loops/{id}/events"))?
            .bearer_auth(token.expose_secret())
            .header(EVENT_NONCE_HEADER, nonce.to_string());
        match send(json_body(request, body), within).await {
            Err(error) if error.is_replay() => Ok(false),
            other => Ok(other?.get("ended").and_then(Value::as_bool).unwrap_or(false)),
        }
    }

    /// Uploads the artifacts of a loop.
    pub(crate) async fn upload_artifacts(
        &self,
        id: LoopId,
        token: &SecretString,
        body: String,
    ) -> Result<(), CallError> {
        let request = self
            .request(Method::POST, &format!("/loops/{id}/upload-artifacts"))?
            .bearer_auth(token.expose_secret());
        send(json_body(request, body), UPLOAD_TIME).await.map(drop)
    }

    /// Requests a new token. The idempotency key makes retries safe.
    pub(crate) async fn refresh_token(
        &self,
        id: LoopId,
        token: &SecretString,
        idempotency_key: &str,
    ) -> Result<FreshToken, CallError> {
        let request = self
            .request(Method::POST, &format!("/loops/{id}/refresh-token"))?
            .bearer_auth(token.expose_secret())
            .header("idempotency-key", idempotency_key);
        fresh_token(&send(request, REFRESH_TIME).await?).ok_or(CallError::Malformed)
    }

    /// Sends a heartbeat of a loop. Returns a new token when the control plane revived a loop that it had
    /// timed out.
    pub(crate) async fn heartbeat(
        &self,
        id: LoopId,
        token: &SecretString,
    ) -> Result<Option<FreshToken>, CallError> {
        let answer =
            send(self.signed(Method::POST, &format!("/loops/{id}/heartbeat"), token)?, HEARTBEAT_TIME);
        let answer = answer.await?;
        let revived = answer.get("revived").and_then(Value::as_bool).unwrap_or(false);
        Ok(if revived { fresh_token(&answer) } else { None })
    }

    /// Requests a token with the API key that is bound to this desktop, for a loop whose own token is no
    /// longer accepted. The control plane revives a loop that it had timed out.
    pub(crate) async fn renew_token(&self, id: LoopId) -> Result<FreshToken, CallError> {
        let key = self.managed_key()?;
        let request = self.signed(Method::POST, &format!("/loops/{id}/heartbeat"), &key.secret)?;
        fresh_token(&send(request, HEARTBEAT_TIME).await?).ok_or(CallError::Malformed)
    }

    /// Fetches the credentials for a signed command that starts or stops a loop, as the complete body of the
    /// request to the gateway. The control plane issues them once per command.
    ///
    /// # Errors
    /// Fails with [`CallError`] when the control plane does not issue them.
    pub async fn execution_credentials(
        &self,
        target_id: Uuid,
        loop_id: &str,
        command_id: &str,
    ) -> Result<Value, CallError> {
        // The id becomes part of the URL path, so only a valid one may be used.
        let loop_id: LoopId = loop_id.parse().map_err(|_| CallError::Malformed)?;
        let path = format!("/compute-targets/{target_id}/loops/{loop_id}/execution-credentials");
        let key = self.managed_key()?;
        let request = self.signed(Method::POST, &path, &key.secret)?;
        send(json_body(request, json!({"commandId": command_id}).to_string()), CREDENTIALS_TIME).await
    }

    /// Returns the browser keys that the control plane lists for this desktop.
    ///
    /// # Errors
    /// Fails with [`CallError`]; with [`CallError::Malformed`] also when a listed key is for another desktop.
    pub async fn browser_keys(&self, target_id: Uuid) -> Result<Vec<BrowserKey>, CallError> {
        let gateway_id = self.credentials.gateway_id();
        let path = format!("/public-keys?computeTargetId={target_id}&gatewayId={gateway_id}");
        let key = self.managed_key()?;
        let answer = send(self.signed(Method::GET, &path, &key.secret)?, KEYS_TIME).await?;
        let listed: Vec<ListedKey> =
            serde_json::from_value(answer["data"].clone()).map_err(|_| CallError::Malformed)?;
        let is_own = |key: &ListedKey| {
            key.target_context.as_ref().is_some_and(|context| context.compute_target_id == target_id)
        };
        if !listed.iter().all(is_own) {
            return Err(CallError::Malformed);
        }
        Ok(listed.into_iter().map(BrowserKey::from).collect())
    }

    /// Returns the change requests that need the owner of this desktop, as the control plane lists them: at most 200,
    /// most recently changed first.
    ///
    /// # Errors
    /// Fails with [`CallError`] when the control plane does not list them.
    pub async fn needs_owner(&self) -> Result<Vec<Value>, CallError> {
        let key = self.credentials.api_key().ok_or(CallError::MissingToken)?;
        let path = "/change-requests?attention=true&mine=true&limit=200";
        let mut answer = send(self.signed(Method::GET, path, &key.secret)?, LIST_TIME).await?;
        match answer.get_mut("data").map(Value::take) {
            Some(Value::Array(rows)) => Ok(rows),
            _ => Err(CallError::Malformed),
        }
    }

    /// Reports the standing of pull requests, and returns those of this desktop's loops that are open.
    pub(crate) async fn report_pull_requests(
        &self,
        target_id: Uuid,
        reports: &[PullRequestReport],
    ) -> Result<Vec<WatchedPullRequest>, CallError> {
        let path = format!("/compute-targets/{target_id}/pull-requests");
        let key = self.managed_key()?;
        let request = self.signed(Method::POST, &path, &key.secret)?;
        let body = json!({"pullRequests": reports}).to_string();
        let answer = send(json_body(request, body), REPORT_TIME).await?;
        serde_json::from_value(answer["open"].clone()).map_err(|_| CallError::Malformed)
    }

    /// Reports all deployments of this desktop; those that are not among them have ended.
    pub(crate) async fn report_deployments(
        &self,
        target_id: Uuid,
        deployments: &[DeploymentReport],
    ) -> Result<(), CallError> {
        let path = format!("/compute-targets/{target_id}/deployments");
        let key = self.managed_key()?;
        let request = self.signed(Method::PUT, &path, &key.secret)?;
        let body = json!({"deployments": deployments}).to_string();
        send(json_body(request, body), REPORT_TIME).await.map(|_| ())
    }

    /// Reports how many findings about the changes of a loop in a repository wait for a decision.
    pub(crate) async fn report_findings(
        &self,
        id: LoopId,
        repository: &str,
        open: usize,
    ) -> Result<(), CallError> {
        let key = self.managed_key()?;
        let request = self.signed(Method::PUT, &format!("/loops/{id}/findings"), &key.secret)?;
        let body = json!({"repository": repository, "count": open.min(MAX_FINDINGS)}).to_string();
        send(json_body(request, body), REPORT_TIME).await.map(|_| ())
    }

    fn managed_key(&self) -> Result<Arc<ApiKey>, CallError> {
        let key = self.credentials.api_key();
        key.filter(|key| key.provenance == Provenance::DesktopManaged).ok_or(CallError::MissingToken)
    }

    /// Returns the status of the loop in the control plane.
    pub(crate) async fn status(&self, id: LoopId, token: &SecretString) -> Result<String, CallError> {
        let request = self.request(Method::GET, &format!("/loops/{id}"))?.bearer_auth(token.expose_secret());
        let answer = send(request, STATUS_TIME).await?;
        Ok(answer.get("status").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    /// Cancels a loop with the desktop's own key. An unknown loop counts as cancelled.
    pub(crate) async fn cancel(&self, id: LoopId, key: &ApiKey) -> Result<(), CallError> {
        let request = self.signed(Method::DELETE, &format!("/loops/{id}"), &key.secret)?;
        match send(request, CANCEL_TIME).await {
            Err(CallError::Http { status: 404, .. }) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Builds a request with a credential and a proof of possession of this desktop's key.
    fn signed(
        &self,
        method: Method,
        path: &str,
        credential: &SecretString,
    ) -> Result<RequestBuilder, CallError> {
        // The proof covers the path without the query.
        let signed_path = path.split_once('?').map_or(path, |(path, _)| path);
        let proof = self.credentials.pop_headers(method.as_str(), signed_path).into_iter().flatten();
        let request = self.request(method, path)?.bearer_auth(credential.expose_secret());
        Ok(proof.fold(request, |request, (name, value)| request.header(name, value)))
    }

    fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, CallError> {
        let origin = self.origin().ok_or(CallError::NoOrigin)?;
        let http = self.http.get().map_err(|error| CallError::Network(error.to_string()))?;
        Ok(http.request(method, format!("{}{path}", origin.trim_end_matches('/'))))
    }
}

/// A browser key as listed by the control plane.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedKey {
    id: String,
    public_key_base64: BrowserPublicKey,
    #[serde(default)]
    owner_name: String,
    owner_email: Option<String>,
    target_context: Option<TargetContext>,
}

/// The desktop for which a key is listed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetContext {
    compute_target_id: Uuid,
}

impl From<ListedKey> for BrowserKey {
    fn from(key: ListedKey) -> Self {
        Self {
            fingerprint: key.public_key_base64.fingerprint(),
            public_key_base64: key.public_key_base64,
            owner_name: key.owner_name,
            owner_email: key.owner_email.unwrap_or_default(),
            authorized_at: String::new(),
            source: KeySource::Org,
            source_user_public_key_id: Some(key.id),
            other: serde_json::Map::new(),
        }
    }
}

fn json_body(request: RequestBuilder, body: String) -> RequestBuilder {
    request.header("content-type", "application/json").body(body)
}

/// Sends a request and unwraps the `data` envelope of the response, if any.
async fn send(request: RequestBuilder, within: Duration) -> Result<Value, CallError> {
    let answer = tokio::time::timeout(within, async {
        let mut response = request.send().await.map_err(network)?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(network)? {
            if bytes.len() + chunk.len() > MAX_RESPONSE {
                // A truncated body does not parse and is treated as `null` below.
                break;
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok((status, bytes))
    });
    let (status, bytes) = answer.await.map_err(|_| CallError::Timeout)??;
    if status.is_redirection() || bytes.trim_ascii_start().starts_with(b"<") {
        // The control plane sends JSON only. A redirect or HTML comes from a proxy or a captive portal.
        return Err(CallError::NotControlPlane(status.as_u16()));
    }
    let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if !status.is_success() {
        return Err(http_error(status, &document));
    }
    match document.get("data") {
        Some(data) if data.is_object() => Ok(data.clone()),
        _ => Ok(document),
    }
}

fn http_error(status: StatusCode, document: &Value) -> CallError {
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    let detail = text("error").or_else(|| status.canonical_reason()).unwrap_or_default();
    CallError::Http {
        status: status.as_u16(),
        code: text("code").map(str::to_owned),
        text: redact::message(detail),
    }
}

fn network(error: reqwest::Error) -> CallError {
    if error.is_timeout() {
        return CallError::Timeout;
    }
    // Without the URL: the origin is configured, and the path adds no information.
    CallError::Network(redact::message(&error.without_url().to_string()))
}

fn fresh_token(answer: &Value) -> Option<FreshToken> {
    let token = answer.get("token")?.as_str().filter(|token| !token.is_empty())?;
    // Control planes send milliseconds or ISO 8601.
    let expires_at = match answer.get("expiresAt") {
        Some(Value::Number(ms)) => ms.as_i64(),
        Some(Value::String(text)) => {
            text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
        }
        _ => None,
    };
    let jti = answer.get("jti").and_then(Value::as_str).map(str::to_owned);
    Some(FreshToken { token: token.to_owned().into(), expires_at, jti })
}
