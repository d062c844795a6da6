//! Findings about files whose changed lines were reviewed before, and `loopgate code-review finalize-cache`, `cache-check`
//! and `cache-update`.
//!
//! The cache is in the user's directory: a repository must not contain findings about its own changes. An unreadable cache
//! never fails a review: every file is reviewed then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use loopgate_api::names::STATE_DIR;
use loopgate_code_review::diff_data::DiffData;
use loopgate_code_review::finding::{Finding, FindingList};
use loopgate_code_review::findings_cache::{
    CacheContext, CacheLookup, CacheStatus, FindingsCache, reviewed_files,
};
use loopgate_code_review::partition::{Partition, Partitions};
use loopgate_home::{JsonFile, JsonFileError, expand_home, untrusted};
use loopgate_tools::code_host::{PullNumber, origin_at_code_host};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::collect::{ENDING, PREFIX};
use crate::console::print_error;
use crate::project_git::BlockingGit;

const MANIFEST: &str = "manifest.json";
const CACHE_RESULT: &str = "cache_result.json";
/// Author of cached findings, whose answer is `agent_cached_bha.json`.
pub const CACHED_AUTHOR: &str = "cached_bha";
const UNCACHED_DIFF_DATA: &str = "uncached_diff_data.json";
/// Bytes of a manifest, which contains the findings of a repository's last reviews.
const MAX_MANIFEST: u64 = 64 * 1024 * 1024;
/// Digits of the hash that identifies a repository without a name at the code host.
const LOCAL_NAME: usize = 16;

/// Arguments of `code-review finalize-cache`.
#[derive(Debug, clap::Args)]
pub struct FinalizeCacheArgs {
    /// Number of the pull request, for a cache of its own
    #[arg(long, value_name = "NUMBER")]
    pr_number: Option<PullNumber>,
    /// Directory in the repository
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    workdir: PathBuf,
}

/// The cache of a repository, for the reviewers of a review that read only changed lines.
#[derive(Debug)]
pub struct ReviewCache {
    manifest: JsonFile<FindingsCache>,
    /// Hash of everything that each of these reviewers is given, except the changed lines.
    prompt_hash: String,
    /// Common ancestor of the change and its base.
    context_key: String,
}

/// What the findings of a review depend on.
#[derive(Debug, clap::Args)]
struct CacheKeyArgs {
    /// Directory of the cache, as finalize-cache prints it
    #[arg(long, value_name = "DIRECTORY")]
    cache_dir: PathBuf,
    /// File with the output of parse-diff
    #[arg(long, value_name = "FILE")]
    diff_data: PathBuf,
    /// Model of the reviewers
    #[arg(long)]
    model_id: String,
    /// Hash of their prompt
    #[arg(long)]
    prompt_hash: String,
    /// Common ancestor of the change and its base
    #[arg(long, default_value = "")]
    context_key: String,
    /// Directory of the review
    #[arg(long, value_name = "DIRECTORY")]
    cr_dir: PathBuf,
}

/// Arguments of `code-review cache-check`.
#[derive(Debug, clap::Args)]
pub struct CacheCheckArgs {
    #[command(flatten)]
    key: CacheKeyArgs,
}

/// Arguments of `code-review cache-update`.
#[derive(Debug, clap::Args)]
pub struct CacheUpdateArgs {
    #[command(flatten)]
    key: CacheKeyArgs,
    /// File with the output of partition
    #[arg(long, value_name = "FILE")]
    partitions: PathBuf,
    /// Leave out partitions that contain only tests
    #[arg(long)]
    without_test_only: bool,
}

impl FinalizeCacheArgs {
    /// Creates the directory of the cache, and prints it.
    pub(super) fn run(&self) -> Result<String, String> {
        let directory = self.directory(&expand_home("~"))?;
        loopgate_home::files::create_private_dir(&directory)
            .map_err(|error| format!("cannot create {}: {error}", directory.display()))?;
        super::json(&json!({"cache_dir": directory}))
    }

