//! The code host, asked as an App: which repositories an organization's installation reaches, which branches they
//! have, and tokens for one repository each.

use std::collections::HashMap;

use http::StatusCode;
use loopgate_api::launch::RepoRef;
use octocrab::Octocrab;
use octocrab::models::{AppId, InstallationId};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::CodeHostApp;

/// What a runner may do in its repository.
const PERMISSIONS: [(&str, &str); 3] =
    [("contents", "write"), ("pull_requests", "write"), ("metadata", "read")];

/// Repositories that the code host lists at once.
const PAGE: u32 = 100;

/// The App, with the installations of the organizations.
#[derive(Debug)]
pub struct CodeHost {
    app: Octocrab,
    installations: HashMap<String, InstallationId>,
}

/// Why the code host did not give what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum CodeHostError {
    /// The installation does not reach the repository.
    #[error("the installation does not reach the repository")]
    NoAccess,
    /// The code host did not answer, or refused for a reason of its own.
    #[error("the code host did not answer: {0}")]
    Unavailable(String),
}

/// An App that cannot be used: its key is no RSA key in PEM, or the address of the API is none.
#[derive(Debug, thiserror::Error)]
#[error("the App of the code host cannot be used: {}", cause(.0))]
pub struct CodeHostAppError(#[from] octocrab::Error);

#[derive(Deserialize)]
struct Installation {
    id: InstallationId,
}

#[derive(Deserialize)]
struct CreatedToken {
    token: SecretString,
    /// Those to which the token is narrowed.
    #[serde(default)]
    repositories: Vec<NamedRepository>,
}

#[derive(Deserialize)]
struct ReachedRepositories {
    repositories: Vec<NamedRepository>,
}

#[derive(Deserialize)]
struct NamedRepository {
    full_name: String,
}

/// One installation.
#[derive(Debug, Clone, Copy)]
pub struct InstalledApp<'a> {
    host: &'a CodeHost,
    id: InstallationId,
}

impl CodeHost {
    /// Makes the client. Nothing is asked yet. Runs on a tokio runtime.
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

    /// The installation that an organization may use.
    pub fn installation(&self, organization: &str) -> Option<InstalledApp<'_>> {
        self.installations.get(organization).map(|id| InstalledApp { host: self, id: *id })
    }
}

impl InstalledApp<'_> {
    /// Full names of the repositories that it reaches.
    pub async fn repositories(&self) -> Result<Vec<String>, CodeHostError> {
        let created = self.create_token(json!({"permissions": {"metadata": "read"}})).await?;
        let client = self.host.app.user_access_token(created.token).map_err(unavailable)?;
        let mut names: Vec<String> = Vec::new();
        for page in 1_u32.. {
            let query = [("per_page", PAGE), ("page", page)];
            let found: ReachedRepositories =
                client.get("/installation/repositories", Some(&query)).await.map_err(unavailable)?;
            let is_last = found.repositories.len() < PAGE as usize;
            names.extend(found.repositories.into_iter().map(|repository| repository.full_name));
            if is_last {
                break;
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Whether the installation reaches a repository.
    pub async fn reaches(&self, full_name: &str) -> Result<bool, CodeHostError> {
        let found = self.host.app.get(format!("/repos/{full_name}/installation"), None::<&()>).await;
        let found: Option<Installation> = absent_is_none(found)?;
        Ok(found.is_some_and(|installation| installation.id == self.id))
    }

    /// Whether a repository that it reaches has a branch.
    pub async fn has_branch(&self, repo: &RepoRef) -> Result<bool, CodeHostError> {
        let token = self.token(&repo.full_name).await?;
        let client = self.host.app.user_access_token(token).map_err(unavailable)?;
        let route = format!("/repos/{}/branches/{}", repo.full_name, repo.branch);
        let found: Option<Value> = absent_is_none(client.get(route, None::<&()>).await)?;
        Ok(found.is_some())
    }

    /// A token for one repository and nothing else, good for an hour.
    pub async fn token(&self, full_name: &str) -> Result<SecretString, CodeHostError> {
        let name = full_name.rsplit('/').next().unwrap_or_default();
        let permissions: HashMap<&str, &str> = PERMISSIONS.into_iter().collect();
        let created = self.create_token(json!({"repositories": [name], "permissions": permissions})).await?;
        // The name alone may be that of another owner's repository.
        match created.repositories.as_slice() {
            [only] if only.full_name.eq_ignore_ascii_case(full_name) => Ok(created.token),
            _ => Err(CodeHostError::NoAccess),
        }
    }

    async fn create_token(&self, body: Value) -> Result<CreatedToken, CodeHostError> {
        let route = format!("/app/installations/{}/access_tokens", self.id);
        let created: Result<CreatedToken, _> = self.host.app.post(route, Some(&body)).await;
        created.map_err(|error| match status(&error) {
            Some(StatusCode::NOT_FOUND | StatusCode::FORBIDDEN | StatusCode::UNPROCESSABLE_ENTITY) => {
                CodeHostError::NoAccess
            }
            _ => unavailable(error),
        })
    }
}

fn absent_is_none<T>(answer: Result<T, octocrab::Error>) -> Result<Option<T>, CodeHostError> {
    match answer {
        Ok(found) => Ok(Some(found)),
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

fn unavailable(error: octocrab::Error) -> CodeHostError {
    CodeHostError::Unavailable(cause(&error))
}

/// What went wrong; the error's own text ends with a backtrace.
fn cause(error: &octocrab::Error) -> String {
    match error {
        octocrab::Error::GitHub { source, .. } => format!("{} {}", source.status_code, source.message),
        other => std::error::Error::source(other).map_or_else(|| "no answer".to_owned(), ToString::to_string),
    }
}
