//! Configuration of a control plane.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Debug;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use loopgate_api::ids::RepoFullName;
use secrecy::SecretString;
use serde::Serialize;
use utoipa::ToSchema;

/// Settings of a control plane. This crate reads neither files nor environment variables; the binary does.
#[derive(Debug, Clone)]
pub struct Config {
    /// URL of the database: `sqlite://<path>?mode=rwc` or `postgres://…`.
    pub database_url: String,
    /// PostgreSQL schema; `None` uses the server's default search path.
    pub database_schema: Option<String>,
    /// Directory of uploaded files; created when missing.
    pub storage_dir: PathBuf,
    /// Origin under which desktops and runners reach this API, for example `http://127.0.0.1:19440`.
    pub api_origin: String,
    /// Origin of the web app; equals `api_origin` when this server also serves the app.
    pub web_origin: String,
    /// Base URL for links to the code host in the web app; `None` is `https://github.com`.
    pub code_host_url: Option<String>,
    /// Port of the gateway in the same process; `None` on a server for several machines.
    pub gateway_port: Option<u16>,
    /// What the demonstration can do; `None` outside of it.
    pub demonstration: Option<Demonstration>,
    /// Additional origins that may send requests from a browser.
    pub trusted_origins: Vec<String>,
    /// Reverse proxies whose `X-Forwarded-For` header is trusted.
    pub trusted_proxies: Vec<IpAddr>,
    /// Lists the repositories of this machine; `None` on a server that several users share.
    pub machine_repositories: Option<Arc<dyn MachineRepositories>>,
    /// GitHub App for access to the code host; `None` where desktops use their own credentials.
    pub code_host_app: Option<CodeHostApp>,
    /// OpenID provider for sign-in in addition to local accounts.
    pub oidc: Option<OidcProvider>,
    pub secrets: Secrets,
}

/// The change that the scripted model of the demonstration implements. The page of a new change request contains it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Demonstration {
    /// Full name of the repository, `<org>/<repo>`.
    pub repository: String,
    /// Text of the request.
    pub request: String,
}

/// Credentials and installations of a GitHub App.
#[derive(Debug, Clone)]
pub struct CodeHostApp {
    /// The App's numeric id.
    pub id: u64,
    /// The App's RSA private key, PEM-encoded.
    pub private_key: SecretString,
    /// Base URL of the API; `None` is `https://api.github.com`.
    pub api_url: Option<String>,
    /// Installation ids by organization slug. Set by the operator: an organization that could name its own
    /// installation could reach another organization's repositories.
    pub installations: HashMap<String, u64>,
}

/// Configuration of an OpenID provider.
#[derive(Debug, Clone)]
pub struct OidcProvider {
    /// Issuer URL; endpoints and keys come from `<issuer>/.well-known/openid-configuration`.
    pub issuer: String,
    /// Client id registered at the provider.
    pub client_id: String,
    /// Client secret; `None` for a public client.
    pub client_secret: Option<SecretString>,
    /// Display name on the sign-in page.
    pub name: String,
    /// Scopes to request in addition to `openid`.
    pub scopes: Vec<String>,
    /// Claim that lists a user's groups; `None` disables the mapping of groups to roles.
    pub groups_claim: Option<String>,
    /// Groups whose users become administrators.
    pub admin_groups: Vec<String>,
    /// Groups whose users become members; when empty, every user does.
    pub member_groups: Vec<String>,
    /// Slug of the organization that users of this provider join automatically; `None` requires an
    /// invitation.
    pub organization: Option<String>,
}

/// Secrets of a control plane, at least 32 characters each. Generated once and stored in its data directory.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// Signs runner tokens (`LOOP_RUNNER_JWT_SECRET`).
    pub runner_tokens: SecretString,
    /// Signs challenges for loopback gateways (`LOCAL_GATEWAY_JWT_SECRET`).
    pub local_gateway: SecretString,
    /// Signs the URLs of stored files.
    pub storage_urls: SecretString,
}

impl Secrets {
    /// Generates random secrets, 256 bits each.
    #[must_use]
    pub fn generate() -> Self {
        let secret = || SecretString::from(hex::encode(rand::random::<[u8; 32]>()));
        Self { runner_tokens: secret(), local_gateway: secret(), storage_urls: secret() }
    }
}

/// The repositories of the machine that the control plane runs on, when it serves only its user. Every
/// organization of this control plane may use them.
pub trait MachineRepositories: Debug + Send + Sync {
    /// Returns the full names of the repositories. Reads files, so it may block.
    ///
    /// # Errors
    /// Fails when the list cannot be read.
    fn full_names(&self) -> Result<Vec<RepoFullName>, Box<dyn Error + Send + Sync>>;
}
