//! One call of the assistant for a judge: without tools, session, hooks or settings of the project.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::redact;
use loopgate_api::usd::Usd;
use loopgate_tools::process::LineBuffer;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::pool::{CallOutcome, CallResult};
use super::{Judge, JudgeModel};
use crate::loop_run::child::{End, Invocation};
use crate::loop_run::{AssistantRun, FailureKind, RunSummary};

/// Time limit of a call.
const TIME_LIMIT: Duration = Duration::from_mins(10);
/// Longest line of the output in bytes. An answer of 256 KiB fits several times, and four calls run at a time.
const MAX_LINE: usize = 4 * 1024 * 1024;
/// Name of the file with the part of the prompt that all judges share.
const SHARED_PART: &str = "judges.md";
/// Characters shown of a failed call's standard error.
const REASON_CHARS: usize = 300;
/// Otherwise the assistant puts a line before the shared part that depends on the request, and the prefix differs.
const UNCHANGED_PREFIX: (&str, &str) = ("CLAUDE_CODE_ATTRIBUTION_HEADER", "0");
/// Arguments that give the model nothing but the prompt.
const ISOLATION: [&str; 9] = [
    "--tools=",
    "--strict-mcp-config",
    "--setting-sources",
    "user",
    "--settings",
    r#"{"disableAllHooks":true}"#,
    "--no-session-persistence",
    "--output-format",
    "stream-json",
];

/// Starts the calls of a run.
pub struct JudgeAssistant {
    program: OsString,
    env: BTreeMap<OsString, OsString>,
    /// Working directory of the calls, outside of any project, with the shared part of the prompt.
    directory: TempDir,
    stop: CancellationToken,
}

impl JudgeAssistant {
    /// Stores the part of the prompt that all judges share.
    ///
    /// # Errors
    /// Fails on any file system error.
    pub fn new(
        program: OsString,
        mut env: BTreeMap<OsString, OsString>,
        shared_part: &str,
        stop: CancellationToken,
    ) -> io::Result<Self> {
        let directory = tempfile::tempdir()?;
        std::fs::write(directory.path().join(SHARED_PART), shared_part)?;
        env.insert(UNCHANGED_PREFIX.0.into(), UNCHANGED_PREFIX.1.into());
        Ok(Self { program, env, directory, stop })
    }

    /// Asks a judge. `share`: amount that the call may cost.
    pub fn ask(
        &self,
        judge: &Judge,
        request: &str,
        share: Option<Usd>,
    ) -> impl Future<Output = CallResult> + Send + 'static + use<> {
        self.ask_model(judge.model, request, share)
    }

    /// Asks a model. `share`: amount that the call may cost.
    pub fn ask_model(
        &self,
        model: JudgeModel,
        request: &str,
        share: Option<Usd>,
    ) -> impl Future<Output = CallResult> + Send + 'static + use<> {
        let invocation = Invocation {
            program: self.program.clone(),
            args: arguments(model, &self.directory.path().join(SHARED_PART), share),
            cwd: self.directory.path().to_owned(),
            env: self.env.clone(),
            limit: TIME_LIMIT,
        };
        let (model, stop, input) = (model.name(), self.stop.clone(), input_file(request));
        async move {
            let failed =
                |error: String| CallResult { outcome: CallOutcome::Fatal(error), cost: Usd::default() };
            let input = match input {
                Ok(input) => input,
                Err(error) => return failed(format!("cannot store the prompt: {error}")),
            };
            let (mut facts, mut lines) = (RunSummary::default(), LineBuffer::new(MAX_LINE));
            let mut is_oversized = false;
            let output = |piece: &[u8]| {
                lines.feed(piece, |line, _| match line {
                    Some(line) => {
                        if let Ok(record) = serde_json::from_slice(line) {
                            facts.feed(&record, "");
                        }
                    }
                    None => is_oversized = true,
                });
                facts.silence_limit()
            };
            match invocation.run_with_input(input.into(), &stop, output).await {
                Ok(process) => result(AssistantRun::new(process, facts), is_oversized, model),
                Err(error) => failed(error.to_string()),
            }
        }
    }
}

/// Builds the arguments. The shared part is the system prompt, because the assistant sets the end of a cached prefix there;
/// within one message, it sets it only after the request, which differs between judges.
fn arguments(model: JudgeModel, shared_part: &Path, share: Option<Usd>) -> Vec<OsString> {
    let mut args: Vec<OsString> = ISOLATION.map(OsString::from).to_vec();
    args.extend(["--verbose", "--model", model.name(), "--system-prompt-file"].map(OsString::from));
    args.push(PathBuf::from(shared_part).into());
    args.extend(share.into_iter().flat_map(|usd| ["--max-budget-usd".into(), usd.to_string().into()]));
    args.push("-p".into());
    args
}

/// Stores a request in an unnamed file, to be read as standard input.
fn input_file(request: &str) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(request.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

fn result(run: AssistantRun, is_oversized: bool, model: &str) -> CallResult {
    let cost = Usd::try_from(run.facts.ledger.estimated_usd()).unwrap_or_default();
    CallResult { outcome: outcome(&run, is_oversized, model), cost }
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
        return CallOutcome::Failed("the judge's share of the spending limit is used up".to_owned());
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
