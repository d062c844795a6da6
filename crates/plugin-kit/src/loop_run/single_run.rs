//! `loopgate loop assistant`: one assistant run for a loop without iterations. Rate limits of the assistant's
//! account are waited for, as in all loops.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use loopgate_home::Probe;
use loopgate_tools::process::LineBuffer;
use tokio_util::sync::CancellationToken;

use super::account_wait::AccountWait;
use super::assistant_run::AssistantRun;
use super::child::{End, Invocation, UNKNOWN_EXIT};
use super::exit_code::{FAILED, INTERRUPTED};
use super::limits::{AccountState, CONTINUE_PROMPT};
use super::stream::{MAX_LINE, RunSummary};
use super::{context, exit_code, stop};
use crate::console::{print_error, print_line};
use crate::variables as var;

/// Effectively no time limit: the caller enforces the limit of the loop.
const TIME_LIMIT: Duration = Duration::from_hours(24 * 365);

/// Runs the assistant with the given arguments and prints its stream. The prompt is read from standard input,
/// which should be a file. During a rate limit of the assistant's account the command waits, announces the
/// wait in the stream and in `state.json` of the work directory (`LOOPGATE_WORKDIR`), and then resumes the
/// same session.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct AssistantArgs {
    /// Arguments of the assistant
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl AssistantArgs {
    /// Runs the assistant and returns its exit code, or 130 when interrupted. Creates an async runtime, so it
    /// must not be called from within one.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let ended = runtime.and_then(|runtime| runtime.block_on(SingleRun::new(self.arguments)?.run()));
        ended.unwrap_or_else(|error| {
            print_error(format!("Error: {error}"));
            ExitCode::from(exit_code::of_error(&error))
        })
    }
}

/// State shared by the runs of one prompt.
struct SingleRun {
    arguments: Vec<OsString>,
    invocation: Invocation,
    prompt: File,
    account: AccountWait,
    stop: CancellationToken,
}

impl SingleRun {
    fn new(arguments: Vec<OsString>) -> io::Result<Self> {
        let env = context::environment();
        let invocation = Invocation {
            program: context::assistant(),
            args: Vec::new(),
            cwd: std::env::current_dir()?,
            env,
            limit: TIME_LIMIT,
        };
        Ok(Self {
            arguments,
            account: AccountWait::new(&invocation.env, var::text(var::WORKDIR).map(PathBuf::from)),
            invocation,
            prompt: standard_input()?,
            stop: CancellationToken::new(),
        })
    }

    async fn run(mut self) -> io::Result<ExitCode> {
        stop::on_signals(self.stop.clone())?;
        let mut session: Option<String> = None;
        loop {
            let probe = match self.account.wait(&self.invocation.env, &self.stop).await {
                AccountState::Usable(probe) => probe,
                AccountState::Stopped => return Ok(ExitCode::from(INTERRUPTED)),
            };
            let run = self.run_assistant(session.as_deref(), probe).await?;
            let limit = run.rate_limit().filter(|_| self.account.waits);
            // Any other end is the caller's to interpret; this command only handles rate limits.
            let Some(limit) = limit else { return Ok(exit_code(run.end)) };
            self.account.limits.store(&limit);
            // A run that is refused at once may report no session; then the earlier one is still valid.
            session = run.facts.session_id.or(session);
        }
    }

    /// Runs one assistant process, in an existing session if given. The probe is released with the first
    /// answer of the model.
    async fn run_assistant(
        &mut self,
        session: Option<&str>,
        mut probe: Option<Probe>,
    ) -> io::Result<AssistantRun> {
        for dir in plugin_dirs(&self.arguments) {
            context::unpacked_plugins_of(Some(dir))?;
        }
        let mut invocation = Invocation { args: self.arguments.clone(), ..self.invocation.clone() };
        let input = match session {
            Some(session) => {
                let args = ["--resume", session, "-p", CONTINUE_PROMPT];
                invocation.args.extend(args.map(OsString::from));
                Stdio::null()
            }
            None => {
                // Best-effort: a pipe cannot be rewound. Then the assistant reports a missing prompt.
                let _ = self.prompt.rewind();
                self.prompt.try_clone()?.into()
            }
        };
        let (mut facts, mut lines, mut lost) = (RunSummary::default(), LineBuffer::new(MAX_LINE), None);
        let mut ends_line = true;
        let limits = &mut self.account.limits;
        let output = |piece: &[u8]| {
            let mut out = io::stdout();
            // Keep reading after a write error, so that the assistant never blocks on a full pipe.
            if let Err(error) = out.write_all(piece).and_then(|()| out.flush()) {
                lost.get_or_insert(error);
            }
            ends_line = piece.ends_with(b"\n");
            lines.feed(piece, |line, _| {
                let record = line.and_then(|line| serde_json::from_slice(line).ok());
                record.iter().for_each(|record| facts.feed(record, ""));
            });
            if facts.answered {
                limits.pass(&mut probe);
            }
            facts.silence_limit()
        };
        let finished = invocation.run_with_input(input, &self.stop, output).await;
        let finished = finished.map_err(io::Error::other)?;
        // The records that follow must start on a line of their own.
        if !ends_line {
            print_line("");
        }
        // Standard error is informational; the caller also searches it for the reason of a failure.
        let _ = io::stderr().write_all(finished.stderr.as_bytes());
        match lost {
            Some(error) => Err(error),
            None => Ok(AssistantRun::new(finished, facts)),
        }
    }
}

/// Returns the plugins that the arguments of the assistant name.
fn plugin_dirs(arguments: &[OsString]) -> impl Iterator<Item = &Path> {
    arguments.windows(2).filter(|pair| pair[0] == "--plugin-dir").map(|pair| Path::new(&pair[1]))
}

/// Duplicates standard input as a `File`, which can be rewound when it is one.
fn standard_input() -> io::Result<File> {
    use std::os::fd::AsFd as _;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

fn exit_code(end: End) -> ExitCode {
    match end {
        End::Exited(code) => ExitCode::from(u8::try_from(code).unwrap_or(FAILED)),
        End::TimedOut => ExitCode::from(u8::try_from(UNKNOWN_EXIT).unwrap_or(FAILED)),
        End::Stopped => ExitCode::from(INTERRUPTED),
    }
}
