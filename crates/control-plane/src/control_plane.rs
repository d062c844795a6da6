//! Opening, serving and closing a control plane.

use std::sync::Arc;

use axum::Router;
use loopgate_link::server::ConnectionRegistry;
use sea_orm::DbErr;
use secrecy::SecretString;
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::accounts::email::EmailAddress;
use crate::accounts::{self, FirstOwner, Owner};
use crate::app::{ControlPlaneParts, ControlPlaneState};
use crate::audit::Actor;
use crate::bus::{Bus, LocalBus, PostgresBus};
use crate::change_requests::{self, deletion};
use crate::code_host::{CodeHostAppError, InstalledCodeHost};
use crate::config::Config;
use crate::credentials::challenge::Challenges;
use crate::credentials::cookie::{KnownBrowserCookie, OidcCookie, SessionCookie};
use crate::credentials::origin::TrustedOrigins;
use crate::credentials::password::{self, Passwords};
use crate::credentials::runner_token::RunnerTokens;
use crate::credentials::session;
use crate::desktops::host::DesktopHost;
use crate::desktops::{connections, credentials};
use crate::dispatch::{forward, launch_queue, presence};
use crate::error::{ApiError, ValidationIssues};
use crate::loops::reaper;
use crate::router;
use crate::routes::onboarding;
use crate::routes::stream::OpenStreams;
use crate::storage::Storage;
use crate::store::{Store, now};

/// A running control plane.
///
/// Its background tasks run until [`ControlPlane::shutdown`].
#[derive(Clone)]
pub struct ControlPlane {
    app: ControlPlaneState,
}

