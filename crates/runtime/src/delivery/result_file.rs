//! Reads and writes `execution-result.json`. The assistant may have written it, so its content is validated.

use std::path::Path;

use loopgate_api::execution_result::{
    ExecutionResult, HeldEntry, ResultEntry, SuccessEntry, pull_request_url,
};
use loopgate_api::held_back::HeldBackFile;
use loopgate_api::ids::RepoFullName;
use loopgate_api::names::EXECUTION_RESULT;
use loopgate_api::redact;
use loopgate_api::test_evidence::TestEvidence;
use loopgate_home::untrusted::{self, write_private};
use serde_json::{Value, json};

use super::result::DeliveryContext;

// The length of git's default abbreviation. Shorter prefixes are too ambiguous to identify a commit.
const MIN_SHA: usize = 7;

/// Returns the stored result if the delivery need not be repeated: a pushed commit with its pull request, or
/// nothing to deliver. `parent` is the repository to which a fork proposes its work. Performs blocking I/O.
pub(super) fn authoritative(
    work_dir: &Path,
    full_name: Option<&str>,
    parent: Option<&RepoFullName>,
) -> Option<ExecutionResult> {
    let mut document = read(&work_dir.join(EXECUTION_RESULT))?;
    canonicalize(&mut document, parent);
    let result = ExecutionResult::parse(&document, full_name).ok()?;
    let is_final = match result.results.first()? {
        ResultEntry::Success(entry) => entry.commit_sha.is_some() || !entry.has_changes,
        ResultEntry::Skipped { .. } => true,
        // Whether the pull request is opened now decides the delivery.
        ResultEntry::Held(_) | ResultEntry::Failed { .. } => false,
    };
    is_final.then_some(result)
}

/// Writes a redacted result into the work directory. Performs blocking I/O.
pub(super) fn write(work_dir: &Path, result: &ExecutionResult) -> std::io::Result<()> {
    let document = redact::json(serde_json::to_value(result)?);
    write_private(&work_dir.join(EXECUTION_RESULT), &serde_json::to_vec_pretty(&document)?)
}

/// Pull request that the assistant claims to have opened. Not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReportedPullRequest {
    pub full_name: Option<String>,
    pub pr_number: u64,
    pub branch: String,
    pub commit: String,
}

/// Parses the claim from the assistant's scratch file, with members in camelCase or snake_case. Performs
/// blocking I/O.
pub(super) fn claim(path: &Path) -> Option<ReportedPullRequest> {
    let document = read(path)?;
    let text = |names: [&str; 2]| names.iter().find_map(|name| document.get(name)?.as_str()).map(str::trim);
    let (name, number) = repository_and_number(text(["prUrl", "pr_url"])?)?;
    // Models write the number as a JSON string as well.
    let claimed_number = ["prNumber", "pr_number"].iter().find_map(|name| {
        let value = document.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    });
    let commit = text(["commitSha", "commit_sha"])?;
    let branch = text(["branchName", "branch_name"]).filter(|branch| !branch.is_empty())?;
    let is_hash = commit.len() >= MIN_SHA && commit.chars().all(|c| c.is_ascii_hexdigit());
    (is_hash && claimed_number.is_none_or(|claimed| claimed == number)).then(|| ReportedPullRequest {
        full_name: name,
        pr_number: number,
        branch: branch.to_owned(),
        commit: commit.to_owned(),
    })
}

/// Returns a result with one entry for a delivered repository.
pub(super) fn success(
    context: &DeliveryContext,
    full_name: &str,
    pr_number: u64,
    branch: &str,
    commit: &str,
    held_back: Vec<HeldBackFile>,
) -> ExecutionResult {
    let parent = context.remotes.parent_repository().map(RepoFullName::as_str);
    let parent = parent.filter(|parent| !parent.eq_ignore_ascii_case(full_name));
    ExecutionResult::v2(vec![ResultEntry::Success(SuccessEntry {
        full_name: full_name.to_owned(),
        pr_url: pull_request_url(parent.unwrap_or(full_name), pr_number),
        pr_repository: parent.map(str::to_owned),
        pr_number,
        branch_name: branch.to_owned(),
        base_branch: context.base.to_string(),
        has_changes: true,
        pr_title: None,
        commit_sha: Some(commit.to_owned()),
        github_id: None,
        held_back,
        undelivered: Vec::new(),
        early_pushes: Vec::new(),
        tests: None,
    })])
}

/// Returns a result with one entry for a repository whose pushed changes wait for an approval.
pub(super) fn held(
    context: &DeliveryContext,
    branch: &str,
    commit: &str,
    held_back: Vec<HeldBackFile>,
    tests: Option<TestEvidence>,
) -> ExecutionResult {
    ExecutionResult::v2(vec![ResultEntry::Held(HeldEntry {
        full_name: context.full_name.clone(),
        branch_name: branch.to_owned(),
        base_branch: context.base.to_string(),
        commit_sha: commit.to_owned(),
        held_back,
        undelivered: Vec::new(),
        early_pushes: Vec::new(),
        tests: tests.map(Box::new),
    })])
}

/// Returns a result with one entry for a repository without changes.
pub(super) fn skipped(full_name: &str, reason: &str) -> ExecutionResult {
    ExecutionResult::v2(vec![ResultEntry::skipped(full_name, reason)])
}

/// Parses repository and number from a pull request URL of any host. Trailing path segments, such as
/// `/files`, are ignored. The repository is `None` when the path has no owner.
pub(super) fn repository_and_number(url: &str) -> Option<(Option<String>, u64)> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let segments: Vec<&str> = rest.split(['/', '?', '#']).collect();
    let index = segments.iter().position(|segment| *segment == "pull")?;
    let number = segments.get(index + 1)?.parse().ok()?;
    let name = match segments.get(index.checked_sub(2)?..index)? {
        [org, name] if index >= 3 => Some(format!("{org}/{name}")),
        _ => None,
    };
    Some((name, number))
}

