//! `loopgate trust`: what a repository brings along to be run, and the person's word that it may; and the command by
//! which loops run its tests.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use loopgate_evidence::test_command;
use loopgate_home::files::create_private_dir;
use loopgate_home::{Directory, Overrides, Sandbox, SettingsStore, TrustStore};
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
///
/// The command that runs the repository's tests is shown as well, and asked about apart. Loops run it at
/// their base and at their end only when you have agreed to it.
#[derive(Debug, Args)]
pub struct TrustArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// The repository, or a directory in it.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Agree without being asked. Does not cover the tests.
    #[arg(long)]
    yes: bool,
    /// Let loops run the repository's tests with this command.
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new())]
    tests: Option<String>,
    /// Let loops run the repository's tests no longer.
    #[arg(long, conflicts_with = "tests")]
    no_tests: bool,
    /// Take your word back, for the tests too.
    #[arg(long, conflicts_with_all = ["yes", "tests", "no_tests"])]
    revoke: bool,
    /// List the repositories that may run something.
    #[arg(long, conflicts_with_all = ["yes", "tests", "no_tests", "revoke", "path"])]
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
        if self.no_tests || self.tests.is_some() {
            create_private_dir(&data_dir)?;
            store.set_test_command(&brought.clone, self.tests.as_deref())?;
            match &self.tests {
                Some(command) => println!("{}", agreed_to_tests(&brought, command)),
                None => println!("Loops do not run the tests of {}.", brought.clone.display()),
            }
            return Ok(ExitCode::SUCCESS);
        }
        let may_run = self.ask_about_parts(&brought, &store, &data_dir)?;
        ask_about_tests(&brought, &store, &data_dir)?;
        Ok(if may_run { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Shows what the repository brings along, and asks. Whether all of it may run.
    fn ask_about_parts(
        &self,
        brought: &ExecutableContent,
        store: &TrustStore,
        data_dir: &Path,
    ) -> anyhow::Result<bool> {
        if brought.parts.is_empty() {
            println!("{} brings nothing along to be run.", brought.root.display());
            return Ok(true);
        }
        show(brought);
        if brought.is_trusted(store) {
            println!("You have agreed to all of it.");
            return Ok(true);
        }
        if !self.yes && !commands::agrees("May it run?")? {
            println!("Nothing of it will run.");
            return Ok(false);
        }
        create_private_dir(data_dir)?;
        store.trust(&brought.clone, brought.entries())?;
        println!("{} may run this from now on.", brought.clone.display());
        Ok(true)
    }
}

/// Shows the command that runs the tests, and asks whether loops may run it. Without a terminal it says how to
/// agree.
fn ask_about_tests(brought: &ExecutableContent, store: &TrustStore, data_dir: &Path) -> anyhow::Result<()> {
    if let Some(agreed) = store.test_command(&brought.clone) {
        println!("Loops run its tests: {}", terminal::escape_control(&agreed));
        return Ok(());
    }
    let Some(detected) = Directory::of(&brought.root).ok().and_then(|tree| test_command(&tree)) else {
        return Ok(());
    };
    anstream::println!("Its tests: {} ({})", detected.command.cyan().bold(), detected.reason);
    if let Some(definition) = &detected.definition {
        println!("    {}", terminal::escape_control(definition));
    }
    let hint = format!("loopgate trust {} --tests '{}'", brought.root.display(), detected.command);
    match terminal::confirm("May loops run it, at their base and at their end?")? {
        Some(true) => {
            create_private_dir(data_dir)?;
            store.set_test_command(&brought.clone, Some(&detected.command))?;
            println!("{}", agreed_to_tests(brought, &detected.command));
        }
        Some(false) => println!("Loops do not run its tests."),
        None => println!("Loops do not run its tests. Let them with: {hint}"),
    }
    Ok(())
}

fn agreed_to_tests(brought: &ExecutableContent, command: &str) -> String {
    let command = terminal::escape_control(command);
    format!("Loops run the tests of {} from now on: {command}", brought.clone.display())
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
        if let Some(command) = repository.test_command {
            println!("    tests: {}", terminal::escape_control(&command));
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
