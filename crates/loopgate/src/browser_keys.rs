//! Browser keys that may sign commands: the list of the control plane held against the file of this desktop, and the
//! server's part of signed loops.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use loopgate_api::link::Fingerprint;
use loopgate_home::AuthorizedKeys;
use loopgate_link::client::LinkState;
use loopgate_link::executor::LoopCredentials;
use loopgate_runtime::{ControlPlaneClient, Runtime};
use serde_json::Value;
use tokio::sync::{Notify, watch};
use uuid::Uuid;

/// Time between two looks at the control plane's list.
const LIST_EVERY: Duration = Duration::from_mins(5);

/// The user's home, whose state directory holds the file of keys.
pub fn user_home() -> anyhow::Result<PathBuf> {
    etcetera::home_dir().context("cannot tell where your home directory is, which holds the browser keys")
}

/// Keeps the file of keys in step with the control plane, and tells the user of keys that ask.
pub struct BrowserKeys {
    runtime: Arc<Runtime>,
    keys: AuthorizedKeys,
    /// Keys whose browsers asked just now; told of although they asked before.
    asked: Mutex<Vec<Fingerprint>>,
    wake: Notify,
}

impl BrowserKeys {
    /// The keys in a user's home.
    pub fn new(runtime: Arc<Runtime>, home: PathBuf) -> Self {
        let keys = AuthorizedKeys::of_home(&home);
        Self { runtime, keys, asked: Mutex::default(), wake: Notify::new() }
    }

    /// The file.
    pub fn file(&self) -> AuthorizedKeys {
        self.keys.clone()
    }

    /// The control plane says that a key asks.
    pub fn asks(&self, fingerprint: Fingerprint) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(fingerprint);
        self.wake.notify_one();
    }

    /// Looks at the control plane's list whenever this desktop has come online there, when a key asks, and every five
    /// minutes.
    pub async fn keep_listed(self: Arc<Self>, mut link: watch::Receiver<LinkState>) {
        loop {
            let online = match *link.borrow_and_update() {
                LinkState::Online { target_id, supports_signing: true } => Some(target_id),
                _ => None,
            };
            if let Some(target_id) = online {
                self.reconcile(target_id).await;
            }
            tokio::select! {
                changed = link.changed() => if changed.is_err() { return },
                () = self.wake.notified() => {}
                () = tokio::time::sleep(LIST_EVERY) => {}
            }
        }
    }

    async fn reconcile(&self, target_id: Uuid) {
        let listed = match self.runtime.control_plane.browser_keys(target_id).await {
            Ok(listed) => listed,
            Err(error) => {
                tracing::warn!(%error, "the control plane's list of browser keys could not be read");
                return;
            }
        };
        let keys = self.keys.clone();
        let changed = tokio::task::spawn_blocking(move || {
            let new = keys.reconcile(listed)?;
            Ok::<_, loopgate_home::KeyDecisionError>((new, keys.pending()?))
        });
        match changed.await {
            Ok(Ok((new, pending))) => {
                let asked = std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner));
                let tells = |name: &Fingerprint| new.contains(name) || asked.contains(name);
                for key in pending.iter().filter(|key| tells(&key.fingerprint)) {
                    let command = format!("loopgate keys authorize {}", key.fingerprint);
                    self.runtime.notifications.notify_of_key(&key.fingerprint, &key.owner_name, &command);
                }
            }
            Ok(Err(error)) => {
                let file = self.keys.path().display();
                tracing::error!(%file, %error, "the authorized browser keys could not be updated");
            }
            Err(_) => {}
        }
    }
}

/// Asks the control plane with the key that is bound to this desktop.
pub struct DesktopLoopCredentials(pub ControlPlaneClient);

impl LoopCredentials for DesktopLoopCredentials {
    fn fetch(
        &self,
        target_id: Uuid,
        loop_id: String,
        command_id: String,
    ) -> BoxFuture<'_, Result<Value, String>> {
        async move {
            let fetched = self.0.execution_credentials(target_id, &loop_id, &command_id).await;
            fetched.map_err(|error| error.to_string())
        }
        .boxed()
    }
}
