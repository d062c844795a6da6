//! Runner tokens: read for every call, refreshed once when rejected, deleted after the last report.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use loopgate_api::ids::LoopId;
use secrecy::SecretString;
use uuid::Uuid;

use crate::jobs::store::{JobStore, StoredToken, TokenText};
use crate::reporting::control_plane::{CallError, ControlPlaneClient, FreshToken};

/// Minimum delay between refresh attempts for a loop that the control plane does not know.
const NOT_FOUND_DELAY: Duration = Duration::from_secs(300);

/// Delays between retries of a refresh whose response was lost.
const LOST_RESPONSE_DELAYS: [Duration; 3] =
    [Duration::from_millis(250), Duration::from_secs(1), Duration::from_secs(4)];

type SharedRefresh = Shared<BoxFuture<'static, Result<(), CallError>>>;

/// Runner tokens of all loops.
#[derive(Clone)]
pub(crate) struct Tokens {
    store: JobStore,
    cloud: ControlPlaneClient,
    /// Refreshes in progress; further callers for the same loop wait for it.
    refreshes: Arc<Mutex<HashMap<LoopId, SharedRefresh>>>,
    /// Time of the last refresh that was answered with 404.
    not_found: Arc<Mutex<HashMap<LoopId, Instant>>>,
}

impl Tokens {
    pub fn new(store: JobStore, cloud: ControlPlaneClient) -> Self {
        Self { store, cloud, refreshes: Arc::default(), not_found: Arc::default() }
    }

    /// Calls with the stored token. After a 401 the token is refreshed once and the call is repeated. When
    /// the refresh fails, the 401 is returned, unless the loop has ended (410).
    pub async fn call<T, F>(&self, id: LoopId, call: impl Fn(SecretString) -> F) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let first = call(self.current(id).await?).await;
        if !matches!(first, Err(CallError::Http { status: 401, .. })) {
            return first;
        }
        match self.refresh(id).await {
            Ok(()) => call(self.current(id).await?).await,
            Err(error) if error.status() == Some(410) => Err(error),
            Err(error) => {
                tracing::info!(loop_id = %id, %error, "the loop's token was rejected and could not be renewed");
                first
            }
        }
    }

    /// Describes what the disk of the job database lacks; `None` when it has enough space.
    pub fn disk_shortage(&self) -> Option<String> {
        self.store.disk_shortage()
    }

    /// Posts an event of a loop, with a timeout. Returns whether the control plane has ended the loop.
    pub async fn post_event(
        &self,
        id: LoopId,
        nonce: Uuid,
        body: &str,
        within: Duration,
    ) -> Result<bool, CallError> {
        let cloud = &self.cloud;
        let posted = self.call(id, |token| async move {
            cloud.post_event(id, &token, nonce, body.to_owned(), within).await
        });
        posted.await
    }

    /// Returns the stored token.
    pub async fn current(&self, id: LoopId) -> Result<SecretString, CallError> {
        match self.store.token(id).await {
            Ok(Some(stored_token)) => Ok(stored_token.token.0),
            Ok(None) => Err(CallError::MissingToken),
            // Without a readable token the call cannot be authorized either.
            Err(error) => {
                tracing::error!(%error, "cannot read the loop's token");
                Err(CallError::MissingToken)
            }
        }
    }

    /// Refreshes the token; joins a refresh of the same loop that is in flight.
    pub async fn refresh(&self, id: LoopId) -> Result<(), CallError> {
        let refresh = {
            let mut refreshes = self.refreshes.lock().unwrap_or_else(PoisonError::into_inner);
            refreshes.entry(id).or_insert_with(|| self.clone().refresh_shared(id).boxed().shared()).clone()
        };
        refresh.await
    }

    async fn refresh_shared(self, id: LoopId) -> Result<(), CallError> {
        let result = self.refresh_now(id).await;
        // Removed after completion, so that callers during the request share its result.
        self.refreshes.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        result
    }

    async fn refresh_now(&self, id: LoopId) -> Result<(), CallError> {
        if self.in_not_found_delay(id) {
            return Err(CallError::Http { status: 404, code: None, text: "requested too recently".into() });
        }
        let stored_token = self.store.token(id).await.ok().flatten().ok_or(CallError::MissingToken)?;
        // An interrupted refresh is repeated with its key: the token may already have been exchanged.
        let key = match &stored_token.last_idempotency_key {
            Some(key) => key.clone(),
            None => self.store_key(id, &stored_token).await,
        };
        let mut answer = self.exchange(id, &stored_token.token.0, &key).await;
        // Another refresh of this token won the race. Its key is used up, so retry once with a new one.
        if matches!(&answer, Err(CallError::Http { status: 409, code: Some(code), .. }) if code == "RACE_LOST")
        {
            let key = self.store_key(id, &stored_token).await;
            answer = self.exchange(id, &stored_token.token.0, &key).await;
        }
        // The runner token is no longer accepted; fall back to the API key of the desktop.
        if matches!(&answer, Err(CallError::Http { status: 401 | 403 | 409, .. })) {
            answer = match self.cloud.renew_token(id).await {
                Err(CallError::MissingToken) => {
                    tracing::warn!(
                        loop_id = %id,
                        "the loop's token was rejected, and this desktop has no API key of its own to renew it: \
                         run `loopgate connect`"
                    );
                    answer
                }
                renewed => renewed,
            };
        }
        match answer {
            Ok(fresh) => self.take(id, fresh).await,
            Err(error) => {
                if error.status() == Some(404) {
                    let mut not_found = self.not_found.lock().unwrap_or_else(PoisonError::into_inner);
                    not_found.insert(id, Instant::now());
                }
                if error.status().is_some_and(|status| status < 500) {
                    // A definite answer: the next refresh uses a new key. After any other failure the token
                    // may already have been exchanged, so the key is kept.
                    self.save(id, &StoredToken { last_idempotency_key: None, ..stored_token }).await;
                }
                Err(error)
            }
        }
    }

    /// Exchanges a token for a new one. A lost response is retried immediately: the same key makes it the
    /// same exchange, and the next report may be minutes away.
    async fn exchange(&self, id: LoopId, token: &SecretString, key: &str) -> Result<FreshToken, CallError> {
        for wait in LOST_RESPONSE_DELAYS {
            match self.cloud.refresh_token(id, token, key).await {
                Err(CallError::Network(_) | CallError::Timeout) => tokio::time::sleep(wait).await,
                answer => return answer,
            }
        }
        self.cloud.refresh_token(id, token, key).await
    }

    /// Stores a token that replaces the current one.
    pub async fn take(&self, id: LoopId, fresh: FreshToken) -> Result<(), CallError> {
        let mut stored_token = StoredToken::new(fresh.token);
        stored_token.expires_at = fresh.expires_at.or(stored_token.expires_at);
        stored_token.jti = fresh.jti.or(stored_token.jti);
        self.store.put_token(id, &stored_token).await.map_err(|error| {
            tracing::error!(%error, "cannot store the renewed token");
            CallError::MissingToken
        })
    }

    /// Deletes the token of a loop that is completely reported.
    pub async fn remove(&self, id: LoopId) {
        match self.store.delete_token(id).await {
            Ok(()) => tracing::info!(loop_id = %id, "all reports of the loop are delivered"),
            Err(error) => tracing::warn!(loop_id = %id, %error, "cannot delete the loop's token"),
        }
    }

    /// Returns the expiry of the token, milliseconds since the epoch.
    pub async fn expires_at(&self, id: LoopId) -> Option<i64> {
        self.store.token(id).await.ok().flatten()?.expires_at
    }

    async fn store_key(&self, id: LoopId, stored_token: &StoredToken) -> String {
        let key = Uuid::new_v4().to_string();
        self.save(id, &StoredToken { last_idempotency_key: Some(key.clone()), ..stored_token.clone() }).await;
        key
    }

    async fn save(&self, id: LoopId, stored_token: &StoredToken) {
        if let Err(error) = self.store.put_token(id, stored_token).await {
            tracing::warn!(loop_id = %id, %error, "cannot store the idempotency key of the refresh");
        }
    }

    fn in_not_found_delay(&self, id: LoopId) -> bool {
        let not_found = self.not_found.lock().unwrap_or_else(PoisonError::into_inner);
        not_found.get(&id).is_some_and(|at| at.elapsed() < NOT_FOUND_DELAY)
    }
}

