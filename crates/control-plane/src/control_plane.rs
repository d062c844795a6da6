//! Opening, serving and closing a control plane.

use axum::Router;
use loopgate_link::server::ConnectionRegistry;
use sea_orm::DbErr;
use secrecy::SecretString;
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::accounts::email::EmailAddress;
use crate::accounts::{self, FirstOwner, Owner};
use crate::app::{ControlPlaneParts, ControlPlaneState};
use crate::bus::Bus;
use crate::code_host::{CodeHost, CodeHostAppError};
use crate::config::Config;
use crate::credentials::challenge::Challenges;
use crate::credentials::cookie::{OidcCookie, SessionCookie};
use crate::credentials::origin::TrustedOrigins;
use crate::credentials::password::{self, Passwords};
use crate::credentials::runner_token::RunnerTokens;
use crate::credentials::session;
use crate::desktops::credentials;
use crate::desktops::host::DesktopHost;
use crate::dispatch::{launch, presence};
use crate::error::{ApiError, ValidationIssues};
use crate::loops::reaper;
use crate::router;
use crate::routes::onboarding;
use crate::storage::Storage;
use crate::store::{Store, now};

/// A running control plane.
///
/// Everything that it does in the background is ended by [`ControlPlane::shutdown`].
#[derive(Clone)]
pub struct ControlPlane {
    app: ControlPlaneState,
}

/// Why a control plane does not open, or an inner call of it fails.
#[derive(Debug, Error)]
pub enum ControlPlaneError {
    /// The database.
    #[error("the database cannot be used: {0}")]
    Database(#[from] DbErr),
    /// The owner's password.
    #[error("the owner's password cannot be set: {0}")]
    Password(String),
    /// The App of the code host.
    #[error(transparent)]
    CodeHost(#[from] CodeHostAppError),
    /// The folder of files.
    #[error("the storage folder cannot be used: {0}")]
    Storage(#[from] object_store::Error),
}

impl ControlPlane {
    /// Connects to the database, brings its schema up to date, and begins to watch presence and
    /// overdue loops.
    ///
    /// # Errors
    /// [`ControlPlaneError`] when the database or the folder cannot be used.
    pub async fn open(config: Config) -> Result<Self, ControlPlaneError> {
        let store = Store::open(&config.database_url, config.database_schema.as_deref()).await?;
        let storage = Storage::open(&config.storage_dir, &config.api_origin, &config.secrets.storage_urls)?;
        let bus = Bus::default();
        let secure = config.web_origin.starts_with("https://");
        let app = ControlPlaneState::new(ControlPlaneParts {
            session_cookie: SessionCookie::new(&config.secrets.local_gateway, secure),
            oidc_cookie: OidcCookie::new(secure),
            origins: TrustedOrigins::new(&config.api_origin, &config.web_origin, &config.trusted_origins),
            desktops: ConnectionRegistry::new(DesktopHost { store: store.clone(), bus: bus.clone() }),
            runner_tokens: RunnerTokens::new(&config.secrets.runner_tokens),
            passwords: Passwords::default(),
            challenges: Challenges::new(&config.secrets.local_gateway),
            tasks: TaskTracker::new(),
            shutdown: CancellationToken::new(),
            code_host: config.code_host_app.as_ref().map(CodeHost::new).transpose()?,
            config,
            store,
            bus,
            storage,
        });
        if app.store.is_embedded() {
            // No other process serves this database, so no desktop is connected yet.
            presence::sweep(&app, now() + 1).await?;
        }
        app.tasks.spawn(launch::recover(app.clone()));
        app.tasks.spawn(presence::run(app.clone()));
        app.tasks.spawn(reaper::run(app.clone()));
        app.tasks.spawn(credentials::run(app.clone()));
        Ok(Self { app })
    }

    /// The service: API, the desktops' WebSocket, and the web app.
    pub fn router(&self) -> Router {
        router::service(self.app.clone())
    }

    /// The first owner: the one that exists, else a new one in a new organization.
    ///
    /// # Errors
    /// The database failed.
    pub async fn ensure_first_owner(&self, first: &FirstOwner) -> Result<Owner, ControlPlaneError> {
        Ok(accounts::ensure_first_owner(&self.app.store, first).await?)
    }

    /// Gives the first owner a password, so that it signs in with its e-mail address; one that is set
    /// already stays.
    ///
    /// # Errors
    /// The address or the password does not fit, or the database failed.
    pub async fn set_first_password(
        &self,
        owner: &Owner,
        secret: SecretString,
    ) -> Result<(), ControlPlaneError> {
        let refused = |error: ApiError| ControlPlaneError::Password(error.body.error);
        let address = EmailAddress::parse(&owner.email)
            .ok_or_else(|| ControlPlaneError::Password(format!("`{}` is no e-mail address", owner.email)))?;
        let mut issues = ValidationIssues::default();
        password::check_new(&mut issues, "password", &secret);
        issues.into_result().map_err(refused)?;
        let hash = self.app.passwords.hash(secret).await.map_err(refused)?;
        let store = &self.app.store;
        Ok(accounts::set_first_password(store, owner.user_id, address.as_str(), hash).await?)
    }

    /// A link that signs a person in once, within ten minutes. The page trades the token and
    /// forgets the address; no page of ours tells another where its reader came from.
    ///
    /// # Errors
    /// The database failed.
    pub async fn sign_in_link(&self, owner: &Owner) -> Result<String, ControlPlaneError> {
        let token = session::create_link(&self.app.store, owner.user_id, "link").await?;
        Ok(format!("{}/sign-in?token={token}", self.app.config.web_origin))
    }

    /// An attempt with which the owner's desktop claims its key, within an hour. The claim names
    /// the web origin of this control plane.
    ///
    /// # Errors
    /// The database failed.
    pub async fn onboarding_attempt_for_owner(&self, owner: &Owner) -> Result<String, ControlPlaneError> {
        let origin = &self.app.config.web_origin;
        let attempt =
            onboarding::create_for(&self.app.store, owner.user_id, owner.organization_id, origin).await?;
        Ok(attempt.onboarding_attempt_id)
    }

    /// The parts, for the tests.
    #[cfg(test)]
    pub(crate) fn app(&self) -> ControlPlaneState {
        self.app.clone()
    }

    /// Ends connections, streams and background work, and closes the database.
    ///
    /// # Errors
    /// The database failed while it was closed.
    pub async fn shutdown(&self) -> Result<(), ControlPlaneError> {
        self.app.shutdown.cancel();
        self.app.desktops.shutdown().await;
        self.app.tasks.close();
        self.app.tasks.wait().await;
        Ok(self.app.store.close().await?)
    }
}
