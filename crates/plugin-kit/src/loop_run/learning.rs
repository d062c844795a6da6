//! Self-learning of a loop: one request about the corrections of the loop at its end, and the merge into the patterns.
//!
//! Without the option, nothing here reads or writes a file. A failure here never changes the outcome of the loop.

use std::path::Path;

use loopgate_api::names::STATE_DIR;
use loopgate_code_review::diff::ReviewedChange;
use loopgate_home::{expand_home, untrusted};
use loopgate_learnings::{
    ChangedLines, Classification, ClassificationBatch, CorrectionAnswer, Excerpt, LearningSource,
    PatternStore, PendingBatch, Retention, UnclassifiedLearning, create_directories, prune, question,
    repository_key, system_prompt,
};

use super::corrections;
use super::driver::Driver;
use super::loop_end::LoopEnd;
use crate::judges::{ArtifactTexts, JudgeModel};
use crate::model_calls::{CallOutcome, IsolatedAssistant, ModelQuestion};
use crate::plan;
use crate::project_git::{ChangeSide, ProjectGit};
use crate::variables as var;

/// Model of the request: it reads a few thousand tokens and has to generalize.
const MODEL: JudgeModel = JudgeModel::Sonnet;

/// Returns the store with the user's patterns.
pub fn patterns() -> PatternStore {
    PatternStore::new(expand_home(Path::new("~").join(STATE_DIR).join("learnings")), None)
}

impl Driver {
    /// Prepares the work directory for learnings and passes the repository to the hooks. Without the option, it removes the
    /// variable, by which hooks recognize the option.
    pub(super) fn prepare_learning(&mut self, is_new: bool) -> std::io::Result<()> {
        if !self.state.self_learning {
            self.context.remove(var::LEARNINGS_REPO);
            return Ok(());
        }
        create_directories(&self.state.workdir)?;
        if is_new {
            // That of an earlier loop was its own correction.
            let _ = untrusted::remove(&self.state.workdir.join(corrections::FAILED_CHECK));
        }
        // Determined before the first agent can change the remotes of the repository.
        let repo = repository_key(&self.context.project_root);
        self.journal.progress(&format!("Self-learning: uses and records learnings of {repo}"));
        self.context.export(var::LEARNINGS_REPO, repo);
        Ok(())
    }

    /// Learns from the corrections of an ended loop.
    pub(super) async fn learn(&mut self, end: LoopEnd) {
        if !self.state.self_learning || end == LoopEnd::Interrupted || self.stop.is_cancelled() {
            return;
        }
        if let Err(reason) = self.learn_from_corrections().await {
            self.journal.progress(&format!("Self-learning: nothing was learned from corrections: {reason}"));
        }
        if let Err(reason) = self.merge_pending().await {
            self.journal.progress(&format!("Self-learning: the learnings are not merged: {reason}"));
        }
    }

    /// Removes old records. Called after the release of the lock, which keeps them.
    pub(super) fn prune_learnings(&self) {
        if !self.state.self_learning {
            return;
        }
        let workdir = &self.state.workdir;
        if let Err(error) = prune(workdir, Retention::load(workdir), Some(&self.state.run_id)) {
            self.journal.progress(&format!("Self-learning: old records are not removed: {error}"));
        }
    }

    async fn source(&self) -> LearningSource {
        let git = ProjectGit::at(&self.context.project_root, &self.context.env, &self.stop);
        LearningSource {
            ticket: self.state.run_id.clone(),
            commit: git.head().await.unwrap_or_default(),
            repo: var_of(self, var::LEARNINGS_REPO),
            ..LearningSource::default()
        }
    }

