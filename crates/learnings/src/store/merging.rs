//! Merging of learnings into the patterns, and the limit of their number.

use jiff::Timestamp;

use super::{DROP_ORDER, MAX_PATTERNS, MergeReport};
use crate::hostile::is_hostile;
use crate::pattern::{Confidence, Pattern};
use crate::pending::PendingLearning;
use crate::records::{LearningRecords, Record};
use crate::similarity::{Relation, relation};
use crate::toon::PatternFile;

/// Merges one learning into the patterns.
pub(super) fn merge_one(
    file: &mut PatternFile,
    records: &mut LearningRecords,
    candidate: &PendingLearning,
    now: Timestamp,
    report: &mut MergeReport,
) {
    if records.patterns.values().any(|record| record.has_source(&candidate.source)) {
        return;
    }
    if is_hostile(&candidate.summary) {
        report.rejected += 1;
        return;
    }
    let mut removed = records.patterns.values().filter(|record| record.removed);
    if removed.any(|record| relation(&record.summary, &candidate.summary) == Relation::Same) {
        report.skipped += 1;
        return;
    }
    // Patterns of two different repositories may contradict each other without a conflict.
    let overlaps =
        |pattern: &&mut Pattern| pattern.is_general() || pattern.repo.eq_ignore_ascii_case(&candidate.repo);
    let mut conflicts = Vec::new();
    for pattern in file.patterns_mut().filter(overlaps) {
        match relation(&pattern.summary, &candidate.summary) {
            Relation::Same => {
                pattern.seen_count += 1;
                let new = || Record::user_written(pattern, now);
                let record = records.patterns.entry(pattern.id.clone()).or_insert_with(new);
                record.add_source(candidate.source.clone());
                // Learning it again resets the idle time.
                record.learned_at = record.learned_at.max(now);
                record.proposed |= candidate.is_general;
                report.merged += 1;
                return;
            }
            Relation::Conflict => conflicts.push(pattern.clone()),
            Relation::Different => {}
        }
    }
    // Ids of removed rows are not reused: users and logs may refer to them.
    let in_file = file.patterns().map(Pattern::number).max().unwrap_or(0);
    let in_records = records.patterns.keys().filter_map(|id| id.strip_prefix("P-")?.parse().ok()).max();
    let number = in_file.max(in_records.unwrap_or(0)) + 1;
    let pattern = Pattern {
        id: format!("P-{number:03}"),
        category: candidate.category.clone(),
        summary: candidate.summary.clone(),
        confidence: Confidence::Medium,
        seen_count: 1,
        success_rate: None,
        flags: "[UNTESTED]".to_owned(),
        applies_to: candidate.applies_to.clone(),
        context: candidate.context.clone(),
        repo: candidate.repo.clone(),
    };
    let mut record = Record::new(&pattern, now);
    record.add_source(candidate.source.clone());
    record.proposed = candidate.is_general;
    for other in &conflicts {
        let new = || Record::user_written(other, now);
        let other_record = records.patterns.entry(other.id.clone()).or_insert_with(new);
        other_record.conflicts_with.push(pattern.id.clone());
        record.conflicts_with.push(other.id.clone());
    }
    report.conflicts += usize::from(!conflicts.is_empty());
    report.added += 1;
    records.patterns.insert(pattern.id.clone(), record);
    file.push(pattern);
}

/// Drops the least valuable rows until the limit is met. Rows written or edited by the user are preserved.
pub(super) fn cap(file: &mut PatternFile, records: &mut LearningRecords) {
    let excess = file.rows().count().saturating_sub(MAX_PATTERNS);
    let is_removable =
        |pattern: &&Pattern| records.patterns.get(&pattern.id).is_some_and(|record| !record.edited);
    let worth = |pattern: &Pattern| {
        let tier = DROP_ORDER.iter().position(|flag| *flag == pattern.flags);
        (tier.unwrap_or(DROP_ORDER.len()), pattern.seen_count, pattern.number())
    };
    let mut removable: Vec<(_, String)> =
        file.patterns().filter(is_removable).map(|pattern| (worth(pattern), pattern.id.clone())).collect();
    removable.sort_unstable();
    for (_, id) in removable.into_iter().take(excess) {
        file.remove(&id);
        records.patterns.remove(&id);
    }
    for record in records.patterns.values_mut().filter(|record| !record.removed) {
        let exists = |id: &String| file.patterns().any(|pattern| pattern.id == *id);
        record.conflicts_with.retain(exists);
    }
}
