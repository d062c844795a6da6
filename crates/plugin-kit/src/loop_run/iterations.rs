//! The loop: start, iterations, and all exit paths.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::event::code::ITERATION_LIMIT;
use loopgate_api::names::{STATE_DIR, STATE_JSON};
use loopgate_api::redact;
use loopgate_api::usd::Usd;
use loopgate_home::{disk, untrusted};
use tokio_util::sync::CancellationToken;

use super::agent_results::AgentResults;
use super::context::RunContext;
use super::display::Display;
use super::driver::{AssistantTask, Driver};
use super::exit_code::{FAILED, INTERRUPTED};
use super::limits::CONTINUE_PROMPT;
use super::lock::{self, LockError, LoopLock};
use super::loop_end::LoopEnd;
use super::options::LoopOptions;
use super::progress_view::ProgressLimits;
use super::state_file::{self, LoopState, StateFileError};
use super::work_check::WorkRecord;
use super::{archive, exit_code, pipeline, review, stop};
use crate::clock::{self, Span};
use crate::config_env::ConfigEnv;
use crate::console::print_error;
use crate::plan;
use crate::project_git::{ProjectGit, Trees};
use crate::setup;
use crate::variables as var;

/// Upper bound of the exponential backoff after failures: the pause is at most 2^5 times as long.
const PAUSE_DOUBLINGS: u32 = 5;

/// Starts or resumes a loop, runs it to its end and returns the exit code.
pub async fn run(options: &LoopOptions) -> u8 {
    let stop = CancellationToken::new();
    let context = match stop::on_signals(stop.clone())
        .and_then(|()| RunContext::from_environment(options.allowed_tools.as_deref()))
    {
        Ok(context) => context,
        Err(error) => return StartRefusal::of("cannot start", &error).report(),
    };
    // Without a work directory the command resumes the loop that the state file of the current directory
    // identifies.
    let (state, fresh) = match &options.workdir {
        Some(workdir) => (new_state(&context, options, workdir, &stop).await, true),
        None => (resumed_state(&context.project_root, options.max_spend).map_err(StartRefusal::from), false),
    };
    let state = match state {
        Ok(state) => state,
        Err(refusal) => return refusal.report(),
    };
    // Lock before any file of the work directory is changed: a refused driver must not disturb the other one.
    let lock = match LoopLock::acquire(&state.workdir, &state.run_id, &clock::now()) {
        Ok((lock, warning)) => {
            warning.into_iter().for_each(print_error);
            lock
        }
        Err(LockError::Held(message)) => return StartRefusal::from(message).report(),
        Err(LockError::Io(error)) => {
            return StartRefusal::of("cannot lock the work directory", &error).report();
        }
    };
    let limits = ProgressLimits {
        max_iterations: state.max_iterations,
        max_spend: state.max_spend,
        spent: state.spent,
    };
    let display = Display::new(options.progress, &state.workdir, limits);
    let mut driver = Driver::new(context, state, stop, display.clone());
    let add_dirs = fresh.then_some(options.add_dirs.as_slice());
    let outcome = match driver.prepare(add_dirs).await {
        Ok(()) => {
            let outcome = driver.run().await;
            driver.learn(outcome).await;
            outcome
        }
        Err(error) => {
            driver.fail_with("DRIVER_FAILED", "The loop could not be prepared", &error);
            LoopEnd::Failed
        }
    };
    // Collected before `finish` consumes the driver, printed after it: the summary is the last output.
    let summary = if display.wants_summary() { Some(driver.summary(outcome).await) } else { None };
    // The lock is released before the summary is printed: the next loop may start while the user reads.
    let code = driver.finish(outcome, lock);
    summary.iter().for_each(|summary| display.end(summary));
    code
}

/// Reason for which the driver does not start.
struct StartRefusal {
    message: String,
    exit_code: u8,
}

impl StartRefusal {
    fn of(action: &str, error: &io::Error) -> Self {
        Self { message: format!("Error: {action}: {error}"), exit_code: exit_code::of_error(error) }
    }

    /// Prints the message and returns the exit code.
    fn report(self) -> u8 {
        print_error(self.message);
        self.exit_code
    }
}

impl From<String> for StartRefusal {
    fn from(message: String) -> Self {
        Self { message, exit_code: FAILED }
    }
}

