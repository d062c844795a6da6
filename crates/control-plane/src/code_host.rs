//! Client for the code host, authenticated as a GitHub App: lists the repositories that an installation can
//! access, checks branches, and issues tokens restricted to one repository.

use std::collections::HashMap;

use http::StatusCode;
use loopgate_api::launch::RepoRef;
use octocrab::Octocrab;
use octocrab::models::{AppId, InstallationId};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::CodeHostApp;

// Permissions of a runner's token: push branches and open pull requests; `metadata` is mandatory.
const PERMISSIONS: [(&str, &str); 3] =
    [("contents", "write"), ("pull_requests", "write"), ("metadata", "read")];

// Page size of listings; 100 is the maximum that GitHub accepts.
const PAGE: u32 = 100;

/// The App, and the installation id of each organization by slug.
#[derive(Debug)]
pub struct InstalledCodeHost {
    app: Octocrab,
    installations: HashMap<String, InstallationId>,
}

/// The reason why a request to the code host failed.
#[derive(Debug, thiserror::Error)]
pub enum InstallationError {
    /// The installation cannot access the repository.
    #[error("the installation has no access to the repository")]
    NoAccess,
    /// The code host did not respond, or rejected the request for another reason.
    #[error("the code host is unavailable: {0}")]
    Unavailable(String),
}

/// The App is misconfigured: its private key is not a PEM-encoded RSA key, or the API URL is invalid.
#[derive(Debug, thiserror::Error)]
#[error("the GitHub App is misconfigured: {}", cause(.0))]
pub struct CodeHostAppError(#[from] octocrab::Error);

#[derive(Deserialize)]
struct Installation {
    id: InstallationId,
}

#[derive(Deserialize)]
struct CreatedToken {
    token: SecretString,
    // The repositories that the token is restricted to; absent when it covers the whole installation.
    #[serde(default)]
    repositories: Vec<RepositoryName>,
}

#[derive(Deserialize)]
struct AccessibleRepositories {
    repositories: Vec<RepositoryName>,
}

#[derive(Deserialize)]
struct RepositoryName {
    full_name: String,
}

/// An installation of the App, and the client to act as it.
#[derive(Debug, Clone, Copy)]
pub struct InstalledApp<'a> {
    host: &'a InstalledCodeHost,
    id: InstallationId,
}

impl InstalledCodeHost {
    /// Builds the client without sending a request. Must be called within a tokio runtime.
    pub fn new(config: &CodeHostApp) -> Result<Self, CodeHostAppError> {
        let key = config.private_key.expose_secret();
        let mut builder = Octocrab::builder().app_from_rsa_pem(AppId(config.id), key)?;
        if let Some(url) = &config.api_url {
            builder = builder.base_uri(url.as_str())?;
        }
        let installations = config.installations.iter();
        Ok(Self {
            app: builder.build()?,
            installations: installations.map(|(slug, id)| (slug.clone(), InstallationId(*id))).collect(),
        })
    }

    /// Returns the installation that an organization may use.
    pub fn installation(&self, organization: &str) -> Option<InstalledApp<'_>> {
        self.installations.get(organization).map(|id| InstalledApp { host: self, id: *id })
    }
}

impl InstalledApp<'_> {
    /// Lists the full names of the repositories that the installation can access, sorted.
    pub async fn repositories(&self) -> Result<Vec<String>, InstallationError> {
        let created = self.create_token(json!({"permissions": {"metadata": "read"}})).await?;
        let client = self.host.app.user_access_token(created.token).map_err(unavailable)?;
        let mut names: Vec<String> = Vec::new();
        for page in 1_u32.. {
            let query = [("per_page", PAGE), ("page", page)];
            let listing: AccessibleRepositories =
                client.get("/installation/repositories", Some(&query)).await.map_err(unavailable)?;
            let is_last = listing.repositories.len() < PAGE as usize;
            names.extend(listing.repositories.into_iter().map(|repository| repository.full_name));
            if is_last {
                break;
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns whether the installation can access a repository.
    pub async fn can_access(&self, full_name: &str) -> Result<bool, InstallationError> {
        let response = self.host.app.get(format!("/repos/{full_name}/installation"), None::<&()>).await;
        // The App may be installed for several organizations; only this one's installation counts.
        let installation: Option<Installation> = not_found_as_none(response)?;
        Ok(installation.is_some_and(|installation| installation.id == self.id))
    }

    /// Returns whether a branch exists in a repository that the installation can access.
    pub async fn has_branch(&self, repo: &RepoRef) -> Result<bool, InstallationError> {
        let token = self.token(&repo.full_name).await?;
        let client = self.host.app.user_access_token(token).map_err(unavailable)?;
        let route = format!("/repos/{}/branches/{}", repo.full_name, repo.branch);
        let branch: Option<Value> = not_found_as_none(client.get(route, None::<&()>).await)?;
        Ok(branch.is_some())
    }

    /// Issues a token restricted to one repository, valid for an hour.
    pub async fn token(&self, full_name: &str) -> Result<SecretString, InstallationError> {
        let name = full_name.rsplit('/').next().unwrap_or_default();
        let permissions: HashMap<&str, &str> = PERMISSIONS.into_iter().collect();
        let created = self.create_token(json!({"repositories": [name], "permissions": permissions})).await?;
        // GitHub selects repositories by name within the installation's account and ignores the owner in our
        // full name, so verify that the token is for the repository that was requested.
        match created.repositories.as_slice() {
            [only] if only.full_name.eq_ignore_ascii_case(full_name) => Ok(created.token),
            _ => Err(InstallationError::NoAccess),
        }
    }

    async fn create_token(&self, body: Value) -> Result<CreatedToken, InstallationError> {
        let route = format!("/app/installations/{}/access_tokens", self.id);
        let created: Result<CreatedToken, _> = self.host.app.post(route, Some(&body)).await;
        created.map_err(|error| match status(&error) {
            // GitHub's responses for an uninstalled App, a suspended installation and an unknown repository.
            Some(StatusCode::NOT_FOUND | StatusCode::FORBIDDEN | StatusCode::UNPROCESSABLE_ENTITY) => {
                InstallationError::NoAccess
            }
            _ => unavailable(error),
        })
    }
}

fn not_found_as_none<T>(response: Result<T, octocrab::Error>) -> Result<Option<T>, InstallationError> {
    match response {
        Ok(value) => Ok(Some(value)),
        Err(error) if status(&error) == Some(StatusCode::NOT_FOUND) => Ok(None),
        Err(error) => Err(unavailable(error)),
    }
}

fn status(error: &octocrab::Error) -> Option<StatusCode> {
    match error {
        octocrab::Error::GitHub { source, .. } => Some(source.status_code),
        _ => None,
    }
}

fn unavailable(error: octocrab::Error) -> InstallationError {
    InstallationError::Unavailable(cause(&error))
}

// `Display` of `octocrab::Error` appends a backtrace, so build the message from its parts.
fn cause(error: &octocrab::Error) -> String {
    match error {
        octocrab::Error::GitHub { source, .. } => format!("{} {}", source.status_code, source.message),
        other => {
            std::error::Error::source(other).map_or_else(|| "no response".to_owned(), ToString::to_string)
        }
    }
}
