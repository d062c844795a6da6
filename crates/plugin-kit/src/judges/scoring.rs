//! Computes scores from findings. Calculations are in hundredths, because sums of decimal fractions are inexact and a
//! score is compared with a threshold.

use super::answer::{FindingWeight, JudgeFinding};
use super::{Judge, ScoringFamily};

/// Score without any deduction, in hundredths.
const FULL: i32 = 100;

/// A finding, and whether its quotation was found.
#[derive(Debug, Clone)]
pub struct CheckedFinding {
    pub finding: JudgeFinding,
    /// A finding whose words occur in no artifact is displayed, but does not count.
    pub is_supported: bool,
    /// Whether a program found it.
    pub is_computed: bool,
}

/// Effect of a finding on the score of its metric, in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingEffect {
    /// Subtracts; negative for a credit. Each finding counts.
    Subtract(i32),
    /// Subtracts. The largest such effect counts once.
    SubtractOnce(i32),
    /// The score is at most this high.
    AtMost(i32),
}

/// Returns the effect of a weight in a family, and `None` when the judges of the family do not use it.
pub fn effect(family: ScoringFamily, weight: FindingWeight) -> Option<FindingEffect> {
    use FindingEffect::{AtMost, Subtract, SubtractOnce};
    use FindingWeight as Weight;
    Some(match (family, weight) {
        (ScoringFamily::Principle, Weight::Critical) => Subtract(30),
        (ScoringFamily::Principle, Weight::Moderate) => Subtract(15),
        (ScoringFamily::Principle | ScoringFamily::Requirements { .. }, Weight::Minor) => Subtract(5),
        (ScoringFamily::Principle, Weight::Justified) => Subtract(-5),
        (ScoringFamily::GoalAlignment, Weight::UnaddressedCritical) => Subtract(25),
        (ScoringFamily::GoalAlignment, Weight::PartialCritical) => Subtract(15),
        (ScoringFamily::GoalAlignment, Weight::UnaddressedEnhancing) => Subtract(5),
        (ScoringFamily::GoalAlignment, Weight::PartialEnhancing) => Subtract(3),
        // Drift is a property of the whole object and not of each passage that shows it.
        (ScoringFamily::GoalAlignment, Weight::Drift) => SubtractOnce(10),
        (ScoringFamily::GoalAlignment, Weight::MajorDrift) => SubtractOnce(20),
        (ScoringFamily::Tiered | ScoringFamily::Grounding, Weight::Met) => AtMost(FULL),
        (ScoringFamily::Tiered | ScoringFamily::Grounding, Weight::Partly) => AtMost(50),
        (ScoringFamily::Tiered | ScoringFamily::Grounding, Weight::Not)
        | (ScoringFamily::Requirements { .. }, Weight::Blocking) => AtMost(0),
        (ScoringFamily::Requirements { major }, Weight::Major) => Subtract(i32::from(major)),
        _ => return None,
    })
}

/// Computes the score of each metric, in the order of the table. `has_investigation_log`: without it, the metrics of
/// judges that compare with the existing code are not met.
///
/// # Errors
/// Returns the reason for which the judge did not judge: it must judge each metric that has levels, and show a passage
/// for its judgement.
pub fn scores(
    judge: &Judge,
    findings: &[CheckedFinding],
    has_investigation_log: bool,
) -> Result<Vec<f64>, String> {
    let supported = || findings.iter().filter(|finding| finding.is_supported).map(|checked| &checked.finding);
    let has_levels = matches!(judge.family, ScoringFamily::Tiered | ScoringFamily::Grounding);
    let metrics = judge.metrics.iter().map(|(metric, _)| *metric);
    let is_judged = |metric: &&str| supported().any(|finding| finding.metric == *metric);
    let not_judged: Vec<&str> = metrics.clone().filter(|metric| !is_judged(metric)).collect();
    if has_levels && !not_judged.is_empty() {
        return Err(format!("no finding with words of an artifact about {}", not_judged.join(", ")));
    }
    if judge.family == ScoringFamily::Grounding && !has_investigation_log {
        return Ok(metrics.map(|_| 0.0).collect());
    }
    let effects = |metric: &str| {
        let of_metric = supported().filter(move |finding| finding.metric == metric);
        of_metric.filter_map(|finding| effect(judge.family, finding.weight)).collect::<Vec<_>>()
    };
    Ok(metrics.map(|metric| score(&effects(metric))).collect())
}

