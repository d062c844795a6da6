//! `execution-result.json` of an EXECUTE loop: one entry per repository in schema v2; v1 files are normalized
//! to v2.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use thiserror::Error;
use utoipa::ToSchema;

use crate::held_back::HeldBackFile;
use crate::ids::BranchName;
use crate::test_evidence::TestEvidence;
use crate::undelivered::{EarlyPush, UndeliveredWork};

/// Delivery result of one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum ResultEntry {
    /// Changes were committed and pushed, and a pull request exists.
    Success(SuccessEntry),
    /// Changes were committed and pushed. A person has to approve them before the pull request is opened.
    Held(HeldEntry),
    /// There was nothing to deliver.
    Skipped {
        /// Full name of the repository, `<org>/<repo>`.
        #[serde(rename = "fullName")]
        full_name: String,
        /// Machine-readable reason, for example `no_changes`.
        reason: String,
        /// Work of the loop that exists elsewhere.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        undelivered: Vec<UndeliveredWork>,
        /// Commits of the loop that were pushed before its delivery.
        #[serde(default, rename = "earlyPushes", skip_serializing_if = "Vec::is_empty")]
        early_pushes: Vec<EarlyPush>,
    },
    /// Commit, push or pull request failed.
    Failed {
        /// Full name of the repository, `<org>/<repo>`.
        #[serde(rename = "fullName")]
        full_name: String,
        /// Error message with secrets redacted.
        error: String,
        /// Work of the loop that exists elsewhere.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        undelivered: Vec<UndeliveredWork>,
        /// Commits of the loop that were pushed before its delivery.
        #[serde(default, rename = "earlyPushes", skip_serializing_if = "Vec::is_empty")]
        early_pushes: Vec<EarlyPush>,
    },
}

/// A repository whose changes are in a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuccessEntry {
    /// Full name of the repository, `<org>/<repo>`.
    pub full_name: String,
    /// URL of the pull request: `https://github.com/<repository>/pull/<prNumber>`, with `prRepository` or `fullName`.
    /// Instead of `https://github.com`, also the base URL of the code host that the control plane is configured for.
    pub pr_url: String,
    /// Full name of the repository of the pull request, when `fullName` is a fork of it; absent when they are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr_repository: Option<String>,
    /// Number of the pull request in its repository.
    pub pr_number: u64,
    /// Head branch of the pull request, as pushed.
    pub branch_name: String,
    /// Base branch of the pull request.
    pub base_branch: String,
    /// Whether the branch has changes against its base.
    pub has_changes: bool,
    /// Title of the pull request; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr_title: Option<String>,
    /// Full hash of the pushed commit; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// Id of the pull request at the code host; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub github_id: Option<String>,
    /// Files excluded from the commit: secrets, dependencies and build output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<HeldBackFile>,
    /// Work of the loop that the pull request does not contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undelivered: Vec<UndeliveredWork>,
    /// Commits of the loop that were pushed before its delivery.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early_pushes: Vec<EarlyPush>,
    /// Results of the repository's own tests before and after the changes; absent when the runtime did not
    /// run them.
    #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
    pub tests: Option<Box<TestEvidence>>,
}

/// A repository whose changes wait for a person's approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeldEntry {
    /// Full name of the repository, `<org>/<repo>`.
    pub full_name: String,
    /// Branch with the changes, as pushed.
    pub branch_name: String,
    /// Base branch of the pull request.
    pub base_branch: String,
    /// Full hash of the pushed commit.
    pub commit_sha: String,
    /// Files excluded from the commit: secrets, dependencies and build output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<HeldBackFile>,
    /// Work of the loop that the branch does not contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undelivered: Vec<UndeliveredWork>,
    /// Commits of the loop that were pushed before its delivery.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early_pushes: Vec<EarlyPush>,
    /// Results of the repository's own tests before and after the changes; absent when the runtime did not run them.
    #[serde(default, deserialize_with = "if_known", skip_serializing_if = "Option::is_none")]
    pub tests: Option<Box<TestEvidence>>,
}

impl SuccessEntry {
    /// Returns the full name of the repository in which the pull request is.
    #[must_use]
    pub fn pull_request_repository(&self) -> &str {
        self.pr_repository.as_deref().unwrap_or(&self.full_name)
    }
}

/// Deserializes test evidence and maps an unknown form to `None`.
///
/// An entry written by a newer version thereby stays readable.
fn if_known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<TestEvidence>>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