    async fn learn_from_corrections(&mut self) -> Result<(), String> {
        let root = self.context.project_root.clone();
        let found = corrections::collect(&self.state.workdir, &root, &self.state.started_at);
        let excerpts = Excerpt::list(found);
        if excerpts.is_empty() {
            return Ok(());
        }
        let answer = self.ask(&system_prompt(), &question(&excerpts)).await?;
        let contains = |text: &str, words: &str| {
            let mut texts = ArtifactTexts::default();
            texts.add(text);
            texts.contain(words)
        };
        let answer = CorrectionAnswer::read(&answer, &excerpts, contains)?;
        for reason in &answer.dropped {
            self.journal.progress(&format!("Self-learning: a learning does not count: {reason}"));
        }
        let written = answer.write(&self.state.workdir, &self.source().await);
        written.map_err(|error| format!("cannot write a pending learning: {error}"))?;
        self.journal.progress(&format!(
            "Self-learning: {} learnings from {} corrections",
            answer.count(),
            excerpts.len()
        ));
        Ok(())
    }

    async fn merge_pending(&mut self) -> Result<(), String> {
        let batch = PendingBatch::take(&self.state.workdir, &self.source().await);
        if batch.is_empty() {
            return Ok(());
        }
        let classifications = self.classify(&batch.unclassified()).await;
        let report = batch.merge(&patterns(), classifications)?;
        self.journal.progress(&format!(
            "Self-learning: {} added, {} merged, {} deleted earlier, {} rejected",
            report.added, report.merged, report.skipped, report.rejected
        ));
        Ok(())
    }

    async fn classify(&mut self, learnings: &[UnclassifiedLearning]) -> Result<Vec<Classification>, String> {
        let mut classifications = Vec::new();
        for batch in ClassificationBatch::of(learnings) {
            let answer = self.ask(&batch.prompt(), "Classify the learnings.").await?;
            classifications.extend(batch.read(&answer)?);
        }
        Ok(classifications)
    }

    /// Asks the model once, without tools, within the spending limit of the loop. A usage limit of the account is waited for.
    async fn ask(&mut self, instructions: &str, request: &str) -> Result<String, String> {
        if self.state.has_used_up_budget() {
            return Err("the spending limit is used up".to_owned());
        }
        let (program, env) = (self.context.assistant.clone(), self.context.env.clone());
        let cannot_store = |error: std::io::Error| format!("cannot store the prompt: {error}");
        let assistant = IsolatedAssistant::new(program, env, self.limit_wait(), self.stop.clone());
        let assistant = assistant.map_err(cannot_store)?;
        let shared_part = assistant.share("learnings", instructions).map_err(cannot_store)?;
        let question = ModelQuestion { model: MODEL.name(), shared_part: &shared_part, text: request };
        let call = assistant.ask(question, self.state.remaining_budget()).await;
        self.charge_calls(call.cost);
        match call.outcome {
            CallOutcome::Answer(text) => Ok(text),
            CallOutcome::Oversized => Err("the answer is too long".to_owned()),
            CallOutcome::Failed(reason) | CallOutcome::Fatal(reason) => Err(reason),
            CallOutcome::Stopped => Err("the loop was stopped".to_owned()),
        }
    }

    /// Returns the lines that the loop has changed so far in all its repositories, committed or not. `None` when git
    /// cannot compare them.
    pub(super) async fn changed_lines(&self) -> Option<ChangedLines> {
        let mut changed = ChangedLines::default();
        for (path, tree) in plan::start_trees(&self.state.workdir) {
            let git = ProjectGit::at(&path, &self.context.env, &self.stop);
            let now = git.snapshot().await?;
            changed.add_prefix(&path.to_string_lossy());
            if now == tree {
                continue;
            }
            let output = git.change_output(&tree, &ChangeSide::Tree(now), 0, &[]).await?;
            add_changes(&mut changed, &output)?;
        }
        Some(changed)
    }
}

/// Adds the changes in git's output; `None` if it is not understood.
pub fn add_changes(changed: &mut ChangedLines, output: &[u8]) -> Option<()> {
    for file in ReviewedChange::parse(output).ok()?.files {
        let path = file.path_text();
        for hunk in &file.hunks {
            changed.add(&path, hunk.new.0, hunk.new.0 + hunk.new.1.saturating_sub(1));
        }
    }
    Some(())
}

fn var_of(driver: &Driver, name: &str) -> String {
    let value = driver.context.env.get(std::ffi::OsStr::new(name));
    value.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
}
