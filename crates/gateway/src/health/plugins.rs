//! Rows of the plugins: the ones that Loopgate brings and loads by itself, else what the
//! assistant's registry and its own list say.

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

/// The plugins that loops need.
const REQUIRED: [&str; 4] = ["code", "judges", "code-review", "self-learning"];
const REGISTRY: &str = "~/.claude/plugins/installed_plugins.json";

/// An entry of the registry, or of the assistant's list.
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
struct PluginState {
    registry: BTreeMap<String, Vec<PluginEntry>>,
    /// What the assistant lists; `None` when it cannot tell.
    list: Option<Vec<PluginEntry>>,
    /// The versions that the marketplace offers.
    latest: BTreeMap<String, String>,
}

/// The rows, in their order.
pub(super) async fn rows(programs: &Programs, brought: Option<&Path>, limit: Duration) -> Vec<Check> {
    let versions: Vec<Option<String>> = {
        let brought = brought.map(Path::to_owned);
        let read = move || REQUIRED.map(|name| version_at(&brought.as_deref()?.join(name))).to_vec();
        tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| vec![None; REQUIRED.len()])
    };
    let known = if versions.iter().all(Option::is_some) {
        PluginState::default()
    } else {
        ask(programs, limit).await
    };
    let brought_or_installed = |(name, version): (&&str, &Option<String>)| match version {
        Some(version) => Check::passed(&format!("plugin-{name}"), name, true, Some(version.clone())),
        None => decide(name, &known),
    };
    let rows: Vec<Check> = REQUIRED.iter().zip(&versions).map(brought_or_installed).collect();
    // Only a set that works is asked whether it is the latest; what we bring is.
    if !rows.iter().all(|row| row.passed) {
        return rows;
    }
    let compare = |((row, name), brought): ((Check, &&str), &Option<String>)| match brought {
        Some(_) => row,
        None => compared(row, name, known.latest.get(*name)),
    };
    rows.into_iter().zip(&REQUIRED).zip(&versions).map(compare).collect()
}

async fn ask(programs: &Programs, limit: Duration) -> PluginState {
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

/// An array, or an object that holds one as `installed` or `plugins`.
fn parse_list(printed: &[u8]) -> Option<Vec<PluginEntry>> {
    let document: Value = serde_json::from_slice(printed).ok()?;
    let list = match &document {
        Value::Object(members) => members.get("installed").or_else(|| members.get("plugins"))?,
        list => list,
    };
    serde_json::from_value(list.clone()).ok()
}

/// The first rule that applies.
fn decide(name: &str, known: &PluginState) -> Check {
    let reference = format!("{name}@{MARKETPLACE}");
    let id = format!("plugin-{name}");
    let install = format!("Run `claude plugin install {reference} --scope user`.");
    let failed = |error: &str, remedy: String| Check::failed(&id, name, true, error, remedy);
    let registered = known.registry.get(&reference).map(Vec::as_slice).unwrap_or_default();
    let listed: Vec<&PluginEntry> =
        known.list.iter().flatten().filter(|entry| entry.is(&reference)).collect();
    let of_user: Vec<&&PluginEntry> = listed.iter().filter(|entry| entry.is_of_user()).collect();
    let installed: Vec<&PluginEntry> =
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
    if registered.iter().any(PluginEntry::is_of_project) || listed.iter().any(|entry| entry.is_of_project()) {
        return failed("Installed at project scope", install);
    }
    if registered.iter().any(PluginEntry::is_of_user) {
        return failed("Install path missing", install);
    }
    failed("Not found", install)
}

/// The row of an installed plugin beside the version that the marketplace offers.
fn compared(row: Check, name: &str, latest: Option<&String>) -> Check {
    let reference = format!("{name}@{MARKETPLACE}");
    let installed = row.version.clone().unwrap_or_default();
    let failed = |error: &str, remedy: String| Check {
        version: row.version.clone(),
        ..Check::failed(&row.id, name, true, error, remedy)
    };
    let update = || format!("Run `claude plugin update {reference} --scope user`.");
    let Some(latest) = latest else {
        // Nobody could tell what is offered, which is no fault of what is installed.
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

    fn known(registry: Value, list: Option<Value>) -> PluginState {
        PluginState {
            latest: BTreeMap::new(),
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
    fn first_rule_that_applies_decides() {
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
        assert_eq!(error("1.2.3", None), Some(unknown), "told, and no reason to stop anybody");
        assert_eq!(error("beta", Some("1.2.4")), failed("Could not verify installed version"));
        assert_eq!(error("1.2.3", Some("next")), failed("Could not verify installed version"));
    }
}
