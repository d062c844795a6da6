//! Where the five programs are, and the environment they run in.
//!
//! A path that the user set wins, unless it leads through the sandbox, where repositories and loops
//! write; without one the login shell's PATH is searched. Reads the settings at every call, so that a
//! change counts at once; never changes them.

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

/// How long a program may take to tell its version.
const VERSION_TIME: Duration = Duration::from_secs(5);

/// How a program was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramSource {
    /// The user set its path.
    Override,
    /// The user set a path that is missing or may not be executed.
    OverrideInvalid,
    /// First hit on the login shell's PATH.
    Path,
    /// Not found; the bare name, so that starting it says so.
    Fallback,
}

/// A program's executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedProgram {
    /// What to start.
    pub path: PathBuf,
    /// How it was found.
    pub source: ProgramSource,
    /// The path that the user set, passed over because it leads through the sandbox.
    pub passed_over: Option<PathBuf>,
}

impl ResolvedProgram {
    fn new(path: impl Into<PathBuf>, source: ProgramSource) -> Self {
        Self { path: path.into(), source, passed_over: None }
    }
}

/// The five programs of this machine. Cheap to share behind an [`Arc`].
#[derive(Debug)]
pub struct Programs {
    settings: Arc<SettingsStore>,
    login_path: LoginPath,
}

impl Programs {
    /// The programs as this user's login shell finds them.
    #[must_use]
    pub fn new(settings: Arc<SettingsStore>) -> Self {
        Self::with_login_path(settings, LoginPath::of_this_user())
    }

    /// The programs as another shell finds them.
    #[must_use]
    pub fn with_login_path(settings: Arc<SettingsStore>, login_path: LoginPath) -> Self {
        Self { settings, login_path }
    }

    /// Where a program is. An invalid override is answered as it is, so that the failure names it. One
    /// that leads through the sandbox is never answered: PATH is searched instead.
    pub async fn resolve(&self, program: Program) -> ResolvedProgram {
        let settings = self.settings.get();
        let Some(chosen) = settings.binary_paths.get(&program) else {
            return self.search(program.executable()).await;
        };
        if self.is_in_sandbox(chosen) {
            tracing::warn!(%program, "the path that is set for a program lies in the sandbox; searching PATH");
            let found = self.search(program.executable()).await;
            return ResolvedProgram { passed_over: Some(chosen.target().to_owned()), ..found };
        }
        match chosen.way().filter(|way| is_executable(way)) {
            Some(way) => ResolvedProgram::new(way, ProgramSource::Override),
            // Who starts it all the same starts what was chosen, or nothing.
            None => ResolvedProgram::new(chosen.target(), ProgramSource::OverrideInvalid),
        }
    }

    /// Whether a path for a program leads through the sandbox, so that what is there may have been
    /// written by a repository, a page or a loop. Touches the disk.
    #[must_use]
    pub fn is_in_sandbox(&self, path: &ProgramPath) -> bool {
        let base = self.settings.get().sandbox_base_directory.clone();
        base.is_some_and(|base| path.leads_through(&base))
    }

    /// The first hit for a bare name on the login shell's PATH.
    pub async fn search(&self, executable: &str) -> ResolvedProgram {
        let path = self.login_path.resolve().await;
        let name = executable.to_owned();
        let found = tokio::task::spawn_blocking(move || find_on_path(&path, &name)).await.ok().flatten();
        match found {
            Some(path) => ResolvedProgram::new(path, ProgramSource::Path),
            None => ResolvedProgram::new(executable, ProgramSource::Fallback),
        }
    }

    /// The environment of every program: the own one with the login shell's PATH, without the
    /// variables that keep version managers from working and those that hold our keys.
    pub async fn environment(&self) -> BTreeMap<OsString, OsString> {
        self.login_path.environment().await
    }

    /// What is started for a program. Git with an invalid override is searched on the PATH instead:
    /// too much depends on it.
    pub async fn executable(&self, program: Program) -> PathBuf {
        let mut resolved = self.resolve(program).await;
        if program == Program::Git && resolved.source == ProgramSource::OverrideInvalid {
            tracing::warn!("the path set for git cannot be used; searching PATH");
            resolved = self.search(program.executable()).await;
        }
        resolved.path
    }

    /// A command that starts the program in that environment.
    pub async fn command(&self, program: Program) -> Command {
        Command::new(self.executable(program).await).environment(self.environment().await)
    }

