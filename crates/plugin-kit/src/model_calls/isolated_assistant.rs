//! One call of the assistant with nothing but a prompt: without tools, session, hooks or settings of the project.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::redact;
use loopgate_api::usd::Usd;
use loopgate_home::{AssistantLimit, Probe};
use loopgate_tools::process::LineBuffer;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::pool::{CallOutcome, CallResult};
use crate::console::{print_error, print_line};
use crate::loop_run::child::{End, Invocation};
use crate::loop_run::limit_wait::{end_of, wait_for_account, wait_record};
use crate::loop_run::limits::{AccountState, LimitTracker};
use crate::loop_run::{AssistantRun, FailureKind, RunSummary, pause};
use crate::plan;
use crate::variables as var;

/// Time limit of a call.
const TIME_LIMIT: Duration = Duration::from_mins(10);
/// Longest line of the output in bytes. An answer of 256 KiB fits several times, and four calls run at a time.
const MAX_LINE: usize = 4 * 1024 * 1024;
/// Maximum number of bytes of a call's output that are printed.
const MAX_PRINTED: usize = 8 * 1024 * 1024;
/// Characters shown of a failed call's standard error.
const REASON_CHARS: usize = 300;
/// Otherwise the assistant puts a line before the shared part that depends on the request, and the prefix differs.
const UNCHANGED_PREFIX: (&str, &str) = ("CLAUDE_CODE_ATTRIBUTION_HEADER", "0");
/// Arguments that give the model nothing but the prompt.
const ISOLATION: [&str; 1] = ["--tools="];
/// Arguments that let the model read and edit files of its directory, except those that the assistant or git would obey.
const EDITING: [&str; 5] = [
    "--tools=Read,Grep,Glob,Edit",
    "--permission-mode",
    "acceptEdits",
    "--disallowed-tools",
    "Edit(.git/**),Edit(.claude/**),Edit(.loopgate/**)",
];
/// Arguments of all calls: no servers, hooks or settings of the project.
const COMMON: [&str; 9] = [
    "--strict-mcp-config",
    "--setting-sources",
    "user",
    "--settings",
    r#"{"disableAllHooks":true}"#,
    "--no-session-persistence",
    "--output-format",
    "stream-json",
    "--verbose",
];

/// Starts the calls of a run.
pub struct IsolatedAssistant {
    program: OsString,
    env: BTreeMap<OsString, OsString>,
    /// Working directory of the calls, outside of any project, with the shared parts of the prompts.
    directory: TempDir,
    wait: Option<LimitWait>,
    /// Whether the assistant's output is printed, for the stream of a loop.
    pub prints_output: bool,
    stop: CancellationToken,
}

/// How calls wait for the end of a usage limit, as loops do. Without it, a call that meets a limit fails.
#[derive(Debug, Clone, Default)]
pub struct LimitWait {
    /// Work directory of the loop, whose state shows the wait.
    workdir: Option<PathBuf>,
    /// Whether standard output is the stream of a loop, which shows the wait.
    is_stream: bool,
}

/// The stored first part of prompts, which several calls share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPart(PathBuf);

/// A question to a model.
#[derive(Debug, Clone, Copy)]
pub struct ModelQuestion<'a> {
    /// Model, as the assistant names it.
    pub model: &'a str,
    pub shared_part: &'a SharedPart,
    /// The part that follows the shared one.
    pub text: &'a str,
}

impl IsolatedAssistant {
    /// Creates a caller of a program. `wait`: `None` fails calls during a usage limit of the account.
    ///
    /// # Errors
    /// Fails on any file system error.
    pub fn new(
        program: OsString,
        mut env: BTreeMap<OsString, OsString>,
        wait: Option<LimitWait>,
        stop: CancellationToken,
    ) -> io::Result<Self> {
        env.insert(UNCHANGED_PREFIX.0.into(), UNCHANGED_PREFIX.1.into());
        Ok(Self { program, env, directory: tempfile::tempdir()?, wait, prints_output: false, stop })
    }

    /// Stores a first part of prompts under a name.
    ///
    /// # Errors
    /// Fails on any file system error.
    pub fn share(&self, name: &str, text: &str) -> io::Result<SharedPart> {
        let path = self.directory.path().join(format!("{name}.md"));
        std::fs::write(&path, text)?;
        Ok(SharedPart(path))
    }

