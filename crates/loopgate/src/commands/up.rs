//! `loopgate up`: control plane and desktop in one process.

use std::error::Error;
use std::io::IsTerminal as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use loopgate_api::ids::RepoFullName;
use loopgate_control_plane::MachineRepositories;
use loopgate_home::{DataDir, DataDirError, Program, Repos, TrustStore};
use loopgate_tools::git::Git;
use loopgate_tools::programs::Programs;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::args::{CommonArgs, DesktopArgs};
use crate::banner::{self, Banner, ListedRepository, ReadyFile, SHOWN_REPOSITORIES};
use crate::desktop::Desktop;
use crate::embedded::{self, EmbeddedControlPlane, ServerOptions};
use crate::home::{DesktopHome, open_dir, settings};
use crate::shutdown::Shutdown;
use crate::{commands, control_client, onboarding, sandbox_choice};

/// Run everything on this machine: web app, control plane, gateway and runtime.
///
/// The first start creates a data directory, an organization with you as its owner, and a key for this
/// desktop. A banner then shows the address of the page with a one-time sign-in link, the repositories in the
/// sandbox, and which programs are installed or missing.
///
/// If Loopgate is already running, this command opens its page with a new sign-in link.
#[derive(Debug, Args)]
pub struct UpArgs {
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    desktop: DesktopArgs,
    /// Do not open the page in a browser.
    #[arg(long, env = "LOOPGATE_NO_OPEN")]
    no_open: bool,
    /// Write the page's address and the gateway's port to this file, as JSON, once both accept connections.
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
}

/// Time limit of querying the programs' versions. The banner is not delayed further.
const VERSIONS_LIMIT: Duration = Duration::from_secs(4);

/// Time that requests of pages have to complete after the desktop has stopped. Part of the shutdown's limit.
const REQUEST_GRACE: Duration = Duration::from_secs(2);

impl UpArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match open_dir(&self.common) {
            Ok(dir) => {
                // Before signal handlers are installed, so that Ctrl-C aborts a prompt.
                let sandbox = sandbox_choice::configured_or_chosen(&dir, &self.desktop)?;
                commands::block_on(async move { self.serve(dir, sandbox).await })
            }
            #[cfg(unix)]
            Err(DataDirError::InUse(path)) => self.show_running(&path),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the page of the Loopgate that holds the lock of the data directory.
    #[cfg(unix)]
    fn show_running(&self, data_dir: &Path) -> anyhow::Result<ExitCode> {
        // A `loopgate gateway` or a control plane alone offers no sign-in link: report the lock instead.
        let Ok(sign_in_url) = control_client::sign_in_link(data_dir) else {
            return Err(DataDirError::InUse(data_dir.to_owned()).into());
        };
        banner::print_already_running(&sign_in_url, &self.desktop.explicit_flags());
        self.open_page(&sign_in_url);
        Ok(ExitCode::SUCCESS)
    }

    fn open_page(&self, sign_in_url: &str) {
        if !self.no_open && open::that_detached(sign_in_url).is_err() {
            println!("  Failed to open a browser. Open the link above yourself.\n");
        }
    }

