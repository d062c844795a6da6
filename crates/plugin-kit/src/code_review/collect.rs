//! Collects the findings of all reviewers of a session.

use std::path::Path;

use loopgate_code_review::finding::{Finding, FindingList};
use loopgate_home::untrusted;

/// Prefix and ending of the files with the answers of reviewers.
pub const PREFIX: &str = "agent_";
pub const ENDING: &str = ".json";
/// Bytes of a file. The cached findings of a large change are in one.
const MAX_FINDINGS: u64 = 64 * 1024 * 1024;

/// Findings of all reviewers, and the files that could not be read.
#[derive(Debug, Default)]
pub struct CollectedFindings {
    pub findings: Vec<Finding>,
    pub agent_files: usize,
    /// File names and reasons.
    pub skipped: Vec<(String, String)>,
}

/// Reads the answers in a session directory by name, and appends the findings of the hygiene check.
pub fn collect(session: &Path, hygiene: Vec<Finding>) -> CollectedFindings {
    let names = untrusted::entries(session).into_iter().filter_map(|entry| entry.name.into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| name.starts_with(PREFIX) && name.ends_with(ENDING)).collect();
    names.sort();
    let mut collected = CollectedFindings::default();
    for name in names {
        let list =
            untrusted::read(&session.join(&name), MAX_FINDINGS).map_err(|error| error.to_string()).and_then(
                |bytes| serde_json::from_slice::<FindingList>(&bytes).map_err(|error| error.to_string()),
            );
        match list {
            Ok(list) => {
                collected.agent_files += 1;
                collected.findings.extend(list.findings);
            }
            Err(reason) => collected.skipped.push((name, reason)),
        }
    }
    collected.findings.extend(hygiene);
    collected
}

#[cfg(test)]
mod tests {
    use super::*;

    // PR-24
    #[test]
    fn malformed_answers_are_skipped_and_the_others_are_merged() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("agent_b.json", r#"{"findings": [{"file": "b"}]}"#),
            ("agent_a.json", r#"[{"file": "a"}]"#),
            ("agent_c.json", r#"{"findings": ["#),
            ("agent_d.json", r#"{"error": "no answer"}"#),
            ("challenge_0.json", r#"{"findings": [{"file": "x"}]}"#),
        ] {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let hygiene = Finding { file: "h".to_owned(), ..Finding::default() };
        let collected = collect(dir.path(), vec![hygiene]);
        let files: Vec<&str> = collected.findings.iter().map(|finding| finding.file.as_str()).collect();
        assert_eq!((files, collected.agent_files), (vec!["a", "b", "h"], 2));
        let skipped: Vec<&str> = collected.skipped.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(skipped, ["agent_c.json", "agent_d.json"]);
    }
}