    /// Asks a model. `share`: amount that the call may cost.
    pub fn ask(
        &self,
        request: ModelQuestion<'_>,
        share: Option<Usd>,
    ) -> impl Future<Output = CallResult> + Send + 'static + use<> {
        let args = question_args(request.model, request.shared_part, share);
        self.call(request.model, args, self.directory.path(), request.text)
    }

    /// Lets a model edit files in a directory. It can read there and edit existing files, and run nothing. `share`: amount
    /// that the call may cost.
    pub fn edit(
        &self,
        model: &str,
        request: &str,
        directory: &Path,
        share: Option<Usd>,
    ) -> impl Future<Output = CallResult> + Send + 'static + use<> {
        let args = call_args(&EDITING, model, share);
        self.call(model, [args, vec!["-p".into()]].concat(), directory, request)
    }

    fn call(
        &self,
        model: &str,
        args: Vec<OsString>,
        directory: &Path,
        text: &str,
    ) -> impl Future<Output = CallResult> + Send + 'static + use<> {
        let call = IsolatedCall {
            invocation: Invocation {
                program: self.program.clone(),
                args,
                cwd: directory.to_owned(),
                env: self.env.clone(),
                limit: TIME_LIMIT,
            },
            model: model.to_owned(),
            wait: self.wait.clone(),
            prints_output: self.prints_output,
            stop: self.stop.clone(),
        };
        let input = input_file(text);
        async move {
            match input {
                Ok(input) => call.run(input).await,
                Err(error) => {
                    let outcome = CallOutcome::Fatal(format!("cannot store the prompt: {error}"));
                    CallResult { outcome, cost: Usd::default() }
                }
            }
        }
    }
}

/// A call and the waits for usage limits before it.
struct IsolatedCall {
    invocation: Invocation,
    model: String,
    wait: Option<LimitWait>,
    prints_output: bool,
    stop: CancellationToken,
}

impl IsolatedCall {
    async fn run(self, mut input: File) -> CallResult {
        let mut cost = Usd::default();
        let mut limits = self.wait.as_ref().map(|_| LimitTracker::of_environment(&self.invocation.env));
        loop {
            let mut probe = None;
            if let (Some(limits), Some(wait)) = (&mut limits, &self.wait) {
                match self.wait_for_account(limits, wait).await {
                    AccountState::Usable(acquired) => probe = acquired,
                    AccountState::Stopped => return CallResult { outcome: CallOutcome::Stopped, cost },
                }
            }
            let copy = input.rewind().and_then(|()| input.try_clone());
            let run = match copy {
                Ok(copy) => self.run_once(copy, limits.as_mut(), probe).await,
                Err(error) => Err(error.to_string()),
            };
            let (run, is_oversized) = match run {
                Ok(run) => run,
                Err(error) => return CallResult { outcome: CallOutcome::Fatal(error), cost },
            };
            cost += Usd::try_from(run.facts.ledger.estimated_usd()).unwrap_or_default();
            match (&mut limits, run.rate_limit()) {
                (Some(limits), Some(limit)) => limits.store(&limit),
                _ => return CallResult { outcome: outcome(&run, is_oversized, &self.model), cost },
            }
        }
    }

    async fn wait_for_account(&self, limits: &mut LimitTracker, wait: &LimitWait) -> AccountState {
        let mut is_announced = false;
        let announce = |limit: &AssistantLimit| {
            is_announced = true;
            wait.announce(&wait_record(limit));
            wait.show(Some(&end_of(limit)));
        };
        let state = wait_for_account(limits, &self.invocation.env, pause(), &self.stop, announce).await;
        if is_announced {
            wait.show(None);
        }
        state
    }