/// Returns a score between 0 and 1. The order of the effects does not matter.
fn score(effects: &[FindingEffect]) -> f64 {
    let (mut deduction, mut once, mut limit) = (0, 0, FULL);
    for effect in effects {
        match *effect {
            FindingEffect::Subtract(points) => deduction += points,
            FindingEffect::SubtractOnce(points) => once = once.max(points),
            FindingEffect::AtMost(points) => limit = limit.min(points),
        }
    }
    let points = (FULL - deduction - once).clamp(0, limit);
    f64::from(points) / f64::from(FULL)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Category, JUDGES, table};
    use super::*;
    use FindingWeight as Weight;

    fn checked(metric: &'static str, weight: Weight, is_supported: bool) -> CheckedFinding {
        let finding =
            JudgeFinding { metric, weight, place: "a".into(), quote: "b".into(), explanation: "c".into() };
        CheckedFinding { finding, is_supported, is_computed: false }
    }

    fn judge(name: &str) -> &'static Judge {
        JUDGES.iter().find(|judge| judge.name == name).unwrap()
    }

    fn score_of(name: &str, weights: &[(Weight, usize)]) -> f64 {
        let judge = judge(name);
        let findings = weights.iter().flat_map(|(weight, count)| std::iter::repeat_n(*weight, *count));
        let findings: Vec<_> = findings.map(|weight| checked(judge.metrics[0].0, weight, true)).collect();
        scores(judge, &findings, true).unwrap()[0]
    }

    #[test]
    fn each_family_has_its_deductions() {
        for (name, weights, expected) in [
            ("dry-judge", vec![], 1.0),
            ("dry-judge", vec![(Weight::Moderate, 1), (Weight::Minor, 1)], 0.8),
            ("ssot-judge", vec![(Weight::Critical, 1), (Weight::Justified, 2)], 0.8),
            ("kiss-judge", vec![(Weight::Justified, 3)], 1.0),
            ("kiss-judge", vec![(Weight::Critical, 9)], 0.0),
            (
                "goal-alignment-judge",
                vec![(Weight::UnaddressedCritical, 1), (Weight::PartialCritical, 1)],
                0.6,
            ),
            (
                "goal-alignment-judge",
                vec![(Weight::UnaddressedEnhancing, 2), (Weight::PartialEnhancing, 1)],
                0.87,
            ),
            ("goal-alignment-judge", vec![(Weight::Drift, 3)], 0.9),
            ("goal-alignment-judge", vec![(Weight::Drift, 1), (Weight::MajorDrift, 2)], 0.8),
            ("prd-auditor", vec![(Weight::Major, 1), (Weight::Minor, 1)], 0.8),
            ("prd-scope-judge", vec![(Weight::Major, 1), (Weight::Minor, 1)], 0.75),
            ("feature-completeness-judge", vec![(Weight::Blocking, 1)], 0.0),
        ] {
            // Exact: a score of 0.8 must reach a threshold of 0.8.
            assert!((score_of(name, &weights) - expected).abs() < f64::EPSILON, "{name} {weights:?}");
            assert!(score_of(name, &weights) >= expected, "{name} {weights:?}");
        }
    }

    #[test]
    fn metric_with_levels_has_its_lowest_level() {
        let judge = judge("verbosity-judge");
        let [(length, _), (value, _), (detail, _)] = judge.metrics else { panic!("three metrics") };
        let mut findings = vec![
            checked(length, Weight::Met, true),
            checked(value, Weight::Met, true),
            checked(value, Weight::Partly, true),
            checked(detail, Weight::Not, true),
            checked(length, Weight::Not, false),
        ];
        assert_eq!(scores(judge, &findings, false).unwrap(), [1.0, 0.5, 0.0]);
        findings[3].is_supported = false;
        assert_eq!(
            scores(judge, &findings, false).unwrap_err(),
            "no finding with words of an artifact about detail_balance"
        );
    }

    #[test]
    fn unsupported_finding_does_not_count() {
        let findings =
            [checked("dry_score", Weight::Critical, false), checked("dry_score", Weight::Minor, true)];
        assert_eq!(scores(judge("dry-judge"), &findings, true).unwrap(), [0.95]);
    }

    #[test]
    fn nothing_is_grounded_without_an_investigation_log() {
        for judge in JUDGES.iter().filter(|judge| judge.family == ScoringFamily::Grounding) {
            let metrics = judge.metrics.iter();
            let findings: Vec<_> = metrics.map(|(metric, _)| checked(metric, Weight::Met, true)).collect();
            assert!(scores(judge, &findings, true).unwrap().iter().all(|score| *score >= 1.0));
            assert!(scores(judge, &findings, false).unwrap().iter().all(|score| *score <= 0.0));
        }
        assert!(table::find(Category::Plan, "codebase-grounding-judge").is_some());
    }

    #[test]
    fn each_weight_belongs_to_a_judge() {
        for weight in Weight::ALL {
            assert!(JUDGES.iter().any(|judge| effect(judge.family, weight).is_some()), "{weight:?}");
        }
    }

    /// Weights of a family from the mildest to the most severe one.
    fn by_severity(family: ScoringFamily) -> &'static [Weight] {
        match family {
            ScoringFamily::Principle => {
                &[Weight::Justified, Weight::Minor, Weight::Moderate, Weight::Critical]
            }
            ScoringFamily::GoalAlignment => &[
                Weight::PartialEnhancing,
                Weight::UnaddressedEnhancing,
                Weight::PartialCritical,
                Weight::UnaddressedCritical,
            ],
            ScoringFamily::Tiered | ScoringFamily::Grounding => &[Weight::Met, Weight::Partly, Weight::Not],
            ScoringFamily::Requirements { .. } => &[Weight::Minor, Weight::Major, Weight::Blocking],
        }
    }

    prop_compose! {
        /// A judge, and an answer in which it judges each metric.
        fn answers()(index in 0..JUDGES.len())(
            index in Just(index),
            seeds in proptest::collection::vec((any::<usize>(), any::<usize>(), any::<bool>()), 0..20),
        ) -> (&'static Judge, Vec<CheckedFinding>) {
            let judge = &JUDGES[index];
            let weights: Vec<Weight> = Weight::of(judge).collect();
            let mut findings: Vec<_> = seeds
                .iter()
                .map(|(metric, weight, is_supported)| {
                    let (metric, _) = judge.metrics[metric % judge.metrics.len()];
                    checked(metric, weights[weight % weights.len()], *is_supported)
                })
                .collect();
            if matches!(judge.family, ScoringFamily::Tiered | ScoringFamily::Grounding) {
                findings.extend(judge.metrics.iter().map(|(metric, _)| checked(metric, Weight::Met, true)));
            }
            (judge, findings)
        }
    }

    fn never_higher(after: &[f64], before: &[f64]) -> bool {
        after.iter().zip(before).all(|(after, before)| after <= before)
    }

    proptest! {
        #[test]
        fn scores_are_between_0_and_1((judge, findings) in answers(), has_log in any::<bool>()) {
            let scores = scores(judge, &findings, has_log).unwrap();
            prop_assert_eq!(scores.len(), judge.metrics.len());
            prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
        }

        #[test]
        fn order_of_findings_does_not_matter(
            ((judge, findings), shuffled) in answers().prop_flat_map(|(judge, findings)| {
                (Just((judge, findings.clone())), Just(findings).prop_shuffle())
            }),
        ) {
            prop_assert_eq!(scores(judge, &findings, true), scores(judge, &shuffled, true));
        }

        #[test]
        fn more_severe_finding_never_raises_a_score(
            (judge, findings) in answers(), at in any::<usize>(), step in 1..4usize,
        ) {
            let before = scores(judge, &findings, true).unwrap();
            let severities = by_severity(judge.family);
            if !findings.is_empty() {
                let mut after = findings.clone();
                let weight = &mut after[at % findings.len()].finding.weight;
                if let Some(now) = severities.iter().position(|known| known == weight) {
                    *weight = severities[(now + step).min(severities.len() - 1)];
                }
                prop_assert!(never_higher(&scores(judge, &after, true).unwrap(), &before));
            }
            // One more finding that is no credit.
            let (metric, _) = judge.metrics[at % judge.metrics.len()];
            for weight in Weight::of(judge).filter(|weight| *weight != Weight::Justified) {
                let mut after = findings.clone();
                after.push(checked(metric, weight, true));
                prop_assert!(never_higher(&scores(judge, &after, true).unwrap(), &before));
            }
        }

        #[test]
        fn unsupported_findings_change_nothing((judge, findings) in answers(), at in any::<usize>()) {
            let (metric, _) = judge.metrics[at % judge.metrics.len()];
            for weight in Weight::of(judge) {
                let mut after = findings.clone();
                after.push(checked(metric, weight, false));
                prop_assert_eq!(scores(judge, &after, true), scores(judge, &findings, true));
            }
        }
    }
}
