//! Resolution of the five external programs, and the environment they run in.
//!
//! A path that the user configured takes precedence, unless it leads through the sandbox, where repositories
//! and loops can write. Otherwise the login shell's PATH is searched. The settings are read on every call, so
//! that a change takes effect immediately; they are never changed here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use loopgate_home::{Program, ProgramPath, SettingsStore};
use serde::{Deserialize, Serialize};

use crate::login_path::LoginPath;
use crate::process::{Command, Limits};

/// Timeout of `<program> --version`. Programs that are scripts take a second or two to start on a busy
/// machine.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// How the path of a program was determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramSource {
    /// The path that the user configured.
    Override,
    /// The path that the user configured, which is missing or not executable.
    OverrideInvalid,
    /// The first match on the login shell's PATH.
    Path,
    /// Not found: the bare name, so that starting it fails with an error that names the program.
    Fallback,
}

/// The executable that was resolved for a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedProgram {
    /// Absolute path, or a bare name with [`ProgramSource::Fallback`].
    pub path: PathBuf,
    pub source: ProgramSource,
    /// The path that the user configured, ignored because it leads through the sandbox.
    pub ignored_override: Option<PathBuf>,
}

impl ResolvedProgram {
    fn new(path: impl Into<PathBuf>, source: ProgramSource) -> Self {
        Self { path: path.into(), source, ignored_override: None }
    }
}

/// The five external programs of this machine.
#[derive(Debug)]
pub struct Programs {
    settings: Arc<SettingsStore>,
    login_path: LoginPath,
}

impl Programs {
    /// Creates a resolver that searches the PATH of this user's login shell.
    #[must_use]
    pub fn new(settings: Arc<SettingsStore>) -> Self {
        Self::with_login_path(settings, LoginPath::from_environment())
    }

    /// Creates a resolver that searches the given login shell's PATH.
    #[must_use]
    pub fn with_login_path(settings: Arc<SettingsStore>, login_path: LoginPath) -> Self {
        Self { settings, login_path }
    }

    /// Returns how long git and its hooks may show no activity, if the user has configured it.
    #[must_use]
    pub fn git_idle_limit(&self) -> Option<Duration> {
        let seconds = self.settings.get().git_idle_limit_seconds?;
        Some(Duration::from_secs(seconds.get().into()))
    }

    /// Resolves a program. An invalid override is returned unchanged, so that the error at start names it. An
    /// override that leads through the sandbox is ignored, and PATH is searched instead.
    pub async fn resolve(&self, program: Program) -> ResolvedProgram {
        let settings = self.settings.get();
        let Some(configured) = settings.binary_paths.get(&program) else {
            return self.search(program.executable()).await;
        };
        if self.is_in_sandbox(configured) {
            tracing::warn!(%program, "configured path of a program is inside the sandbox; searching PATH");
            let resolved = self.search(program.executable()).await;
            return ResolvedProgram { ignored_override: Some(configured.target().to_owned()), ..resolved };
        }
        match configured.resolve().filter(|way| is_executable(way)) {
            Some(way) => ResolvedProgram::new(way, ProgramSource::Override),
            // Starting the target either runs the file that the user chose or fails; the changed link is not
            // followed.
            None => ResolvedProgram::new(configured.target(), ProgramSource::OverrideInvalid),
        }
    }

    /// Returns whether a path leads through the sandbox, so that the file may have been written by a
    /// repository, a page or a loop. Accesses the file system.
    #[must_use]
    pub fn is_in_sandbox(&self, path: &ProgramPath) -> bool {
        let base = self.settings.get().sandbox_base_directory.clone();
        base.is_some_and(|base| path.leads_through(&base))
    }

    /// Searches the login shell's PATH for a bare name.
    pub async fn search(&self, executable: &str) -> ResolvedProgram {
        let path = self.login_path.resolve().await;
        let name = executable.to_owned();
        let resolved = tokio::task::spawn_blocking(move || find_on_path(&path, &name)).await.ok().flatten();
        match resolved {
            Some(path) => ResolvedProgram::new(path, ProgramSource::Path),
            None => ResolvedProgram::new(executable, ProgramSource::Fallback),
        }
    }

    /// Returns the PATH that is searched for programs.
    pub async fn search_path(&self) -> Arc<str> {
        self.login_path.resolve().await
    }

    /// Returns the environment of every program: the inherited one with the login shell's PATH, without
    /// variables that break version managers and without Loopgate's own API keys.
    pub async fn environment(&self) -> BTreeMap<OsString, OsString> {
        self.login_path.environment().await
    }

