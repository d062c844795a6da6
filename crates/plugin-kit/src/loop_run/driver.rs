//! The state of a running loop, and how the assistant is run in it.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use loopgate_home::untrusted;
use tokio_util::sync::CancellationToken;

use super::child::{End, Invocation};
use super::context::RunContext;
use super::journal::{Journal, JournalActivity};
use super::progress::Progress;
use super::state_file::LoopState;
use super::stream::{RunSummary, Sink};
use super::{failure, marker};
use crate::perf::Perf;
use crate::variables as var;

/// How a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopEnd {
    /// The promise was kept.
    Completed,
    /// Only its user can let it go on; `state.json` says how.
    Waiting,
    /// The iterations are used up, and the promise was not made.
    MaxIterations,
    /// It failed; why is on record.
    Failed,
    /// It was asked to stop, and can be resumed.
    Interrupted,
}

/// One run of the assistant.
#[derive(Debug)]
pub struct AssistantRun {
    /// How the process ended.
    pub end: End,
    /// End of its standard error.
    pub stderr: String,
    /// What its output said.
    pub facts: RunSummary,
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
}

impl Driver {
    pub(super) fn new(mut context: RunContext, state: LoopState, stop: CancellationToken) -> Self {
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
        Self {
            perf: Perf::new(&state.workdir, &state.run_id, &command, context.perf_v2),
            journal: Journal::new(&context.project_root, &state.workdir, &state.run_id, goal.as_deref()),
            context,
            state,
            stop,
            last_session: None,
            empty_runs: 0,
            correction: None,
            corrections: 0,
            progress: Progress::default(),
            failures: (String::new(), 0),
        }
    }

    pub(super) fn record(&self, status: &str) {
        let session = self.last_session.as_deref();
        self.journal.outcome(self.state.iteration, status, JournalActivity::PlanExecute, session);
    }

    pub(super) fn fail(&self, subcode: &str, message: &str) {
        marker::write(&self.state.workdir, self.context.secret.as_ref(), subcode, &failure::clamp(message));
    }

    /// Runs the assistant in the project with its output going to the stream file.
    ///
    /// # Errors
    /// When it cannot be started, or its output cannot be kept.
    pub async fn assistant(&mut self, args: Vec<OsString>) -> io::Result<AssistantRun> {
        let invocation = Invocation {
            program: self.context.assistant.clone(),
            args,
            cwd: self.context.project_root.clone(),
            env: self.context.env.clone(),
            limit: self.context.iteration_limit,
        };
        let mut screen = io::stdout();
        let mut sink = Sink::open(&self.state.workdir, &self.state.completion_promise, &mut screen)?;
        let finished =
            invocation.run(&self.stop, |piece| sink.feed(piece)).await.map_err(io::Error::other)?;
        let (facts, lost) = sink.finish();
        if let Some(error) = lost {
            return Err(error);
        }
        if let Some(id) = &facts.session_id {
            self.last_session = Some(id.clone());
            self.context.export(var::SESSION_ID, id);
        }
        Ok(AssistantRun { end: finished.end, stderr: finished.stderr, facts })
    }
}

/// `active_goal` of the goal file.
fn active_goal(workdir: &Path) -> Option<String> {
    let text = untrusted::read_text(&workdir.join(".learnings/goal.yaml")).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("active_goal:"))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned()).filter(|goal| !goal.is_empty())
}
