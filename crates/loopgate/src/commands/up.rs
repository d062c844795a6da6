//! `loopgate up`: everything on this machine, in one process.

use std::error::Error;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use loopgate_api::ids::RepoFullName;
use loopgate_control_plane::MachineRepositories;
use loopgate_home::{DataDir, DataDirError, Program, Repos, Sandbox, TrustStore};
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
/// The first start makes a data directory, an organization with you as its owner, and a key for
/// this desktop. Then a banner shows the page's address with a link that signs you in, the
/// repositories in the sandbox, and the programs that were found or are missing.
///
/// Where Loopgate runs already, the same command opens its page with a fresh sign-in link.
#[derive(Debug, Args)]
pub struct UpArgs {
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    desktop: DesktopArgs,
    /// Do not open the page in a browser.
    #[arg(long, env = "LOOPGATE_NO_OPEN")]
    no_open: bool,
    /// Write the page's address and the gateway's port to this file, as JSON, once both answer.
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
}

/// How deep below the sandbox base repositories are looked for.
const REPOSITORY_DEPTH: usize = 2;
/// Time for asking the programs for their versions.
const VERSIONS_LIMIT: Duration = Duration::from_secs(4);

impl UpArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match open_dir(&self.common) {
            Ok(dir) => {
                // Before a signal is taken for a wish to stop, so that Ctrl-C ends a question.
                let sandbox = sandbox_choice::named_or_chosen(&dir, &self.desktop)?;
                commands::block_on(async move { self.serve(dir, sandbox).await })
            }
            #[cfg(unix)]
            Err(DataDirError::InUse(path)) => self.show_running(&path),
            Err(error) => Err(error.into()),
        }
    }

    /// The page of the Loopgate that has the data directory.
    #[cfg(unix)]
    fn show_running(&self, data_dir: &Path) -> anyhow::Result<ExitCode> {
        let Ok(sign_in_url) = control_client::sign_in_link(data_dir) else {
            return Err(DataDirError::InUse(data_dir.to_owned()).into());
        };
        banner::print_running_already(&sign_in_url, &self.desktop.given());
        self.open_page(&sign_in_url);
        Ok(ExitCode::SUCCESS)
    }

    fn open_page(&self, sign_in_url: &str) {
        if !self.no_open && open::that_detached(sign_in_url).is_err() {
            println!("  No browser could be opened; the link above works in any.\n");
        }
    }

    async fn serve(self, dir: DataDir, sandbox: PathBuf) -> anyhow::Result<ExitCode> {
        let shutdown = Shutdown::on_signals(&dir)?;
        let wanted = settings(&dir, &self.desktop)?.get();
        let listener = listener(wanted.api_origin.as_deref()).await?;
        let origin = format!("http://{}", listener.local_addr()?);
        // One that only follows the API's follows the port that was really bound.
        let web_origin = wanted.web_app_origin.clone().filter(|_| wanted.web_app_origin != wanted.api_origin);
        let web_origin = web_origin.unwrap_or_else(|| origin.clone());
        let desktop_args = DesktopArgs {
            api_origin: Some(origin.clone()),
            web_origin: Some(web_origin.clone()),
            ..self.desktop.clone()
        };
        // Before anything is opened, so that an error in it can be reported.
        let _log = commands::start_log(&dir, &self.common, &wanted)?;
        let home = DesktopHome::open(dir, &desktop_args)?;
        let options = ServerOptions {
            machine_repositories: Some(Arc::new(ManagedRepositories(home.repos.clone()))),
            ..ServerOptions::default()
        };
        let control_plane =
            EmbeddedControlPlane::open(&home.dir, listener, &origin, &web_origin, options).await?;
        let desktop = Desktop::open(&home, &desktop_args).await?;
        let programs = desktop.programs();
        let owner = control_plane.ensure_owner(&embedded::owner(&programs).await).await?;
        let attempt = control_plane.onboarding_attempt(&owner).await?;
        let sign_in_url = control_plane.sign_in_link(&owner).await?;
        let port = desktop.port();
        desktop.offer_sign_in(control_plane.sign_in(owner));

        // The desktop tells it how it ended.
        let deserted = CancellationToken::new();
        let serving = tokio::spawn(control_plane.serve(deserted.clone()));
        onboarding::connect(&origin, &web_origin, &attempt, &home.credentials).await?;
        let shown = async {
            let banner = Banner {
                sign_in_url: sign_in_url.clone(),
                gateway_port: port,
                // On the heap: the future is large.
                repositories: Box::pin(repositories(&home, &sandbox, &programs)).await,
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
            let (shown, served) = tokio::join!(shown, desktop.serve(&home, &shutdown));
            shown?;
            served?;
            deserted.cancel();
            shutdown
                .phase("controlPlane.stop", serving)
                .await
                .context("the control plane ended unexpectedly")?
        };
        shutdown.clone().bound(service).await
    }
}

