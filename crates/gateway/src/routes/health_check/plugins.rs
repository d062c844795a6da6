//! Rows of the plugins: the ones that Loopgate brings and loads by itself, else what the
//! assistant's registry and its own list say.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use loopgate_home::{Program, expand_home};
use loopgate_tools::programs::Programs;
use serde::Deserialize;
use serde_json::Value;

use super::programs::probe;
use super::row::Check;

/// The plugins that loops need.
const REQUIRED: [&str; 4] = ["code", "judges", "code-review", "self-learning"];
const MARKETPLACE: &str = "loopgate";
const REGISTRY: &str = "~/.claude/plugins/installed_plugins.json";

/// An entry of the registry, or of the assistant's list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Entry {
    id: Option<String>,
    name: Option<String>,
    scope: Option<String>,
    install_path: Option<String>,
    version: Option<String>,
    enabled: Option<bool>,
}

impl Entry {
    fn lies_on_disk(&self) -> bool {
        self.install_path.as_deref().is_some_and(|path| Path::new(path).exists())
    }

    /// Installed for the user; without a scope the files decide.
    fn is_of_user(&self) -> bool {
        match self.scope.as_deref() {
            Some(scope) => scope == "user",
            None => self.lies_on_disk(),
        }
    }

    fn is_of_project(&self) -> bool {
        self.scope.as_deref() == Some("project")
    }

    fn is(&self, reference: &str) -> bool {
        [&self.id, &self.name].into_iter().flatten().any(|known| known == reference)
    }
}

/// What is known of plugins outside.
#[derive(Debug, Default)]
struct Known {
    registry: BTreeMap<String, Vec<Entry>>,
    /// What the assistant lists; `None` when it cannot tell.
    list: Option<Vec<Entry>>,
}

/// The rows, in their order.
pub(super) async fn rows(programs: &Programs, brought: Option<&Path>, limit: Duration) -> Vec<Check> {
    let versions: Vec<Option<Option<String>>> = {
        let brought = brought.map(Path::to_owned);
        let read = move || REQUIRED.map(|name| brought_version(brought.as_deref()?, name)).to_vec();
        tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| vec![None; REQUIRED.len()])
    };
    let known =
        if versions.iter().all(Option::is_some) { Known::default() } else { ask(programs, limit).await };
    REQUIRED
        .iter()
        .zip(versions)
        .map(|(name, version)| match version {
            Some(version) => Check::passed(&format!("plugin-{name}"), name, true, version),
            None => decide(name, &known),
        })
        .collect()
}

/// The version of a plugin that Loopgate brings; `None` when it brings none of that name.
fn brought_version(root: &Path, name: &str) -> Option<Option<String>> {
    let manifest = std::fs::read(root.join(name).join(".claude-plugin/plugin.json")).ok()?;
    let manifest: Value = serde_json::from_slice(&manifest).ok()?;
    Some(manifest.get("version").and_then(Value::as_str).map(ToOwned::to_owned))
}

async fn ask(programs: &Programs, limit: Duration) -> Known {
    #[derive(Deserialize)]
    struct Registry {
        plugins: BTreeMap<String, Vec<Entry>>,
    }
    let registry = tokio::task::spawn_blocking(|| {
        let bytes = std::fs::read(expand_home(REGISTRY)).ok()?;
        serde_json::from_slice::<Registry>(&bytes).ok()
    });
    let listed = probe(programs, Program::Assistant, &["plugin", "list", "--json"], limit);
    let (registry, listed) = tokio::join!(registry, listed);
    Known {
        registry: registry.ok().flatten().map(|registry| registry.plugins).unwrap_or_default(),
        list: listed.ok().and_then(|output| parse_list(&output.stdout)),
    }
}

/// An array, or an object that holds one as `installed` or `plugins`.
fn parse_list(printed: &[u8]) -> Option<Vec<Entry>> {
    let document: Value = serde_json::from_slice(printed).ok()?;
    let list = match &document {
        Value::Object(members) => members.get("installed").or_else(|| members.get("plugins"))?,
        list => list,
    };
    serde_json::from_value(list.clone()).ok()
}

