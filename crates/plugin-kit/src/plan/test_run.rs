//! Runs a command and keeps its output: the evidence that agents refer to comes from a program.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use loopgate_api::test_evidence::TestRun;
use loopgate_evidence::{CompletedRun, read_report, test_command};
use loopgate_home::{Directory, TrustStore, untrusted};

use crate::hook;
use crate::project_git::BlockingGit;

/// Directory of the logs, in the work directory.
const LOGS: &str = "evidence";
/// Upper bound of a log in bytes; additional output is discarded, so that a noisy command cannot fill the disk.
const LOG_CAP: u64 = 16 * 1024 * 1024;
/// Last lines of a log that are shown.
const SHOWN_LINES: usize = 40;

/// A command, and where it runs.
pub struct TestJob<'a> {
    /// Work directory of the loop, which receives the log.
    pub workdir: &'a Path,
    /// Directory in which the command runs.
    pub dir: &'a Path,
    /// Shell command.
    pub command: &'a str,
    /// Tree of the files that are tested.
    pub tree: String,
    /// Name of the log, without its ending.
    pub log: String,
}

impl TestJob<'_> {
    /// Runs the command with additional variables and waits for its end. A command that was terminated by a signal has
    /// an error.
    ///
    /// # Errors
    /// Returns the line to print when the guards of the loop refuse the command, or it cannot be run.
    pub fn run(&self, variables: &[(&str, &Path)]) -> Result<CompletedRun, String> {
        // The hooks judge what the assistant runs, and this program runs it in turn.
        if let Some(reason) = hook::refusal_of_command(self.command, self.dir) {
            return Err(format!("Error: {reason}"));
        }
        let cannot = |error: io::Error| format!("Error: cannot run `{}`: {error}", self.command);
        let log = self.workdir.join(LOGS).join(format!("{}.log", self.log));
        untrusted::write(&log, b"").map_err(cannot)?;
        let started = Instant::now();
        let status = self.execute(variables, untrusted::append(&log).map_err(cannot)?).map_err(cannot)?;
        let report = read_report(&untrusted::read(&log, LOG_CAP).map_err(cannot)?);
        let run = TestRun {
            commit: self.tree.clone(),
            exit_code: status.code(),
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            counts: report.as_ref().map(|report| report.counts),
            error: status.code().is_none().then(|| "it was terminated by a signal".to_owned()),
            log: format!("{LOGS}/{}.log", self.log),
        };
        Ok(CompletedRun { run, report })
    }

    fn execute(&self, variables: &[(&str, &Path)], mut log: File) -> io::Result<std::process::ExitStatus> {
        let (mut output, writer) = io::pipe()?;
        let mut command = Command::new("sh");
        command.args(["-c", self.command]).current_dir(self.dir).envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let mut child = command.spawn()?;
        // The command holds the write ends; the pipe would otherwise never end.
        drop(command);
        io::copy(&mut output.by_ref().take(LOG_CAP), &mut log)?;
        io::copy(&mut output, &mut io::sink())?;
        log.flush()?;
        child.wait()
    }
}

/// Returns the command that runs the tests of a repository: the one that the user trusts, else the one that its files
/// suggest.
#[must_use]
pub fn command_of(git: &BlockingGit, dir: &Path) -> Option<String> {
    let trusted = || {
        let trusted = TrustStore::new(&loopgate_home::default_data_dir().ok()?);
        trusted.test_command(&git.clone_root(dir)?)
    };
    trusted().or_else(|| Some(test_command(&Directory::of(dir).ok()?)?.command))
}

/// Returns the end of a run's log.
#[must_use]
pub fn last_lines(workdir: &Path, run: &CompletedRun) -> String {
    let log = untrusted::read(&workdir.join(&run.run.log), LOG_CAP).unwrap_or_default();
    let text = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}
