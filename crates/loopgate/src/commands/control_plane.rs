//! `loopgate control-plane`: the control plane and the web app without a desktop in the same process, and the
//! commands of its operator.

mod backup;
mod database;
mod operator;

use std::io::IsTerminal as _;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use loopgate_control_plane::{CodeHostApp, FirstOwner, OidcProvider};
use loopgate_home::{DataDir, secret_file};
use secrecy::SecretString;
use url::Url;

use crate::args::{CommonArgs, HomeArgs};
use crate::embedded::{self, DEFAULT_ORGANIZATION, EmbeddedControlPlane, ServerOptions};
use crate::home::{open_dir, stored_settings};
use crate::shutdown::Shutdown;
use crate::{banner, commands};

/// Time that requests in flight have to complete after SIGTERM. Browsers and desktops would otherwise have to
/// find out whether a request that was cut off took effect.
const REQUEST_GRACE: Duration = Duration::from_secs(20);
/// Time limit of the shutdown after draining. With the watchdog's delay, it stays below 30 seconds, the grace period of
/// Kubernetes.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(25);

/// Largest value of --drain-seconds.
const MAX_DRAIN_SECONDS: u64 = 300;

/// Run only the control plane and the web app.
///
/// The first start creates an organization and its owner. On a terminal, every start prints a one-time sign-in
/// link for the owner; otherwise the output may end in a log that others read, and `loopgate control-plane
/// sign-in-link` prints one.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ControlPlaneArgs {
    #[command(subcommand)]
    command: Option<OperatorCommand>,
    #[command(flatten)]
    serve: ServeArgs,
}

/// Commands of the operator.
#[derive(Debug, Subcommand)]
enum OperatorCommand {
    /// Print a one-time link that signs a user in.
    SignInLink(operator::SignInLinkArgs),
    /// List, activate and deactivate users, and reset passwords.
    #[command(subcommand)]
    User(operator::UserCommand),
    /// List and add organizations.
    #[command(subcommand)]
    Organization(operator::OrganizationCommand),
    /// Copy the database, the secrets and the stored files.
    Backup(backup::BackupArgs),
    /// Restore a backup into an empty data directory.
    Restore(backup::RestoreBackupArgs),
    /// Check the database.
    Check(database::DatabaseCheckArgs),
    /// Apply the migrations of this version to the database.
    Migrate(database::MigrateArgs),
    /// Create new secrets for an existing database, after the secrets file was lost.
    NewSecrets(NewSecretsArgs),
}

/// Selects the database of a control plane on this machine.
#[derive(Debug, Args)]
struct DatabaseArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Database URL: sqlite://<path> or postgres://… Default: the SQLite file in the data directory.
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
}

impl DatabaseArgs {
    fn data_dir(&self) -> anyhow::Result<PathBuf> {
        Ok(self.home.data_dir()?)
    }

    fn url(&self) -> anyhow::Result<String> {
        if let Some(url) = &self.database {
            return Ok(url.clone());
        }
        let file = self.data_dir()?.join(embedded::DATABASE_FILE);
        anyhow::ensure!(
            file.exists(),
            "{} does not exist; choose the data directory of the control plane with --home, or its database with \
             --database",
            file.display()
        );
        Ok(embedded::existing_database(&file))
    }
}

/// Create new secrets for an existing database, after the secrets file was lost.
///
/// Running loops can then no longer report, and users have to sign in again.
#[derive(Debug, Args)]
struct NewSecretsArgs {
    #[command(flatten)]
    home: HomeArgs,
}

impl NewSecretsArgs {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let dir = DataDir::open(&self.home.data_dir()?)?;
        let file = dir.file(embedded::SECRETS_FILE);
        anyhow::ensure!(!file.exists(), "{} exists; nothing was changed", file.display());
        embedded::create_secrets(&file)?;
        println!("Created {}.", file.display());
        Ok(ExitCode::SUCCESS)
    }
}

