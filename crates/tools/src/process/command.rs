//! What to start: program, arguments, directory, environment, standard input.
//!
//! The only file that makes an operating system command. Every process is the leader of a group of
//! its own, and nothing is ever passed through a shell.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use loopgate_home::{Program, untrusted};
use process_wrap::tokio::{CommandWrap, CommandWrapper as _, ProcessSession};
use thiserror::Error;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use super::group::OwnedGroup;
use super::identity::ProcessStart;
use super::table::identity;

/// What a process reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: end of file at once.
    #[default]
    Null,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
}

/// Why a process did not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// No such executable, or its interpreter is missing.
    #[error("{0} was not found; {installation}, or set its path in the settings", installation = installation(.0))]
    NotFound(String),
    /// It exists, but may not be executed.
    #[error("{0} may not be executed; check its permissions")]
    NotExecutable(String),
    /// The working directory does not exist.
    #[error("the working directory does not exist")]
    DirectoryMissing,
    /// The operating system refused for another reason.
    #[error("failed to start {program}: {source}")]
    Refused {
        /// Name of the program, without its directory.
        program: String,
        /// What the operating system said.
        source: io::Error,
    },
}

/// What to do about a program that is missing.
fn installation(name: &str) -> String {
    let known = Program::ALL.into_iter().find(|program| program.executable() == name);
    known
        .map_or_else(|| "install it".to_owned(), |program| format!("install it ({})", program.installation()))
}

impl StartError {
    /// The operating system's name of the error: `ENOENT`, `EACCES`, or `SPAWN`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) | Self::DirectoryMissing => "ENOENT",
            Self::NotExecutable(_) => "EACCES",
            Self::Refused { .. } => "SPAWN",
        }
    }
}

/// A process that runs on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetachedProcess {
    /// Its pid, which is also its group's.
    pub pid: u32,
    /// When it started; `None` when it was gone before anybody could look.
    pub started: Option<ProcessStart>,
}

/// The starter's ends of a process's streams.
pub(super) struct Pipes {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

/// A program to start, as often as needed. Printing it shows neither its environment nor its input.
#[derive(Clone)]
pub struct Command {
    program: PathBuf,
    args: Vec<OsString>,
    directory: Option<PathBuf>,
    /// `None`: the own environment. Changes below apply to either.
    environment: Option<BTreeMap<OsString, OsString>>,
    changes: BTreeMap<OsString, Option<OsString>>,
    pub(super) stdin: Stdin,
    session: bool,
    modest: bool,
    held: Option<Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Command");
        shown.field("program", &self.program).field("args", &self.args).field("directory", &self.directory);
        shown.finish_non_exhaustive()
    }
}

