//! Checks of the plugins: those bundled with Loopgate pass, others must be installed and enabled in the
//! assistant.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use loopgate_home::{Program, expand_home};
use loopgate_tools::programs::Programs;
use serde::Deserialize;
use serde_json::Value;

use super::check::Check;
use super::marketplace::{MARKETPLACE, latest_versions, version_at};
use super::programs::probe;
use super::version::{VersionAge, age};

const REQUIRED: [&str; 4] = ["code", "judges", "code-review", "self-learning"];
const REGISTRY: &str = "~/.claude/plugins/installed_plugins.json";

/// An entry of the assistant's plugin registry or of `claude plugin list --json`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PluginEntry {
    id: Option<String>,
    name: Option<String>,
    scope: Option<String>,
    install_path: Option<String>,
    version: Option<String>,
    enabled: Option<bool>,
}

impl PluginEntry {
    fn exists_on_disk(&self) -> bool {
        self.install_path.as_deref().is_some_and(|path| Path::new(path).exists())
    }

    /// Installed at user scope. Without a scope, existing files count as user scope.
    fn is_of_user(&self) -> bool {
        match self.scope.as_deref() {
            Some(scope) => scope == "user",
            None => self.exists_on_disk(),
        }
    }

    fn is_of_project(&self) -> bool {
        self.scope.as_deref() == Some("project")
    }

    fn is(&self, reference: &str) -> bool {
        [&self.id, &self.name].into_iter().flatten().any(|name| name == reference)
    }
}

/// Plugins as the assistant reports them.
#[derive(Debug, Default)]
struct PluginState {
    registry: BTreeMap<String, Vec<PluginEntry>>,
    /// `claude plugin list`; `None` when the assistant cannot list plugins.
    list: Option<Vec<PluginEntry>>,
    /// Latest versions in the marketplace.
    latest: BTreeMap<String, String>,
}

/// Returns the checks in a fixed order.
pub(super) async fn rows(programs: &Programs, bundled: Option<&Path>, limit: Duration) -> Vec<Check> {
    let versions: Vec<Option<String>> = {
        let bundled = bundled.map(Path::to_owned);
        let read = move || REQUIRED.map(|name| version_at(&bundled.as_deref()?.join(name))).to_vec();
        tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| vec![None; REQUIRED.len()])
    };
    let state = if versions.iter().all(Option::is_some) {
        // All plugins are bundled, so the assistant need not be started.
        PluginState::default()
    } else {
        query_assistant(programs, limit).await
    };
    let bundled_or_installed = |(name, version): (&&str, &Option<String>)| match version {
        Some(version) => Check::passed(&format!("plugin-{name}"), name, true, Some(version.clone())),
        None => decide(name, &state),
    };
    let rows: Vec<Check> = REQUIRED.iter().zip(&versions).map(bundled_or_installed).collect();
    // Versions are compared only when all plugins work. Bundled plugins are always current.
    if !rows.iter().all(|row| row.passed) {
        return rows;
    }
    let compare = |((row, name), bundled): ((Check, &&str), &Option<String>)| match bundled {
        Some(_) => row,
        None => compared(row, name, state.latest.get(*name)),
    };
    rows.into_iter().zip(&REQUIRED).zip(&versions).map(compare).collect()
}

async fn query_assistant(programs: &Programs, limit: Duration) -> PluginState {
    #[derive(Deserialize)]
    struct PluginRegistry {
        plugins: BTreeMap<String, Vec<PluginEntry>>,
    }
    let registry = tokio::task::spawn_blocking(|| {
        let bytes = std::fs::read(expand_home(REGISTRY)).ok()?;
        serde_json::from_slice::<PluginRegistry>(&bytes).ok()
    });
    let listed = probe(programs, Program::Assistant, &["plugin", "list", "--json"], limit);
    let (registry, listed, latest) = tokio::join!(registry, listed, latest_versions(programs, limit));
    PluginState {
        latest,
        registry: registry.ok().flatten().map(|registry| registry.plugins).unwrap_or_default(),
        list: listed.ok().and_then(|output| parse_list(&output.stdout)),
    }
}

/// Parses an array, or an object that contains one as `installed` or `plugins`.
fn parse_list(stdout: &[u8]) -> Option<Vec<PluginEntry>> {
    let document: Value = serde_json::from_slice(stdout).ok()?;
    let list = match &document {
        Value::Object(members) => members.get("installed").or_else(|| members.get("plugins"))?,
        list => list,
    };
    serde_json::from_value(list.clone()).ok()
}

