use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::diff_data::ChangedRanges;

/// Files whose lines 20 to 30 were added, and lines 100 to 102 removed before line 200.
fn data(files: &[&str]) -> DiffData {
    let ranges = ChangedRanges { added: vec![[20, 30]], removed: vec![[100, 102]], removed_at: vec![200] };
    DiffData {
        files_to_review: files.iter().map(|file| (*file).to_owned()).collect(),
        changed_ranges: files.iter().map(|file| ((*file).to_owned(), ranges.clone())).collect(),
        ..DiffData::default()
    }
}

fn finding(members: Value) -> Finding {
    let mut finding =
        json!({"file": "a.rs", "line": 25, "severity": "MEDIUM", "category": "Bug", "issue": "x"});
    finding.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    serde_json::from_value(finding).unwrap()
}

fn validated(members: &[Value]) -> Validation {
    let findings = members.iter().cloned().map(finding).collect();
    validate(findings, &data(&["a.rs", "b.rs", "c.rs"]))
}

/// Reason for which a single finding is discarded.
fn reason(members: Value) -> Option<DiscardReason> {
    let validation = validated(&[members]);
    assert_eq!(validation.validated.len() + validation.discarded.len(), 1);
    validation.discarded.first().map(|discarded| discarded.reason)
}

// PR-15
#[test]
fn severities_are_normalized() {
    let validation = validated(&[
        json!({"severity": "Critical", "category": "1"}),
        json!({"severity": "Low", "category": "2"}),
        json!({"severity": "weird", "category": "3", "issue": "other"}),
        json!({"severity": "hIgH", "category": "4", "issue": "third"}),
    ]);
    let severities: Vec<(IssueSeverity, Option<u8>)> =
        validation.validated.iter().map(|finding| (finding.severity.clone(), finding.priority)).collect();
    let expected = [
        (IssueSeverity::Blocking, Some(0)),
        (IssueSeverity::Medium, Some(2)),
        (IssueSeverity::High, Some(1)),
    ];
    assert_eq!(severities, expected);
    assert_eq!(validation.discarded[0].reason, DiscardReason::LowSeverity);
    assert_eq!(
        (validation.normalization_warnings, validation.non_standard_values.as_slice()),
        (1, ["weird".to_owned()].as_slice())
    );
    assert!(validation.validated.iter().all(|finding| finding.confidence == Some(1.0)));
    let value = serde_json::to_value(&validation).unwrap();
    assert_eq!(value["discarded"][0]["reason"], "DISCARD_LOW_SEVERITY");
    assert_eq!(
        value["stats"],
        json!({"total_input": 4, "validated": 3, "cross_file_grouped": 0, "discarded_file_not_changed": 0,
            "discarded_line_not_changed": 0, "discarded_low_confidence": 0, "discarded_low_severity": 1,
            "discarded_duplicate": 0})
    );
}

// PR-16
#[test]
fn medium_finding_far_from_the_change_is_discarded() {
    for line in [17, 33] {
        assert_eq!(reason(json!({"line": line})), None, "{line}");
    }
    for line in [json!(16), json!(34), json!(null), json!(101)] {
        assert_eq!(reason(json!({"line": line})), Some(DiscardReason::LineNotChanged), "{line}");
        assert_eq!(reason(json!({"line": line, "severity": "HIGH"})), None, "{line}");
        assert_eq!(reason(json!({"line": line, "priority": 1})), None, "{line}");
    }
    assert_eq!(reason(json!({"file": "A.rs", "severity": "BLOCKING"})), Some(DiscardReason::FileNotChanged));
}

#[test]
fn old_lines_are_compared_with_removed_lines() {
    assert_eq!(reason(json!({"line": 99, "side": "LEFT"})), None);
    assert_eq!(reason(json!({"line": 25, "side": "LEFT"})), Some(DiscardReason::LineNotChanged));
    // The place of removed lines in the new file.
    for line in [196, 199, 200, 203] {
        assert_eq!(reason(json!({"line": line})), None, "{line}");
    }
    assert_eq!(reason(json!({"line": 195})), Some(DiscardReason::LineNotChanged));
    assert_eq!(reason(json!({"line": 204})), Some(DiscardReason::LineNotChanged));
    let mut removed = data(&["a.rs"]);
    removed.file_statuses.insert("a.rs".to_owned(), ChangeStatus::Removed);
    assert_eq!(validate(vec![finding(json!({"line": 101}))], &removed).validated.len(), 1);
}

