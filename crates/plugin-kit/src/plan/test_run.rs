//! Runs a command and keeps its output: the evidence that agents refer to comes from a program.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use loopgate_api::test_evidence::TestRun;
use loopgate_evidence::{CompletedRun, read_report, test_command};
use loopgate_home::{Directory, TrustStore, untrusted};
use loopgate_tools::process::{Command, Limits, ProcessStatus};
use loopgate_tools::shim::reap_marked;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::hook;
use crate::loop_run::child::UNKNOWN_EXIT;
use crate::loop_run::stop::with_caller;
use crate::project_git::BlockingGit;
use crate::variables::TEST_RUN;

/// Directory of the logs, in the work directory.
const LOGS: &str = "evidence";
/// Upper bound of a log in bytes; additional output is discarded, so that a noisy command cannot fill the disk.
const LOG_CAP: u64 = 16 * 1024 * 1024;
/// Time limit of a command; the tool of the assistant that waits for it usually has a shorter one.
const TIME_LIMIT: Duration = Duration::from_hours(1);
/// Time between SIGTERM and SIGKILL for the processes of a command.
const GRACE: Duration = Duration::from_millis(500);
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
    /// Ends the command early.
    pub stop: &'a CancellationToken,
}

impl TestJob<'_> {
    /// Runs the command with additional variables and waits for its end. Processes that it leaves in the background are
    /// terminated. A command that exceeded the time limit has an error.
    ///
    /// # Errors
    /// Returns the line to print when the guards of the loop refuse the command, it cannot be run, or it was
    /// stopped.
    pub fn run(&self, variables: &[(&str, &Path)]) -> Result<CompletedRun, String> {
        // The hooks judge what the assistant runs, and this program runs it in turn.
        if let Some(reason) = hook::refusal_of_command(self.command, self.dir) {
            return Err(format!("Error: {reason}"));
        }
        let cannot = |error: io::Error| format!("Error: cannot run `{}`: {error}", self.command);
        let log = self.workdir.join(LOGS).join(format!("{}.log", self.log));
        let started = Instant::now();
        let status = self.execute(variables, &log).map_err(cannot)?;
        let Some(status) = status else { return Err(format!("Error: `{}` was stopped", self.command)) };
        let report = read_report(&untrusted::read(&log, LOG_CAP).map_err(cannot)?);
        let exit_code = match status {
            ProcessStatus::TimedOut => None,
            status => Some(status.code().unwrap_or(UNKNOWN_EXIT)),
        };
        let run = TestRun {
            commit: self.tree.clone(),
            exit_code,
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            counts: report.as_ref().map(|report| report.counts),
            error: exit_code
                .is_none()
                .then(|| format!("it took longer than {} minutes", TIME_LIMIT.as_secs() / 60)),
            log: format!("{LOGS}/{}.log", self.log),
            output: None,
        };
        Ok(CompletedRun { run, report })
    }

    fn execute(&self, variables: &[(&str, &Path)], log: &Path) -> io::Result<Option<ProcessStatus>> {
        untrusted::write(log, b"")?;
        let mut file = untrusted::append(log)?;
        // Both streams in one, so that the log has the order in which the command printed them.
        let script = format!("exec 2>&1\n{}", self.command);
        let mark = Uuid::new_v4().to_string();
        let command = Command::new("sh").args(["-c", &script]).directory(self.dir).env(TEST_RUN, &mark);
        let command = variables.iter().fold(command, |command, (name, value)| command.env(*name, *value));
        let command = command.end_group();
        let limits = Limits { grace: GRACE, ..Limits::time(TIME_LIMIT).output(0) };
        let (mut room, mut written) = (LOG_CAP, Ok(()));
        let output = |piece: &[u8]| {
            let part = &piece[..piece.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
            room -= part.len() as u64;
            if written.is_ok() {
                written = file.write_all(part);
            }
            None
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let result = runtime.block_on(async {
            let result = command.stream(limits, self.stop, output).await;
            // A server that the command started may have left its process group.
            reap_marked(TEST_RUN, &mark, GRACE).await;
            result
        });
        written?;
        Ok(result.map_err(io::Error::other)?.status)
    }
}

/// Returns a token that is cancelled when this process has to end: at a signal, or with its caller.
///
/// # Errors
/// Returns the line to print.
pub fn stop() -> Result<CancellationToken, String> {
    with_caller().map_err(|error| format!("Error: cannot wait for signals: {error}"))
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
