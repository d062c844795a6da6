//! What decides how the judges of a run judge: which they are, and their thresholds.

use std::path::Path;

use super::own_judges::{self, OwnJudge};
use super::project::JudgedProject;
use super::thresholds::ScoreThresholds;
use super::{Category, Judge};

/// Judges and thresholds of a run.
pub struct JudgingRules {
    pub category: Category,
    pub thresholds: ScoreThresholds,
    own: Vec<OwnJudge>,
    /// Settings that are ignored, with the reason.
    pub warnings: Vec<String>,
}

impl JudgingRules {
    /// Reads the settings of a work directory and of its project.
    pub fn load(workdir: &Path, project: &JudgedProject, category: Category) -> Self {
        let (thresholds, mut warnings) = ScoreThresholds::load(workdir, project);
        let own = own_judges::load(project, category, &mut warnings);
        Self { category, thresholds, own, warnings }
    }

    /// Returns the judges of the run: those of the table, then those of the project.
    pub fn judges(&self) -> impl Iterator<Item = &'static Judge> {
        self.category.judges().chain(self.own.iter().map(|own| own.judge))
    }

    /// Returns the rubric of a judge of the project, or the reason for which its file is not valid. `None` for a judge of
    /// the table.
    pub fn own_rubric(&self, judge: &Judge) -> Option<&Result<String, String>> {
        self.own.iter().find(|own| own.judge.name == judge.name).map(|own| &own.rubric)
    }
}
