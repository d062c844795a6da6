//! The control plane inside this process: its secrets, its first owner, its listener.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use loopgate_api::names::CONTROL_PLANE_PORT;
use loopgate_control_plane::{
    CodeHostApp, Config, ControlPlane, FirstOwner, MachineRepositories, OidcProvider, Owner, Secrets,
};
use loopgate_gateway::{SignIn, serve_limited};
use loopgate_home::{DataDir, Program, files, secret_file};
use loopgate_tools::process::Limits;
use loopgate_tools::programs::Programs;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Where the web app opens pages of the code host; the demonstration has one of its own.
const CODE_HOST_URL: &str = "LOOPGATE_CODE_HOST_URL";

/// Name of the first organization, unless one is given.
pub const DEFAULT_ORGANIZATION: &str = "Home";
/// Ports that are tried after the preferred one.
const FALLBACK_PORTS: u16 = 9;
/// Time for one question to git.
const GIT_LIMIT: std::time::Duration = std::time::Duration::from_secs(5);
/// Bytes of its answer.
const OUTPUT_LIMIT: usize = 64 * 1024;

/// A control plane with its listener, before it serves.
pub struct EmbeddedControlPlane {
    control_plane: ControlPlane,
    listener: TcpListener,
}

/// What depends on whose control plane it is: that of one user's machine, or a team's.
#[derive(Default)]
pub struct ServerOptions {
    /// URL of the database; a file in the data directory when absent.
    pub database: Option<String>,
    /// Reverse proxies whose `X-Forwarded-For` names the client.
    pub trusted_proxies: Vec<IpAddr>,
    /// The repositories of the user's own machine.
    pub machine_repositories: Option<Arc<dyn MachineRepositories>>,
    /// The App at the code host.
    pub code_host_app: Option<CodeHostApp>,
    /// The OpenID provider.
    pub oidc: Option<OidcProvider>,
}

/// The secrets as they are in the data directory, readable by the owner alone.
#[derive(Serialize, Deserialize)]
struct ControlPlaneSecretsFile {
    runner_tokens: String,
    local_gateway: String,
    storage_urls: String,
}

/// The URL of a database file that only the owner may read.
fn own_database(file: &Path) -> anyhow::Result<String> {
    files::make_private(file).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(format!("sqlite://{}?mode=rwc", file.display()))
}

impl EmbeddedControlPlane {
    /// Opens the database and makes the first owner.
    pub async fn open(
        dir: &DataDir,
        listener: TcpListener,
        api_origin: &str,
        web_origin: &str,
        options: ServerOptions,
    ) -> anyhow::Result<Self> {
        let (database_url, subject) = match options.database {
            Some(url) => (url, "the database that --database (DATABASE_URL) names"),
            None => (own_database(&dir.file("control-plane.db"))?, "the control plane's database"),
        };
        let control_plane = ControlPlane::open(Config {
            database_url,
            database_schema: None,
            storage_dir: dir.file("storage"),
            api_origin: api_origin.to_owned(),
            web_origin: web_origin.to_owned(),
            code_host_url: std::env::var(CODE_HOST_URL).ok().filter(|url| !url.is_empty()),
            trusted_origins: Vec::new(),
            trusted_proxies: options.trusted_proxies,
            machine_repositories: options.machine_repositories,
            code_host_app: options.code_host_app,
            oidc: options.oidc,
            secrets: secrets(&dir.file("control-plane-secrets.json"))?,
        })
        .await
        .with_context(|| format!("cannot open {subject}"))?;
        Ok(Self { control_plane, listener })
    }

    /// Makes the first organization and its owner when there is none.
    pub async fn ensure_owner(&self, first: &FirstOwner) -> anyhow::Result<Owner> {
        self.control_plane.ensure_first_owner(first).await.context("cannot make the first owner")
    }

    /// Lets the owner sign in with a password, unless there is one.
    pub async fn set_owner_password(&self, owner: &Owner, password: SecretString) -> anyhow::Result<()> {
        Ok(self.control_plane.set_first_password(owner, password).await?)
    }