impl From<SecretString> for TokenText {
    fn from(token: SecretString) -> Self {
        Self(token)
    }
}

#[cfg(test)]
mod tests {
    use loopgate_home::{Credentials, DataDir, Overrides, SettingsStore};
    use loopgate_testkit::cloud::Cloud as Plane;
    use secrecy::ExposeSecret as _;
    use serde_json::json;
    use tokio::sync::Barrier;

    use super::*;

    /// A loop with a token, and its control plane.
    struct TokenFixture {
        plane: Plane,
        tokens: Tokens,
        id: LoopId,
        credentials: Arc<Credentials>,
        _data: DataDir,
        _dir: tempfile::TempDir,
    }

    impl TokenFixture {
        async fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let data = DataDir::open(dir.path()).unwrap();
            let credentials = Arc::new(Credentials::open(&data).unwrap());
            let plane = Plane::start().await.unwrap();
            let settings = SettingsStore::open(&dir.path().join("settings.toml"), Overrides::default());
            let origin = Some(plane.origin());
            let cloud = ControlPlaneClient::new(Arc::new(settings.unwrap()), origin, credentials.clone());
            let store = JobStore::open(&data.file("desktop.db"), credentials.clone()).await.unwrap();
            let id = LoopId(Uuid::new_v4());
            store.put_token(id, &StoredToken::new("token-1".to_owned().into())).await.unwrap();
            Self { plane, tokens: Tokens::new(store, cloud), id, credentials, _data: data, _dir: dir }
        }