async fn new_state(
    context: &RunContext,
    options: &LoopOptions,
    workdir: &Path,
    stop: &CancellationToken,
) -> Result<LoopState, StartRefusal> {
    let workdir =
        std::path::absolute(workdir).map_err(|error| StartRefusal::of("invalid work directory", &error))?;
    check_prompt(context, options)?;
    // A second loop on the same work directory is refused by the lock instead, which names its owner.
    check_other_loop(&context.project_root, &workdir)?;
    untrusted::create_directory(&workdir)
        .map_err(|error| StartRefusal::of("cannot create the work directory", &error))?;
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
        self_learning: options.self_learning && context.learnings_enabled,
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

/// Refuses a second loop in the same project: both would overwrite the project's state file.
fn check_other_loop(project_root: &Path, workdir: &Path) -> Result<(), String> {
    match LoopState::load(project_root) {
        Ok(other) if other.workdir != workdir && lock::is_held(&other.workdir) => Err(format!(
            "Error: Another loop is already running in this project, on {}. Wait for it to end.",
            other.workdir.display()
        )),
        _ => Ok(()),
    }
}

/// Excludes the files of loops from commits, unless the project has its own rules for the directory.
pub fn exclude_state_dir(project_root: &Path) -> io::Result<()> {
    let rules = project_root.join(STATE_DIR).join(".gitignore");
    match untrusted::kind(&rules) {
        Some(_) => Ok(()),
        None => untrusted::write(&rules, b"*\n"),
    }
}

/// Loads the state of an interrupted loop, and applies a new spending limit if given.
fn resumed_state(project_root: &Path, max_spend: Option<Usd>) -> Result<LoopState, String> {
    let mut state = LoopState::load(project_root).map_err(|unusable| match unusable {
        StateFileError::Absent => "Error: No active Loopgate loop found".to_owned(),
        StateFileError::Invalid(message) => message,
    })?;
    state.max_spend = max_spend.unwrap_or(state.max_spend);
    state
        .charge_interrupted_run()
        .map_err(|error| format!("Error: cannot read the cost of the interrupted run: {error}"))?;
    Ok(state)
}

impl Driver {
    /// Prepares the work directory. `add_dirs` are the further repositories of a new loop; `None` resumes one.
    async fn prepare(&mut self, add_dirs: Option<&[String]>) -> io::Result<()> {
        let root = &self.context.project_root.clone();
        if let Some(add_dirs) = add_dirs {
            archive::started(root, &self.state.workdir)?;
            // The status of an earlier run, such as AWAITING_USER, must not be taken for that of this run.
            match untrusted::remove(&self.state.workdir.join(STATE_JSON)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            exclude_state_dir(root)?;
            // Rounds and blocked tasks of an earlier loop must not limit this one.
            plan::start_over(&self.state.workdir).map_err(io::Error::other)?;
            self.record_start(add_dirs).await?;
            self.state.save(root)?;
            if self.perf.wants_run() {
                let git = ProjectGit::at(root, &self.context.env, &self.stop);
                let (repo, branch) = (git.base_url().await, git.branch().await);
                self.perf.run(&redact::credentials(&repo.unwrap_or_default()), &branch.unwrap_or_default());
            }
        } else {
            self.agent_results = AgentResults::of_stream(&self.state.workdir)?;
            self.work = WorkRecord::load(&self.state.workdir).unwrap_or_default();
        }
        // Written for a resumed loop too, so that the keys exist in any case.
        let mut config = ConfigEnv::load(&self.state.workdir)?;
        config.set(var::SELF_LEARNING, if self.state.self_learning { "true" } else { "false" });
        config.set(var::START_SHA, &self.state.start_sha);
        config.save(&self.state.workdir)?;
        self.prepare_learning(add_dirs.is_some())?;
        if self.display.wants_summary() {
            self.display.begin(&self.description().await);
        }
        self.record_work().await;
        // The initial fingerprint is the baseline of the stall detection; it never ends the loop.
        let before = self.fingerprint().await;
        self.progress.is_stalled(before);
        // Started last, when the state file exists: its absence stops the loop.
        stop::on_removal(state_file::path(root), self.state.workdir.clone(), self.stop.clone());
        Ok(())
    }

    /// Records the files of all repositories before the first iteration: the assistant may work on a task before it reports
    /// that it starts.
    async fn record_start(&self, add_dirs: &[String]) -> io::Result<()> {
        let root = &self.context.project_root;
        // The set-up of the iteration rejects directories that cannot be used.
        let peers = setup::resolve_peers(&self.state.workdir, root, add_dirs).unwrap_or_default();
        let mut trees = Trees::new();
        for repository in std::iter::once(root.clone()).chain(peers) {
            let git = ProjectGit::at(&repository, &self.context.env, &self.stop);
            // A repository without a snapshot counts as changed later.
            for (path, tree) in git.snapshots().await.unwrap_or_default() {
                // Without a reference, git's garbage collection would remove the tree.
                if ProjectGit::at(&path, &self.context.env, &self.stop)
                    .retain(&tree, plan::START)
                    .await
                    .is_some()
                {
                    trees.insert(path, tree);
                }
            }
        }
        plan::record_loop_start(&self.state.workdir, &trees).map_err(io::Error::other)
    }

    /// Runs iterations until the loop ends, then reviews the changes of a completed loop. Messages that arrive during the
    /// review lead to further iterations.
    async fn run(&mut self) -> LoopEnd {
        loop {
            let outcome = self.iterate().await;
            // The next loop takes over completed tasks, and the last run may have ticked some before it failed or was stopped.
            if !matches!(outcome, LoopEnd::Completed | LoopEnd::Waiting) {
                self.settle_tasks();
            }
            // Reviews only follow finished work; a waiting or failed loop will change the files again.
            if outcome != LoopEnd::Completed {
                return outcome;
            }
            let session = self.last_session.clone();
            review::run(self).await;
            // The loop is completed; the progress log names what a fix of the review took back.
            self.check_work().await;
            if self.stop.is_cancelled() {
                return LoopEnd::Interrupted;
            }
            if !self.has_next_iteration() || !self.continue_with_messages() {
                return outcome;
            }
            // Not that of the review.
            self.last_session = session;
            self.state.iteration += 1;
        }
    }

    /// Runs iterations until the loop ends.
    async fn iterate(&mut self) -> LoopEnd {
        loop {
            match self.iteration().await {
                Ok(None) => {}
                Ok(Some(outcome)) => return outcome,
                Err(error) => {
                    self.fail_with("DRIVER_FAILED", "The loop could not continue", &error);
                    return LoopEnd::Failed;
                }
            }
            // Count first, then save: a driver killed in the pause resumes with the next iteration.
            self.state.iteration += 1;
            if let Err(error) = self.save_state() {
                self.fail_with("DRIVER_FAILED", "The loop's state could not be saved", &error);
                return LoopEnd::Failed;
            }
            // No pause before an iteration that only reports a reached limit.
            if !self.has_used_up_iterations() && !self.state.has_used_up_budget() && !self.pause().await {
                return LoopEnd::Interrupted;
            }
        }
    }

    /// Archives the stream, releases the lock, and removes the state file unless the loop can be resumed.
    /// Returns the exit code.
    fn finish(self, outcome: LoopEnd, lock: LoopLock) -> u8 {
        if outcome != LoopEnd::Interrupted
            // An interrupted loop keeps its live stream, because the resumed driver appends to it.
            && let Err(error) = archive::finished(&self.state.workdir, &self.state.run_id)
        {
            print_error(format!("Warning: the output could not be archived: {error}"));
        }
        lock.release();
        self.prune_learnings();
        if outcome != LoopEnd::Interrupted {
            // Best-effort: the file may have been removed to stop the loop.
            let _ = untrusted::remove(&state_file::path(&self.context.project_root));
        }
        match outcome {
            LoopEnd::Completed | LoopEnd::Waiting => 0,
            LoopEnd::Interrupted => INTERRUPTED,
            LoopEnd::MaxIterations | LoopEnd::SpendingLimit | LoopEnd::Failed => {
                if self.marker_lost.get() {
                    disk::DISK_FULL_EXIT
                } else {
                    FAILED
                }
            }
        }
    }

    const fn has_used_up_iterations(&self) -> bool {
        self.state.max_iterations > 0 && self.state.iteration > self.state.max_iterations
    }

    /// Returns whether the limits of the loop permit another iteration.
    pub(super) fn has_next_iteration(&self) -> bool {
        let has_iterations =
            self.state.max_iterations == 0 || self.state.iteration < self.state.max_iterations;
        has_iterations && !self.state.has_used_up_budget() && !self.stop.is_cancelled()
    }

    /// Runs one iteration. `Some` ends the loop.
    async fn iteration(&mut self) -> io::Result<Option<LoopEnd>> {
        let mut span = Span::start();
        let number = self.state.iteration;
        if self.has_used_up_iterations() {
            self.journal
                .progress(&format!("The limit of {} iterations is reached", self.state.max_iterations));
            self.record("max_iterations");
            self.perf.iteration(number, &span, "max_iterations", None);
            pipeline::run(self).await;
            self.fail(
                ITERATION_LIMIT,
                &format!(
                    "The loop reached its limit of {} iterations before the assistant reported completion. \
                     The work so far is kept; start the loop again to continue.",
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
        // Hooks and commands of the iteration read its number from the environment or from this file.
        self.mark_iteration()?;
        self.journal.iteration(number);
        let task = self.next_task();
        let run = match self.assistant(task).await {
            Ok(run) => run,
            Err(error) => {
                let program = self.context.assistant.display();
                let message =
                    format!("The assistant could not be started, or its output not stored ({program})");
                self.fail_with("ASSISTANT_NOT_STARTED", &message, &error);
                self.record("error");
                return Ok(Some(LoopEnd::Failed));
            }
        };
        // Time spent waiting for a rate limit is not work of the iteration.
        span.exclude(run.waited);
        if let Some(id) = &run.facts.session_id {
            self.journal.session(id);
        }
        self.taken_back = self.check_work().await;
        let end = self.evaluate_run(&run, &span).await;
        if end.is_none() {
            self.request_return();
        }
        Ok(end)
    }

    /// Returns the work of the next iteration: a correction in the last session, the rest of a session that a
    /// rate limit interrupted, or the full prompt in a new session.
    fn next_task(&mut self) -> AssistantTask {
        let dirs = self.outside_dirs();
        if let Some(prompt) = self.correction.take() {
            return AssistantTask { dirs, session: self.last_session.clone(), prompt };
        }
        if !self.state.session.is_empty() {
            let session = Some(self.state.session.clone());
            return AssistantTask { dirs, session, prompt: CONTINUE_PROMPT.to_owned() };
        }
        AssistantTask { dirs, session: None, prompt: self.state.prompt.clone() }
    }

    /// Lists the directories outside the project that the assistant may access: peers, and an external work
    /// directory.
    fn outside_dirs(&self) -> Vec<PathBuf> {
        let outside =
            (!self.state.workdir.starts_with(&self.context.project_root)).then(|| self.state.workdir.clone());
        outside.into_iter().chain(self.peers()).collect()
    }

    /// Lists the further repositories of the loop.
    pub(super) fn peers(&self) -> impl Iterator<Item = PathBuf> {
        // The variable is set by the runtime; for a loop of a user, set-up stores the peers in `config.env`.
        let peers = var::text(var::ADD_DIRS)
            .or_else(|| ConfigEnv::load(&self.state.workdir).ok()?.get(var::ADD_DIRS).map(str::to_owned))
            .unwrap_or_default();
        // Without links, as set-up stores them and as the record of the start names them.
        let path = |peer: &str| std::fs::canonicalize(peer).unwrap_or_else(|_| PathBuf::from(peer));
        let peers: Vec<PathBuf> = peers.split('|').filter(|peer| !peer.is_empty()).map(path).collect();
        peers.into_iter()
    }

    fn mark_iteration(&self) -> io::Result<()> {
        let dir = self.state.workdir.join(".learnings/sessions").join(format!("run-{}", self.state.run_id));
        untrusted::create_directory(&self.state.workdir.join(STATE_DIR))?;
        untrusted::write(&dir.join("current-iteration"), self.state.iteration.to_string().as_bytes())
    }

    /// Waits before the next iteration, with exponential backoff after consecutive failures. Returns `false`
    /// when the driver is stopped.
    async fn pause(&self) -> bool {
        let doublings = self.failures.1.saturating_sub(1).min(PAUSE_DOUBLINGS);
        let pause = self.context.pause * 2u32.pow(doublings);
        tokio::select! {
            () = tokio::time::sleep(pause) => true,
            () = self.stop.cancelled() => false,
        }
    }
}
