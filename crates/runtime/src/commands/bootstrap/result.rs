//! Combines the results of a BOOTSTRAP into one document.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::bootstrap::{BootstrapResult, BootstrappedAgent, BootstrappedRepo};
use loopgate_api::names::BOOTSTRAP_RESULT;
use loopgate_home::EntryKind;
use loopgate_home::untrusted::{self, write_private};
use serde_json::Value;

use super::{BootstrapTarget, MANIFEST, agents_dir};

// 1 MiB. Larger files are not agent definitions and are skipped.
const MAX_AGENT: u64 = 1024 * 1024;
const CRITIC_GATES: &str = ".loopgate/settings/critic-gates.json";
/// File in which the bootstrap plugin records its run, relative to the repository.
pub(super) const METADATA: &str = ".loopgate/bootstrap-metadata.json";

/// Collects the results of all repositories in the work directory, and writes the document for the upload.
pub(crate) async fn conclude(work_dir: PathBuf) {
    let concluded = tokio::task::spawn_blocking(move || {
        let text = serde_json::to_vec_pretty(&read(&work_dir))?;
        write_private(&work_dir.join(BOOTSTRAP_RESULT), &text)
    });
    match concluded.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "failed to write the bootstrap result"),
        Err(error) => tracing::warn!(%error, "failed to collect the bootstrap result"),
    }
}

fn read(work_dir: &Path) -> BootstrapResult {
    let targets: Vec<BootstrapTarget> = untrusted::read_json(&work_dir.join(MANIFEST)).unwrap_or_default();
    let repos: Vec<BootstrappedRepo> =
        targets.into_iter().enumerate().map(|(number, target)| repo(work_dir, number, target)).collect();
    BootstrapResult { total_duration: repos.iter().map(|repo| repo.duration).sum(), repos }
}

fn repo(work_dir: &Path, number: usize, target: BootstrapTarget) -> BootstrappedRepo {
    let BootstrapTarget { full_name, local_path, branch, skip, skip_reason } = target;
    let mut repo = BootstrappedRepo {
        full_name,
        branch,
        success: false,
        error: skip_reason,
        agents: Vec::new(),
        critic_gates: None,
        metadata: None,
        duration: 0,
    };
    if skip {
        return repo;
    }
    repo.agents = agents(&work_dir.join(agents_dir(number)));
    repo.critic_gates = document(&Path::new(&local_path).join(CRITIC_GATES));
    repo.metadata = document(&Path::new(&local_path).join(METADATA));
    let (begun, done) = (format!("repo-{number}-begun"), format!("repo-{number}-done"));
    repo.duration = between(&work_dir.join(begun), &work_dir.join(&done));
    // run.sh writes the marker last. Without one the script was killed while it worked on this repository.
    let marker = untrusted::read_text(&work_dir.join(done)).unwrap_or_default();
    let reason = match marker.trim() {
        "ok" => None,
        other => Some(other.strip_prefix("fail:").filter(|reason| !reason.is_empty()).unwrap_or("unknown")),
    };
    // Agents that were written before a failure are still useful.
    repo.success = reason.is_none() || !repo.agents.is_empty();
    repo.error =
        reason.map(|reason| if repo.success { format!("partial:{reason}") } else { reason.to_owned() });
    repo
}

/// Returns the agent definitions in a directory, sorted by file name.
fn agents(directory: &Path) -> Vec<BootstrappedAgent> {
    let mut files: Vec<PathBuf> = untrusted::entries(directory)
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File)
        .map(|entry| directory.join(entry.name))
        .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
        .collect();
    files.sort();
    files.iter().filter_map(|path| agent(path)).collect()
}

fn agent(path: &Path) -> Option<BootstrappedAgent> {
    let slug = path.file_stem()?.to_str()?.to_owned();
    let prompt = String::from_utf8(untrusted::read(path, MAX_AGENT).ok()?).ok()?;
    let front_matter = |name| front_matter(&prompt, name);
    Some(BootstrappedAgent {
        name: front_matter("name").unwrap_or_else(|| slug.clone()),
        description: front_matter("description").unwrap_or_default(),
        role: slug.clone(),
        slug,
        prompt,
    })
}

