//! The loop itself: its beginning, its iterations, and every way out.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::event::code::ITERATION_LIMIT;
use loopgate_api::names::{STATE_DIR, STATE_JSON};
use loopgate_api::redact;
use loopgate_api::usd::Usd;
use loopgate_home::untrusted;
use tokio_util::sync::CancellationToken;

use super::context::RunContext;
use super::display::Display;
use super::driver::{AssistantTask, Driver, TaskKind};
use super::exit_code::{FAILED, INTERRUPTED};
use super::limits::CONTINUE_PROMPT;
use super::lock::{self, LockError, LoopLock};
use super::loop_end::LoopEnd;
use super::options::LoopOptions;
use super::progress_view::ProgressLimits;
use super::state_file::{self, LoopState, StateFileError};
use super::{archive, pipeline, review, stop};
use crate::clock::{self, Span};
use crate::config_env::ConfigEnv;
use crate::console::print_error;
use crate::plan;
use crate::project_git::ProjectGit;
use crate::variables as var;

/// Longest growth of the pause after failures, as a power of two.
const PAUSE_DOUBLINGS: u32 = 5;

/// Starts or resumes a loop and runs it to its end; the exit code.
pub async fn run(options: &LoopOptions) -> u8 {
    let stop = CancellationToken::new();
    let context = match stop::on_signals(stop.clone())
        .and_then(|()| RunContext::from_environment(options.allowed_tools.as_deref()))
    {
        Ok(context) => context,
        Err(error) => return refuse(format!("Error: cannot start: {error}")),
    };
    let (state, fresh) = match &options.workdir {
        Some(workdir) => (new_state(&context, options, workdir, &stop).await, true),
        None => (resumed_state(&context.project_root, options.max_spend), false),
    };
    let state = match state {
        Ok(state) => state,
        Err(message) => return refuse(message),
    };
    let lock = match LoopLock::acquire(&state.workdir, &state.run_id, &clock::now()) {
        Ok((lock, warning)) => {
            warning.into_iter().for_each(print_error);
            lock
        }
        Err(LockError::Held(message)) => return refuse(message),
        Err(LockError::Io(error)) => {
            return refuse(format!("Error: cannot lock the work directory: {error}"));
        }
    };
    let limits = ProgressLimits {
        max_iterations: state.max_iterations,
        max_spend: state.max_spend,
        spent: state.spent,
    };
    let display = Display::new(options.progress, &state.workdir, limits);
    let mut driver = Driver::new(context, state, stop, display.clone());
    let outcome = match driver.prepare(fresh).await {
        Ok(()) => driver.run().await,
        Err(error) => {
            print_error(format!("Error: cannot prepare the loop: {error}"));
            LoopEnd::Failed
        }
    };
    let summary = if display.wants_summary() { Some(driver.summary(outcome).await) } else { None };
    let code = driver.finish(outcome, lock);
    summary.iter().for_each(|summary| display.end(summary));
    code
}

fn refuse(message: String) -> u8 {
    print_error(message);
    FAILED
}

async fn new_state(
    context: &RunContext,
    options: &LoopOptions,
    workdir: &Path,
    stop: &CancellationToken,
) -> Result<LoopState, String> {
    let workdir =
        std::path::absolute(workdir).map_err(|error| format!("Error: invalid work directory: {error}"))?;
    check_prompt(context, options)?;
    check_other_loop(&context.project_root, &workdir)?;
    untrusted::make_directory(&workdir)
        .map_err(|error| format!("Error: cannot make the work directory: {error}"))?;
    Ok(LoopState {
        iteration: 1,
        max_iterations: options.max_iterations,
        max_spend: options.max_spend.or(context.max_spend).unwrap_or_default(),
        spent: Usd::default(),
        counted_output: 0,
        completion_promise: options.completion_promise.clone(),
        prd_file: options.prd.clone().unwrap_or_default(),
        run_id: clock::run_id(),
        start_sha: ProjectGit::at(&workdir, &context.env, stop).head().await.unwrap_or_default(),
        self_learning: options.self_learning,
        command: options.prompt.clone().unwrap_or_default(),
        started_at: clock::now(),
        session: String::new(),
        prompt: state_file::prompt_line(&workdir, options),
        workdir,
    })
}

fn check_prompt(context: &RunContext, options: &LoopOptions) -> Result<(), String> {
    let Some(name) = &options.prompt else { return Ok(()) };
    let names = crate::plugins::prompt_names(context.plugin_dirs.first().map(PathBuf::as_path));
    if names.contains(name) { Ok(()) } else { Err(format!("Error: prompt not found: prompts/{name}.md")) }
}

