//! Cache of findings about files whose change was reviewed before: `manifest.json`.
//!
//! Only findings of reviewers that read nothing but the changed lines of a file are cached. They depend on the model, the
//! prompt, the changed lines and the common ancestor with the base, which are the key of a slot.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::diff_data::{DiffData, PatchLines};
use crate::finding::Finding;
use crate::partition::Partition;

/// Version of a slot.
const VERSION: u64 = 2;
/// Slots of a file.
const MAX_SLOTS: usize = 3;
/// Seconds without a hit after which a slot is evicted: 14 days.
const MAX_AGE: u64 = 14 * 24 * 60 * 60;

/// What the findings of a review depend on, in addition to the changed lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheContext {
    /// Model of the reviewers.
    pub model_id: String,
    /// Hash of their prompt.
    pub prompt_hash: String,
    /// Common ancestor of the change and its base.
    pub context_key: String,
}

impl CacheContext {
    /// Returns the key of a slot.
    fn composite(&self, patch_hash: &str) -> String {
        digest([self.model_id.as_str(), &self.prompt_hash, patch_hash, &self.context_key])
    }
}

/// Cached findings by path and key. Reads the format without keys, version 1, with one slot for each file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FindingsCache(BTreeMap<String, CachedFile>);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
struct CachedFile(BTreeMap<String, CachedFindings>);

/// Findings about a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CachedFindings {
    schema_version: u64,
    model_id: String,
    prompt_hash: String,
    patch_hash: String,
    #[serde(default)]
    context_key: String,
    findings: Vec<Finding>,
    /// Unix time in seconds.
    cached_at: u64,
    #[serde(default)]
    last_hit_at: u64,
    #[serde(default)]
    hit_count: u64,
}

impl CachedFindings {
    fn last_use(&self) -> u64 {
        self.cached_at.max(self.last_hit_at)
    }

    fn context(&self) -> CacheContext {
        CacheContext {
            model_id: self.model_id.clone(),
            prompt_hash: self.prompt_hash.clone(),
            context_key: self.context_key.clone(),
        }
    }
}

impl TryFrom<Value> for CachedFile {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, serde_json::Error> {
        if value["schema_version"].is_number() {
            let findings = CachedFindings { schema_version: VERSION, ..serde_json::from_value(value)? };
            return Ok(Self([(findings.context().composite(&findings.patch_hash), findings)].into()));
        }
        serde_json::from_value(value).map(Self)
    }
}

/// Content of `cache_result.json`: which files need no review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheResult {
    /// Files whose findings are cached.
    pub cached_files: Vec<String>,
    /// The other files.
    pub uncached_files: Vec<String>,
    /// Their numbers.
    pub stats: CacheStats,
    /// Whether the cache was of use.
    pub status_kind: CacheStatus,
    /// The same as a sentence.
    pub status_message: String,
}

/// Numbers of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheStats {
    /// All changed files.
    pub total_files: usize,
    /// Files whose findings are cached.
    pub cached: usize,
    /// The other files.
    pub uncached: usize,
    /// Part of the cached files in percent, rounded down.
    pub hit_rate_pct: usize,
}

/// Whether a cache was of use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheStatus {
    /// Findings of some files are cached.
    Hits,
    /// The cache is empty.
    FirstRun,
    /// The cache contains findings, but all files have changed.
    AllChanged,
    /// The cache could not be read.
    #[default]
    FallbackError,
}

/// Result of a look-up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CacheLookup {
    /// Which files need no review.
    pub result: CacheResult,
    /// Findings of the cached files.
    pub findings: Vec<Finding>,
    /// The change without the cached files.
    pub uncached: DiffData,
}

impl CacheLookup {
    /// Returns the result for a cache that cannot be read: every file is reviewed.
    #[must_use]
    pub fn failed(data: &DiffData, reason: &str) -> Self {
        let message = format!("Cache not used: {reason}");
        Self::new(data, BTreeMap::new(), CacheStatus::FallbackError, message)
    }

    fn new(
        data: &DiffData,
        mut cached: BTreeMap<&str, Vec<Finding>>,
        status_kind: CacheStatus,
        status_message: String,
    ) -> Self {
        let (cached_files, uncached_files): (Vec<String>, Vec<String>) =
            data.files_to_review.iter().cloned().partition(|path| cached.contains_key(path.as_str()));
        let (total_files, hits) = (data.files_to_review.len(), cached_files.len());
        let stats = CacheStats {
            total_files,
            cached: hits,
            uncached: uncached_files.len(),
            hit_rate_pct: (hits * 100).checked_div(total_files).unwrap_or(0),
        };
        let findings =
            cached_files.iter().filter_map(|path| cached.remove(path.as_str())).flatten().collect();
        let uncached = data.with_files(&uncached_files.iter().map(String::as_str).collect());
        let result = CacheResult { cached_files, uncached_files, stats, status_kind, status_message };
        Self { result, findings, uncached }
    }
}

