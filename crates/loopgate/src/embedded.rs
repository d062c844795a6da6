//! The control plane embedded in this process: its secrets, first owner and listener.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use loopgate_api::names::CONTROL_PLANE_PORT;
use loopgate_control_plane::{
    Administration, CodeHostApp, Config, ControlPlane, Demonstration, FirstOwner, MachineRepositories,
    OidcProvider, Owner, Secrets,
};
use loopgate_gateway::{LimitedServer, SignIn};
use loopgate_home::{DataDir, Program, files, secret_file};
use loopgate_tools::process::Limits;
use loopgate_tools::programs::Programs;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Environment variable with the base URL of the code host's pages, for links in the web app. Set by the
/// demo.
const CODE_HOST_URL_VARIABLE: &str = "LOOPGATE_CODE_HOST_URL";

/// Environment variables with the repository and the request of the demo, which sets them.
const DEMO_REPOSITORY_VARIABLE: &str = "LOOPGATE_DEMO_REPOSITORY";
const DEMO_REQUEST_VARIABLE: &str = "LOOPGATE_DEMO_REQUEST";

/// Name of the database file in the data directory.
pub const DATABASE_FILE: &str = "control-plane.db";
/// Name of the secrets file in the data directory.
pub const SECRETS_FILE: &str = "control-plane-secrets.json";
/// Name of the directory of stored files in the data directory.
pub const STORAGE_DIR: &str = "storage";
/// Name of the file with the origin of the web app, for links that the sub-commands print.
const ORIGIN_FILE: &str = "control-plane-origin";

/// Name of the first organization unless configured.
pub const DEFAULT_ORGANIZATION: &str = "Home";
/// Number of ports that are tried after the default port.
const FALLBACK_PORTS: u16 = 9;
/// Timeout of `git config`, which only reads local files.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Output limit of `git config`, in bytes.
const OUTPUT_LIMIT: usize = 64 * 1024;

/// A control plane with a bound listener, before it serves.
pub struct EmbeddedControlPlane {
    control_plane: ControlPlane,
    listener: TcpListener,
    trusted_proxies: Vec<IpAddr>,
}

/// Options that differ between the control plane on a user's machine and that of a team.
#[derive(Default)]
pub struct ServerOptions {
    /// Database URL; a SQLite file in the data directory when absent.
    pub database: Option<String>,
    /// Reverse proxies that are trusted to set `X-Forwarded-For`.
    pub trusted_proxies: Vec<IpAddr>,
    /// Repositories that the gateway in the same process manages.
    pub machine_repositories: Option<Arc<dyn MachineRepositories>>,
    /// Port of the gateway in the same process.
    pub gateway_port: Option<u16>,
    /// Credentials of the App at the code host.
    pub code_host_app: Option<CodeHostApp>,
    /// OpenID Connect provider for sign-in.
    pub oidc: Option<OidcProvider>,
}

