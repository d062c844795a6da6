//! A process to start: program, arguments, working directory, environment, standard input.
//!
//! The only file that creates an operating system command. Every process leads a process group, and no
//! argument is ever interpreted by a shell.

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

/// The standard input of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`: end of file immediately.
    #[default]
    Null,
    /// These bytes, followed by end of file.
    Bytes(Vec<u8>),
}

/// An error while starting a process.
#[derive(Debug, Error)]
pub enum StartError {
    /// `ENOENT`: the executable, or the interpreter in its first line, does not exist.
    #[error("{0} was not found; {installation}, or set its path in the settings", installation = installation(.0))]
    NotFound(String),
    /// `EACCES`: the file exists, but is not executable.
    #[error("{0} is not executable; check its permissions")]
    NotExecutable(String),
    /// The working directory of the command was removed or never existed.
    #[error("the working directory does not exist")]
    DirectoryMissing,
    /// Any other error of the operating system.
    #[error("failed to start {program}: {source}")]
    Refused {
        /// File name of the program, without its directory.
        program: String,
        /// The error that the operating system returned.
        source: io::Error,
    },
}

/// Returns the instruction that a message gives for a missing program.
fn installation(name: &str) -> String {
    let program = Program::ALL.into_iter().find(|program| program.executable() == name);
    program
        .map_or_else(|| "install it".to_owned(), |program| format!("install it ({})", program.installation()))
}

impl StartError {
    /// Returns the error code for clients: `ENOENT`, `EACCES`, or `SPAWN` for all others.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) | Self::DirectoryMissing => "ENOENT",
            Self::NotExecutable(_) => "EACCES",
            Self::Refused { .. } => "SPAWN",
        }
    }
}

/// A process that was started without a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetachedProcess {
    /// Pid of the process, which is also the id of its process group.
    pub pid: u32,
    /// Start time of the process; `None` when it exited before its start time was read.
    pub started: Option<ProcessStart>,
}

/// The parent's ends of a process's standard streams.
pub(super) struct Pipes {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

/// A program to start, any number of times. `Debug` prints neither the environment nor the input.
#[derive(Clone)]
pub struct Command {
    program: PathBuf,
    args: Vec<OsString>,
    directory: Option<PathBuf>,
    /// The complete environment; `None` inherits that of this process. `changes` are applied on top of
    /// either.
    environment: Option<BTreeMap<OsString, OsString>>,
    changes: BTreeMap<OsString, Option<OsString>>,
    pub(super) stdin: Stdin,
    session: bool,
    low_priority: bool,
    pub(super) ends_group: bool,
    resource: Option<Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut output = f.debug_struct("Command");
        output.field("program", &self.program).field("args", &self.args).field("directory", &self.directory);
        output.finish_non_exhaustive()
    }
}

impl Command {
    /// Creates a command for a path, or for a bare name that is searched on the `PATH` given to the child.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            directory: None,
            environment: None,
            changes: BTreeMap::new(),
            stdin: Stdin::Null,
            session: false,
            low_priority: false,
            ends_group: false,
            resource: None,
        }
    }

    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Replaces the inherited environment.
    #[must_use]
    pub fn environment(mut self, environment: BTreeMap<OsString, OsString>) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Sets one environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.changes.insert(name.into(), Some(value.into()));
        self
    }

    /// Removes one environment variable.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.changes.insert(name.into(), None);
        self
    }

    /// Sets the standard input.
    #[must_use]
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// Starts the process in a new session without a controlling terminal, so that a prompt on `/dev/tty`
    /// fails instead of stopping the process. Slightly more expensive than a process group, because `setsid`
    /// rules out `posix_spawn`.
    #[must_use]
    pub fn session(mut self) -> Self {
        self.session = true;
        self
    }

    /// Lowers the scheduling priority of a process that is started with [`Command::run`]. For work that may
    /// run many times concurrently and must not delay the gateway's responses.
    #[must_use]
    pub fn low_priority(mut self) -> Self {
        self.low_priority = true;
        self
    }

    /// Terminates the members of the process group that are still running when the process exits. Applies to
    /// [`Command::stream`].
    #[must_use]
    pub fn end_group(mut self) -> Self {
        self.ends_group = true;
        self
    }

    /// Keeps a value alive as long as the command, such as an open directory that its paths refer to.
    #[must_use]
    pub fn keep_alive(mut self, resource: Arc<dyn Any + Send + Sync>) -> Self {
        self.resource = Some(resource);
        self
    }

    /// Returns the file name of the program, for messages.
    #[must_use]
    pub fn program_name(&self) -> String {
        self.program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Starts a process that outlives this one, with no input and with both output streams appended to the
    /// log. The log's directory is created, and the log is readable by its owner only.
    ///
    /// # Errors
    /// Fails with [`StartError`], also when the log cannot be opened.
    pub fn spawn_detached(&self, log: &Path) -> Result<DetachedProcess, StartError> {
        let refused = |source| StartError::Refused { program: self.program_name(), source };
        let out = untrusted::append(log).map_err(refused)?;
        let err = out.try_clone().map_err(refused)?;
        let child = self.spawn_with(Stdio::null(), out, err)?;
        // Dropping the handle does not kill the process; tokio reaps it in the background.
        let pid = child.id().unwrap_or_default();
        Ok(DetachedProcess { pid, started: identity(pid) })
    }

    /// Starts a process and returns its handle. Blocks until `execve` in the child succeeded or failed, which
    /// can take tens of milliseconds on a loaded machine.
    pub(crate) fn spawn_with(
        &self,
        stdin: impl Into<Stdio>,
        stdout: impl Into<Stdio>,
        stderr: impl Into<Stdio>,
    ) -> Result<Child, StartError> {
        let command = self.prepared(stdin, stdout, stderr);
        command.and_then(|mut command| command.spawn()).map_err(|error| self.explain(error))
    }

    /// As [`Self::spawn_with`], with piped output, on a blocking thread. When the future is dropped, the
    /// process that was started is killed.
    pub(super) async fn spawn_piped(&self, stdin: Stdio) -> Result<(OwnedGroup, Pipes), StartError> {
        let command = self.prepared(stdin, Stdio::piped(), Stdio::piped());
        let low_priority = self.low_priority;
        let spawn = move || -> io::Result<(OwnedGroup, Pipes)> {
            let mut child = command?.spawn()?;
            let pipes =
                Pipes { stdin: child.stdin.take(), stdout: child.stdout.take(), stderr: child.stderr.take() };
            let group = OwnedGroup::new(child);
            // Right after the start, because only children that are started later inherit the priority.
            if low_priority {
                group.lower_priority();
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
            // `pre_spawn` only registers `setsid` to run before `execve`; it does not use the command in
            // `core`.
            let core = CommandWrap::from(tokio::process::Command::from(self.std()));
            ProcessSession.pre_spawn(&mut command, &core)?;
        }
        Ok(command)
    }

    /// Starts a process that the caller reaps with `waitpid`, independently of tokio.
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

    #[expect(clippy::disallowed_methods, reason = "the one place that creates commands")]
    fn std(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args);
        if !self.session {
            // `setsid` fails with EPERM in a process that already leads a group, and creates a group anyway.
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
        // `execve` and `chdir` both report ENOENT; checking the directory afterwards distinguishes them.
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
        let output = format!("{:?}", command.stdin(Stdin::Bytes(b"hunter4".to_vec())));
        assert!(output.contains("status") && !output.contains("hunter"), "{output}");
    }
}
