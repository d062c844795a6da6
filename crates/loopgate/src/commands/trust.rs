//! `loopgate trust`: what a repository brings along to be run, and the person's word that it may.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use loopgate_home::files::create_private_dir;
use loopgate_home::{Overrides, Sandbox, SettingsStore, TrustStore};
use loopgate_tools::git::{ExecutableContent, Git, GitError};
use loopgate_tools::programs::Programs;
use owo_colors::OwoColorize as _;

use crate::args::HomeArgs;
use crate::home::SETTINGS_FILE;
use crate::{commands, terminal};

/// Look at what a repository brings along to be run, and let it.
///
/// A repository can bring hooks, filters and settings that name programs, for git and for the
/// assistant. Loopgate runs none of that before you have seen it and agreed. Your word holds for the
/// clone with all its worktrees, and for what you have seen: what changes is asked about again.
#[derive(Debug, Args)]
pub struct TrustArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// The repository, or a directory in it.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Agree without being asked.
    #[arg(long)]
    yes: bool,
    /// Take your word back.
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
    /// List the repositories that may run something.
    #[arg(long, conflicts_with_all = ["yes", "revoke", "path"])]
    list: bool,
}

impl TrustArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let data_dir = self.home.data_dir()?;
        let store = TrustStore::new(&data_dir);
        if self.list {
            return list(&store);
        }
        let looked = commands::block_on(brought_by(data_dir.clone(), self.path.clone()));
        if self.revoke {
            // One that is gone, or is no repository any more, is forgotten by its place.
            let clone =
                looked.map_or_else(|_| std::path::absolute(&self.path), |brought| Ok(brought.clone))?;
            let known = store.revoke(&clone)?;
            let said = if known { "is trusted no longer" } else { "was not trusted" };
            println!("{} {said}.", clone.display());
            return Ok(ExitCode::SUCCESS);
        }
        let brought = looked?;
        if brought.parts.is_empty() {
            println!("{} brings nothing along to be run.", brought.root.display());
            return Ok(ExitCode::SUCCESS);
        }
        show(&brought);
        if brought.is_trusted(&store) {
            println!("You have agreed to all of it.");
            return Ok(ExitCode::SUCCESS);
        }
        if !self.yes && !commands::agrees("May it run?")? {
            println!("Nothing of it will run.");
            return Ok(ExitCode::FAILURE);
        }
        create_private_dir(&data_dir)?;
        store.trust(&brought.clone, brought.entries())?;
        println!("{} may run this from now on.", brought.clone.display());
        Ok(ExitCode::SUCCESS)
    }
}

fn list(store: &TrustStore) -> anyhow::Result<ExitCode> {
    let repositories = store.list()?;
    if repositories.is_empty() {
        println!("No repository may run anything.");
    }
    for repository in repositories {
        println!("{}", terminal::escape_control(&repository.path.to_string_lossy()));
        for part in repository.parts {
            // A digest precedes the name.
            let name = part.split_once(' ').map_or(part.as_str(), |(_, name)| name);
            println!("    {}", terminal::escape_control(name));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What the repository of a directory brings along, wherever the person keeps it.
async fn brought_by(data_dir: PathBuf, path: PathBuf) -> anyhow::Result<ExecutableContent> {
    let path = path.canonicalize().with_context(|| path.display().to_string())?;
    let everywhere =
        Overrides { sandbox_base_directory: Some(Path::new("/").to_owned()), ..Overrides::default() };
    let settings = Arc::new(SettingsStore::open(&data_dir.join(SETTINGS_FILE), everywhere)?);
    let programs = Arc::new(Programs::new(settings.clone()));
    let git = Git::new(programs, Arc::new(Sandbox::new(settings, &data_dir)));
    git.executable_content(&path).await.map_err(|error| match error {
        GitError::Repository(reason) => anyhow::anyhow!(
            "nothing to trust in {}: {reason}\nhint: name a clone, for example: loopgate trust ~/src/shop",
            path.display()
        ),
        error => anyhow::Error::new(error).context(path.display().to_string()),
    })
}

fn show(brought: &ExecutableContent) {
    anstream::println!("{} brings this along to be run:\n", brought.root.display().bold());
    for part in &brought.parts {
        anstream::println!("{}", terminal::escape_control(&part.name).cyan().bold());
        for line in String::from_utf8_lossy(&part.content).lines() {
            println!("    {}", terminal::escape_control(line));
        }
        println!();
    }
}