/// The state file belongs to the project: two loops in one project would overwrite each other's.
fn check_other_loop(project_root: &Path, workdir: &Path) -> Result<(), String> {
    match LoopState::load(project_root) {
        Ok(other) if other.workdir != workdir && lock::is_held(&other.workdir) => Err(format!(
            "Error: Another loop is already running in this project, on {}. Wait for it to end.",
            other.workdir.display()
        )),
        _ => Ok(()),
    }
}

/// Keeps the files of loops out of commits, unless the project has rules of its own for them.
fn hide_state_dir(project_root: &Path) -> io::Result<()> {
    let rules = project_root.join(STATE_DIR).join(".gitignore");
    match untrusted::kind(&rules) {
        Some(_) => Ok(()),
        None => untrusted::write(&rules, b"*\n"),
    }
}

/// The state of an interrupted loop, with another spending limit where one is given.
fn resumed_state(project_root: &Path, max_spend: Option<Usd>) -> Result<LoopState, String> {
    let mut state = LoopState::load(project_root).map_err(|unusable| match unusable {
        StateFileError::Absent => "Error: No active Loopgate loop found".to_owned(),
        StateFileError::Invalid(message) => message,
    })?;
    state.max_spend = max_spend.unwrap_or(state.max_spend);
    state
        .charge_interrupted_run()
        .map_err(|error| format!("Error: cannot read what the interrupted run has cost: {error}"))?;
    Ok(state)
}