/// Derives the check of one plugin. The order matters: the most specific cause comes first.
fn decide(name: &str, state: &PluginState) -> Check {
    let reference = format!("{name}@{MARKETPLACE}");
    let id = format!("plugin-{name}");
    let install = format!("Run `claude plugin install {reference} --scope user`.");
    let failed = |error: &str, remedy: String| Check::failed(&id, name, true, error, remedy);
    let registered = state.registry.get(&reference).map(Vec::as_slice).unwrap_or_default();
    let listed: Vec<&PluginEntry> =
        state.list.iter().flatten().filter(|entry| entry.is(&reference)).collect();
    let of_user: Vec<&&PluginEntry> = listed.iter().filter(|entry| entry.is_of_user()).collect();
    let installed: Vec<&PluginEntry> =
        registered.iter().filter(|entry| entry.is_of_user() && entry.exists_on_disk()).collect();
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
    if registered.iter().any(PluginEntry::is_of_project) || listed.iter().any(|entry| entry.is_of_project()) {
        return failed("Installed at project scope", install);
    }
    if registered.iter().any(PluginEntry::is_of_user) {
        return failed("Install path missing", install);
    }
    failed("Not found", install)
}

/// Compares the version of an installed plugin with the marketplace.
fn compared(row: Check, name: &str, latest: Option<&String>) -> Check {
    let reference = format!("{name}@{MARKETPLACE}");
    let installed = row.version.clone().unwrap_or_default();
    let failed = |error: &str, remedy: String| Check {
        version: row.version.clone(),
        ..Check::failed(&row.id, name, true, error, remedy)
    };
    let update = || format!("Run `claude plugin update {reference} --scope user`.");
    let Some(latest) = latest else {
        // Not a failure: the installed plugin works, only the latest version is unknown.
        return Check { error: Some("Could not verify latest version".to_owned()), ..row };
    };
    match age(&installed, latest) {
        Some(VersionAge::Current) => row,
        Some(VersionAge::Old) => failed(&format!("Update available: {latest}"), update()),
        None => failed("Could not verify installed version", update()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state(registry: Value, list: Option<Value>) -> PluginState {
        PluginState {
            latest: BTreeMap::new(),
            registry: serde_json::from_value(registry).unwrap(),
            list: list.map(|list| parse_list(list.to_string().as_bytes()).unwrap()),
        }
    }

    fn error(registry: Value, list: Option<Value>) -> Option<String> {
        let check = decide("code", &state(registry, list));
        assert_eq!(check.passed, check.error.is_none());
        assert_eq!(check.passed, check.remediation.is_none(), "every failure has a remedy");
        check.error
    }

    #[test]
    fn most_specific_cause_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        let here =
            json!({"code@loopgate": [{"scope": "user", "installPath": dir.path(), "version": "1.0.0"}]});
        let missing = json!({"code@loopgate": [{"scope": "user", "installPath": "/nowhere/at/all"}]});
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
        assert_eq!(error(missing, None).as_deref(), Some("Install path missing"));
        assert_eq!(error(project, None).as_deref(), Some("Installed at project scope"));
        assert_eq!(error(json!({}), None).as_deref(), Some("Not found"));
    }

    #[test]
    fn installed_plugin_is_compared_with_the_marketplace() {
        let row = |version: &str| Check::passed("plugin-code", "code", true, Some(version.to_owned()));
        let error = |version: &str, latest: Option<&str>| {
            let check = compared(row(version), "code", latest.map(str::to_owned).as_ref());
            assert_eq!(check.version.as_deref(), Some(version));
            assert_eq!(check.passed, check.remediation.is_none());
            check.error.map(|error| (check.passed, error))
        };
        let failed = |error: &str| Some((false, error.to_owned()));
        assert_eq!(error("1.2.3", Some("1.2.3")), None);
        assert_eq!(error("1.10.0", Some("1.9.9")), None);
        assert_eq!(error("1.2.3", Some("1.2.4")), failed("Update available: 1.2.4"));
        let unknown = (true, "Could not verify latest version".to_owned());
        assert_eq!(error("1.2.3", None), Some(unknown), "reported, but not a failure");
        assert_eq!(error("beta", Some("1.2.4")), failed("Could not verify installed version"));
        assert_eq!(error("1.2.3", Some("next")), failed("Could not verify installed version"));
    }
}
