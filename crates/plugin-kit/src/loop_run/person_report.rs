//! What a person is told at the beginning and at the end of a loop, gathered from the driver's state and git.

use tokio_util::sync::CancellationToken;

use super::driver::Driver;
use super::loop_end::LoopEnd;
use super::summary::{LoopSummary, counted, fact, shown};
use crate::project_git::ProjectGit;

impl Driver {
    /// What a person is told at the beginning.
    pub(super) async fn description(&self) -> Vec<String> {
        let (root, state) = (&self.context.project_root, &self.state);
        let git = ProjectGit::at(root, &self.context.env, &self.stop);
        let branch = git.branch().await.map(|branch| format!(", branch {branch}")).unwrap_or_default();
        let mut lines = vec![format!("Loop in {}{branch}", root.display())];
        let mut add = |name: &str, text: &str| lines.push(fact(name, text));
        add("Work dir", &shown(root, &state.workdir));
        if !state.prd_file.is_empty() {
            add("Wish", &state.prd_file);
        }
        let iterations = (state.max_iterations > 0).then(|| counted(state.max_iterations, "iteration"));
        let spending = (!state.max_spend.is_zero()).then(|| format!("${:.2}", state.max_spend));
        let limits: Vec<String> = [iterations, spending].into_iter().flatten().collect();
        if !limits.is_empty() {
            add("Limits", &limits.join(", "));
        }
        lines
    }

    /// What a person is told at the end.
    pub(super) async fn summary(&self, end: LoopEnd) -> LoopSummary {
        // The driver may have been asked to stop; git still answers.
        let stop = CancellationToken::new();
        let git = ProjectGit::at(&self.context.project_root, &self.context.env, &stop);
        LoopSummary {
            end,
            state: self.state.clone(),
            branch: git.branch().await,
            changed_files: git.count_changed_since(&self.state.start_sha).await,
            project_root: self.context.project_root.clone(),
        }
    }
}
