//! The state of a running loop, and how the assistant is run in it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_home::{Probe, untrusted};
use tokio_util::sync::CancellationToken;

use super::assistant_run::AssistantRun;
use super::child::Invocation;
use super::context::RunContext;
use super::display::Display;
use super::journal::{Journal, JournalActivity};
use super::limits::{self, AccountLimits, AccountState, CONTINUE_PROMPT};
use super::progress::Progress;
use super::state_file::{self, LoopState};
use super::stream::Sink;
use super::{failure, marker};
use crate::perf::Perf;
use crate::variables as var;

/// What the assistant is asked.
#[derive(Debug)]
pub struct AssistantTask {
    /// An iteration, or what follows the loop.
    pub kind: TaskKind,
    /// Session that it goes on with.
    pub session: Option<String>,
    /// The prompt.
    pub prompt: String,
}

/// Kinds of tasks.
#[derive(Debug)]
pub enum TaskKind {
    /// An iteration, which may work in these directories outside the project.
    Iteration(Vec<PathBuf>),
    /// A review or a fix.
    Review,
}

/// A loop in progress.
#[derive(Debug)]
pub struct Driver {
    /// What does not change.
    pub context: RunContext,
    /// What is saved after each iteration.
    pub state: LoopState,
    /// Timing events.
    pub perf: Perf,
    /// Records.
    pub journal: Journal,
    /// What is printed.
    pub display: Display,
    /// Cancelled when the loop has to stop.
    pub stop: CancellationToken,
    /// Session of the assistant's last run.
    pub last_session: Option<String>,
    /// Runs in a row without an answer of the model.
    pub(super) empty_runs: u32,
    /// What the next iteration asks the last session to put right, instead of beginning anew.
    pub(super) correction: Option<String>,
    /// Corrections that were asked for.
    pub(super) corrections: u32,
    /// Whether iterations still change anything.
    pub(super) progress: Progress,
    /// The last failure, and how often it came in a row.
    pub(super) failures: (String, u32),
    /// Limits of the assistant's account.
    pub(super) limits: AccountLimits,
}

impl Driver {
    pub(super) fn new(
        mut context: RunContext,
        state: LoopState,
        stop: CancellationToken,
        display: Display,
    ) -> Self {
        let command = var::text(var::COMMAND)
            .or_else(|| Some(state.command.clone()).filter(|command| !command.is_empty()))
            .unwrap_or_else(|| "interactive".to_owned());
        let goal = active_goal(&state.workdir);
        context.export(var::WORKDIR, &state.workdir);
        context.export(var::RUN_ID, &state.run_id);
        context.export(var::COMMAND, &command);
        if let Some(goal) = &goal {
            context.export(var::ACTIVE_GOAL, goal);
        }
        let limits = AccountLimits::of_environment(&context.env);
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
            progress: Progress::default(),
            failures: (String::new(), 0),
            limits,
        }
    }

    pub(super) fn record(&self, status: &str) {
        let session = self.last_session.as_deref();
        self.journal.outcome(self.state.iteration, status, JournalActivity::PlanExecute, session);
    }

    pub(super) fn fail(&self, subcode: &str, message: &str) {
        self.display.failure(subcode, message);
        marker::write(&self.state.workdir, self.context.secret.as_ref(), subcode, &failure::clamp(message));
    }

    /// Saves the state. A state file that somebody removed is not made again: that is how a loop is stopped.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub(super) fn save_state(&self) -> io::Result<()> {
        let root = &self.context.project_root;
        if untrusted::kind(&state_file::path(root)).is_none() {
            self.stop.cancel();
            return Ok(());
        }
        self.state.save(root)
    }

    /// Runs the assistant in the project with its output going to the stream file. Limits of its account are
    /// waited out, before it starts and when it meets one; then the same session goes on.
    ///
    /// # Errors
    /// When it cannot be started, or its output cannot be kept.
    pub async fn assistant(&mut self, mut task: AssistantTask) -> io::Result<AssistantRun> {
        let mut all_waits = Duration::ZERO;
        loop {
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
                self.state.session.clear();
                return Ok(AssistantRun { waited: all_waits, ..run });
            };
            let session = run.facts.session_id.clone();
            let is_iteration = matches!(task.kind, TaskKind::Iteration(_));
            self.meet_limit(&limit, session.as_deref().filter(|_| is_iteration));
            if session.is_some() {
                task = AssistantTask { session, prompt: CONTINUE_PROMPT.to_owned(), ..task };
            }
        }
    }

    fn arguments(&self, task: &AssistantTask) -> Vec<OsString> {
        let session = task.session.as_deref();
        let budget = self.state.remaining_budget();
        match &task.kind {
            TaskKind::Iteration(dirs) => self.context.iteration_args(dirs, budget, session, &task.prompt),
            TaskKind::Review => self.context.review_args(budget, session, &task.prompt),
        }
    }

    /// One process of the assistant. The probe ends with the first answer of the model.
    async fn run_assistant(
        &mut self,
        args: Vec<OsString>,
        mut probe: Option<Probe>,
    ) -> io::Result<AssistantRun> {
        let invocation = Invocation {
            program: self.context.assistant.clone(),
            args,
            cwd: self.context.project_root.clone(),
            env: self.context.env.clone(),
            limit: self.context.iteration_limit,
        };
        let mut sink = Sink::open(&self.state.workdir, &self.state.completion_promise, &self.display)?;
        let limits = &mut self.limits;
        let output = |piece: &[u8]| {
            sink.feed(piece);
            if sink.has_answer() {
                limits.pass(&mut probe);
            }
        };
        let finished = invocation.run(&self.stop, output).await.map_err(io::Error::other)?;
        let (facts, lost) = sink.finish();
        self.charge(facts.ledger.estimated_usd());
        if let Some(error) = lost {
            return Err(error);
        }
        if let Some(id) = &facts.session_id {
            self.last_session = Some(id.clone());
            self.context.export(var::SESSION_ID, id);
        }
        Ok(AssistantRun { end: finished.end, stderr: finished.stderr, facts, waited: Duration::ZERO })
    }
}

/// `active_goal` of the goal file.
fn active_goal(workdir: &Path) -> Option<String> {
    let text = untrusted::read_text(&workdir.join(".learnings/goal.yaml")).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("active_goal:"))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned()).filter(|goal| !goal.is_empty())
}
