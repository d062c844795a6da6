//! `loopgate trust`: shows the executable content of a repository and records the user's consent to it, and
//! to the command with which loops run the repository's tests.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use loopgate_api::shell::quoted;
use loopgate_evidence::test_command;
use loopgate_home::files::create_private_dir;
use loopgate_home::{Directory, Overrides, SETTINGS_FILE, Sandbox, SettingsStore, TrustStore, trust_command};
use loopgate_tools::git::{ExecutableContent, Git, GitError, instruction_part};
use loopgate_tools::instructions::Instructions;
use loopgate_tools::programs::Programs;
use owo_colors::OwoColorize as _;

use crate::args::HomeArgs;
use crate::{commands, terminal};

/// Bytes of an instruction file that are shown; the assistant warns far below.
const MAX_INSTRUCTIONS: u64 = 1024 * 1024;

/// Review the executable content of a repository, and trust it.
///
/// A repository can contain hooks, filters and settings that start programs, for git and for the assistant.
/// Loopgate runs none of them before you have reviewed and trusted them. Trust applies to the clone with all
/// its worktrees, and only to the content that you reviewed: changed content needs another review.
///
/// The command that runs the repository's tests is shown as well, and confirmed separately. Loops run it at
/// their base commit and at their result only if you agree to it.
///
/// The commands that deploy the repository are confirmed separately as well.
#[derive(Debug, Args)]
pub struct TrustArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// The repository, or a directory in it.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Trust the repository without confirmation. Does not cover the tests.
    #[arg(long)]
    yes: bool,
    /// Let loops run the repository's tests with this command.
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new())]
    tests: Option<String>,
    /// No longer let loops run the repository's tests.
    #[arg(long, conflicts_with = "tests")]
    no_tests: bool,
    /// Let deployments run this command of the repository, in addition to others. Can be repeated.
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new())]
    deploy: Vec<String>,
    /// No longer let deployments run any command of the repository.
    #[arg(long, conflicts_with = "deploy")]
    no_deploy: bool,
    /// Revoke the trust, also for the tests and deployments.
    #[arg(long, conflicts_with_all = ["yes", "tests", "no_tests", "deploy", "no_deploy"])]
    revoke: bool,
    /// List the trusted repositories.
    #[arg(long, conflicts_with_all = ["yes", "tests", "no_tests", "deploy", "no_deploy", "revoke", "path"])]
    list: bool,
}

