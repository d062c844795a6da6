//! The judges: what each of them evaluates, with which model, how its scores are computed, and its metrics with
//! their thresholds. Commands and pages that name judges are checked against this table.

use self::JudgeModel::{Haiku, Opus, Sonnet};
use self::ScoringFamily::{GoalAlignment, Grounding, Principle, Requirements, Tiered};
use super::Category::{self, Code, Feature, Plan, Prd};

/// A judge.
#[derive(Debug)]
pub struct Judge {
    /// Its name, which is the `case_id` in reports.
    pub name: &'static str,
    /// Kinds of objects that it evaluates.
    pub categories: &'static [Category],
    /// Model that runs it.
    pub model: JudgeModel,
    /// How its scores are computed from its findings.
    pub family: ScoringFamily,
    /// Its metrics, each with the lowest score at which it passes.
    pub metrics: &'static [(&'static str, f64)],
}

impl Judge {
    /// Returns the metric with this name as it is written in the table.
    pub fn metric(&self, name: &str) -> Option<&'static str> {
        self.metrics.iter().map(|(metric, _)| *metric).find(|metric| *metric == name)
    }
}

/// Class of models, from which the assistant selects the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeModel {
    /// Fast model for judges whose metrics need little context.
    Haiku,
    /// Strongest model, for judges that compare a plan with the existing code.
    Opus,
    /// Model for judges that weigh violations.
    Sonnet,
}

impl JudgeModel {
    /// Returns the name in the assistant's agent files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Haiku => "haiku",
            Self::Opus => "opus",
            Self::Sonnet => "sonnet",
        }
    }
}

/// How the scores of a judge are computed. Judges of the families without levels have one metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoringFamily {
    /// Deductions for violations of a design principle, and a credit for each justified exception.
    Principle,
    /// Deductions for goals that are not or only partly addressed, and for work outside of the goals.
    GoalAlignment,
    /// Each metric is met, partly met or not met.
    Tiered,
    /// As [`Self::Tiered`]; nothing is met without an investigation log to compare with.
    Grounding,
    /// Deductions for faults of requirements; a blocking fault leaves nothing.
    Requirements {
        /// Deduction for a major finding, in hundredths.
        major: u8,
    },
}

impl ScoringFamily {
    /// Returns the name in pages and lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Principle => "principle",
            GoalAlignment => "goal alignment",
            Tiered => "tiered",
            Grounding => "grounding",
            Requirements { .. } => "requirements",
        }
    }
}

const fn judge(
    name: &'static str,
    categories: &'static [Category],
    model: JudgeModel,
    family: ScoringFamily,
    metrics: &'static [(&'static str, f64)],
) -> Judge {
    Judge { name, categories, model, family, metrics }
}

