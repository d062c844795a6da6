//! The one place where git is started: in a repository that we found, with its parts named.
//!
//! Git discovers nothing by itself: it is told which records and which working tree to use, never
//! looks above them, and does not follow what the repository's own configuration says about programs.
//! A command that reads is given the directories that were looked at, held open, so that whatever is
//! put in their place meanwhile is not what it reads. One that writes is given their names, since a
//! change must outlive this process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Directory, Program, Repository, RepositoryError, expand_home};

use super::config::{self, ALWAYS, NO_HOOKS};
use super::{Git, GitError, checked, finish, time};
use crate::git::CallerPresence;
use crate::process::Command;

/// Variables that point git at a repository, as `git rev-parse --local-env-vars` lists them, and those
/// that start programs or change what a repository is.
const MISLEADING: [&str; 19] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Git asks nobody anything and prints what programs read.
const QUIET: [(&str, &str); 9] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GCM_INTERACTIVE", "never"),
    ("GH_PROMPT_DISABLED", "1"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];
/// How a command is told where a repository is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathMode {
    /// By the directories that were looked at, held open.
    Held,
    /// By their names.
    Named,
}

impl Git {
    /// The repository that a directory belongs to.
    ///
    /// # Errors
    /// [`GitError::Repository`]
    pub async fn repository(&self, directory: &Path) -> Result<Arc<Repository>, GitError> {
        let (sandbox, directory) = (self.sandbox.clone(), directory.to_owned());
        let found = tokio::task::spawn_blocking(move || sandbox.repository(&directory)).await;
        let found = found.unwrap_or_else(|error| Err(io::Error::other(error).into()));
        found.map(Arc::new).map_err(GitError::Repository)
    }

    /// A git command that can be given more before it runs, at the root of the working tree that the
    /// directory is in.
    ///
    /// # Errors
    /// [`GitError::Repository`]
    pub async fn command(&self, directory: &Path) -> Result<Command, GitError> {
        let repository = self.repository(directory).await?;
        let overrides = self.overrides(&repository, true).await?;
        Ok(configured(self.bare_command(&repository, PathMode::Named).await, &overrides))
    }

    /// As [`Git::command`], for one that only reads: it locks nothing, fetches nothing, and lets others
    /// go first.
    ///
    /// # Errors
    /// As [`Git::command`].
    pub async fn reader(&self, directory: &Path) -> Result<Command, GitError> {
        let repository = self.repository(directory).await?;
        self.reader_of(&repository).await
    }

    /// As [`Git::command`], for one that stages.
    ///
    /// # Errors
    /// As [`Git::command`]; also when a submodule would be entered whose configuration names programs.
    pub(super) async fn stager(&self, directory: &Path) -> Result<Command, GitError> {
        let repository = self.repository(directory).await?;
        if let Some(odd) = self.odd_submodule(&repository).await? {
            let place = repository.root.join(&odd);
            let reason = format!(
                "the configuration of its submodule {} names programs that you have not trusted; look at it with: \
                 loopgate trust {}",
                odd.display(),
                place.display()
            );
            return Err(GitError::Repository(RepositoryError::Refused(reason)));
        }
        let overrides = self.overrides(&repository, true).await?;
        Ok(configured(self.bare_command(&repository, PathMode::Named).await, &overrides))
    }

    /// `git status` for programs. Submodules are looked into, as long as all of them are harmless.
    ///
    /// # Errors
    /// As [`Git::command`].
    pub(super) async fn status_command(&self, repository: &Arc<Repository>) -> Result<Command, GitError> {
        let command = self.reader_of(repository).await?.args(["status", "--porcelain=v2", "-z"]);
        let odd = self.odd_submodule(repository).await?;
        Ok(if odd.is_some() { command.arg("--ignore-submodules=dirty") } else { command })
    }

