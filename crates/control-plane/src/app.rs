//! Shared state of the request handlers and background tasks.

use std::ops::Deref;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::bus::Bus;
use crate::code_host::{InstalledApp, InstalledCodeHost};
use crate::config::Config;
use crate::credentials::challenge::Challenges;
use crate::credentials::cookie::{KnownBrowserCookie, OidcCookie, SessionCookie};
use crate::credentials::origin::TrustedOrigins;
use crate::credentials::password::Passwords;
use crate::credentials::runner_token::RunnerTokens;
use crate::desktops::Desktops;
use crate::routes::stream::OpenStreams;
use crate::storage::Storage;
use crate::store::Store;
use crate::store::entity::organization;

/// Handle to the parts of a control plane; cloning it copies one `Arc`.
#[derive(Clone)]
pub struct ControlPlaneState(Arc<ControlPlaneParts>);

/// Everything that handlers and background tasks share.
pub struct ControlPlaneParts {
    pub config: Config,
    /// Origins and `Host` names that requests are accepted from.
    pub origins: TrustedOrigins,
    /// Name and attributes of the session cookie.
    pub session_cookie: SessionCookie,
    /// Cookie of browsers that have signed in with a password before.
    pub known_browser_cookie: KnownBrowserCookie,
    /// Name and attributes of the cookie that binds an OpenID sign-in to its browser.
    pub oidc_cookie: OidcCookie,
    pub store: Store,
    /// Wakes the readers of a stream after a commit.
    pub bus: Arc<dyn Bus>,
    /// Client for the code host's API; `None` when no App is configured.
    pub code_host: Option<InstalledCodeHost>,
    pub storage: Storage,
    /// Permit to read and store uploaded artifacts. SQLite has one writer: without it, every other write would
    /// wait for all uploads that arrived before.
    pub uploads: Semaphore,
    /// Connected desktops, by compute target.
    pub desktops: Arc<Desktops>,
    /// Identifies this process among the instances that share the database.
    pub instance_id: Uuid,
    pub runner_tokens: Arc<RunnerTokens>,
    pub passwords: Passwords,
    /// Signs and verifies challenges for loopback gateways.
    pub challenges: Challenges,
    /// Event streams of clients.
    pub streams: OpenStreams,
    /// Tasks that outlive the request that spawned them; shutdown waits for all of them.
    pub tasks: TaskTracker,
    /// Cancelled when a shutdown is requested; the instance is not ready any more, and serves the requests that still arrive.
    pub drain: CancellationToken,
    /// Cancelled when no further requests are accepted; event streams select on it, so that their connections can close.
    pub streams_end: CancellationToken,
    /// Cancelled when no request is in flight any more; periodic tasks select on it.
    pub shutdown: CancellationToken,
}

impl ControlPlaneState {
    pub fn new(parts: ControlPlaneParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Returns the installation of the code host's App that an organization may use.
    pub fn installation(&self, organization: &organization::Model) -> Option<InstalledApp<'_>> {
        self.code_host.as_ref()?.installation(&organization.slug)
    }
}

impl Deref for ControlPlaneState {
    type Target = ControlPlaneParts;

    fn deref(&self) -> &ControlPlaneParts {
        &self.0
    }
}
