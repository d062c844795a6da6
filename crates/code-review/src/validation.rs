//! Validation of the findings of all reviewers: normalization, findings outside of the change, low confidence,
//! duplicates, and similar findings in several files.

use std::collections::{BTreeMap, BTreeSet};

use loopgate_api::word_similarity::NormalizedText;
use serde::{Deserialize, Serialize};

use crate::diff_data::{ChangeStatus, DiffData, LineRange};
use crate::finding::{Finding, FindingLocation, FindingSide, IssueSeverity};

/// Largest distance of a finding from a changed line, and of two findings about the same place.
pub(crate) const MAX_DISTANCE: u64 = 3;
/// Largest number of a priority whose findings may be far from the change.
const MAX_DISTANT_PRIORITY: u8 = 1;
/// Findings with a lower confidence are discarded, at every priority.
pub const MIN_CONFIDENCE: f64 = 0.5;
/// Findings whose issues are more similar than this report the same defect.
pub(crate) const SAME_ISSUE: f64 = 0.6;

/// Result of a validation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Findings to present, in the order of the input.
    pub validated: Vec<Finding>,
    /// Findings that were left out, with the reasons.
    pub discarded: Vec<DiscardedFinding>,
    /// Number of findings with an unknown severity.
    pub normalization_warnings: u64,
    /// The unknown severities, each once.
    pub non_standard_values: Vec<String>,
    /// Numbers of findings.
    pub stats: ValidationStats,
}

/// A finding that was left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiscardedFinding {
    /// The finding.
    pub finding: Finding,
    /// Why it was left out.
    pub reason: DiscardReason,
}

/// Why a finding was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DiscardReason {
    /// The change does not contain the file.
    #[serde(rename = "DISCARD_FILE_NOT_CHANGED")]
    FileNotChanged,
    /// The line is far from the changed lines.
    #[serde(rename = "DISCARD_LINE_NOT_CHANGED")]
    LineNotChanged,
    /// The reviewer is not sure.
    #[serde(rename = "DISCARD_LOW_CONFIDENCE")]
    LowConfidence,
    /// The severity is not reported.
    #[serde(rename = "DISCARD_LOW_SEVERITY")]
    LowSeverity,
    /// Another finding reports the same.
    #[serde(rename = "DISCARD_DUPLICATE")]
    Duplicate,
    /// The change does not contain the line.
    #[serde(rename = "DISCARD_LINE_NOT_IN_DIFF")]
    LineNotInDiff,
    /// The line does not contain the quoted words.
    #[serde(rename = "DISCARD_NOT_QUOTED")]
    NotQuoted,
    /// The reviewer was given other files.
    #[serde(rename = "DISCARD_NOT_ASSIGNED")]
    NotAssigned,
    /// A second reviewer could disprove the finding.
    #[serde(rename = "DISCARD_DISPROVED")]
    Disproved,
}

/// Numbers of findings. The input consists of the validated, the discarded and the grouped ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidationStats {
    /// Findings of the input.
    pub total_input: u64,
    /// Validated findings.
    pub validated: u64,
    /// Findings that became a further location of a similar one in another file.
    pub cross_file_grouped: u64,
    /// See [`DiscardReason::FileNotChanged`].
    pub discarded_file_not_changed: u64,
    /// See [`DiscardReason::LineNotChanged`].
    pub discarded_line_not_changed: u64,
    /// See [`DiscardReason::LowConfidence`].
    pub discarded_low_confidence: u64,
    /// See [`DiscardReason::LowSeverity`].
    pub discarded_low_severity: u64,
    /// See [`DiscardReason::Duplicate`].
    pub discarded_duplicate: u64,
    /// Findings that are not about a line of the change, or of another reviewer's files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub discarded_unsupported: u64,
    /// See [`DiscardReason::Disproved`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub discarded_disproved: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes members by reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Validates findings against the change that they were written about.