/// The first rule that applies.
fn decide(name: &str, known: &Known) -> Check {
    let reference = format!("{name}@{MARKETPLACE}");
    let id = format!("plugin-{name}");
    let install = format!("Run `claude plugin install {reference} --scope user`.");
    let failed = |error: &str, remedy: String| Check::failed(&id, name, true, error, remedy);
    let registered = known.registry.get(&reference).map(Vec::as_slice).unwrap_or_default();
    let listed: Vec<&Entry> = known.list.iter().flatten().filter(|entry| entry.is(&reference)).collect();
    let of_user: Vec<&&Entry> = listed.iter().filter(|entry| entry.is_of_user()).collect();
    let installed: Vec<&Entry> =
        registered.iter().filter(|entry| entry.is_of_user() && entry.lies_on_disk()).collect();
    if of_user.iter().any(|entry| entry.enabled == Some(false)) {
        return failed("Disabled", format!("Run `claude plugin enable {reference} --scope user`."));
    }
    if !installed.is_empty() {
        if of_user.is_empty() {
            let remedy =
                format!("Run `claude plugin list` and `claude plugin enable {reference} --scope user`.");
            return failed("Could not verify enabled state", remedy);
        }
        let version =
            installed.iter().rev().find(|entry| entry.enabled != Some(false)).and_then(|e| e.version.clone());
        return Check::passed(&id, name, true, version);
    }
    if registered.iter().any(Entry::is_of_project) || listed.iter().any(|entry| entry.is_of_project()) {
        return failed("Installed at project scope", install);
    }
    if registered.iter().any(Entry::is_of_user) {
        return failed("Install path missing", install);
    }
    failed("Not found", install)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known(registry: Value, list: Option<Value>) -> Known {
        Known {
            registry: serde_json::from_value(registry).unwrap(),
            list: list.map(|list| parse_list(list.to_string().as_bytes()).unwrap()),
        }
    }

    fn error(registry: Value, list: Option<Value>) -> Option<String> {
        let check = decide("code", &known(registry, list));
        assert_eq!(check.passed, check.error.is_none());
        assert_eq!(check.passed, check.remediation.is_none(), "a failure says what to do");
        check.error
    }

    #[test]
    fn the_first_rule_that_applies_decides() {
        let dir = tempfile::tempdir().unwrap();
        let here =
            json!({"code@loopgate": [{"scope": "user", "installPath": dir.path(), "version": "1.0.0"}]});
        let gone = json!({"code@loopgate": [{"scope": "user", "installPath": "/nowhere/at/all"}]});
        let project = json!({"code@loopgate": [{"scope": "project", "installPath": dir.path()}]});
        let list =
            |enabled: bool| Some(json!([{"id": "code@loopgate", "scope": "user", "enabled": enabled}]));
        assert_eq!(error(here.clone(), list(true)), None);
        assert_eq!(error(here.clone(), list(false)).as_deref(), Some("Disabled"));
        assert_eq!(error(here.clone(), None).as_deref(), Some("Could not verify enabled state"));
        assert_eq!(
            error(here, Some(json!({"installed": []}))).as_deref(),
            Some("Could not verify enabled state")
        );
        assert_eq!(error(gone, None).as_deref(), Some("Install path missing"));
        assert_eq!(error(project, None).as_deref(), Some("Installed at project scope"));
        assert_eq!(error(json!({}), None).as_deref(), Some("Not found"));
    }

    #[test]
    fn what_we_bring_needs_no_registry() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = dir.path().join("code/.claude-plugin");
        std::fs::create_dir_all(&manifest).unwrap();
        std::fs::write(manifest.join("plugin.json"), r#"{"version":"1.9.3"}"#).unwrap();
        assert_eq!(brought_version(dir.path(), "code"), Some(Some("1.9.3".to_owned())));
        assert_eq!(brought_version(dir.path(), "judges"), None);
    }
}