/// Settings of the server.
#[derive(Debug, Args)]
struct ServeArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// Address to listen on.
    #[arg(
        long,
        env = "LOOPGATE_CONTROL_PLANE_LISTEN",
        default_value = "127.0.0.1:19440",
        value_name = "ADDRESS"
    )]
    listen: SocketAddr,
    /// Origin at which desktops and browsers reach the API. Default: http:// and the listen address.
    #[arg(long, env = "API_BASE_URL", value_name = "URL")]
    api_origin: Option<String>,
    /// Origin of the web app. Default: the origin of the API.
    #[arg(long, env = "LOOPGATE_WEB_APP_ORIGIN", value_name = "URL")]
    web_origin: Option<String>,
    /// Database URL: sqlite://<path>?mode=rwc or postgres://… Default: a SQLite file in the data directory.
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
    /// Name of the first organization; used only by the first start.
    #[arg(long, env = "LOOPGATE_ORGANIZATION", default_value = DEFAULT_ORGANIZATION, value_name = "NAME")]
    organization: String,
    /// Name of the first owner; used only by the first start.
    #[arg(long, env = "LOOPGATE_OWNER_NAME", default_value = "Owner", value_name = "NAME")]
    owner_name: String,
    /// E-mail address of the first owner; used only by the first start.
    #[arg(long, env = "LOOPGATE_OWNER_EMAIL", default_value = "owner@localhost", value_name = "ADDRESS")]
    owner_email: String,
    /// File with the password of the first owner, used while the owner has no password. Must be readable by
    /// you only.
    #[arg(long, env = "LOOPGATE_OWNER_PASSWORD_FILE", value_name = "FILE")]
    owner_password_file: Option<PathBuf>,
    /// Address of a reverse proxy that is trusted to set X-Forwarded-For. Separate several addresses by
    /// commas.
    #[arg(long, env = "LOOPGATE_TRUSTED_PROXIES", value_name = "ADDRESS", value_delimiter = ',')]
    trusted_proxy: Vec<IpAddr>,
    /// Seconds after SIGTERM in which requests are still accepted while /health/ready returns 503: the time in which a load
    /// balancer notices that.
    #[arg(
        long,
        env = "LOOPGATE_DRAIN_SECONDS",
        value_name = "SECONDS",
        default_value_t = 0,
        value_parser = clap::value_parser!(u64).range(..=MAX_DRAIN_SECONDS)
    )]
    drain_seconds: u64,
    #[command(flatten)]
    code_host: CodeHostArgs,
    #[command(flatten)]
    oidc: OidcArgs,
}

/// The App with which the control plane checks repositories and creates tokens for runners.
#[derive(Debug, Args)]
struct CodeHostArgs {
    /// Id of the App at the code host.
    #[arg(long, env = "LOOPGATE_CODE_HOST_APP_ID", value_name = "ID", requires = "code_host_app_key_file")]
    code_host_app_id: Option<u64>,
    /// File with the App's private key in PEM format. Must be readable by you only.
    #[arg(long, env = "LOOPGATE_CODE_HOST_APP_KEY_FILE", value_name = "FILE", requires = "code_host_app_id")]
    code_host_app_key_file: Option<PathBuf>,
    /// Base URL of the code host's API. Default: https://api.github.com
    #[arg(long, env = "LOOPGATE_CODE_HOST_API_URL", value_name = "URL")]
    code_host_api_url: Option<String>,
    /// Slug of an organization and id of the App installation that its loops may use, for example home=123.
    /// Separate several pairs by commas.
    #[arg(
        long,
        env = "LOOPGATE_CODE_HOST_INSTALLATIONS",
        value_name = "SLUG=ID",
        value_delimiter = ',',
        value_parser = installation
    )]
    code_host_installation: Vec<(String, u64)>,
}

