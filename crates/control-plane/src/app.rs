//! State of the handlers.

use std::ops::Deref;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::bus::Bus;
use crate::code_host::{CodeHost, InstalledApp};
use crate::config::Config;
use crate::credentials::challenge::Challenges;
use crate::credentials::cookie::{OidcCookie, SessionCookie};
use crate::credentials::origin::TrustedOrigins;
use crate::credentials::password::Passwords;
use crate::credentials::runner_token::RunnerTokens;
use crate::desktops::Desktops;
use crate::storage::Storage;
use crate::store::Store;
use crate::store::entity::organization;

/// The parts of a control plane; cheap to clone.
#[derive(Clone)]
pub struct ControlPlaneState(Arc<ControlPlaneParts>);

/// The parts themselves.
pub struct ControlPlaneParts {
    /// As given.
    pub config: Config,
    /// Trusted pages and host names.
    pub origins: TrustedOrigins,
    /// The cookie of the web app's sessions.
    pub session_cookie: SessionCookie,
    /// The cookie of a sign-in that is at an OpenID provider.
    pub oidc_cookie: OidcCookie,
    /// The database.
    pub store: Store,
    /// Wakes readers after a change.
    pub bus: Bus,
    /// The code host, where the control plane has an App there.
    pub code_host: Option<CodeHost>,
    /// Uploaded files.
    pub storage: Storage,
    /// The connected desktops.
    pub desktops: Arc<Desktops>,
    /// Signs and reads runner tokens.
    pub runner_tokens: RunnerTokens,
    /// Hashes and verifies passwords.
    pub passwords: Passwords,
    /// Signs and reads challenges.
    pub challenges: Challenges,
    /// Everything that runs on after its request; awaited by the shutdown.
    pub tasks: TaskTracker,
    /// Cancelled when the control plane ends; streams and sweeps hold it.
    pub shutdown: CancellationToken,
}

impl ControlPlaneState {
    /// Puts the parts together.
    pub fn new(parts: ControlPlaneParts) -> Self {
        Self(Arc::new(parts))
    }

    /// The installation of the code host's App that an organization may use.
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