/// The reason why a control plane cannot be opened, or one of its operations fails.
#[derive(Debug, Error)]
pub enum ControlPlaneError {
    /// The database connection, a migration or a query failed.
    #[error("cannot use the database: {0}")]
    Database(#[from] DbErr),
    /// The owner's e-mail address or password is not acceptable.
    #[error("cannot set the owner's password: {0}")]
    Password(String),
    /// The GitHub App is misconfigured.
    #[error(transparent)]
    CodeHost(#[from] CodeHostAppError),
    /// The storage directory cannot be created or read.
    #[error("cannot use the storage directory: {0}")]
    Storage(#[from] object_store::Error),
}

impl ControlPlane {
    /// Connects to the database, applies migrations, and starts the background tasks: derivation of change requests of
    /// earlier versions, takeover of interrupted launches, delivery of commands of other instances, presence of desktops,
    /// the reaper, removal of deleted documents, and revocation of desktop credentials.
    ///
    /// # Errors
    /// Fails with [`ControlPlaneError`] when the database or the storage directory cannot be used.
    pub async fn open(config: Config) -> Result<Self, ControlPlaneError> {
        let store = Store::open(&config.database_url, config.database_schema.as_deref()).await?;
        let storage = Storage::open(&config.storage_dir, &config.api_origin, &config.secrets.storage_urls)?;
        let instance_id = Uuid::now_v7();
        let bus: Arc<dyn Bus> = if store.is_embedded() {
            Arc::new(LocalBus::default())
        } else {
            let (url, schema) = (&config.database_url, config.database_schema.as_deref());
            Arc::new(PostgresBus::start(url, schema, instance_id)?)
        };
        let runner_tokens = Arc::new(RunnerTokens::new(&config.secrets.runner_tokens));
        let host = DesktopHost {
            store: store.clone(),
            bus: bus.clone(),
            instance_id,
            runner_tokens: runner_tokens.clone(),
        };
        let secure = config.web_origin.starts_with("https://");
        let app = ControlPlaneState::new(ControlPlaneParts {
            session_cookie: SessionCookie::new(&config.secrets.local_gateway, secure),
            known_browser_cookie: KnownBrowserCookie::new(&config.secrets.local_gateway, secure),
            oidc_cookie: OidcCookie::new(secure),
            origins: TrustedOrigins::new(&config.api_origin, &config.web_origin, &config.trusted_origins),
            desktops: ConnectionRegistry::new(host),
            runner_tokens,
            passwords: Passwords::default(),
            challenges: Challenges::new(&config.secrets.local_gateway),
            instance_id,
            streams: OpenStreams::default(),
            uploads: Semaphore::new(1),
            tasks: TaskTracker::new(),
            drain: CancellationToken::new(),
            streams_end: CancellationToken::new(),
            shutdown: CancellationToken::new(),
            code_host: config.code_host_app.as_ref().map(InstalledCodeHost::new).transpose()?,
            config,
            store,
            bus,
            storage,
        });
        if app.store.is_embedded() {
            // SQLite has one process, so every desktop that is still marked online belongs to an earlier run.
            // `+ 1` includes desktops that were seen in this very millisecond.
            presence::sweep(&app, now() + 1).await?;
        } else {
            // Before the first desktop connects: other instances end the connections of unknown ones.
            connections::report(&app).await?;
        }
        app.tasks.spawn(change_requests::run_backfill(app.clone()));
        app.tasks.spawn(launch_queue::run(app.clone()));
        app.tasks.spawn(forward::run(app.clone()));
        app.tasks.spawn(connections::run(app.clone()));
        app.tasks.spawn(presence::run(app.clone()));
        app.tasks.spawn(reaper::run(app.clone()));
        app.tasks.spawn(deletion::run(app.clone()));
        app.tasks.spawn(credentials::run(app.clone()));
        Ok(Self { app })
    }

    /// Returns the HTTP service: API, WebSocket of the desktops, and web app.
    pub fn router(&self) -> Router {
        router::service(self.app.clone())
    }

    /// Returns the first owner, creating the owner and an organization on the first start.
    ///
    /// # Errors
    /// Fails when the database fails.
    pub async fn ensure_first_owner(&self, first: &FirstOwner) -> Result<Owner, ControlPlaneError> {
        Ok(accounts::ensure_first_owner(&self.app.store, first).await?)
    }

    /// Sets the first owner's password, which allows sign-in with the e-mail address. Keeps an existing
    /// password.
    ///
    /// # Errors
    /// Fails when the address or the password is not acceptable, or the database fails.
    pub async fn set_first_password(
        &self,
        owner: &Owner,
        secret: SecretString,
    ) -> Result<(), ControlPlaneError> {
        let rejected = |error: ApiError| ControlPlaneError::Password(error.body.error);
        let address = EmailAddress::parse(&owner.email).ok_or_else(|| {
            ControlPlaneError::Password(format!("`{}` is not an e-mail address", owner.email))
        })?;
        let mut issues = ValidationIssues::default();
        password::check_new(&mut issues, "password", &secret);
        issues.into_result().map_err(rejected)?;
        let hash = self.app.passwords.hash(secret).await.map_err(rejected)?;
        let store = &self.app.store;
        Ok(accounts::set_first_password(store, owner.user_id, address.as_str(), hash).await?)
    }

    /// Creates a link that signs the owner in once, within ten minutes. The page exchanges the token and
    /// removes it from the address bar; `Referrer-Policy: no-referrer` keeps it out of the requests of the
    /// page.
    ///
    /// # Errors
    /// Fails when the database fails.
    pub async fn sign_in_link(&self, owner: &Owner) -> Result<String, ControlPlaneError> {
        let token = session::create_link(&self.app.store, owner.user_id, "link", None).await?;
        Ok(format!("{}/sign-in?token={token}", self.app.config.web_origin))
    }

    /// Creates an onboarding attempt: within an hour, the owner's desktop can claim its API key with it. The
    /// claim must name this control plane's web origin.
    ///
    /// # Errors
    /// Fails when the database fails.
    pub async fn onboarding_attempt_for_owner(&self, owner: &Owner) -> Result<String, ControlPlaneError> {
        let origin = &self.app.config.web_origin;
        let actor = Actor::user(owner.user_id);
        let attempt =
            onboarding::create_for(&self.app.store, owner.user_id, owner.organization_id, origin, &actor)
                .await?;
        Ok(attempt.onboarding_attempt_id)
    }

    #[cfg(test)]
    pub(crate) fn app(&self) -> ControlPlaneState {
        self.app.clone()
    }

    /// Makes `GET /health/ready` fail, so that a load balancer sends requests to other instances. The first step of a
    /// shutdown: everything else continues.
    pub fn drain(&self) {
        self.app.drain.cancel();
    }

    /// Ends all event streams. The second step of a shutdown: requests in flight, connections of desktops and
    /// background tasks continue.
    pub fn end_streams(&self) {
        self.app.streams_end.cancel();
    }

    /// Closes connections and streams, waits for background tasks, and closes the database.
    ///
    /// # Errors
    /// Fails when the database cannot be closed.
    pub async fn shutdown(&self) -> Result<(), ControlPlaneError> {
        // The order matters: tasks and connections write their last rows before the database closes.
        self.end_streams();
        self.app.shutdown.cancel();
        self.app.desktops.shutdown().await;
        self.app.tasks.close();
        self.app.tasks.wait().await;
        self.app.bus.close().await;
        Ok(self.app.store.close().await?)
    }
}