impl CodeHostArgs {
    fn app(self) -> anyhow::Result<Option<CodeHostApp>> {
        let (Some(id), Some(file)) = (self.code_host_app_id, &self.code_host_app_key_file) else {
            return Ok(None);
        };
        Ok(Some(CodeHostApp {
            id,
            private_key: secret(file, "--code-host-app-key-file")?.into(),
            api_url: self.code_host_api_url,
            installations: self.code_host_installation.into_iter().collect(),
        }))
    }
}

/// The OpenID Connect provider for sign-in.
#[derive(Debug, Args)]
struct OidcArgs {
    /// Issuer URL of the OpenID Connect provider for sign-in.
    #[arg(long, env = "LOOPGATE_OIDC_ISSUER", value_name = "URL", requires = "oidc_client_id")]
    oidc_issuer: Option<String>,
    /// Client id of Loopgate at the provider. Register <api origin>/auth/oidc/callback as the redirect URI.
    #[arg(long, env = "LOOPGATE_OIDC_CLIENT_ID", value_name = "ID", requires = "oidc_issuer")]
    oidc_client_id: Option<String>,
    /// File with the client secret. Must be readable by you only.
    #[arg(long, env = "LOOPGATE_OIDC_CLIENT_SECRET_FILE", value_name = "FILE", requires = "oidc_issuer")]
    oidc_client_secret_file: Option<PathBuf>,
    /// Name of the provider on the sign-in page.
    #[arg(long, env = "LOOPGATE_OIDC_NAME", value_name = "NAME", default_value = "single sign-on")]
    oidc_name: String,
    /// Scopes to request in addition to openid, separated by commas.
    #[arg(
        long,
        env = "LOOPGATE_OIDC_SCOPES",
        value_name = "SCOPE",
        value_delimiter = ',',
        default_value = "email,profile"
    )]
    oidc_scopes: Vec<String>,
    /// Slug of the organization that every user of the provider joins. Default: users need an invitation.
    #[arg(long, env = "LOOPGATE_OIDC_ORGANIZATION", value_name = "SLUG")]
    oidc_organization: Option<String>,
    /// Claim that contains a user's groups. When set, roles are updated from the groups at every sign-in.
    #[arg(long, env = "LOOPGATE_OIDC_GROUPS_CLAIM", value_name = "CLAIM")]
    oidc_groups_claim: Option<String>,
    /// Groups whose users administer the organization, separated by commas.
    #[arg(
        long,
        env = "LOOPGATE_OIDC_ADMIN_GROUPS",
        value_name = "GROUP",
        value_delimiter = ',',
        requires = "oidc_groups_claim"
    )]
    oidc_admin_groups: Vec<String>,
    /// Groups whose users are members, separated by commas. Default: all users.
    #[arg(
        long,
        env = "LOOPGATE_OIDC_MEMBER_GROUPS",
        value_name = "GROUP",
        value_delimiter = ',',
        requires = "oidc_groups_claim"
    )]
    oidc_member_groups: Vec<String>,
}

impl OidcArgs {
    fn provider(self) -> anyhow::Result<Option<OidcProvider>> {
        let (Some(issuer), Some(client_id)) = (self.oidc_issuer, self.oidc_client_id) else {
            return Ok(None);
        };
        require_origin(&issuer, "--oidc-issuer (LOOPGATE_OIDC_ISSUER)")?;
        let secret_file = self.oidc_client_secret_file;
        let client_secret = secret_file.map(|file| secret(&file, "--oidc-client-secret-file")).transpose()?;
        Ok(Some(OidcProvider {
            issuer,
            client_id,
            // A file usually ends with a newline, which is no part of the secret.
            client_secret: client_secret.map(|secret| secret.trim().into()),
            name: self.oidc_name,
            scopes: self.oidc_scopes,
            groups_claim: self.oidc_groups_claim,
            admin_groups: self.oidc_admin_groups,
            member_groups: self.oidc_member_groups,
            organization: self.oidc_organization,
        }))
    }
}

