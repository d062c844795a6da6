//! Construction of git commands: in a repository that was resolved and checked before, named explicitly.
//!
//! Git performs no discovery: it receives the git directory and the working tree through its environment, and
//! ignores what the repository's configuration says about programs. A reading command receives the handles of
//! the directories that were checked, so that a directory that is swapped afterwards is not read. A writing
//! command receives their paths, because the paths that it records must stay valid after this process has
//! exited.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Directory, Program, Repository, RepositoryError, expand_home, trust_command};

use super::config::{self, ALWAYS, NO_HOOKS, OUTPUT};
use super::submodules::untrusted;
use super::{Git, GitError, checked, finish, time};
use crate::git::DropPolicy;
use crate::process::Command;

/// Removed from the environment: variables that point git to a repository, as listed by `git rev-parse
/// --local-env-vars`, variables that start programs, replace objects or allow protocols that the configuration does not,
/// and variables that change the meaning of paths or the content of the output.
const REMOVED_VARIABLES: [&str; 26] = [
    "GIT_ALLOW_PROTOCOL",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REFERENCE_BACKEND",
    "GIT_REFLOG_ACTION",
    "GIT_REF_STORAGE",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Makes git show the objects that it pushes. Replacements (`git replace`) and grafts exist only in this clone, which may
/// have been prepared by others. Git opens no file below a device.
pub(crate) const REAL_OBJECTS: [(&str, &str); 2] =
    [("GIT_NO_REPLACE_OBJECTS", "1"), ("GIT_GRAFT_FILE", "/dev/null/grafts")];

/// Disables prompts and pagers, and fixes the language of messages, which are parsed.
const NON_INTERACTIVE: [(&str, &str); 9] = [
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
/// A `git status` command, without the option for submodules.
const STATUS: [&str; 3] = ["status", "--porcelain=v2", "-z"];
/// Compares only the commit of a submodule, without starting git in it.
const NOT_INTO_SUBMODULES: &str = "--ignore-submodules=dirty";
/// How the location of a repository is passed to git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathMode {
    /// By paths under `/proc/self/fd` that refer to open directories.
    Held,
    /// By absolute paths, which stay valid in files that git writes.
    Named,
}

impl Git {
    /// Resolves the repository that contains a directory.
    ///
    /// # Errors
    /// Fails with [`GitError::Repository`] when there is none, or it is outside the sandbox.
    pub async fn repository(&self, directory: &Path) -> Result<Arc<Repository>, GitError> {
        let (sandbox, directory) = (self.sandbox.clone(), directory.to_owned());
        let resolve = move || {
            let repository = sandbox.repository(&directory)?;
            repository.check_layout()?;
            Ok(repository)
        };
        let repository = tokio::task::spawn_blocking(resolve).await;
        let repository = repository.unwrap_or_else(|error| Err(io::Error::other(error).into()));
        repository.map(Arc::new).map_err(GitError::Repository)
    }

    /// Creates a writing git command without arguments, at the root of the working tree that contains the
    /// directory.
    ///
    /// # Errors
    /// Fails with [`GitError::Repository`] when there is none, or it is outside the sandbox.
    pub async fn command(&self, directory: &Path) -> Result<Command, GitError> {
        let repository = self.repository(directory).await?;
        let overrides = self.overrides(&repository, true).await?;
        Ok(configured(self.bare_command(&repository, PathMode::Named).await, &overrides))
    }

    /// As [`Git::command`], for a command that only reads: it takes no optional locks, fetches no missing
    /// objects, and runs with lowered priority.
    ///
    /// # Errors
    /// Fails as [`Git::command`] does.
    pub async fn reader(&self, directory: &Path) -> Result<Command, GitError> {
        let repository = self.repository(directory).await?;
        self.reader_of(&repository).await
    }

    /// As [`Git::command`], for a command that stages.
    ///
    /// # Errors
    /// Fails as [`Git::command`] does, and when git would enter a submodule whose configuration names
    /// programs.
    pub(super) async fn stager(&self, directory: &Path) -> Result<Command, GitError> {
        let repository = self.repository(directory).await?;
        if let Some(unsafe_path) = self.unsafe_submodule(&repository).await? {
            let place = repository.root.join(&unsafe_path);
            return Err(GitError::Repository(untrusted(&unsafe_path, &place)));
        }
        let overrides = self.overrides(&repository, true).await?;
        Ok(configured(self.bare_command(&repository, PathMode::Named).await, &overrides))
    }

    /// Creates a `git status` command. Submodules are inspected only if the configuration of all of them is
    /// safe, and then even if the configuration excludes them.
    ///
    /// # Errors
    /// Fails as [`Git::command`] does.
    pub(super) async fn status_command(&self, repository: &Arc<Repository>) -> Result<Command, GitError> {
        let is_safe = self.unsafe_submodule(repository).await?.is_none();
        let submodules = if is_safe { "--ignore-submodules=none" } else { NOT_INTO_SUBMODULES };
        Ok(self.reader_of(repository).await?.args(STATUS).arg(submodules))
    }

    /// Creates a `git status` command that reports what can be committed: of a submodule, only its commit.
    ///
    /// # Errors
    /// Fails as [`Git::command`] does.
    pub(super) async fn commit_status_command(
        &self,
        repository: &Arc<Repository>,
    ) -> Result<Command, GitError> {
        Ok(self.reader_of(repository).await?.args(STATUS).arg(NOT_INTO_SUBMODULES))
    }

    /// As [`Git::reader`], in a resolved repository.
    ///
    /// # Errors
    /// Fails as [`Git::command`] does.
    pub(super) async fn reader_of(&self, repository: &Arc<Repository>) -> Result<Command, GitError> {
        let overrides = self.overrides(repository, false).await?;
        // The conditions of a configuration also match the names of the handles, which the user has not reviewed.
        let is_conditional = config::includes(&repository.config);
        let mode = if is_conditional { PathMode::Named } else { PathMode::Held };
        let command = configured(self.bare_command(repository, mode).await, &overrides);
        Ok(command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1").low_priority())
    }

    /// Returns the configuration to pass with a command.
    async fn overrides(
        &self,
        repository: &Arc<Repository>,
        writes: bool,
    ) -> Result<Vec<(String, OsString)>, GitError> {
        let mut overrides = with_always(self.trust_overrides(repository, writes).await?);
        overrides.extend(OUTPUT.into_iter().map(owned));
        Ok(overrides)
    }

    /// Returns the configuration that neutralizes the repository's own. If the user trusts the repository,
    /// nothing is neutralized for a writing command, and filters are not for a reading one.
    async fn trust_overrides(
        &self,
        repository: &Arc<Repository>,
        writes: bool,
    ) -> Result<Vec<(String, OsString)>, GitError> {
        let checks = [config::has_restricted, config::has_local_remote];
        // Most repositories configure only harmless variables. Their reading commands are spared two more starts of
        // git.
        let mut variables = Vec::new();
        if writes || checks.iter().any(|check| check(&repository.config)) {
            variables = if writes {
                self.effective_config(repository).await?
            } else {
                self.config_for_reading(repository).await?
            };
            let content = self.executable_content_of(repository, variables.clone()).await;
            if let Ok(content) = content
                && self.is_content_trusted(content).await
            {
                if writes {
                    return Ok(Vec::new());
                }
                variables.retain(|variable| !variable.is_filter());
            } else if let Some(reason) = config::not_overridable(&variables, writes) {
                return Err(GitError::Repository(RepositoryError::Refused(format!(
                    "{reason}; review it with: {}",
                    trust_command(&repository.root)
                ))));
            }
        }
        let mut overrides = config::overrides(&variables, writes);
        overrides.push(owned(NO_HOOKS));
        if writes && let Some(hooks) = self.global_hooks(&variables) {
            overrides.push((NO_HOOKS.0.to_owned(), hooks.into()));
        }
        Ok(overrides)
    }

    /// Returns the directory of the user's global hooks, unless it is inside the sandbox, where a repository
    /// could have written it.
    fn global_hooks(&self, variables: &[config::ConfigVariable]) -> Option<PathBuf> {
        let own = variables
            .iter()
            .rev()
            .find(|variable| !variable.by_repository && variable.entry.is("core", "hookspath"))?;
        let place = expand_home(own.entry.value.as_deref()?);
        (place.is_absolute() && self.sandbox.check(&place).is_err()).then_some(place)
    }

    /// Returns the complete configuration of a repository with the scope of each variable. Executes nothing
    /// that it names.
    pub(super) async fn effective_config(
        &self,
        repository: &Arc<Repository>,
    ) -> Result<Vec<config::ConfigVariable>, GitError> {
        self.config_listing(repository).await?.variables()
    }

    /// Returns the output of a command that only prints settings, such as `git config --list`, and therefore
    /// executes nothing that the repository names.
    ///
    /// # Errors
    /// Fails with [`GitError`], also for an exit code other than 0.
    pub(super) async fn print_settings(
        &self,
        repository: &Arc<Repository>,
        args: &[&str],
    ) -> Result<Vec<u8>, GitError> {
        let command = self.bare_command(repository, PathMode::Named).await.args(args);
        Ok(checked(args, finish(&command, args, time::LOCAL, DropPolicy::Kill).await?)?.stdout)
    }

    /// Creates a command with the location of the repository, but without overrides of its configuration.
    async fn bare_command(&self, repository: &Arc<Repository>, mode: PathMode) -> Command {
        let mut command = self.programs.command(Program::Git).await;
        for name in REMOVED_VARIABLES {
            command = command.env_remove(name);
        }
        for (name, value) in NON_INTERACTIVE.into_iter().chain(REAL_OBJECTS) {
            command = command.env(name, value);
        }
        for (name, path) in mode.variables(repository) {
            command = command.env(name, path);
        }
        command.directory(mode.root(repository)).keep_alive(repository.clone())
    }

    /// Restricts another program that starts git to this directory's repository, with the same overrides. In
    /// a directory without a repository, git is kept from discovering one above.
    ///
    /// # Errors
    /// Fails with [`GitError`] when the repository cannot be used.
    pub async fn restrict(&self, mut command: Command, directory: &Path) -> Result<Command, GitError> {
        for name in REMOVED_VARIABLES {
            command = command.env_remove(name);
        }
        for (name, value) in REAL_OBJECTS {
            command = command.env(name, value);
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

    /// Returns the environment for a program that works in these checkouts and starts git itself: the same
    /// configuration overrides as for our own commands. Empty if the user trusts all checkouts.
    ///
    /// # Errors
    /// Fails with [`GitError`] when a repository cannot be used.
    pub async fn program_environment(
        &self,
        checkouts: &[&Path],
    ) -> Result<Vec<(String, OsString)>, GitError> {
        let mut overrides = Vec::new();
        for checkout in checkouts {
            match self.repository(checkout).await {
                Ok(repository) => overrides.extend(self.trust_overrides(&repository, true).await?),
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
    /// Returns the root of the working tree.
    fn root(self, repository: &Repository) -> PathBuf {
        self.path(&repository.handles.root, &repository.root)
    }

    /// Returns the variables that locate a repository.
    fn variables(self, repository: &Repository) -> Vec<(&'static str, PathBuf)> {
        let Repository { root, git_dir, common_dir, handles, .. } = repository;
        let mut variables = vec![
            ("GIT_DIR", self.path(&handles.git_dir, git_dir)),
            ("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(root).to_owned()),
        ];
        if git_dir != common_dir {
            variables.push(("GIT_COMMON_DIR", self.path(&handles.common_dir, common_dir)));
        }
        if !repository.bare {
            // Relative to the working directory, which is the root: git would open an absolute path again, by
            // name.
            let tree = if self == Self::Held { PathBuf::from(".") } else { root.clone() };
            variables.push(("GIT_WORK_TREE", tree));
        }
        variables
    }

    fn path(self, handle: &Directory, name: &Path) -> PathBuf {
        let held = if self == Self::Held { handle.proc_path() } else { None };
        held.unwrap_or_else(|| name.to_owned())
    }
}

fn owned((key, value): (&str, &str)) -> (String, OsString) {
    (key.to_owned(), value.into())
}

/// Appends the overrides of every command, which take precedence.
fn with_always(overrides: Vec<(String, OsString)>) -> Vec<(String, OsString)> {
    overrides.into_iter().chain(ALWAYS.into_iter().map(owned)).collect()
}

/// Adds configuration overrides to a command.
fn configured(command: Command, overrides: &[(String, OsString)]) -> Command {
    config_variables(overrides).into_iter().fold(command, |command, (name, value)| command.env(name, value))
}

/// Returns the environment variables that pass configuration overrides to git.
fn config_variables(overrides: &[(String, OsString)]) -> Vec<(String, OsString)> {
    let mut variables = vec![("GIT_CONFIG_COUNT".to_owned(), overrides.len().to_string().into())];
    for (number, (key, value)) in overrides.iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{number}"), key.into()));
        variables.push((format!("GIT_CONFIG_VALUE_{number}"), value.clone()));
    }
    variables
}

impl GitError {
    /// Returns whether git ran and reported a failure, or there is no repository: the requested object does
    /// not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Repository(RepositoryError::None))
    }
}
