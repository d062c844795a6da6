//! One round of probes, shared by everybody who asks while it runs, and kept for a moment when
//! everything passed: a failing row is looked at anew at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use loopgate_api::link::Telemetry;
use loopgate_home::Program;
use tokio::sync::broadcast;

use super::followed::Followed;
use super::row::Check;
use super::{plugins, programs};
use crate::app::App;

type Round = Shared<BoxFuture<'static, Arc<[Check]>>>;

/// The latest round, and what became of the assistant's row through all of them.
#[derive(Default)]
pub(crate) struct Rounds {
    latest: Mutex<Option<(Instant, Round)>>,
    assistant: Followed,
}

impl Rounds {
    /// What is to be told of the assistant's row, from now on.
    pub(crate) fn reports(&self) -> broadcast::Receiver<Telemetry> {
        self.assistant.reports()
    }

    /// The rows, of a round that runs already or of a new one.
    pub(crate) async fn checks(&self, app: &App) -> Arc<[Check]> {
        let round = {
            let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
            match latest.as_ref().filter(|(began, round)| is_good(app, *began, round)) {
                Some((_, round)) => round.clone(),
                None => {
                    let round = begin(app.clone());
                    *latest = Some((Instant::now(), round.clone()));
                    round
                }
            }
        };
        round.await
    }
}

/// Whether the round still runs, or passed a moment ago.
fn is_good(app: &App, began: Instant, round: &Round) -> bool {
    match round.peek() {
        None => true,
        Some(checks) => began.elapsed() < app.limits.probe_cache && checks.iter().all(|check| check.passed),
    }
}

/// Runs on, whoever of its callers goes away: its end is bounded.
fn begin(app: App) -> Round {
    // On the heap: a round is many probes at once.
    let task = tokio::spawn(async move { Box::pin(look(&app)).await });
    async move { task.await.unwrap_or_else(|_| Arc::from([])) }.boxed().shared()
}

async fn look(app: &App) -> Arc<[Check]> {
    let limit = app.limits.probe_timeout;
    let row = |program| programs::row(&app.programs, program, limit);
    let (git, assistant, code_host, auth, plugins, worktrees, reviewer, python3) = tokio::join!(
        row(Program::Git),
        row(Program::Assistant),
        row(Program::CodeHost),
        programs::code_host_auth(&app.programs, limit),
        plugins::rows(&app.programs, app.plugin_root.as_deref(), limit),
        worktree_directory(app),
        row(Program::Reviewer),
        row(Program::Python3),
    );
    let mut checks = vec![git, assistant, code_host, auth];
    checks.extend(plugins);
    checks.extend([worktrees, reviewer, python3]);
    checks.extend(approvals(app));
    app.rounds.assistant.note(&checks);
    checks.into()
}

/// The row of the owner's rules and policies, while something is wrong with them.
fn approvals(app: &App) -> Option<Check> {
    let problems = app.approvals.problems();
    let remedy = format!("Look at `{}`.", app.approvals_command);
    (!problems.is_empty())
        .then(|| Check::failed("approvals", "Approval policies", false, problems.join("; "), remedy))
}

/// The row of the directory in which worktrees are made.
async fn worktree_directory(app: &App) -> Check {
    const ID: &str = "worktree-dir";
    const LABEL: &str = "Worktree Directory";
    let repos = app.repos.clone();
    let list = tokio::task::spawn_blocking(move || repos.list()).await;
    let settings = list.ok().and_then(Result::ok).map(|list| list.settings.clone()).unwrap_or_default();
    let directory = settings.worktree_parent_dir.filter(|directory| !directory.trim().is_empty());
    match directory.filter(|_| settings.worktree_parent_dir_confirmed == Some(true)) {
        Some(directory) => Check::passed(ID, LABEL, true, Some(directory)),
        None => Check::failed(
            ID,
            LABEL,
            true,
            "Not configured",
            "Choose the directory that worktrees are made in: PATCH /api/gateway/repos, or start with --sandbox.",
        ),
    }
}