    /// As [`Git::reader`], in a repository that was found.
    ///
    /// # Errors
    /// As [`Git::command`].
    pub(super) async fn reader_of(&self, repository: &Arc<Repository>) -> Result<Command, GitError> {
        let overrides = self.overrides(repository, false).await?;
        let command = configured(self.bare_command(repository, PathMode::Held).await, &overrides);
        Ok(command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1").modest())
    }

    /// What git is told with a command.
    async fn overrides(
        &self,
        repository: &Arc<Repository>,
        writes: bool,
    ) -> Result<Vec<(String, String)>, GitError> {
        Ok(with_always(self.withheld(repository, writes).await?))
    }

    /// What git is told instead of what the repository brings along. When the person trusts it, nothing
    /// of that is left out of a change, and no filter of a look.
    async fn withheld(
        &self,
        repository: &Arc<Repository>,
        writes: bool,
    ) -> Result<Vec<(String, String)>, GitError> {
        let says_more = [config::includes, config::withheld, config::has_local_remote];
        let mut told = Vec::new();
        if writes || says_more.iter().any(|says| says(&repository.config)) {
            told = self.effective_config(repository).await?;
            let brought = self.executable_content_of(repository, told.clone()).await;
            if let Ok(brought) = brought
                && self.agreed(brought).await
            {
                if writes {
                    return Ok(Vec::new());
                }
                told.retain(|told| !told.is_filter());
            }
        }
        let mut overrides = config::overrides(&told, writes);
        overrides.push(owned(NO_HOOKS));
        if writes && let Some(hooks) = self.hooks_of_person(&told) {
            overrides.push((NO_HOOKS.0.to_owned(), hooks));
        }
        Ok(overrides)
    }

    /// Where the person keeps hooks for every repository, unless a repository could have put them there.
    fn hooks_of_person(&self, told: &[config::ConfigVariable]) -> Option<String> {
        let own = told.iter().rev().find(|told| !told.by_repository && told.key == "core.hookspath")?;
        let place = expand_home(own.value.as_deref()?);
        (place.is_absolute() && self.sandbox.check(&place).is_err())
            .then(|| place.to_string_lossy().into_owned())
    }

    /// Everything that is configured for a repository, and by whom. Runs nothing that it names.
    pub(super) async fn effective_config(
        &self,
        repository: &Arc<Repository>,
    ) -> Result<Vec<config::ConfigVariable>, GitError> {
        let printed = self.print_settings(repository, &["config", "--list", "--show-scope", "-z"]).await?;
        Ok(config::parse_scopes(&printed))
    }

    /// The output of a command that only prints settings, such as `git config --list`: it runs nothing
    /// that the repository names.
    ///
    /// # Errors
    /// [`GitError`], also for an exit code other than 0.
    pub async fn print_settings(
        &self,
        repository: &Arc<Repository>,
        args: &[&str],
    ) -> Result<Vec<u8>, GitError> {
        let command = self.bare_command(repository, PathMode::Named).await.args(args);
        Ok(checked(args, finish(&command, args, time::LOCAL, CallerPresence::Needed).await?)?.stdout)
    }

    /// A command that knows where the repository is, and nothing of what it may follow.
    async fn bare_command(&self, repository: &Arc<Repository>, places: PathMode) -> Command {
        let mut command = self.programs.command(Program::Git).await;
        for name in MISLEADING {
            command = command.env_remove(name);
        }
        for (name, value) in QUIET {
            command = command.env(name, value);
        }
        for (name, path) in places.variables(repository) {
            command = command.env(name, path);
        }
        command.directory(places.root(repository)).holding(repository.clone())
    }

    /// Lets another program that starts git use this directory's repository, as we would. In a
    /// directory without one, git finds none.
    ///
    /// # Errors
    /// [`GitError`] when there is one that is not used.
    pub async fn within(&self, mut command: Command, directory: &Path) -> Result<Command, GitError> {
        for name in MISLEADING {
            command = command.env_remove(name);
        }
        let command = command.directory(directory);
        let repository = match self.repository(directory).await {
            Ok(repository) => repository,
            Err(GitError::Repository(RepositoryError::None)) => {
                return Ok(command.env("GIT_CEILING_DIRECTORIES", directory.parent().unwrap_or(directory)));
            }
            Err(error) => return Err(error),
        };
        let mut command = configured(command, &self.overrides(&repository, true).await?);
        for (name, path) in PathMode::Named.variables(&repository) {
            command = command.env(name, path);
        }
        Ok(command)
    }

    /// Variables for a program that works in these checkouts and starts git by itself: git is told
    /// the same of their configuration as by us. Empty for checkouts that the person trusts.
    ///
    /// # Errors
    /// [`GitError`] when a checkout is a repository that is not used.
    pub async fn program_environment(&self, checkouts: &[&Path]) -> Result<Vec<(String, String)>, GitError> {
        let mut overrides = Vec::new();
        for checkout in checkouts {
            match self.repository(checkout).await {
                Ok(repository) => overrides.extend(self.withheld(&repository, true).await?),
                Err(GitError::Repository(RepositoryError::None)) => {}
                Err(error) => return Err(error),
            }
        }
        if overrides.is_empty() {
            return Ok(Vec::new());
        }
        Ok(config_variables(&with_always(overrides)))
    }
}

impl PathMode {
    /// The root of the working tree.
    fn root(self, repository: &Repository) -> PathBuf {
        self.path(&repository.handles.root, &repository.root)
    }

    /// The variables that name the parts of a repository.
    fn variables(self, repository: &Repository) -> Vec<(&'static str, PathBuf)> {
        let Repository { root, own, common, handles, .. } = repository;
        let mut variables = vec![
            ("GIT_DIR", self.path(&handles.own, own)),
            ("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(root).to_owned()),
        ];
        if own != common {
            variables.push(("GIT_COMMON_DIR", self.path(&handles.common, common)));
        }
        if !repository.bare {
            // Where it runs is the root; were that named, git would enter it again by its name.
            let tree = if self == Self::Held { PathBuf::from(".") } else { root.clone() };
            variables.push(("GIT_WORK_TREE", tree));
        }
        variables
    }

    fn path(self, handle: &Directory, name: &Path) -> PathBuf {
        let held = if self == Self::Held { handle.held_path() } else { None };
        held.unwrap_or_else(|| name.to_owned())
    }
}

fn owned((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

/// After what is told with every command.
fn with_always(overrides: Vec<(String, String)>) -> Vec<(String, String)> {
    ALWAYS.into_iter().map(owned).chain(overrides).collect()
}

/// A command with these variables of git's configuration.
fn configured(command: Command, overrides: &[(String, String)]) -> Command {
    config_variables(overrides).into_iter().fold(command, |command, (name, value)| command.env(name, value))
}

/// The variables of the environment that set these of git's configuration.
fn config_variables(overrides: &[(String, String)]) -> Vec<(String, String)> {
    let mut variables = vec![("GIT_CONFIG_COUNT".to_owned(), overrides.len().to_string())];
    for (number, (key, value)) in overrides.iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{number}"), key.clone()));
        variables.push((format!("GIT_CONFIG_VALUE_{number}"), value.clone()));
    }
    variables
}

impl GitError {
    /// Whether there is no repository, or git says that there is nothing of the kind.
    #[must_use]
    pub fn is_refusal_of_git(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Repository(RepositoryError::None))
    }
}