    fn directory(&self, home: &Path) -> Result<PathBuf, String> {
        let git = BlockingGit::new()?;
        let directory = repository_cache(&git, &super::change::root(&git, &self.workdir)?, home);
        Ok(match self.pr_number {
            Some(number) => directory.join(format!("pr-{number}")),
            None => directory,
        })
    }
}

/// Returns the directory of a repository's cache, by its owner and name: repositories of different owners may have the same
/// name.
pub fn repository_cache(git: &BlockingGit, root: &Path, home: &Path) -> PathBuf {
    let cache = home.join(STATE_DIR).join("cache").join("code-review");
    match git.base_url(root).and_then(|url| origin_at_code_host(&url)) {
        Some(name) => cache.join(name.org()).join(name.name()),
        None => {
            let hash = Sha256::digest(root.as_os_str().as_encoded_bytes());
            // No owner has this name, because it begins with a dot.
            cache.join(".local").join(&hex::encode(hash)[..LOCAL_NAME])
        }
    }
}

impl ReviewCache {
    pub fn new(cache_dir: &Path, prompt_hash: String, context_key: String) -> Self {
        let manifest = JsonFile::private(cache_dir.join(MANIFEST));
        Self { manifest: manifest.max_bytes(MAX_MANIFEST).moving_malformed_aside(), prompt_hash, context_key }
    }

    fn context(&self, model: &str) -> CacheContext {
        CacheContext {
            model_id: model.to_owned(),
            prompt_hash: self.prompt_hash.clone(),
            context_key: self.context_key.clone(),
        }
    }

    /// Looks up the files of a change, and records the hits. `models`: those that may have reviewed a file.
    pub fn look_up(&self, data: &DiffData, models: &[&str]) -> CacheLookup {
        let contexts: Vec<CacheContext> = models.iter().map(|model| self.context(model)).collect();
        // An update would move a malformed manifest aside and look like a first run.
        let mut found = match self.manifest.read() {
            Ok(stored) => stored.unwrap_or_default().look_up(data, &contexts, now()),
            Err(error) => CacheLookup::failed(data, &error.to_string()),
        };
        if found.result.status_kind == CacheStatus::Hits {
            let recorded = self.manifest.update(|document| {
                found = document.get_or_insert_default().look_up(data, &contexts, now());
                Ok::<_, JsonFileError>(())
            });
            if let Err(error) = recorded {
                print_error(format!("Warning: the hits are not recorded: {error}"));
            }
        }
        // The number of a partition is another one in each review.
        for finding in &mut found.findings {
            finding.more.insert("agent".to_owned(), CACHED_AUTHOR.into());
        }
        found
    }

    /// Stores the findings of a model about the files whose partitions all have an answer, and returns the number of these
    /// files. `answers`: findings by the id of the partition. `unread`: files that a reviewer was not given as a whole.
    pub fn store(
        &self,
        data: &DiffData,
        model: &str,
        partitions: &[Partition],
        mut answers: BTreeMap<usize, Vec<Finding>>,
        unread: &[String],
    ) -> usize {
        let mut reviewed = reviewed_files(partitions, &answers.keys().copied().collect());
        unread.iter().for_each(|path| {
            reviewed.remove(path.as_str());
        });
        let mut findings = Vec::new();
        for partition in partitions {
            // A finding about a file of another partition is not one about the changed lines alone.
            let is_own = |finding: &Finding| partition.files.iter().any(|entry| entry.file == finding.file);
            findings.extend(answers.remove(&partition.id).into_iter().flatten().filter(is_own));
        }
        let stored = self.manifest.update(|document| {
            document.get_or_insert_default().store(data, &self.context(model), &reviewed, &findings, now());
            Ok::<_, JsonFileError>(())
        });
        match stored {
            Ok(()) => reviewed.len(),
            Err(error) => {
                print_error(format!("Warning: the findings are not cached: {error}"));
                0
            }
        }
    }
}

