//! Calls to the control plane: where they go, what they carry, what their answers mean.
//!
//! Knows nothing of retries and nothing of tokens' life; a call is tried once, within its time.

use std::sync::Arc;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::link::BrowserPublicKey;
use loopgate_api::names::EVENT_NONCE_HEADER;
use loopgate_api::redact;
use loopgate_home::{ApiKey, BrowserKey, Credentials, KeySource, Provenance, SettingsStore};
use reqwest::{Method, RequestBuilder, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;
use uuid::Uuid;

/// One event.
pub(crate) const EVENT_TIME: Duration = Duration::from_secs(30);
/// An event that must not hold up the answer to a refused request.
pub(crate) const SHORT_EVENT_TIME: Duration = Duration::from_millis(1000);
const UPLOAD_TIME: Duration = Duration::from_secs(120);
const REFRESH_TIME: Duration = Duration::from_secs(10);
const HEARTBEAT_TIME: Duration = Duration::from_secs(30);
const CANCEL_TIME: Duration = Duration::from_secs(10);
const STATUS_TIME: Duration = Duration::from_secs(5);
const CREDENTIALS_TIME: Duration = Duration::from_secs(30);
const KEYS_TIME: Duration = Duration::from_secs(10);
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// An answer is a small document; more of it is not read.
const MAX_ANSWER: usize = 1024 * 1024;

/// Why a call did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CallError {
    /// The control plane answered with another status than 2xx.
    #[error("HTTP {status} {text}")]
    Http {
        /// The status.
        status: u16,
        /// The answer's `code`, when it has one.
        code: Option<String>,
        /// The answer's `error`, cleaned.
        text: String,
    },
    /// It could not be reached.
    #[error("network: {0}")]
    Network(String),
    /// It did not answer in time.
    #[error("timeout")]
    Timeout,
    /// There is no token for the loop.
    #[error("auth: missing_token")]
    MissingToken,
    /// No control plane is configured.
    #[error("API origin not configured")]
    NoOrigin,
    /// Something else answered in its place: a proxy, or the page of a network that wants a login.
    #[error("something else than the control plane answered with HTTP {0}")]
    Stranger(u16),
    /// A 2xx answer without what it must hold.
    #[error("the answer could not be understood")]
    Malformed,
}

impl CallError {
    /// The status, when there was an answer.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Http { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether the same event arrived before. A control plane that sends no codes says so by the text of the
    /// contract.
    fn is_replay(&self) -> bool {
        match self {
            Self::Http { status: 409, code: Some(code), .. } => code == "replay_detected",
            Self::Http { status: 409, code: None, text } => text == "Replay detected",
            _ => false,
        }
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Http { status, .. } => matches!(*status, 401 | 408 | 429) || *status >= 500,
            Self::Network(_) | Self::Timeout | Self::Stranger(_) | Self::MissingToken | Self::NoOrigin => {
                true
            }
            Self::Malformed => false,
        }
    }

    /// Whether the control plane refuses what was sent for what it is: the same will never be taken. All
    /// else says nothing against it: the control plane is away, busy, or does not know the sender.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        match self {
            Self::Http { status, .. } => {
                *status >= 400 && *status < 500 && !matches!(*status, 401 | 403 | 408 | 409 | 425 | 429)
            }
            _ => false,
        }
    }
}

/// A token that replaces another one.
#[derive(Debug, Clone)]
pub struct FreshToken {
    /// The token.
    pub token: SecretString,
    /// End of its life, milliseconds since the epoch.
    pub expires_at: Option<i64>,
    /// Its id.
    pub jti: Option<String>,
}

/// The control plane, at the configured origin and nowhere else.
#[derive(Debug, Clone)]
pub struct ControlPlaneClient {
    http: reqwest::Client,
    settings: Arc<SettingsStore>,
    /// Goes before the settings, for a control plane in this very process.
    origin: Option<String>,
    credentials: Arc<Credentials>,
}

