//! Browser keys that may sign commands: reconciles the control plane's list with this desktop's
//! `authorized_keys.json`, and fetches the credentials of signed loops.

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

/// Interval between reconciliations, in addition to those on connect and on a key's request. Covers lost
/// requests and keys that were deleted at the control plane.
const RECONCILE_INTERVAL: Duration = Duration::from_mins(5);

/// Returns the user's home directory. Its state directory contains the key file.
pub fn user_home() -> anyhow::Result<PathBuf> {
    etcetera::home_dir()
        .context("cannot determine your home directory, which contains the browser keys; set HOME")
}

/// Keeps the key file in sync with the control plane, and notifies the user of keys that request
/// authorization.
pub struct BrowserKeys {
    runtime: Arc<Runtime>,
    keys: AuthorizedKeys,
    /// Keys that requested authorization since the last reconciliation. The user is notified of them even if
    /// they were pending before.
    requesting: Mutex<Vec<Fingerprint>>,
    wake: Notify,
}

impl BrowserKeys {
    /// Uses the key file in a user's home directory.
    pub fn new(runtime: Arc<Runtime>, home: PathBuf) -> Self {
        let keys = AuthorizedKeys::of_home(&home);
        Self { runtime, keys, requesting: Mutex::default(), wake: Notify::new() }
    }

    pub fn file(&self) -> AuthorizedKeys {
        self.keys.clone()
    }

    /// Records that a browser key requests authorization, and triggers a reconciliation.
    pub fn on_request(&self, fingerprint: Fingerprint) {
        self.requesting.lock().unwrap_or_else(PoisonError::into_inner).push(fingerprint);
        self.wake.notify_one();
    }

    /// Reconciles the keys when the link comes online, when a key requests authorization, and every
    /// [`RECONCILE_INTERVAL`]. Returns when the link has ended.
    pub async fn run(self: Arc<Self>, mut link: watch::Receiver<LinkState>) {
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
                () = tokio::time::sleep(RECONCILE_INTERVAL) => {}
            }
        }
    }

    async fn reconcile(&self, target_id: Uuid) {
        let organization_keys = match self.runtime.control_plane.browser_keys(target_id).await {
            Ok(organization_keys) => organization_keys,
            Err(error) => {
                tracing::warn!(%error, "failed to fetch the browser keys from the control plane");
                return;
            }
        };
        let keys = self.keys.clone();
        // Blocking file I/O, off the few async worker threads.
        let reconciled = tokio::task::spawn_blocking(move || {
            let new = keys.reconcile(organization_keys)?;
            Ok::<_, loopgate_home::KeyDecisionError>((new, keys.pending()?))
        });
        match reconciled.await {
            Ok(Ok((new, pending))) => {
                // Notifies once per request: keys that stay pending do not notify at every reconciliation.
                let requesting =
                    std::mem::take(&mut *self.requesting.lock().unwrap_or_else(PoisonError::into_inner));
                let is_due = |key: &Fingerprint| new.contains(key) || requesting.contains(key);
                for key in pending.iter().filter(|key| is_due(&key.fingerprint)) {
                    let command = format!("loopgate keys authorize {}", key.fingerprint);
                    self.runtime.notifications.notify_of_key(&key.fingerprint, &key.owner_name, &command);
                }
            }
            Ok(Err(error)) => {
                let file = self.keys.path().display();
                tracing::error!(%file, %error, "failed to update the authorized browser keys");
            }
            // Cancelled by the shutdown, or panicked, which the panic hook has reported.
            Err(_) => {}
        }
    }
}

/// Fetches loop credentials from the control plane, authenticated by the key that is bound to this desktop.
pub struct DesktopLoopCredentials(pub ControlPlaneClient);

impl LoopCredentials for DesktopLoopCredentials {
    fn fetch(
        &self,
        target_id: Uuid,
        loop_id: String,
        command_id: String,
    ) -> BoxFuture<'_, Result<Value, String>> {
        async move {
            let credentials = self.0.execution_credentials(target_id, &loop_id, &command_id).await;
            credentials.map_err(|error| error.to_string())
        }
        .boxed()
    }
}