impl FindingsCache {
    /// Looks up the files of a change, and records the hits. `contexts`: those of the models that may have reviewed a file,
    /// the preferred one first. `now`: Unix time in seconds.
    pub fn look_up(&mut self, data: &DiffData, contexts: &[CacheContext], now: u64) -> CacheLookup {
        let is_empty = self.0.values().all(|file| file.0.is_empty());
        let mut cached = BTreeMap::new();
        for path in &data.files_to_review {
            let Some(CachedFile(slots)) = self.0.get_mut(path) else { continue };
            let patch_hash = patch_hash(path, data);
            // The hash decides; the file may only be of another version.
            let is_current = |key: &String| slots.get(key).is_some_and(|slot| slot.schema_version == VERSION);
            let key = contexts.iter().map(|context| context.composite(&patch_hash)).find(is_current);
            let Some(slot) = key.and_then(|key| slots.get_mut(&key)) else { continue };
            slot.last_hit_at = now;
            slot.hit_count += 1;
            cached.insert(path.as_str(), slot.findings.clone());
        }
        let (hits, total) = (cached.len(), data.files_to_review.len());
        let (status, message) = match (hits, is_empty) {
            (0, true) => (CacheStatus::FirstRun, "Cache empty: all files are reviewed".to_owned()),
            (0, false) => (CacheStatus::AllChanged, "Cache without hits: all files are reviewed".to_owned()),
            _ => {
                (CacheStatus::Hits, format!("Cache: {hits} of {total} files are not searched for bugs again"))
            }
        };
        CacheLookup::new(data, cached, status, message)
    }

    /// Stores the findings about reviewed files, also if there are none, and evicts slots. `now`: Unix time in seconds.
    pub fn store(
        &mut self,
        data: &DiffData,
        context: &CacheContext,
        reviewed: &BTreeSet<&str>,
        findings: &[Finding],
        now: u64,
    ) {
        for path in data.files_to_review.iter().filter(|path| reviewed.contains(path.as_str())) {
            let patch_hash = patch_hash(path, data);
            let key = context.composite(&patch_hash);
            let slot = CachedFindings {
                schema_version: VERSION,
                model_id: context.model_id.clone(),
                prompt_hash: context.prompt_hash.clone(),
                patch_hash,
                context_key: context.context_key.clone(),
                findings: findings.iter().filter(|finding| finding.file == *path).cloned().collect(),
                cached_at: now,
                last_hit_at: 0,
                hit_count: 0,
            };
            self.0.entry(path.clone()).or_default().0.insert(key, slot);
        }
        self.evict(now);
    }

    fn evict(&mut self, now: u64) {
        self.0.retain(|_, CachedFile(slots)| {
            slots.retain(|_, slot| slot.last_use().saturating_add(MAX_AGE) > now);
            while slots.len() > MAX_SLOTS {
                let oldest = slots.iter().min_by_key(|(_, slot)| slot.last_use()).map(|(key, _)| key.clone());
                oldest.map(|key| slots.remove(&key));
            }
            !slots.is_empty()
        });
    }
}

/// Returns the files whose reviewers have all succeeded. A file whose line ranges are in several partitions needs all of
/// them. `succeeded`: ids of partitions.
#[must_use]
pub fn reviewed_files<'a>(partitions: &'a [Partition], succeeded: &BTreeSet<usize>) -> BTreeSet<&'a str> {
    let files = |is_complete: bool| {
        let partitions =
            partitions.iter().filter(move |partition| succeeded.contains(&partition.id) == is_complete);
        partitions.flat_map(|partition| partition.files.iter().map(|entry| entry.file.as_str()))
    };
    let incomplete: BTreeSet<&str> = files(false).collect();
    files(true).filter(|file| !incomplete.contains(file)).collect()
}

/// Returns the hash of a file's changed lines: of the path and of the lines as JSON with sorted keys.
fn patch_hash(path: &str, data: &DiffData) -> String {
    let no_lines = PatchLines::default();
    let lines = data.patch_lines.get(path).unwrap_or(&no_lines);
    let sorted = |lines: &BTreeMap<u64, String>| -> BTreeMap<String, String> {
        lines.iter().map(|(number, text)| (number.to_string(), text.clone())).collect()
    };
    let mut parts = BTreeMap::from([
        ("added_lines", sorted(&lines.added_lines)),
        ("removed_lines", sorted(&lines.removed_lines)),
    ]);
    if !lines.context_lines.is_empty() {
        parts.insert("context_lines", sorted(&lines.context_lines));
    }
    // Maps of texts can always be serialized.
    digest([path, &serde_json::to_string(&parts).unwrap_or_default()])
}