    /// Returns the executable to start for a program. For git, an invalid override falls back to PATH,
    /// because most features depend on git.
    pub async fn executable(&self, program: Program) -> PathBuf {
        let mut resolved = self.resolve(program).await;
        if program == Program::Git && resolved.source == ProgramSource::OverrideInvalid {
            tracing::warn!("configured path of git is not executable; searching PATH");
            resolved = self.search(program.executable()).await;
        }
        resolved.path
    }

    /// Creates a command that starts the program in [`Self::environment`].
    pub async fn command(&self, program: Program) -> Command {
        Command::new(self.executable(program).await).environment(self.environment().await)
    }

    /// Discards the cached login PATH. Called when the user changed the configuration of a program.
    pub fn clear_cache(&self) {
        self.login_path.clear_cache();
    }

    /// Returns the version of each program as in [`Self::version`], queried concurrently.
    pub async fn versions(&self) -> BTreeMap<Program, Option<String>> {
        let queries = Program::ALL.map(|program| async move { (program, self.version(program).await) });
        join_all(queries).await.into_iter().collect()
    }

    /// Returns the first line of `<program> --version`; `None` when the program is missing, fails or prints
    /// nothing.
    pub async fn version(&self, program: Program) -> Option<String> {
        let command = self.command(program).await.arg("--version").session().low_priority();
        let output = command.run(Limits::time(VERSION_TIMEOUT)).await.ok()?;
        let text = output.stdout_text().into_owned();
        let line = text.lines().next().map(str::trim).filter(|line| !line.is_empty());
        line.filter(|_| output.status.success()).map(str::to_owned)
    }
}

/// Returns the first executable of this name in the directories of a PATH. Relative directories are ignored,
/// because they would resolve differently in each working directory, such as a checkout.
#[must_use]
pub fn find_on_path(path: &str, executable: &str) -> Option<PathBuf> {
    let directories = path.split(':').filter(|segment| !segment.is_empty()).map(Path::new);
    directories
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(executable))
        .find(|candidate| is_executable(candidate))
}