impl ResultEntry {
    /// Creates an entry for a repository with nothing to deliver.
    #[must_use]
    pub fn skipped(full_name: &str, reason: &str) -> Self {
        Self::Skipped {
            full_name: full_name.to_owned(),
            reason: reason.to_owned(),
            undelivered: Vec::new(),
            early_pushes: Vec::new(),
        }
    }

    /// Creates an entry for a repository whose delivery failed.
    #[must_use]
    pub fn failed(full_name: &str, error: &str) -> Self {
        Self::Failed {
            full_name: full_name.to_owned(),
            error: error.to_owned(),
            undelivered: Vec::new(),
            early_pushes: Vec::new(),
        }
    }

    /// Replaces the lists of work that is not delivered, and of commits that were pushed early.
    pub fn set_traces(&mut self, found_work: Vec<UndeliveredWork>, pushes: Vec<EarlyPush>) {
        let (Self::Success(SuccessEntry { undelivered, early_pushes, .. })
        | Self::Held(HeldEntry { undelivered, early_pushes, .. })
        | Self::Skipped { undelivered, early_pushes, .. }
        | Self::Failed { undelivered, early_pushes, .. }) = self;
        (*undelivered, *early_pushes) = (found_work, pushes);
    }

    /// Returns the work of the loop that is not delivered.
    #[must_use]
    pub fn undelivered(&self) -> &[UndeliveredWork] {
        let (Self::Success(SuccessEntry { undelivered, .. })
        | Self::Held(HeldEntry { undelivered, .. })
        | Self::Skipped { undelivered, .. }
        | Self::Failed { undelivered, .. }) = self;
        undelivered
    }

    /// Returns the full name of the entry's repository, `<org>/<repo>`.
    #[must_use]
    pub fn full_name(&self) -> &str {
        match self {
            Self::Success(entry) => &entry.full_name,
            Self::Held(entry) => &entry.full_name,
            Self::Skipped { full_name, .. } | Self::Failed { full_name, .. } => full_name,
        }
    }

    /// Returns the pushed commit; `None` when it is unknown, or nothing was pushed.
    #[must_use]
    pub fn commit(&self) -> Option<&str> {
        match self {
            Self::Success(entry) => entry.commit_sha.as_deref(),
            Self::Held(entry) => Some(&entry.commit_sha),
            Self::Skipped { .. } | Self::Failed { .. } => None,
        }
    }

    /// Checks that the URL and the branches of a [`Self::Success`] entry are in canonical form. `code_host` is the
    /// base URL of another code host than `https://github.com`, whose URLs are accepted as well.
    ///
    /// # Errors
    /// Returns the first member that is not canonical.
    pub fn validate(&self, code_host: Option<&str>) -> Result<(), InvalidEntry> {
        let entry = match self {
            Self::Success(entry) => entry,
            Self::Held(entry) => return branches(&entry.branch_name, &entry.base_branch),
            Self::Skipped { .. } | Self::Failed { .. } => return Ok(()),
        };
        // The assistant can write the result file. The URL of another repository would be shown to users as
        // the pull request of this loop.
        let (repository, number) = (entry.pull_request_repository(), entry.pr_number);
        let is_of_code_host =
            code_host.is_some_and(|base| entry.pr_url == pull_request_url_at(base, repository, number));
        if !is_of_code_host && entry.pr_url != pull_request_url(repository, number) {
            return Err(InvalidEntry::PrUrl);
        }
        branches(&entry.branch_name, &entry.base_branch)
    }
}

fn branches(head: &str, base: &str) -> Result<(), InvalidEntry> {
    if head.parse::<BranchName>().is_err() {
        return Err(InvalidEntry::BranchName);
    }
    if base.parse::<BranchName>().is_err() {
        return Err(InvalidEntry::BaseBranch);
    }
    Ok(())
}

/// A member of a [`SuccessEntry`] that is not in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidEntry {
    /// `prUrl` differs from the canonical URL of the pull request.
    #[error("prUrl does not match canonical format")]
    PrUrl,
    /// `branchName` is not a valid branch name.
    #[error("branchName contains invalid characters")]
    BranchName,
    /// `baseBranch` is not a valid branch name.
    #[error("baseBranch contains invalid characters")]
    BaseBranch,
}

impl InvalidEntry {
    /// Returns the JSON name of the invalid member.
    #[must_use]
    pub const fn member(self) -> &'static str {
        match self {
            Self::PrUrl => "prUrl",
            Self::BranchName => "branchName",
            Self::BaseBranch => "baseBranch",
        }
    }
}