fn read(path: &Path) -> Option<Value> {
    untrusted::read_json(path)
}

/// Rewrites pull request URLs into the form that the control plane accepts. Removes test evidence, what the loop left
/// outside of its delivery, and another repository of the pull request than the one of the clone's configuration: only
/// the runtime may report them, and the assistant can write this file.
fn canonicalize(document: &mut Value, parent: Option<&RepoFullName>) {
    let Some(entries) = document.get_mut("results").and_then(Value::as_array_mut) else { return };
    for entry in entries {
        if let Some(entry) = entry.as_object_mut() {
            for name in ["tests", "undelivered", "earlyPushes"] {
                entry.remove(name);
            }
            let stated = entry.get("prRepository").and_then(Value::as_str);
            if !parent
                .is_some_and(|parent| stated.is_some_and(|name| parent.as_str().eq_ignore_ascii_case(name)))
            {
                entry.remove("prRepository");
            }
        }
        let Some((name, number)) = entry.get("prUrl").and_then(Value::as_str).and_then(repository_and_number)
        else {
            continue;
        };
        let stated_name = entry.get("fullName").and_then(Value::as_str).filter(|name| !name.is_empty());
        let Some(full_name) = stated_name.map(str::to_owned).or_else(|| name.clone()) else { continue };
        let proposed_to = entry.get("prRepository").and_then(Value::as_str).unwrap_or(&full_name).to_owned();
        // A URL of another repository stays as it is, and is rejected by the validation later.
        if name.is_none_or(|name| name.eq_ignore_ascii_case(&proposed_to)) {
            entry["prUrl"] = json!(pull_request_url(&proposed_to, number));
            entry["fullName"] = json!(full_name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authoritative_of(document: Value) -> Option<ExecutionResult> {
        authoritative_of_fork(document, None)
    }

    fn authoritative_of_fork(document: Value, parent: Option<&str>) -> Option<ExecutionResult> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(EXECUTION_RESULT), document.to_string()).unwrap();
        let parent: Option<RepoFullName> = parent.map(|name| name.parse().unwrap());
        authoritative(dir.path(), Some("acme/api"), parent.as_ref())
    }

    fn entry(url: &str) -> Value {
        json!({"schemaVersion": 2, "results": [{"status": "success", "fullName": "acme/api", "prUrl": url,
            "prNumber": 41, "branchName": "b", "baseBranch": "main", "hasChanges": true, "commitSha": "abcdef1"}]})
    }

    #[test]
    fn pull_request_urls_are_canonicalized_and_foreign_repositories_rejected() {
        for url in ["https://github.com/acme/api/pull/41/files", "https://git.example.org/acme/api/pull/41#x"]
        {
            let result = authoritative_of(entry(url)).unwrap();
            let ResultEntry::Success(success) = &result.results[0] else { panic!("{result:?}") };
            assert_eq!(success.pr_url, "https://github.com/acme/api/pull/41");
        }
        assert_eq!(authoritative_of(entry("https://github.com/evil/api/pull/41")), None);
    }

    #[test]
    fn pull_request_of_a_fork_is_in_the_repository_of_the_configuration() {
        let mut of_parent = entry("https://github.com/parent/api/pull/41");
        of_parent["results"][0]["prRepository"] = json!("parent/api");
        let result = authoritative_of_fork(of_parent.clone(), Some("parent/api")).unwrap();
        let ResultEntry::Success(success) = &result.results[0] else { panic!("{result:?}") };
        assert_eq!(success.pr_url, "https://github.com/parent/api/pull/41");
        assert_eq!(authoritative_of_fork(of_parent.clone(), Some("other/api")), None);
        assert_eq!(
            authoritative_of(of_parent),
            None,
            "only the configuration of the clone names another repository"
        );
    }

    #[test]
    fn test_evidence_in_a_result_file_is_removed() {
        let mut document = entry("https://github.com/acme/api/pull/41");
        document["results"][0]["tests"] = json!({"outcome": "passed"});
        let result = authoritative_of(document).unwrap();
        let ResultEntry::Success(success) = &result.results[0] else { panic!("{result:?}") };
        assert_eq!(success.tests, None);
    }

    #[test]
    fn v1_result_is_accepted_when_complete() {
        let v1 = |sha: Value| {
            json!({"has_changes": true, "pr_url": "https://github.com/acme/api/pull/4", "pr_number": "4",
                "branch_name": "b", "base_ref": "origin/main", "commit_sha": sha})
        };
        assert!(authoritative_of(v1(json!("abcdef1"))).is_some());
        assert!(authoritative_of(v1(Value::Null)).is_none(), "without a commit the push cannot be verified");
        assert!(authoritative_of(json!({"has_changes": false})).is_some());
    }

    #[test]
    fn claim_requires_url_commit_and_branch() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scratch.json");
        let read = |document: Value| {
            std::fs::write(&path, document.to_string()).unwrap();
            claim(&path)
        };
        let valid = json!({"prUrl": "https://github.com/acme/api/pull/7", "prNumber": 7, "branchName": "b",
            "commitSha": "0123abc"});
        assert_eq!(read(valid.clone()).unwrap().pr_number, 7);
        for (name, value) in [
            ("prUrl", json!("nope")),
            ("commitSha", json!("zz")),
            ("prNumber", json!(8)),
            ("branchName", json!("")),
        ] {
            let mut invalid = valid.clone();
            invalid[name] = value;
            assert_eq!(read(invalid), None, "{name}");
        }
    }
}