/// Returns whether the path is a regular file that this user may execute.
#[must_use]
pub fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use loopgate_home::Overrides;

    use super::*;

    struct ProgramsFixture {
        directory: tempfile::TempDir,
        settings: Arc<SettingsStore>,
        programs: Programs,
    }

    impl ProgramsFixture {
        /// Creates a login shell whose PATH contains the directories `one` and `two`.
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let at = |name: &str| directory.path().join(name);
            for name in ["one", "two"] {
                std::fs::create_dir(at(name)).unwrap();
            }
            let line = format!("echo ::relative:{}:{}::", at("one").display(), at("two").display());
            script(&at("shell"), &line, 0o755);
            let settings = Arc::new(SettingsStore::open(&at("settings.toml"), Overrides::default()).unwrap());
            let login_path = LoginPath::new(at("shell"), BTreeMap::new());
            let programs = Programs::with_login_path(settings.clone(), login_path);
            Self { directory, settings, programs }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.directory.path().join(name)
        }

        fn set(&self, program: Program, path: PathBuf) {
            self.settings
                .update(|settings| drop(settings.binary_paths.insert(program, path.into())))
                .unwrap();
        }
    }

    fn script(path: &Path, line: &str, mode: u32) {
        std::fs::write(path, format!("#!/bin/sh\n{line}\n")).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[tokio::test]
    async fn first_executable_on_the_path_wins() {
        let machine = ProgramsFixture::new();
        script(&machine.at("one/git"), "", 0o644);
        // Neither a file without the executable bit nor a directory of that name is a match.
        script(&machine.at("two/git"), "echo git version 9; echo more", 0o755);
        std::fs::create_dir(machine.at("one/gh")).unwrap();
        let git = machine.programs.resolve(Program::Git).await;
        assert_eq!(git, ResolvedProgram::new(machine.at("two/git"), ProgramSource::Path));
        let gh = machine.programs.resolve(Program::CodeHost).await;
        assert_eq!(gh, ResolvedProgram::new("gh", ProgramSource::Fallback));
        let versions = machine.programs.versions().await;
        assert_eq!(versions.get(&Program::Git).unwrap().as_deref(), Some("git version 9"));
        assert_eq!(versions.get(&Program::CodeHost).unwrap(), &None);
    }

    #[tokio::test]
    async fn invalid_override_is_returned() {
        let machine = ProgramsFixture::new();
        for name in ["one/git", "one/codex", "mine"] {
            script(&machine.at(name), "", 0o755);
        }
        machine.set(Program::Reviewer, machine.at("mine"));
        let resolved = machine.programs.resolve(Program::Reviewer).await;
        assert_eq!(resolved, ResolvedProgram::new(machine.at("mine"), ProgramSource::Override));
        machine.set(Program::Reviewer, machine.at("gone"));
        let resolved = machine.programs.resolve(Program::Reviewer).await;
        assert_eq!(resolved, ResolvedProgram::new(machine.at("gone"), ProgramSource::OverrideInvalid));
        let error =
            machine.programs.command(Program::Reviewer).await.run(Limits::time(VERSION_TIMEOUT)).await;
        assert!(error.unwrap_err().to_string().starts_with("gone was not found"));
    }

    #[tokio::test]
    async fn cached_symlink_is_invalid_after_its_target_changes() {
        let machine = ProgramsFixture::new();
        script(&machine.at("real"), "echo \"${0##*/}\"", 0o755);
        script(&machine.at("other"), "echo other", 0o755);
        let link = machine.at("codex");
        std::os::unix::fs::symlink(machine.at("real"), &link).unwrap();
        // The path is pinned: both the link and the target at the time of the user's choice are stored.
        let configured = ProgramPath::new(link.clone(), machine.at("real").canonicalize().unwrap());
        machine.settings.update(|s| drop(s.binary_paths.insert(Program::Reviewer, configured))).unwrap();
        let resolved = machine.programs.resolve(Program::Reviewer).await;
        assert_eq!(resolved, ResolvedProgram::new(link.clone(), ProgramSource::Override));
        let version = || machine.programs.version(Program::Reviewer);
        assert_eq!(version().await.as_deref(), Some("codex"), "started by the configured name");
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(machine.at("other"), &link).unwrap();
        assert_eq!(machine.programs.resolve(Program::Reviewer).await.source, ProgramSource::OverrideInvalid);
        assert_eq!(version().await.as_deref(), Some("real"), "the new target of the link is not started");
    }

    #[tokio::test]
    async fn git_falls_back_to_path_when_its_override_is_invalid() {
        let machine = ProgramsFixture::new();
        script(&machine.at("one/git"), "echo found on PATH", 0o755);
        machine.set(Program::Git, machine.at("gone"));
        assert_eq!(machine.programs.resolve(Program::Git).await.source, ProgramSource::OverrideInvalid);
        assert_eq!(machine.programs.version(Program::Git).await.as_deref(), Some("found on PATH"));
    }

    #[tokio::test]
    async fn program_inside_the_sandbox_is_never_started() {
        let machine = ProgramsFixture::new();
        std::fs::create_dir(machine.at("box")).unwrap();
        machine.settings.update(|s| s.sandbox_base_directory = Some(machine.at("box"))).unwrap();
        script(&machine.at("one/codex"), "echo found on PATH", 0o755);
        script(&machine.at("box/codex"), "echo planted", 0o755);
        script(&machine.at("real"), "echo outside", 0o755);
        std::os::unix::fs::symlink(machine.at("real"), machine.at("box/link")).unwrap();
        std::os::unix::fs::symlink(machine.at("box/link"), machine.at("over")).unwrap();
        std::os::unix::fs::symlink(machine.at("box/codex"), machine.at("into")).unwrap();
        let pinned = |name: &str| {
            let path = machine.at(name);
            ProgramPath::new(path.clone(), path.canonicalize().unwrap())
        };
        // In turn: a file in the sandbox, a link in it, a link to that link, and a link from outside to a
        // file in it. The path that is chained below has no pinned target.
        let configured = ["box/codex", "box/link", "over", "into"].map(pinned);
        for configured in configured.into_iter().chain([machine.at("box/codex").into()]) {
            let target = configured.target().to_owned();
            machine.settings.update(|s| drop(s.binary_paths.insert(Program::Reviewer, configured))).unwrap();
            let resolved = machine.programs.resolve(Program::Reviewer).await;
            assert_eq!((resolved.path, resolved.source), (machine.at("one/codex"), ProgramSource::Path));
            assert_eq!(resolved.ignored_override, Some(target));
            let version = machine.programs.version(Program::Reviewer).await;
            assert_eq!(version.as_deref(), Some("found on PATH"));
        }
        machine.set(Program::Reviewer, machine.at("real"));
        assert_eq!(machine.programs.version(Program::Reviewer).await.as_deref(), Some("outside"));
    }
}