        /// Returns the idempotency keys of all refresh requests.
        fn keys(&self) -> Vec<String> {
            let requests = self.plane.requests().into_iter();
            requests.filter(|request| request.route == "refresh-token").map(|request| request.nonce).collect()
        }
    }

    fn unauthorized() -> CallError {
        CallError::Http { status: 401, code: None, text: "Invalid or expired runner token".to_owned() }
    }

    // LR-48
    #[tokio::test]
    async fn concurrent_401_responses_share_one_refresh() {
        let fixture = TokenFixture::new().await;
        let both = Barrier::new(2);
        let call = || {
            fixture.tokens.call(fixture.id, |token| {
                let both = &both;
                async move {
                    if token.expose_secret() == "token-1" {
                        both.wait().await;
                        return Err(unauthorized());
                    }
                    Ok(token.expose_secret().to_owned())
                }
            })
        };
        let (one, two) = tokio::join!(call(), call());
        assert_eq!((one.as_deref(), two.as_deref()), (Ok("token-2"), Ok("token-2")));
        assert_eq!(fixture.keys().len(), 1);
        // The previous exchange is complete, so this refresh needs a new key.
        fixture.tokens.refresh(fixture.id).await.unwrap();
        let keys = fixture.keys();
        assert!(keys.len() == 2 && keys[0] != keys[1], "{keys:?}");
    }

    #[tokio::test]
    async fn ambiguous_refresh_is_retried_with_the_same_key() {
        let fixture = TokenFixture::new().await;
        // A gateway error does not show whether the control plane exchanged the token.
        fixture.plane.answer_once("refresh-token", 502, json!({"error": "bad gateway"}));
        assert_eq!(fixture.tokens.refresh(fixture.id).await.unwrap_err().status(), Some(502));
        fixture.tokens.refresh(fixture.id).await.unwrap();
        let keys = fixture.keys();
        assert!(keys.len() == 2 && keys[0] == keys[1], "{keys:?}");
    }

    #[tokio::test]
    async fn lost_refresh_response_is_retried_immediately() {
        let fixture = TokenFixture::new().await;
        fixture.plane.lose_answers("refresh-token", 2);
        fixture.tokens.refresh(fixture.id).await.unwrap();
        let keys = fixture.keys();
        assert!(keys.len() == 3 && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    }

    #[tokio::test]
    async fn expired_token_is_renewed_with_the_desktop_key() {
        let fixture = TokenFixture::new().await;
        fixture.credentials.store_managed_key("lgk_live_x".to_owned().into()).unwrap();
        let ended = json!({"success": false, "error": "Invalid or expired runner token"});
        fixture.plane.answer_always("refresh-token", 401, ended);
        let fresh = json!({"bumped": true, "revived": true, "token": "token-9", "expiresAt": null});
        fixture.plane.answer_once("heartbeat", 200, json!({"success": true, "data": fresh}));
        let call = async |token: SecretString| match token.expose_secret() {
            "token-1" => Err(unauthorized()),
            token => Ok(token.to_owned()),
        };
        assert_eq!(fixture.tokens.call(fixture.id, call).await.as_deref(), Ok("token-9"));
        let requests = fixture.plane.requests();
        assert_eq!(requests.last().unwrap().token, "lgk_live_x");

        // The loop has ended: the 410 of the renewal replaces the 401 of the call.
        let ended = json!({"success": false, "error": "Loop is no longer running", "code": "TERMINAL_LOOP"});
        fixture.plane.answer_always("heartbeat", 410, ended);
        let call = async |_| Err::<(), _>(unauthorized());
        assert_eq!(fixture.tokens.call(fixture.id, call).await.unwrap_err().status(), Some(410));
    }

    // LR-49
    #[tokio::test]
    async fn second_lost_refresh_race_fails() {
        let fixture = TokenFixture::new().await;
        let lost = json!({"success": false, "error": "race", "code": "RACE_LOST"});
        fixture.plane.answer_always("refresh-token", 409, lost);
        let error = fixture.tokens.refresh(fixture.id).await.unwrap_err();
        assert_eq!(error.status(), Some(409));
        let keys = fixture.keys();
        assert!(keys.len() == 2 && keys[0] != keys[1], "{keys:?}");
        let result = fixture.tokens.call(fixture.id, |_| async { Err::<(), _>(unauthorized()) }).await;
        assert_eq!(result, Err(unauthorized()), "the original 401 is returned");
    }

    #[tokio::test]
    async fn unknown_loop_backs_off_before_the_next_request() {
        let fixture = TokenFixture::new().await;
        fixture.plane.answer_once("refresh-token", 404, json!({"success": false, "error": "unknown"}));
        for _ in 0..2 {
            assert_eq!(fixture.tokens.refresh(fixture.id).await.unwrap_err().status(), Some(404));
        }
        assert_eq!(fixture.keys().len(), 1);
        assert_eq!(fixture.tokens.current(fixture.id).await.unwrap().expose_secret(), "token-1");
    }
}