#[must_use]
pub fn validate(findings: Vec<Finding>, data: &DiffData) -> Validation {
    let mut validation = Validation::default();
    validation.stats.total_input = findings.len() as u64;
    let files: BTreeSet<&str> = data.files_to_review.iter().map(String::as_str).collect();
    let mut accepted = Vec::new();
    for mut finding in findings {
        validation.normalize(&mut finding);
        match reason_to_discard(&finding, data, &files) {
            Some(reason) => validation.discard(finding, reason),
            None => accepted.push(finding),
        }
    }
    let merged = validation.merge(accepted, |one, other| {
        one.finding.category == other.finding.category
            || !one.finding.recommendation.is_empty()
                && one.finding.recommendation == other.finding.recommendation
    });
    let merged = validation.merge(merged, CandidateFinding::has_same_issue);
    validation.validated = validation.group(merged);
    validation.stats.validated = validation.validated.len() as u64;
    validation
}

/// A finding with its normalized issue.
struct CandidateFinding {
    finding: Finding,
    issue: NormalizedText,
}

impl CandidateFinding {
    fn new(finding: Finding) -> Self {
        Self { issue: NormalizedText::new(&finding.issue), finding }
    }

    fn has_same_issue(&self, other: &Self) -> bool {
        self.issue.words().similarity(&other.issue.words()) > SAME_ISSUE
    }

    /// Returns whether both findings are about the same place of a file.
    fn is_near(&self, other: &Self) -> bool {
        let side = |finding: &Finding| finding.side == Some(FindingSide::Left);
        side(&self.finding) == side(&other.finding)
            && match (self.finding.line, other.finding.line) {
                (Some(one), Some(other)) => one.abs_diff(other) <= MAX_DISTANCE,
                (one, other) => one == other,
            }
    }

    fn is_more_severe(&self, other: &Self) -> bool {
        self.finding.severity.priority() < other.finding.severity.priority()
    }
}

impl Validation {
    /// Replaces an unknown severity, and adds missing members.
    fn normalize(&mut self, finding: &mut Finding) {
        if let IssueSeverity::Other(value) = &finding.severity {
            self.normalization_warnings += 1;
            if !self.non_standard_values.contains(value) {
                self.non_standard_values.push(value.clone());
            }
            finding.severity = IssueSeverity::Medium;
        }
        finding.priority.get_or_insert(finding.severity.priority());
        finding.confidence.get_or_insert(1.0);
    }

    /// Adds findings that were left out before the validation.
    pub fn add_discarded(&mut self, discarded: impl IntoIterator<Item = DiscardedFinding>) {
        for DiscardedFinding { mut finding, reason } in discarded {
            self.normalize(&mut finding);
            self.stats.total_input += 1;
            self.discard(finding, reason);
        }
    }

    /// Leaves out validated findings that a function rejects.
    pub fn reject(&mut self, mut reason: impl FnMut(&Finding) -> Option<DiscardReason>) {
        for finding in std::mem::take(&mut self.validated) {
            match reason(&finding) {
                Some(reason) => self.discard(finding, reason),
                None => self.validated.push(finding),
            }
        }
        self.stats.validated = self.validated.len() as u64;
    }

    fn discard(&mut self, finding: Finding, reason: DiscardReason) {
        let count = match reason {
            DiscardReason::FileNotChanged => &mut self.stats.discarded_file_not_changed,
            DiscardReason::LineNotChanged => &mut self.stats.discarded_line_not_changed,
            DiscardReason::LowConfidence => &mut self.stats.discarded_low_confidence,
            DiscardReason::LowSeverity => &mut self.stats.discarded_low_severity,
            DiscardReason::Duplicate => &mut self.stats.discarded_duplicate,
            DiscardReason::LineNotInDiff | DiscardReason::NotQuoted | DiscardReason::NotAssigned => {
                &mut self.stats.discarded_unsupported
            }
            DiscardReason::Disproved => &mut self.stats.discarded_disproved,
        };
        *count += 1;
        self.discarded.push(DiscardedFinding { finding, reason });
    }