impl Driver {
    async fn prepare(&mut self, fresh: bool) -> io::Result<()> {
        let root = &self.context.project_root;
        if fresh {
            archive::started(root, &self.state.workdir)?;
            // What an earlier run said of itself says nothing about this one.
            match untrusted::remove(&self.state.workdir.join(STATE_JSON)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            hide_state_dir(root)?;
            plan::start_over(&self.state.workdir).map_err(io::Error::other)?;
            self.state.save(root)?;
            if self.perf.wants_run() {
                let git = ProjectGit::at(root, &self.context.env, &self.stop);
                let (repo, branch) = (git.origin().await, git.branch().await);
                self.perf.run(&redact::credentials(&repo.unwrap_or_default()), &branch.unwrap_or_default());
            }
        }
        let mut config = ConfigEnv::load(&self.state.workdir)?;
        config.set(var::SELF_LEARNING, if self.state.self_learning { "true" } else { "false" });
        config.set(var::START_SHA, &self.state.start_sha);
        config.save(&self.state.workdir)?;
        if self.state.self_learning {
            self.journal.progress(
                "Self-learning is asked for, but its plugin is not there: its steps are passed over",
            );
        }
        if self.display.wants_summary() {
            self.display.begin(&self.description().await);
        }
        let before = self.fingerprint().await;
        self.progress.stands_still(before);
        stop::on_removal(state_file::path(root), self.state.workdir.clone(), self.stop.clone());
        Ok(())
    }

    /// Iterates to an end, and reviews what a loop that ended well has changed.
    async fn run(&mut self) -> LoopEnd {
        let outcome = loop {
            match self.iteration().await {
                Ok(None) => {}
                Ok(Some(outcome)) => break outcome,
                Err(error) => {
                    self.fail("DRIVER_FAILED", &format!("The loop could not go on: {error}"));
                    break LoopEnd::Failed;
                }
            }
            self.state.iteration += 1;
            if let Err(error) = self.save_state() {
                self.fail("DRIVER_FAILED", &format!("The loop's state could not be saved: {error}"));
                break LoopEnd::Failed;
            }
            if !self.is_used_up() && !self.state.has_used_up_budget() && !self.pause().await {
                break LoopEnd::Interrupted;
            }
        };
        if outcome == LoopEnd::Completed {
            review::run(self).await;
            if self.stop.is_cancelled() {
                return LoopEnd::Interrupted;
            }
        }
        outcome
    }

    /// Archives, unlocks, and drops the state unless the loop can be resumed; the exit code.
    fn finish(self, outcome: LoopEnd, lock: LoopLock) -> u8 {
        if outcome != LoopEnd::Interrupted
            && let Err(error) = archive::finished(&self.state.workdir, &self.state.run_id)
        {
            print_error(format!("Warning: the output could not be archived: {error}"));
        }
        lock.release();
        if outcome != LoopEnd::Interrupted {
            let _ = untrusted::remove(&state_file::path(&self.context.project_root));
        }
        match outcome {
            LoopEnd::Completed | LoopEnd::Waiting => 0,
            LoopEnd::MaxIterations | LoopEnd::SpendingLimit | LoopEnd::Failed => FAILED,
            LoopEnd::Interrupted => INTERRUPTED,
        }
    }

    const fn is_used_up(&self) -> bool {
        self.state.max_iterations > 0 && self.state.iteration > self.state.max_iterations
    }

    /// One iteration; `Some` ends the loop.
    async fn iteration(&mut self) -> io::Result<Option<LoopEnd>> {
        let mut span = Span::start();
        let number = self.state.iteration;
        if self.is_used_up() {
            self.journal
                .progress(&format!("The limit of {} iterations is reached", self.state.max_iterations));
            self.record("max_iterations");
            self.perf.iteration(number, &span, "max_iterations", None);
            pipeline::run(self).await;
            self.fail(
                ITERATION_LIMIT,
                &format!(
                    "The loop reached its limit of {} iterations before the assistant said that it was done. \
                     What was done is kept; start the loop again to go on with it.",
                    self.state.max_iterations
                ),
            );
            return Ok(Some(LoopEnd::MaxIterations));
        }
        if self.state.has_used_up_budget() {
            self.perf.iteration(number, &span, "spending_limit", None);
            pipeline::run(self).await;
            return Ok(Some(self.end_at_spending_limit()));
        }
        self.context.export(var::ITERATION, number.to_string());
        self.mark_iteration()?;
        self.journal.iteration(number);
        let task = self.next_task();
        let run = match self.assistant(task).await {
            Ok(run) => run,
            Err(error) => {
                let program = self.context.assistant.display().to_string();
                self.fail(
                    "ASSISTANT_NOT_STARTED",
                    &format!("The assistant could not be run ({program}): {error}"),
                );
                self.record("error");
                return Ok(Some(LoopEnd::Failed));
            }
        };
        span.exclude(run.waited);
        if let Some(id) = &run.facts.session_id {
            self.journal.session(id);
        }
        Ok(self.evaluate_run(&run, &span).await)
    }

    /// What the iteration asks: a correction of the last session, the rest of a session that a limit interrupted, or
    /// all of it in a new one.
    fn next_task(&mut self) -> AssistantTask {
        let kind = TaskKind::Iteration(self.outside_dirs());
        if let Some(prompt) = self.correction.take() {
            return AssistantTask { kind, session: self.last_session.clone(), prompt };
        }
        if !self.state.session.is_empty() {
            let session = Some(self.state.session.clone());
            return AssistantTask { kind, session, prompt: CONTINUE_PROMPT.to_owned() };
        }
        AssistantTask { kind, session: None, prompt: self.state.prompt.clone() }
    }

    /// Directories that the assistant works in beside the project: peers, and a work directory elsewhere.
    fn outside_dirs(&self) -> Vec<PathBuf> {
        let outside =
            (!self.state.workdir.starts_with(&self.context.project_root)).then(|| self.state.workdir.clone());
        outside.into_iter().chain(self.peers()).collect()
    }

    /// The further repositories of the loop.
    pub(super) fn peers(&self) -> impl Iterator<Item = PathBuf> {
        let peers = var::text(var::ADD_DIRS)
            .or_else(|| ConfigEnv::load(&self.state.workdir).ok()?.get(var::ADD_DIRS).map(str::to_owned))
            .unwrap_or_default();
        let peers: Vec<PathBuf> =
            peers.split('|').filter(|peer| !peer.is_empty()).map(PathBuf::from).collect();
        peers.into_iter()
    }

    fn mark_iteration(&self) -> io::Result<()> {
        let dir = self.state.workdir.join(".learnings/sessions").join(format!("run-{}", self.state.run_id));
        untrusted::make_directory(&self.state.workdir.join(STATE_DIR))?;
        untrusted::write(&dir.join("current-iteration"), self.state.iteration.to_string().as_bytes())
    }

    /// Waits before the next iteration, longer after each failure in a row; `false` when asked to stop.
    async fn pause(&self) -> bool {
        let doublings = self.failures.1.saturating_sub(1).min(PAUSE_DOUBLINGS);
        let pause = self.context.pause * 2u32.pow(doublings);
        tokio::select! {
            () = tokio::time::sleep(pause) => true,
            () = self.stop.cancelled() => false,
        }
    }
}
