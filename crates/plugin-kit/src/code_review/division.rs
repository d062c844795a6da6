//! Divides a change among the reviewers that read only changed lines. Files that they have read in an earlier review are in no
//! part: their findings are from the cache.

use std::collections::{BTreeMap, BTreeSet};

use loopgate_code_review::diff_data::DiffData;
use loopgate_code_review::finding::{Finding, FindingList};
use loopgate_code_review::findings_cache::CacheLookup;
use loopgate_code_review::partition::{Partition, PartitionLimits, partition};
use loopgate_code_review::route::ReviewRoute;
use serde_json::Value;

use super::agents::ReviewAgents;
use super::cache::{CACHED_AUTHOR, ReviewCache, partition_reviewer};
use super::collect::ENDING;
use super::reviewers::{ChangeReviewer, ReviewPrompts};
use super::run::answer_name;

/// Limits of a part.
const PARTITION_LINES: u64 = 500;
const PARTITION_FILES: usize = 25;

/// A divided change.
#[derive(Debug)]
pub struct DividedChange {
    /// Result of the cache; `None` for a small change, which one reviewer reviews in all respects.
    pub cached: Option<CacheLookup>,
    /// Parts of the change without the files whose findings are cached.
    pub partitions: Vec<Partition>,
}

impl DividedChange {
    /// Divides the files that reviewers read.
    pub fn new(data: &DiffData, route: &ReviewRoute, cache: &ReviewCache) -> Self {
        if route.fast_path {
            return Self { cached: None, partitions: Vec::new() };
        }
        let models = &route.models.bug_hunter_a;
        let found = cache.look_up(data, &[&models.default, &models.test_only]);
        let partitions = usize::try_from(route.max_bha_agents).unwrap_or(1);
        let limits = PartitionLimits { lines: PARTITION_LINES, files: PARTITION_FILES, partitions };
        Self { partitions: partition(&found.uncached, limits).partitions, cached: Some(found) }
    }

    /// Returns whether the author of a finding was given its file, now or in the review from which it is cached.
    pub fn is_assigned(&self, finding: &Finding, reviewers: &[ChangeReviewer]) -> bool {
        let author = finding.more.get("agent").and_then(Value::as_str);
        let files = if author == Some(CACHED_AUTHOR) {
            self.cached.as_ref().map(|found| &found.result.cached_files)
        } else {
            let reviewer = reviewers.iter().find(|reviewer| Some(reviewer.id.as_str()) == author);
            reviewer.and_then(|reviewer| reviewer.files.as_ref())
        };
        files.is_none_or(|files| files.contains(&finding.file))
    }

    /// Stores what the reviewers of parts have found, also if it was discarded: later reviews check it again. `answered`:
    /// names of the answers of this review.
    pub fn store_findings(
        &self,
        cache: &ReviewCache,
        data: &DiffData,
        prompts: &ReviewPrompts,
        agents: &ReviewAgents<'_>,
        answered: &BTreeSet<String>,
    ) {
        let mut answers: BTreeMap<&str, BTreeMap<usize, Vec<Finding>>> = BTreeMap::new();
        for part in &self.partitions {
            let id = partition_reviewer(part);
            let Some(reviewer) = prompts.reviewers.iter().find(|reviewer| reviewer.id == id) else {
                continue;
            };
            let name = answer_name(reviewer);
            // The answer of a smaller model, which replaced a failed one, is not that of a later review.
            let is_of_model = agents.costs().get(&name).is_some_and(|cost| cost.model == reviewer.model);
            if !is_of_model || !answered.contains(&name) {
                continue;
            }
            if let Some(list) = agents.session.read_json::<FindingList>(&format!("{name}{ENDING}")) {
                answers.entry(&reviewer.model).or_default().insert(part.id, list.findings);
            }
        }
        for (model, answers) in answers {
            cache.store(data, model, &self.partitions, answers, &prompts.left_out);
        }
    }
}