    /// Merges findings about the same place of a file. The more severe one remains, at the position of the first.
    fn merge(
        &mut self,
        findings: Vec<Finding>,
        is_same: impl Fn(&CandidateFinding, &CandidateFinding) -> bool,
    ) -> Vec<Finding> {
        let mut merged: Vec<CandidateFinding> = Vec::new();
        // Only findings of one file are compared: the number of all pairs is quadratic.
        let mut by_file: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for finding in findings {
            let mut finding = CandidateFinding::new(finding);
            let indices = by_file.entry(finding.finding.file.clone()).or_default();
            let duplicate = indices
                .iter()
                .copied()
                .find(|index| merged[*index].is_near(&finding) && is_same(&merged[*index], &finding));
            match duplicate {
                Some(index) => {
                    if finding.is_more_severe(&merged[index]) {
                        std::mem::swap(&mut merged[index], &mut finding);
                    }
                    self.discard(finding.finding, DiscardReason::Duplicate);
                }
                None => {
                    indices.push(merged.len());
                    merged.push(finding);
                }
            }
        }
        merged.into_iter().map(|finding| finding.finding).collect()
    }

    /// Groups similar findings of one category in several files: the most severe one lists the locations of the others.
    /// Findings of one file are never grouped: they are about different places.
    fn group(&mut self, findings: Vec<Finding>) -> Vec<Finding> {
        let mut groups: Vec<Vec<CandidateFinding>> = Vec::new();
        let mut by_category: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for finding in findings.into_iter().map(CandidateFinding::new) {
            let indices = by_category.entry(finding.finding.category.clone()).or_default();
            let group = indices.iter().copied().find(|index| {
                let group = &groups[*index];
                group.iter().all(|other| other.finding.file != finding.finding.file)
                    && group[0].has_same_issue(&finding)
            });
            match group {
                Some(index) => groups[index].push(finding),
                None => {
                    indices.push(groups.len());
                    groups.push(vec![finding]);
                }
            }
        }
        let primary = |mut group: Vec<CandidateFinding>| {
            let mut index = 0;
            for candidate in 1..group.len() {
                if group[candidate].is_more_severe(&group[index]) {
                    index = candidate;
                }
            }
            let mut primary = group.remove(index).finding;
            self.stats.cross_file_grouped += group.len() as u64;
            primary.other_locations.extend(group.into_iter().flat_map(|other| {
                let Finding { file, line, severity, other_locations, .. } = other.finding;
                std::iter::once(FindingLocation { file, line, severity }).chain(other_locations)
            }));
            primary
        };
        groups.into_iter().map(primary).collect()
    }
}

/// Applies the rules in their order.
fn reason_to_discard(finding: &Finding, data: &DiffData, files: &BTreeSet<&str>) -> Option<DiscardReason> {
    if finding.severity == IssueSeverity::Low {
        return Some(DiscardReason::LowSeverity);
    }
    if !files.contains(finding.file.as_str()) {
        return Some(DiscardReason::FileNotChanged);
    }
    let may_be_distant = finding.priority.is_some_and(|priority| priority <= MAX_DISTANT_PRIORITY);
    if !may_be_distant && !is_near_change(finding, data) {
        return Some(DiscardReason::LineNotChanged);
    }
    // Also for a value that is not a number.
    let is_sure = finding.confidence.is_some_and(|confidence| confidence >= MIN_CONFIDENCE);
    (!is_sure).then_some(DiscardReason::LowConfidence)
}

/// Returns whether the line of a finding is near a changed line. Lines of the old file are compared with removed lines,
/// lines of the new file with added lines and with the places where lines were removed.
fn is_near_change(finding: &Finding, data: &DiffData) -> bool {
    let (Some(line), Some(ranges)) = (finding.line, data.changed_ranges.get(&finding.file)) else {
        return false;
    };
    let is_near = |[first, last]: LineRange| {
        line.saturating_add(MAX_DISTANCE) >= first && line <= last.saturating_add(MAX_DISTANCE)
    };
    // A removed file has only old lines.
    let is_removed = data.file_statuses.get(&finding.file) == Some(&ChangeStatus::Removed);
    if is_removed || finding.side == Some(FindingSide::Left) {
        return ranges.removed.iter().copied().any(is_near);
    }
    // The line before which lines were removed, and the line above it.
    let removed_at = ranges.removed_at.iter().map(|line| [line.saturating_sub(1), *line]);
    ranges.added.iter().copied().chain(removed_at).any(is_near)
}

#[cfg(test)]
mod tests;
