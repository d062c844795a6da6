//! Configuration of a control plane.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Debug;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use loopgate_api::ids::RepoFullName;
use secrecy::SecretString;

/// Settings of a control plane. The binary reads them from wherever its user keeps them.
#[derive(Debug, Clone)]
pub struct Config {
    /// `sqlite://<path>?mode=rwc` or `postgres://…`.
    pub database_url: String,
    /// PostgreSQL schema; `None` is the server's default.
    pub database_schema: Option<String>,
    /// Folder of uploaded files.
    pub storage_dir: PathBuf,
    /// Origin under which desktops and runners reach this API, for example `http://127.0.0.1:19440`.
    pub api_origin: String,
    /// Origin of the web app; the same one when the app is served from here.
    pub web_origin: String,
    /// Where the web app opens pages of the code host, when not at `https://github.com`.
    pub code_host_url: Option<String>,
    /// Further origins that pages may come from.
    pub trusted_origins: Vec<String>,
    /// Reverse proxies whose `X-Forwarded-For` names the client.
    pub trusted_proxies: Vec<IpAddr>,
    /// The repositories of this machine, when it is its user's own.
    pub machine_repositories: Option<Arc<dyn MachineRepositories>>,
    /// The App through which a code host is asked; `None` where desktops work with their own credentials.
    pub code_host_app: Option<CodeHostApp>,
    /// Through which people sign in beside local accounts.
    pub oidc: Option<OidcProvider>,
    /// Secrets.
    pub secrets: Secrets,
}

/// An App at a code host.
#[derive(Debug, Clone)]
pub struct CodeHostApp {
    /// Its number.
    pub id: u64,
    /// Its RSA key, in PEM.
    pub private_key: SecretString,
    /// Root of the API, when it is not `https://api.github.com`.
    pub api_url: Option<String>,
    /// Numbers of the installations, by the slug of the organization whose loops may use each. An installation of
    /// which an organization only says that it is its own would open somebody else's repositories.
    pub installations: HashMap<String, u64>,
}

/// An OpenID provider.
#[derive(Debug, Clone)]
pub struct OidcProvider {
    /// Its issuer URL; `<issuer>/.well-known/openid-configuration` tells the rest.
    pub issuer: String,
    /// Our id there.
    pub client_id: String,
    /// Our secret there; `None` for a public client.
    pub client_secret: Option<SecretString>,
    /// What the sign-in page calls it.
    pub name: String,
    /// Scopes that are asked for beside `openid`.
    pub scopes: Vec<String>,
    /// The claim that names a person's groups; without one, roles do not follow groups.
    pub groups_claim: Option<String>,
    /// Groups whose people administer.
    pub admin_groups: Vec<String>,
    /// Groups whose people are members; everybody when there are none.
    pub member_groups: Vec<String>,
    /// Slug of the organization that takes in whoever the provider knows; without one, people need an invitation.
    pub organization: Option<String>,
}

/// Secrets of a control plane: generated once, stored in its data directory, at least 32 characters each.
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
    /// Fresh random secrets, 256 bits each.
    #[must_use]
    pub fn generate() -> Self {
        let secret = || SecretString::from(hex::encode(rand::random::<[u8; 32]>()));
        Self { runner_tokens: secret(), local_gateway: secret(), storage_urls: secret() }
    }
}

/// The repositories of the machine that the control plane runs on, when that is its user's own. They are open to
/// every organization of this control plane.
pub trait MachineRepositories: Debug + Send + Sync {
    /// Their full names. Reads files, so it may block.
    ///
    /// # Errors
    /// They cannot be read.
    fn full_names(&self) -> Result<Vec<RepoFullName>, Box<dyn Error + Send + Sync>>;
}