/// Returns the canonical URL of a pull request.
#[must_use]
pub fn pull_request_url(full_name: &str, number: u64) -> String {
    pull_request_url_at("https://github.com", full_name, number)
}

fn pull_request_url_at(code_host: &str, full_name: &str, number: u64) -> String {
    format!("{}/{full_name}/pull/{number}", code_host.trim_end_matches('/'))
}

/// The file `execution-result.json`, schema v2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionResult {
    /// Version of the schema, always 2.
    pub schema_version: u32,
    /// Entry of the primary repository, then those of the peers in request order.
    pub results: Vec<ResultEntry>,
}

/// Reason why an execution result is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ResultError {
    /// `schemaVersion` is neither 1 nor 2.
    #[error("Unsupported schemaVersion: {0}")]
    UnsupportedVersion(String),
    /// A v1 file that does not match its schema.
    #[error("Invalid v1 execution result: {0}")]
    InvalidV1(String),
    /// A v2 file that does not match its schema.
    #[error("Invalid v2 execution result: {0}")]
    InvalidV2(String),
    /// A v1 file, which does not name its repository, was parsed without a full name.
    #[error("fullName is required for v1 execution result normalization")]
    NameRequired,
}

#[derive(Deserialize)]
struct ResultV1 {
    has_changes: bool,
    #[serde(default)]
    pr_url: String,
    #[serde(default)]
    pr_number: Value,
    pr_title: Option<String>,
    #[serde(default)]
    branch_name: String,
    #[serde(default)]
    base_ref: String,
    base_branch: Option<String>,
    commit_sha: Option<String>,
    github_id: Option<Value>,
    error: Option<String>,
}

impl ExecutionResult {
    /// Wraps entries in the v2 envelope.
    #[must_use]
    pub const fn v2(results: Vec<ResultEntry>) -> Self {
        Self { schema_version: 2, results }
    }

    /// Returns whether no repository occurs twice and all of them are in `names`; an empty `names` allows
    /// any.
    ///
    /// Names are compared without regard to ASCII case, as the code host does.
    #[must_use]
    pub fn lists_only(&self, names: &[String]) -> bool {
        let same = |entry: &ResultEntry, name: &str| entry.full_name().eq_ignore_ascii_case(name);
        let is_listed = |entry: &ResultEntry| names.iter().any(|name| same(entry, name));
        let entries = &self.results;
        let is_unique = entries
            .iter()
            .enumerate()
            .all(|(index, entry)| !entries[..index].iter().any(|earlier| same(earlier, entry.full_name())));
        is_unique && (names.is_empty() || entries.iter().all(is_listed))
    }

    /// Parses a v2 file, or normalizes a v1 file whose repository is `full_name`.
    ///
    /// # Errors
    /// Fails with a [`ResultError`]; one invalid entry invalidates the whole file.
    pub fn parse(json: &Value, full_name: Option<&str>) -> Result<Self, ResultError> {
        match json.get("schemaVersion") {
            // v1 writers may omit the version.
            None => Self::from_v1(json, full_name),
            Some(version) if *version == 1 => Self::from_v1(json, full_name),
            Some(version) if *version == 2 => Self::from_v2(json),
            Some(version) => Err(ResultError::UnsupportedVersion(version.to_string())),
        }
    }

    fn from_v2(json: &Value) -> Result<Self, ResultError> {
        let parsed: Self =
            serde_json::from_value(json.clone()).map_err(|e| ResultError::InvalidV2(e.to_string()))?;
        if parsed.results.is_empty() {
            return Err(ResultError::InvalidV2("results must not be empty".to_owned()));
        }
        for entry in &parsed.results {
            entry.validate(None).map_err(|e| ResultError::InvalidV2(e.to_string()))?;
        }
        Ok(parsed)
    }

    fn from_v1(json: &Value, full_name: Option<&str>) -> Result<Self, ResultError> {
        let v1: ResultV1 =
            serde_json::from_value(json.clone()).map_err(|e| ResultError::InvalidV1(e.to_string()))?;
        let full_name =
            full_name.filter(|name| !name.is_empty()).ok_or(ResultError::NameRequired)?.to_owned();
        Ok(Self::v2(vec![v1.into_entry(full_name)]))
    }
}