/// Returns the file names and contents of the result of a look-up, for the directory of a review.
pub fn lookup_files(found: &CacheLookup) -> Result<[(String, String); 3], String> {
    Ok([
        (CACHE_RESULT.to_owned(), super::json(&found.result)?),
        (
            format!("{PREFIX}{CACHED_AUTHOR}{ENDING}"),
            super::json(&FindingList { findings: found.findings.clone() })?,
        ),
        (UNCACHED_DIFF_DATA.to_owned(), super::json(&found.uncached)?),
    ])
}

/// Returns the id of the reviewer of a partition.
pub fn partition_reviewer(partition: &Partition) -> String {
    format!("bha_p{}", partition.id)
}

impl CacheKeyArgs {
    fn cache(&self) -> Result<ReviewCache, String> {
        let directory = super::absolute(&self.cache_dir)?;
        Ok(ReviewCache::new(&directory, self.prompt_hash.clone(), self.context_key.clone()))
    }
}

impl CacheCheckArgs {
    /// Looks up the change, and writes the result, the cached findings and the rest of the change into the directory of the
    /// review.
    pub(super) fn run(&self) -> Result<String, String> {
        let data: DiffData = super::read(&self.key.diff_data)?;
        let found = self.key.cache()?.look_up(&data, &[&self.key.model_id]);
        let directory = super::absolute(&self.key.cr_dir)?;
        for (name, text) in lookup_files(&found)? {
            let path = directory.join(name);
            untrusted::write(&path, text.as_bytes())
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        super::json(&found.result)
    }
}

impl CacheUpdateArgs {
    /// Stores the findings of the reviewers that have read only their partition.
    pub(super) fn run(&self) -> Result<String, String> {
        let data: DiffData = super::read(&self.key.diff_data)?;
        let Partitions { partitions, .. } = super::read(&self.partitions)?;
        let mut answers = BTreeMap::new();
        for partition in &partitions {
            if self.without_test_only && partition.is_test_only {
                continue;
            }
            let name = format!("{PREFIX}{}{ENDING}", partition_reviewer(partition));
            match super::read::<FindingList>(&self.key.cr_dir.join(name)) {
                Ok(list) => {
                    answers.insert(partition.id, list.findings);
                }
                Err(error) => {
                    print_error(format!("Warning: partition {} is not cached: {error}", partition.id));
                }
            }
        }
        let count = self.key.cache()?.store(&data, &self.key.model_id, &partitions, answers, &[]);
        super::json(&json!({"cached_files": count}))
    }
}

fn now() -> u64 {
    u64::try_from(Timestamp::now().as_second()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use loopgate_testkit::git::git;
    use serde_json::Value;

    use super::*;

    struct CacheFixture(tempfile::TempDir);

    impl CacheFixture {
        fn new() -> Self {
            let fixture = Self(tempfile::tempdir().unwrap());
            let lines = |text: &str| json!({"added_lines": {"1": text}});
            let data = json!({"files_to_review": ["a.rs", "b.rs"], "total_loc": 2,
                "file_loc": {"a.rs": {"added": 1}, "b.rs": {"added": 1}},
                "patch_lines": {"a.rs": lines("one"), "b.rs": lines("two")}});
            fixture.write("diff_data.json", &data);
            let entry = |file: &str| json!({"file": file, "loc": 1, "is_test": false});
            let partition = |id: usize, file: &str| json!({"id": id, "files": [entry(file)], "total_loc": 1, "is_test_only": false});
            let partitions = json!({"partitions": [partition(0, "a.rs"), partition(1, "b.rs")], "test_file_paths": [],
                "force_merged_count": 0});
            fixture.write("partitions.json", &partitions);
            fixture
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, name: &str, value: &Value) {
            std::fs::write(self.path(name), value.to_string()).unwrap();
        }

        fn read(&self, name: &str) -> Value {
            serde_json::from_slice(&std::fs::read(self.path(name)).unwrap()).unwrap()
        }

        fn key(&self, prompt: &str) -> CacheKeyArgs {
            CacheKeyArgs {
                cache_dir: self.path("cache"),
                diff_data: self.path("diff_data.json"),
                model_id: "opus".into(),
                prompt_hash: prompt.into(),
                context_key: "abc".into(),
                cr_dir: self.0.path().to_owned(),
            }
        }

        fn check(&self, prompt: &str) -> Value {
            let printed = CacheCheckArgs { key: self.key(prompt) }.run().unwrap();
            assert_eq!(self.read(CACHE_RESULT).to_string(), printed);
            serde_json::from_str(&printed).unwrap()
        }

        fn update(&self) -> Value {
            let partitions = self.path("partitions.json");
            let args = CacheUpdateArgs { key: self.key("p"), partitions, without_test_only: false };
            serde_json::from_str(&args.run().unwrap()).unwrap()
        }
    }

    // PR-22
    #[test]
    fn findings_of_successful_reviewers_are_found_again() {
        let fixture = CacheFixture::new();
        assert_eq!(fixture.check("p")["status_kind"], "first_run");
        let of = |file: &str| json!({"file": file, "line": 1, "severity": "HIGH", "issue": "x"});
        fixture.write("agent_bha_p0.json", &json!({"findings": [of("a.rs"), of("b.rs")]}));
        assert_eq!(fixture.update()["cached_files"], 1);
        let checked = fixture.check("p");
        assert_eq!((&checked["status_kind"], &checked["cached_files"]), (&json!("hits"), &json!(["a.rs"])));
        assert_eq!(fixture.read("agent_cached_bha.json")["findings"].as_array().unwrap().len(), 1);
        // A finding without an author would not be held against the lines that it quotes.
        assert_eq!(fixture.read("agent_cached_bha.json")["findings"][0]["agent"], "cached_bha");
        assert_eq!(fixture.read(UNCACHED_DIFF_DATA)["files_to_review"], json!(["b.rs"]));
        let manifest = fixture.read("cache/manifest.json");
        assert_eq!(manifest["a.rs"].as_object().unwrap().values().next().unwrap()["hit_count"], 1);
        assert_eq!(fixture.check("other prompt")["status_kind"], "all_changed");
        std::fs::write(fixture.path("cache/manifest.json"), "[1]").unwrap();
        let failed = fixture.check("p");
        assert_eq!(
            (&failed["status_kind"], &failed["stats"]["uncached"]),
            (&json!("fallback_error"), &json!(2))
        );
        assert_eq!(fixture.read("agent_cached_bha.json"), json!({"findings": []}));
        // The next update replaces a malformed manifest.
        assert_eq!(fixture.update()["cached_files"], 1);
        assert_eq!(fixture.check("p")["status_kind"], "hits");
    }

    // PR-B18
    #[test]
    fn cache_is_separate_for_each_owner() {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "--quiet"]).unwrap();
        let directory = |pr_number: Option<u64>| {
            let pr_number = pr_number.and_then(PullNumber::new);
            let args = FinalizeCacheArgs { pr_number, workdir: dir.path().to_owned() };
            args.directory(Path::new("/home/x")).unwrap().display().to_string()
        };
        let start = "/home/x/.loopgate/cache/code-review";
        assert!(directory(None).starts_with(&format!("{start}/.local/")));
        git(dir.path(), &["remote", "add", "origin", "git@github.com:acme/shop.git"]).unwrap();
        assert_eq!(directory(None), format!("{start}/acme/shop"));
        assert_eq!(directory(Some(7)), format!("{start}/acme/shop/pr-7"));
        git(dir.path(), &["remote", "set-url", "origin", "https://github.com/other/shop"]).unwrap();
        assert_eq!(directory(None), format!("{start}/other/shop"));
        let outside = FinalizeCacheArgs { pr_number: None, workdir: std::env::temp_dir() };
        assert!(outside.directory(Path::new("/home/x")).is_err());
    }
}