/// All judges, by name.
pub const JUDGES: [Judge; 21] = [
    judge(
        "brownfield-accuracy-judge",
        &[Plan],
        Opus,
        Grounding,
        &[("reuse_vs_reimplement", 0.8), ("integration_point_accuracy", 0.8), ("scope_accuracy", 0.8)],
    ),
    judge(
        "code-organization-judge",
        &[Plan, Code],
        Haiku,
        Tiered,
        &[
            ("naming_consistency", 0.8),
            ("module_boundaries", 0.7),
            ("separation_of_concerns", 0.7),
            ("navigation_intuitiveness", 0.75),
        ],
    ),
    judge(
        "codebase-grounding-judge",
        &[Plan],
        Opus,
        Grounding,
        &[("file_path_accuracy", 0.8), ("module_reference_accuracy", 0.8), ("existing_code_awareness", 0.8)],
    ),
    judge(
        "convention-adherence-judge",
        &[Plan],
        Sonnet,
        Grounding,
        &[
            ("naming_convention_compliance", 0.8),
            ("structural_convention_compliance", 0.8),
            ("pattern_and_tooling_compliance", 0.8),
        ],
    ),
    judge(
        "custom-best-practices-judge",
        &[Plan, Code],
        Haiku,
        Tiered,
        &[
            ("practice_adherence", 0.8),
            ("pattern_consistency", 0.7),
            ("anti_pattern_avoidance", 0.8),
            ("completeness", 0.75),
            ("quality_impact", 0.7),
        ],
    ),
    judge("dry-judge", &[Plan, Code], Sonnet, Principle, &[("dry_score", 0.8)]),
    judge(
        "feature-completeness-judge",
        &[Feature],
        Sonnet,
        Requirements { major: 15 },
        &[("feature_completeness", 0.8)],
    ),
    judge("goal-alignment-judge", &[Plan], Sonnet, GoalAlignment, &[("goal_alignment_score", 0.85)]),
    judge("kiss-judge", &[Plan, Code], Sonnet, Principle, &[("kiss_score", 0.8)]),
    judge("prd-auditor", &[Prd], Sonnet, Requirements { major: 15 }, &[("structural_completeness", 0.8)]),
    judge(
        "prd-dependency-judge",
        &[Prd, Feature],
        Sonnet,
        Requirements { major: 15 },
        &[("dependency_completeness", 0.8)],
    ),
    judge("prd-scope-judge", &[Prd], Sonnet, Requirements { major: 20 }, &[("scope_discipline", 0.8)]),
    judge(
        "prd-testability-judge",
        &[Prd, Feature],
        Sonnet,
        Requirements { major: 15 },
        &[("testability", 0.8)],
    ),
    judge(
        "readability-judge",
        &[Plan, Code],
        Haiku,
        Tiered,
        &[
            ("clarity", 0.75),
            ("structure", 0.8),
            ("language_appropriateness", 0.75),
            ("logical_flow", 0.75),
            ("template_adherence", 0.8),
        ],
    ),
    judge(
        "solid-isp-dip-judge",
        &[Plan, Code],
        Haiku,
        Tiered,
        &[
            ("interface_focus", 0.75),
            ("client_specific_interfaces", 0.75),
            ("interface_pollution", 0.8),
            ("dependency_direction", 0.8),
            ("abstraction_stability", 0.75),
            ("injection_and_composition", 0.8),
            ("coupling_to_concretions", 0.75),
        ],
    ),
    judge(
        "solid-liskov-substitution-judge",
        &[Plan, Code],
        Haiku,
        Tiered,
        &[
            ("contract_compliance", 0.8),
            ("behavioral_consistency", 0.75),
            ("method_signatures", 0.8),
            ("exception_handling", 0.75),
            ("strengthening_weakening", 0.8),
            ("interface_segregation_relation", 0.8),
        ],
    ),
    judge(
        "solid-open-closed-judge",
        &[Plan, Code],
        Haiku,
        Tiered,
        &[
            ("extensibility", 0.8),
            ("abstraction_use", 0.75),
            ("design_patterns", 0.75),
            ("modification_risk", 0.8),
            ("conditional_logic", 0.8),
        ],
    ),
    judge("ssot-judge", &[Plan, Code], Sonnet, Principle, &[("ssot_score", 0.8)]),
    judge(
        "technical-accuracy-judge",
        &[Plan, Code],
        Haiku,
        Tiered,
        &[
            ("api_correctness", 0.8),
            ("language_feature_accuracy", 0.8),
            ("algorithm_complexity_accuracy", 0.8),
            ("terminology_accuracy", 0.8),
        ],
    ),
    judge(
        "test-judge",
        &[Plan, Code],
        Haiku,
        Tiered,
        &[
            ("test_coverage", 0.7),
            ("assertion_quality", 0.7),
            ("test_structure", 0.7),
            ("testing_best_practices", 0.7),
        ],
    ),
    judge(
        "verbosity-judge",
        &[Plan],
        Haiku,
        Tiered,
        &[("length_appropriateness", 0.7), ("value_density", 0.7), ("detail_balance", 0.7)],
    ),
];

