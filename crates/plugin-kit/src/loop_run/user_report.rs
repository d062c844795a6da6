//! Data for the lines that a user sees at the start and at the end of a loop, from the driver's state and
//! git.

use tokio_util::sync::CancellationToken;

use super::driver::Driver;
use super::loop_end::LoopEnd;
use super::summary::{FinalSummary, counted, fact, shown};
use crate::project_git::ProjectGit;

impl Driver {
    /// Returns the lines that describe the loop at its start.
    pub(super) async fn description(&self) -> Vec<String> {
        let (root, state) = (&self.context.project_root, &self.state);
        let git = ProjectGit::at(root, &self.context.env, &self.stop);
        let branch = git.branch().await.map(|branch| format!(", branch {branch}")).unwrap_or_default();
        let mut lines = vec![format!("Loop in {}{branch}", root.display())];
        let mut add = |name: &str, text: &str| lines.push(fact(name, text));
        add("Work dir", &shown(root, &state.workdir));
        if !state.prd_file.is_empty() {
            add("Request", &state.prd_file);
        }
        let iterations = (state.max_iterations > 0).then(|| counted(state.max_iterations, "iteration"));
        let spending = (!state.max_spend.is_zero()).then(|| format!("${:.2}", state.max_spend));
        let limits: Vec<String> = [iterations, spending].into_iter().flatten().collect();
        if !limits.is_empty() {
            add("Limits", &limits.join(", "));
        }
        lines
    }

    /// Collects the data of the final summary.
    pub(super) async fn summary(&self, end: LoopEnd) -> FinalSummary {
        // The driver's own token may be cancelled already; the git queries for the summary must still run.
        let stop = CancellationToken::new();
        let git = ProjectGit::at(&self.context.project_root, &self.context.env, &stop);
        FinalSummary {
            end,
            state: self.state.clone(),
            branch: git.branch().await,
            changed_files: git.changed_since(&self.state.start_sha).await.map(|files| files.len() as u64),
            project_root: self.context.project_root.clone(),
        }
    }
}
