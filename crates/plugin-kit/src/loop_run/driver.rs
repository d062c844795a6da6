//! State of a running loop, and the assistant runs in it.

use std::cell::Cell;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_home::{Probe, disk, untrusted};
use tokio_util::sync::CancellationToken;

use super::agent_results::AgentResults;
use super::assistant_run::AssistantRun;
use super::child::Invocation;
use super::context::RunContext;
use super::display::Display;
use super::journal::{Journal, JournalActivity};
use super::limits::{self, AccountState, CONTINUE_PROMPT, LimitTracker};
use super::progress::Progress;
use super::session_check::{self, SessionCheck};
use super::state_file::{self, LoopState};
use super::stream::Sink;
use super::work_check::WorkRecord;
use super::{failure, marker};
use crate::console::print_error;
use crate::messages::Mailbox;
use crate::perf::Perf;
use crate::variables as var;

/// Work for one assistant run.
#[derive(Debug)]
pub struct AssistantTask {
    /// Directories outside the project that the run may also access.
    pub dirs: Vec<PathBuf>,
    /// Id of the assistant session to resume; `None` starts a new one.
    pub session: Option<String>,
    /// Prompt to pass to the assistant.
    pub prompt: String,
}

/// A running loop with everything that its iterations share.
#[derive(Debug)]
pub struct Driver {
    /// Configuration that is constant during the run.
    pub context: RunContext,
    /// State that is saved after each iteration.
    pub state: LoopState,
    /// Writer for the timing events.
    pub perf: Perf,
    /// Writer for `runs.log` and the progress log.
    pub journal: Journal,
    /// Standard output of the driver.
    pub display: Display,
    /// Cancelled when the loop has to stop.
    pub stop: CancellationToken,
    /// Session of the last assistant run.
    pub last_session: Option<String>,
    /// Consecutive runs without an answer of the model.
    pub(super) empty_runs: u32,
    /// Prompt with which the next iteration resumes the last session, to fix an invalid plan.
    pub(super) correction: Option<String>,
    /// Corrections requested so far.
    pub(super) corrections: u32,
    /// States of the repositories before the iteration.
    pub(super) work: WorkRecord,
    /// Work that was taken back or hidden, and is not back.
    pub(super) taken_back: Vec<String>,
    /// Stall detection across iterations.
    pub(super) progress: Progress,
    /// The last failure and its number of consecutive occurrences.
    pub(super) failures: (String, u32),
    /// Rate limits of the assistant's account.
    pub(super) limits: LimitTracker,
    /// Answers of subagents in all runs of the loop.
    pub(super) agent_results: AgentResults,
    /// Whether the failure marker could not be written because the disk is full. The exit code reports that instead.
    pub(super) marker_lost: Cell<bool>,
}

impl Driver {
    pub(super) fn new(
        mut context: RunContext,
        state: LoopState,
        stop: CancellationToken,
        display: Display,
    ) -> Self {
        // The environment takes precedence: the runtime sets it for the loops that it starts.
        let command = var::text(var::COMMAND)
            .or_else(|| Some(state.command.clone()).filter(|command| !command.is_empty()))
            .unwrap_or_else(|| "interactive".to_owned());
        // Exported before any child starts: hooks identify their loop by these variables.
        let goal = active_goal(&state.workdir);
        context.export(var::WORKDIR, &state.workdir);
        context.export(var::RUN_ID, &state.run_id);
        context.export(var::COMMAND, &command);
        context.export(var::HOOK_RECORD, session_check::hook_record(&state.workdir));
        if let Some(goal) = &goal {
            context.export(var::ACTIVE_GOAL, goal);
        }
        let limits = LimitTracker::of_environment(&context.env);
        Self {
            perf: Perf::new(&state.workdir, &state.run_id, &command, context.perf_v2),
            journal: Journal::new(
                &context.project_root,
                &state.workdir,
                &state.run_id,
                goal.as_deref(),
                display.clone(),
            ),
            display,
            context,
            state,
            stop,
            last_session: None,
            empty_runs: 0,
            correction: None,
            corrections: 0,
            work: WorkRecord::default(),
            taken_back: Vec::new(),
            progress: Progress::default(),
            failures: (String::new(), 0),
            limits,
            agent_results: AgentResults::default(),
            marker_lost: Cell::new(false),
        }
    }

    pub(super) fn record(&self, status: &str) {
        let session = self.last_session.as_deref();
        self.journal.outcome(self.state.iteration, status, JournalActivity::PlanExecute, session);
    }

    pub(super) fn fail(&self, subcode: &str, message: &str) {
        self.display.failure(subcode, message);
        let (workdir, secret) = (&self.state.workdir, self.context.secret.as_ref());
        if let Err(error) = marker::write(workdir, secret, subcode, &failure::clamp(message)) {
            print_error(format!("The failure marker was not written: {error}"));
            self.marker_lost.set(self.marker_lost.get() || disk::is_full(&error));
        }
    }

    /// Fails the loop because of an error of the file system or of the system.
    pub(super) fn fail_with(&self, subcode: &str, message: &str, error: &io::Error) {
        if disk::is_full(error) {
            let full = disk::describe_full(&self.state.workdir);
            let message =
                format!("{message}: {error}. {full}. Then start the loop again; its changes are kept.");
            self.fail("DISK_FULL", &message);
        } else {
            self.fail(subcode, &format!("{message}: {error}"));
        }
    }