/// Returns a member of the front matter, the block between two `---` lines at the beginning of a definition.
fn front_matter(definition: &str, name: &str) -> Option<String> {
    let mut lines = definition.lines();
    lines.next().filter(|line| line.trim_end() == "---")?;
    let members = lines.take_while(|line| line.trim_end() != "---");
    let mut values = members.filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let value = values.next()?.trim();
    let unquoted = ['"', '\''].into_iter().find_map(|mark| value.strip_prefix(mark)?.strip_suffix(mark));
    Some(unquoted.unwrap_or(value).to_owned()).filter(|value| !value.is_empty())
}

fn document(path: &Path) -> Option<Value> {
    serde_json::from_slice(&untrusted::read(path, MAX_AGENT).ok()?).ok()
}

// The script only creates marker files; their modification times are the only record of the duration.
fn between(begun: &Path, done: &Path) -> u64 {
    let at = |path: &Path| untrusted::metadata(path).and_then(|file| file.modified()).ok();
    let elapsed = at(begun).zip(at(done)).and_then(|(begun, done)| done.duration_since(begun).ok());
    elapsed.as_ref().map(Duration::as_millis).and_then(|ms| u64::try_from(ms).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // PR-37
    #[test]
    fn result_lists_the_outcome_of_each_repository() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let clone = dir.path().join("clone");
        let target =
            |name: &str| json!({"fullName": name, "localPath": clone, "branch": "main", "skip": false});
        let skipped = json!({"fullName": "acme/far", "localPath": "", "branch": "main", "skip": true,
            "skipReason": "outside sandbox"});
        let manifest = json!([
            target("acme/whole"),
            skipped,
            target("acme/partial"),
            target("acme/none"),
            // No marker file is written for this one.
            target("acme/cut")
        ]);
        put("work/bootstrap-manifest.json", &manifest.to_string());
        let definition = "---\nname: \"Tester\"\ndescription: Tests it\n---\nBe thorough.\n";
        put("work/repo-0-agents/test-strategist.md", definition);
        put("work/repo-0-agents/notes.txt", "no agent");
        put("work/repo-0-done", "ok");
        put("work/repo-2-agents/plain.md", "name: not a header\n");
        put("work/repo-2-done", "fail:7");
        put("work/repo-3-done", "fail:cd");
        put("clone/.loopgate/settings/critic-gates.json", r#"{"defaults":{}}"#);
        // Invalid JSON counts as missing.
        put("clone/.loopgate/bootstrap-metadata.json", "{");
        let result = json!(read(&work));
        let outcomes: Vec<(&Value, &Value)> = result["repos"]
            .as_array()
            .unwrap()
            .iter()
            .map(|repo| (&repo["success"], repo.get("error").unwrap_or(&Value::Null)))
            .collect();
        let expected = [
            (json!(true), Value::Null),
            (json!(false), json!("outside sandbox")),
            (json!(true), json!("partial:7")),
            (json!(false), json!("cd")),
            (json!(false), json!("unknown")),
        ];
        assert!(
            outcomes
                .iter()
                .zip(&expected)
                .all(|(actual, expected)| actual.0 == &expected.0 && actual.1 == &expected.1),
            "{result}"
        );
        let agent = json!({"name": "Tester", "slug": "test-strategist", "role": "test-strategist",
            "description": "Tests it", "prompt": definition});
        let first = &result["repos"][0];
        assert_eq!(first["agents"], json!([agent]));
        assert_eq!(first["criticGates"], json!({"defaults": {}}));
        assert_eq!((&first["metadata"], first.get("metadata").is_some()), (&Value::Null, true));
        assert_eq!(result["repos"][2]["agents"][0]["name"], "plain");
    }
}