    async fn serve(self, dir: DataDir, sandbox: PathBuf) -> anyhow::Result<ExitCode> {
        let shutdown = Shutdown::on_signals(&dir, Shutdown::DESKTOP_LIMIT)?;
        let effective = settings(&dir, &self.desktop)?.get();
        let listener = listener(effective.api_origin.as_deref()).await?;
        let origin = format!("http://{}", listener.local_addr()?);
        // A web origin that equals the API's is the default, and follows the port that is actually bound.
        let web_origin =
            effective.web_app_origin.clone().filter(|_| effective.web_app_origin != effective.api_origin);
        let web_origin = web_origin.unwrap_or_else(|| origin.clone());
        let desktop_args = DesktopArgs {
            api_origin: Some(origin.clone()),
            web_origin: Some(web_origin.clone()),
            ..self.desktop.clone()
        };
        // Logging starts before the files of the data directory are opened, so that errors in them are
        // logged.
        let _log = commands::start_log(&dir, &self.common, &effective)?;
        let home = DesktopHome::open(dir, &desktop_args)?;
        let desktop = Desktop::open(&home, &desktop_args).await?;
        let port = desktop.port();
        let options = ServerOptions {
            machine_repositories: Some(Arc::new(ManagedRepositories(home.repos.clone()))),
            gateway_port: Some(port),
            ..ServerOptions::default()
        };
        let control_plane =
            EmbeddedControlPlane::open(&home.dir, listener, &origin, &web_origin, options).await?;
        let programs = desktop.programs();
        let owner = control_plane.ensure_owner(&embedded::owner(&programs).await).await?;
        let attempt = control_plane.onboarding_attempt(&owner).await?;
        let sign_in_url = control_plane.sign_in_link(&owner).await?;
        desktop.offer_sign_in(control_plane.sign_in(owner));

        // The control plane stops after the desktop, which reports its final state to it.
        let control_plane_stop = CancellationToken::new();
        let control_plane =
            tokio::spawn(control_plane.serve(control_plane_stop.clone(), Duration::ZERO, REQUEST_GRACE));
        // The claim is an HTTP request to the control plane, so that has to serve already.
        onboarding::connect(&origin, &web_origin, &attempt, &home.credentials).await?;
        let show_banner = async {
            let banner = Banner {
                page_url: web_origin.clone(),
                sign_in_url: std::io::stdout().is_terminal().then(|| sign_in_url.clone()),
                gateway_port: port,
                // Boxed, because the future is large.
                repositories: Box::pin(repositories(&home, &programs)).await,
                sandbox,
                programs: versions(&programs).await,
            };
            anstream::print!("{}", banner.render());
            if let Some(file) = &self.ready_file {
                let ready = ReadyFile {
                    page_url: web_origin.clone(),
                    sign_in_url: sign_in_url.clone(),
                    gateway_port: port,
                    api_origin: origin.clone(),
                };
                banner::write_ready(file, &ready)?;
            }
            self.open_page(&sign_in_url);
            anyhow::Ok(())
        };
        let service = async {
            let (banner, desktop) = tokio::join!(show_banner, desktop.serve(&home, &shutdown));
            banner?;
            desktop?;
            control_plane_stop.cancel();
            shutdown
                .phase("controlPlane.stop", control_plane)
                .await
                .context("the control plane ended unexpectedly")?
        };
        shutdown.clone().bound(service).await
    }
}

/// The repositories that the gateway manages, as the control plane's list of selectable repositories.
#[derive(Debug)]
struct ManagedRepositories(Arc<Repos>);

impl MachineRepositories for ManagedRepositories {
    fn full_names(&self) -> Result<Vec<RepoFullName>, Box<dyn Error + Send + Sync>> {
        self.0.refresh();
        Ok(self.0.full_names()?)
    }
}

/// Binds loopback at the port of the API's origin, or else at the default port.
async fn listener(api_origin: Option<&str>) -> anyhow::Result<tokio::net::TcpListener> {
    let Some(origin) = api_origin else { return embedded::bind().await };
    let url = Url::parse(origin)?;
    let port = url.port_or_known_default().context("the API origin has no port")?;
    // Only the port of the origin is used, so another host would be ignored without this check.
    anyhow::ensure!(
        url.scheme() == "http",
        "loopgate up serves the control plane on this machine, so the API origin must be http://127.0.0.1:PORT, \
         not {origin}; use loopgate gateway to connect to another one, or change --api-origin (api_origin \
         in settings.toml)"
    );
    embedded::listen((Ipv4Addr::LOCALHOST, port).into(), "--api-origin http://127.0.0.1:PORT").await
}

/// Returns the repositories in the sandbox. Clones that are not in `repos.json` yet are added, so that the
/// page offers them.
async fn repositories(home: &DesktopHome, programs: &Arc<Programs>) -> Vec<ListedRepository> {
    let repos = home.repos.clone();
    let clones = tokio::task::spawn_blocking(move || repos.discover()).await.unwrap_or_default();
    let (git, store) = (Git::new(programs.clone(), home.sandbox.clone()), TrustStore::new(home.dir.path()));
    let mut repositories = Vec::new();
    for (full_name, path) in clones {
        // Runs git in the repository: only for the repositories that the banner shows by name.
        let is_shown = repositories.len() < SHOWN_REPOSITORIES;
        let content = if is_shown { git.executable_content(&path).await.ok() } else { None };
        let untrusted =
            content.is_some_and(|content| !content.parts.is_empty() && !content.is_trusted(&store));
        repositories.push(ListedRepository { full_name: full_name.to_string(), path, untrusted });
    }
    repositories
}

async fn versions(programs: &Programs) -> Vec<(Program, Option<String>)> {
    let mut versions = tokio::time::timeout(VERSIONS_LIMIT, programs.versions()).await.unwrap_or_default();
    Program::ALL.iter().map(|program| (*program, versions.remove(program).flatten())).collect()
}