/// Returns the hash of texts in hexadecimal digits.
fn digest<const N: usize>(parts: [&str; N]) -> String {
    Sha256::digest(parts.join("\0")).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::diff_data::ChangedLineCount;
    use crate::partition::PartitionLimits;

    const DAY: u64 = 24 * 60 * 60;

    fn data(files: &[(&str, &str)]) -> DiffData {
        let mut data = DiffData::default();
        for (path, text) in files {
            data.files_to_review.push((*path).to_owned());
            let added_lines = BTreeMap::from([(2, (*text).to_owned())]);
            data.patch_lines.insert((*path).to_owned(), PatchLines { added_lines, ..PatchLines::default() });
            data.file_loc.insert((*path).to_owned(), ChangedLineCount { added: 1, removed: 0 });
            data.total_loc += 1;
        }
        data
    }

    fn context(prompt: &str) -> CacheContext {
        CacheContext { model_id: "opus".into(), prompt_hash: prompt.into(), context_key: "abc".into() }
    }

    fn finding(file: &str, issue: &str) -> Finding {
        serde_json::from_value(json!({"file": file, "line": 2, "severity": "HIGH", "issue": issue})).unwrap()
    }

    fn stored(data: &DiffData, findings: &[Finding], now: u64) -> FindingsCache {
        let mut cache = FindingsCache::default();
        let reviewed = data.files_to_review.iter().map(String::as_str).collect();
        cache.store(data, &context("p"), &reviewed, findings, now);
        cache
    }

    // PR-22
    #[test]
    fn unchanged_files_hit_and_others_miss() {
        let change = data(&[("a.rs", "one"), ("b.rs", "two")]);
        let empty = FindingsCache::default().look_up(&change, &[context("p")], 5);
        assert_eq!((empty.result.status_kind, empty.uncached), (CacheStatus::FirstRun, change.clone()));
        let mut cache = stored(&change, &[finding("a.rs", "x"), finding("other.rs", "y")], 1);
        let hits = cache.look_up(&change, &[context("p")], 5);
        assert_eq!(
            serde_json::to_value(&hits.result).unwrap(),
            json!({"cached_files": ["a.rs", "b.rs"], "uncached_files": [],
                "stats": {"total_files": 2, "cached": 2, "uncached": 0, "hit_rate_pct": 100}, "status_kind": "hits",
                "status_message": "Cache: 2 of 2 files are not searched for bugs again"})
        );
        assert_eq!(hits.findings, [finding("a.rs", "x")]);
        assert_eq!(hits.uncached.files_to_review, [""; 0]);
        let changed = data(&[("a.rs", "one"), ("b.rs", "three")]);
        let part = cache.look_up(&changed, &[context("p")], 6);
        assert_eq!((part.result.stats.hit_rate_pct, part.uncached), (50, data(&[("b.rs", "three")])));
        for other in [
            context("q"),
            CacheContext { model_id: "haiku".into(), ..context("p") },
            CacheContext { context_key: String::new(), ..context("p") },
        ] {
            let missed = cache.look_up(&change, std::slice::from_ref(&other), 7);
            assert_eq!(missed.result.status_kind, CacheStatus::AllChanged, "{other:?}");
        }
        let failed = CacheLookup::failed(&change, "manifest.json is malformed");
        assert_eq!((failed.result.status_kind, failed.uncached), (CacheStatus::FallbackError, change));
    }

    #[test]
    fn slots_are_evicted_by_age_and_number() {
        let versions: Vec<DiffData> =
            ["1", "2", "3", "4"].iter().map(|text| data(&[("a.rs", text)])).collect();
        let mut cache = stored(&versions[0], &[], 1);
        let reviewed = BTreeSet::from(["a.rs"]);
        for (now, version) in (2..).zip(&versions[1..3]) {
            cache.store(version, &context("p"), &reviewed, &[], now);
        }
        // A hit makes the first version the newest.
        assert_eq!(cache.look_up(&versions[0], &[context("p")], 9).result.stats.cached, 1);
        cache.store(&versions[3], &context("p"), &reviewed, &[], 10);
        let hits: Vec<usize> = versions
            .iter()
            .map(|version| cache.clone().look_up(version, &[context("p")], 11).result.stats.cached)
            .collect();
        assert_eq!(hits, [1, 0, 1, 1]);
        let mut later = cache.clone();
        later.store(&data(&[]), &context("p"), &BTreeSet::new(), &[], 9 + 14 * DAY);
        assert_eq!(later.0["a.rs"].0.len(), 1);
        later.store(&data(&[]), &context("p"), &BTreeSet::new(), &[], 10 + 14 * DAY);
        assert_eq!(later, FindingsCache::default());
    }

    #[test]
    fn first_version_is_read() {
        let change = data(&[("a.rs", "one")]);
        let v1 = json!({"a.rs": {"schema_version": 1, "model_id": "opus", "prompt_hash": "p", "context_key": "abc",
            "patch_hash": patch_hash("a.rs", &change), "findings": [{"file": "a.rs", "issue": "x"}], "cached_at": 5}});
        let mut cache: FindingsCache = serde_json::from_value(v1).unwrap();
        assert_eq!(cache.look_up(&change, &[context("p")], 9).findings[0].issue, "x");
        let written = serde_json::to_value(&cache).unwrap();
        let (key, slot) = written["a.rs"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(*key, context("p").composite(&patch_hash("a.rs", &change)));
        let times = [&slot["schema_version"], &slot["cached_at"], &slot["last_hit_at"], &slot["hit_count"]];
        assert_eq!(times.map(Value::as_u64), [2, 5, 9, 1].map(Some));
        for corrupt in
            [json!({"a.rs": 5}), json!({"a.rs": {"x": {}}}), json!({"a.rs": {"schema_version": 1}})]
        {
            assert!(serde_json::from_value::<FindingsCache>(corrupt).is_err());
        }
    }

    #[test]
    fn hash_is_that_of_path_and_sorted_lines() {
        let mut data = data(&[("a.rs", "x")]);
        let lines = data.patch_lines.get_mut("a.rs").unwrap();
        lines.added_lines.insert(10, "y\"".to_owned());
        let expected = r#"{"added_lines":{"10":"y\"","2":"x"},"removed_lines":{}}"#;
        assert_eq!(patch_hash("a.rs", &data), digest(["a.rs", expected]));
        assert_eq!(digest(["", ""]).len(), 64);
    }

    #[test]
    fn file_is_reviewed_if_all_its_partitions_are() {
        let mut change = data(&[("a.rs", "x"), ("tests/b.rs", "y")]);
        change.file_loc.insert("a.rs".into(), ChangedLineCount { added: 900, removed: 0 });
        change.total_loc = 901;
        change.changed_ranges.entry("a.rs".into()).or_default().added.push([1, 900]);
        let partitions = crate::partition::partition(&change, PartitionLimits::default()).partitions;
        let ids_of = |file: &str| -> BTreeSet<usize> {
            let has = |partition: &&Partition| partition.files.iter().any(|entry| entry.file == file);
            partitions.iter().filter(has).map(|partition| partition.id).collect()
        };
        let all: BTreeSet<usize> = partitions.iter().map(|partition| partition.id).collect();
        assert!(ids_of("a.rs").len() > 1);
        assert_eq!(reviewed_files(&partitions, &all), BTreeSet::from(["a.rs", "tests/b.rs"]));
        let without_one = all.iter().copied().filter(|id| Some(id) != ids_of("a.rs").first()).collect();
        assert!(!reviewed_files(&partitions, &without_one).contains("a.rs"));
        assert!(reviewed_files(&partitions, &BTreeSet::new()).is_empty());
    }

    #[test]
    fn file_may_have_been_reviewed_by_one_of_several_models() {
        let change = data(&[("a.rs", "one"), ("tests/b.rs", "two")]);
        let of = |model: &str| CacheContext { model_id: model.into(), ..context("p") };
        let mut cache = FindingsCache::default();
        cache.store(&change, &of("large"), &BTreeSet::from(["a.rs"]), &[finding("a.rs", "x")], 1);
        cache.store(&change, &of("small"), &BTreeSet::from(["tests/b.rs"]), &[], 1);
        let cached =
            |contexts: &[CacheContext]| cache.clone().look_up(&change, contexts, 2).result.cached_files;
        assert_eq!(cached(&[of("large"), of("small")]), ["a.rs", "tests/b.rs"]);
        assert_eq!(cached(&[of("large")]), ["a.rs"]);
        assert_eq!(cached(&[of("other")]), [""; 0]);
    }

    proptest! {
        #[test]
        fn stored_files_are_found_again(
            files in proptest::collection::btree_map("[a-c]{1,2}", ".{0,6}", 0..6),
            reviewed in proptest::collection::btree_set("[a-c]{1,2}", 0..6),
            model in ".{0,4}", now in 0..u64::MAX,
        ) {
            let list: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let (change, context) = (data(&list), CacheContext { model_id: model, ..context("p") });
            let mut cache = FindingsCache::default();
            let names = reviewed.iter().map(String::as_str).collect();
            cache.store(&change, &context, &names, &[], now);
            let mut read: FindingsCache = serde_json::from_str(&serde_json::to_string(&cache).unwrap()).unwrap();
            prop_assert_eq!(&read, &cache);
            let found = read.look_up(&change, &[context], now);
            for path in &change.files_to_review {
                prop_assert_eq!(found.result.cached_files.contains(path), reviewed.contains(path));
            }
            prop_assert_eq!(found.uncached.total_loc, found.result.stats.uncached as u64);
        }
    }
}
