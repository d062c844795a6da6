//! Runner tokens in use: looked up for every call, refreshed once when refused, forgotten at the end.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use loopgate_api::ids::LoopId;
use secrecy::SecretString;
use uuid::Uuid;

use crate::cloud::{CallError, Cloud, FreshToken};
use crate::store::{Store, StoredToken, TokenText};

/// A control plane that does not know the loop is not asked for a new token again so soon.
const NOT_FOUND_REST: Duration = Duration::from_secs(300);

type Flight = Shared<BoxFuture<'static, Result<(), CallError>>>;

/// The tokens of all loops.
#[derive(Clone)]
pub(crate) struct Tokens {
    store: Store,
    cloud: Cloud,
    /// Refreshes under way; whoever needs one of the same loop waits for it.
    flights: Arc<Mutex<HashMap<LoopId, Flight>>>,
    /// When a refresh was last answered with 404.
    not_found: Arc<Mutex<HashMap<LoopId, Instant>>>,
}

impl Tokens {
    pub fn new(store: Store, cloud: Cloud) -> Self {
        Self { store, cloud, flights: Arc::default(), not_found: Arc::default() }
    }

    /// Calls with the stored token; a refusal of the token is answered by one refresh and one more
    /// try. When the refresh fails, the refusal stands.
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
            Err(error) => {
                tracing::info!(loop_id = %id, %error, "the loop's token was refused and could not be renewed");
                first
            }
        }
    }

    /// The stored token.
    pub async fn current(&self, id: LoopId) -> Result<SecretString, CallError> {
        match self.store.token(id).await {
            Ok(Some(stored)) => Ok(stored.token.0),
            Ok(None) => Err(CallError::MissingToken),
            Err(error) => {
                tracing::error!(%error, "a token could not be read");
                Err(CallError::MissingToken)
            }
        }
    }

    /// Gets a new token; joins a refresh of the same loop that is under way.
    pub async fn refresh(&self, id: LoopId) -> Result<(), CallError> {
        let flight = {
            let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
            flights.entry(id).or_insert_with(|| self.clone().fly(id).boxed().shared()).clone()
        };
        flight.await
    }

    async fn fly(self, id: LoopId) -> Result<(), CallError> {
        let result = self.refresh_now(id).await;
        self.flights.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        result
    }

    async fn refresh_now(&self, id: LoopId) -> Result<(), CallError> {
        if self.is_resting(id) {
            return Err(CallError::Http { status: 404, code: None, text: "asked a short while ago".into() });
        }
        let stored = self.store.token(id).await.ok().flatten().ok_or(CallError::MissingToken)?;
        // A refresh that was interrupted is asked again under its own key.
        let key = match &stored.last_idempotency_key {
            Some(key) => key.clone(),
            None => self.note_key(id, &stored).await,
        };
        let mut answer = self.cloud.refresh_token(id, &stored.token.0, &key).await;
        if matches!(&answer, Err(CallError::Http { status: 409, code: Some(code), .. }) if code == "RACE_LOST")
        {
            let key = self.note_key(id, &stored).await;
            answer = self.cloud.refresh_token(id, &stored.token.0, &key).await;
        }
        match answer {
            Ok(fresh) => self.take(id, fresh).await,
            Err(error) => {
                if error.status() == Some(404) {
                    let mut not_found = self.not_found.lock().unwrap_or_else(PoisonError::into_inner);
                    not_found.insert(id, Instant::now());
                }
                if error.status().is_some() {
                    // It was answered: the next refresh is another question.
                    self.note(id, &StoredToken { last_idempotency_key: None, ..stored }).await;
                }
                Err(error)
            }
        }
    }

    /// Stores a token that replaces the present one.
    pub async fn take(&self, id: LoopId, fresh: FreshToken) -> Result<(), CallError> {
        let mut stored = StoredToken::new(fresh.token);
        stored.expires_at = fresh.expires_at.or(stored.expires_at);
        stored.jti = fresh.jti.or(stored.jti);
        self.store.put_token(id, &stored).await.map_err(|error| {
            tracing::error!(%error, "a renewed token could not be stored");
            CallError::MissingToken
        })
    }

    /// Forgets the token of a loop that is over.
    pub async fn forget(&self, id: LoopId) {
        match self.store.delete_token(id).await {
            Ok(()) => tracing::info!(loop_id = %id, "nothing is left to tell of the loop"),
            Err(error) => tracing::warn!(loop_id = %id, %error, "the loop's token could not be deleted"),
        }
    }

    /// When the token ends, milliseconds since the epoch.
    pub async fn expires_at(&self, id: LoopId) -> Option<i64> {
        self.store.token(id).await.ok().flatten()?.expires_at
    }

    async fn note_key(&self, id: LoopId, stored: &StoredToken) -> String {
        let key = Uuid::new_v4().to_string();
        self.note(id, &StoredToken { last_idempotency_key: Some(key.clone()), ..stored.clone() }).await;
        key
    }

    async fn note(&self, id: LoopId, stored: &StoredToken) {
        if let Err(error) = self.store.put_token(id, stored).await {
            tracing::warn!(loop_id = %id, %error, "the key of a refresh could not be stored");
        }
    }

    fn is_resting(&self, id: LoopId) -> bool {
        let not_found = self.not_found.lock().unwrap_or_else(PoisonError::into_inner);
        not_found.get(&id).is_some_and(|at| at.elapsed() < NOT_FOUND_REST)
    }
}

/// Wraps a text as a token.
impl From<SecretString> for TokenText {
    fn from(token: SecretString) -> Self {
        Self(token)
    }
}