    /// Saves the state. A missing state file is not recreated, because its removal is the request to stop the
    /// loop.
    ///
    /// # Errors
    /// Fails on any file system error.
    pub(super) fn save_state(&self) -> io::Result<()> {
        let root = &self.context.project_root;
        // A race with a removal after this check is harmless: the polling task cancels the token as well.
        if untrusted::kind(&state_file::path(root)).is_none() {
            self.stop.cancel();
            return Ok(());
        }
        self.state.save(root)
    }

    /// Runs the assistant in the project; its output goes to the stream file. Waits for rate limits of the
    /// account before the start and when the run meets one, and then resumes the same session.
    ///
    /// # Errors
    /// Fails when the assistant cannot be started or its output cannot be stored.
    pub async fn assistant(&mut self, mut task: AssistantTask) -> io::Result<AssistantRun> {
        let mut all_waits = Duration::ZERO;
        self.context.export(var::MESSAGES, Mailbox::of(&self.state.workdir).directory());
        loop {
            // Checked per run, because a rate limit splits one task into several runs.
            if self.state.has_used_up_budget() {
                return Ok(AssistantRun::unaffordable(all_waits));
            }
            if !self.context.wait_for_limits {
                return self.run_assistant(self.arguments(&task), None).await;
            }
            let (state, waited) = limits::timed(self.wait_for_account()).await;
            all_waits += waited;
            let AccountState::Usable(probe) = state else { return Ok(AssistantRun::stopped(all_waits)) };
            let run = self.run_assistant(self.arguments(&task), probe).await?;
            let Some(limit) = run.rate_limit() else {
                // The session is finished; the next iteration must start a new one.
                self.state.session.clear();
                return Ok(AssistantRun { waited: all_waits, ..run });
            };
            let session = run.facts.session_id.clone();
            self.meet_limit(&limit, session.as_deref());
            if session.is_some() {
                task = AssistantTask { session, prompt: CONTINUE_PROMPT.to_owned(), ..task };
            }
        }
    }

    fn arguments(&self, task: &AssistantTask) -> Vec<OsString> {
        let session = task.session.as_deref();
        let budget = self.state.remaining_budget();
        self.context.iteration_args(&task.dirs, budget, session, &task.prompt)
    }

    /// Restores the files of the plugins: programs of an earlier run can have changed them, and the hooks are the guards
    /// of this run.
    fn restore_plugins(&self) -> io::Result<()> {
        let Some(plugins) = &self.context.unpacked_plugins else { return Ok(()) };
        let restored = plugins.restore()?;
        if !restored.is_empty() {
            let names: Vec<String> = restored.iter().map(|path| path.display().to_string()).collect();
            self.journal.progress(&format!(
                "Files of Loopgate's plugins in {} were changed, and are restored: {}",
                plugins.marketplace().display(),
                names.join(", ")
            ));
        }
        Ok(())
    }

    /// Runs one assistant process. The probe is released with the first answer of the model.
    async fn run_assistant(
        &mut self,
        args: Vec<OsString>,
        mut probe: Option<Probe>,
    ) -> io::Result<AssistantRun> {
        self.restore_plugins()?;
        let invocation = Invocation {
            program: self.context.assistant.clone(),
            args,
            cwd: self.context.project_root.clone(),
            env: self.context.env.clone(),
            limit: self.context.iteration_limit,
        };
        let mut sink = Sink::open(&self.state.workdir, &self.state.completion_promise, &self.display)?;
        let limits = &mut self.limits;
        let mut check = SessionCheck::new(
            &self.context.project_root,
            &self.state.workdir,
            self.context.setting_sources.as_deref(),
        );
        let mut fault = None;
        let output = |piece: &[u8]| {
            sink.feed(piece);
            if fault.is_none() {
                fault = check.fault(sink.facts());
            }
            if sink.has_answer() {
                limits.pass(&mut probe);
            }
            // A session that must not work, or whose output is lost, is ended at once.
            if fault.is_some() || sink.has_failed() { Some(Duration::ZERO) } else { sink.silence_limit() }
        };
        let finished = invocation.run(&self.stop, output).await.map_err(io::Error::other)?;
        let (mut facts, lost) = sink.finish();
        self.agent_results.append(std::mem::take(&mut facts.agent_results));
        // Charge before any error return: the run has cost its amount even if its output could not be stored.
        self.charge(facts.ledger.estimated_usd());
        if let Some(error) = lost {
            return Err(error);
        }
        // Exported to the programs of later iterations, whose records name the session.
        if let Some(id) = &facts.session_id {
            self.last_session = Some(id.clone());
            self.context.export(var::SESSION_ID, id);
        }
        let fault = fault.or_else(|| check.fault_at_end(&facts));
        let refusals = check.refusals(&facts);
        Ok(AssistantRun { fault, refusals, ..AssistantRun::new(finished, facts) })
    }
}

/// Reads `active_goal` from the goal file.
fn active_goal(workdir: &Path) -> Option<String> {
    let text = untrusted::read_text(&workdir.join(".learnings/goal.yaml")).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("active_goal:"))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned()).filter(|goal| !goal.is_empty())
}