// PR-17
#[test]
fn unsure_finding_is_discarded_at_every_priority() {
    assert_eq!(reason(json!({"confidence": 0.49})), Some(DiscardReason::LowConfidence));
    assert_eq!(reason(json!({"confidence": 0.5})), None);
    let unsure = json!({"severity": "BLOCKING", "priority": 0, "confidence": 0.49});
    let validation = validated(&[unsure]);
    assert_eq!(validation.discarded[0].reason, DiscardReason::LowConfidence);
    assert_ne!(crate::verdict::verdict(&validation).verdict, loopgate_api::review::VerdictKind::Decline);
}

// PR-18
#[test]
fn findings_about_one_place_are_merged_into_the_more_severe() {
    let validation = validated(&[
        json!({"line": 22, "issue": "one"}),
        json!({"line": 24, "severity": "HIGH", "issue": "two"}),
        json!({"line": 28, "issue": "three"}),
        json!({"line": 24, "side": "LEFT", "issue": "four", "severity": "HIGH"}),
    ]);
    let titles: Vec<&str> = validation.validated.iter().map(|finding| finding.issue.as_str()).collect();
    assert_eq!(titles, ["two", "three", "four"]);
    assert_eq!(validation.validated[0].priority, Some(1));
    assert_eq!(validation.discarded[0].finding.issue, "one");
    assert_eq!(validation.discarded[0].reason, DiscardReason::Duplicate);
    // The same recommendation, or the same words, in another category.
    for (members, count) in [
        (json!({"category": "Other", "issue": "y", "recommendation": "Use a lock"}), 1),
        (json!({"category": "Other", "issue": "y"}), 2),
        (json!({"category": "Other", "issue": "X!"}), 1),
        (json!({"category": "Other", "issue": "X!", "line": 29}), 2),
    ] {
        let validation = validated(&[json!({"recommendation": "Use a lock"}), members.clone()]);
        assert_eq!(validation.validated.len(), count, "{members}");
    }
}

// PR-19
#[test]
fn similar_findings_in_several_files_become_one() {
    let issue = "the lock is not released on errors";
    let validation = validated(&[
        json!({"file": "a.rs", "issue": issue}),
        json!({"file": "b.rs", "issue": issue, "severity": "HIGH"}),
        json!({"file": "c.rs", "issue": "the lock is never released on errors", "line": 21}),
        json!({"file": "c.rs", "issue": issue, "category": "Style"}),
        // Findings of one file at different places are different findings.
        json!({"file": "a.rs", "issue": issue, "line": 30}),
    ]);
    let [primary, style, other] = validation.validated.as_slice() else { panic!("{validation:?}") };
    let location = |file: &str, line| FindingLocation {
        file: file.to_owned(),
        line: Some(line),
        severity: IssueSeverity::Medium,
    };
    assert_eq!((primary.file.as_str(), &primary.severity), ("b.rs", &IssueSeverity::High));
    assert_eq!(primary.other_locations, [location("a.rs", 25), location("c.rs", 21)]);
    assert_eq!((style.category.as_str(), other.line), ("Style", Some(30)));
    assert_eq!((validation.stats.cross_file_grouped, validation.discarded.len()), (2, 0));
}

proptest! {
    #[test]
    fn every_finding_is_in_exactly_one_place(
        parts in proptest::collection::vec(
            ("[abz]\\.rs", 15..35_u64, "(LOW|medium|HIGH|critical|odd)", "[XY]", "[pq]( [pq])?", 0.3..1.0_f64), 0..20,
        ),
    ) {
        let findings = parts.iter().map(|(file, line, severity, category, issue, confidence)| finding(json!({
            "file": file, "line": line, "severity": severity, "category": category, "issue": issue, "confidence": confidence,
        })));
        let data = data(&["a.rs", "b.rs"]);
        let validation = validate(findings.collect(), &data);
        let stats = validation.stats;
        prop_assert_eq!(stats.total_input, parts.len() as u64);
        prop_assert_eq!(stats.validated + validation.discarded.len() as u64 + stats.cross_file_grouped, stats.total_input);
        let locations: u64 = validation.validated.iter().map(|finding| finding.other_locations.len() as u64).sum();
        prop_assert_eq!(locations, stats.cross_file_grouped);
        // A validated list is unchanged by another validation.
        let again = validate(validation.validated.clone(), &data);
        prop_assert_eq!(again.validated.len() as u64 + again.stats.cross_file_grouped + again.stats.discarded_duplicate, stats.validated);
        let accepted = |finding: &Finding| data.files_to_review.contains(&finding.file)
            && finding.confidence >= Some(MIN_CONFIDENCE) && finding.severity.priority() <= 2;
        prop_assert!(validation.validated.iter().all(accepted));
    }
}
