//! Prepares the programs of learnings, with the environment of every program that works in a checkout.

use std::path::Path;
use std::sync::Arc;

use loopgate_api::names::env;
use loopgate_home::Program;
use loopgate_learnings::{BoxFuture, LearningCheckout, LearningPrograms};
use loopgate_tools::environment::ProcessEnvironment;
use loopgate_tools::process::Command;
use loopgate_tools::programs::Programs;
use loopgate_tools::shim::Shims;

use crate::process::spawn::prepend_exe_to_path;

/// Prepares the assistant, and the scripts of the self-learning plugin.
pub struct PreparedPrograms {
    programs: Arc<Programs>,
    environment: ProcessEnvironment,
    shims: Shims,
}

impl PreparedPrograms {
    pub(crate) const fn new(programs: Arc<Programs>, environment: ProcessEnvironment, shims: Shims) -> Self {
        Self { programs, environment, shims }
    }
}

impl LearningPrograms for PreparedPrograms {
    fn assistant<'a>(&'a self, worktree: &'a Path) -> BoxFuture<'a, Command> {
        Box::pin(async move {
            let (environment, guard) = self.environment.guarded(&[worktree]).await;
            let assistant = self.programs.command(Program::Assistant).await;
            assistant.environment(environment).args(&guard.args).directory(worktree)
        })
    }

    fn script<'a>(&'a self, script: &'a Path, worktree: &'a LearningCheckout) -> BoxFuture<'a, Command> {
        Box::pin(async move {
            let (mut environment, _) = self.environment.guarded(&[&worktree.root]).await;
            let assistant = self.programs.resolve(Program::Assistant).await.path;
            environment.insert(env::WORKDIR.into(), worktree.work_dir.clone().into());
            environment.insert(env::ASSISTANT_BIN.into(), assistant.into());
            // The script calls this program by name.
            prepend_exe_to_path(&mut environment, &self.shims.exe);
            let command = Command::new(script).arg(&worktree.work_dir).directory(&worktree.root);
            command.environment(environment).session()
        })
    }
}