/// Returns the judge with a name, if it evaluates this kind of object.
pub fn find(category: Category, name: &str) -> Option<&'static Judge> {
    category.judges().find(|judge| judge.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use regex::Regex;

    use super::super::answer::FindingWeight;
    use super::*;

    #[test]
    fn names_are_sorted_and_metrics_belong_to_one_judge() {
        assert!(JUDGES.is_sorted_by(|a, b| a.name < b.name));
        let metrics = JUDGES.iter().flat_map(|judge| judge.metrics);
        let mut names = BTreeSet::new();
        for (name, threshold) in metrics {
            assert!(names.insert(name), "{name}");
            assert!((0.0..=1.0).contains(threshold), "{name}");
        }
    }

    #[test]
    fn families_without_levels_have_one_metric() {
        for judge in &JUDGES {
            let has_levels = matches!(judge.family, Tiered | Grounding);
            assert!(has_levels || judge.metrics.len() == 1, "{}", judge.name);
        }
    }

    /// Returns the text of each Markdown file below a directory of the repository.
    fn pages(directory: &Path) -> Vec<(PathBuf, String)> {
        let mut pages = Vec::new();
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pages.extend(self::pages(&path));
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push((path.clone(), std::fs::read_to_string(path).unwrap()));
            }
        }
        pages
    }

    #[test]
    fn pages_and_plugins_name_the_judges_of_the_table() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let page = std::fs::read_to_string(repository.join("docs/judges.md")).unwrap();
        for judge in &JUDGES {
            let categories: Vec<_> = judge.categories.iter().map(|category| category.name()).collect();
            let metrics: Vec<_> =
                judge.metrics.iter().map(|(name, threshold)| format!("{name} {threshold}")).collect();
            let row = format!(
                "| `{}` | {} | {} | {} | {} |\n",
                judge.name,
                categories.join(", "),
                judge.model.name(),
                judge.family.name(),
                metrics.join(", ")
            );
            assert!(page.contains(&row), "docs/judges.md lacks the row\n{row}");
        }
        let names = Regex::new("[a-z]+(?:-[a-z]+)*-judge\\b").unwrap();
        for directory in ["docs", "plugins"] {
            for (path, text) in pages(&repository.join(directory)) {
                for name in names.find_iter(&text) {
                    let is_known = JUDGES.iter().any(|judge| judge.name == name.as_str());
                    assert!(is_known, "{} names {}", path.display(), name.as_str());
                }
            }
        }
    }

    #[test]
    fn plugin_has_a_rubric_for_each_judge_with_its_metrics_and_weights() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/judges/rubrics");
        let rubrics = pages(&directory);
        assert_eq!(rubrics.len(), JUDGES.len());
        let code = Regex::new("`([a-z_]+)`").unwrap();
        for judge in &JUDGES {
            let path = directory.join(format!("{}.md", judge.name));
            let (_, text) =
                rubrics.iter().find(|(file, _)| *file == path).unwrap_or_else(|| panic!("{}", judge.name));
            assert!(text.chars().count() < 2_000, "{}", judge.name);
            let mut expected: BTreeSet<&str> = FindingWeight::of(judge).map(FindingWeight::name).collect();
            // Judges with one metric get its name with the request.
            if matches!(judge.family, Tiered | Grounding) {
                expected.extend(judge.metrics.iter().map(|(metric, _)| *metric));
            }
            let named: BTreeSet<&str> =
                code.captures_iter(text).map(|found| found.get(1).unwrap().as_str()).collect();
            assert_eq!(named, expected, "{}", judge.name);
        }
    }

    #[test]
    fn each_kind_of_object_has_its_number_of_judges() {
        let counts = [Plan, Code, Prd, Feature].map(|category| category.judges().count());
        assert_eq!(counts, [16, 11, 4, 3]);
    }
}