/// The repositories that the gateway manages.
#[derive(Debug)]
struct ManagedRepositories(Arc<Repos>);

impl MachineRepositories for ManagedRepositories {
    fn full_names(&self) -> Result<Vec<RepoFullName>, Box<dyn Error + Send + Sync>> {
        Ok(self.0.full_names()?)
    }
}

/// Listens where the API's origin says, else at the preferred port of loopback.
async fn listener(api_origin: Option<&str>) -> anyhow::Result<tokio::net::TcpListener> {
    let Some(origin) = api_origin else { return embedded::bind().await };
    let url = Url::parse(origin)?;
    let port = url.port_or_known_default().context("the API origin has no port")?;
    anyhow::ensure!(
        url.scheme() == "http",
        "loopgate up serves the control plane on this machine, so the API origin must be http://127.0.0.1:PORT \
         and not {origin}; use loopgate gateway to connect to another one, or change --api-origin (api_origin \
         in settings.toml)"
    );
    embedded::listen((Ipv4Addr::LOCALHOST, port).into(), "--api-origin http://127.0.0.1:PORT").await
}

/// The repositories of the sandbox. Clones that are not in `repos.json` yet are added, so that
/// the page can offer them.
async fn repositories(home: &DesktopHome, sandbox: &Path, programs: &Arc<Programs>) -> Vec<ListedRepository> {
    let mut found = Vec::new();
    look_for_clones(&home.sandbox, sandbox, REPOSITORY_DEPTH, &mut found);
    for (name, clone) in &found {
        if let Ok(path) = home.sandbox.check(clone)
            && let Err(error) = home.repos.add(&path, None, None)
        {
            tracing::debug!(%error, name, "not added to repos.json");
        }
    }
    found.sort();
    let (git, store) = (Git::new(programs.clone(), home.sandbox.clone()), TrustStore::new(home.dir.path()));
    let mut listed = Vec::new();
    for (full_name, path) in found {
        let shown = listed.len() < SHOWN_REPOSITORIES;
        let brought = if shown { git.executable_content(&path).await.ok() } else { None };
        let untrusted =
            brought.is_some_and(|brought| !brought.parts.is_empty() && !brought.is_trusted(&store));
        listed.push(ListedRepository { full_name, path, untrusted });
    }
    listed
}

fn look_for_clones(sandbox: &Sandbox, directory: &Path, depth: usize, found: &mut Vec<(String, PathBuf)>) {
    // A worktree has a file of this name; only whole clones are listed.
    if directory.join(".git").is_dir() {
        if let Some(name) = sandbox.origin_of(directory) {
            found.push((name.to_string(), directory.to_owned()));
        }
        return;
    }
    if depth == 0 {
        return;
    }
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            look_for_clones(sandbox, &entry.path(), depth - 1, found);
        }
    }
}

async fn versions(programs: &Programs) -> Vec<(Program, Option<String>)> {
    let mut known = tokio::time::timeout(VERSIONS_LIMIT, programs.versions()).await.unwrap_or_default();
    Program::ALL.iter().map(|program| (*program, known.remove(program).flatten())).collect()
}