impl Command {
    /// A program by path, or by a bare name that is looked up on the `PATH` given to the child.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            directory: None,
            environment: None,
            changes: BTreeMap::new(),
            stdin: Stdin::Null,
            session: false,
            modest: false,
            held: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Runs in this directory.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Gives exactly this environment instead of the own one.
    #[must_use]
    pub fn environment(mut self, environment: BTreeMap<OsString, OsString>) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Sets one variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.changes.insert(name.into(), Some(value.into()));
        self
    }

    /// Removes one variable.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.changes.insert(name.into(), None);
        self
    }

    /// Gives the process this input.
    #[must_use]
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// Gives the process a session of its own, without a terminal, so that it cannot ask a person
    /// there and be stopped for it. Costs a little more than the group that every process gets.
    #[must_use]
    pub fn session(mut self) -> Self {
        self.session = true;
        self
    }

    /// Lets others have the processor first when it [runs](Command::run): for work that many may
    /// want at once, beside which the gateway still has to answer.
    #[must_use]
    pub fn modest(mut self) -> Self {
        self.modest = true;
        self
    }

    /// Keeps something for as long as the command, such as a directory that its paths lead through.
    #[must_use]
    pub fn holding(mut self, held: Arc<dyn Any + Send + Sync>) -> Self {
        self.held = Some(held);
        self
    }

    /// Name of the program without its directory, for messages.
    #[must_use]
    pub fn program_name(&self) -> String {
        self.program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Starts a process that outlives its starter: nothing to read, both outputs appended to the
    /// log, whose directory is made. The log is readable by its owner only.
    ///
    /// # Errors
    /// [`StartError`], also when the log cannot be opened.
    pub fn spawn_detached(&self, log: &Path) -> Result<DetachedProcess, StartError> {
        let refused = |source| StartError::Refused { program: self.program_name(), source };
        let out = untrusted::append(log).map_err(refused)?;
        let err = out.try_clone().map_err(refused)?;
        let child = self.spawn_with(Stdio::null(), out, err)?;
        // Dropping the handle leaves the process alone and its reaping to the runtime.
        let pid = child.id().unwrap_or_default();
        Ok(DetachedProcess { pid, started: identity(pid) })
    }

    /// Starts a process of which the caller keeps the handle. Waits until the program has taken the
    /// place of the starter's copy, which on a busy machine takes its time.
    pub(crate) fn spawn_with(
        &self,
        stdin: impl Into<Stdio>,
        stdout: impl Into<Stdio>,
        stderr: impl Into<Stdio>,
    ) -> Result<Child, StartError> {
        let command = self.prepared(stdin, stdout, stderr);
        command.and_then(|mut command| command.spawn()).map_err(|error| self.explain(error))
    }

    /// As [`Self::spawn_with`], with all three ends to the caller, where waiting holds nobody up.
    /// What was started when nobody waits for it any more is killed.
    pub(super) async fn spawn_elsewhere(&self, stdin: Stdio) -> Result<(OwnedGroup, Pipes), StartError> {
        let command = self.prepared(stdin, Stdio::piped(), Stdio::piped());
        let modest = self.modest;
        let spawn = move || -> io::Result<(OwnedGroup, Pipes)> {
            let mut child = command?.spawn()?;
            let pipes =
                Pipes { stdin: child.stdin.take(), stdout: child.stdout.take(), stderr: child.stderr.take() };
            let group = OwnedGroup::new(child);
            if modest {
                group.step_back();
            }
            Ok((group, pipes))
        };
        let started = tokio::task::spawn_blocking(spawn).await.map_err(io::Error::other);
        started.flatten().map_err(|error| self.explain(error))
    }

    fn prepared(
        &self,
        stdin: impl Into<Stdio>,
        stdout: impl Into<Stdio>,
        stderr: impl Into<Stdio>,
    ) -> io::Result<tokio::process::Command> {
        let mut command = tokio::process::Command::from(self.std());
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        if self.session {
            let core = CommandWrap::from(tokio::process::Command::from(self.std()));
            ProcessSession.pre_spawn(&mut command, &core)?;
        }
        Ok(command)
    }

    /// Starts a process that the caller reaps itself with `waitpid`, without the runtime.
    pub(crate) fn spawn_unreaped(
        &self,
        stdin: impl Into<Stdio>,
        stdout: impl Into<Stdio>,
        stderr: impl Into<Stdio>,
    ) -> Result<std::process::Child, StartError> {
        let mut command = self.std();
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        command.spawn().map_err(|error| self.explain(error))
    }

    #[expect(clippy::disallowed_methods, reason = "the one place where commands are made")]
    fn std(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args);
        if !self.session {
            // The leader of a session leads a group as well; doing both would fail.
            command.process_group(0);
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        if let Some(environment) = &self.environment {
            command.env_clear().envs(environment);
        }
        for (name, value) in &self.changes {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    fn explain(&self, error: io::Error) -> StartError {
        let directory_missing = self.directory.as_ref().is_some_and(|directory| !directory.is_dir());
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if directory_missing => {
                StartError::DirectoryMissing
            }
            io::ErrorKind::NotFound => StartError::NotFound(self.program_name()),
            io::ErrorKind::PermissionDenied => StartError::NotExecutable(self.program_name()),
            _ => StartError::Refused { program: self.program_name(), source: error },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_of_a_command_has_no_secrets() {
        let secrets = BTreeMap::from([("ONE".into(), "hunter2".into())]);
        let command = Command::new("git").arg("status").environment(secrets).env("TWO", "hunter3");
        let shown = format!("{:?}", command.stdin(Stdin::Bytes(b"hunter4".to_vec())));
        assert!(shown.contains("status") && !shown.contains("hunter"), "{shown}");
    }
}