/// Content of the secrets file in the data directory, which is readable by its owner only.
#[derive(Serialize, Deserialize)]
struct ControlPlaneSecretsFile {
    runner_tokens: String,
    local_gateway: String,
    storage_urls: String,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn demonstration() -> Option<Demonstration> {
    let (repository, request) = (variable(DEMO_REPOSITORY_VARIABLE)?, variable(DEMO_REQUEST_VARIABLE)?);
    Some(Demonstration { repository, request })
}

/// Returns the URL of a SQLite file with permissions for its owner only.
fn private_database(file: &Path) -> anyhow::Result<String> {
    // SQLite would create the file with the permissions of the umask.
    files::make_private(file).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(format!("sqlite://{}?mode=rwc", file.display()))
}

impl EmbeddedControlPlane {
    /// Opens the database and the secrets. Both are created at the first start.
    pub async fn open(
        dir: &DataDir,
        listener: TcpListener,
        api_origin: &str,
        web_origin: &str,
        options: ServerOptions,
    ) -> anyhow::Result<Self> {
        let (database_url, subject) = match options.database {
            Some(url) => (url, "the database that --database (DATABASE_URL) names"),
            None => (private_database(&dir.file(DATABASE_FILE))?, "the control plane's database"),
        };
        let secrets = secrets(&dir.file(SECRETS_FILE), &database_url, subject).await?;
        let control_plane = ControlPlane::open(Config {
            database_url,
            database_schema: None,
            storage_dir: dir.file(STORAGE_DIR),
            api_origin: api_origin.to_owned(),
            web_origin: web_origin.to_owned(),
            code_host_url: variable(CODE_HOST_URL_VARIABLE),
            gateway_port: options.gateway_port,
            demonstration: demonstration(),
            trusted_origins: Vec::new(),
            trusted_proxies: options.trusted_proxies.clone(),
            machine_repositories: options.machine_repositories,
            code_host_app: options.code_host_app,
            oidc: options.oidc,
            secrets,
        })
        .await
        .with_context(|| format!("cannot open {subject}"))?;
        files::write_private(&dir.file(ORIGIN_FILE), web_origin.as_bytes())?;
        Ok(Self { control_plane, listener, trusted_proxies: options.trusted_proxies })
    }

    /// Creates the first organization and its owner unless one exists.
    pub async fn ensure_owner(&self, first: &FirstOwner) -> anyhow::Result<Owner> {
        self.control_plane.ensure_first_owner(first).await.context("cannot create the first owner")
    }

    /// Sets the owner's password unless one is set.
    pub async fn set_owner_password(&self, owner: &Owner, password: SecretString) -> anyhow::Result<()> {
        Ok(self.control_plane.set_first_password(owner, password).await?)
    }

    /// Creates a one-time sign-in link for the owner.
    pub async fn sign_in_link(&self, owner: &Owner) -> anyhow::Result<String> {
        self.control_plane.sign_in_link(owner).await.context("cannot create a sign-in link")
    }

    /// Returns a function that creates sign-in links for the owner, for the control socket.
    pub fn sign_in(&self, owner: Owner) -> SignIn {
        let control_plane = self.control_plane.clone();
        Arc::new(move || {
            let (control_plane, owner) = (control_plane.clone(), owner.clone());
            Box::pin(async move {
                control_plane.sign_in_link(&owner).await.map_err(|error| {
                    // The response goes to a terminal; the cause is only logged.
                    tracing::error!(%error, "failed to create a sign-in link");
                    "cannot create a sign-in link".to_owned()
                })
            })
        })
    }

    /// Creates a one-time onboarding attempt, with which a desktop claims its key.
    pub async fn onboarding_attempt(&self, owner: &Owner) -> anyhow::Result<String> {
        self.control_plane
            .onboarding_attempt_for_owner(owner)
            .await
            .context("cannot create an onboarding attempt for this desktop")
    }

    /// Serves until `stop` is cancelled, and then for `drain` without being ready, so that a load balancer sends no
    /// requests any more. Then refuses new connections, and gives the requests in flight `grace` to complete.
    pub async fn serve(
        self,
        stop: CancellationToken,
        drain: Duration,
        grace: Duration,
    ) -> anyhow::Result<()> {
        let control_plane = self.control_plane;
        let refuse = CancellationToken::new();
        let server = LimitedServer::new(self.listener, control_plane.router(), self.trusted_proxies);
        let limit = async {
            stop.cancelled().await;
            control_plane.drain();
            tokio::time::sleep(drain).await;
            refuse.cancel();
            // Streams would otherwise keep their connections open until the end of the grace period.
            control_plane.end_streams();
            tokio::time::sleep(grace).await;
        };
        tokio::select! {
            () = server.serve(refuse.clone()) => {}
            () = limit => tracing::warn!(?grace, "requests in flight were aborted at shutdown"),
        }
        control_plane.shutdown().await.context("the control plane did not shut down cleanly")
    }
}

/// Listens on an address. When it is in use, the error suggests `flag` for choosing another.
pub async fn listen(address: SocketAddr, flag: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let text = match error.kind() {
            io::ErrorKind::AddrInUse => format!(
                "cannot listen on {address}: another program is using it, perhaps another Loopgate with a different \
                 data directory; stop it, or choose another address with {flag}"
            ),
            _ => format!("cannot listen on {address}: {error}"),
        };
        anyhow::anyhow!(text)
    })
}