    /// Asks the login shell again at the next need; for when the user changed something.
    pub fn forget(&self) {
        self.login_path.forget();
    }

    /// The first line that each program prints when asked for its version; `None` when it cannot
    /// tell.
    pub async fn versions(&self) -> BTreeMap<Program, Option<String>> {
        let asked = Program::ALL.map(|program| async move { (program, self.version(program).await) });
        join_all(asked).await.into_iter().collect()
    }

    /// The first line that a program prints when asked for its version.
    pub async fn version(&self, program: Program) -> Option<String> {
        let command = self.command(program).await.arg("--version").session().modest();
        let output = command.run(Limits::time(VERSION_TIME)).await.ok()?;
        let text = output.stdout_text().into_owned();
        let line = text.lines().next().map(str::trim).filter(|line| !line.is_empty());
        line.filter(|_| output.status.success()).map(str::to_owned)
    }
}

/// The first executable of this name in the directories of a PATH. Directories that are not absolute do not count:
/// what is there depends on where the program is started.
#[must_use]
pub fn find_on_path(path: &str, executable: &str) -> Option<PathBuf> {
    let directories = path.split(':').filter(|segment| !segment.is_empty()).map(Path::new);
    directories
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(executable))
        .find(|candidate| is_executable(candidate))
}

/// Whether this is a file that the user may execute.
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
        /// A machine whose login shell knows the directories `one` and `two`.
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
    async fn override_wins_even_when_it_is_wrong() {
        let machine = ProgramsFixture::new();
        for name in ["one/git", "one/codex", "mine"] {
            script(&machine.at(name), "", 0o755);
        }
        machine.set(Program::Reviewer, machine.at("mine"));
        let found = machine.programs.resolve(Program::Reviewer).await;
        assert_eq!(found, ResolvedProgram::new(machine.at("mine"), ProgramSource::Override));
        machine.set(Program::Reviewer, machine.at("gone"));
        let found = machine.programs.resolve(Program::Reviewer).await;
        assert_eq!(found, ResolvedProgram::new(machine.at("gone"), ProgramSource::OverrideInvalid));
        let error = machine.programs.command(Program::Reviewer).await.run(Limits::time(VERSION_TIME)).await;
        assert!(error.unwrap_err().to_string().starts_with("gone was not found"));
    }

    #[tokio::test]
    async fn cached_symlink_is_invalid_after_its_target_changes() {
        let machine = ProgramsFixture::new();
        script(&machine.at("real"), "echo \"${0##*/}\"", 0o755);
        script(&machine.at("other"), "echo other", 0o755);
        let link = machine.at("codex");
        std::os::unix::fs::symlink(machine.at("real"), &link).unwrap();
        let chosen = ProgramPath::new(link.clone(), machine.at("real").canonicalize().unwrap());
        machine.settings.update(|s| drop(s.binary_paths.insert(Program::Reviewer, chosen))).unwrap();
        let found = machine.programs.resolve(Program::Reviewer).await;
        assert_eq!(found, ResolvedProgram::new(link.clone(), ProgramSource::Override));
        let version = || machine.programs.version(Program::Reviewer);
        assert_eq!(version().await.as_deref(), Some("codex"), "it is started by the chosen name");
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(machine.at("other"), &link).unwrap();
        assert_eq!(machine.programs.resolve(Program::Reviewer).await.source, ProgramSource::OverrideInvalid);
        assert_eq!(version().await.as_deref(), Some("real"), "never what the link leads to now");
    }

    #[tokio::test]
    async fn git_alone_is_searched_when_its_override_is_wrong() {
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
        let chosen = ["box/codex", "box/link", "over", "into"].map(pinned);
        for chosen in chosen.into_iter().chain([machine.at("box/codex").into()]) {
            let target = chosen.target().to_owned();
            machine.settings.update(|s| drop(s.binary_paths.insert(Program::Reviewer, chosen))).unwrap();
            let found = machine.programs.resolve(Program::Reviewer).await;
            assert_eq!((found.path, found.source), (machine.at("one/codex"), ProgramSource::Path));
            assert_eq!(found.passed_over, Some(target));
            let version = machine.programs.version(Program::Reviewer).await;
            assert_eq!(version.as_deref(), Some("found on PATH"));
        }
        machine.set(Program::Reviewer, machine.at("real"));
        assert_eq!(machine.programs.version(Program::Reviewer).await.as_deref(), Some("outside"));
    }
}