impl TrustArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let data_dir = self.home.data_dir()?;
        let store = TrustStore::new(&data_dir);
        if self.list {
            return list(&store);
        }
        let content = commands::block_on(executable_content(data_dir.clone(), self.path.clone()));
        if self.revoke {
            // A directory that was deleted, or is no longer a repository, is identified by its path.
            let clone =
                content.map_or_else(|_| std::path::absolute(&self.path), |content| Ok(content.clone))?;
            let was_trusted = store.revoke(&clone)?;
            let result = if was_trusted { "is no longer trusted" } else { "was not trusted" };
            println!("{} {result}.", clone.display());
            return Ok(ExitCode::SUCCESS);
        }
        let content = content?;
        if self.no_deploy || !self.deploy.is_empty() {
            create_private_dir(&data_dir)?;
            if self.no_deploy {
                store.revoke_deploy_commands(&content.clone)?;
                println!("Deployments run no command of {}.", content.clone.display());
            } else {
                store.trust_deploy_commands(&content.clone, &self.deploy)?;
                println!("{}", deploy_confirmation(&content, &self.deploy));
            }
            if !self.no_tests && self.tests.is_none() {
                return Ok(ExitCode::SUCCESS);
            }
        }
        if self.no_tests || self.tests.is_some() {
            create_private_dir(&data_dir)?;
            store.set_test_command(&content.clone, self.tests.as_deref())?;
            match &self.tests {
                Some(command) => println!("{}", tests_confirmation(&content, command)),
                None => println!("Loops do not run the tests of {}.", content.clone.display()),
            }
            return Ok(ExitCode::SUCCESS);
        }
        show_instructions(&content);
        let content = with_instructions(content)?;
        let may_run = self.confirm_content(&content, &store, &data_dir)?;
        confirm_tests(&content, &store, &data_dir)?;
        confirm_deployment(&content, &store, &data_dir)?;
        Ok(if may_run { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Shows the executable content and asks for trust. Returns whether all of it may run.
    fn confirm_content(
        &self,
        content: &ExecutableContent,
        store: &TrustStore,
        data_dir: &Path,
    ) -> anyhow::Result<bool> {
        if content.parts.is_empty() {
            println!("{} has no executable content.", content.root.display());
            return Ok(true);
        }
        show(content);
        if content.is_trusted(store) {
            println!("All of it is trusted.");
            return Ok(true);
        }
        if !self.yes && !commands::is_confirmed("Trust it?")? {
            println!("It is not trusted, and will not run.");
            return Ok(false);
        }
        create_private_dir(data_dir)?;
        store.trust(&content.clone, content.entries())?;
        println!("{} is now trusted.", content.clone.display());
        Ok(true)
    }
}

/// Shows the command that runs the tests, and asks whether loops may run it. Without a terminal, prints the
/// command that agrees to it.
fn confirm_tests(content: &ExecutableContent, store: &TrustStore, data_dir: &Path) -> anyhow::Result<()> {
    if let Some(command) = store.test_command(&content.clone) {
        println!("Loops run its tests: {}", terminal::escape_control(&command));
        return Ok(());
    }
    let Some(detected) = Directory::of(&content.root).ok().and_then(|tree| test_command(&tree)) else {
        return Ok(());
    };
    anstream::println!("Its tests: {} ({})", detected.command.cyan().bold(), detected.reason);
    if let Some(definition) = &detected.definition {
        println!("    {}", terminal::escape_control(definition));
    }
    let hint = format!("{} --tests {}", trust_command(&content.root), quoted(&detected.command));
    match terminal::confirm("Let loops run it, at their base commit and at their result?")? {
        Some(true) => {
            create_private_dir(data_dir)?;
            store.set_test_command(&content.clone, Some(&detected.command))?;
            println!("{}", tests_confirmation(content, &detected.command));
        }
        Some(false) => println!("Loops do not run its tests."),
        None => println!("Loops do not run its tests. To let them: {hint}"),
    }
    Ok(())
}

fn tests_confirmation(content: &ExecutableContent, command: &str) -> String {
    let command = terminal::escape_control(command);
    format!("Loops will run the tests of {} with: {command}", content.clone.display())
}

/// Shows the commands that deploy the repository, and asks whether deployments may run them. Without a terminal, prints
/// the command that agrees to them.
fn confirm_deployment(
    content: &ExecutableContent,
    store: &TrustStore,
    data_dir: &Path,
) -> anyhow::Result<()> {
    let agreed = store.deploy_commands(&content.clone);
    if !agreed.is_empty() {
        let agreed: Vec<_> = agreed.iter().map(|command| terminal::escape_control(command)).collect();
        println!("Deployments run: {}", agreed.join(", "));
        return Ok(());
    }
    let Ok(tree) = Directory::of(&content.root) else { return Ok(()) };
    let Some(detected) = loopgate_deploy::candidates(&tree).into_iter().next() else { return Ok(()) };
    let commands: Vec<String> = detected.config.completed().commands().map(str::to_owned).collect();
    let shown: Vec<_> = commands.iter().map(|command| terminal::escape_control(command)).collect();
    anstream::println!("Its deployment: {}", shown.join(", ").cyan().bold());
    match terminal::confirm("Let deployments run it, in any worktree?")? {
        Some(true) => {
            create_private_dir(data_dir)?;
            store.trust_deploy_commands(&content.clone, &commands)?;
            println!("{}", deploy_confirmation(content, &commands));
        }
        Some(false) => println!("Deployments do not run it."),
        None => println!(
            "Deployments do not run it. To let them: {}",
            loopgate_deploy::agreement(&content.root, &commands)
        ),
    }
    Ok(())
}

fn deploy_confirmation(content: &ExecutableContent, commands: &[String]) -> String {
    let commands: Vec<_> = commands.iter().map(|command| terminal::escape_control(command)).collect();
    format!("Deployments of {} may run: {}", content.clone.display(), commands.join(", "))
}

fn list(store: &TrustStore) -> anyhow::Result<ExitCode> {
    let repositories = store.list()?;
    if repositories.is_empty() {
        println!("No repositories are trusted.");
    }
    for repository in repositories {
        println!("{}", terminal::escape_control(&repository.path.to_string_lossy()));
        for part in repository.parts {
            // Entries are stored as a digest and a name.
            let name = part.split_once(' ').map_or(part.as_str(), |(_, name)| name);
            println!("    {}", terminal::escape_control(name));
        }
        if let Some(command) = repository.test_command {
            println!("    tests: {}", terminal::escape_control(&command));
        }
        for command in repository.deploy_commands {
            println!("    deployment: {}", terminal::escape_control(&command));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the executable content of the repository that contains a directory.
async fn executable_content(data_dir: PathBuf, path: PathBuf) -> anyhow::Result<ExecutableContent> {
    let path = path.canonicalize().with_context(|| path.display().to_string())?;
    // A clone may be anywhere on this machine, so the check of the sandbox is widened to the root.
    let overrides =
        Overrides { sandbox_base_directory: Some(Path::new("/").to_owned()), ..Overrides::default() };
    let settings = Arc::new(SettingsStore::open(&data_dir.join(SETTINGS_FILE), overrides)?);
    let programs = Arc::new(Programs::new(settings.clone()));
    let git = Git::new(programs, Arc::new(Sandbox::new(settings, &data_dir)));
    git.executable_content(&path).await.map_err(|error| match error {
        GitError::Repository(reason) => anyhow::anyhow!(
            "nothing to trust in {}: {reason}\nhint: pass a clone, for example: loopgate trust ~/src/shop",
            path.display()
        ),
        error => anyhow::Error::new(error).context(path.display().to_string()),
    })
}

/// Adds the instructions that lead out of the repository to the parts that the user can trust.
fn with_instructions(mut content: ExecutableContent) -> anyhow::Result<ExecutableContent> {
    let instructions = Instructions::of(&content.root)
        .with_context(|| format!("cannot examine the instructions of {}", content.root.display()))?;
    let leaving = instructions.leaving.iter().map(|(name, target)| instruction_part(name, target));
    content.parts.extend(leaving);
    Ok(content)
}

/// Shows the instructions that agents send to the model, which need no consent, and those that are left out without it.
fn show_instructions(content: &ExecutableContent) {
    let (Ok(instructions), Ok(tree)) = (Instructions::of(&content.root), Directory::of(&content.root)) else {
        return;
    };
    if instructions.files.is_empty() && instructions.leaving.is_empty() {
        return;
    }
    anstream::println!("Instructions for agents in {}:\n", content.root.display().bold());
    for path in &instructions.files {
        anstream::println!("{}", terminal::escape_control(&path.to_string_lossy()).cyan().bold());
        let text = tree.read(path, MAX_INSTRUCTIONS).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines() {
            println!("    {}", terminal::escape_control(line));
        }
        println!();
    }
    for (name, target) in &instructions.leaving {
        let text = format!("{name} leads out of the repository, to {}", target.display());
        println!("{}: left out until you trust it.", terminal::escape_control(&text));
    }
}

fn show(content: &ExecutableContent) {
    anstream::println!("Executable content of {}:\n", content.root.display().bold());
    for part in &content.parts {
        anstream::println!("{}", terminal::escape_control(&part.name).cyan().bold());
        for line in String::from_utf8_lossy(&part.content).lines() {
            println!("    {}", terminal::escape_control(line));
        }
        println!();
    }
}