    /// A link that signs the owner in once.
    pub async fn sign_in_link(&self, owner: &Owner) -> anyhow::Result<String> {
        self.control_plane.sign_in_link(owner).await.context("cannot make a sign-in link")
    }

    /// Makes such links as long as this process lives.
    pub fn sign_in(&self, owner: Owner) -> SignIn {
        let control_plane = self.control_plane.clone();
        Arc::new(move || {
            let (control_plane, owner) = (control_plane.clone(), owner.clone());
            Box::pin(async move {
                control_plane.sign_in_link(&owner).await.map_err(|error| {
                    tracing::error!(%error, "a sign-in link could not be made");
                    "cannot make a sign-in link".to_owned()
                })
            })
        })
    }

    /// A one-time attempt with which a desktop claims its key.
    pub async fn onboarding_attempt(&self, owner: &Owner) -> anyhow::Result<String> {
        self.control_plane
            .onboarding_attempt_for_owner(owner)
            .await
            .context("cannot begin to connect this desktop")
    }

    /// Serves until the token is cancelled.
    pub async fn serve(self, stop: CancellationToken) -> anyhow::Result<()> {
        let router = self.control_plane.router();
        let closing = stop.clone();
        let control_plane = self.control_plane.clone();
        tokio::select! {
            result = serve_limited(self.listener, router) => result.context("the control plane stopped serving")?,
            () = closing.cancelled() => {}
        }
        control_plane.shutdown().await.context("the control plane did not stop in order")
    }
}

/// Listens on one address; `flag` chooses another when a program has it.
pub async fn listen(address: SocketAddr, flag: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let text = match error.kind() {
            io::ErrorKind::AddrInUse => format!(
                "cannot listen on {address}: another program does, perhaps another Loopgate with a data \
                 directory of its own; end it, or choose another address with {flag}"
            ),
            _ => format!("cannot listen on {address}: {error}"),
        };
        anyhow::anyhow!(text)
    })
}

/// Binds loopback at the preferred port, or at one of the next when that is taken.
pub async fn bind() -> anyhow::Result<TcpListener> {
    let last = CONTROL_PLANE_PORT + FALLBACK_PORTS;
    for port in CONTROL_PLANE_PORT..=last {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error).context("cannot listen on loopback"),
        }
    }
    anyhow::bail!(
        "the ports {CONTROL_PLANE_PORT} to {last} are all taken; choose one with --api-origin http://127.0.0.1:PORT"
    )
}

/// Who the first owner is: the name and address under which this user commits.
pub async fn owner(programs: &Programs) -> FirstOwner {
    let user =
        std::env::var("USER").ok().filter(|user| !user.is_empty()).unwrap_or_else(|| "owner".to_owned());
    let name = git_setting(programs, "user.name").await.unwrap_or_else(|| user.clone());
    let email = git_setting(programs, "user.email").await.unwrap_or_else(|| format!("{user}@localhost"));
    FirstOwner { organization: DEFAULT_ORGANIZATION.to_owned(), name, email }
}

async fn git_setting(programs: &Programs, name: &str) -> Option<String> {
    let command = programs.command(Program::Git).await.arg("config").arg("--global").arg("--get").arg(name);
    let output = command.run(Limits::time(GIT_LIMIT).output(OUTPUT_LIMIT)).await.ok()?;
    let value = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!value.is_empty()).then_some(value)
}

fn secrets(path: &Path) -> anyhow::Result<Secrets> {
    let stored: Option<ControlPlaneSecretsFile> =
        secret_file::read_json(path).context("cannot use the control plane's secrets")?;
    if let Some(stored) = stored {
        return Ok(Secrets {
            runner_tokens: SecretString::from(stored.runner_tokens),
            local_gateway: SecretString::from(stored.local_gateway),
            storage_urls: SecretString::from(stored.storage_urls),
        });
    }
    let fresh = Secrets::generate();
    let stored = ControlPlaneSecretsFile {
        runner_tokens: fresh.runner_tokens.expose_secret().to_owned(),
        local_gateway: fresh.local_gateway.expose_secret().to_owned(),
        storage_urls: fresh.storage_urls.expose_secret().to_owned(),
    };
    files::write_private(path, &serde_json::to_vec(&stored)?)?;
    Ok(fresh)
}