impl ResultV1 {
    fn into_entry(self, full_name: String) -> ResultEntry {
        if let Some(error) = self.error {
            return ResultEntry::failed(&full_name, &error);
        }
        if !self.has_changes {
            return ResultEntry::skipped(&full_name, "no_changes");
        }
        // v1 files hold the number as a JSON number or as a string.
        let number = match &self.pr_number {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        // `base_ref` may be a remote-tracking branch such as `origin/main`; v2 names the branch without its
        // remote.
        let base = self.base_branch.filter(|base| !base.is_empty()).unwrap_or(self.base_ref);
        match number.filter(|n| *n > 0) {
            Some(pr_number)
                if !self.pr_url.is_empty() && !self.branch_name.is_empty() && !base.is_empty() =>
            {
                ResultEntry::Success(SuccessEntry {
                    pr_url: pull_request_url(&full_name, pr_number),
                    pr_repository: None,
                    full_name,
                    pr_number,
                    branch_name: self.branch_name,
                    base_branch: base.trim_start_matches("origin/").to_owned(),
                    has_changes: true,
                    pr_title: self.pr_title,
                    commit_sha: self.commit_sha.filter(|sha| !sha.is_empty()),
                    held_back: Vec::new(),
                    undelivered: Vec::new(),
                    early_pushes: Vec::new(),
                    tests: None,
                    github_id: self.github_id.map(|id| match id {
                        Value::String(text) => text,
                        other => other.to_string(),
                    }),
                })
            }
            // Changes without a pull request are not delivered, even if the file does not report an error.
            _ => ResultEntry::failed(
                &full_name,
                "execution reported hasChanges but missing required PR fields \
                        (prUrl, prNumber, branchName, baseBranch)",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn v1_and_v2_parse_to_the_same_structure() {
        let v1 = json!({"has_changes": true, "pr_url": "https://github.com/acme/api/pull/41", "pr_number": "41",
                        "branch_name": "orchestrator/plan-7", "base_ref": "origin/main"});
        let v2 = json!({"schemaVersion": 2, "results": [{"status": "success", "fullName": "acme/api",
            "prUrl": "https://github.com/acme/api/pull/41", "prNumber": 41, "branchName": "orchestrator/plan-7",
            "baseBranch": "main", "hasChanges": true}]});
        assert_eq!(
            ExecutionResult::parse(&v1, Some("acme/api")).unwrap(),
            ExecutionResult::parse(&v2, None).unwrap()
        );
    }

    #[test]
    fn unknown_form_of_test_evidence_does_not_invalidate_the_entry() {
        let mut entry = json!({"status": "success", "fullName": "acme/api",
            "prUrl": "https://github.com/acme/api/pull/41", "prNumber": 41, "branchName": "b",
            "baseBranch": "main", "hasChanges": true});
        for (tests, is_valid) in
            [(json!({"outcome": "passed"}), true), (json!({"outcome": "later"}), false), (json!(7), false)]
        {
            entry["tests"] = tests;
            let ResultEntry::Success(parsed) = serde_json::from_value(entry.clone()).unwrap() else {
                panic!()
            };
            assert_eq!(parsed.tests.is_some(), is_valid, "{entry}");
        }
    }

    #[test]
    fn result_lists_only_requested_repositories_and_each_once() {
        let skipped = |name: &str| ResultEntry::skipped(name, "r");
        let of = |names: &[&str]| ExecutionResult::v2(names.iter().map(|name| skipped(name)).collect());
        // The code host treats `acme/api` and `acme/API` as one repository.
        let requested = ["acme/api".to_owned(), "acme/web".to_owned()];
        assert!(
            of(&["acme/api"]).lists_only(&requested) && of(&["ACME/web", "acme/api"]).lists_only(&requested)
        );
        assert!(!of(&["acme/api", "evil/x"]).lists_only(&requested));
        assert!(!of(&["acme/api", "acme/API"]).lists_only(&requested));
        assert!(of(&["any/one"]).lists_only(&[]));
    }

    #[test]
    fn pull_request_url_of_another_repository_is_invalid() {
        let v2 = json!({"schemaVersion": 2, "results": [{"status": "success", "fullName": "acme/api",
            "prUrl": "https://github.com/evil/api/pull/41", "prNumber": 41, "branchName": "b",
            "baseBranch": "main", "hasChanges": true}]});
        assert!(matches!(ExecutionResult::parse(&v2, None), Err(ResultError::InvalidV2(_))));
        assert_eq!(
            ExecutionResult::parse(&json!({"schemaVersion": 3}), None),
            Err(ResultError::UnsupportedVersion("3".to_owned()))
        );
    }
}