    /// Runs the program once. Returns also whether a line of its output exceeds what is read. The probe is released with
    /// the first answer of the model.
    async fn run_once(
        &self,
        input: File,
        mut limits: Option<&mut LimitTracker>,
        mut probe: Option<Probe>,
    ) -> Result<(AssistantRun, bool), String> {
        let (mut facts, mut lines) = (RunSummary::default(), LineBuffer::new(MAX_LINE));
        let (mut is_oversized, mut printed) = (false, Vec::new());
        let output = |piece: &[u8]| {
            lines.feed(piece, |line, _| match line {
                Some(line) => {
                    if let Ok(record) = serde_json::from_slice(line) {
                        facts.feed(&record, "");
                        if self.prints_output && printed.len() + line.len() < MAX_PRINTED {
                            printed.extend([line, b"\n"].concat());
                        }
                    }
                }
                None => is_oversized = true,
            });
            if facts.answered
                && let Some(limits) = &mut limits
            {
                limits.pass(&mut probe);
            }
            facts.silence_limit()
        };
        let process = self.invocation.run_with_input(input.into(), &self.stop, output).await;
        // At once: readers attribute the costs of a stream to one session after the other.
        let _ = io::stdout().write_all(&printed);
        let process = process.map_err(|error| error.to_string())?;
        Ok((AssistantRun::new(process, facts), is_oversized))
    }
}

impl LimitWait {
    /// Returns the waits of a process that a loop may have started.
    pub fn of_environment() -> Self {
        Self { workdir: var::text(var::WORKDIR).map(PathBuf::from), is_stream: false }
    }

    /// Returns the waits of a loop whose stream is standard output.
    pub const fn in_stream(workdir: PathBuf) -> Self {
        Self { workdir: Some(workdir), is_stream: true }
    }

    fn announce(&self, record: &Value) {
        if self.is_stream {
            print_line(record);
        } else {
            print_error(record["message"].as_str().unwrap_or_default());
        }
    }

    fn show(&self, until: Option<&str>) {
        let shown = self.workdir.as_ref().map(|workdir| plan::set_waiting_until(workdir, until));
        if let Some(Err(message)) = shown {
            print_error(message);
        }
    }
}

/// Builds the arguments of a question. The shared part is the system prompt, because the assistant sets the end of a cached
/// prefix there; within one message, it sets it only after the request, which differs between calls.
fn question_args(model: &str, shared_part: &SharedPart, share: Option<Usd>) -> Vec<OsString> {
    let mut args = call_args(&ISOLATION, model, share);
    args.extend(["--system-prompt-file".into(), shared_part.0.clone().into(), "-p".into()]);
    args
}

fn call_args(access: &[&str], model: &str, share: Option<Usd>) -> Vec<OsString> {
    let mut args: Vec<OsString> = access.iter().chain(&COMMON).map(OsString::from).collect();
    args.extend(["--model", model].map(OsString::from));
    args.extend(share.into_iter().flat_map(|usd| ["--max-budget-usd".into(), usd.to_string().into()]));
    args
}

/// Stores a request in an unnamed file, to be read as standard input.
fn input_file(request: &str) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(request.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

fn outcome(run: &AssistantRun, is_oversized: bool, model: &str) -> CallOutcome {
    let code = match run.end {
        End::Stopped => return CallOutcome::Stopped,
        End::TimedOut => {
            let minutes = TIME_LIMIT.as_secs() / 60;
            return CallOutcome::Failed(format!("no answer within {minutes} minutes"));
        }
        End::Exited(code) => code,
    };
    if run.facts.used_up_budget {
        return CallOutcome::Failed("the call's share of the spending limit is used up".to_owned());
    }
    if let Some(known) = run.known_failure(code) {
        return match known.kind {
            FailureKind::RateLimit | FailureKind::Account => CallOutcome::Fatal(known.message),
            FailureKind::Model => {
                CallOutcome::Failed(format!("the assistant's account cannot use the model {model}"))
            }
            FailureKind::ContextLimit | FailureKind::Policy => CallOutcome::Failed(known.message),
        };
    }
    match &run.facts.result {
        Some(result) if !result.is_error && code == 0 => CallOutcome::Answer(result.text.clone()),
        None if is_oversized => CallOutcome::Oversized,
        None if code == 0 => CallOutcome::Answer(String::new()),
        result => {
            let text = result.as_ref().map(|result| result.text.trim()).filter(|text| !text.is_empty());
            let reason = redact::shorten(&redact::message(text.unwrap_or(run.stderr.trim())), REASON_CHARS);
            CallOutcome::Failed(format!("the assistant failed with exit code {code}: {reason}"))
        }
    }
}