impl ControlPlaneClient {
    pub(crate) fn new(
        settings: Arc<SettingsStore>,
        origin: Option<String>,
        credentials: Arc<Credentials>,
    ) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIME)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("loopgate/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { http, settings, origin, credentials })
    }

    /// The configured origin.
    #[must_use]
    pub fn origin(&self) -> Option<String> {
        self.origin.clone().or_else(|| self.settings.get().api_origin.clone())
    }

    /// Posts an event. One that had arrived before counts as delivered.
    pub(crate) async fn post_event(
        &self,
        id: LoopId,
        token: &SecretString,
        nonce: Uuid,
        body: String,
        within: Duration,
    ) -> Result<(), CallError> {
        let request = self
            .request(Method::POST, &format!("/loops/{id}/events"))?
            .bearer_auth(token.expose_secret())
            .header(EVENT_NONCE_HEADER, nonce.to_string());
        match send(json_body(request, body), within).await {
            Err(error) if error.is_replay() => Ok(()),
            other => other.map(drop),
        }
    }

    /// Uploads what a loop made.
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

    /// Asks for a new token. The key makes a repeated question one question.
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

    /// Sends a heartbeat of a loop. Returns a new token when the control plane had timed the loop out.
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

    /// Asks for a token with the key that is bound to this desktop, for a loop whose own token is not
    /// accepted any more. The control plane takes the loop back when it had given it up.
    pub(crate) async fn renew_token(&self, id: LoopId) -> Result<FreshToken, CallError> {
        let key = self.managed_key()?;
        let request = self.signed(Method::POST, &format!("/loops/{id}/heartbeat"), &key.secret)?;
        fresh_token(&send(request, HEARTBEAT_TIME).await?).ok_or(CallError::Malformed)
    }

    /// The server's part of a signed start or end of a loop: the whole body for the gateway. Given out once a command.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn execution_credentials(
        &self,
        target_id: Uuid,
        loop_id: &str,
        command_id: &str,
    ) -> Result<Value, CallError> {
        // It becomes part of a path.
        let loop_id: LoopId = loop_id.parse().map_err(|_| CallError::Malformed)?;
        let path = format!("/compute-targets/{target_id}/loops/{loop_id}/execution-credentials");
        let key = self.managed_key()?;
        let request = self.signed(Method::POST, &path, &key.secret)?;
        send(json_body(request, json!({"commandId": command_id}).to_string()), CREDENTIALS_TIME).await
    }

    /// The browser keys that the control plane lists for this desktop.
    ///
    /// # Errors
    /// [`CallError`]; [`CallError::Malformed`] also for a list that is not about this desktop.
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

    fn managed_key(&self) -> Result<Arc<ApiKey>, CallError> {
        let key = self.credentials.api_key();
        key.filter(|key| key.provenance == Provenance::DesktopManaged).ok_or(CallError::MissingToken)
    }

    /// The loop's status in the control plane.
    pub(crate) async fn status(&self, id: LoopId, token: &SecretString) -> Result<String, CallError> {
        let request = self.request(Method::GET, &format!("/loops/{id}"))?.bearer_auth(token.expose_secret());
        let answer = send(request, STATUS_TIME).await?;
        Ok(answer.get("status").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    /// Takes a loop back, with the desktop's own key. One that is not known any more counts as taken
    /// back.
    pub(crate) async fn cancel(&self, id: LoopId, key: &ApiKey) -> Result<(), CallError> {
        let request = self.signed(Method::DELETE, &format!("/loops/{id}"), &key.secret)?;
        match send(request, CANCEL_TIME).await {
            Err(CallError::Http { status: 404, .. }) => Ok(()),
            other => other.map(drop),
        }
    }

    /// A request with a credential, and with the proof that it comes from this desktop.
    fn signed(
        &self,
        method: Method,
        path: &str,
        credential: &SecretString,
    ) -> Result<RequestBuilder, CallError> {
        let proven = path.split_once('?').map_or(path, |(path, _)| path);
        let proof = self.credentials.pop_headers(method.as_str(), proven).into_iter().flatten();
        let request = self.request(method, path)?.bearer_auth(credential.expose_secret());
        Ok(proof.fold(request, |request, (name, value)| request.header(name, value)))
    }

    fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, CallError> {
        let origin = self.origin().ok_or(CallError::NoOrigin)?;
        Ok(self.http.request(method, format!("{}{path}", origin.trim_end_matches('/'))))
    }
}

/// A browser key as the control plane lists it.
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

/// The desktop that a list is about.
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

/// Sends, and unwraps the envelope of the answer when it has one.
async fn send(request: RequestBuilder, within: Duration) -> Result<Value, CallError> {
    let answer = tokio::time::timeout(within, async {
        let mut response = request.send().await.map_err(network)?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(network)? {
            if bytes.len() + chunk.len() > MAX_ANSWER {
                break;
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok((status, bytes))
    });
    let (status, bytes) = answer.await.map_err(|_| CallError::Timeout)??;
    if status.is_redirection() || bytes.trim_ascii_start().starts_with(b"<") {
        // The control plane answers with documents, and never with a page or the way to one.
        return Err(CallError::Stranger(status.as_u16()));
    }
    let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if !status.is_success() {
        return Err(refused(status, &document));
    }
    match document.get("data") {
        Some(data) if data.is_object() => Ok(data.clone()),
        _ => Ok(document),
    }
}

fn refused(status: StatusCode, document: &Value) -> CallError {
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
    // The URL is left out: the origin is configured and the path says nothing new.
    CallError::Network(redact::message(&error.without_url().to_string()))
}

fn fresh_token(answer: &Value) -> Option<FreshToken> {
    let token = answer.get("token")?.as_str().filter(|token| !token.is_empty())?;
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