/// Binds the default port on loopback, or the next free port after it.
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
        "the ports {CONTROL_PLANE_PORT} to {last} are all in use; choose another one with --api-origin http://127.0.0.1:PORT"
    )
}

/// Returns the first owner, with the name and address of the user's git configuration.
pub async fn owner(programs: &Programs) -> FirstOwner {
    // Git may not be configured yet; the owner can change name and address later.
    let user =
        std::env::var("USER").ok().filter(|user| !user.is_empty()).unwrap_or_else(|| "owner".to_owned());
    let name = git_setting(programs, "user.name").await.unwrap_or_else(|| user.clone());
    let email = git_setting(programs, "user.email").await.unwrap_or_else(|| format!("{user}@localhost"));
    FirstOwner { organization: DEFAULT_ORGANIZATION.to_owned(), name, email }
}

async fn git_setting(programs: &Programs, name: &str) -> Option<String> {
    let command = programs.command(Program::Git).await.arg("config").arg("--global").arg("--get").arg(name);
    let output = command.run(Limits::time(GIT_TIMEOUT).output(OUTPUT_LIMIT)).await.ok()?;
    let value = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!value.is_empty()).then_some(value)
}

/// Returns the URL of a SQLite file that exists.
pub fn existing_database(file: &Path) -> String {
    format!("sqlite://{}?mode=rw", file.display())
}

/// Returns the origin of the web app of the control plane that last used a data directory.
pub fn stored_web_origin(dir: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(dir.join(ORIGIN_FILE)) {
        Ok(origin) => Ok(Some(origin)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {ORIGIN_FILE}")),
    }
}

/// Reads the secrets, or creates them at the first start.
///
/// # Errors
/// Fails when the database is in use and the secrets are missing. A damaged file has been renamed, and counts as
/// missing; a warning names it.
async fn secrets(path: &Path, database_url: &str, subject: &str) -> anyhow::Result<Secrets> {
    if let Some(secrets) = stored_secrets(path)? {
        return Ok(secrets);
    }
    let is_in_use = Administration::is_in_use(database_url).await;
    let is_in_use = is_in_use.with_context(|| format!("cannot open {subject}"))?;
    anyhow::ensure!(
        !is_in_use,
        "the database is in use, but its secrets file {} is missing or damaged. Restore the file from a backup, or copy it \
         from another instance that uses the database. If it is lost, create new secrets with \
         `loopgate control-plane new-secrets`: running loops can then no longer report, and users have to sign in again",
        path.display()
    );
    create_secrets(path)
}

fn stored_secrets(path: &Path) -> anyhow::Result<Option<Secrets>> {
    let stored: Option<ControlPlaneSecretsFile> =
        secret_file::read_json(path).context("cannot use the control plane's secrets")?;
    Ok(stored.map(|stored| Secrets {
        runner_tokens: SecretString::from(stored.runner_tokens),
        local_gateway: SecretString::from(stored.local_gateway),
        storage_urls: SecretString::from(stored.storage_urls),
    }))
}

/// Creates new secrets and stores them.
pub fn create_secrets(path: &Path) -> anyhow::Result<Secrets> {
    // Stored before first use: tokens and URLs signed with lost secrets become invalid at the next start.
    let secrets = Secrets::generate();
    let stored = ControlPlaneSecretsFile {
        runner_tokens: secrets.runner_tokens.expose_secret().to_owned(),
        local_gateway: secrets.local_gateway.expose_secret().to_owned(),
        storage_urls: secrets.storage_urls.expose_secret().to_owned(),
    };
    files::write_private(path, &serde_json::to_vec(&stored)?)?;
    Ok(secrets)
}
