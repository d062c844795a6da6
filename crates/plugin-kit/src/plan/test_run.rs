//! Runs a command and keeps its output: the evidence that agents refer to comes from a program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use loopgate_api::test_evidence::TestRun;
use loopgate_evidence::{CompletedRun, read_report, test_command};
use loopgate_home::{Directory, TrustStore, untrusted};
use tokio_util::sync::CancellationToken;

use crate::hook;
use crate::loop_run::child::{End, Invocation};
use crate::project_git::BlockingGit;

/// Directory of the logs, in the work directory.
const LOGS: &str = "evidence";
/// Upper bound of a log in bytes; additional output is discarded, so that a noisy command cannot fill the disk.
const LOG_CAP: u64 = 16 * 1024 * 1024;
/// Time limit of a command; the tool of the assistant that waits for it usually has a shorter one.
const TIME_LIMIT: Duration = Duration::from_hours(1);
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
    /// Runs the command with additional variables and waits for its end. A command that exceeded the time limit has an
    /// error.
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
        let started = Instant::now();
        let end = self.execute(variables, &log).map_err(cannot)?;
        let report = read_report(&untrusted::read(&log, LOG_CAP).map_err(cannot)?);
        let exit_code = match end {
            Some(End::Exited(code)) => Some(code),
            _ => None,
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
        };
        Ok(CompletedRun { run, report })
    }

    fn execute(&self, variables: &[(&str, &Path)], log: &Path) -> io::Result<Option<End>> {
        untrusted::write(log, b"")?;
        let mut file = untrusted::append(log)?;
        let mut env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        env.extend(variables.iter().map(|(name, value)| (OsString::from(name), value.into())));
        // Both streams in one, so that the log has the order in which the command printed them.
        let script = format!("exec 2>&1\n{}", self.command);
        let invocation = Invocation {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            cwd: self.dir.to_owned(),
            env,
            limit: TIME_LIMIT,
        };
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
        let result = runtime.block_on(invocation.run(&CancellationToken::new(), output));
        written?;
        Ok(result.map_err(io::Error::other)?.end)
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