fn installation(text: &str) -> Result<(String, u64), String> {
    let parts = text.split_once('=').and_then(|(slug, id)| Some((slug.to_owned(), id.parse().ok()?)));
    parts
        .filter(|(slug, _)| !slug.is_empty())
        .ok_or_else(|| "expected SLUG=ID, for example home=123".to_owned())
}

impl ControlPlaneArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            None => self.serve.run(),
            Some(OperatorCommand::SignInLink(args)) => args.run(),
            Some(OperatorCommand::User(command)) => command.run(),
            Some(OperatorCommand::Organization(command)) => command.run(),
            Some(OperatorCommand::Backup(args)) => args.run(),
            Some(OperatorCommand::Restore(args)) => args.run(),
            Some(OperatorCommand::Check(args)) => args.run(),
            Some(OperatorCommand::Migrate(args)) => args.run(),
            Some(OperatorCommand::NewSecrets(args)) => args.run(),
        }
    }
}

impl ServeArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let dir = open_dir(&self.common)?;
        let _log = commands::start_log(&dir, &self.common, stored_settings(&dir)?.as_ref())?;
        commands::block_on(async {
            let drain = Duration::from_secs(self.drain_seconds);
            let shutdown = Shutdown::on_signals(&dir, drain + SHUTDOWN_LIMIT)?;
            // Bound before the origin is derived: the port may be 0.
            let listener = embedded::listen(self.listen, "--listen").await?;
            let origin = self.api_origin.unwrap_or(format!("http://{}", listener.local_addr()?));
            let web_origin = self.web_origin.unwrap_or_else(|| origin.clone());
            require_origin(&origin, "--api-origin (API_BASE_URL)")?;
            require_origin(&web_origin, "--web-origin (LOOPGATE_WEB_APP_ORIGIN)")?;
            let options = ServerOptions {
                machine_repositories: None,
                gateway_port: None,
                database: self.database,
                trusted_proxies: self.trusted_proxy,
                code_host_app: self.code_host.app()?,
                oidc: self.oidc.provider()?,
            };
            let embedded = EmbeddedControlPlane::open(&dir, listener, &origin, &web_origin, options).await?;
            let first = FirstOwner {
                organization: self.organization,
                name: self.owner_name,
                email: self.owner_email,
            };
            let owner = embedded.ensure_owner(&first).await?;
            if let Some(file) = &self.owner_password_file {
                embedded.set_owner_password(&owner, password(file)?).await?;
            }
            // Output that is not a terminal usually is a log, which more people read than may sign in.
            let link = if std::io::stdout().is_terminal() {
                Some(embedded.sign_in_link(&owner).await?)
            } else {
                None
            };
            banner::print_control_plane(&origin, link.as_deref(), dir.path());
            if let Some(failed) = shutdown.last_failure() {
                tracing::warn!(%failed, "previous shutdown failed");
            }
            let serve = embedded.serve(shutdown.requested(), drain, REQUEST_GRACE);
            shutdown.clone().bound(shutdown.part("controlPlane.stop", serve)).await
        })
    }
}

/// Reads a password: the first line of a file that only this user can read.
fn password(file: &Path) -> anyhow::Result<SecretString> {
    let text = secret(file, "--owner-password-file")?;
    Ok(SecretString::from(text.lines().next().unwrap_or_default()))
}

/// Reads a file that only this user can read. Errors name `option`.
fn secret(file: &Path, option: &str) -> anyhow::Result<String> {
    let content = secret_file::read(file).with_context(|| format!("cannot read {option}"))?;
    let content = content.with_context(|| format!("{option}: {} does not exist", file.display()))?;
    String::from_utf8(content).with_context(|| format!("{option} must be UTF-8"))
}

/// Fails unless `origin` is an HTTP URL with a host; desktops and browsers are sent to it.
fn require_origin(origin: &str, setting: &str) -> anyhow::Result<()> {
    let is_origin =
        Url::parse(origin).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    anyhow::ensure!(
        is_origin,
        "{setting} must be a URL such as https://loopgate.example.com, not \"{origin}\""
    );
    Ok(())
}
